"""``scanbuild verify``: run a package's test cases on a WebGPU adapter."""

import json
import math
import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from scanbuild.commands.console import Console, check_writable, counted, printable, verbosity_options, write_report
from scanbuild.errors import CheckFailedError, InputError, Problem

if TYPE_CHECKING:
    from scanbuild.cases.casefile import CaseFile
    from scanbuild.cases.report import VerifyReport
    from scanbuild.cases.run import CaseResult
    from scanbuild.cases.session import Session
    from scanbuild.gpu import EngineName
    from scanbuild.package.loaded import Package

_PIPE_WIDTH = 200
_LEAST_WIDTH = 72
_ADAPTER_WIDTH = 100
_NAMED = 5
"""So many cases are named that fail of the same; the table shows all."""
_VERDICTS = {"passed": "passed", "failed": "FAILED", "skipped": "skipped", "noOracle": "no oracle"}
_FAILING = ("failed", "noOracle")
_COLOURS = {"passed": "green", "failed": "bold red", "skipped": "yellow", "noOracle": "yellow"}


def _no_nan(_ctx: click.Context, _param: click.Parameter, value: float) -> float:
    """A range lets NaN through, which is on neither side of its ends."""
    if math.isnan(value):
        raise click.BadParameter("nan is no number of seconds.")
    return value


@click.command()
@click.argument("root", type=click.Path(path_type=Path), default=Path())
@click.option(
    "--engine", type=click.Choice(["wgpu", "dawn"]), default="wgpu", show_default=True, help="What runs WGSL."
)
@click.option("--adapter", metavar="TEXT", help="Use the best adapter whose description has this text.")
@click.option("--list-adapters", is_flag=True, help="List the engine's adapters, best first, and do nothing else.")
@click.option("-k", "pattern", metavar="PATTERN", help="Run the cases with this in their name; * and ? are wild.")
@click.option("--source", type=click.Path(path_type=Path), metavar="DIR", help="Take reference.py from this folder.")
@click.option("--json", "json_file", type=click.Path(path_type=Path), metavar="FILE", help="Write a report as JSON.")
@click.option(
    "--timeout",
    type=click.FloatRange(min=0.1, max=86400),
    callback=_no_nan,
    default=30.0,
    show_default=True,
    metavar="SECONDS",
    help="Give a case up after so long on the device.",
)
@verbosity_options
@click.pass_obj
def verify(
    console: Console,
    *,
    root: Path,
    engine: "EngineName",
    adapter: str | None,
    list_adapters: bool,
    pattern: str | None,
    source: Path | None,
    json_file: Path | None,
    timeout: float,
) -> int:
    """Run every case of a package's test.json on a WebGPU adapter and compare what comes out.

    ROOT is a folder with build/webgpu/ in it, or that folder itself; default: the current folder. The digests are
    checked first. Hardware goes before software adapters.

    Expected values are those of the case, else those of the source package's reference.py, else those of ONNX
    (Runtime, on the CPU). A reference.py is code: it is run only for a package that was rendered on this machine by
    you, or from a folder that you name with --source.

    \b
    Examples:
      scanbuild verify
      scanbuild verify dist/ai.onnx.Scan --json report.json
      scanbuild verify --list-adapters
      scanbuild verify --adapter llvmpipe -k 'reverse_*'
      scanbuild verify --engine dawn
    """
    if list_adapters:
        return _list_adapters(console, engine)
    settings = {"engine": engine, "adapter": adapter, "limit_s": timeout}
    return _verify(console, root, settings, pattern=pattern, source=source, json_file=json_file)


def _list_adapters(console: Console, engine: "EngineName") -> int:
    from scanbuild.gpu import choose_adapter, quiet_drivers
    from scanbuild.gpu import list_adapters as found

    with quiet_drivers():
        adapters = found(engine) or [choose_adapter(engine)]
    for item in adapters:
        console.say(item.describe())
    return 0


def _verify(
    console: Console,
    root: Path,
    settings: dict[str, Any],
    *,
    pattern: str | None,
    source: Path | None,
    json_file: Path | None,
) -> int:
    from scanbuild.cases.report import VerifyReport, matching
    from scanbuild.cases.session import Session
    from scanbuild.cases.worker import WorkerSettings
    from scanbuild.package.folder import package_folder

    if json_file is not None:
        check_writable(json_file)
    folder = package_folder(root)
    package, tests = _read_package(folder)
    console.problems(tests.notes)
    names = [case.name for case in tests.cases]
    chosen = names if pattern is None else matching(names, pattern)
    if not chosen:
        message = "there are no cases to run" if pattern is None else f"no case matches {pattern!r}"
        raise InputError(Problem(message=message, file=str(folder / "test.json")))
    reference = _reference_folder(folder, package.manifest.op_id, source)
    with Session(WorkerSettings(folder=folder, source=reference, **settings)) as session:
        ready = session.start()
        console.say(f"{package.manifest.op_id}: {counted(len(chosen), 'case')} on {ready.described}")
        results = tuple(_results(console, session, names, set(chosen)))
    report = VerifyReport(manifest=package.manifest, engine=settings["engine"], adapter=ready.adapter, results=results)
    _present(console, report, ready.described, whole=pattern is None)
    if json_file is not None:
        write_report(json_file, json.dumps(report.to_json(), indent=2, allow_nan=False) + "\n")
    if not reference and report.counts["noOracle"]:
        console.say("Name the source folder with --source to take expected values from its reference.py.")
    return 1 if report.counts["failed"] or report.counts["noOracle"] else 0


def _read_package(folder: Path) -> "tuple[Package, CaseFile]":
    """The package and its cases, once the digests of all files are found to hold."""
    from scanbuild.cases.casefile import read_tests
    from scanbuild.package.digest import compare_digests, folder_digests
    from scanbuild.package.folder import open_folder
    from scanbuild.package.metadata import METADATA_FILE, read_metadata
    from scanbuild.package.source import TEST_FILE

    metadata = read_metadata(_text(folder, METADATA_FILE), str(folder / METADATA_FILE))
    problems = compare_digests(metadata.files, folder_digests(folder), str(folder))
    if problems:
        raise CheckFailedError(*problems)
    package = open_folder(folder)
    if not (folder / TEST_FILE).is_file():
        raise InputError(Problem(message="the package has no test cases", file=str(folder / TEST_FILE)))
    return package, read_tests(_text(folder, TEST_FILE), str(folder / TEST_FILE), foreign=True)


def _text(folder: Path, name: str) -> str:
    """The text of a file of the package, which may be as hostile as the rest of it."""
    from scanbuild.package.fetching import FetchError
    from scanbuild.package.folder import FolderFetch
    from scanbuild.package.text import decode

    try:
        return decode(FolderFetch(folder)(name))
    except FetchError as error:
        raise InputError(Problem(message=f"cannot read the file: {error}", file=str(folder / name))) from None


def _reference_folder(folder: Path, op_id: str, source: Path | None) -> Path | None:
    from scanbuild.cases.origin import REFERENCE, source_of_build, state_folder

    if source is None:
        return source_of_build(folder, op_id, state_folder())
    if not (source / REFERENCE).is_file():
        raise InputError(Problem(message=f"there is no {REFERENCE} in this folder", file=str(source)))
    return source


def _results(console: Console, session: "Session", names: Sequence[str], chosen: set[str]) -> "Iterator[CaseResult]":
    """Run the chosen cases one after another, with a bar that leaves nothing behind."""
    from rich.console import Console as RichConsole
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    quiet = console.verbosity < 0 or os.environ.get("NO_COLOR") or os.environ.get("CI") or not sys.stderr.isatty()
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=RichConsole(file=sys.stderr), transient=True, disable=bool(quiet)) as bar:
        task = bar.add_task("cases", total=len(chosen))
        for index, name in enumerate(names):
            if name in chosen:
                bar.update(task, description=printable(name))
                yield session.run(index, name)
                bar.advance(task)


def _present(console: Console, report: "VerifyReport", described: str, *, whole: bool) -> None:
    if console.verbosity >= 0:
        _print_table(report)
    for item in report.results:
        if item.message and item.status not in _FAILING:
            console.detail(f"{item.name}: {item.message}")
    console.problems(_complaints([item for item in report.results if item.status in _FAILING]))
    counts = report.counts
    words = [f"{counts['passed']} passed"]
    words += [
        f"{counts[status]} {_VERDICTS[status].lower()}" for status in _VERDICTS if status != "passed" and counts[status]
    ]
    console.say(f"{', '.join(words)} on {described}")
    if report.adapter["software"]:
        console.say("This is a software adapter: it computes on the CPU, and its speed says nothing of a GPU's.")
    if whole and report.unreached:
        console.say(f"No case reached on this device: {', '.join(report.unreached)}")


def _complaints(failed: "Sequence[CaseResult]") -> Iterator[Problem]:
    """A problem for each thing that went wrong: cases that fail of the same, such as one shader, share theirs."""
    names: dict[str, list[str]] = {}
    for item in failed:
        said = f"there is no oracle: {item.message}" if item.status == "noOracle" else item.message
        names.setdefault(said, []).append(item.name)
    for message, alike in names.items():
        more = len(alike) - _NAMED
        others = f" and {counted(more, 'other case')}" if more > 0 else ""
        yield Problem(message=f"{', '.join(alike[:_NAMED])}{others}: {message}", rule="case", stage="own")


def _print_table(report: "VerifyReport") -> None:
    """The table of all cases, as wide as the terminal, or wide enough where there is none.

    In a narrow terminal it goes without the adapter, which the lines around it name, and is never squeezed to nothing.
    """
    from rich.console import Console as RichConsole
    from rich.table import Table
    from rich.text import Text

    output = RichConsole(file=sys.stdout, no_color=bool(os.environ.get("NO_COLOR")))
    output.width = max(output.width, _LEAST_WIDTH) if sys.stdout.isatty() else _PIPE_WIDTH
    adapter = [str(report.adapter["name"]).partition(" (")[0]] if output.width >= _ADAPTER_WIDTH else []
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("case", "variant", *(["adapter"] if adapter else [])):
        table.add_column(name, overflow="fold")
    for name in ("abs error", "ULP", "ms"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("verdict", no_wrap=True)
    for item in report.results:
        cells = [item.name, item.variant or "-", *adapter, *_numbers(item)]
        verdict = Text(_VERDICTS[item.status], style=_COLOURS[item.status])
        table.add_row(*(Text(printable(cell)) for cell in cells), verdict)
    output.print(table)


def _numbers(item: "CaseResult") -> list[str]:
    error = "-" if item.max_abs_error is None else f"{item.max_abs_error:.3g}"
    ulp = "-" if item.max_ulp is None else str(item.max_ulp) if item.max_ulp < 10**6 else f"{item.max_ulp:.1e}"
    return [error, ulp, f"{item.seconds * 1000:.1f}" if item.seconds else "-"]
