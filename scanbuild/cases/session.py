"""Running cases in a worker process that may hang or die."""

import multiprocessing
import tempfile
import threading
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

from scanbuild.cases.compiling import CompileResult
from scanbuild.cases.findings import Finding
from scanbuild.cases.run import CaseResult, failed
from scanbuild.cases.worker import (
    Busy,
    Opened,
    OpenPackage,
    Ready,
    Refused,
    RunTask,
    Task,
    TaskResult,
    WorkerSettings,
    serve,
)
from scanbuild.errors import CheckFailedError, NoAdapterError, Problem

START_LIMIT_S: Final = 120.0
HOST_LIMIT_S: Final = 30.0
"""Seconds that a case may take besides the device's part: data, reference, comparison."""

_LOG_LINES: Final = 4
_LOG_BYTES: Final = 4000


class Session:
    """A worker, started anew after a case that hangs, kills it or costs it its device. Use it in a ``with``."""

    def __init__(self, settings: WorkerSettings) -> None:
        self.settings = settings
        self._package: OpenPackage | None = None
        self._ended = False
        self._lock = threading.Lock()
        self._process: SpawnProcess | None = None
        self._connection: Connection | None = None
        self._folder = tempfile.TemporaryDirectory(prefix="scanbuild-verify-")
        self._log = Path(self._folder.name) / "engine.log"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._ended = True
        self._stop()
        self._folder.cleanup()

    @property
    def pid(self) -> int | None:
        """The worker's process id, while there is a worker."""
        return None if self._process is None else self._process.pid

    def start(self) -> Ready:
        """Start the worker and its engine. Raises what hinders it, mostly NoAdapterError."""
        if self._ended:
            raise RuntimeError("the session has ended")
        self._log.write_bytes(b"")
        context = multiprocessing.get_context("spawn")
        ours, theirs = context.Pipe()
        process = context.Process(target=serve, args=(theirs, self.settings, str(self._log)), daemon=True)
        process.start()
        theirs.close()
        self._process, self._connection = process, ours
        answer = self._receive(START_LIMIT_S)
        if isinstance(answer, Ready):
            return answer
        self._stop()
        if isinstance(answer, Refused):
            raise answer.kind(*answer.problems)
        raise NoAdapterError(
            Problem(message=f"the engine {self.settings.engine} {answer} while it was started", hint=self._last_words())
        )

    def open(self, package: OpenPackage) -> None:
        """Take up a package, whose cases run from now on. Raises what is wrong with it."""
        self._package = package
        if self._connection is None:
            self.start()
        answer = self._ask(package)
        if isinstance(answer, Refused):
            raise answer.kind(*answer.problems)
        if not isinstance(answer, Opened):
            self._stop()
            raise CheckFailedError(Problem(message=f"the worker {answer} while it opened {package.folder}"))

    def run(self, task: Task) -> TaskResult:
        """Do a task, and say failed if the worker hangs or dies over it."""
        if self._connection is None and self._package is not None:
            self.open(self._package)
        answer = self._ask(task)
        if isinstance(answer, CaseResult | CompileResult):
            if answer.device_lost:
                self._stop()
            return answer
        self._stop()
        words = f"the engine {answer} while it ran this case"
        message = "\n".join(filter(None, (words, self._last_words())))
        if isinstance(task, RunTask):
            finding = Finding(kind="crash", message=message)
            return failed(task.case.name, finding, variant=task.variant, forced=task.variant is not None)
        return CompileResult(name=task.name, status="failed", kind="crash", message=message)

    def _ask(self, message: object) -> Any:
        assert self._connection is not None
        try:
            self._connection.send(message)
            return self._receive(self.settings.limit_s + HOST_LIMIT_S)
        except OSError:
            return "ended unexpectedly"

    def _receive(self, limit_s: float) -> Any:
        """What the worker sends, or in words why there is nothing. A run that begins starts the time anew."""
        assert self._connection is not None
        while True:
            if not self._connection.poll(limit_s):
                return f"did not answer within {limit_s:g} s"
            try:
                answer = self._connection.recv()
            except (EOFError, OSError):
                return "ended unexpectedly"
            if not isinstance(answer, Busy):
                return answer

    def _stop(self) -> None:
        """End the worker. It is not asked: it may hang, and it holds nothing worth saving.

        An interrupt ends a session from another thread than the one that waits for its worker.
        """
        with self._lock:
            process, connection = self._process, self._connection
            self._process = self._connection = None
        if process is not None:
            process.kill()
            process.join()
            process.close()
        if connection is not None:
            connection.close()

    def _last_words(self) -> str:
        lines = self._log.read_bytes()[-_LOG_BYTES:].decode("utf-8", "replace").splitlines()
        return "\n".join([line.strip() for line in lines if line.strip()][-_LOG_LINES:])
