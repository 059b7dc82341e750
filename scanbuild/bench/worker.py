"""The process in which cases are measured.

A shader can keep a device busy for ever, and an engine that loses its device may end its process. What was measured
before is kept by the session, which is another process.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, Literal

from scanbuild.bench.measure import BenchRunner
from scanbuild.bench.packages import open_subject, read_cases
from scanbuild.bench.report import Clock, Outcome
from scanbuild.bench.sampling import Settings
from scanbuild.bench.tuning import Setting, play_off, sweep
from scanbuild.cases.process import Refused, settle_in
from scanbuild.errors import ScanbuildError
from scanbuild.gpu import EngineName, open_engine
from scanbuild.gpu.clock import Timing
from scanbuild.gpu.interface import Executor
from scanbuild.gpu.timing import Timer

JobKind = Literal["selected", "variants", "sweep", "settings"]
"""What to measure of a case: the selected variant, all that take it, the values to try of tunables, or settings."""


@dataclass(frozen=True, kw_only=True, slots=True)
class WorkerSettings:
    """What a worker measures: the package in the first folder, and beside it that in the second, if there is one.

    ``limit_s`` bounds the seconds of one submission. ``timestamps`` False times by the host although the device could.
    """

    folders: tuple[Path, ...]
    engine: EngineName = "wgpu"
    adapter: str | None = None
    limit_s: float = 60.0
    timestamps: bool = True
    sampling: Settings = field(default_factory=Settings)


@dataclass(frozen=True, kw_only=True, slots=True)
class Ready:
    """The worker can measure. ``adapter`` is for reports, ``described`` for people."""

    adapter: dict[str, Any]
    described: str
    software: bool
    clock: Clock


@dataclass(frozen=True, kw_only=True, slots=True)
class Job:
    """One case, by its index in ``bench.json``, and what to measure of it."""

    index: int
    kind: JobKind = "selected"
    settings: tuple[Setting, ...] = ()


def serve(connection: Connection, settings: WorkerSettings, log: str) -> None:
    """Open the engine, say Ready or Refused, then answer every job with what came of it, until None comes.

    Whatever the engine or a driver prints goes to the file ``log``.
    """
    settle_in(log)
    try:
        engine = open_engine(settings.engine, settings.adapter)
        engine.call_limit_s = settings.limit_s
        perform, ready = performer(settings, engine, Timer(engine, timestamps=settings.timestamps))
    except ScanbuildError as error:
        connection.send(Refused.of(error))
        return
    connection.send(ready)
    while (job := connection.recv()) is not None:
        connection.send(perform(job))


def performer(settings: WorkerSettings, engine: Executor, timer: Timing[Any]) -> tuple[Callable[[Job], Outcome], Ready]:
    """What does jobs on an engine with its timer, and what is to be told of it.

    InputError for what is no package.
    """
    packages = [open_subject(folder) for folder in settings.folders]
    file = read_cases(settings.folders[0], packages[0].manifest)
    runner = BenchRunner(packages, engine, timer, settings.sampling)
    ready = Ready(
        adapter=engine.adapter_json(),
        described=engine.describe(),
        software=engine.software,
        clock=Clock(source=timer.source, tick_s=timer.tick_s),
    )

    def perform(job: Job) -> Outcome:
        case = file.cases[job.index]
        if job.kind == "sweep":
            return runner.guarded(case, lambda: sweep(runner, case, file.tune))
        if job.kind == "settings":
            return runner.guarded(case, lambda: play_off(runner, case, job.settings))
        return runner.run(case, all_variants=job.kind == "variants")

    return perform, ready
