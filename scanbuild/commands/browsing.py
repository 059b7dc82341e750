"""The engine ``browser`` on the command line: where its page is, and who is asked to open it."""

import os
import sys
from collections.abc import Callable, Iterator
from functools import partial
from types import TracebackType
from typing import TYPE_CHECKING, Self, TypeAlias

import click

from scanbuild.commands.browser_options import BrowserOptions
from scanbuild.commands.console import Console
from scanbuild.gpu.browser import open_hub
from scanbuild.gpu.browser.settings import HubSettings

if TYPE_CHECKING:
    from scanbuild.gpu.browser.engine import BrowserEngine
    from scanbuild.gpu.browser.hub import Hub

Summons: TypeAlias = "Callable[[], tuple[Hub, BrowserEngine]]"
"""Waits for a device; gives it with the hub that it came to. NoAdapterError if none comes."""


class Devices:
    """The devices to test, one after another. Use it in a ``with``.

    Those that people bring come to one address that stays; every browser that is launched has an address of its own.
    """

    def __init__(self, console: Console, options: BrowserOptions) -> None:
        self._console = console
        self._options = options
        self._hub: Hub | None = None
        self._come = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._close()

    def summons(self) -> Iterator[Summons]:
        """What brings each of them. When it is called, a browser is started, or people are asked to open the page."""
        if self._options.launch:
            for program in self._options.launch:
                yield partial(self._launch, program)
            return
        for _ in range(self._options.devices):
            yield self._summon

    def _launch(self, program: str) -> "tuple[Hub, BrowserEngine]":
        self._close()
        hub = self._hub = self._open(program)
        return hub, hub.next_engine(self._options.wait)

    def _summon(self) -> "tuple[Hub, BrowserEngine]":
        hub = self._hub
        if hub is None:
            hub = self._hub = self._open(None)
            _invite(self._console, hub, self._options)
        else:
            self._console.say(f"Waiting for browser {self._come + 1} of {self._options.devices} at {hub.url}")
        self._come += 1
        return hub, hub.next_engine(self._options.wait)

    def _open(self, program: str | None) -> "Hub":
        options = self._options
        return open_hub(
            HubSettings(
                host=options.host,
                port=options.port,
                certificate=options.certificate,
                launch=program,
                software=options.launch_on == "cpu",
                notice=self._console.say,
            )
        )

    def _close(self) -> None:
        hub, self._hub = self._hub, None
        if hub is not None:
            hub.close()


def _invite(console: Console, hub: "Hub", options: BrowserOptions) -> None:
    """Ask for a browser, with the address that it needs: said even to those who want quiet."""
    click.echo(f"Open this page on the device to test:\n\n    {hub.url}\n")
    show_code(console, hub.url)
    if hub.server.fingerprint:
        show_fingerprint(console, hub.server.fingerprint)
    elif options.certificate is None:
        console.say("Only this machine can open it. For other devices: --host 0.0.0.0")
    console.say("Waiting for a browser. Ctrl-C ends this.")


def show_code(console: Console, url: str) -> None:
    """Show an address as a code for the camera of a phone, to people who sit at a terminal."""
    if sys.stdout.isatty() and console.verbosity >= 0:
        for line in _code(url):
            click.echo(f"    {line}")
        click.echo()


def show_fingerprint(console: Console, fingerprint: str) -> None:
    """Say what to compare before one trusts a certificate that nobody has signed."""
    console.say(
        "Its browser will warn of the certificate, which was made for this run. The SHA-256 fingerprint is\n"
        f"    {fingerprint}"
    )


def _code(url: str) -> list[str]:
    """The lines of a code for a phone's camera, dark on light whatever the terminal's colours are."""
    from scanbuild.gpu.browser.code import terminal_code

    if os.environ.get("NO_COLOR"):
        # Most terminals are light on dark, and what is drawn is then light.
        return terminal_code(url, dark_on_light=False)
    return [click.style(line, fg="black", bg="bright_white") for line in terminal_code(url)]
