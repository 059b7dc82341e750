"""A process at the other end of a pipe that may hang or die: what verifying and measuring share of their workers."""

import multiprocessing
import os
import signal
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess
from pathlib import Path
from typing import Any, Final

from scanbuild.errors import NoAdapterError, Problem, ScanbuildError

START_LIMIT_S: Final = 120.0
ENDED: Final = "ended unexpectedly"

_SAFE_PATH: Final = "PYTHONSAFEPATH"
_STARTING: Final = threading.Lock()
"""Held while the environment is another, which all threads share."""

_LOG_LINES: Final = 4
_LOG_BYTES: Final = 4000

Serve = Callable[[Connection, Any, str], None]
"""What the process does, given its side of the pipe, settings, and a file for what native code prints."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Refused:
    """The worker cannot do what it was asked for: the error to raise."""

    kind: type[ScanbuildError]
    problems: tuple[Problem, ...]

    @classmethod
    def of(cls, error: ScanbuildError) -> "Refused":
        """What an error is on its way through the pipe."""
        return cls(kind=type(error), problems=error.problems)

    def error(self) -> ScanbuildError:
        """The error, this side of the pipe."""
        return self.kind(*self.problems)


@contextmanager
def _nothing_from_here() -> Iterator[None]:
    """Processes that start within import nothing from the current folder, which may be that of a hostile package.

    Python looks there first, when it is started as :mod:`multiprocessing` does, even for modules of its own.
    """
    with _STARTING:
        before = os.environ.get(_SAFE_PATH)
        os.environ[_SAFE_PATH] = "1"
        try:
            yield
        finally:
            if before is None:
                del os.environ[_SAFE_PATH]
            else:
                os.environ[_SAFE_PATH] = before


class WorkerProcess:
    """A process that can be ended and started anew. Close it."""

    def __init__(self, serve: Serve, prefix: str) -> None:
        self._serve = serve
        self._lock = threading.Lock()
        self._process: SpawnProcess | None = None
        self._connection: Connection | None = None
        self._folder = tempfile.TemporaryDirectory(prefix=prefix)
        self._log = Path(self._folder.name) / "engine.log"

    @property
    def pid(self) -> int | None:
        """The process id, while there is a process."""
        return None if self._process is None else self._process.pid

    @property
    def connection(self) -> Connection | None:
        """This side of the pipe, while there is a process."""
        return self._connection

    def start(self, settings: Any) -> None:
        """Start the process."""
        self._log.write_bytes(b"")
        context = multiprocessing.get_context("spawn")
        ours, theirs = context.Pipe()
        process = context.Process(target=self._serve, args=(theirs, settings, str(self._log)), daemon=True)
        with _nothing_from_here():
            process.start()
        theirs.close()
        self._process, self._connection = process, ours

    def not_ready(self, answer: object, engine: str) -> ScanbuildError:
        """End a process whose first answer is not that it is ready, and say what hindered it."""
        self.stop()
        if isinstance(answer, Refused):
            return answer.error()
        message = f"the engine {engine} {answer} while it was started"
        return NoAdapterError(Problem(message=message, hint=self.last_words()))

    def crashed(self, answer: object) -> str:
        """End a process that did not answer a case, and tell what it said last."""
        self.stop()
        return "\n".join(filter(None, (f"the engine {answer} while it ran this case", self.last_words())))

    def stop(self) -> None:
        """End the process. It is not asked: it may hang, and it holds nothing worth saving.

        An interrupt ends a worker from another thread than the one that waits for it.
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

    def close(self) -> None:
        """End the process and remove its files."""
        self.stop()
        self._folder.cleanup()

    def last_words(self) -> str:
        """The last lines that native code printed."""
        lines = self._log.read_bytes()[-_LOG_BYTES:].decode("utf-8", "replace").splitlines()
        return "\n".join([line.strip() for line in lines if line.strip()][-_LOG_LINES:])


def settle_in(log: str) -> None:
    """What a worker does first: leave interrupts to its parent, and send to a file what native code prints."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    handle = os.open(log, os.O_WRONLY | os.O_APPEND)
    for descriptor in (1, 2):
        os.dup2(handle, descriptor)
    os.close(handle)
