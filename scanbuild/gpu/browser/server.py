"""The small server that brings the page to a browser and talks to it.

It answers only what knows its token, asks for it by a name of its own, and, to talk, comes from its own page; all else
gets the same short refusal. What it hands out is a fixed set of files in memory.
"""

from collections.abc import Mapping
from types import TracebackType
from typing import Final, Self

from aiohttp import web

from scanbuild.gpu.browser.listener import Listener
from scanbuild.gpu.browser.messages import Message
from scanbuild.gpu.browser.reception import Reception
from scanbuild.gpu.browser.settings import ServerSettings
from scanbuild.gpu.browser.site import (
    HEADERS,
    SOCKET,
    is_own_host,
    is_own_origin,
    new_token,
    page_files,
    split_path,
)
from scanbuild.gpu.browser.visitor import Visitor


class Server:
    """Serves the page, and keeps the pages that came in line. Use it in a ``with``, or start and close it."""

    def __init__(self, settings: ServerSettings) -> None:
        self.settings = settings
        self.token = new_token()
        self._files = page_files()
        self._listener = Listener(settings, self._answer, HEADERS)
        self._reception = Reception(self._listener.do, settings.notice)

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    @property
    def port(self) -> int:
        """Where it listens; before it does, where it was told to."""
        return self._listener.port

    @property
    def fingerprint(self) -> str:
        """That of the certificate, if one was made for this run."""
        return self._listener.fingerprint

    @property
    def url(self) -> str:
        """The address to open, token included."""
        return f"{self._listener.origin}/{self.token}/"

    def start(self) -> None:
        """Listen. InputError if the address or the certificate cannot be used."""
        self._listener.start()

    def close(self) -> None:
        """Send nothing more, and stop listening. A second call does nothing."""
        self._listener.close(lambda: self._reception.hang_up("scanbuild has ended"))

    def next_visitor(self, limit_s: float) -> Visitor | None:
        """The page that has waited longest and is still there, or None if none comes in so many seconds."""
        return self._reception.next_visitor(limit_s)

    def part(self, visitor: Visitor, message: Message) -> None:
        """Say the last words to a page, now and whenever it comes again."""
        self._reception.part(visitor, message)

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        name = split_path(request.raw_path.partition("?")[0], self.token)
        if name is None or not is_own_host(request.headers.get("Host"), self._listener.names):
            return _refusal(404)
        if request.method != "GET":
            return _refusal(405)
        if name == SOCKET:
            return await self._talk(request)
        file = self._files.get(name)
        if file is None:
            return _refusal(404)
        return web.Response(body=file.content, headers={"Content-Type": file.media_type})

    async def _talk(self, request: web.Request) -> web.StreamResponse:
        if not is_own_origin(request.headers.get("Origin"), request.headers.get("Host")):
            return _refusal(403)
        talked = await self._reception.talk(request)
        return _refusal(talked) if isinstance(talked, int) else talked


def _refusal(status: int) -> web.Response:
    return web.Response(status=status, text=_REFUSALS[status])


_REFUSALS: Final[Mapping[int, str]] = {
    400: "Only a WebSocket is answered here.\n",
    403: "Only the page of this server is answered here.\n",
    404: "There is nothing here. The whole address is in the terminal that runs scanbuild.\n",
    405: "Only GET is answered here.\n",
    503: "Too many pages are open.\n",
}
