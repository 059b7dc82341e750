"""What a verification says on the terminal, and to GitHub."""

import json
import os
import secrets
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from scanbuild.cases.report import FAILING, Fuzzing, RunReport, VerifyReport
from scanbuild.cases.run import CaseResult
from scanbuild.commands.console import Console, counted, printable
from scanbuild.errors import Problem

_PIPE_WIDTH = 200
_LEAST_WIDTH = 72
_ADAPTER_WIDTH = 100
_NAMED = 5
"""So many cases are named that fail of the same; the table shows all."""
_VERDICTS = {"passed": "passed", "failed": "FAILED", "skipped": "skipped", "noOracle": "no oracle"}
_COLOURS = {"passed": "green", "failed": "bold red", "skipped": "yellow", "noOracle": "yellow"}


class Progress:
    """A bar that leaves nothing behind, where there is somebody to see it."""

    def __init__(self, console: Console, total: int) -> None:
        from rich.console import Console as RichConsole
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
        from rich.progress import Progress as RichProgress

        quiet = console.verbosity < 0 or os.environ.get("NO_COLOR") or os.environ.get("CI") or not sys.stderr.isatty()
        columns = (
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
        )
        self._bar = RichProgress(*columns, console=RichConsole(file=sys.stderr), transient=True, disable=bool(quiet))
        self._task = self._bar.add_task("cases", total=total)

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._bar.stop()

    def advance(self, name: str) -> None:
        """One more task is done."""
        self._bar.update(self._task, description=printable(name), advance=1)


def present_run(console: Console, run: RunReport, *, several: bool) -> None:
    """Tell of one package on one engine: the table of all cases, or with ``several`` of those that are not well."""
    shown = run.results
    if several and console.verbosity == 0:
        shown = tuple(item for item in shown if item.status != "passed")
    if console.verbosity >= 0 and shown:
        _print_table(run, shown)
    for item in run.results:
        if item.message and item.status not in FAILING:
            console.detail(f"{item.name}: {item.message}")
    console.problems(_complaints([item for item in run.results if item.status in FAILING]))
    console.problems(
        Problem(message=f"{item.name}: {item.message}", rule="compile", stage="own")
        for item in run.compiled
        if item.status == "failed"
    )
    if run.results:
        console.say(f"{_counts(run)} on {run.described}")
    if run.compiled:
        console.say(_shader_words(run))
    if run.fuzzing is not None:
        console.problems(_generated_problems(run.fuzzing))
        console.say(_fuzzing_words(run.fuzzing))


def present_totals(console: Console, report: VerifyReport, *, whole: bool, sourced: bool) -> None:
    """Tell what goes for all runs together."""
    if any(run.adapter["software"] for run in report.runs):
        console.say("This is a software adapter: it computes on the CPU, and its speed says nothing of a GPU's.")
    for run in report.runs:
        if whole and run.complete and run.results and run.unreached and not report.coverage:
            console.say(f"No case reached on this device: {', '.join(run.unreached)}")
    console.problems(
        Problem(message=finding.message, rule="coverage", stage="own", file=item.package)
        for item in report.coverage
        for finding in item.unreached
    )
    if not sourced and any(run.counts["noOracle"] for run in report.runs):
        console.say("Name the source folder with --source to take expected values from its reference.py.")


class Annotations:
    """Failures as annotations of a run of GitHub Actions; nothing elsewhere.

    What is printed meanwhile may come from a package, and must not be taken for a command to the runner.
    """

    def __init__(self) -> None:
        self.report: VerifyReport | None = None
        self._token = f"scanbuild-{secrets.token_hex(16)}" if os.environ.get("GITHUB_ACTIONS") else ""

    def __enter__(self) -> Self:
        if self._token:
            self._print(f"::stop-commands::{self._token}")
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if not self._token:
            return
        sys.stderr.flush()
        self._print(f"::{self._token}::")
        for line in annotations(self.report) if self.report is not None else ():
            self._print(line)

    def _print(self, line: str) -> None:
        sys.stdout.write(line + "\n")
        sys.stdout.flush()


def annotations(report: VerifyReport) -> Iterator[str]:
    """A line for the runner for everything that is wrong."""
    for run in report.runs:
        file = Path(run.folder) / "test.json"
        for item in run.results:
            if item.status in FAILING:
                title = f"{run.manifest.op_id} on {run.engine}: {item.name}"
                yield _annotation(item.message, title=title, file=str(file), line=str(_line_of(file, item.name)))
        for shader in run.compiled:
            if shader.status == "failed":
                title = f"{run.manifest.op_id} on {run.engine}: {shader.name}"
                yield _annotation(shader.message, title=title, file=str(Path(run.folder) / "rendered" / shader.name))
        for generated in run.fuzzing.failures if run.fuzzing is not None else ():
            text = f"{generated.result.message}\n{json.dumps(generated.case)}"
            yield _annotation(
                text, title=f"{run.manifest.op_id} on {run.engine}: {generated.result.name}", file=str(file)
            )
    for coverage in report.coverage:
        for finding in coverage.unreached:
            yield _annotation(finding.message, title=f"{coverage.package}: coverage")


def _annotation(message: str, **properties: str) -> str:
    listed = ",".join(
        f"{name}={_escaped(value).replace(':', '%3A').replace(',', '%2C')}" for name, value in properties.items()
    )
    return f"::error {listed}::{_escaped(message)}"


def _escaped(text: str) -> str:
    plain = text.encode("utf-8", "replace").decode("utf-8")
    return plain.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _line_of(file: Path, name: str) -> int:
    """The line where a case is named in its file; 1 if it cannot be told."""
    try:
        text = file.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return 1
    place = text.find(json.dumps(name))
    return text.count("\n", 0, place) + 1 if place >= 0 else 1


def _counts(run: RunReport) -> str:
    counts = run.counts
    words = [f"{counts['passed']} passed"]
    words += [
        f"{counts[status]} {_VERDICTS[status].lower()}" for status in _VERDICTS if status != "passed" and counts[status]
    ]
    return ", ".join(words)


def _shader_words(run: RunReport) -> str:
    compiled = sum(item.status == "compiled" for item in run.compiled)
    reasons: dict[str, int] = {}
    for item in run.compiled:
        if item.status == "lacking":
            reason = item.message.partition("\n")[0]
            reasons[reason] = reasons.get(reason, 0) + 1
    lacking = "".join(f"; {count} not for this device: {reason}" for reason, count in reasons.items())
    return f"{compiled} of {counted(len(run.compiled), 'rendered shader')} compile on {run.engine}{lacking}"


def _generated_problems(fuzzing: Fuzzing) -> Iterator[Problem]:
    for item in fuzzing.failures:
        variant = f" [{item.result.variant}]" if item.result.forced else ""
        text = json.dumps(item.case, ensure_ascii=False)
        yield Problem(
            message=f"{item.result.name}{variant}: {item.result.message}",
            hint=f"the case, ready for test.json:\n{text}",
            rule="generated",
            stage="own",
        )


def _fuzzing_words(fuzzing: Fuzzing) -> str:
    words = f"{counted(fuzzing.count, 'generated case')} from seed {fuzzing.seed}: "
    if fuzzing.failures:
        words += f"{counted(len(fuzzing.failures), 'kind')} of failure"
    else:
        words += "no fault seen" if fuzzing.unjudged else "all is well"
    without = f"; the values of {counted(fuzzing.unjudged, 'run')} were not judged, for want of an oracle"
    return words + (without if fuzzing.unjudged else "")


def _complaints(failed: Sequence[CaseResult]) -> Iterator[Problem]:
    """A problem for each thing that went wrong: cases that fail of the same, such as one shader, share theirs."""
    names: dict[str, list[str]] = {}
    for item in failed:
        said = f"there is no oracle: {item.message}" if item.status == "noOracle" else item.message
        names.setdefault(said, []).append(f"{item.name} [{item.variant}]" if item.forced else item.name)
    for message, alike in names.items():
        more = len(alike) - _NAMED
        others = f" and {counted(more, 'other case')}" if more > 0 else ""
        yield Problem(message=f"{', '.join(alike[:_NAMED])}{others}: {message}", rule="case", stage="own")


def _print_table(run: RunReport, results: Iterable[CaseResult]) -> None:
    """A table of cases, as wide as the terminal, or wide enough where there is none.

    In a narrow terminal it goes without the adapter, which the lines around it name, and is never squeezed to nothing.
    """
    from rich.console import Console as RichConsole
    from rich.table import Table
    from rich.text import Text

    output = RichConsole(file=sys.stdout, no_color=bool(os.environ.get("NO_COLOR")))
    output.width = max(output.width, _LEAST_WIDTH) if sys.stdout.isatty() else _PIPE_WIDTH
    adapter = [str(run.adapter["name"]).partition(" (")[0]] if output.width >= _ADAPTER_WIDTH else []
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("case", "variant", *(["adapter"] if adapter else [])):
        table.add_column(name, overflow="fold")
    for name in ("abs error", "ULP", "ms"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("verdict", no_wrap=True)
    for item in results:
        variant = f"{item.variant or '-'}{' (forced)' if item.forced else ''}"
        verdict = Text(_VERDICTS[item.status], style=_COLOURS[item.status])
        cells = [item.name, variant, *adapter, *_numbers(item)]
        table.add_row(*(Text(printable(cell)) for cell in cells), verdict)
    output.print(table)


def _numbers(item: CaseResult) -> list[str]:
    error = "-" if item.max_abs_error is None else f"{item.max_abs_error:.3g}"
    ulp = "-" if item.max_ulp is None else str(item.max_ulp) if item.max_ulp < 10**6 else f"{item.max_ulp:.1e}"
    return [error, ulp, f"{item.seconds * 1000:.1f}" if item.seconds else "-"]
