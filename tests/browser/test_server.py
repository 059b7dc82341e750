"""Who is answered, and by what: raw requests as a browser, a stranger and a hostile page would send them."""

import http.client
import socket
import ssl
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import aiohttp
import pytest

from scanbuild.errors import InputError
from scanbuild.gpu.browser.addresses import is_loopback, own_names, reachable
from scanbuild.gpu.browser.certificate import fingerprint, own_certificate
from scanbuild.gpu.browser.messages import LARGEST_FRAME
from scanbuild.gpu.browser.reception import MOST_PAGES
from scanbuild.gpu.browser.server import Server
from scanbuild.gpu.browser.settings import ServerSettings
from scanbuild.gpu.browser.site import (
    PAGE,
    is_own_host,
    is_own_origin,
    new_token,
    page_files,
    split_path,
)
from scanbuild.gpu.browser.visitor import GoneError
from tests.browser.jobs import FakePage

NOTHING = "There is nothing here"


@pytest.fixture
def notices() -> list[str]:
    return []


@pytest.fixture
def server(notices: list[str]) -> Iterator[Server]:
    with Server(ServerSettings(notice=notices.append)) as running:
        yield running


def ask(server: Server, path: str, method: str = "GET", **headers: str) -> tuple[int, dict[str, str], str]:
    """One request, the path as it is; status, headers and text of the answer."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=10)
    try:
        connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
        for name, value in {"Host": f"127.0.0.1:{server.port}", **headers}.items():
            connection.putheader(name.replace("_", "-"), value)
        connection.endheaders()
        answer = connection.getresponse()
        return answer.status, dict(answer.getheaders()), answer.read().decode()
    finally:
        connection.close()


def test_the_page_and_its_files_are_served_to_whoever_knows_the_token(server: Server):
    for name in page_files():
        status, headers, text = ask(server, f"/{server.token}/{name}")
        assert (status, text) == (200, (PAGE / (name or "index.html")).read_text(encoding="utf-8"))
        policy = headers["Content-Security-Policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert (headers["X-Content-Type-Options"], headers["Referrer-Policy"]) == ("nosniff", "no-referrer")
        assert headers["Cross-Origin-Resource-Policy"] == "same-origin"
        assert headers["Server"] == "scanbuild"


def test_the_page_asks_for_nothing_of_anybody_else():
    for name, file in page_files().items():
        text = file.content.decode().replace('xmlns="http://www.w3.org/2000/svg"', "")
        assert "http://" not in text, name
        assert "https://" not in text, name
    html = page_files()[""].content.decode()
    assert "style=" not in html
    assert "<script>" not in html


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/index.html",
        "/socket",
        "/{other}/",
        "/{other}/socket",
        "/{token}",
        "/{token}x/",
        "//{token}/",
        "/%2e/{token}/",
        "/{token}/index.html",
        "/{token}/nothing.js",
        "/{token}/../server.py",
        "/{token}/..%2fserver.py",
        "/{token}/%2e%2e/server.py",
        "/{token}/..\\server.py",
        "/{token}//etc/passwd",
        "/{token}/../../../../../../etc/passwd",
        "/{token}/main.js/",
        "/{token}/main.js%00",
        "http://127.0.0.1/{token}/",
    ],
)
def test_anything_but_the_files_of_the_page_is_the_same_refusal(server: Server, path: str):
    status, _, text = ask(server, path.format(token=server.token, other=new_token()))
    assert status in (400, 404)
    assert status == 400 or text.startswith(NOTHING)
    assert server.token not in text


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:{port}", "localhost.evil.example", "127.0.0.1.evil.example", ""]
)
def test_a_name_that_is_not_the_servers_own_is_refused(server: Server, host: str):
    status, _, text = ask(server, f"/{server.token}/", Host=host.format(port=server.port))
    assert (status, text.startswith(NOTHING)) == (404, True)


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:{port}", "127.0.0.1", "[::1]:{port}", "192.168.1.7:8080"])
def test_the_servers_own_names_are_answered(server: Server, host: str):
    assert ask(server, f"/{server.token}/", Host=host.format(port=server.port))[0] == 200


@pytest.mark.parametrize("method", ["POST", "PUT", "HEAD", "OPTIONS", "DELETE"])
def test_only_get_is_answered(server: Server, method: str):
    assert ask(server, f"/{server.token}/", method)[0] == 405
    assert ask(server, f"/{new_token()}/", method)[0] == 404


UPGRADE = {
    "Connection": "Upgrade",
    "Upgrade": "websocket",
    "Sec_WebSocket_Version": "13",
    "Sec_WebSocket_Key": "dGhlIHNhbXBsZSBub25jZQ==",
}


@pytest.mark.parametrize(
    "origin", ["", "null", "http://evil.example", "http://127.0.0.1", "https://localhost:1", "file://"]
)
def test_only_the_page_of_this_server_may_talk(server: Server, origin: str):
    headers = {**UPGRADE, **({"Origin": origin} if origin else {})}
    assert ask(server, f"/{server.token}/socket", **headers)[0] == 403
    assert ask(server, f"/{new_token()}/socket", **headers)[0] == 404


def test_a_request_that_is_no_websocket_gets_no_socket(server: Server):
    assert ask(server, f"/{server.token}/socket", Origin=f"http://127.0.0.1:{server.port}")[0] == 400


def test_a_message_that_is_too_large_ends_the_connection(server: Server):
    with FakePage(server) as page:
        page.hello()
        visitor = server.next_visitor(5.0)
        assert visitor is not None
        assert visitor.receive(5.0).kind == "hello"
        page.frame('{"kind": "lost", "message": "' + "x" * LARGEST_FRAME + '"}')
        with pytest.raises(GoneError, match="exceeds limit"):
            visitor.receive(5.0)
        # 1009 is "too big"; a client that is still sending may see the connection break instead.
        assert page.closing_code() in (1006, 1009)


def test_bytes_that_nobody_asked_for_end_the_connection(server: Server):
    with FakePage(server) as page:
        page.hello()
        page.send("result", {"number": 1}, (b"1234",))
        assert page.closing_code() == 1008


@pytest.mark.parametrize("hello", [{"protocol": 0}, {"id": 7}, {"id": ""}, {"id": "x" * 65}])
def test_a_page_that_does_not_introduce_itself_is_cut_off(server: Server, hello: dict[str, object]):
    with FakePage(server) as page:
        page.hello(**hello)
        assert page.closing_code() == 1008
    assert server.next_visitor(0.0) is None


def test_a_page_that_never_stops_talking_is_cut_off(server: Server):
    with FakePage(server) as page:
        page.hello()
        for _ in range(70):
            page.send("lost", {"message": "again"})
        assert page.closing_code() == 1008


def test_only_so_many_pages_may_be_open(server: Server):
    pages = [FakePage(server) for _ in range(MOST_PAGES)]
    with pytest.raises(aiohttp.WSServerHandshakeError, match="503"):
        FakePage(server)
    for page in pages:
        page.close()


def test_a_browser_that_cannot_take_part_is_told_of(server: Server, notices: list[str]):
    with FakePage(server) as page:
        page.hello(problem="This browser has no WebGPU.")
        page.closing_code()
    assert notices == ["A browser came that cannot take part: This browser has no WebGPU."]
    assert server.next_visitor(0.0) is None


def test_pages_come_in_the_order_of_their_arrival_unless_they_left(server: Server):
    first, second, third = (FakePage(server) for _ in range(3))
    for name, page in (("1", first), ("2", second), ("3", third)):
        page.hello(id=name)
        page.receive("wait")
    second.close()
    found = [server.next_visitor(5.0), server.next_visitor(5.0), server.next_visitor(0.0)]
    assert [visitor and visitor.identity for visitor in found] == ["1", "3", None]
    with FakePage(server) as again:
        again.hello(id="2")
        again.receive("wait")
        visitor = server.next_visitor(5.0)
        assert visitor is not None
        assert visitor.identity == "2"
    first.close()
    third.close()


def test_an_address_that_is_taken_is_the_users_mistake(server: Server):
    with pytest.raises(InputError, match=r"cannot listen on 127\.0\.0\.1"):
        Server(ServerSettings(port=server.port)).start()


def test_a_certificate_that_is_none_is_the_users_mistake(tmp_path: Path):
    (tmp_path / "certificate.pem").write_text("nothing")
    with pytest.raises(InputError, match="cannot listen"):
        Server(ServerSettings(certificate=tmp_path / "certificate.pem")).start()


def test_a_server_that_was_closed_listens_no_more(notices: list[str]):
    server = Server(ServerSettings())
    server.start()
    server.close()
    server.close()
    with pytest.raises(ConnectionRefusedError), socket.create_connection(("127.0.0.1", server.port), timeout=5):
        pass


STRANGERS = """
import contextlib, socket, sys
from scanbuild.gpu.browser.server import Server
from scanbuild.gpu.browser.settings import ServerSettings

for host in ("127.0.0.1", "0.0.0.0"):
    with Server(ServerSettings(host=host)) as server:
        for sent in (b"\\x16\\x03\\x01 nothing\\r\\n\\r\\n", b"GET / HTTP/9.9\\r\\nx\\r\\n\\r\\n", b"A" * 100_000, b""):
            with socket.create_connection(("127.0.0.1", server.port), timeout=5) as stranger:
                with contextlib.suppress(OSError):
                    stranger.sendall(sent)
                    stranger.shutdown(socket.SHUT_WR)
                    stranger.recv(1000)
"""


def test_what_strangers_send_is_not_shown_in_the_terminal():
    """In a process of its own, since the test runner catches what is logged."""
    ran = subprocess.run([sys.executable, "-c", STRANGERS], capture_output=True, text=True, timeout=60, check=False)
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "", "")


def test_the_token_is_long_and_new_each_time():
    tokens = {new_token() for _ in range(50)}
    assert len(tokens) == 50
    assert min(map(len, tokens)) >= 22
    assert split_path("/secret/main.js", "secret") == "main.js"
    assert split_path("/secreT/main.js", "secret") is None
    assert split_path("/sécret/", "secret") is None
    assert split_path("/secret", "secret") is None
    assert split_path("", "secret") is None


def test_a_host_is_an_address_or_a_known_name():
    names = frozenset({"workshop.local"})
    assert [is_own_host(host, names) for host in ("workshop.local:80", "Workshop.LOCAL", "[fe80::1]:9")] == [True] * 3
    assert [is_own_host(host, names) for host in (None, "", "a", "[::1", "user@evil.example")] == [False] * 5
    odd = ("evil@127.0.0.1", "127.0.0.1:99999", "127.0.0.1:x", "127.0.0.1/a", "localhost?a", "localhost#a")
    assert [is_own_host(host, names) for host in odd] == [False] * len(odd)


def test_an_origin_has_the_host_that_was_asked():
    assert is_own_origin("https://workshop.local:8", "workshop.local:8")
    assert not is_own_origin("https://workshop.local:8", "workshop.local")
    assert not is_own_origin("https://[::1", "[::1")
    assert not is_own_origin(None, "a")
    assert not is_own_origin("http://a", None)


def test_the_address_to_open_is_one_that_others_can_reach():
    assert (reachable("127.0.0.1"), reachable("::1"), reachable("workshop")) == ("127.0.0.1", "[::1]", "workshop")
    assert reachable("0.0.0.0") != "0.0.0.0"
    assert reachable("::").startswith("[")
    assert reachable("::") != "[::]"
    assert is_loopback("127.0.0.1")
    assert is_loopback("localhost")
    assert not is_loopback("0.0.0.0")
    assert not is_loopback("workshop")
    assert own_names("127.0.0.1") == frozenset()
    assert "workshop" in own_names("Workshop")


def test_only_this_machine_is_spoken_to_without_encryption():
    assert urlsplit(Server(ServerSettings()).url).scheme == "http"
    assert urlsplit(Server(ServerSettings(host="::1")).url).scheme == "http"
    assert urlsplit(Server(ServerSettings(host="0.0.0.0")).url).scheme == "https"
    assert urlsplit(Server(ServerSettings(host="workshop.local")).url).scheme == "https"
    assert urlsplit(Server(ServerSettings(certificate=Path("some.pem"))).url).scheme == "https"


def test_the_certificate_of_a_run_names_the_machine_and_has_the_fingerprint_that_is_told():
    with Server(ServerSettings(host="0.0.0.0")) as server:
        address = (urlsplit(server.url).hostname or "", server.port)
        pem = ssl.get_server_certificate(address, timeout=10)
        assert fingerprint(ssl.PEM_cert_to_DER_cert(pem)) == server.fingerprint
        context = ssl.create_default_context(cadata=pem)
        for name in (address[0], "localhost"):
            with socket.create_connection(address, timeout=10) as plain:
                context.wrap_socket(plain, server_hostname=name).close()
        with socket.create_connection(address, timeout=10) as plain, pytest.raises(ssl.SSLCertVerificationError):
            context.wrap_socket(plain, server_hostname="evil.example")


def test_a_certificate_of_the_users_is_used(tmp_path: Path):
    pem, known = own_certificate(["127.0.0.1"])
    (tmp_path / "own.pem").write_bytes(pem)
    with Server(ServerSettings(certificate=tmp_path / "own.pem")) as server:
        assert server.url.startswith("https://127.0.0.1:")
        got = ssl.get_server_certificate(("127.0.0.1", server.port), timeout=10)
        assert fingerprint(ssl.PEM_cert_to_DER_cert(got)) == known
