"""The engine ``browser`` on the command line: where its page is, and who is asked to open it."""

import os
import sys
from collections.abc import Iterator
from types import TracebackType
from typing import TYPE_CHECKING, Self

import click

from scanbuild.cases.browsing import BrowserBackend
from scanbuild.cases.worker import WorkerSettings
from scanbuild.commands.browser_options import BrowserOptions
from scanbuild.commands.console import Console
from scanbuild.gpu.browser import open_hub
from scanbuild.gpu.browser.settings import HubSettings

if TYPE_CHECKING:
    from scanbuild.gpu.browser.engine import BrowserEngine
    from scanbuild.gpu.browser.hub import Hub


class Devices:
    """The devices to test, one after another, behind an address that stays. Use it in a ``with``."""

    def __init__(self, console: Console, settings: WorkerSettings, options: BrowserOptions) -> None:
        self._console = console
        self._settings = settings
        self._options = options
        self._hub: Hub | None = None
        self._come = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._hub is not None:
            self._hub.close()

    def backends(self) -> Iterator[BrowserBackend]:
        """A backend for each. When it starts, people are asked to open the page, and it waits for them."""
        for _ in range(self._options.devices):
            yield BrowserBackend(self._settings, self._summon)

    def _summon(self) -> "tuple[Hub, BrowserEngine]":
        options = self._options
        if self._hub is None:
            self._hub = open_hub(
                HubSettings(
                    host=options.host,
                    port=options.port,
                    certificate=options.certificate,
                    launch=options.launch,
                    software=options.launch_on == "cpu",
                    notice=self._console.say,
                )
            )
            if options.launch is None:
                _invite(self._console, self._hub, options)
        elif options.launch is None:
            self._console.say(f"Waiting for browser {self._come + 1} of {options.devices} at {self._hub.url}")
        self._come += 1
        return self._hub, self._hub.next_engine(options.wait)


def _invite(console: Console, hub: "Hub", options: BrowserOptions) -> None:
    """Ask for a browser, with the address that it needs: said even to those who want quiet."""
    click.echo(f"Open this page on the device to test:\n\n    {hub.url}\n")
    if sys.stdout.isatty() and console.verbosity >= 0:
        for line in _code(hub.url):
            click.echo(f"    {line}")
        click.echo()
    if hub.server.fingerprint:
        console.say(
            "Its browser will warn of the certificate, which was made for this run. The SHA-256 fingerprint is\n"
            f"    {hub.server.fingerprint}"
        )
    elif options.certificate is None:
        console.say("Only this machine can open it. For other devices: --host 0.0.0.0")
    console.say("Waiting for a browser. Ctrl-C ends this.")


def _code(url: str) -> list[str]:
    """The lines of a code for a phone's camera, dark on light whatever the terminal's colours are."""
    from scanbuild.gpu.browser.code import terminal_code

    if os.environ.get("NO_COLOR"):
        # Most terminals are light on dark, and what is drawn is then light.
        return terminal_code(url, dark_on_light=False)
    return [click.style(line, fg="black", bg="bright_white") for line in terminal_code(url)]
