"""Generated cases of a verification: drawn, run, and made small where they fail."""

from collections.abc import Iterator, Sequence

from scanbuild.cases.casefile import Case
from scanbuild.cases.fuzz import Generator, make_generator
from scanbuild.cases.pool import Backend, run_tasks
from scanbuild.cases.report import Fuzzing, Generated
from scanbuild.cases.run import CaseResult
from scanbuild.cases.shrinking import shrink
from scanbuild.cases.variants import VariantSurvey
from scanbuild.cases.worker import Ready, RunTask
from scanbuild.cases.writing import case_json
from scanbuild.commands.console import Console
from scanbuild.commands.verify_output import Progress
from scanbuild.package.loaded import Package
from scanbuild.planning.planner import Planner

_SOFTWARE_ELEMENTS = 1 << 18
_HARDWARE_ELEMENTS = 1 << 22
_SHRUNK = 5
"""So many failures are made small; more are seldom of another cause."""


def fuzz(
    console: Console,
    backends: Sequence[Backend],
    package: Package,
    cases: Sequence[Case],
    ready: Ready,
    *,
    count: int,
    seed: int,
    all_variants: bool,
) -> Iterator[Fuzzing]:
    """Run generated cases; yields what has been done whenever there is more of it, so that nothing is lost at an end.

    Failures that look alike, of one variant and of the same kinds, are told once.
    """
    planner = Planner(package)
    generator = make_generator(planner, ready.record, [case for case in cases if case.skip is None], seed)
    generator.largest = _SOFTWARE_ELEMENTS if ready.software else _HARDWARE_ELEMENTS
    drawn = list(generator.cases(count))
    tasks = [RunTask(case=case) for case in drawn]
    if all_variants:
        survey = VariantSurvey(planner)
        tasks += [
            RunTask(case=case, variant=variant)
            for case in drawn
            for variant in survey.others(case, "fuzz", ready.record)
        ]
    failed: dict[object, tuple[RunTask, CaseResult]] = {}
    done = unjudged = 0
    with Progress(console, len(tasks)) as progress:
        for index, result in run_tasks(backends, tasks):
            assert isinstance(result, CaseResult)
            progress.advance(result.name)
            done += not result.forced
            unjudged += result.status == "noOracle"
            if result.status == "failed":
                key = (result.variant, frozenset(item.kind for item in result.findings))
                failed.setdefault(key, (tasks[index], result))
            yield _so_far(seed, done, unjudged, list(failed.values()))
    small = list(failed.values())
    for index, (task, result) in enumerate(small[:_SHRUNK]):
        small[index] = _shrunk(task, result, generator, backends[0])
        yield _so_far(seed, done, unjudged, small)


def _shrunk(task: RunTask, result: CaseResult, generator: Generator, backend: Backend) -> tuple[RunTask, CaseResult]:
    def run(case: Case) -> CaseResult:
        answer = backend.run(RunTask(case=case, variant=task.variant))
        assert isinstance(answer, CaseResult)
        return answer

    case, result = shrink(task.case, result, generator, run)
    return RunTask(case=case, variant=task.variant), result


def _so_far(seed: int, done: int, unjudged: int, failed: Sequence[tuple[RunTask, CaseResult]]) -> Fuzzing:
    failures = tuple(Generated(case=case_json(task.case), result=result) for task, result in failed)
    return Fuzzing(seed=seed, count=done, unjudged=unjudged, failures=failures)
