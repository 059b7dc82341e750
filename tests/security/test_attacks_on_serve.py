"""The server of packages with a hostile package in it, and as hostile sites and strangers would ask it."""

import http.client
import json
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from scanbuild.package.digest import digest_text
from scanbuild.serving.server import PackageServer
from scanbuild.serving.settings import ServeSettings
from scanbuild.serving.shelf import fill_shelf
from tests.package.building import SHADER

EVIL = (
    "</script></style></pre><script>alert(1)</script><img src=x onerror=alert(1)>"
    "\" onclick='alert(1)' [a](javascript:alert(1)) {{ 7*7 }} &lt;script&gt;"
)
NAME = "ai.onnx.Probe"


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A package whose texts are attacks, beside a secret."""
    outside = tmp_path_factory.mktemp("outside")
    (outside / "secret.json").write_text("the secret", encoding="utf-8")
    folder = outside / "root" / "build" / "webgpu"
    folder.mkdir(parents=True)
    manifest = {
        "name": "Probe",
        "description": EVIL,
        "inputs": {"x": {"dtype": "float32", "description": EVIL}},
        "outputs": {"y": {"dtype": "float32", "shape": "shapes.x", "onnx": EVIL}},
        "attributes": {EVIL: {"default": EVIL, "description": EVIL}},
        "variants": [
            {
                "id": "main",
                "description": EVIL,
                "when": [f"'{'a' * 5}' != 'b'", "true # " + EVIL],
                "passes": [{"id": EVIL, "shader": "s.wgsl", "bindings": ["x", "y"], "dispatch": {"x": 1}}],
            }
        ],
    }
    files = {
        "manifest.json": json.dumps(manifest),
        "s.wgsl": f"// {EVIL}\n{SHADER}",
        "page.html": EVIL,
        "picture.svg": f"<svg xmlns='http://www.w3.org/2000/svg'>{EVIL}</svg>",
        "test.json": json.dumps({"cases": []}),
    }
    metadata = {
        "name": NAME,
        "license": EVIL,
        "backend": {"type": "webgpu"},
        "digest": {"algorithm": "sha256", "files": {name: digest_text(text) for name, text in files.items()}},
        "webgpu": {"manifestSpec": "2.1", "variants": {"main": ["s.wgsl"]}},
    }
    for name, text in {**files, "metadata.json": json.dumps(metadata)}.items():
        (folder / name).write_text(text, encoding="utf-8")
    (outside / "root" / "build" / "own.json").write_text("the secret", encoding="utf-8")
    return outside / "root"


@pytest.fixture
def links(package: Path) -> Iterator[None]:
    """Links out of the package, made while it is served; one with links is not taken to begin with."""
    made = {"link.json": package.parent / "secret.json", "folder": package.parent}
    for name, target in made.items():
        (package / "build" / "webgpu" / name).symlink_to(target)
    yield
    for name in made:
        (package / "build" / "webgpu" / name).unlink()


@pytest.fixture(scope="module")
def server(package: Path) -> Iterator[PackageServer]:
    with PackageServer(fill_shelf([package]), ServeSettings(port=0)) as running:
        yield running


def ask(
    server: PackageServer, path: str, method: str = "GET", body: str = "", **headers: str
) -> tuple[int, dict[str, str], str]:
    """One request, the path as it is; status, headers and text of the answer."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=10)
    try:
        connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
        length = {"Content-Length": str(len(body))} if body else {}
        for name, value in {"Host": f"127.0.0.1:{server.port}", **length, **headers}.items():
            connection.putheader(name.replace("_", "-"), value)
        connection.endheaders(body.encode() or None)
        answer = connection.getresponse()
        return answer.status, dict(answer.getheaders()), answer.read().decode(errors="replace")
    finally:
        connection.close()


@pytest.mark.parametrize("path", ["/", f"/{NAME}/build/webgpu/manifest.json", f"/-/view/{NAME}/s.wgsl", "/-/serve.js"])
@pytest.mark.parametrize("host", ["evil.example", "localhost.evil.example", "127.0.0.1.evil.example:80", ""])
def test_serve_answers_to_its_own_names_only(server: PackageServer, path: str, host: str):
    status, headers, text = ask(server, path, Host=host)
    assert (status, server.token in text) == (403, False)
    assert "Access-Control-Allow-Origin" not in headers
    assert ask(server, path)[0] == 200


@pytest.mark.parametrize(
    "rest",
    [
        "../own.json",
        "..%2fown.json",
        "%2e%2e/own.json",
        "%2e%2e%2fown.json",
        "..\\own.json",
        "..%5cown.json",
        "%252e%252e/own.json",
        "./../own.json",
        "folder/secret.json",
        "link.json",
        "link.json%00.wgsl",
        "/etc/passwd",
        "%2fetc%2fpasswd",
        "",
    ],
)
def test_serve_gives_files_of_its_packages_and_nothing_else(server: PackageServer, links: None, rest: str):
    places = [f"/{NAME}/build/webgpu/", f"/kernels/org/{NAME}/resolve/v1/build/webgpu/", f"/-/view/{NAME}/", "/-/", "/"]
    for place in places:
        status, _, text = ask(server, place + rest)
        assert "secret" not in text.replace(rest, ""), place
        assert "root:x:" not in text
        assert status in (200, 302, 400, 404)
        assert status != 200 or (place, rest) == ("/", "")
    for method in ("PUT", "POST", "DELETE", "PATCH"):
        assert ask(server, f"/{NAME}/build/webgpu/manifest.json", method, "{}")[0] == 405


@pytest.mark.parametrize("file", ["page.html", "picture.svg", "s.wgsl", "manifest.json"])
def test_a_served_file_is_inert(server: PackageServer, file: str):
    status, headers, _ = ask(server, f"/{NAME}/build/webgpu/{file}")
    assert status == 200
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert "sandbox" in headers["Content-Security-Policy"]
    assert "default-src 'none'" in headers["Content-Security-Policy"]
    assert headers["Content-Type"].split(";")[0] in ("text/plain", "application/json", "application/octet-stream")


def test_only_the_page_of_serve_begins_tests(server: PackageServer):
    own = f"http://127.0.0.1:{server.port}"
    body = json.dumps({"package": NAME})
    attempts: list[dict[str, str]] = [
        {},
        {"Origin": own},
        {"X_Scanbuild_Token": server.token},
        {"X_Scanbuild_Token": server.token, "Origin": "http://evil.example"},
        {"X_Scanbuild_Token": server.token, "Origin": "null"},
        {"X_Scanbuild_Token": server.token[:-1], "Origin": own},
    ]
    for headers in attempts:
        assert ask(server, "/-/tests", "POST", body, **headers)[0] == 403
    assert ask(server, "/-/tests", "POST", body, X_Scanbuild_Token=server.token, Origin=own)[0] not in (403, 404)
    assert ask(server, "/-/tests", "OPTIONS", Origin="http://evil.example")[0] == 405
    assert ask(server, "/-/tests/some-token/socket")[0] == 404


def test_no_other_site_can_read_the_page_of_serve(server: PackageServer, package: Path):
    for path in ("/", f"/open/{server.token}", f"/-/view/{NAME}/s.wgsl"):
        status, headers, text = ask(server, path, Origin="http://evil.example")
        assert status == 200
        assert "Access-Control-Allow-Origin" not in headers
        assert headers["Cross-Origin-Resource-Policy"] == "same-origin"
        assert "frame-ancestors 'none'" in headers["Content-Security-Policy"]
        assert (server.token in text) is (path != f"/-/view/{NAME}/s.wgsl")
    with PackageServer(fill_shelf([package]), ServeSettings(host="0.0.0.0", port=0)) as public:
        assert f"/open/{public.token}" in public.url
        assert public.origin.startswith("https://")


class Page(HTMLParser):
    """What a browser would act on: scripts, handlers, links, pictures, frames."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, Any]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


@pytest.mark.parametrize(
    "path", ["/", f"/-/view/{NAME}/s.wgsl", f"/-/view/{NAME}/manifest.json", f"/-/view/{NAME}/page.html"]
)
def test_whatever_a_package_says_is_text_on_the_page_of_serve(server: PackageServer, path: str):
    status, headers, text = ask(server, path)
    assert status == 200
    assert "unsafe" not in headers["Content-Security-Policy"]
    page = Page(text)
    assert "alert(1)" in "".join(page.texts), "the attack is not on the page"
    for tag, attributes in page.tags:
        assert not [name for name in attributes if name.startswith("on") or name == "style"], tag
        assert tag not in ("iframe", "object", "embed", "base", "form", "img"), tag
        if tag == "script":
            assert str(attributes["src"]).startswith("/-/")
        for name in ("href", "src", "action"):
            assert not str(attributes.get(name) or "").strip().lower().startswith(("javascript:", "data:"))
    assert "49" not in "".join(page.texts).split("alert(1)")[1][:60], "a template of the package was rendered"
