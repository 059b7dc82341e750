"""Running cases in a worker process that may hang or die."""

from types import TracebackType
from typing import Any, Final, Self

from scanbuild.cases.compiling import CompileResult
from scanbuild.cases.findings import Finding
from scanbuild.cases.process import ENDED, START_LIMIT_S, Refused, WorkerProcess
from scanbuild.cases.run import CaseResult, failed
from scanbuild.cases.worker import Busy, Opened, OpenPackage, Ready, RunTask, Task, TaskResult, WorkerSettings, serve
from scanbuild.errors import CheckFailedError, Problem

HOST_LIMIT_S: Final = 30.0
"""Seconds that a case may take besides the device's part: data, reference, comparison."""


class Session:
    """A worker, started anew after a case that hangs, kills it or costs it its device. Use it in a ``with``."""

    def __init__(self, settings: WorkerSettings) -> None:
        self.settings = settings
        self._package: OpenPackage | None = None
        self._ended = False
        self._worker = WorkerProcess(serve, "scanbuild-verify-")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._ended = True
        self._worker.close()

    @property
    def pid(self) -> int | None:
        """The worker's process id, while there is a worker."""
        return self._worker.pid

    def start(self) -> Ready:
        """Start the worker and its engine. Raises what hinders it, mostly NoAdapterError."""
        if self._ended:
            raise RuntimeError("the session has ended")
        self._worker.start(self.settings)
        answer = self._receive(START_LIMIT_S)
        if isinstance(answer, Ready):
            return answer
        raise self._worker.not_ready(answer, self.settings.engine)

    def open(self, package: OpenPackage) -> None:
        """Take up a package, whose cases run from now on. Raises what is wrong with it."""
        self._package = package
        if self._worker.connection is None:
            self.start()
        answer = self._ask(package)
        if isinstance(answer, Refused):
            raise answer.error()
        if not isinstance(answer, Opened):
            self._worker.stop()
            raise CheckFailedError(Problem(message=f"the worker {answer} while it opened {package.folder}"))

    def run(self, task: Task) -> TaskResult:
        """Do a task, and say failed if the worker hangs or dies over it."""
        if self._worker.connection is None and self._package is not None:
            self.open(self._package)
        answer = self._ask(task)
        if isinstance(answer, CaseResult | CompileResult):
            if answer.device_lost:
                self._worker.stop()
            return answer
        message = self._worker.crashed(answer)
        if isinstance(task, RunTask):
            finding = Finding(kind="crash", message=message)
            return failed(task.case.name, finding, variant=task.variant, forced=task.variant is not None)
        return CompileResult(name=task.name, status="failed", kind="crash", message=message)

    def _ask(self, message: object) -> Any:
        connection = self._worker.connection
        assert connection is not None
        try:
            connection.send(message)
            return self._receive(self.settings.limit_s + HOST_LIMIT_S)
        except OSError:
            return ENDED

    def _receive(self, limit_s: float) -> Any:
        """What the worker sends, or in words why there is nothing. A run that begins starts the time anew."""
        connection = self._worker.connection
        assert connection is not None
        while True:
            if not connection.poll(limit_s):
                return f"did not answer within {limit_s:g} s"
            try:
                answer = connection.recv()
            except (EOFError, OSError):
                return ENDED
            if not isinstance(answer, Busy):
                return answer
