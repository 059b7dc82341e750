"""The course of a verification: packages, engines, cases, reports."""

import json
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, Self

from scanbuild.cases.browsing import BrowserBackend
from scanbuild.cases.casefile import Case, CaseFile, read_tests
from scanbuild.cases.compiling import CompileResult
from scanbuild.cases.origin import REFERENCE, source_of_build, state_folder
from scanbuild.cases.pool import Backend, run_tasks
from scanbuild.cases.probing import Depth
from scanbuild.cases.report import Coverage, Fuzzing, Missing, RunReport, VerifyReport, left_report, matching
from scanbuild.cases.run import CaseResult
from scanbuild.cases.session import Session
from scanbuild.cases.variants import VariantSurvey
from scanbuild.cases.worker import CompileTask, OpenPackage, Ready, RunTask, Task, WorkerSettings
from scanbuild.commands.browser_options import BrowserOptions
from scanbuild.commands.browsing import Devices
from scanbuild.commands.console import Console, check_writable, counted, leave_report, write_report
from scanbuild.commands.faults import INTERRUPTED
from scanbuild.commands.fuzzing import fuzz
from scanbuild.commands.older import warn_if_older
from scanbuild.commands.verify_output import Annotations, Progress, present_run, present_totals
from scanbuild.errors import CheckFailedError, InputError, NoAdapterError, Problem, ScanbuildError
from scanbuild.gpu.adapters import ENGINES, EngineName
from scanbuild.package.digest import compare_digests, digest_text, folder_digests
from scanbuild.package.fetching import FetchError
from scanbuild.package.folder import FolderFetch, open_folder, package_folder
from scanbuild.package.loaded import Package
from scanbuild.package.metadata import METADATA_FILE, read_metadata
from scanbuild.package.source import TEST_FILE
from scanbuild.package.text import decode
from scanbuild.planning.device import DeviceRecord
from scanbuild.planning.planner import Planner
from scanbuild.planning.profiles import profiles

_DEEP_RUNS = 10
_DEEP_FUZZ = 100


@dataclass(frozen=True, kw_only=True, slots=True)
class VerifyOptions:
    """What was asked for. ``engines`` are tried in order; with ``every`` those that are not there are passed over."""

    roots: tuple[Path, ...]
    engines: tuple[EngineName | Literal["browser"], ...]
    every: bool = False
    browser: BrowserOptions = field(default_factory=BrowserOptions)
    adapter: str | None = None
    pattern: str | None = None
    source: Path | None = None
    all_variants: bool = False
    require_coverage: bool = False
    fuzz: int = 0
    seed: int = 0
    compile_all: bool = False
    depth: Depth = field(default_factory=Depth)
    allowed: frozenset[str] = frozenset()
    timeout: float = 30.0
    jobs: int = 1
    json_file: Path | None = None
    junit_file: Path | None = None
    html_file: Path | None = None

    @classmethod
    def of(
        cls, *, roots: tuple[Path, ...], engine: str, deep: bool, repeat: int | None, fuzz: int | None, **others: Any
    ) -> Self:
        """The options as the command line has them."""
        for name in ("all_variants", "require_coverage", "compile_all"):
            others[name] = others[name] or deep
        # A part of the cases says nothing of coverage, so there --deep does not ask for it.
        if deep and others["pattern"] is not None:
            others["require_coverage"] = False
        engines = tuple(name for name in ENGINES if engine in (name, "all"))
        # A browser is started only where one is named: otherwise somebody would have to open the page.
        with_browser = engine == "browser" or (engine == "all" and bool(others["browser"].launch))
        return cls(
            roots=roots or (Path(),),
            engines=(*engines, "browser") if with_browser else engines,
            every=engine == "all",
            depth=_depth(repeat or (_DEEP_RUNS if deep else 2)),
            fuzz=(_DEEP_FUZZ if deep else 0) if fuzz is None else fuzz,
            **others,
        )


def _depth(runs: int) -> Depth:
    return Depth(runs=runs, reorder=runs > 2)


@dataclass(frozen=True, kw_only=True, slots=True)
class Subject:
    """A package to verify: its folder, its cases, those of them that were asked for, and where its reference lies."""

    folder: Path
    package: Package
    tests: CaseFile
    chosen: tuple[Case, ...]
    source: Path | None
    shaders: dict[str, str]
    digest: str


@dataclass(slots=True)
class _Course:
    """What has been done so far: it is reported on, however the course ends."""

    runs: list[RunReport] = field(default_factory=list)
    missing: list[Missing] = field(default_factory=list)
    coverage: list[Coverage] = field(default_factory=list)
    records: dict[str, DeviceRecord] = field(default_factory=dict)


def run_verify(console: Console, options: VerifyOptions) -> int:
    """Verify, present, write the reports; the exit status."""
    for file in (options.json_file, options.junit_file, options.html_file):
        if file is not None:
            check_writable(file)
    if options.require_coverage and options.pattern is not None:
        message = "--require-coverage judges all cases of a package, and -k leaves some out"
        raise InputError(Problem(message=message, hint="leave one of the two away"))
    subjects = _subjects(console, options)
    course, complete = _Course(), True
    with Annotations() as annotations:
        try:
            for engine in options.engines:
                _run_engine(console, engine, subjects, options, course)
            if options.compile_all:
                _compile_elsewhere(console, subjects, options, course)
            if options.require_coverage:
                course.coverage += [_coverage(subject, course.records) for subject in subjects]
        except KeyboardInterrupt:
            complete = False
        report = VerifyReport(
            runs=tuple(course.runs),
            missing=tuple(course.missing),
            coverage=tuple(course.coverage),
            complete=complete,
        )
        annotations.report = report
        present_totals(console, report, whole=options.pattern is None, sourced=all(item.source for item in subjects))
        _write_reports(report, options)
        _leave_reports(console, report, subjects)
    if not complete:
        console.problem_text("interrupted")
        return INTERRUPTED
    if not course.runs:
        raise NoAdapterError(*(Problem(message=item.message) for item in course.missing))
    return 1 if report.failed else 0


def _compile_elsewhere(console: Console, subjects: Sequence[Subject], options: VerifyOptions, course: _Course) -> None:
    """Compile the rendered shaders on the engines that are present, too, though no case was to run there."""
    rendered = [replace(subject, chosen=()) for subject in subjects if subject.shaders]
    for engine in ENGINES:
        if rendered and engine not in options.engines:
            _run_engine(console, engine, rendered, replace(options, fuzz=0, every=True, adapter=None), course)


def _run_engine(
    console: Console,
    engine: EngineName | Literal["browser"],
    subjects: Sequence[Subject],
    options: VerifyOptions,
    course: _Course,
) -> None:
    """Run all packages on an engine, and on each of its devices where there are several."""
    settings = WorkerSettings(
        adapter=options.adapter, limit_s=options.timeout, depth=options.depth, allowed=options.allowed
    )
    if engine != "browser":
        _run_device(
            console, engine, open_backends(replace(settings, engine=engine), options.jobs), subjects, options, course
        )
        return
    with Devices(console, options.browser) as devices:
        for summon in devices.summons():
            _run_device(console, engine, [BrowserBackend(settings, summon)], subjects, options, course)


def open_backends(settings: WorkerSettings, jobs: int) -> Sequence[Backend]:
    """What runs the tasks of an engine: so many workers, each with a device of its own."""
    return [Session(settings) for _ in range(jobs)]


def _run_device(
    console: Console,
    engine: str,
    backends: Sequence[Backend],
    subjects: Sequence[Subject],
    options: VerifyOptions,
    course: _Course,
) -> None:
    """Run all packages on a device. NoAdapterError if there is none and its engine was asked for by name."""
    with ExitStack() as stack:
        for backend in backends:
            stack.enter_context(backend)
        try:
            ready = backends[0].start()
        except NoAdapterError as error:
            if not options.every:
                raise
            course.missing.append(Missing(engine=engine, message=str(error)))
            console.say(f"{engine} is not used: {error}")
            return
        course.records[f"{engine} ({ready.described})" if engine in course.records else engine] = ready.record
        for subject in subjects:
            _run_subject(console, backends, ready, engine, subject, options, course)


def _run_subject(
    console: Console,
    backends: Sequence[Backend],
    ready: Ready,
    engine: str,
    subject: Subject,
    options: VerifyOptions,
    course: _Course,
) -> None:
    """Run one package on one engine. What was done is added to the course, also if it is cut short."""
    manifest = subject.package.manifest
    tasks = list(_tasks(subject, ready, engine, options))
    console.say(f"{manifest.op_id}: {_words(tasks)} on {ready.described}")
    package = OpenPackage(folder=subject.folder, source=subject.source, tasks=len(tasks))
    used = backends[: max(1, min(len(backends), len(tasks)))]
    found: dict[int, Any] = {}
    run = RunReport(
        manifest=manifest,
        folder=str(subject.folder),
        engine=engine,
        adapter=ready.adapter,
        described=ready.described,
        complete=False,
        digest=subject.digest,
    )
    try:
        _open(used, package)
        with Progress(console, len(tasks)) as progress:
            for index, result in run_tasks(used, tasks):
                found[index] = result
                progress.advance(result.name)
        if options.fuzz:
            for fuzzing in _fuzzed(console, used, ready, subject, options):
                run = replace(run, fuzzing=fuzzing)
        run = replace(run, complete=True)
    finally:
        ordered = [found[index] for index in sorted(found)]
        run = replace(
            run,
            results=tuple(item for item in ordered if isinstance(item, CaseResult)),
            compiled=tuple(item for item in ordered if isinstance(item, CompileResult)),
        )
        course.runs.append(run)
    present_run(console, run, several=len(options.roots) * len(options.engines) > 1 or options.all_variants)


def _open(backends: Sequence[Backend], package: OpenPackage) -> None:
    """Take up a package on every backend, at once where there are several: each may have an engine to start."""
    if len(backends) == 1:
        backends[0].open(package)
        return
    with ThreadPoolExecutor(len(backends)) as openers:
        list(openers.map(lambda backend: backend.open(package), backends))


def _fuzzed(
    console: Console, backends: Sequence[Backend], ready: Ready, subject: Subject, options: VerifyOptions
) -> Iterator[Fuzzing]:
    return fuzz(
        console,
        backends,
        subject.package,
        subject.tests.cases,
        ready,
        count=options.fuzz,
        seed=options.seed,
        all_variants=options.all_variants,
    )


def _tasks(subject: Subject, ready: Ready, engine: str, options: VerifyOptions) -> Iterator[Task]:
    survey = VariantSurvey(Planner(subject.package))
    for case in subject.chosen:
        yield RunTask(case=case)
        if options.all_variants and case.skip is None:
            for variant in survey.others(case, engine, ready.record):
                yield RunTask(case=case, variant=variant)
    if options.compile_all:
        for name, text in subject.shaders.items():
            yield CompileTask(name=name, wgsl=text)


def _words(tasks: Sequence[Task]) -> str:
    runs = [task for task in tasks if isinstance(task, RunTask)]
    forced = sum(task.variant is not None for task in runs)
    parts = [counted(len(runs) - forced, "case")] if runs else []
    if forced:
        parts.append(counted(forced, "run") + " on other variants")
    if len(runs) < len(tasks):
        parts.append(counted(len(tasks) - len(runs), "shader"))
    return ", ".join(parts)


def _coverage(subject: Subject, records: dict[str, DeviceRecord]) -> Coverage:
    survey = VariantSurvey(Planner(subject.package))
    cases = [case for case in subject.tests.cases if case.skip is None]
    unreached = survey.unreached(cases, {**records, **{f"profile {name}": item for name, item in profiles().items()}})
    return Coverage(package=subject.package.manifest.op_id, unreached=tuple(unreached))


def _json_text(report: VerifyReport) -> str:
    return json.dumps(report.to_json(), indent=2, allow_nan=False) + "\n"


def _write_reports(report: VerifyReport, options: VerifyOptions) -> None:
    """Write every report that was asked for, and only then tell the first that cannot be written."""
    from scanbuild.cases.junit import junit_xml
    from scanbuild.cases.page import html_page

    errors: list[OSError] = []
    wanted = ((options.json_file, _json_text), (options.junit_file, junit_xml), (options.html_file, html_page))
    for file, text in wanted:
        if file is None:
            continue
        try:
            write_report(file, text(report))
        except OSError as error:
            errors.append(error)
    if errors:
        raise errors[0]


def _leave_reports(console: Console, report: VerifyReport, subjects: Sequence[Subject]) -> None:
    """Leave beside each package what became of it, for ``publish --push``. Where nothing can be written, say so."""
    for subject in subjects:
        file = left_report(subject.folder)
        if file is None:
            continue
        runs = tuple(run for run in report.runs if run.folder == str(subject.folder))
        own = tuple(item for item in report.coverage if item.package == subject.package.manifest.op_id)
        try:
            leave_report(file, _json_text(replace(report, runs=runs, coverage=own)))
        except OSError as error:
            console.detail(f"{file} cannot be written: {error.strerror}")


def _subjects(console: Console, options: VerifyOptions) -> list[Subject]:
    """The packages, or what is wrong with any of them, all at once."""
    subjects, errors = [], []
    for root in options.roots:
        try:
            subjects.append(_subject(console, root, options))
        except ScanbuildError as error:
            errors.append(error)
    if errors:
        raise type(errors[0])(*(problem for error in errors for problem in error.problems))
    return subjects


def _subject(console: Console, root: Path, options: VerifyOptions) -> Subject:
    folder = package_folder(root)
    package, tests, digest = _read_package(folder)
    console.problems(tests.notes)
    warn_if_older(console, folder)
    names = [case.name for case in tests.cases]
    wanted = set(names if options.pattern is None else matching(names, options.pattern))
    if not wanted:
        message = "there are no cases to run" if options.pattern is None else f"no case matches {options.pattern!r}"
        raise InputError(Problem(message=message, file=str(folder / TEST_FILE)))
    shaders = _rendered(folder, package) if options.compile_all else {}
    if options.compile_all and not shaders:
        console.say(f"{package.manifest.op_id}: the package holds no rendered shaders to compile")
    return Subject(
        folder=folder,
        package=package,
        tests=tests,
        chosen=tuple(case for case in tests.cases if case.name in wanted),
        source=_reference_folder(folder, package.manifest.op_id, options.source),
        shaders=shaders,
        digest=digest,
    )


def _read_package(folder: Path) -> tuple[Package, CaseFile, str]:
    """The package, its cases, and the digest of its metadata, once those of all other files are found to hold."""
    text = _text(folder, METADATA_FILE)
    metadata = read_metadata(text, str(folder / METADATA_FILE))
    problems = compare_digests(metadata.files, folder_digests(folder), str(folder))
    if problems:
        raise CheckFailedError(*problems)
    package = open_folder(folder)
    if not (folder / TEST_FILE).is_file():
        raise InputError(Problem(message="the package has no test cases", file=str(folder / TEST_FILE)))
    tests = read_tests(_text(folder, TEST_FILE), str(folder / TEST_FILE), foreign=True)
    return package, tests, digest_text(text)


def _rendered(folder: Path, package: Package) -> dict[str, str]:
    """The texts that the package's cases were rendered to, on every profile, by name."""
    names = sorted(
        name for name in package.metadata.files or () if name.startswith("rendered/") and name.endswith(".wgsl")
    )
    return {name.removeprefix("rendered/"): _text(folder, name) for name in names}


def _text(folder: Path, name: str) -> str:
    """The text of a file of the package, which may be as hostile as the rest of it."""
    try:
        return decode(FolderFetch(folder)(name))
    except FetchError as error:
        raise InputError(Problem(message=f"cannot read the file: {error}", file=str(folder / name))) from None


def _reference_folder(folder: Path, op_id: str, source: Path | None) -> Path | None:
    if source is None:
        return source_of_build(folder, op_id, state_folder())
    if not (source / REFERENCE).is_file():
        raise InputError(Problem(message=f"there is no {REFERENCE} in this folder", file=str(source)))
    return source
