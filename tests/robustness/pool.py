"""Runs seeds in worker processes, and replaces one that hangs or dies."""

import json
import os
import select
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import chain
from pathlib import Path
from typing import Any

WATCHDOG_S = 60
"""How long a worker may take for one package by the clock; the limit of 2 s is on its own time, which it measures."""

START_S = 120


class Worker:
    """One worker process."""

    def __init__(self) -> None:
        self.home = tempfile.TemporaryDirectory(prefix="scanbuild-robustness-")
        self.log = Path(self.home.name, "stderr").open("w+", errors="replace")  # noqa: SIM115 - close() closes it
        # One arena, or else every thread reserves address space that counts against the limit.
        environment = {**os.environ, "MALLOC_ARENA_MAX": "1", "OPENBLAS_NUM_THREADS": "1"}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.robustness.worker", self.home.name],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.log,
            cwd=Path(__file__).resolve().parents[2],
            env=environment,
        )
        self.buffer = b""
        if self._line(START_S) is None:
            raise RuntimeError(f"the worker does not start:\n{self._said()}")

    def ask(self, seed: int | str) -> dict[str, Any]:
        """The verdict on a seed, or on a trouble by name; a fault in words where the worker hangs or dies."""
        assert self.process.stdin is not None
        self.log.seek(0)
        self.log.truncate()
        self.process.stdin.write(f"{seed}\n".encode())
        self.process.stdin.flush()
        line = self._line(WATCHDOG_S)
        if line is None:
            ended = self.process.poll()
            what = f"hangs for {WATCHDOG_S} s" if ended is None else f"ends the process with status {ended}"
            return {"seed": seed, "faults": [f"{what}\n{self._said()}"], "statuses": {}, "seconds": {}, "dead": True}
        answer: dict[str, Any] = json.loads(line)
        return answer

    def close(self) -> None:
        """End the process and remove its files."""
        self.process.kill()
        self.process.wait()
        self.log.close()
        self.home.cleanup()

    def _said(self) -> str:
        self.log.flush()
        self.log.seek(0)
        return self.log.read()[-4000:]

    def _line(self, seconds: float) -> bytes | None:
        """The next line of answers; None if it does not come in time."""
        assert self.process.stdout is not None
        while b"\n" not in self.buffer:
            ready, _, _ = select.select([self.process.stdout], [], [], seconds)
            piece = os.read(self.process.stdout.fileno(), 2**16) if ready else b""
            if not piece:
                return None
            self.buffer += piece
        line, _, self.buffer = self.buffer.partition(b"\n")
        return line


def run(seeds: Iterable[int], workers: int = 1) -> list[dict[str, Any]]:
    """The verdicts on all seeds, in any order."""
    pending = iter(seeds)
    with ThreadPoolExecutor(workers) as pool:
        return list(chain.from_iterable(pool.map(lambda _: list(_served(pending)), range(workers))))


def _served(seeds: Iterator[int]) -> Iterator[dict[str, Any]]:
    worker: Worker | None = None
    try:
        for seed in seeds:
            worker = worker or Worker()
            verdict = worker.ask(seed)
            if not verdict.get("dead") and any("took" in fault for fault in verdict["faults"]):
                verdict = worker.ask(seed)  # something else may have held the machine up
            if verdict.get("dead"):
                worker.close()
                worker = None
            yield verdict
    finally:
        if worker is not None:
            worker.close()
