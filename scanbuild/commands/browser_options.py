"""The options of the engine ``browser``."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import click

Command = TypeVar("Command", bound=Callable[..., Any])

_NAMES = ("launch", "launch_on", "host", "port", "certificate", "devices", "wait")


@dataclass(frozen=True, kw_only=True, slots=True)
class BrowserOptions:
    """What was asked for. ``devices`` come one after another, each within ``wait`` seconds."""

    launch: tuple[str, ...] = ()
    launch_on: str = "cpu"
    host: str = "127.0.0.1"
    port: int = 0
    certificate: Path | None = None
    devices: int = 1
    wait: float = 600.0

    @classmethod
    def taken_from(cls, options: dict[str, Any]) -> "BrowserOptions":
        """The options that a function of this module added, taken out of a command's. UsageError if they do not fit."""
        made = cls(**{name: options.pop(name) for name in _NAMES if name in options})
        if made.launch and options["engine"] not in ("browser", "all"):
            raise click.UsageError("--launch starts a browser for --engine browser.")
        if made.launch and made.host != cls().host:
            raise click.UsageError("--launch starts a browser of this machine, which needs no --host.")
        if options["engine"] == "browser" and options["adapter"] is not None:
            raise click.UsageError("--adapter chooses for wgpu and dawn; a browser chooses its adapter itself.")
        if made.launch and made.devices > 1:
            raise click.UsageError("--launch brings its devices; --devices is for those that people open the page on.")
        return made


def browser_options(command: Command) -> Command:
    """Add the options of the engine ``browser`` to a command that has ``--engine``."""
    return _with(command, (_LAUNCH, *_COMMON, _DEVICES))


def one_browser_options(command: Command) -> Command:
    """Add them to a command that uses one device."""
    return _with(command, (_LAUNCH_ONE, *_COMMON))


def _with(command: Command, options: Sequence[Callable[[Command], Command]]) -> Command:
    for option in reversed(options):
        command = option(command)
    return command


def _as_tuple(_ctx: click.Context, _param: click.Parameter, value: str | None) -> tuple[str, ...]:
    return (value,) if value is not None else ()


def _finite(_ctx: click.Context, _param: click.Parameter, value: float) -> float:
    if math.isnan(value):
        raise click.BadParameter("nan is no number of seconds.")
    return value


_LAUNCH = click.option(
    "--launch",
    metavar="BROWSER",
    multiple=True,
    help="Start chromium, chrome, edge, firefox or one at a path, headless, for browser or all; repeatable.",
)
_LAUNCH_ONE = click.option(
    "--launch",
    metavar="BROWSER",
    callback=_as_tuple,
    help="Start chromium, chrome, edge, firefox or one at a path, headless, for --engine browser.",
)
_DEVICES = click.option(
    "--devices",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    metavar="N",
    help="So many devices open the page, one after another.",
)
_COMMON = (
    click.option(
        "--launch-on",
        type=click.Choice(["cpu", "gpu"]),
        default="cpu",
        show_default=True,
        help="What the browser that is started computes on.",
    ),
    click.option(
        "--host",
        default="127.0.0.1",
        show_default=True,
        help="Where --engine browser listens; 0.0.0.0: for other devices, too, over https.",
    ),
    click.option(
        "--port",
        type=click.IntRange(0, 65535),
        default=0,
        help="The port of --engine browser; default: any that is free.",
    ),
    click.option(
        "--certificate",
        type=click.Path(path_type=Path, exists=True, dir_okay=False),
        metavar="FILE",
        help="Certificate and key, as PEM, of --engine browser; default: made for this run.",
    ),
    click.option(
        "--wait",
        type=click.FloatRange(min=0.1, max=86400),
        callback=_finite,
        default=600.0,
        show_default=True,
        metavar="SECONDS",
        help="Wait so long for each device.",
    ),
)
