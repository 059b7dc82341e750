"""What measuring asks of a timer, of a device here or elsewhere: memory that lasts, plans bound to it, and timed runs.

:mod:`scanbuild.gpu.timing` is the one of local engines, :mod:`scanbuild.gpu.browser.timing` that of browsers. What is
run how often, and what follows from the seconds, is decided by whoever asks.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Generic, Literal, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from scanbuild.planning.plan import Plan, TensorSpec

ClockSource = Literal["timestamps", "host"]

ALIGNMENT: Final = 256
"""Places of a tensor begin at multiples of this: no device asks for more."""

PROBES: Final = 24
"""Pairs of readings in one submission, when the step of a clock is looked for."""

MOST_RUNS: Final = 1024
"""Runs in one submission, at most."""

NANOSECOND: Final = 1e-9

Load = TypeVar("Load")
Load_co = TypeVar("Load_co", covariant=True)


@dataclass(frozen=True, kw_only=True, slots=True)
class Run(Generic[Load]):
    """So many calls one after another, after ``lead_in`` calls that are not timed."""

    load: Load
    times: int = 1
    lead_in: int = 0


class TimedMemory(Protocol[Load_co]):
    """Buffers for the calls that are compared with one another: places for every tensor, and scratches by size."""

    @property
    def slices(self) -> int:
        """How many places a tensor has; calls take turns on them."""

    def is_filled(self, spec: TensorSpec) -> bool:
        """Whether :meth:`fill` was called for a tensor of this name and size."""

    def fill(self, spec: TensorSpec, block: bytes) -> None:
        """Write a block of bytes, a multiple of 4, over and over into every place of a tensor.

        It goes to the device once, however large the tensor is. CallError if the device does not give the memory.
        """

    def load(self, plan: Plan, *, rotates: bool = True) -> Load_co:
        """A plan bound to this memory. ``rotates`` lets every call take the next slice; else all take the first.

        CallError if a shader does not compile or the device lacks memory.
        """

    def release(self) -> None:
        """Give the memory back, and forget the plans that were bound to it."""


class Timing(Protocol[Load]):
    """Measures runs."""

    @property
    def source(self) -> ClockSource:
        """By which clock: the device's, or that of the host, which is then the machine that the device belongs to."""

    @property
    def tick_s(self) -> float:
        """The resolution of that clock in seconds."""

    def memory(self, slices: int = 1) -> TimedMemory[Load]:
        """New memory with so many places for every tensor."""

    def measure(self, runs: Sequence[Run[Load]], before: Run[Load] | None = None) -> list[float]:
        """Seconds of each run. ``before`` is run first in the same submission, untimed, where the device has the clock.

        CallError if the engine refuses something or takes longer than its limit.
        """

    def is_alive(self) -> bool:
        """Whether the device still does what it is told: after a failure this tells a lost device from a bad shader."""


def clock_step(stamps: npt.NDArray[np.int64]) -> int:
    """The step in which a clock advances, from many readings of it; 0 if it does not."""
    return int(np.gcd.reduce(np.abs(np.diff(stamps))))
