"""Everything that brings browsers here: the server, and a headless browser of this machine if one is asked for."""

import time
from types import TracebackType
from typing import Final, Self

from scanbuild.errors import NoAdapterError, Problem
from scanbuild.gpu.browser.engine import RETURN_LIMIT_S, BrowserEngine
from scanbuild.gpu.browser.launch import Browser, Launched, launchable
from scanbuild.gpu.browser.messages import Message
from scanbuild.gpu.browser.server import Server
from scanbuild.gpu.browser.settings import HubSettings

LAUNCH_LIMIT_S: Final = 60.0
"""A browser that was launched has so long to open the page and give a device."""

_LAUNCHED: Final = "launched"


class Hub:
    """Listens from the start. Use it in a ``with``."""

    def __init__(self, settings: HubSettings) -> None:
        self.settings = settings
        self._browser: Launched | None = None
        self.server = Server(settings)
        self.server.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    @property
    def url(self) -> str:
        """The address to open."""
        return self.server.url

    @property
    def browser(self) -> Browser:
        """The browser of Chromium's family that was launched."""
        assert isinstance(self._browser, Browser), "no such browser was launched"
        return self._browser

    def next_engine(self, limit_s: float) -> BrowserEngine:
        """The device of the next page that comes; NoAdapterError if none comes in time.

        A page that gives no device is told of, and the next one is waited for, unless its browser was launched.
        """
        if self.settings.launch is not None:
            self._launch(self.settings.launch)
            limit_s = LAUNCH_LIMIT_S
        end = time.monotonic() + limit_s
        while (visitor := self.server.next_visitor(end - time.monotonic())) is not None:
            try:
                engine = BrowserEngine(visitor)
                for note in engine.notes():
                    self.settings.notice(note)
                return engine
            except NoAdapterError as error:
                self.server.part(visitor, ending("This browser is not used", str(error), good=False))
                if self.settings.launch is not None:
                    raise
                self.settings.notice(f"A browser came that is not used: {error}")
        raise NoAdapterError(Problem(message=f"no browser came within {limit_s:g} s", hint=f"open {self.url}"))

    def revive(self, engine: BrowserEngine, limit_s: float = RETURN_LIMIT_S) -> None:
        """Make an engine usable again that is lost; NoAdapterError if that cannot be.

        A launched browser is started anew, since what a lost device leaves behind is not known. Others are waited for.
        """
        if self._browser is not None:
            self._browser.restart()
            limit_s = LAUNCH_LIMIT_S
        engine.reopen(limit_s)

    def ensure(self, engine: BrowserEngine, limit_s: float = RETURN_LIMIT_S) -> bool:
        """Make an engine usable again if its device or its page is gone; whether it was. NoAdapterError if it stays so.

        What was lost while nothing ran is told, and that is all. A page that comes back with another device is no help.
        """
        if not engine.lost:
            lost = engine.refresh()
            if not lost:
                return False
            self.settings.notice(f"Between two cases, {lost}. Going on when it is back.")
        record = engine.record
        self.revive(engine, limit_s)
        if engine.record != record:
            raise NoAdapterError(f"the page came back with another device: {engine.describe()}")
        return True

    def part(self, engine: BrowserEngine, headline: str, detail: str, *, good: bool) -> None:
        """Tell a page how it ended. It is not asked again, even if it comes back."""
        engine.close()
        self.server.part(engine.visitor, ending(headline, detail, good=good))

    def close(self) -> None:
        """End the browser that was launched, and listen no more. A second call does nothing."""
        if self._browser is not None:
            self._browser.close()
        self.server.close()

    def _launch(self, program: str) -> None:
        if self._browser is None:
            # The name lets a page of a browser that was started anew go on as the one before it.
            browser = launchable(program, f"{self.url}#{_LAUNCHED}", software=self.settings.software)
            browser.start()
            self._browser = browser


def ending(headline: str, detail: str, *, good: bool) -> Message:
    """The last words to a page."""
    return Message(kind="end", body={"headline": headline, "detail": detail, "good": good})
