"""One trap a test, through the command line: words on standard error, the status of wrong input, and soon."""

import json
import os
import subprocess
import sys
import time
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.robustness.bases import MARKER, bases
from tests.robustness.explosions import EXPLOSIONS, Explosion
from tests.robustness.hostile import EXPRESSIONS, TEMPLATES

SECONDS = 2.0
START_S = 30
CHECKOUT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True, slots=True)
class Ended:
    """How a command ended. ``seconds`` are of its own time, without what it takes to start."""

    status: int
    out: str
    err: str
    seconds: float


def scanbuild(*words: str, cwd: Path) -> Ended:
    """Run the command line in a process of its own, where there is no GPU to be found."""
    before = os.times()
    done = subprocess.run(
        [sys.executable, "-m", "scanbuild", *words],
        cwd=cwd,
        env=environment(cwd),
        capture_output=True,
        text=True,
        timeout=START_S + 10 * SECONDS,
        check=False,
    )
    after = os.times()
    spent = after.children_user + after.children_system - before.children_user - before.children_system
    return Ended(done.returncode, done.stdout, done.stderr, spent)


def environment(home: Path) -> dict[str, str]:
    return {
        **os.environ,
        "PYTHONPATH": str(CHECKOUT),
        "XDG_STATE_HOME": str(home / "state"),
        "NO_COLOR": "1",
        "SECRET_OF_THE_ENVIRONMENT": "environment-secret",
    }


@cache
def start_up() -> float:
    """What a command takes for a package without traps."""
    folder = Path(os.environ.get("TMPDIR", "/tmp"), f"scanbuild-start-{os.getpid()}")
    write(folder / "Package", dict(bases()[0].files))
    return max(scanbuild("render", "Package", cwd=folder).seconds for _ in range(2))


def write(folder: Path, files: dict[str, str]) -> None:
    """A source package of these files."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", errors="surrogatepass")
    (folder / "metadata.json").unlink(missing_ok=True)


def source(tmp_path: Path, **files: str) -> Path:
    """The package with every feature, with some files replaced; ``__`` in a name stands for a dot."""
    folder = tmp_path / "Package"
    write(folder, {**bases()[0].files, **{name.replace("__", "."): text for name, text in files.items()}})
    return folder


def manifest() -> dict[str, Any]:
    value: dict[str, Any] = json.loads(bases()[0].files["manifest.json"])
    return value


def refused(ended: Ended, *, status: int = 2) -> None:
    """The command ended as it has to for a package that is wrong."""
    assert ended.status == status, f"{ended.status}: {ended.err[-2000:]}"
    said = ended.err if status == 2 else ended.out
    assert "error" in said
    in_time(ended)


def in_time(ended: Ended) -> None:
    for text in (ended.out, ended.err):
        assert "Traceback" not in text
        assert "internal fault" not in text
    assert "environment-secret" not in ended.out + ended.err
    assert "root:x:" not in ended.out + ended.err
    assert ended.seconds < start_up() + SECONDS


# --- expressions ---------------------------------------------------------------------------------------------------


@pytest.mark.long
@pytest.mark.parametrize("command", ["render", "check"])
@pytest.mark.parametrize("name", EXPRESSIONS)
def test_every_hostile_expression_is_answered_in_words_and_soon(name, command, tmp_path):
    value = manifest()
    value["derive"] = {**value["derive"], "trap": EXPRESSIONS[name]}
    source(tmp_path, manifest__json=json.dumps(value))
    ended = scanbuild(command, "Package", cwd=tmp_path)
    assert ended.status in (0, 1, 2)
    in_time(ended)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("nested parentheses", "nested"),
        ("huge list", "elements"),
        ("repeated text", "'*'"),
        ("power tower", "finite"),
        ("quadratic joins", "limit|large|long|characters"),
        ("wide nested lists", "large|long"),
        ("a python module", "__import__"),
        ("the clock", "strftime_now"),
    ],
)
def test_a_trap_in_an_expression_is_an_error_that_names_it(name, words, tmp_path):
    value = manifest()
    value["derive"] = {**value["derive"], "trap": EXPRESSIONS[name]}
    source(tmp_path, manifest__json=json.dumps(value))
    ended = scanbuild("render", "Package", cwd=tmp_path)
    refused(ended)
    assert any(word in ended.err for word in words.split("|")), ended.err


def test_a_number_beyond_every_size_is_no_size(tmp_path):
    value = manifest()
    value["variants"][0]["variants"][0]["intermediates"][0]["shape"] = ["pow2ceil(pow(10, 308))"]
    source(tmp_path, manifest__json=json.dumps(value))
    refused(scanbuild("render", "Package", cwd=tmp_path))


# --- templates -----------------------------------------------------------------------------------------------------


@pytest.mark.long
@pytest.mark.parametrize("command", ["render", "check"])
@pytest.mark.parametrize("name", TEMPLATES)
def test_every_hostile_template_is_answered_in_words_and_soon(name, command, tmp_path):
    text = TEMPLATES[name].replace("SELF", "main.wgsl.jinja")
    source(tmp_path, main__wgsl__jinja=text + bases()[0].files["main.wgsl.jinja"])
    ended = scanbuild(command, "Package", cwd=tmp_path)
    assert ended.status in (0, 1, 2)
    in_time(ended)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("huge loop", "range()"),
        ("nested loops", "iterations|large"),
        ("doubled text", "characters"),
        ("endless macro", "calls inside each other"),
        ("branching macro", "macro calls|large|long"),
        ("sorting", "large|long"),
        ("includes itself", "includes itself"),
        ("path above", "out of the package"),
        ("backslashes", "out of the package"),
        ("absolute path", "etc/passwd"),
        ("includes the reference", "reference.py"),
        ("clock", "strftime_now|function|called"),
        ("no end", "endfor"),
    ],
)
def test_a_trap_in_a_template_is_an_error_that_names_it(name, words, tmp_path):
    text = TEMPLATES[name].replace("SELF", "main.wgsl.jinja")
    source(tmp_path, main__wgsl__jinja=text + bases()[0].files["main.wgsl.jinja"])
    ended = scanbuild("render", "Package", cwd=tmp_path)
    refused(ended)
    assert any(word in ended.err for word in words.split("|")), ended.err


# --- manifests -----------------------------------------------------------------------------------------------------


@pytest.mark.long
@pytest.mark.parametrize("command", ["render", "check"])
@pytest.mark.parametrize("explosion", dict.fromkeys(EXPLOSIONS), ids=lambda item: item.__name__)
def test_every_exploding_manifest_is_answered_in_words_and_soon(explosion: Explosion, command, tmp_path):
    import random

    for seed in range(4):
        value = manifest()
        explosion(value, random.Random(seed))
        source(tmp_path, manifest__json=json.dumps(value))
        ended = scanbuild(command, "Package", cwd=tmp_path)
        assert ended.status in (0, 1, 2)
        in_time(ended)


def test_groups_of_65535_rounds_in_each_other_are_too_many_passes(tmp_path):
    value = manifest()
    template = value["variants"][0]["variants"][0]
    for depth in range(2):
        group = {"id": f"g{depth}", "repeat": {"index": f"i{depth}", "count": 65535}, "passes": template["passes"]}
        template["passes"] = [group]
    source(tmp_path, manifest__json=json.dumps(value))
    ended = scanbuild("render", "Package", cwd=tmp_path)
    refused(ended)
    assert "131072" in ended.err


def test_a_grid_of_a_million_variants_is_not_expanded(tmp_path):
    value = manifest()
    axes = {name: [{"$key": f"k{index}", f"f{name}": index} for index in range(1000)] for name in ("a", "b")}
    value["variants"] = [{"axes": axes, "variants": [{"id": "v{fa}_{fb}", "passes": []}]}]
    source(tmp_path, manifest__json=json.dumps(value))
    ended = scanbuild("render", "Package", cwd=tmp_path)
    refused(ended)
    assert "2048" in ended.err


@pytest.mark.parametrize("opening", ["[", '{"a":'])
def test_brackets_without_end_are_no_json(opening, tmp_path):
    source(tmp_path, manifest__json=opening * 200_000)
    refused(scanbuild("render", "Package", cwd=tmp_path))


def test_a_shape_of_2_to_the_53_is_refused_by_its_size(tmp_path):
    case = {
        "name": "large",
        "inputs": {"x": {"dtype": "float32", "shape": [2**53], "data": {"kind": "iota"}}},
        "outputs": {"y": {"dtype": "float32", "shape": [2**53]}},
    }
    source(tmp_path, test__json=json.dumps({"cases": [case]}))
    ended = scanbuild("render", "Package", cwd=tmp_path)
    refused(ended)
    assert "elements" in ended.err


@pytest.mark.parametrize(
    "damage",
    [b"", b"\xef\xbb\xbf\0", b"\xff\xfe{\0}\0", b'{"name": "\xed\xa0\x80"}', b'{"name": NaN}'],
)
def test_a_damaged_manifest_is_an_error_at_its_place(damage, tmp_path):
    folder = source(tmp_path)
    (folder / "manifest.json").write_bytes(damage)
    ended = scanbuild("render", "Package", cwd=tmp_path)
    refused(ended)
    assert "manifest.json" in ended.err


# --- files ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("command", "name", "target"),
    [
        ("render", "manifest.json", "../outside.txt"),
        ("render", "test.json", "/proc/self/environ"),
        ("render", "main.wgsl.jinja", "/etc/passwd"),
        ("render", "main.wgsl.jinja", "main.wgsl.jinja"),
        ("check", "manifest.json", "/dev/zero"),
        ("check", "test.json", "../outside.txt"),
        ("check", "main.wgsl.jinja", "/proc/self/environ"),
    ],
)
def test_a_link_out_of_the_package_is_not_followed(command, name, target, tmp_path):
    (tmp_path / "outside.txt").write_text("outside-secret")
    folder = source(tmp_path)
    (folder / name).unlink()
    (folder / name).symlink_to(target)
    ended = scanbuild(command, "Package", cwd=tmp_path)
    refused(ended, status=1 if command == "check" and name != "manifest.json" else 2)
    assert "outside-secret" not in ended.out + ended.err


@pytest.mark.parametrize("kind", ["pipe", "folder", "huge"])
def test_a_file_that_is_no_file_or_has_no_end_is_refused(kind, tmp_path):
    folder = source(tmp_path)
    path = folder / "main.wgsl.jinja"
    path.unlink()
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    else:
        with path.open("wb") as file:
            file.truncate(2**33)
    refused(scanbuild("render", "Package", cwd=tmp_path))


def test_a_pass_cannot_name_a_place_outside_of_the_output(tmp_path):
    value = manifest()
    for item in value["variants"][0]["variants"][0]["passes"][:1]:
        item["id"] = "../../../../escaped"
    source(tmp_path, manifest__json=json.dumps(value))
    ended = scanbuild("render", "Package", "--root", "out", cwd=tmp_path)
    in_time(ended)
    assert sorted(path.name for path in tmp_path.iterdir()) in (["Package"], ["Package", "out", "state"])
    assert not list(tmp_path.rglob("escaped*"))


@pytest.mark.parametrize("command", [["render", "Package", "--root", "out"], ["check", "Package"], ["check", "out"]])
def test_the_reference_of_a_package_is_never_imported(command, tmp_path):
    folder = source(tmp_path)
    if command[-1] == "out":
        assert scanbuild("render", "Package", "--root", "out", cwd=tmp_path).status == 0
        (tmp_path / "out" / "build" / "webgpu" / "reference.py").write_text((folder / "reference.py").read_text())
    ended = scanbuild(*command, cwd=tmp_path)
    in_time(ended)
    assert not list(tmp_path.rglob(MARKER))


def test_terminal_codes_of_a_package_do_not_reach_the_terminal(tmp_path):
    value = manifest()
    value["derive"] = {"\x1b]0;owned\x07": "1", "b": "\x1b[2J missing"}
    source(tmp_path, manifest__json=json.dumps(value))
    ended = scanbuild("render", "Package", cwd=tmp_path)
    refused(ended)
    assert "\x1b" not in ended.err
    assert "\x07" not in ended.err


def test_a_repository_around_the_package_runs_nothing(tmp_path):
    """Git is asked for the commit; filters and monitors that the repository configures must not run."""
    folder = source(tmp_path)

    def git(*words: str) -> None:
        subprocess.run(["git", "-C", str(folder), *words], check=True, capture_output=True)

    git("init", "-q")
    (folder / ".gitattributes").write_text("* filter=trap\n")
    git("add", ".")
    git("-c", "user.name=x", "-c", "user.email=x@example.org", "commit", "-qm", "x")
    trap = tmp_path / "trap"
    for key in ("filter.trap.clean", "filter.trap.smudge", "filter.trap.process", "core.fsmonitor", "core.pager"):
        git("config", key, f"touch {trap}; cat")
    time.sleep(0.01)
    (folder / "main.wgsl.jinja").touch()
    (folder / "part.wgsl.jinja").write_text((folder / "part.wgsl.jinja").read_text() + "\n")
    ended = scanbuild("render", "Package", "--root", "out", cwd=tmp_path)
    in_time(ended)
    assert not trap.exists()
