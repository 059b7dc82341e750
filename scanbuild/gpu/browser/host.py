"""Whoever wants the devices of pages: takes them in, keeps them usable, and parts with them."""

import time
from collections.abc import Callable
from typing import Protocol

from scanbuild.errors import NoAdapterError, Problem
from scanbuild.gpu.browser.engine import RETURN_LIMIT_S, BrowserEngine
from scanbuild.gpu.browser.messages import Message
from scanbuild.gpu.browser.visitor import Visitor


class Door(Protocol):
    """Where pages arrive: a server of their own, or a reception of somebody else's."""

    def next_visitor(self, limit_s: float) -> Visitor | None:
        """The page that has waited longest and is still there, or None if none comes in so many seconds."""

    def part(self, visitor: Visitor, message: Message) -> None:
        """Say the last words to a page, now and whenever it comes again."""


class Host:
    """Takes devices in at a door. ``notice`` is told of those that are not used; ``url``, if any, is what to open."""

    def __init__(self, door: Door, notice: Callable[[str], None], url: str) -> None:
        self.url = url
        self._door = door
        self._notice = notice

    def next_engine(self, limit_s: float) -> BrowserEngine:
        """The device of the next page that comes; NoAdapterError if none comes in time.

        A page that gives no device is told of, and the next one is waited for.
        """
        end = time.monotonic() + limit_s
        while (visitor := self._door.next_visitor(end - time.monotonic())) is not None:
            try:
                engine = BrowserEngine(visitor)
                for note in engine.notes():
                    self._notice(note)
                return engine
            except NoAdapterError as error:
                self._door.part(visitor, ending("This browser is not used", str(error), good=False))
                self._refuse(error)
        hint = f"open {self.url}" if self.url else ""
        raise NoAdapterError(Problem(message=f"no browser came within {limit_s:g} s", hint=hint))

    def revive(self, engine: BrowserEngine, limit_s: float = RETURN_LIMIT_S) -> None:
        """Make an engine usable again that is lost, once its page is back; NoAdapterError if that cannot be."""
        engine.reopen(limit_s)

    def ensure(self, engine: BrowserEngine, limit_s: float = RETURN_LIMIT_S) -> bool:
        """Make an engine usable again if its device or its page is gone; whether it was. NoAdapterError if it stays so.

        What was lost while nothing ran is told, and that is all. A page that comes back with another device is no help.
        """
        if not engine.lost:
            lost = engine.refresh()
            if not lost:
                return False
            self._notice(f"Between two cases, {lost}. Going on when it is back.")
        record = engine.record
        self.revive(engine, limit_s)
        if engine.record != record:
            raise NoAdapterError(f"the page came back with another device: {engine.describe()}")
        return True

    def part(self, engine: BrowserEngine, headline: str, detail: str, *, good: bool) -> None:
        """Tell a page how it ended. It is not asked again, even if it comes back."""
        engine.close()
        self._door.part(engine.visitor, ending(headline, detail, good=good))

    def _refuse(self, error: NoAdapterError) -> None:
        """A page came that gives no device."""
        self._notice(f"A browser came that is not used: {error}")


def ending(headline: str, detail: str, *, good: bool) -> Message:
    """The last words to a page."""
    return Message(kind="end", body={"headline": headline, "detail": detail, "good": good})
