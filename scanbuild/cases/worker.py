"""The process in which cases run.

Shaders come from packages that nobody here may have written. One can keep a compiler or a device busy for ever, and an
engine that meets something it does not expect may end its process. So cases run in a process of their own, which the
session ends and starts anew.
"""

import os
import signal
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from scanbuild.cases.casefile import Case, read_tests
from scanbuild.cases.oracle import Oracle, load_reference
from scanbuild.cases.origin import TESTS
from scanbuild.cases.run import CaseRunner
from scanbuild.errors import Problem, ScanbuildError
from scanbuild.gpu import EngineName, open_engine
from scanbuild.package.folder import open_folder
from scanbuild.package.text import decode
from scanbuild.planning.planner import Planner


@dataclass(frozen=True, kw_only=True, slots=True)
class WorkerSettings:
    """What a worker runs. ``folder`` is the built package; ``source`` the folder whose reference may be run, if any.

    ``limit_s`` bounds the seconds a case may take on the device.
    """

    folder: Path
    engine: EngineName = "wgpu"
    adapter: str | None = None
    source: Path | None = None
    limit_s: float = 30.0


@dataclass(frozen=True, kw_only=True, slots=True)
class Ready:
    """The worker can run cases. ``adapter`` is for reports, ``described`` for people."""

    adapter: dict[str, Any]
    described: str
    software: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class Refused:
    """The worker cannot run cases: the error to raise."""

    kind: type[ScanbuildError]
    problems: tuple[Problem, ...]


def serve(connection: Connection, settings: WorkerSettings, log: str) -> None:
    """Open the engine, say Ready or Refused, then answer the index of a case with its result, until None comes.

    Whatever the engine or a driver prints goes to the file ``log``.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _redirect_output(log)
    try:
        runner, cases, ready = _prepare(settings)
    except ScanbuildError as error:
        connection.send(Refused(kind=type(error), problems=error.problems))
        return
    connection.send(ready)
    while (index := connection.recv()) is not None:
        connection.send(runner.run(cases[index]))


def _prepare(settings: WorkerSettings) -> tuple[CaseRunner, tuple[Case, ...], Ready]:
    package = open_folder(settings.folder)
    tests = read_tests(decode((settings.folder / TESTS).read_bytes()), TESTS, foreign=True)
    reference = load_reference(settings.source) if settings.source is not None else None
    engine = open_engine(settings.engine, settings.adapter)
    engine.call_limit_s = settings.limit_s
    ready = Ready(adapter=engine.adapter.to_json(), described=engine.describe(), software=engine.software)
    oracle = Oracle(manifest=package.manifest, reference=reference)
    return CaseRunner(Planner(package), engine, oracle), tests.cases, ready


def _redirect_output(log: str) -> None:
    """Send what native code prints, which Python cannot catch, to a file."""
    handle = os.open(log, os.O_WRONLY | os.O_APPEND)
    for descriptor in (1, 2):
        os.dup2(handle, descriptor)
    os.close(handle)
