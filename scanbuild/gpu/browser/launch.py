"""A browser of this machine without a window, for tests and for machines that nobody sits at.

Those of Chromium's family are driven here; :mod:`firefox` is the other one.
"""

import contextlib
import os
import platform
import shutil
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Protocol, Self, TypeVar

from scanbuild.errors import NoAdapterError, Problem
from scanbuild.gpu.browser import missing_extra
from scanbuild.gpu.browser.firefox import NAMES, Firefox, is_firefox

Result = TypeVar("Result")

KNOWN: Final[dict[str, tuple[str, ...]]] = {
    "chromium": ("chromium", "chromium-browser"),
    "chrome": ("google-chrome", "google-chrome-stable", "chrome"),
    "edge": ("microsoft-edge", "microsoft-edge-stable"),
    "firefox": NAMES,
}
_MAC: Final[dict[str, str]] = {
    "chromium": "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "chrome": "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "edge": "/Applications/Microsoft Edge.app/Contents/MacOS/Microsoft Edge",
    "firefox": "/Applications/Firefox.app/Contents/MacOS/firefox",
}
_QUIET: Final = (
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-domain-reliability",
    "--disable-quic",
    "--disable-sync",
    "--no-first-run",
)
# A shader that never ends makes the GPU process crash again and again, after which a browser gives the page no more.
_WEBGPU: Final = (
    "--headless=new",
    "--enable-unsafe-webgpu",
    "--disable-domain-blocking-for-3d-apis",
    "--disable-gpu-process-crash-limit",
)
_START_LIMIT_MS: Final = 60_000


class Launched(Protocol):
    """A browser that was started with the page."""

    def start(self) -> None:
        """Start it. NoAdapterError if it does not start."""

    def restart(self) -> None:
        """End it, whatever it does, and open the page anew in another."""

    def close(self) -> None:
        """End it. A second call does nothing."""


def launchable(program: str, url: str, *, software: bool) -> Launched:
    """The browser of that name or path, not yet started. NoAdapterError if there is none."""
    path = find_browser(program)
    return (Firefox if is_firefox(program) else Browser)(path, url, software=software)


class Browser:
    """A headless browser of Chromium's family that has the page open. Use it in a ``with``; any thread may.

    With ``software`` it computes on the CPU, whatever GPU there is.
    """

    def __init__(self, path: Path, url: str, *, software: bool = True) -> None:
        self.url = url
        self._path = path
        self._flags = browser_flags(software=software)
        # Playwright is to be used in one thread, and in none that has an event loop.
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="scanbuild-launch")
        self._playwright: Any = None
        self._browser: Any = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def start(self) -> None:
        """Start the browser and open the page."""
        try:
            self._thread.submit(self._start).result()
        except BaseException:
            self.close()
            raise

    def restart(self) -> None:
        """End the browser, whatever it does, and open the page anew in another."""
        self._thread.submit(self._end).result()
        self.start()

    def close(self) -> None:
        """End the browser. A second call does nothing."""
        try:
            self._thread.submit(self._close).result()
        except RuntimeError:
            return
        self._thread.shutdown()

    def do(self, action: Callable[[Any], Result]) -> Result:
        """What an action returns that is given the page, as Playwright sees it."""
        return self._thread.submit(lambda: action(self._browser.contexts[0].pages[0])).result()

    def _start(self) -> None:
        sync_playwright, playwright_error = _playwright()
        try:
            self._playwright = self._playwright or sync_playwright().start()
            self._browser = self._playwright.chromium.launch(
                executable_path=str(self._path),
                args=list(self._flags),
                headless=True,
                chromium_sandbox=may_sandbox(),
                timeout=_START_LIMIT_MS,
                handle_sigint=False,
            )
            self._browser.new_context(ignore_https_errors=True).new_page().goto(self.url, timeout=_START_LIMIT_MS)
        except playwright_error as error:
            first = str(error).strip().partition("\n")[0]
            hint = "see whether it starts by hand; on machines without a GPU it needs nothing but itself"
            message = f"the browser {self._path} cannot be driven: {first}"
            raise NoAdapterError(Problem(message=message, hint=hint)) from error

    def _close(self) -> None:
        self._end()
        playwright, self._playwright = self._playwright, None
        if playwright is not None:
            with contextlib.suppress(Exception):
                playwright.stop()

    def _end(self) -> None:
        browser, self._browser = self._browser, None
        if browser is not None:
            # It may have crashed, or ended by the signal that ends us.
            with contextlib.suppress(Exception):
                browser.close()


def find_browser(program: str) -> Path:
    """The program of a browser; NoAdapterError, with what to install, if it is not there."""
    names: Sequence[str] = KNOWN.get(program, (program,))
    for name in names:
        found = shutil.which(name)
        if found:
            return Path(found)
    path = Path(_MAC.get(program, program))
    if path.is_file() and os.access(path, os.X_OK):
        return path
    raise NoAdapterError(
        Problem(
            message=f"there is no browser {program!r} on this machine",
            hint="install it (on Debian: apt-get install chromium, or firefox-esr), or give the path of Chromium, "
            "Chrome, Edge or Firefox",
        )
    )


def browser_flags(*, software: bool) -> tuple[str, ...]:
    """The command line of a browser that talks to nobody but the page's server."""
    flags = (*_QUIET, *_WEBGPU)
    if software:
        return (*flags, "--use-webgpu-adapter=swiftshader")
    if platform.system() == "Linux":
        # Elsewhere browsers use the GPU by themselves; here they want to be told, and that there is no display.
        return (*flags, "--enable-features=Vulkan", "--use-angle=vulkan", "--disable-vulkan-surface")
    return flags


def may_sandbox() -> bool:
    """Whether the browser's sandbox works: it refuses to run as root."""
    return not hasattr(os, "geteuid") or os.geteuid() != 0


def _playwright() -> tuple[Any, type[Exception]]:
    try:
        from playwright.sync_api import Error, sync_playwright
    except ImportError as error:
        raise missing_extra("playwright") from error
    return sync_playwright, Error
