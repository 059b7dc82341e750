"""``scanbuild bench``: time a package's benchmark cases on a WebGPU adapter."""

import json
import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from scanbuild.commands.bench_tables import present
from scanbuild.commands.console import Console, check_writable, counted, printable, verbosity_options, write_report
from scanbuild.errors import InputError, Problem

if TYPE_CHECKING:
    from scanbuild.bench.report import BenchReport, Outcome
    from scanbuild.bench.session import Session
    from scanbuild.bench.worker import Job
    from scanbuild.cases.casefile import Case

_FAILING = ("failed", "refused")


@click.command()
@click.argument("root", type=click.Path(path_type=Path), default=Path())
@click.option(
    "--engine", type=click.Choice(["wgpu", "dawn"]), default="wgpu", show_default=True, help="What runs WGSL."
)
@click.option("--adapter", metavar="TEXT", help="Use the best adapter whose description has this text.")
@click.option(
    "--case", "patterns", metavar="GLOB", multiple=True, help="Only cases with this in their name; * and ? are wild."
)
@click.option("--all-variants", is_flag=True, help="Time every variant that takes a case, not only the selected one.")
@click.option(
    "--vs", "other", type=click.Path(path_type=Path), metavar="ROOT2", help="Time another package beside this one."
)
@click.option("--json", "json_file", type=click.Path(path_type=Path), metavar="FILE", help="Write a report as JSON.")
@click.option(
    "--seconds",
    type=click.FloatRange(min=0.01, max=3600),
    default=3.0,
    show_default=True,
    help="Give up on more confidence in a case after so long.",
)
@click.option(
    "--precision",
    type=click.FloatRange(min=0.1, max=50),
    default=1.0,
    show_default=True,
    metavar="PERCENT",
    help="Repeat until medians are known this well.",
)
@click.option(
    "--timeout",
    type=click.FloatRange(min=0.1, max=3600),
    default=60.0,
    show_default=True,
    metavar="SECONDS",
    help="Give a device up that is busy for so long with one submission.",
)
@verbosity_options
@click.pass_obj
def bench(console: Console, /, **options: Any) -> int:
    """Time every case of a package's bench.json on a WebGPU adapter.

    ROOT is a source package, or a built one (a folder with build/webgpu/ in it, or that folder itself); default: the
    current folder. Times are of the device: a call's dispatches, and zeroing its scratch buffers, with the data there
    already. Beside each case a copy of as many bytes and an empty dispatch are timed, alternating with it. Inputs that
    would fit in a cache are spread over enough memory that they do not; where that matters both speeds are shown.

    \b
    Examples:
      scanbuild bench
      scanbuild bench templates/ai.onnx.Scan --case '*x64' --all-variants
      scanbuild bench --vs ../published --json report.json
    """
    return _Run(console, **options).run()


class _Run:
    """One run of the command, with its options."""

    def __init__(self, console: Console, **options: Any) -> None:
        self.console = console
        self.root: Path = options["root"]
        self.other: Path | None = options["other"]
        self.options = options

    def run(self) -> int:
        from scanbuild.bench.packages import open_subject, read_cases
        from scanbuild.bench.session import Session

        self._check_files()
        package = open_subject(self.root)
        if self.other is not None:
            open_subject(self.other)
        cases = read_cases(self.root, package.manifest)
        self.console.problems(cases.notes)
        chosen = self._chosen(cases.cases)
        with Session(self._settings()) as session:
            ready = session.start()
            self.console.say(f"{package.manifest.op_id}: {counted(len(chosen), 'case')} on {ready.described}")
            found = tuple(self._outcomes(session, chosen))
        report = self._report(ready, found)
        present(self.console, report, ready.described, self.options["precision"] / 100)
        return self._finish(report)

    def _check_files(self) -> None:
        if self.options["json_file"] is not None:
            check_writable(self.options["json_file"])

    def _settings(self) -> Any:
        from scanbuild.bench.sampling import Settings
        from scanbuild.bench.worker import WorkerSettings

        folders = (self.root,) if self.other is None else (self.root, self.other)
        return WorkerSettings(
            folders=folders,
            engine=self.options["engine"],
            adapter=self.options["adapter"],
            limit_s=self.options["timeout"],
            sampling=Settings(precision=self.options["precision"] / 100, budget_s=self.options["seconds"]),
        )

    def _chosen(self, cases: "Sequence[Case]") -> "list[Case]":
        from scanbuild.cases.report import matching

        patterns = self.options["patterns"]
        names = [case.name for case in cases]
        wanted = {name for pattern in patterns for name in matching(names, pattern)} if patterns else set(names)
        chosen = [case for case in cases if case.name in wanted]
        if not chosen:
            message = (
                f"no case matches {' or '.join(map(repr, patterns))}" if patterns else "there are no cases to time"
            )
            raise InputError(Problem(message=message, file=str(self.root / "bench.json")))
        return chosen

    def _outcomes(self, session: "Session", chosen: "Sequence[Case]") -> "Iterator[Outcome]":
        """Measure the chosen cases one after another, with a bar that leaves nothing behind."""
        from rich.console import Console as RichConsole
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

        from scanbuild.bench.session import outcomes
        from scanbuild.bench.worker import Job

        kind = "variants" if self.options["all_variants"] else "selected"
        jobs = [(Job(index=case.index, kind=kind), case.name) for case in chosen]  # type: ignore[arg-type]
        quiet = self.console.verbosity < 0 or _is_plain()
        columns = (
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
        )
        with Progress(*columns, console=RichConsole(file=sys.stderr), transient=True, disable=quiet) as bar:
            task = bar.add_task("cases", total=len(jobs))

            def announced() -> "Iterator[tuple[Job, str]]":
                for job, name in jobs:
                    bar.update(task, description=printable(name))
                    yield job, name

            for item in outcomes(session, announced()):
                yield item
                bar.advance(task)

    def _report(self, ready: Any, found: "tuple[Outcome, ...]") -> "BenchReport":
        from scanbuild.bench.report import BenchReport

        names = (str(self.root),) if self.other is None else (str(self.root), str(self.other))
        return BenchReport(
            packages=names,
            engine=self.options["engine"],
            adapter=ready.adapter,
            clock=ready.clock,
            outcomes=found,
        )

    def _finish(self, report: "BenchReport") -> int:
        if self.options["json_file"] is not None:
            write_report(self.options["json_file"], json.dumps(report.to_json(), indent=2, allow_nan=False) + "\n")
        if any(item.status == "missing" for item in report.outcomes):
            return 3
        return 1 if any(item.status in _FAILING for item in report.outcomes) else 0


def _is_plain() -> bool:
    """Whether progress is not to be drawn."""
    return bool(os.environ.get("NO_COLOR") or os.environ.get("CI") or not sys.stderr.isatty())
