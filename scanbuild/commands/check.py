"""``scanbuild check``: find what is wrong with a package, without a GPU."""

import json
import os
import shutil
import sys
from collections.abc import Iterable
from itertools import groupby
from pathlib import Path
from textwrap import TextWrapper
from typing import TYPE_CHECKING

import click

from scanbuild.commands.console import (
    Console,
    check_writable,
    printable,
    printable_path,
    verbosity_options,
    write_report,
)

if TYPE_CHECKING:
    from scanbuild.checking.check import CheckResult
    from scanbuild.errors import Problem

_COLOURS = {"error": "red", "warning": "yellow", "note": "cyan"}
_NARROWEST = 40


@click.command()
@click.argument("path", type=click.Path(path_type=Path), default=Path())
@click.option("--json", "json_file", type=click.Path(path_type=Path), metavar="FILE", help="Write a report as JSON.")
@click.option("--strict", is_flag=True, help="Let warnings fail the check.")
@verbosity_options
@click.pass_obj
def check(console: Console, path: Path, json_file: Path | None, strict: bool) -> int:
    """Find what is wrong with a package, without a GPU.

    PATH is a source package, a built one (a folder with build/webgpu/ in it, or that folder itself), or a lone
    manifest.json; default: the current folder.

    Errors are what the loader refuses when it loads the package, or can refuse at some call: expressions and templates
    are looked at in branches that are not taken, too, and calls are planned for the package's cases, and around the
    constants in its conditions, on every built-in device profile. Warnings are what works here and breaks elsewhere.
    Every finding has a rule, which docs/checks.md explains.

    A warning that is meant is allowed by a comment with a reason, "$comment": "scanbuild: allow RULE - REASON" in the
    object concerned or around it, or {# scanbuild: allow RULE - REASON #} in a template.

    \b
    Exit status:
      0  no errors (with --strict: no warnings either)
      1  the package has errors
      2  there is no package at PATH, or it cannot be read

    \b
    Examples:
      scanbuild check templates/ai.onnx.Scan
      scanbuild check dist/ai.onnx.Scan --strict
      scanbuild check . --json report.json
    """
    from scanbuild.checking.check import check_path
    from scanbuild.checking.report import passes, report_json

    if json_file is not None:
        check_writable(json_file)
    result = check_path(path)
    if json_file is not None:
        report = report_json(result, strict=strict)
        write_report(json_file, json.dumps(report, indent=2, ensure_ascii=False) + "\n")
    _present(console, result, strict=strict)
    return 0 if passes(result, strict=strict) else 1


def _present(console: Console, result: "CheckResult", *, strict: bool) -> None:
    """The findings by file, and a summary. With ``-q`` only what fails the check is shown.

    On a terminal a file's name stands once above its findings, and lines are folded to the width; in a pipe, where
    other tools read, every finding begins with ``file:line:column`` in a line of its own. What fails the check is said
    even where the user asked for quiet.
    """
    failing = ("error", "warning") if strict else ("error",)
    shown = [item for item in result.problems if console.verbosity >= 0 or item.severity in failing]
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else 0
    for file, group in groupby(shown, key=lambda item: item.file):
        if width and file:
            _echo(click.style(_near(file), underline=True))
        for item in group:
            _echo("\n".join(folded_lines(item, width) if width else flat_lines(item)))
        console.say()
    console.say(_summary(result))


def flat_lines(problem: "Problem") -> list[str]:
    """A finding for tools and logs: its place first, then where in the JSON, then what to do."""
    where = f"{printable(problem.place)}: " if problem.place else ""
    lines = [f"{where}{_label(problem)} {_indented(problem.message)}"]
    if problem.path:
        lines.append(f"    at {printable_path(problem.path)}")
    if problem.hint:
        lines.append(f"    {click.style('suggestion', fg='cyan')}: {_indented(problem.hint)}")
    return lines


def folded_lines(problem: "Problem", width: int) -> list[str]:
    """A finding below the name of its file, folded to ``width`` columns; editors' terminals link ``line:column``."""
    place = ":".join(str(part) for part in (problem.line, problem.column) if part is not None)
    lines = [f"  {place + '  ' if place else ''}{_label(problem)}"]
    lines += _folded(problem.message, "    ", width)
    if problem.path:
        lines.append(click.style(f"    at {printable_path(problem.path)}", dim=True))
    if problem.hint:
        first, *others = _folded(f"suggestion: {problem.hint}", "    ", width)
        lines += [first.replace("suggestion", click.style("suggestion", fg="cyan"), 1), *others]
    return lines


def _folded(text: str, indent: str, width: int) -> list[str]:
    folder = TextWrapper(
        width=max(width, _NARROWEST),
        initial_indent=indent,
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return [line for part in printable(text).splitlines() for line in folder.wrap(part)]


def _label(problem: "Problem") -> str:
    return click.style(f"{problem.severity}[{problem.rule}]", fg=_COLOURS[problem.severity], bold=True)


def _near(file: str) -> str:
    """A path as seen from the current folder, where that is shorter."""
    try:
        seen = os.path.relpath(file)
    except ValueError:
        return printable(file)
    return printable(min(seen, file, key=len))


def _echo(text: str) -> None:
    click.echo(text, color=False if os.environ.get("NO_COLOR") else None)


def _indented(text: str) -> str:
    return printable(text).replace("\n", "\n    ")


def _summary(result: "CheckResult") -> str:
    counts = [(result.count(severity), severity) for severity in _COLOURS]
    found = _listed(f"{count} {severity}{'s' if count > 1 else ''}" for count, severity in counts if count)
    name = result.op_id or result.path
    suppressed = f", {result.suppressed} suppressed" if result.suppressed else ""
    return f"{name}: {found or 'nothing to complain about'}{suppressed}"


def _listed(words: Iterable[str]) -> str:
    return ", ".join(words)
