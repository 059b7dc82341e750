"""The small server that brings the page to a browser and talks to it. It runs in a thread of its own.

It answers only what knows its token, asks for it by a name of its own, and, to talk, comes from its own page; all else
gets the same short refusal. What it hands out is a fixed set of files in memory.
"""

import asyncio
import contextlib
import logging
import queue
import ssl
import threading
from collections.abc import Coroutine, Mapping
from types import TracebackType
from typing import Any, Final, Self

from aiohttp import WSMsgType, web

from scanbuild.errors import InputError, Problem
from scanbuild.gpu.browser import addresses
from scanbuild.gpu.browser.certificate import own_certificate, server_context
from scanbuild.gpu.browser.messages import LARGEST_FRAME, PROTOCOL, Assembler, Message, ProtocolError, frames
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
from scanbuild.gpu.browser.visitor import GoneError, Send, Visitor

HEARTBEAT_S: Final = 8.0
"""A page that does not answer a ping for half of this after it was sent counts as gone."""

HELLO_LIMIT_S: Final = 20.0
START_LIMIT_S: Final = 20.0
CLOSE_LIMIT_S: Final = 2.0
MOST_PAGES: Final = 16
OPENED_ONCE_MORE: Final = 4001

_LOG: Final = logging.getLogger("scanbuild.browser")
_LOG.addHandler(logging.NullHandler())
_LOG.propagate = False
_LONGEST_NAME: Final = 64
_LONGEST_REASON: Final = 120


class Server:
    """Serves the page, and keeps the pages that came in line. Use it in a ``with``, or start and close it."""

    def __init__(self, settings: ServerSettings) -> None:
        self.settings = settings
        self.token = new_token()
        self.port = settings.port
        self.fingerprint = ""
        self._names = addresses.own_names(settings.host)
        self._files = page_files()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._serve, name="scanbuild-browser", daemon=True)
        self._runner: web.AppRunner | None = None
        self._visitors: dict[str, Visitor] = {}
        self._line: queue.Queue[Visitor] = queue.Queue()
        self._links: dict[Visitor, web.WebSocketResponse] = {}
        self._closing: dict[web.WebSocketResponse, asyncio.Task[bool]] = {}
        self._open = 0

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    @property
    def url(self) -> str:
        """The address to open, token included."""
        scheme = "https" if self.is_encrypted else "http"
        return f"{scheme}://{addresses.reachable(self.settings.host)}:{self.port}/{self.token}/"

    @property
    def is_encrypted(self) -> bool:
        """Whether it speaks https, as browsers want it for WebGPU except on the machine they run on."""
        return self.settings.certificate is not None or not addresses.is_loopback(self.settings.host)

    def start(self) -> None:
        """Listen. InputError if the address or the certificate cannot be used."""
        self._thread.start()
        try:
            self._do(self._listen(), START_LIMIT_S)
        except BaseException as error:
            self.close()
            if not isinstance(error, OSError | ValueError):
                raise
            message = f"cannot listen on {self.settings.host}, port {self.settings.port}: {error}"
            hint = "choose another with --host and --port, and see that --certificate holds a certificate and its key"
            raise InputError(Problem(message=message, hint=hint)) from error

    def close(self) -> None:
        """Send nothing more, and stop listening. A second call does nothing."""
        if self._loop.is_closed():
            return
        if self._thread.is_alive():
            with contextlib.suppress(Exception):
                self._do(self._shut(), START_LIMIT_S)
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join(START_LIMIT_S)
        if not self._loop.is_running():
            self._loop.close()

    def next_visitor(self, limit_s: float) -> Visitor | None:
        """The page that has waited longest and is still there, or None if none comes in so many seconds."""
        end = self._loop.time() + limit_s
        while True:
            try:
                visitor = self._line.get(timeout=max(end - self._loop.time(), 0.0))
            except queue.Empty:
                return None
            if visitor.is_here:
                return visitor
            # It went away while it waited: when it comes back, it stands in line anew.
            self._visitors.pop(visitor.identity, None)

    def part(self, visitor: Visitor, message: Message) -> None:
        """Say the last words to a page, now and whenever it comes again."""
        visitor.parting = message
        with contextlib.suppress(GoneError, TimeoutError):
            visitor.send(message, START_LIMIT_S)

    def _serve(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_forever()

    def _do(self, work: Coroutine[Any, Any, Any], limit_s: float) -> Any:
        """Run something in the server's thread and wait for it; TimeoutError, and it is cancelled, if it takes long."""
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return future.result(limit_s)
        except TimeoutError:
            future.cancel()
            raise

    async def _listen(self) -> None:
        app = web.Application(client_max_size=1024)
        app.router.add_route("*", "/{path:.*}", self._answer)
        app.on_response_prepare.append(_add_headers)
        # Whatever strangers send is no news for whoever runs this.
        self._loop.set_exception_handler(lambda _loop, context: _LOG.debug("%s", context))
        self._runner = web.AppRunner(app, access_log=None, logger=_LOG, handle_signals=False, shutdown_timeout=1.0)
        await self._runner.setup()
        site = web.TCPSite(self._runner, self.settings.host, self.settings.port, ssl_context=self._tls())
        await site.start()
        self.port = self._runner.addresses[0][1]

    def _tls(self) -> ssl.SSLContext | None:
        if not self.is_encrypted:
            return None
        if self.settings.certificate is not None:
            return server_context(self.settings.certificate)
        pem, self.fingerprint = own_certificate({*self._names, addresses.host_of(self.settings.host), "localhost"})
        return server_context(pem)

    async def _shut(self) -> None:
        await asyncio.gather(*(self._hang_up(socket, 1001, "scanbuild has ended") for socket in self._links.values()))
        if self._runner is not None:
            await self._runner.cleanup()

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        name = split_path(request.raw_path.partition("?")[0], self.token)
        if name is None or not is_own_host(request.headers.get("Host"), self._names):
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
        if self._open >= MOST_PAGES:
            return _refusal(503)
        socket = web.WebSocketResponse(
            timeout=CLOSE_LIMIT_S, heartbeat=HEARTBEAT_S, max_msg_size=LARGEST_FRAME + 1, compress=False
        )
        if not socket.can_prepare(request).ok:
            return _refusal(400)
        self._open += 1
        try:
            await socket.prepare(request)
            await self._converse(socket)
        finally:
            self._open -= 1
        return socket

    async def _converse(self, socket: web.WebSocketResponse) -> None:
        """Take a page's hello, then put what it sends into its inbox until the connection ends."""
        assembler = Assembler()
        visitor, code, reason = None, 1000, "the connection was closed"
        try:
            hello = await asyncio.wait_for(_receive(socket, assembler), HELLO_LIMIT_S)
            visitor = await self._arrive(socket, assembler, hello)
            while visitor is not None:
                message = await _receive(socket, assembler)
                if not visitor.deliver(message):
                    raise ProtocolError("too many messages that nobody asked for")
        except (GoneError, ConnectionError) as error:
            reason = str(error) or reason
        except (ProtocolError, TimeoutError) as error:
            code, reason = 1008, f"it was cut off: {error or 'it said nothing'}"
        finally:
            if visitor is not None and self._links.get(visitor) is socket:
                del self._links[visitor]
                visitor.leave(reason)
            # Somebody else may be closing it: this must not return before that is done.
            await (self._closing.pop(socket, None) or self._hang_up(socket, code, reason))

    def _hang_up(self, socket: web.WebSocketResponse, code: int, reason: str) -> asyncio.Task[bool]:
        """Close a connection, in words that the page shows."""
        task = asyncio.create_task(socket.close(code=code, message=reason.encode("ascii", "replace")[:_LONGEST_REASON]))
        self._closing[socket] = task
        task.add_done_callback(lambda _task: self._closing.pop(socket, None))
        return task

    async def _arrive(self, socket: web.WebSocketResponse, assembler: Assembler, hello: Message) -> Visitor | None:
        """The visitor that a page's hello announces, in line if it is new; None if it cannot take part."""
        identity = _checked_hello(hello)
        problem = hello.body.get("problem")
        if problem:
            self.settings.notice(f"A browser came that cannot take part: {str(problem)[:500]}")
            return None
        visitor = self._visitors.get(identity)
        is_new = visitor is None
        if visitor is None:
            visitor = self._visitors[identity] = Visitor(identity)
        if visitor in self._links:
            visitor.leave("the page was opened once more")
            self._hang_up(self._links[visitor], OPENED_ONCE_MORE, "the page was opened once more")
        self._links[visitor] = socket
        visitor.arrive(hello, self._sender(socket, assembler))
        if visitor.parting is not None:
            await _send(socket, visitor.parting)
        elif is_new:
            await _send(socket, Message(kind="wait"))
            self._line.put(visitor)
        return visitor

    def _sender(self, socket: web.WebSocketResponse, assembler: Assembler) -> Send:
        def send(message: Message, allowance: int, limit_s: float) -> None:
            assembler.allowance = allowance
            try:
                self._do(_send(socket, message), limit_s)
            except (ConnectionError, RuntimeError) as error:
                raise GoneError(str(error) or "the connection was closed") from error

        return send


async def _send(socket: web.WebSocketResponse, message: Message) -> None:
    for frame in frames(message):
        if isinstance(frame, str):
            await socket.send_str(frame)
        else:
            await socket.send_bytes(bytes(frame))


async def _receive(socket: web.WebSocketResponse, assembler: Assembler) -> Message:
    """The next whole message; GoneError when the connection ends, ProtocolError if the page breaks the rules."""
    while True:
        frame = await socket.receive()
        message = None
        if frame.type is WSMsgType.TEXT:
            message = assembler.text(frame.data)
        elif frame.type is WSMsgType.BINARY:
            message = assembler.piece(frame.data)
        else:
            lost = frame.type is WSMsgType.ERROR
            raise GoneError(f"the connection was lost: {frame.data}" if lost else "the page was closed")
        if message is not None:
            return message


def _checked_hello(hello: Message) -> str:
    identity = hello.body.get("id")
    if hello.kind != "hello" or hello.body.get("protocol") != PROTOCOL:
        raise ProtocolError("a page of another version; load it again")
    if not isinstance(identity, str) or not 1 <= len(identity) <= _LONGEST_NAME:
        raise ProtocolError("a hello without `id`")
    return identity


def _refusal(status: int) -> web.Response:
    return web.Response(status=status, text=_REFUSALS[status])


async def _add_headers(_request: web.Request, response: web.StreamResponse) -> None:
    response.headers.update(HEADERS)


_REFUSALS: Final[Mapping[int, str]] = {
    400: "Only a WebSocket is answered here.\n",
    403: "Only the page of this server is answered here.\n",
    404: "There is nothing here. The whole address is in the terminal that runs scanbuild.\n",
    405: "Only GET is answered here.\n",
    503: "Too many pages are open.\n",
}
