"""The process in which cases run.

Shaders come from packages that nobody here may have written. One can keep a compiler or a device busy for ever, and an
engine that meets something it does not expect may end its process. So cases run in a process of their own, which the
session ends and starts anew.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from scanbuild.cases.casefile import Case
from scanbuild.cases.compiling import CompileResult, compile_text
from scanbuild.cases.oracle import Oracle, load_reference
from scanbuild.cases.probing import Depth
from scanbuild.cases.process import Refused, settle_in
from scanbuild.cases.run import CaseResult, CaseRunner
from scanbuild.errors import ScanbuildError
from scanbuild.gpu import EngineName, open_engine
from scanbuild.gpu.interface import Executor, Job, JobResult
from scanbuild.package.folder import open_folder
from scanbuild.planning.device import DeviceRecord
from scanbuild.planning.planner import Planner


@dataclass(frozen=True, kw_only=True, slots=True)
class WorkerSettings:
    """What a worker runs on, and how much it looks at. ``limit_s`` bounds the seconds of one run on the device."""

    engine: EngineName = "wgpu"
    adapter: str | None = None
    limit_s: float = 30.0
    depth: Depth = field(default_factory=Depth)
    allowed: frozenset[str] = frozenset()


@dataclass(frozen=True, kw_only=True, slots=True)
class OpenPackage:
    """Take up the built package in a folder. ``source`` is the folder whose reference may be run, if any.

    ``tasks`` is how many tasks will follow, for whoever watches them.
    """

    folder: Path
    source: Path | None = None
    tasks: int = 0


@dataclass(frozen=True, kw_only=True, slots=True)
class RunTask:
    """Run a case of the open package, on the variant of that id or on the selected one."""

    case: Case
    variant: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class CompileTask:
    """Compile a text without running it. ``name`` is for the result."""

    name: str
    wgsl: str


Task = RunTask | CompileTask
TaskResult = CaseResult | CompileResult


@dataclass(frozen=True, kw_only=True, slots=True)
class Ready:
    """The worker can run cases. ``adapter`` is for reports, ``described`` for people, ``record`` for planning."""

    adapter: dict[str, Any]
    described: str
    software: bool
    record: DeviceRecord


class Busy:
    """The worker begins another run on the device: its time limit starts anew."""


class Opened:
    """The package is open."""


def serve(connection: Connection, settings: WorkerSettings, log: str) -> None:
    """Open the engine, say Ready or Refused, then answer what is asked until None comes.

    Whatever the engine or a driver prints goes to the file ``log``.
    """
    settle_in(log)
    try:
        engine = open_engine(settings.engine, settings.adapter)
    except ScanbuildError as error:
        connection.send(Refused.of(error))
        return
    engine.call_limit_s = settings.limit_s
    executor = Watched(engine, lambda: connection.send(Busy()))
    connection.send(ready(executor))
    runner: CaseRunner | None = None
    while (message := connection.recv()) is not None:
        if isinstance(message, OpenPackage):
            try:
                runner = open_runner(message, executor, settings)
                connection.send(Opened())
            except ScanbuildError as error:
                connection.send(Refused.of(error))
        else:
            connection.send(perform(message, executor, runner))


def ready(executor: Executor) -> Ready:
    """What there is to know of a device before cases run on it."""
    return Ready(
        adapter=executor.adapter_json(),
        described=executor.describe(),
        software=executor.software,
        record=executor.record,
    )


def open_runner(message: OpenPackage, executor: Executor, settings: WorkerSettings) -> CaseRunner:
    """The runner of a package's cases. Raises what is wrong with the package or its reference."""
    package = open_folder(message.folder)
    reference = load_reference(message.source) if message.source is not None else None
    oracle = Oracle(manifest=package.manifest, reference=reference)
    return CaseRunner(Planner(package), executor, oracle, settings.depth, settings.allowed)


def perform(task: Task, executor: Executor, runner: CaseRunner | None) -> TaskResult:
    """Do what a task asks for."""
    if isinstance(task, CompileTask):
        return compile_text(executor, task.name, task.wgsl)
    assert runner is not None, "a package is opened before its cases run"
    return runner.run(task.case, task.variant)


class Watched:
    """A device that tells somebody before each run."""

    def __init__(self, inner: Executor, tell: Callable[[], None]) -> None:
        self.inner = inner
        self.tell = tell
        self.record = inner.record

    @property
    def lost(self) -> str:
        """Why the device cannot be used any more; "" while it can."""
        return self.inner.lost

    @property
    def software(self) -> bool:
        """Whether the device computes on the CPU."""
        return self.inner.software

    def describe(self) -> str:
        """Engine and adapter in a line, for people."""
        return self.inner.describe()

    def adapter_json(self) -> dict[str, Any]:
        """The adapter, for reports."""
        return self.inner.adapter_json()

    def run(self, job: Job) -> JobResult:
        """Run a job."""
        self.tell()
        return self.inner.run(job)

    def compile(self, wgsl: str) -> None:
        """Compile a text."""
        self.tell()
        self.inner.compile(wgsl)

    def close(self) -> None:
        """Release the device."""
        self.inner.close()
