"""Everything that brings browsers here: the server, and a headless browser of this machine if one is asked for."""

from types import TracebackType
from typing import Final, Self

from scanbuild.errors import NoAdapterError
from scanbuild.gpu.browser.engine import RETURN_LIMIT_S, BrowserEngine
from scanbuild.gpu.browser.host import Host
from scanbuild.gpu.browser.launch import Browser, Launched, launchable
from scanbuild.gpu.browser.server import Server
from scanbuild.gpu.browser.settings import HubSettings

LAUNCH_LIMIT_S: Final = 60.0
"""A browser that was launched has so long to open the page and give a device."""

_LAUNCHED: Final = "launched"


class Hub(Host):
    """Listens from the start. Use it in a ``with``. ``url`` is the address to open."""

    def __init__(self, settings: HubSettings) -> None:
        self.settings = settings
        self._browser: Launched | None = None
        self.server = Server(settings)
        self.server.start()
        super().__init__(self.server, settings.notice, self.server.url)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    @property
    def browser(self) -> Browser:
        """The browser of Chromium's family that was launched."""
        assert isinstance(self._browser, Browser), "no such browser was launched"
        return self._browser

    def next_engine(self, limit_s: float) -> BrowserEngine:
        """The device of the next page that comes, or of the browser to launch; NoAdapterError if none comes in time."""
        if self.settings.launch is None:
            return super().next_engine(limit_s)
        self._launch(self.settings.launch)
        return super().next_engine(LAUNCH_LIMIT_S)

    def revive(self, engine: BrowserEngine, limit_s: float = RETURN_LIMIT_S) -> None:
        """Make an engine usable again that is lost; NoAdapterError if that cannot be.

        A launched browser is started anew, since what a lost device leaves behind is not known. Others are waited for.
        """
        if self._browser is not None:
            self._browser.restart()
            limit_s = LAUNCH_LIMIT_S
        super().revive(engine, limit_s)

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

    def _refuse(self, error: NoAdapterError) -> None:
        """The only page there will be came, if its browser was launched."""
        if self.settings.launch is not None:
            raise error
        super()._refuse(error)
