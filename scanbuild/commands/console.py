"""What every command shares: how much is said, in which colours, and how a problem looks."""

import codecs
import errno
import os
import re
import sys
from collections.abc import Callable, Iterable
from io import TextIOWrapper
from pathlib import Path
from typing import Any, TypeVar

import click

from scanbuild.errors import InputError, Problem

_COLOURS = {"error": "red", "warning": "yellow", "note": "cyan"}
LONGEST_PATH = 400

# ``::`` behind nothing but blanks on a line; the older form counts anywhere.
_RUNNER_COMMAND = re.compile(r"(?P<before>^[^\S\n]*|(?=##))(?P<command>::|##\[)", re.MULTILINE)
Command = TypeVar("Command", bound=Callable[..., Any])


class Console:
    """Says things on standard output, and problems on standard error.

    ``verbosity`` is 0 normally, negative with ``-q``, positive with ``-v``. Commands get it as ``click.pass_obj``.
    """

    def __init__(self) -> None:
        self.verbosity = 0
        self.debug = os.environ.get("SCANBUILD_DEBUG", "0") not in ("", "0")

    def say(self, text: str = "") -> None:
        """Print a line, unless the user asked for quiet."""
        if self.verbosity >= 0:
            click.echo(printable(text), color=_colour())

    def detail(self, text: str) -> None:
        """Print a line only if the user asked for more."""
        if self.verbosity > 0:
            click.echo(printable(text), color=_colour())

    def problems(self, problems: Iterable[Problem]) -> None:
        """Print every problem to standard error; with ``-q`` only the errors."""
        for problem in problems:
            if self.verbosity >= 0 or problem.severity == "error":
                click.echo(_problem_lines(problem), err=True, color=_colour())

    def problem_text(self, text: str) -> None:
        """Print an error that has no place."""
        self.problems([Problem(message=text)])


def spell_what_an_encoding_lacks() -> None:
    """Have characters spelled as escapes that standard output cannot hold, as a pipe on Windows, or Latin-1.

    UTF-8 holds all that is printable; there, a character that it lacks is a mistake of scanbuild.
    """
    stream = sys.stdout
    if isinstance(stream, TextIOWrapper) and codecs.lookup(stream.encoding).name != "utf-8":
        stream.reconfigure(errors="backslashreplace")


def printable(text: str) -> str:
    """The text with control characters and lone surrogates spelled out, and what GitHub Actions takes for a command.

    Names and messages may come from a hostile package, and must steer neither the user's terminal nor the runner, which
    reads the output line by line.
    """
    if not text.isprintable():
        text = "".join(char if char in "\n\t" or char.isprintable() else _spelled(char) for char in text)
    return _RUNNER_COMMAND.sub(_unobeyed, text)


def printable_path(path: str) -> str:
    """A JSON path, printable; the middle of one that is longer than anybody reads left out."""
    short = path if len(path) <= LONGEST_PATH else f"{path[: LONGEST_PATH // 2]}...{path[-LONGEST_PATH // 2 :]}"
    return printable(short)


def check_writable(file: Path) -> None:
    """Raise InputError if a report cannot be written to a file, before the work that it reports on."""
    if not file.parent.is_dir():
        raise InputError(Problem(message="there is no such folder to write the report to", file=str(file.parent)))
    if file.is_dir():
        raise InputError(Problem(message="this is a folder; the report needs a file", file=str(file)))
    if not os.access(file if file.exists() else file.parent, os.W_OK):
        raise InputError(Problem(message="the report cannot be written here", file=str(file)))


def write_report(file: Path, text: str) -> None:
    """Write a report, whole or not at all: where the disk is full, an earlier one stays as it was.

    A device or a pipe is never replaced, whatever it is called (``/dev/stdout``, ``/dev/fd/63``). An error that has no
    name of its own gets that of the file.
    """
    is_stream = file.exists() and not file.is_file()
    target = file if is_stream else file.resolve()
    try:
        if is_stream or not os.access(target.parent, os.W_OK):
            target.write_text(text, encoding="utf-8", errors="replace")
        else:
            _replace(target, text)
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(file)) from None


def leave_report(file: Path, text: str) -> None:
    """Leave a report in a folder that anybody may have made, at a name that nobody gave: whole or not at all.

    A link there may lead anywhere, so it is replaced and not followed. OSError where something else is in the way.
    """
    if os.path.lexists(file) and not (file.is_symlink() or file.is_file()):
        raise FileExistsError(errno.EEXIST, "what is there is no file", str(file))
    _replace(file, text)


def _replace(target: Path, text: str) -> None:
    part = target.with_name(f".{target.name}.part")
    try:
        part.unlink(missing_ok=True)
        with part.open("x", encoding="utf-8", errors="replace") as fresh:  # never through a link in wait
            fresh.write(text)
        part.replace(target)
    finally:
        part.unlink(missing_ok=True)


def counted(number: int, what: str) -> str:
    """``1 case``, ``2 cases``."""
    return f"{number} {what}{'' if number == 1 else 's'}"


def verbosity_options(command: Command) -> Command:
    """Add ``-q/--quiet``, ``-v/--verbose`` and ``--debug``, which act on the shared console."""
    quiet = click.option(
        "-q", "--quiet", is_flag=True, expose_value=False, callback=_set_quiet, help="Say nothing but errors."
    )
    verbose = click.option(
        "-v", "--verbose", count=True, expose_value=False, callback=_set_verbose, help="Say more; repeatable."
    )
    debug = click.option(
        "--debug", is_flag=True, expose_value=False, callback=_set_debug, hidden=True, help="Show tracebacks."
    )
    return quiet(verbose(debug(command)))


def _spelled(char: str) -> str:
    code = ord(char)
    if char == " " or (char.isspace() and code > 0xFF):
        return " "
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _unobeyed(found: re.Match[str]) -> str:
    command = found["command"]
    return found["before"] + _spelled(command[0]) + command[1:]


def _problem_lines(problem: Problem) -> str:
    label = click.style(problem.severity, fg=_COLOURS[problem.severity], bold=True)
    where = ": ".join(part for part in (printable(problem.place), printable_path(problem.path)) if part)
    head = f"{label}: " + (click.style(where, bold=True) + ": " if where else "")
    lines = [head + printable(problem.message).replace("\n", "\n  ")]
    if problem.hint:
        lines.append("  " + click.style("hint", fg="cyan") + ": " + printable(problem.hint).replace("\n", "\n    "))
    return "\n".join(lines)


def _colour() -> bool | None:
    """False where colour is not wanted; None lets click look for a terminal."""
    return False if os.environ.get("NO_COLOR") else None


def _set_quiet(ctx: click.Context, _param: click.Parameter, value: bool) -> None:
    if value:
        ctx.ensure_object(Console).verbosity = -1


def _set_verbose(ctx: click.Context, _param: click.Parameter, value: int) -> None:
    if value:
        ctx.ensure_object(Console).verbosity = value


def _set_debug(ctx: click.Context, _param: click.Parameter, value: bool) -> None:
    if value:
        ctx.ensure_object(Console).debug = True
