"""Files of packages over HTTP, as the loader, a browser and a stranger ask for them."""

import hashlib
import json
import os
import socket
from pathlib import Path

import pytest

from scanbuild.errors import LoadError
from scanbuild.kernel import load_kernel
from scanbuild.package.load import LoadOptions
from scanbuild.package.opening import open_package
from scanbuild.serving.server import PackageServer
from tests.cases.packages import sign
from tests.serving.asking import FILES, ask

HUB_FILES = "/kernels/some-org/test.toys.Double/resolve/v1/build/webgpu"
NAMES = ("metadata.json", "manifest.json", "test.json", "double.wgsl.jinja")


@pytest.mark.parametrize("base", [FILES, HUB_FILES])
@pytest.mark.parametrize("name", NAMES)
def test_every_file_is_served_at_both_addresses_to_pages_of_any_origin(
    server: PackageServer, root: Path, base: str, name: str
):
    said = ask(server, f"{base}/{name}", Origin="https://elsewhere.example")
    content = (root / "build" / "webgpu" / name).read_bytes()
    assert (said.status, said.body) == (200, content)
    assert said.headers["Access-Control-Allow-Origin"] == "*"
    assert said.headers["Cross-Origin-Resource-Policy"] == "cross-origin"
    kind = "application/json" if name.endswith(".json") else "text/plain; charset=utf-8"
    assert (said.headers["Content-Type"], said.headers["X-Content-Type-Options"]) == (kind, "nosniff")
    assert said.headers["Cache-Control"] == "no-cache"
    assert said.headers["ETag"] == f'"{hashlib.sha256(content).hexdigest()}"'


def test_who_has_a_file_is_told_so_until_it_changes(server: PackageServer, root: Path):
    path = f"{FILES}/double.wgsl.jinja"
    tag = ask(server, path).headers["ETag"]
    for have in (tag, f"W/{tag}", f'"other", {tag}', "*"):
        said = ask(server, path, If_None_Match=have)
        assert (said.status, said.body, said.headers["ETag"]) == (304, b"", tag)
        assert said.headers["Access-Control-Allow-Origin"] == "*"
    (root / "build" / "webgpu" / "double.wgsl.jinja").write_text("// rendered anew\n")
    assert ask(server, path, If_None_Match=tag).text == "// rendered anew\n"


def test_head_is_get_without_the_file(server: PackageServer):
    got, head = ask(server, f"{FILES}/manifest.json"), ask(server, f"{FILES}/manifest.json", "HEAD")
    assert (head.status, head.body) == (200, b"")
    assert {**head.headers, "Date": ""} == {**got.headers, "Date": ""}
    assert ask(server, f"{FILES}/nothing.json", "HEAD").status == 404


@pytest.mark.parametrize("path", [f"{FILES}/manifest.json", f"{HUB_FILES}/manifest.json"])
def test_a_browser_that_asks_first_may_ask(server: PackageServer, path: str):
    said = ask(
        server,
        path,
        "OPTIONS",
        Origin="https://elsewhere.example",
        Access_Control_Request_Method="GET",
        Access_Control_Request_Headers="authorization",
        Access_Control_Request_Private_Network="true",
    )
    assert (said.status, said.body) == (204, b"")
    assert said.headers["Access-Control-Allow-Origin"] == "*"
    assert "GET" in said.headers["Access-Control-Allow-Methods"]
    assert "Authorization" in said.headers["Access-Control-Allow-Headers"]
    assert said.headers["Access-Control-Allow-Private-Network"] == "true"


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH"])
def test_nothing_can_be_written(server: PackageServer, method: str):
    said = ask(server, f"{FILES}/manifest.json", method, b"{}")
    assert (said.status, said.headers["Allow"]) == (405, "GET, HEAD, OPTIONS")


@pytest.mark.parametrize(
    ("path", "words"),
    [
        (f"{FILES}/nothing.wgsl", 'build/webgpu/nothing.wgsl of "test.toys.Double": there is no such file'),
        ("/other/build/webgpu/manifest.json", 'no package is served under "/other"; there are /test.toys.Double'),
        (HUB_FILES.replace("Double", "double") + "/manifest.json", 'no package is called "test.toys.double" here'),
        (HUB_FILES.replace("v1", "v2") + "/manifest.json", 'the revision "v2" was asked for; test.toys.Double is'),
        (HUB_FILES.replace("v1", "main") + "/manifest.json", "is served here as v1"),
        (HUB_FILES.replace("v1", "a%2Fb") + "/manifest.json", 'the revision "a/b" was asked for'),
        (HUB_FILES.replace("v1", "v01") + "/manifest.json", 'the revision "v01"'),
    ],
)
def test_what_is_not_there_is_told_in_words_that_a_page_elsewhere_can_read(
    server: PackageServer, path: str, words: str
):
    said = ask(server, path)
    assert (said.status, said.headers["Content-Type"]) == (404, "text/plain; charset=utf-8")
    assert words in said.text
    assert said.headers["Access-Control-Allow-Origin"] == "*"


def test_the_revision_follows_the_version_in_the_metadata(server: PackageServer, root: Path):
    file = root / "build" / "webgpu" / "metadata.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), "version": 7}))
    assert ask(server, f"{HUB_FILES}/manifest.json").status == 404
    assert ask(server, HUB_FILES.replace("v1", "v7") + "/manifest.json").status == 200


@pytest.mark.parametrize(
    "rest",
    [
        "/../../../secret",
        "/%2e%2e/%2e%2e/%2e%2e/secret",
        "/..%2f..%2f..%2fsecret",
        "/%252e%252e/secret",
        "/..\\..\\secret",
        "//etc/passwd",
        "/%2fetc%2fpasswd",
        "/manifest.json%00.wgsl",
        "/rendered",
        "/link.json",
        "/inner/secret",
        "/nowhere.json",
        "/circle.json",
    ],
)
@pytest.mark.parametrize("base", [FILES, HUB_FILES, "/-/view/test.toys.Double"])
def test_nothing_outside_a_package_is_read(server: PackageServer, root: Path, base: str, rest: str):
    (root.parent / "secret").write_text("SECRET")
    folder = root / "build" / "webgpu"
    (folder / "rendered").mkdir()
    (folder / "link.json").symlink_to(root.parent / "secret")
    (folder / "inner").symlink_to(root.parent)
    (folder / "nowhere.json").symlink_to("nothing")
    (folder / "circle.json").symlink_to("circle.json")
    said = ask(server, base + rest)
    assert said.status in (400, 404)
    assert "SECRET" not in said.text
    assert "root:" not in said.text


def test_a_pipe_in_a_package_keeps_nobody_waiting(server: PackageServer, root: Path):
    os.mkfifo(root / "build" / "webgpu" / "pipe.json")
    assert "no regular file" in ask(server, f"{FILES}/pipe.json").text


@pytest.mark.parametrize(
    "sent",
    [
        b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX: " + b"a" * 100_000 + b"\r\n\r\n",
        b"GET /" + b"a" * 100_000 + b" HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
        b"GET /\x00 HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
        b"nothing\r\n\r\n",
    ],
    ids=["header", "address", "NUL", "no HTTP"],
)
def test_what_is_no_request_is_refused_and_the_next_one_answered(server: PackageServer, sent: bytes):
    with socket.create_connection(("127.0.0.1", server.port), timeout=10) as stranger:
        stranger.sendall(sent)
        said = stranger.recv(100)
    assert said.split(b" ")[1] in (b"400", b"404")
    assert ask(server, "/").status == 200


@pytest.mark.parametrize("host", ["evil.example", "evil.example:8000", "", "127.0.0.1.evil.example", "a@b"])
def test_a_name_that_another_site_points_here_is_not_answered(server: PackageServer, host: str):
    for path in ("/", f"{FILES}/manifest.json"):
        said = ask(server, path, Host=host)
        assert said.status == 403
        assert server.token not in said.text


def test_a_kernel_loads_from_its_address_and_from_what_stands_in_for_the_hub(
    server: PackageServer, monkeypatch: pytest.MonkeyPatch
):
    url = f"{server.origin}/test.toys.Double"
    by_url = load_kernel(url, version=1, expected_op_id="test.toys.Double", trust_remote_code=True)
    monkeypatch.setenv("HF_ENDPOINT", server.origin)
    for organisation in ("webgpu-kernels", "somebody"):
        by_name = load_kernel(f"{organisation}/test.toys.Double", version=1, trust_remote_code=True)
        assert by_name.manifest == by_url.manifest
    with pytest.raises(LoadError, match="404"):
        load_kernel("webgpu-kernels/test.toys.Double", version=2)
    options = LoadOptions(version=1, templates="all")
    assert open_package("webgpu-kernels/test.toys.Double", options).prefetched


def test_a_package_that_is_rendered_anew_loads_as_it_is_now(server: PackageServer, root: Path):
    url = f"{server.origin}/test.toys.Double"
    options = LoadOptions(version=1, expected_op_id="test.toys.Double", trust_remote_code=True, templates="all")
    (root / "build" / "webgpu" / "double.wgsl.jinja").write_text("// another\n")
    with pytest.raises(LoadError, match="digest"):
        open_package(url, options)
    sign(root / "build" / "webgpu")
    assert open_package(url, options).templates("main") == {"double.wgsl.jinja": "// another\n"}
