"""Fetching over HTTP from a server on this machine."""

import contextlib
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar

import pytest

from scanbuild.package.fetching import FetchError
from scanbuild.package.load import LoadOptions
from scanbuild.package.opening import open_package
from scanbuild.package.remote import UrlFetch, bearer, hub_address
from tests.package.building import SHADER, files_of, manifest


class Handler(BaseHTTPRequestHandler):
    files: ClassVar[dict[str, bytes]] = {}
    seen: ClassVar[list[tuple[str, str | None]]] = []

    def do_GET(self) -> None:
        self.seen.append((self.path, self.headers.get("Authorization")))
        if self.path.startswith("/to/"):
            self.send_response(302)
            self.send_header("Location", self.path.removeprefix("/to/"))
            self.end_headers()
        elif self.path == "/slow":
            self.send_response(200)
            self.end_headers()
            with contextlib.suppress(ConnectionError):  # the client gives up before the end
                for _ in range(20):
                    self.wfile.write(b"x" * 70_000)
                    time.sleep(0.05)
        elif self.path in self.files:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(self.files[self.path])
        else:
            self.send_error(404)

    def log_message(self, format: str, *args: Any) -> None:
        """Keep quiet."""


@pytest.fixture
def host() -> Iterator[str]:
    Handler.files = {f"/p/build/webgpu/{name}": text.encode() for name, text in files_of(manifest()).items()}
    Handler.seen = []
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    server.server_close()
    thread.join()


def test_a_package_is_loaded_over_http(host: str) -> None:
    options = LoadOptions(version=1, trust_remote_code=True, expected_op_id="ai.onnx.Probe", token="secret")
    package = open_package(f"{host}/p/", options)
    assert package.templates("main") == {"s.wgsl": SHADER}
    assert all(token is None for _, token in Handler.seen)


def test_the_token_goes_to_the_hub_only() -> None:
    assert bearer("https://huggingface.co/kernels/a/b", "t") == {"Authorization": "Bearer t"}
    assert bearer("https://huggingface.co/kernels/a/b", "") == {"Authorization": "Bearer "}
    for url in ("http://huggingface.co/x", "https://huggingface.co.evil/x", "HTTPS://huggingface.co/x", "https://h/x"):
        assert bearer(url, "t") == {}
    assert bearer("https://huggingface.co/x", None) == {}


def test_a_missing_file_says_the_status(host: str) -> None:
    with pytest.raises(FetchError, match="404"):
        UrlFetch()(f"{host}/nothing")


def test_a_redirect_is_followed(host: str) -> None:
    assert UrlFetch()(f"{host}/to/{host}/p/build/webgpu/s.wgsl") == SHADER.encode()


@pytest.mark.parametrize("target", ["file:///etc/passwd", "ftp://h/x"])
def test_a_redirect_to_another_scheme_is_refused(host: str, target: str) -> None:
    with pytest.raises(FetchError, match=r"(?i)redirect"):
        UrlFetch()(f"{host}/to/{target}")


def test_a_redirect_in_circles_ends(host: str) -> None:
    with pytest.raises(FetchError):
        UrlFetch()(f"{host}/to/" * 40)


def test_an_answer_beyond_the_limit_is_refused(host: str) -> None:
    with pytest.raises(FetchError, match="larger"):
        UrlFetch(max_bytes=10)(f"{host}/p/build/webgpu/s.wgsl")


def test_an_answer_that_drips_is_given_up(host: str) -> None:
    with pytest.raises(FetchError, match="longer"):
        UrlFetch(deadline=0.1)(f"{host}/slow")


@pytest.mark.parametrize(
    "url", ["file:///etc/passwd", "/etc/passwd", "ftp://h/x", "http://", "http://a b/", "http://[/"]
)
def test_what_is_no_usable_url_is_refused(url: str) -> None:
    with pytest.raises(FetchError):
        UrlFetch(timeout=1)(url)


def test_a_server_that_is_not_there_is_said_in_words() -> None:
    with pytest.raises(FetchError, match="cannot be reached"):
        UrlFetch(timeout=1)("http://127.0.0.1:1/x")


def test_odd_characters_of_a_url_are_escaped(host: str) -> None:
    Handler.files["/a%20b/%C3%A9"] = b"yes"
    assert UrlFetch()(f"{host}/a b/é") == b"yes"


def test_another_address_can_stand_in_for_the_hub_and_gets_the_token_then(monkeypatch):
    assert bearer("http://127.0.0.1:9/kernels/a/b", "t", "http://127.0.0.1:9/") == {"Authorization": "Bearer t"}
    assert bearer("https://huggingface.co/kernels/a/b", "t", "http://127.0.0.1:9/") == {}
    monkeypatch.setenv("HF_ENDPOINT", "")
    assert hub_address() == "https://huggingface.co/"
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    assert hub_address() == "http://127.0.0.1:9"


def test_the_stand_in_is_asked_for_what_the_hub_would_be_asked_for(host):
    assert UrlFetch(hub=host)("https://huggingface.co/p/build/webgpu/s.wgsl") == SHADER.encode()
    with pytest.raises(FetchError, match="no http or https URL"):
        UrlFetch(hub="file:///etc")("https://huggingface.co/passwd")


@pytest.mark.parametrize("token", ["hf_secret\n", "hf_secret\u00e9", "hf secret"])
def test_a_token_that_no_header_can_carry_is_refused_without_being_shown(token):
    with pytest.raises(FetchError, match="the token holds characters") as caught:
        UrlFetch(token)("https://huggingface.co/kernels/a/b")
    assert "secret" not in str(caught.value)
