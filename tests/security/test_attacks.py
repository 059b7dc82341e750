"""Attacks that belong to no single room, tried as an attacker would: through the commands, with hostile files."""

import ast
import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from markdown_it import MarkdownIt
from markdown_it.token import Token

from scanbuild.commands.console import leave_report, printable, write_report
from scanbuild.gpu.browser import site
from scanbuild.gpu.browser.settings import ServerSettings
from scanbuild.package.fetching import FetchError
from scanbuild.package.remote import UrlFetch
from tests.cases.packages import case, sign, write_package
from tests.cases.packages import manifest as package_manifest
from tests.robustness.bases import MARKER
from tests.robustness.test_traps import environment, manifest, scanbuild, source

FORGED = "\n  ::error file=x::forged\n##[error]forged too\n"
EVIL = (
    '"""\n\'\'\'\n*/ #}\n{{ raise_exception("x") }}\n{% include "../../secret" %}\n'
    'import pathlib; pathlib.Path("pwned").touch()\n::error::x\n\x1b[2J<script>`|](http://evil.example)'
)


def test_no_command_runs_a_reference_that_came_with_a_package(tmp_path: Path):
    reference = (source(tmp_path) / "reference.py").read_text(encoding="utf-8")
    assert MARKER in reference
    assert scanbuild("render", "Package", "--root", "out", cwd=tmp_path).status == 0
    for folder in ("out", "out/build", "out/build/webgpu", "out/build/webgpu/rendered"):
        (tmp_path / folder / "reference.py").write_text(reference, encoding="utf-8")
    for command in (["publish", "out"], ["show", "out"], ["bench", "out", "--case", "no"], ["diff", "out", "out"]):
        assert scanbuild(*command, cwd=tmp_path).status in (0, 1, 2, 3)
    assert not list(tmp_path.rglob(MARKER))


MODULES = ("multiprocessing", "pickle", "tempfile", "struct", "json", "numpy", "onnx", "onnxruntime", "wgpu")


def lay_modules(folder: Path, marker: Path) -> None:
    """Python files that are called like modules, and say if they are imported."""
    for name in MODULES:
        text = f"open({str(marker)!r}, 'w').close()\nraise ImportError('hijacked')\n"
        (folder / f"{name}.py").write_text(text, encoding="utf-8")


def test_nothing_is_imported_from_the_folder_that_a_command_runs_in(tmp_path: Path):
    folder = write_package(tmp_path, package_manifest(), [case("one", [1.0], [2.0])])
    sign(folder)
    lay_modules(tmp_path, tmp_path / "hijacked")
    (tmp_path / "bin").mkdir()
    installed = tmp_path / "bin" / "start.py"  # as pip writes it: Python looks for modules beside it, and not here
    installed.write_text("from scanbuild.commands import main\nmain()\n", encoding="utf-8")
    for command in (["verify"], ["bench"]):
        done = subprocess.run(
            [sys.executable, str(installed), *command],
            cwd=tmp_path,
            env=environment(tmp_path / "home"),
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert "hijacked" not in done.stderr
        assert done.returncode in (0, 1, 2, 3)
    assert not (tmp_path / "hijacked").exists()


def test_inferring_types_imports_nothing_from_the_current_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    from onnx import load_from_string

    from scanbuild.lowering.enclosing import _with_types

    lay_modules(tmp_path, tmp_path / "hijacked")
    monkeypatch.chdir(tmp_path)
    assert _with_types(load_from_string(evil_model())) is not None
    assert not (tmp_path / "hijacked").exists()


def test_nothing_is_written_through_a_link_in_place_of_the_output(tmp_path: Path):
    source(tmp_path)
    victim = tmp_path / "victim"
    victim.mkdir()
    (victim / "precious").write_text("mine", encoding="utf-8")
    empty = tmp_path / "empty"
    empty.mkdir()
    for root, target in (("out", victim), ("other", empty)):
        (tmp_path / root / "build").mkdir(parents=True)
        (tmp_path / root / "build" / "webgpu").symlink_to(target)
        scanbuild("render", "Package", "--root", root, cwd=tmp_path)
    assert [path.name for path in victim.iterdir()] == ["precious"]
    assert list(empty.iterdir()) == []


def test_nothing_is_written_through_a_link_in_place_of_a_report_s_first_half(tmp_path: Path):
    victim = tmp_path / "victim"
    victim.write_text("mine", encoding="utf-8")
    (tmp_path / ".report.json.part").symlink_to(victim)
    write_report(tmp_path / "report.json", "{}")
    assert victim.read_text(encoding="utf-8") == "mine"
    assert (tmp_path / "report.json").read_text(encoding="utf-8") == "{}"
    assert not (tmp_path / "report.json").is_symlink()


def test_nothing_is_written_through_a_link_in_place_of_a_report_that_is_left_beside_a_package(tmp_path: Path):
    victim, report = tmp_path / "victim", tmp_path / "verify-report.json"
    victim.write_text("mine", encoding="utf-8")
    for target in (victim, tmp_path / "nowhere"):
        report.unlink(missing_ok=True)
        report.symlink_to(target)
        leave_report(report, "{}")
        assert report.read_text(encoding="utf-8") == "{}"
        assert not report.is_symlink()
    assert victim.read_text(encoding="utf-8") == "mine"
    assert not (tmp_path / "nowhere").exists()


def test_a_pipe_in_place_of_a_report_that_is_left_does_not_hold_a_run_up(tmp_path: Path):
    os.mkfifo(tmp_path / "verify-report.json")
    with pytest.raises(FileExistsError, match="no file"):
        leave_report(tmp_path / "verify-report.json", "{}")


def test_verify_leaves_its_report_without_following_a_link(tmp_path: Path):
    write_package(tmp_path, package_manifest(), [case("good", [1, 2, 3], [2, 4, 6])])
    victim, left = tmp_path / "victim", tmp_path / "build" / "verify-report.json"
    victim.write_text("mine", encoding="utf-8")
    left.symlink_to(victim)
    scanbuild("verify", cwd=tmp_path)
    assert victim.read_text(encoding="utf-8") == "mine"
    assert json.loads(left.read_text(encoding="utf-8"))["runs"]


def test_tokens_are_compared_in_constant_time(monkeypatch: pytest.MonkeyPatch):
    compared = []

    def compare(one: bytes, other: bytes) -> bool:
        compared.append((one, other))
        return False

    monkeypatch.setattr("hmac.compare_digest", compare)
    assert site.split_path("/right/", "right") is None
    assert site.split_path("/", "right") is None
    assert compared == [(b"right", b"right"), (b"", b"right")]


def test_servers_listen_on_this_machine_alone_unless_told_otherwise():
    assert ServerSettings().host == "127.0.0.1"


class Stranger(BaseHTTPRequestHandler):
    """Answers anything, leads where the path says, and keeps the credentials that it was shown."""

    def do_GET(self) -> None:
        self.server.shown.append(self.headers.get("Authorization"))  # type: ignore[attr-defined]
        led = self.path.startswith("/to/")
        self.send_response(302 if led else 200)
        if led:
            self.send_header("Location", self.path.removeprefix("/to/"))
        self.end_headers()

    def log_message(self, format: str, *args: Any) -> None:
        """Keep quiet."""


@contextmanager
def listening() -> Iterator[tuple[str, list[str | None]]]:
    """The address of a server on this machine, and the credentials it has been shown."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Stranger)
    server.shown = []  # type: ignore[attr-defined]
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}", server.shown  # type: ignore[attr-defined]
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def test_a_redirect_away_from_the_hub_loses_the_token():
    with listening() as (hub, known), listening() as (elsewhere, shown):
        fetch = UrlFetch("secret", hub=hub)
        fetch(f"{hub}/to/{hub}/x")
        assert known == ["Bearer secret", "Bearer secret"]
        fetch(f"{hub}/to/{elsewhere}/x")
        fetch(f"{hub}/to/{hub.replace('127.0.0.1', '127.1')}/x")
        fetch(f"{elsewhere}/to/{elsewhere}/{hub}/x")
        assert shown == [None, None, None]
        assert known[2:] == ["Bearer secret", "Bearer secret", None]
        fetch(f"{elsewhere}/to/{hub}/x")
        assert (shown[3:], known[5:]) == ([None], ["Bearer secret"])


@pytest.mark.parametrize("hub", ["http://hub.example", "http://10.0.0.7:8000", "http://127.0.0.1.example"])
def test_no_token_goes_over_an_open_line_to_another_machine(hub: str):
    with pytest.raises(FetchError, match="without encryption") as refused:
        UrlFetch("secret", hub=hub, timeout=1)(f"{hub}/kernels/a/b")
    assert "secret" not in str(refused.value)


@pytest.mark.parametrize("sign", ["\x1b", "\x07", "\r", "\x9b", "\x00", "\u202e", "\u2066", "\ud800", "\x7f", "\u2028"])
def test_what_steers_a_terminal_is_spelled_out(sign: str):
    assert sign not in printable(f"a{sign}b")


@pytest.mark.parametrize("text", ["::error::x", "a\n  ::error::x", "a\n\t::add-mask::x", "a ##[error]x", "\u2003::x::"])
def test_what_a_runner_takes_for_a_command_is_spelled_out(text: str):
    assert not obeyed(printable(text))
    assert printable("vec4::<f32> a::b ## x").count("::") == 2


def obeyed(text: str) -> list[str]:
    """The lines that GitHub's runner takes for commands: it looks past blanks, and anywhere for the older form."""
    return [line for line in text.splitlines() if line.strip().startswith("::") or "##[" in line]


def test_no_line_of_a_package_is_a_command_to_the_runner(tmp_path: Path):
    seen = 0
    for kind, edit in (("keys", forge_keys), ("values", forge_values)):
        folder = tmp_path / kind
        folder.mkdir()
        source(folder, manifest__json=json.dumps(edit(manifest())))
        for command in ("check", "render"):
            ended = scanbuild(command, "Package", cwd=folder)
            assert obeyed(ended.out + "\n" + ended.err) == []
            seen += "forged" in ended.out + ended.err
    assert seen, "the attack does not get as far as the output"


def forge_keys(value: dict[str, Any]) -> dict[str, Any]:
    name = next(iter(value["attributes"]))
    value["attributes"][name + FORGED] = value["attributes"].pop(name)
    return value


def forge_values(value: dict[str, Any]) -> dict[str, Any]:
    value["when"] = ["1 +" + FORGED, f"'{FORGED}' + 1"]
    value["name"] += FORGED
    return value


def test_no_name_of_a_model_becomes_code(tmp_path: Path):
    (tmp_path / "evil.onnx").write_bytes(evil_model())
    ended = scanbuild("lower", "evil.onnx", "--op-id", "my.models.Evil", cwd=tmp_path)
    assert ended.status == 0, ended.err
    assert obeyed(ended.out + "\n" + ended.err) == []
    assert "\x1b" not in ended.out + ended.err
    folder = tmp_path / "templates" / "my.models.Evil"
    tree = ast.parse((folder / "reference.py").read_text(encoding="utf-8"))
    imported = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    assert imported <= {"numpy", "math"}
    assert {type(node) for node in tree.body} <= {ast.Expr, ast.Import, ast.ImportFrom, ast.Assign, ast.FunctionDef}
    for template in folder.glob("*.wgsl.jinja"):
        text = template.read_text(encoding="utf-8")
        assert 'raise_exception("x")' not in text
        assert "secret" not in text
    assert scanbuild("render", cwd=tmp_path).status == 0
    assert scanbuild("publish", cwd=tmp_path).status == 0
    card = (tmp_path / "dist" / "my.models.Evil" / "README.md").read_text(encoding="utf-8")
    tokens = list(every_token(MarkdownIt("commonmark", {"html": True}).enable("table").parse(card)))
    assert [token for token in tokens if token.type.startswith("html")] == []
    assert not any("evil" in str(token.attrs.get("href", "")) for token in tokens)
    assert any(EVIL.split()[1] in token.content for token in tokens if token.type == "code_inline")
    assert not list(tmp_path.rglob("pwned"))


def every_token(tokens: Sequence[Token]) -> Iterator[Token]:
    for token in tokens:
        yield token
        yield from every_token(token.children or ())


def evil_model() -> bytes:
    """A running average whose every name and text is an attack."""
    from onnx import parser

    model = parser.parse_model("""<ir_version: 10, opset_import: ["" : 21]>
        average (float[n] start, float[steps, n] x) => (float[n] last, float[steps, n] means) {
          last, means = Scan <num_scan_inputs = 1, body = step (float[n] mean, float[n] value)
            => (float[n] next, float[n] out) { next = Add(mean, value)  out = Identity(next) }> (start, x)
        }""")
    model.producer_name = model.doc_string = model.domain = EVIL
    poison(model.graph)
    text: bytes = model.SerializeToString()
    return text


def poison(graph: Any) -> None:
    graph.name = graph.doc_string = EVIL
    for value in (*graph.input, *graph.output):
        value.name, value.doc_string = EVIL + value.name, EVIL
        for size in value.type.tensor_type.shape.dim:
            size.dim_param = EVIL + size.dim_param
    for node in graph.node:
        node.name = node.doc_string = EVIL + node.op_type
        node.input[:] = [EVIL + name for name in node.input]
        node.output[:] = [EVIL + name for name in node.output]
        for attribute in node.attribute:
            if attribute.HasField("g"):
                poison(attribute.g)


def test_external_data_through_a_link_is_refused(tmp_path: Path):
    from onnx import TensorProto

    from scanbuild.errors import InputError
    from scanbuild.lowering.external import ExternalData

    (tmp_path / "secret").write_bytes(b"\0" * 16)
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "weights").symlink_to(tmp_path / "secret")
    tensor = TensorProto(name="w", dims=[4], data_type=TensorProto.FLOAT, data_location=TensorProto.EXTERNAL)
    tensor.external_data.add(key="location", value="weights")

    class Model:
        functions = ()

        class graph:  # noqa: N801  # as onnx has it
            initializer = (tensor,)
            sparse_initializer = ()
            node = ()

    with pytest.raises(InputError, match="no file in the model's folder"):
        ExternalData("model.onnx", folder, small=256).read_into(Model)
    assert not tensor.raw_data
