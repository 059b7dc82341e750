"""Where pages arrive: they open a WebSocket, say hello, and wait in line until somebody wants their device."""

import asyncio
import contextlib
import queue
import time
from collections.abc import Callable, Coroutine
from typing import Any, Final, TypeAlias

from aiohttp import WSMsgType, web

from scanbuild.gpu.browser.listener import START_LIMIT_S
from scanbuild.gpu.browser.messages import LARGEST_FRAME, PROTOCOL, Assembler, Message, ProtocolError, frames
from scanbuild.gpu.browser.visitor import GoneError, Send, Visitor

HEARTBEAT_S: Final = 8.0
"""A page that does not answer a ping for half of this after it was sent counts as gone."""

HELLO_LIMIT_S: Final = 20.0
CLOSE_LIMIT_S: Final = 2.0
MOST_PAGES: Final = 16
OPENED_ONCE_MORE: Final = 4001

_LONGEST_NAME: Final = 64
_LONGEST_REASON: Final = 120

Do: TypeAlias = Callable[[Coroutine[Any, Any, Any], float], Any]
"""Runs something in the server's thread within so many seconds; TimeoutError, or RuntimeError after its end."""


class Reception:
    """Keeps the pages that came in line. ``notice`` is told of browsers that cannot take part."""

    def __init__(self, do: Do, notice: Callable[[str], None]) -> None:
        self._do = do
        self._notice = notice
        self._visitors: dict[str, Visitor] = {}
        self._line: queue.Queue[Visitor] = queue.Queue()
        self._links: dict[Visitor, web.WebSocketResponse] = {}
        self._closing: dict[web.WebSocketResponse, asyncio.Task[bool]] = {}
        self._open = 0

    def next_visitor(self, limit_s: float) -> Visitor | None:
        """The page that has waited longest and is still there, or None if none comes in so many seconds."""
        end = time.monotonic() + limit_s
        while True:
            try:
                visitor = self._line.get(timeout=max(end - time.monotonic(), 0.0))
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

    async def hang_up(self, reason: str) -> None:
        """Close all connections, in words that the pages show."""
        await asyncio.gather(*(self._hang_up(socket, 1001, reason) for socket in self._links.values()))

    async def talk(self, request: web.Request) -> web.StreamResponse | int:
        """Hold a conversation over a request's WebSocket to its end; the status to refuse it with if there is none."""
        if self._open >= MOST_PAGES:
            return 503
        socket = web.WebSocketResponse(
            timeout=CLOSE_LIMIT_S, heartbeat=HEARTBEAT_S, max_msg_size=LARGEST_FRAME + 1, compress=False
        )
        if not socket.can_prepare(request).ok:
            return 400
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
            self._notice(f"A browser came that cannot take part: {str(problem)[:500]}")
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
