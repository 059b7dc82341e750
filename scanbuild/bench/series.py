"""A report as lines of a chart: speed against size, one line a variant, and the copy as roofline."""

import itertools
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from statistics import median

from scanbuild.bench.report import BenchReport, Measured, Outcome, setting_text
from scanbuild.bench.statistics import Summary


@dataclass(frozen=True, kw_only=True, slots=True)
class Point:
    """One case: bytes moved a call, and its speed; ``words`` say all of it."""

    size: float
    value: float
    words: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Series:
    """The points of one variant, in the order of sizes."""

    name: str
    points: tuple[Point, ...]
    is_roofline: bool = False

    @property
    def line(self) -> list[tuple[float, float]]:
        """Size and speed, a vertex for every half of a power of two: medians, since shapes of one size differ."""
        steps: dict[int, list[Point]] = {}
        for point in self.points:
            steps.setdefault(round(2 * math.log2(max(point.size, 1))), []).append(point)
        return [
            (median(point.size for point in points), median(point.value for point in points))
            for _, points in sorted(steps.items())
        ]


def rates_of(report: BenchReport) -> list[Series]:
    """Throughput in GB/s: the roofline first, then the variants in the order in which they occur."""
    return _series(report, lambda outcome, time, _: outcome.rate(time) / 1e9)


def shares_of(report: BenchReport) -> list[Series]:
    """The same as fractions of the copy, which is 1."""
    return _series(report, lambda _outcome, _time, share: share)


def _series(report: BenchReport, value: Callable[[Outcome, Summary, float], float]) -> list[Series]:
    found: dict[str, list[Point]] = {}
    copies = []
    for outcome in report.measured:
        assert outcome.roofline is not None
        size, copy = outcome.bytes_moved, outcome.roofline.copy
        words = f"copy beside {outcome.name}: {rate_text(outcome.rate(copy))}"
        copies.append(Point(size=size, value=value(outcome, copy, 1.0), words=words))
        for item in outcome.entries:
            time, share = item.figures.time, item.figures.fraction.median
            words = f"{outcome.name}, {label(item)}: {rate_text(outcome.rate(time))}, {share:.0%} of the copy"
            point = Point(size=size, value=value(outcome, time, share), words=words)
            found.setdefault(label(item), []).append(point)
    lines = [Series(name=name, points=_sorted(points)) for name, points in found.items()]
    return [Series(name="copy (roofline)", points=_sorted(copies), is_roofline=True), *lines]


def label(item: Measured) -> str:
    """What a line is called."""
    values = setting_text(item.tunables)
    return ("other: " if item.package else "") + item.variant + (f" ({values})" if values else "")


def rate_text(rate: float) -> str:
    """Bytes a second in words."""
    return f"{rate / 1e9:.4g} GB/s"


def size_text(size: float) -> str:
    """An amount of bytes: ``64 MiB``."""
    units = ("B", "KiB", "MiB", "GiB", "TiB")
    step = min(max(int(math.log2(max(size, 1)) // 10), 0), len(units) - 1)
    return f"{size / 1024**step:.4g} {units[step]}"


def size_range(sizes: Iterable[float]) -> tuple[float, float]:
    """The powers of two around some sizes; never the same twice."""
    known = [max(size, 1.0) for size in sizes]
    first, last = math.floor(math.log2(min(known))), math.ceil(math.log2(max(known)))
    return 2.0**first, 2.0 ** max(last, first + 1)


def size_ticks(low: float, high: float, most: int = 8) -> list[float]:
    """At most so many powers of two in a range, evenly spaced on its logarithmic axis; at least one."""
    first, last = math.ceil(math.log2(low)), math.floor(math.log2(high))
    for step in itertools.count(1):
        start = first + -first % step
        powers = range(start, last + 1, step)
        if len(powers) <= max(most, 1):
            return [2.0**power for power in powers or range(first, first + 1)]
    raise AssertionError("the steps never end")


def value_ticks(high: float, most: int = 6) -> list[float]:
    """Round numbers from 0 to at least the highest rate."""
    raw = max(high, 1e-12) / most
    magnitude = 10.0 ** math.floor(math.log10(raw))
    step = next(factor * magnitude for factor in (1, 2, 2.5, 5, 10) if factor * magnitude >= raw)
    return [step * index for index in range(math.ceil(high / step - 1e-9) + 1)]


def _sorted(points: Sequence[Point]) -> tuple[Point, ...]:
    return tuple(sorted(points, key=lambda point: point.size))
