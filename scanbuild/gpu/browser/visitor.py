"""A page that came, as the thread that runs cases sees it: messages in, messages out, and whether it is there.

A page keeps its identity over reloads and lost networks. What it sends waits in an inbox; when its connection ends, the
inbox says so in the same order, so that no case is blamed for what happened after it.
"""

import queue
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from scanbuild.gpu.browser.messages import Message

MOST_WAITING: Final = 16
"""So many messages may wait in an inbox; a page that sends more is cut off."""


class GoneError(Exception):
    """The page's connection has ended; why, in words."""


@dataclass(frozen=True, slots=True)
class Gone:
    """In an inbox: the connection ended here."""

    reason: str


Send = Callable[[Message, int, float], None]
"""Sends a message within so many seconds and lets so many bytes come with an answer; GoneError or TimeoutError."""


class Visitor:
    """A page, over all its connections. ``hello`` is what it said when it last came."""

    def __init__(self, identity: str) -> None:
        self.identity = identity
        self.hello: Mapping[str, Any] = {}
        self.parting: Message | None = None
        self._inbox: queue.Queue[Message | Gone] = queue.Queue(MOST_WAITING)
        self._send: Send | None = None

    @property
    def is_here(self) -> bool:
        """Whether there is a connection now."""
        return self._send is not None

    def arrive(self, hello: Message, send: Send) -> None:
        """A connection begins (called by the server)."""
        self.hello = hello.body
        self._send = send
        self.deliver(hello)

    def leave(self, reason: str) -> None:
        """The connection ends (called by the server)."""
        self._send = None
        self.deliver(Gone(reason))

    def deliver(self, item: Message | Gone) -> bool:
        """Put something into the inbox (called by the server); whether there was room."""
        try:
            self._inbox.put_nowait(item)
        except queue.Full:
            if isinstance(item, Gone):
                # Nobody has read for long: the end of the connection is all that matters now.
                self._empty()
                self._inbox.put_nowait(item)
            return False
        return True

    def send(self, message: Message, limit_s: float, allowance: int = 0) -> None:
        """Send a message whose answer may bring ``allowance`` bytes. GoneError or TimeoutError if it cannot be."""
        send = self._send
        if send is None:
            raise GoneError("the page is not there")
        send(message, allowance, limit_s)

    def receive(self, limit_s: float) -> Message:
        """The next message of the current connection. GoneError when it ends, TimeoutError when nothing comes."""
        try:
            item = self._inbox.get(timeout=max(limit_s, 0.0))
        except queue.Empty:
            raise TimeoutError from None
        if isinstance(item, Gone):
            raise GoneError(item.reason)
        return item

    def wait_until_here(self, limit_s: float) -> bool:
        """Wait until there is a connection; whether there is one. What was sent before is dropped."""
        end = time.monotonic() + limit_s
        while True:
            self._empty()
            if self.is_here:
                return True
            try:
                self._inbox.get(timeout=max(end - time.monotonic(), 0.0))
            except queue.Empty:
                return self.is_here

    def _empty(self) -> None:
        while True:
            try:
                self._inbox.get_nowait()
            except queue.Empty:
                return
