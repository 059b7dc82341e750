"""``--json FILE`` of the commands whose report may take standard output, too."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final, TypeVar

import click

from scanbuild.commands.console import Console, check_writable, write_report

Command = TypeVar("Command", bound=Callable[..., Any])

_STANDARD_OUTPUT: Final = "-"


def json_option(command: Command) -> Command:
    """Add ``--json FILE``, which the command gets as ``json_file``."""
    return click.option(
        "--json",
        "json_file",
        type=click.Path(path_type=Path, allow_dash=True),
        metavar="FILE",
        help="Write a report as JSON; - writes it to standard output, and nothing else there.",
    )(command)


def check_json_file(file: Path | None) -> None:
    """Raise InputError if a report that is asked for cannot be written, before the work that it reports on."""
    if file is not None and not _is_standard_output(file):
        check_writable(file)


def clear_the_way(console: Console, file: Path | None) -> None:
    """Say nothing but errors from here on, where the report takes standard output."""
    if file is not None and _is_standard_output(file):
        console.verbosity = -1


def write_json(file: Path | None, report: Mapping[str, Any]) -> None:
    """Write a report, if one is asked for."""
    if file is None:
        return
    if _is_standard_output(file):
        # In ASCII: it may be a terminal, which what a package says must not steer.
        click.echo(json.dumps(report, indent=2))
    else:
        write_report(file, json.dumps(report, indent=2, ensure_ascii=False) + "\n")


def _is_standard_output(file: Path) -> bool:
    return str(file) == _STANDARD_OUTPUT
