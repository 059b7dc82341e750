"""The server of packages: who is answered, and by what.

Files of packages are for everybody who can reach the server, pages of any origin among them. The pages are for people:
no other page can read them, so that none learns the token without which no test begins.
"""

import asyncio
import hmac
import json
from types import MappingProxyType, TracebackType
from typing import Any, Final, Self

from aiohttp import web

from scanbuild.errors import CheckFailedError, ScanbuildError
from scanbuild.gpu.browser.addresses import is_loopback
from scanbuild.gpu.browser.listener import Listener
from scanbuild.gpu.browser.site import HEADERS, is_own_host, is_own_origin, new_token
from scanbuild.package.text import encode
from scanbuild.serving import files, pages
from scanbuild.serving.paths import (
    Asset,
    CardPage,
    HubFile,
    IndexPage,
    PlainFile,
    TrialPath,
    ViewPage,
    Wanted,
    wanted,
)
from scanbuild.serving.prose import anchor
from scanbuild.serving.settings import ServeSettings
from scanbuild.serving.shelf import Place, Shelf
from scanbuild.serving.trial import Trials, read_subject

TOKEN_HEADER: Final = "X-Scanbuild-Token"
HTML: Final = "text/html; charset=utf-8"

_EVERYWHERE: Final = MappingProxyType(
    {name: HEADERS[name] for name in ("Referrer-Policy", "X-Content-Type-Options", "Server")}
)
_NOWHERE: Final = "There is nothing here.\n"
_MOST_PROBLEMS: Final = 20


class PackageServer:
    """Serves the packages of a shelf. Use it in a ``with``, or start and close it."""

    def __init__(self, shelf: Shelf, settings: ServeSettings) -> None:
        self.token = new_token()
        self._shelf = shelf
        self._settings = settings
        self._assets = pages.assets()
        self._listener = Listener(settings, self._answer, _EVERYWHERE)
        self._trials = Trials(self._listener.do, settings.notice)

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    @property
    def port(self) -> int:
        """Where it listens."""
        return self._listener.port

    @property
    def fingerprint(self) -> str:
        """That of the certificate, if one was made for this run."""
        return self._listener.fingerprint

    @property
    def origin(self) -> str:
        """What all addresses begin with; what HF_ENDPOINT has to be."""
        return self._listener.origin

    @property
    def url(self) -> str:
        """The page to open. Where others can reach the server, it holds the token that lets tests be run."""
        return f"{self.origin}/" if self.is_private else f"{self.origin}/open/{self.token}"

    @property
    def is_private(self) -> bool:
        """Whether only this machine can reach it."""
        return is_loopback(self._settings.host)

    def start(self) -> None:
        """Listen. InputError if the address or the certificate cannot be used. A second call does nothing."""
        if not self._listener.is_started:
            self._listener.start()

    def close(self) -> None:
        """End the tests that run, and stop listening. A second call does nothing."""
        self._listener.close(lambda: self._trials.end("scanbuild has ended"))

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        response = await self._respond(request)
        self._settings.log(f"{response.status} {request.method} {request.raw_path}")
        return response

    async def _respond(self, request: web.Request) -> web.StreamResponse:
        if not is_own_host(request.headers.get("Host"), self._listener.names):
            return _refusal(403, "Only requests by an address, localhost or this machine's own name are answered.\n")
        what = wanted(request.raw_path)
        if isinstance(what, PlainFile | HubFile):
            return await self._file(request, what)
        if isinstance(what, TrialPath):
            return await self._talk(request, what.trial) if what.trial else await self._begin(request)
        if request.method not in ("GET", "HEAD"):
            return _refusal(405, "Only GET and HEAD are answered here.\n", Allow="GET, HEAD")
        return await self._page(what)

    async def _file(self, request: web.Request, what: PlainFile | HubFile) -> web.StreamResponse:
        if request.method == "OPTIONS":
            return _response(files.preflight())
        if request.method not in ("GET", "HEAD"):
            headers = {**files.OPEN_HEADERS, "Allow": "GET, HEAD, OPTIONS"}
            return _refusal(405, "Packages can be read, and nothing else.\n", **headers)
        have = request.headers.get("If-None-Match", "")
        return _response(await asyncio.to_thread(files.answer_file, self._shelf, what, have))

    async def _page(self, what: Wanted | None) -> web.StreamResponse:
        """A page, or a part of one."""
        text: str | None = None
        if isinstance(what, IndexPage):
            token = self._token_for(what)
            text = await asyncio.to_thread(pages.index_page, self._shelf, self.origin, token)
        elif isinstance(what, CardPage) and self._shelf.at(what.package):
            return _refusal(302, "", Location=f"/#{anchor(what.package)}")
        elif isinstance(what, ViewPage):
            place = self._shelf.at(what.package)
            text = await asyncio.to_thread(pages.view_page, place, what.file) if place is not None else None
        elif isinstance(what, Asset) and what.name in self._assets:
            asset = self._assets[what.name]
            return web.Response(body=asset.content, headers={**HEADERS, "Content-Type": asset.media_type})
        if text is None:
            return _refusal(404, _NOWHERE)
        return web.Response(body=encode(text), headers={**HEADERS, "Content-Type": HTML})

    def _token_for(self, page: IndexPage) -> str:
        """The token that a page gets: on this machine every one, elsewhere one that was opened with it."""
        known = hmac.compare_digest(page.token.encode("utf-8", "replace"), self.token.encode())
        return self.token if known or (self.is_private and not page.token) else ""

    async def _begin(self, request: web.Request) -> web.StreamResponse:
        """Begin a package's tests for the page that asks."""
        if request.method != "POST":
            return _refusal(405, "Tests are begun by POST.\n", Allow="POST")
        if not self._is_own_page(request):
            return _refusal(403, "Only the page of this server can begin tests.\n")
        place = await self._place_in(request)
        if place is None:
            return _json(404, {"message": "no such package is served here"})
        try:
            subject = await asyncio.to_thread(read_subject, place, self._settings.state)
        except ScanbuildError as error:
            problems = [str(problem) for problem in error.problems[:_MOST_PROBLEMS]]
            status = 409 if isinstance(error, CheckFailedError) else 422
            return _json(status, {"message": "\n".join(problems)})
        trial = self._trials.begin(subject)
        if trial is None:
            return _json(503, {"message": "too many tests run at once; try again when one of them has ended"})
        return _json(200, {"trial": trial.token})

    def _is_own_page(self, request: web.Request) -> bool:
        """Whether a request comes from the server's own page: by its token, and by the origin that browsers tell."""
        given = request.headers.get(TOKEN_HEADER, "").encode("utf-8", "replace")
        own = is_own_origin(request.headers.get("Origin"), request.headers.get("Host"))
        return hmac.compare_digest(given, self.token.encode()) and own

    async def _place_in(self, request: web.Request) -> Place | None:
        """The package that a request to begin tests names."""
        try:
            value = json.loads(await request.text())
        except (ValueError, RecursionError, web.HTTPException):
            return None
        name = value.get("package") if isinstance(value, dict) else None
        return self._shelf.at(name) if isinstance(name, str) else None

    async def _talk(self, request: web.Request, token: str) -> web.StreamResponse:
        """The page of a run, with what it answers."""
        trial = self._trials.known(token)
        if request.method != "GET" or trial is None:
            return _refusal(404, _NOWHERE)
        if not is_own_origin(request.headers.get("Origin"), request.headers.get("Host")):
            return _refusal(403, "Only the page of this server takes part in tests.\n")
        talked = await trial.reception.talk(request)
        return _refusal(talked, "Only a WebSocket is answered here.\n") if isinstance(talked, int) else talked


def _response(answer: files.Answer) -> web.Response:
    return web.Response(status=answer.status, body=answer.body, headers=answer.headers)


def _refusal(status: int, words: str, **headers: str) -> web.Response:
    return web.Response(status=status, body=words.encode(), headers={**HEADERS, "Content-Type": files.TEXT, **headers})


def _json(status: int, value: Any) -> web.Response:
    headers = {**HEADERS, "Content-Type": "application/json"}
    return web.Response(status=status, body=encode(json.dumps(value)), headers=headers)
