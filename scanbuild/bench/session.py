"""Measuring in a worker process that may hang or die, and keeping what it had measured."""

import time
from collections.abc import Iterable, Iterator, Sequence
from types import TracebackType
from typing import Any, Final, Protocol, Self

from scanbuild.bench.report import Outcome
from scanbuild.bench.worker import Job, Ready, WorkerSettings, serve
from scanbuild.cases.process import ENDED, START_LIMIT_S, WorkerProcess
from scanbuild.errors import NoAdapterError

_JOB_LIMIT_S: Final = 3600.0
"""A worker that says nothing for so long hangs; what runs on the device has its own, shorter limit."""

_POLL_S: Final = 0.5


class Session:
    """A worker, started anew after a case that hangs, kills it or costs it its device. Use it in a ``with``."""

    def __init__(self, settings: WorkerSettings) -> None:
        self.settings = settings
        self._worker = WorkerProcess(serve, "scanbuild-bench-")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._worker.close()

    def start(self) -> Ready:
        """Start the worker and its engine. Raises what hinders it, mostly NoAdapterError."""
        self._worker.start(self.settings)
        answer = self._receive(START_LIMIT_S)
        if isinstance(answer, Ready):
            return answer
        raise self._worker.not_ready(answer, self.settings.engine)

    def run(self, job: Job, name: str) -> Outcome:
        """What comes of a job; ``failed`` if the worker hangs or dies over it. NoAdapterError if none starts."""
        if self._worker.connection is None:
            self.start()
        assert self._worker.connection is not None
        try:
            self._worker.connection.send(job)
            answer = self._receive(_JOB_LIMIT_S)
        except OSError:
            answer = ENDED
        if isinstance(answer, Outcome):
            if answer.lost:
                self._worker.stop()
            return answer
        return Outcome(name=name, status="failed", message=self._worker.crashed(answer), lost=True)

    def _receive(self, limit_s: float) -> Any:
        """What the worker sends, or in words why there is nothing."""
        connection = self._worker.connection
        assert connection is not None
        end = time.monotonic() + limit_s
        while not connection.poll(_POLL_S):
            if time.monotonic() > end:
                return f"did not answer within {limit_s:g} s"
        try:
            return connection.recv()
        except (EOFError, OSError):
            return ENDED


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
