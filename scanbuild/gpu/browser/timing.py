"""How long plans take on a device in a browser: the page runs what it is told, and says how long it took.

The memory, and where everything lies in it, is laid out here, as :mod:`scanbuild.gpu.timing` does for local engines.
The page holds it, and the plans that are bound to it, under numbers: a round is a short message, whatever it measures.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from scanbuild.errors import CallError
from scanbuild.gpu.browser.engine import BrowserEngine
from scanbuild.gpu.browser.messages import Message
from scanbuild.gpu.clock import ALIGNMENT, MOST_RUNS, NANOSECOND, PROBES, ClockSource, Run, clock_step
from scanbuild.gpu.interface import BindingJob, BufferJob, DispatchJob, Job, Write
from scanbuild.planning.plan import BindingPlan, PassPlan, Plan, TensorSpec

_READINGS: Final = 3
_STAMP_BYTES: Final = 8
_MOST_SECONDS: Final = 1e9

Key = tuple[str, str | int | bytes, int]
"""What a buffer is for: "tensor", "scratch" or "uniform"; its name, number or content; its size."""


@dataclass(frozen=True, kw_only=True, slots=True)
class BrowserLoad:
    """A plan bound to memory, by the number under which the page knows it."""

    number: int


class BrowserTimer:
    """Measures runs in a page; see :class:`scanbuild.gpu.clock.Timing`.

    A device without timestamps, or with ``timestamps`` false, is timed by the page's clock, from a submission until
    the device has ended its work.
    """

    def __init__(self, engine: BrowserEngine, *, timestamps: bool = True) -> None:
        self.engine = engine
        self.source: ClockSource = "timestamps"
        self.tick_s = 0.0
        self._count = 0
        if timestamps and "timestamp-query" in engine.record.features:
            self.tick_s = self._resolution()
        if not self.tick_s:
            self.source = "host"
            self.tick_s = self._numbers(self.engine.ask("clock", {"probes": 0}), "step", 1)[0]

    def memory(self, slices: int = 1) -> "BrowserMemory":
        """New memory with so many places for every tensor."""
        return BrowserMemory(self, slices)

    def measure(self, runs: Sequence[Run[BrowserLoad]], before: Run[BrowserLoad] | None = None) -> list[float]:
        """Seconds of each run; see the protocol."""
        by_device = self.source == "timestamps"
        body: dict[str, Any] = {"timestamps": by_device}
        if before is not None and by_device:
            body["before"] = [before.load.number, before.times]
        seconds: list[float] = []
        for first in range(0, len(runs), MOST_RUNS):
            some = runs[first : first + MOST_RUNS]
            asked = [[run.load.number, run.times, run.lead_in] for run in some]
            seconds += self._numbers(self.engine.ask("time", {**body, "runs": asked}), "seconds", len(some))
        return seconds

    def is_alive(self) -> bool:
        """Whether the page is there, and its device ends what it was given."""
        try:
            self.engine.ask("time", {"timestamps": False, "runs": []})
        except CallError:
            return False
        return True

    def number(self) -> int:
        """A number that nothing in the page has yet."""
        self._count += 1
        return self._count

    def _resolution(self) -> float:
        """The step in which the device's clock advances; 0 if it does not, or cannot be read."""
        size = _READINGS * PROBES * 2 * _STAMP_BYTES
        try:
            answer = self.engine.ask("clock", {"probes": PROBES, "readings": _READINGS}, wanted=size)
        except CallError:
            if self.engine.lost:
                raise
            return 0.0
        if [len(data) for data in answer.contents] != [size]:
            raise self.engine.give_up("the page sent other readings of its clock than it was asked for")
        return clock_step(np.frombuffer(answer.contents[0], "<u8").astype(np.int64)) * NANOSECOND

    def _numbers(self, answer: Message, name: str, count: int) -> list[float]:
        """So many numbers of an answer. The page is given up if it sends anything else."""
        found = answer.body.get(name)
        if isinstance(found, list) and len(found) == count and all(map(_is_time, found)):
            return [float(item) for item in found]
        raise self.engine.give_up(f"the page sent back no {name} that it was asked for")


class BrowserMemory:
    """Buffers in a page, known by their place in the order in which they were made."""

    def __init__(self, timer: BrowserTimer, slices: int) -> None:
        self.slices = slices
        self._timer = timer
        self._engine = timer.engine
        self._number = timer.number()
        self._places: dict[Key, int] = {}
        self._filled: set[tuple[str, int]] = set()

    def is_filled(self, spec: TensorSpec) -> bool:
        """Whether :meth:`fill` was called for a tensor of this name and size."""
        return (spec.name, spec.size) in self._filled

    def fill(self, spec: TensorSpec, block: bytes) -> None:
        """Send a block, which the page copies over and over into every place of a tensor."""
        key: Key = ("tensor", spec.name, spec.size)
        self._reserve([key])
        source = BufferJob(name=f"filling tensor {spec.name}", size=len(block), writes=(Write(offset=0, data=block),))
        target = {"buffer": self._places[key], "size": spec.size, "stride": self._stride(key), "slices": self.slices}
        self._engine.ask("fill", {"memory": self._number, **target}, Job(buffers=(source,), dispatches=(), reads=()))
        self._filled.add((spec.name, spec.size))

    def load(self, plan: Plan, *, rotates: bool = True) -> BrowserLoad:
        """Bind a plan to this memory; see the protocol."""
        numbers = {name: index for index, name in enumerate(plan.scratches)}
        specs = {**plan.inputs, **plan.outputs}
        scratches: list[Key] = [("scratch", numbers[name], item.size) for name, item in plan.scratches.items()]

        def key_of(binding: BindingPlan) -> Key:
            if binding.source == "tensor":
                return ("tensor", binding.ref, specs[binding.ref].size)
            if binding.source == "scratch":
                return ("scratch", numbers[binding.ref], plan.scratches[binding.ref].size)
            return ("uniform", binding.data, len(binding.data))

        keys = [[key_of(binding) for binding in item.bindings] for item in plan.passes]
        self._reserve([*scratches, *(key for some in keys for key in some)])
        made = BrowserLoad(number=self._timer.number())
        body = {
            "memory": self._number,
            "load": made.number,
            "clears": [self._places[key] for key in scratches],
            "strides": [[self._stride(key) for key in some] for some in keys],
            "slices": self.slices if rotates else 1,
        }
        dispatches = tuple(self._dispatch(item, some) for item, some in zip(plan.passes, keys, strict=True))
        self._engine.ask("load", body, Job(buffers=(), dispatches=dispatches, reads=()))
        return made

    def release(self) -> None:
        """Let the page destroy the buffers. A page that is gone has none any more."""
        self._places.clear()
        self._filled.clear()
        if not self._engine.lost:
            try:
                self._engine.ask("release", {"memory": self._number})
            except CallError:
                # Whatever is asked of the device next meets the same.
                return

    def _reserve(self, keys: Iterable[Key]) -> None:
        """Have those buffers made that are not there yet: all of them, or none."""
        new = [key for key in dict.fromkeys(keys) if key not in self._places]
        if not new:
            return
        job = Job(buffers=tuple(self._buffer(key) for key in new), dispatches=(), reads=())
        self._engine.ask("reserve", {"memory": self._number}, job)
        for key in new:
            self._places[key] = len(self._places)

    def _buffer(self, key: Key) -> BufferJob:
        kind, what, size = key
        if isinstance(what, bytes):
            return BufferJob(name="a uniform", size=size, uniform=True, writes=(Write(offset=0, data=what),))
        return BufferJob(name=f"{kind} {what}", size=self._stride(key) * (self.slices - 1) + size)

    def _stride(self, key: Key) -> int:
        """Bytes from one place to the next; 0 where there is only one."""
        kind, _, size = key
        return -(-size // ALIGNMENT) * ALIGNMENT if kind == "tensor" else 0

    def _dispatch(self, item: PassPlan, keys: Sequence[Key]) -> DispatchJob:
        bindings = tuple(
            BindingJob(buffer=self._places[key], offset=0, size=binding.size, access=binding.access)
            for binding, key in zip(item.bindings, keys, strict=True)
        )
        return DispatchJob(
            id=item.id,
            label=item.label,
            wgsl=item.wgsl,
            bindings=bindings,
            grid=item.grid,
            submit_after=item.submit_after,
            template=item.template,
        )


def _is_time(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= _MOST_SECONDS
