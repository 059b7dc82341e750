"""Kernels from folders, URLs and repositories."""

import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pytest

import scanbuild
from scanbuild.errors import CallError, InputError, LoadError
from scanbuild.gpu import Engine
from scanbuild.kernel import load_kernel
from tests.cases.packages import DOUBLE, manifest, sign, write_package

X = np.array([[1, -2, 3]], dtype=np.float32)


def test_the_public_name_is_that_of_the_package():
    assert scanbuild.load_kernel is load_kernel


def test_a_folder_that_is_not_there_is_an_input_error(tmp_path: Path):
    with pytest.raises(InputError):
        load_kernel(tmp_path / "nothing")


def test_an_edited_template_is_refused_at_the_call_that_needs_it(engine: Engine, tmp_path: Path):
    folder = write_package(tmp_path, manifest(), None)
    (folder / "double.wgsl.jinja").write_text(DOUBLE + "// edited\n")
    with pytest.raises(CallError, match="digest"):
        load_kernel(folder, device=engine.device)({"x": X})
    trusting = load_kernel(folder, device=engine.device, verify_hashes=False)
    assert trusting({"x": X})["y"].tolist() == [[2, -4, 6]]
    sign(folder)
    assert load_kernel(folder, device=engine.device)({"x": X})["y"].tolist() == [[2, -4, 6]]


class _Silent(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture(scope="module")
def server(root: Path) -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(_Silent, directory=str(root))) as served:
        threading.Thread(target=served.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{served.server_port}/"
        served.shutdown()


def test_a_package_behind_a_url_obeys_the_loader_s_rules(engine: Engine, server: str):
    known = {"trust_remote_code": True, "expected_op_id": "test.toys.Double", "version": 1}
    kernel = load_kernel(server, device=engine.device, **known)  # type: ignore[arg-type]
    assert kernel({"x": X})["y"].tolist() == [[2, -4, 6]]
    for missing in known:
        with pytest.raises(LoadError):
            load_kernel(server, **{name: value for name, value in known.items() if name != missing})  # type: ignore[arg-type]


def test_a_url_with_another_kernel_than_expected_is_refused(server: str):
    with pytest.raises(LoadError, match=r"test\.toys\.Double"):
        load_kernel(server, trust_remote_code=True, expected_op_id="test.toys.Triple", version=1)


class _Hub:
    """Answers as the Hub would, and remembers what it was asked for."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.asked = folder, list[str]()

    def __call__(self, url: str) -> bytes:
        self.asked.append(url)
        return (self.folder / url.rpartition("/build/webgpu/")[2]).read_bytes()


@pytest.fixture
def hub(root: Path, monkeypatch: pytest.MonkeyPatch) -> _Hub:
    made = _Hub(root / "build" / "webgpu")
    monkeypatch.setattr("scanbuild.package.remote.UrlFetch", lambda *_, **__: made)
    return made


NAME = "webgpu-kernels/test.toys.Double"


@pytest.mark.parametrize(
    ("options", "revision"),
    [
        ({"version": 1}, "v1"),
        ({"revision": "main"}, "main"),
        ({"version": 2, "revision": "a/b c"}, "a%2Fb%20c"),
        ({"revision": "refs!~*'()"}, "refs!~*'()"),
    ],
)
def test_a_repository_is_looked_for_where_the_loader_looks(hub: _Hub, options: dict[str, object], revision: str):
    load_kernel(NAME, **options)  # type: ignore[arg-type]
    base = f"https://huggingface.co/kernels/{NAME}/resolve/{revision}/build/webgpu"
    assert hub.asked == [f"{base}/metadata.json", f"{base}/manifest.json"]


def test_templates_of_a_repository_are_fetched_at_the_first_call_that_needs_them(hub: _Hub, engine: Engine):
    kernel = load_kernel(NAME, version=1, device=engine.device)
    assert kernel({"x": X})["y"].tolist() == [[2, -4, 6]]
    kernel({"x": X})
    assert [url.rpartition("/")[2] for url in hub.asked] == ["metadata.json", "manifest.json", "double.wgsl.jinja"]


@pytest.mark.parametrize(
    ("location", "options"),
    [
        (NAME, {"version": -1}),
        (NAME, {"version": 1.5}),
        (NAME, {"version": "1"}),
        (NAME, {"version": True, "revision": "main"}),
        ("someone/test.toys.Double", {"version": 1}),
        ("Webgpu-Kernels/test.toys.Double", {"version": 1}),
        ("someone/test.toys.Double", {"version": 1, "trust_remote_code": 1}),
        (
            "https://huggingface.co/webgpu-kernels/test.toys.Double",
            {"version": 1, "expected_op_id": "test.toys.Double"},
        ),
    ],
)
def test_a_location_is_refused_before_anything_is_fetched(hub: _Hub, location: str, options: dict[str, object]):
    with pytest.raises(LoadError):
        load_kernel(location, **options)  # type: ignore[arg-type]
    assert hub.asked == []


def test_code_of_others_is_opted_into(hub: _Hub):
    assert load_kernel("someone/test.toys.Double", version=1, trust_remote_code=True).op_id == "test.toys.Double"
    with pytest.raises(LoadError):
        load_kernel("someone/test.toys.Other", version=1, trust_remote_code=True)


def test_the_expected_kernel_is_compared_wherever_it_is_given(hub: _Hub, root: Path):
    for location, options in ((NAME, {"version": 1}), (root, {})):
        assert load_kernel(location, expected_op_id="test.toys.Double", **options).op_id == "test.toys.Double"  # type: ignore[arg-type]
        for other in ("", "test.toys.double", "ai.onnx.Double"):
            with pytest.raises(LoadError):
                load_kernel(location, expected_op_id=other, **options)  # type: ignore[arg-type]
