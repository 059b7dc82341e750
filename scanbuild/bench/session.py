"""Measuring in a worker process that may hang or die, and keeping what it had measured."""

import multiprocessing
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Protocol, Self

from scanbuild.bench.report import Outcome
from scanbuild.bench.worker import Job, Ready, Refused, WorkerSettings, serve
from scanbuild.errors import NoAdapterError, Problem

START_LIMIT_S: Final = 120.0
_JOB_LIMIT_S: Final = 3600.0
"""A worker that says nothing for so long hangs; what runs on the device has its own, shorter limit."""

_POLL_S: Final = 0.5
_LOG_LINES: Final = 4
_LOG_BYTES: Final = 4000


class Session:
    """A worker, started anew after a case that hangs, kills it or costs it its device. Use it in a ``with``."""

    def __init__(self, settings: WorkerSettings) -> None:
        self.settings = settings
        self._process: SpawnProcess | None = None
        self._connection: Connection | None = None
        self._folder = tempfile.TemporaryDirectory(prefix="scanbuild-bench-")
        self._log = Path(self._folder.name) / "engine.log"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._stop()
        self._folder.cleanup()

    def start(self) -> Ready:
        """Start the worker and its engine. Raises what hinders it, mostly NoAdapterError."""
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

    def run(self, job: Job, name: str) -> Outcome:
        """What comes of a job; ``failed`` if the worker hangs or dies over it. NoAdapterError if none starts."""
        if self._connection is None:
            self.start()
        assert self._connection is not None
        try:
            self._connection.send(job)
            answer = self._receive(_JOB_LIMIT_S)
        except OSError:
            answer = "ended unexpectedly"
        if isinstance(answer, Outcome):
            if answer.lost:
                self._stop()
            return answer
        self._stop()
        message = f"the engine {answer} while it ran this case"
        message = "\n".join(filter(None, (message, self._last_words())))
        return Outcome(name=name, status="failed", message=message, lost=True)

    def _receive(self, limit_s: float) -> Any:
        """What the worker sends, or in words why there is nothing."""
        assert self._connection is not None
        end = time.monotonic() + limit_s
        while not self._connection.poll(_POLL_S):
            if time.monotonic() > end:
                return f"did not answer within {limit_s:g} s"
        try:
            return self._connection.recv()
        except (EOFError, OSError):
            return "ended unexpectedly"

    def _stop(self) -> None:
        """End the worker. It is not asked: it may hang, and it holds nothing worth saving."""
        if self._process is not None:
            self._process.kill()
            self._process.join()
            self._process.close()
        if self._connection is not None:
            self._connection.close()
        self._process = self._connection = None

    def _last_words(self) -> str:
        lines = self._log.read_bytes()[-_LOG_BYTES:].decode("utf-8", "replace").splitlines()
        return "\n".join([line.strip() for line in lines if line.strip()][-_LOG_LINES:])


class Measurer(Protocol):
    """What does jobs: a session of this module, or one with a browser."""

    def start(self) -> Ready:
        """Open the device. Raises what hinders it, mostly NoAdapterError."""

    def run(self, job: Job, name: str) -> Outcome:
        """What comes of a job; NoAdapterError if the device is gone and no other is to be had."""


def outcomes(session: Measurer, jobs: Iterable[tuple[Job, str]]) -> Iterator[Outcome]:
    """The outcome of every job. Once the adapter is gone for good, the rest is ``missing``: nothing is raised."""
    gone = ""
    for job, name in jobs:
        if not gone:
            try:
                yield session.run(job, name)
                continue
            except NoAdapterError as error:
                gone = f"the adapter was lost, and no worker could be started again: {error}"
        yield Outcome(name=name, status="missing", message=gone)


def adapter_is_gone(found: Sequence[Outcome]) -> bool:
    """Whether cases were not reached for want of an adapter."""
    return any(item.status == "missing" for item in found)
