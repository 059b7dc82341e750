"""How often things are run: calibration, warm-up, and rounds until the medians are known well enough."""

import math
import random
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Generic, Protocol, TypeVar

from scanbuild.bench.statistics import is_settled

Load = TypeVar("Load")
Asked_contra = TypeVar("Asked_contra", contravariant=True)

MOST_TIMES: Final = 4096
"""Calls in one timed interval, at most."""

_TICKS: Final = 100
"""An interval is so many steps of the clock long, or the clock would show in the figures."""

_DEVICE_INTERVAL_S: Final = 100e-6
"""An interval by the device's clock: what reading the clock takes is small against it."""

_HOST_INTERVAL_S: Final = 20e-3
"""The same by the host's clock, against what a submission takes."""

_GROWTH: Final = 32


@dataclass(frozen=True, kw_only=True, slots=True)
class Entrant(Generic[Load]):
    """One of the things that are measured together. ``lead_in`` calls are made before each interval, untimed.

    ``decides`` tells that sampling goes on until its median is known.
    """

    name: str
    load: Load
    lead_in: int = 0
    decides: bool = True


@dataclass(frozen=True, kw_only=True, slots=True)
class Settings:
    """When there are samples enough: the medians are known to within ``precision`` (a fraction) after at least
    ``least`` rounds, or there have been ``most`` rounds, or ``budget_s`` seconds are spent and ``few`` rounds done."""

    precision: float = 0.01
    least: int = 15
    most: int = 200
    few: int = 5
    budget_s: float = 3.0
    warm_up_s: float = 0.1


@dataclass(frozen=True, kw_only=True, slots=True)
class Samples:
    """Seconds of one call, a sample a round, by entrant; ``times`` are the calls in an interval of each."""

    seconds: Mapping[str, tuple[float, ...]]
    times: Mapping[str, int]

    def ratios(self, name: str, other: str) -> list[float]:
        """One entrant's time over another's, round by round."""
        pairs = zip(self.seconds[name], self.seconds[other], strict=True)
        return [mine / theirs for mine, theirs in pairs if theirs > 0]


class Meter(Protocol[Asked_contra]):
    """What measures: the seconds of each (load, calls, calls before them), run in this order."""

    @property
    def tick_s(self) -> float:
        """The resolution of its clock."""

    @property
    def by_host(self) -> bool:
        """Whether the clock is the host's."""

    def measure(self, runs: Sequence[tuple[Asked_contra, int, int]]) -> list[float]:
        """The seconds of each run as a whole."""


def sample(
    meter: Meter[Load],
    entrants: Sequence[Entrant[Load]],
    settings: Settings,
    now: Callable[[], float] = time.monotonic,
) -> Samples:
    """Measure the entrants beside one another.

    Each round begins with another entrant, so that none is always the first after a pause of the device.
    """
    start = now()
    times = {item.name: calibrate(meter, item) for item in entrants}
    warm_until = now() + settings.warm_up_s
    while now() < warm_until:
        _round(meter, entrants, times)
    dither = random.Random(0)
    seconds: dict[str, list[float]] = {item.name: [] for item in entrants}
    deciding = [item.name for item in entrants if item.decides]
    for number in range(settings.most):
        shift = number % len(entrants)
        order = [*entrants[shift:], *entrants[:shift]]
        for item, taken in zip(order, _round(meter, order, times), strict=True):
            # The clock shows the beginning of a step, and the time may be anywhere in it: equal readings are not equal
            # times. Without this a coarse clock would make a median look known exactly.
            spread = (dither.random() - 0.5) * meter.tick_s
            seconds[item.name].append(max(taken + spread, 0.0) / times[item.name])
        done = number + 1
        if done >= settings.few and now() - start > settings.budget_s:
            break
        if done >= settings.least and all(is_settled(seconds[name], settings.precision) for name in deciding):
            break
    return Samples(seconds={name: tuple(found) for name, found in seconds.items()}, times=times)


def calibrate(meter: Meter[Load], entrant: Entrant[Load]) -> int:
    """How many calls make an interval that is long enough for the meter's clock."""
    wanted = max(_TICKS * meter.tick_s, _HOST_INTERVAL_S if meter.by_host else _DEVICE_INTERVAL_S)
    times = 1
    while True:
        taken = meter.measure([(entrant.load, times, entrant.lead_in)])[0]
        if taken >= wanted or times >= MOST_TIMES:
            return times
        needed = math.ceil(times * wanted / taken) if taken > 0 else times * _GROWTH
        times = min(max(needed, times + 1), times * _GROWTH, MOST_TIMES)


def _round(meter: Meter[Load], entrants: Sequence[Entrant[Load]], times: Mapping[str, int]) -> list[float]:
    return meter.measure([(item.load, times[item.name], item.lead_in) for item in entrants])
