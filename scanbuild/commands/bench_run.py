"""One run of ``scanbuild bench``: from its options to tables, files and an exit status."""

import json
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from scanbuild.commands.bench_tables import present, present_comparison, present_tuning
from scanbuild.commands.console import Console, check_writable, counted, printable, write_report
from scanbuild.commands.faults import INTERRUPTED
from scanbuild.errors import InputError, Problem

if TYPE_CHECKING:
    from scanbuild.bench.report import BenchReport, Outcome
    from scanbuild.bench.session import Measurer
    from scanbuild.bench.tuning import Choice
    from scanbuild.bench.worker import Job, Ready, WorkerSettings
    from scanbuild.cases.casefile import Case
    from scanbuild.package.model import Manifest

_FAILING: Final = ("failed", "refused")
_REGRESSION: Final = 0.1


class BenchRun:
    """What the options ask for. ``options`` are those of the command by the names of its parameters."""

    def __init__(self, console: Console, options: Mapping[str, Any]) -> None:
        self.console = console
        self.options = options
        self.root: Path = options["root"]
        self.other: Path | None = options["other"]
        self.interrupted = False

    def run(self) -> int:
        """Measure, present, write; the exit status."""
        from scanbuild.bench.against import read_baseline
        from scanbuild.bench.packages import open_subject, read_cases
        from scanbuild.bench.session import adapter_is_gone
        from scanbuild.commands.older import warn_if_older
        from scanbuild.package.folder import is_source, package_folder

        self._check_options()
        baseline = read_baseline(self.options["against"]) if self.options["against"] is not None else None
        manifest = open_subject(self.root).manifest
        if self.other is not None:
            open_subject(self.other)
        cases = read_cases(self.root, manifest)
        self.console.problems(cases.notes)
        if not is_source(self.root):
            warn_if_older(self.console, package_folder(self.root))
        chosen = self._chosen(cases.cases)
        if self.options["tune"] and not cases.tune:
            message, hint = "there are no values of tunables to try", "list them as `tune` in bench.json"
            raise InputError(Problem(message=message, hint=hint, file=str(self.root / "bench.json")))
        source = self._source(manifest) if self.options["write"] else None
        with self._session(manifest.op_id, len(chosen)) as session:
            ready = session.start()
            self.console.say(f"{manifest.op_id}: {counted(len(chosen), 'case')} on {ready.described}")
            outcomes, choices = self._measure(session, chosen)
        report = self._report(ready, outcomes)
        present(self.console, report, ready.described, self.options["precision"] / 100)
        self._write(report, ready.described, choices)
        failed = any(item.status in _FAILING for item in outcomes)
        if self.options["tune"]:
            present_tuning(self.console, choices)
        if source is not None and not self.interrupted:
            self._write_defaults(source, manifest, choices)
        if baseline is not None:
            failed |= self._has_regressed(report, baseline)
        if self.interrupted:
            return INTERRUPTED
        if adapter_is_gone(outcomes):
            return 3
        return 1 if failed else 0

    def _check_options(self) -> None:
        """Refuse what does not go together or cannot be written, before any work."""
        options = self.options
        for name in ("write", "max_regression", "source"):
            needed = {"write": "tune", "max_regression": "against", "source": "write"}[name]
            if options[name] not in (None, False) and not options[needed]:
                raise click.UsageError(f"--{name.replace('_', '-')} goes with --{needed}.")
        if options["tune"] and (options["other"] is not None or options["all_variants"]):
            raise click.UsageError(
                "--tune times the selected variants of one package: leave --vs and --all-variants out."
            )
        for name in ("json_file", "html_file", "plot_file"):
            if options[name] is not None:
                check_writable(options[name])
        if options["plot_file"] is not None:
            from scanbuild.bench.plot import require_matplotlib

            require_matplotlib()

    @contextmanager
    def _session(self, title: str, total: int) -> "Iterator[Measurer]":
        """What measures: a worker, or a device in a browser. How many jobs tuning takes is not known beforehand."""
        settings = self._settings()
        if self.options["engine"] != "browser":
            from scanbuild.bench.session import Session

            local = replace(settings, engine=self.options["engine"], adapter=self.options["adapter"])
            with Session(local) as worker:
                yield worker
            return
        from scanbuild.bench.browsing import BrowserSession
        from scanbuild.commands.browsing import Devices

        total = 0 if self.options["tune"] else total
        with Devices(self.console, self.options["browser"]) as devices:
            summon = next(devices.summons())
            with BrowserSession(settings, summon, title=title, total=total) as session:
                yield session

    def _settings(self) -> "WorkerSettings":
        from scanbuild.bench.sampling import Settings
        from scanbuild.bench.worker import WorkerSettings

        return WorkerSettings(
            folders=(self.root,) if self.other is None else (self.root, self.other),
            limit_s=self.options["timeout"],
            sampling=Settings(precision=self.options["precision"] / 100, budget_s=self.options["seconds"]),
        )

    def _chosen(self, cases: "Sequence[Case]") -> "list[Case]":
        from scanbuild.bench.packages import matching_cases

        patterns = self.options["patterns"]
        chosen = matching_cases(cases, patterns)
        if not chosen:
            message = (
                f"no case matches {' or '.join(map(repr, patterns))}" if patterns else "there are no cases to time"
            )
            raise InputError(Problem(message=message, file=str(self.root / "bench.json")))
        return chosen

    def _source(self, manifest: "Manifest") -> Path:
        """The source package whose manifest is written, and never a built one. InputError if none is known."""
        from scanbuild.cases.origin import source_of_build, state_folder
        from scanbuild.package.folder import is_source, package_folder

        named: Path | None = self.options["source"]
        if named is None:
            if is_source(self.root):
                return self.root
            named = source_of_build(package_folder(self.root), manifest.op_id, state_folder())
        if named is None or not is_source(named):
            raise InputError(
                Problem(
                    message="tuned values are written into a source package, and none is known for this one",
                    hint="name it with --source, or bench the source itself",
                    file=str(named or self.root),
                )
            )
        return named

    def _measure(
        self, session: "Measurer", chosen: "Sequence[Case]"
    ) -> "tuple[tuple[Outcome, ...], tuple[Choice, ...]]":
        """The outcome of every case, and when tuning, what follows from them."""
        from scanbuild.bench.tuning import choose, players
        from scanbuild.bench.worker import Job

        kind: Any = "sweep" if self.options["tune"] else "variants" if self.options["all_variants"] else "selected"
        found = tuple(self._outcomes(session, [(Job(index=case.index, kind=kind), case.name) for case in chosen]))
        if kind != "sweep" or self.interrupted:
            return found, ()
        reached: dict[str, list[Case]] = {}
        tuned: dict[str, set[str]] = {}
        for case, outcome in zip(chosen, found, strict=True):
            if outcome.chosen is not None:
                reached.setdefault(outcome.chosen.variant, []).append(case)
                tuned.setdefault(outcome.chosen.variant, set()).update(outcome.tuned)
        won = players(found)
        choices = []
        for variant, cases in reached.items():
            kept = tuple(won.get(variant, ()))
            jobs = [(Job(index=case.index, kind="settings", settings=kept), case.name) for case in cases]
            played = list(self._outcomes(session, jobs)) if kept else []
            choice = choose(variant, kept, [item for item in played if item.status == "measured"])
            choices.append(replace(choice, tuned=frozenset(tuned[variant])))
        return found, tuple(choices)

    def _outcomes(self, session: "Measurer", jobs: "Sequence[tuple[Job, str]]") -> "Iterator[Outcome]":
        """Do jobs one after another, with a bar that leaves nothing behind."""
        from rich.console import Console as RichConsole
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

        from scanbuild.bench.report import Outcome
        from scanbuild.bench.session import outcomes

        plain = os.environ.get("NO_COLOR") or os.environ.get("CI") or not sys.stderr.isatty()
        columns = (
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
        )
        quiet = self.console.verbosity < 0 or bool(plain)
        with Progress(*columns, console=RichConsole(file=sys.stderr), transient=True, disable=quiet) as bar:
            task = bar.add_task("cases", total=len(jobs))

            def announced() -> "Iterator[tuple[Job, str]]":
                for job, name in jobs:
                    bar.update(task, description=printable(name))
                    yield job, name

            done = 0
            try:
                for item in outcomes(session, announced()):
                    yield item
                    bar.advance(task)
                    done += 1
            except KeyboardInterrupt:
                # What was measured may have taken long; it is shown before the command ends.
                self.interrupted = True
                yield from (Outcome(name=name, status="missing", message="interrupted") for _, name in jobs[done:])

    def _report(self, ready: "Ready", found: "tuple[Outcome, ...]") -> "BenchReport":
        from scanbuild.bench.report import BenchReport

        return BenchReport(
            packages=(str(self.root),) if self.other is None else (str(self.root), str(self.other)),
            engine=self.options["engine"],
            adapter=ready.adapter,
            clock=ready.clock,
            outcomes=found,
        )

    def _write(self, report: "BenchReport", described: str, choices: "Sequence[Choice]") -> None:
        """Write the files that were asked for."""
        if self.options["json_file"] is not None:
            content = report.to_json()
            if self.options["tune"]:
                content["tuned"] = [item.to_json() for item in choices]
            write_report(self.options["json_file"], json.dumps(content, indent=2, allow_nan=False) + "\n")
        if self.options["html_file"] is not None:
            from scanbuild.bench.page import page

            write_report(self.options["html_file"], page(report, described))
        if self.options["plot_file"] is not None and report.measured:
            from scanbuild.bench.plot import draw

            draw(report, described, self.options["plot_file"])

    def _write_defaults(self, source: Path, manifest: "Manifest", choices: "Sequence[Choice]") -> None:
        """Put what tuning chose into the manifest of the source."""
        from scanbuild.bench.defaults import rewrite
        from scanbuild.package.source import read_source

        file = source / "manifest.json"
        del manifest  # the source's own may have been edited since it was built
        text = file.read_text(encoding="utf-8")
        own = read_source(source).manifest
        assert own is not None, "a source without errors has a manifest"
        result = rewrite(text, str(file), own, choices)
        self.console.problems(result.problems)
        for change in result.changes:
            self.console.say(f"{change.path}: {json.dumps(change.before)} is now {json.dumps(change.after)}")
        if result.changes:
            write_report(file, result.text)
        self.console.say(f"{file}: {counted(len(result.changes), 'default')} changed")

    def _has_regressed(self, report: "BenchReport", baseline: Mapping[str, Any]) -> bool:
        """Present the comparison with a baseline; whether a case lost too much of its speed."""
        from scanbuild.bench.against import compare

        most = self.options["max_regression"]
        most = _REGRESSION if most is None else most
        comparison = compare(report.to_json(), baseline)
        present_comparison(self.console, comparison, baseline, report, most)
        return bool(comparison.regressions(most))
