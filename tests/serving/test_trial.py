"""Tests in the browser, asked for by raw requests: who may begin them, and who may take part."""

import json
import os
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import aiohttp
import pytest

from scanbuild.gpu.browser.messages import Message
from scanbuild.gpu.browser.site import new_token
from scanbuild.serving import open_server, trial
from scanbuild.serving.server import PackageServer
from scanbuild.serving.settings import ServeSettings
from scanbuild.serving.shelf import fill_shelf
from tests.browser.jobs import DEVICE, FakePage
from tests.cases.packages import sign
from tests.serving.asking import FILES, Said, ask

PATH = "/-/tests"
WANTED = b'{"package": "test.toys.Double"}'


@pytest.fixture
def notices() -> list[str]:
    return []


@pytest.fixture
def server(root: Path, notices: list[str]) -> Iterator[PackageServer]:
    with open_server(fill_shelf([root]), ServeSettings(port=0, notice=notices.append)) as running:
        yield running


def begin(server: PackageServer, body: bytes = WANTED, **headers: Any) -> Said:
    """What the page's button sends."""
    own = {"Origin": server.origin, "X_Scanbuild_Token": server.token, "Content_Type": "application/json"}
    return ask(server, PATH, "POST", body, **{**own, **headers})


def page_of(server: PackageServer, token: str, origin: str | None = None) -> FakePage:
    """A page that takes part in a run."""
    there: Any = SimpleNamespace(url=f"{server.origin}{PATH}/{token}/", token=f"{PATH}/{token}".removeprefix("/"))
    return FakePage(there, origin=origin)


def begun(server: PackageServer) -> str:
    said = begin(server)
    assert said.status == 200
    return str(json.loads(said.text)["trial"])


def until(true: Any) -> None:
    end = time.monotonic() + 10
    while not true():
        assert time.monotonic() < end
        time.sleep(0.02)


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://127.0.0.1:1"},
        {"Origin": ""},
        {"X_Scanbuild_Token": ""},
        {"X_Scanbuild_Token": "a-token-of-that-length"},  # drawn anew, it would name the test anew in each process
        {"X_Scanbuild_Token": "\xe9"},
    ],
    ids=str,
)
def test_only_the_servers_own_page_with_its_token_begins_tests(
    server: PackageServer, notices: list[str], headers: dict[str, Any]
):
    assert len(server.token) == len("a-token-of-that-length")
    said = begin(server, **headers)
    assert said.status == 403
    assert "Access-Control-Allow-Origin" not in said.headers
    assert "trial" not in said.text


def test_a_page_elsewhere_is_not_even_allowed_to_ask(server: PackageServer):
    for path in (PATH, "/", "/-/serve.js", "/-/view/test.toys.Double/manifest.json"):
        said = ask(server, path, "OPTIONS", Origin="https://evil.example", Access_Control_Request_Method="POST")
        assert said.status == 405
        assert not [name for name in said.headers if name.startswith("Access-Control-")]


def test_a_page_elsewhere_cannot_read_the_token(server: PackageServer):
    for path in ("/open/x", f"{FILES}/manifest.json", "/-/serve.js"):
        assert server.token not in ask(server, path, Origin="https://evil.example").text
    said = ask(server, "/", Origin="https://evil.example")
    assert server.token in said.text
    assert "Access-Control-Allow-Origin" not in said.headers
    assert "frame-ancestors 'none'" in said.headers["Content-Security-Policy"]
    assert said.headers["Cross-Origin-Opener-Policy"] == "same-origin"


@pytest.mark.parametrize(
    "body",
    [b"", b"{", b"[]", b'{"package": 1}', b'{"package": "../x"}', b"[" * 900, b'"' + b"a" * 9999 + b'"', b"\xff"],
)
def test_a_package_that_is_not_there_is_not_tested(server: PackageServer, body: bytes):
    assert begin(server, body).status in (404, 413)
    assert begin(server).status == 200


def test_tests_are_begun_by_post_alone(server: PackageServer):
    own: dict[str, Any] = {"Origin": server.origin, "X_Scanbuild_Token": server.token}
    assert {ask(server, PATH, method, **own).status for method in ("GET", "HEAD", "PUT")} == {405}


def test_a_run_is_known_by_its_token_and_takes_part_only_with_the_servers_own_page(server: PackageServer):
    token = begun(server)
    for other in (new_token(), server.token, "x"):
        with pytest.raises(aiohttp.WSServerHandshakeError, match="404"):
            page_of(server, other)
    for origin in ("https://evil.example", "http://127.0.0.1:1", "null"):
        with pytest.raises(aiohttp.WSServerHandshakeError, match="403"):
            page_of(server, token, origin)
    assert ask(server, f"{PATH}/{token}/socket", Origin=server.origin).status == 400
    with page_of(server, token) as page:
        page.hello()
        assert page.receive().kind == "wait"


def answer(page: FakePage, message: Message) -> None:
    """Say of a job that the browser refuses it."""
    told = {"number": message.body["number"], "rule": "engine-validation", "message": "no", "dispatch": None}
    page.send("failed", told)


def test_what_a_device_cannot_do_is_a_failure_that_the_page_and_the_terminal_are_told(
    server: PackageServer, notices: list[str]
):
    with page_of(server, begun(server)) as page:
        page.hello()
        page.receive("open")
        page.send("device", DEVICE)
        assert page.receive("begin").body == {"title": "test.toys.Double", "total": 2}
        for name in ("small", "whole"):
            while (message := page.receive("run", "verdict")).kind == "run":
                answer(page, message)
            assert (message.body["name"], message.body["good"]) == (name, False)
        assert page.receive("end").body == {"headline": "There are failures", "detail": "2 failed", "good": False}
    until(lambda: notices)
    assert notices == ["test.toys.Double: 2 failed on Acme Roadrunner (Chrome 156 on Android) through browser"]


def test_a_page_that_is_left_ends_its_run(server: PackageServer, notices: list[str], monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(trial, "RETURN_LIMIT_S", 0.1)
    with page_of(server, begun(server)) as page:
        page.hello()
        page.receive("open")
        page.send("device", DEVICE)
        page.receive("run")
        page.hang_up()
    until(lambda: notices and "left" in notices[-1])
    assert notices[-1] == "test.toys.Double: the page was left after 1 of 2 cases"


def test_so_many_runs_at_once_and_no_more(server: PackageServer, monkeypatch: pytest.MonkeyPatch):
    for _ in range(trial.MOST_AT_ONCE):
        begun(server)
    said = begin(server)
    assert (said.status, "too many" in said.text) == (503, True)


def test_a_package_that_is_broken_now_is_not_tested(server: PackageServer, root: Path):
    folder = root / "build" / "webgpu"
    (folder / "double.wgsl.jinja").write_text("edited")
    said = begin(server)
    assert said.status == 409
    assert "double.wgsl.jinja" in json.loads(said.text)["message"]
    (folder / "test.json").write_text('{"cases": []}')
    sign(folder)
    assert begin(server).status == 422


def test_a_reference_that_came_with_a_package_is_not_run(server: PackageServer, root: Path):
    """Only this user's own builds have a source that may be run, and none is remembered here."""
    folder = root / "build" / "webgpu"
    (folder / "reference.py").write_text("raise SystemExit('it ran')")
    sign(folder)
    (place,) = fill_shelf([root]).places
    assert trial.read_subject(place, Path(os.devnull)).source is None


def test_a_server_that_ends_hangs_up(root: Path):
    with open_server(fill_shelf([root]), ServeSettings(port=0)) as server:
        page = page_of(server, begun(server))
        page.hello()
        page.receive("open")
        start = time.monotonic()
    assert page.closing_code() == 1001
    page.close()
    assert time.monotonic() - start < 5
