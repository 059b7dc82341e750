"""``scanbuild check``: find what is wrong with a package, without a GPU."""

import json
import os
from collections.abc import Iterable
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

import click

from scanbuild.commands.console import Console, printable, verbosity_options

if TYPE_CHECKING:
    from scanbuild.checking.check import CheckResult
    from scanbuild.errors import Problem

_COLOURS = {"error": "red", "warning": "yellow", "note": "cyan"}


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

    result = check_path(path)
    if json_file is not None:
        report = report_json(result, strict=strict)
        json_file.write_text(
            json.dumps(report, indent=2, ensure_ascii=False) + "\n", encoding="utf-8", errors="replace"
        )
    _present(console, result, strict=strict)
    return 0 if passes(result, strict=strict) else 1


def _present(console: Console, result: "CheckResult", *, strict: bool) -> None:
    """The findings by file, and a summary. With ``-q`` only what fails the check is shown."""
    failing = ("error", "warning") if strict else ("error",)
    shown = [item for item in result.problems if console.verbosity >= 0 or item.severity in failing]
    for _, group in groupby(shown, key=lambda item: item.file):
        for item in group:
            _show(item)
        console.say()
    console.say(_summary(result))


def _show(problem: "Problem") -> None:
    """One finding. It is said even where the user asked for quiet: it is what fails the check."""
    label = click.style(f"{problem.severity}[{problem.rule}]", fg=_COLOURS[problem.severity], bold=True)
    where = f"{printable(problem.place)}: " if problem.place else ""
    lines = [f"{where}{label} {_folded(problem.message)}"]
    if problem.path:
        lines.append(f"    at {printable(problem.path)}")
    if problem.hint:
        lines.append(f"    {click.style('suggestion', fg='cyan')}: {_folded(problem.hint)}")
    click.echo("\n".join(lines), color=False if os.environ.get("NO_COLOR") else None)


def _folded(text: str) -> str:
    return printable(text).replace("\n", "\n    ")


def _summary(result: "CheckResult") -> str:
    counts = [(result.count(severity), severity) for severity in _COLOURS]
    found = _listed(f"{count} {severity}{'s' if count > 1 else ''}" for count, severity in counts if count)
    name = result.op_id or result.path
    suppressed = f", {result.suppressed} suppressed" if result.suppressed else ""
    return f"{name}: {found or 'nothing to complain about'}{suppressed}"


def _listed(words: Iterable[str]) -> str:
    return ", ".join(words)
