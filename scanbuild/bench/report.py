"""What was measured, as plain data, and as JSON (``schemas/bench-report.schema.json``)."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from scanbuild.bench.statistics import Summary
from scanbuild.package.model import Json

Status = Literal["measured", "skipped", "refused", "failed", "missing"]
"""``skipped`` is beyond this device; ``refused`` is taken by no variant; ``missing`` was not reached."""

MICROSECONDS: Final = 1e6
DIFFERENCE: Final = 0.05
"""Medians with the data in a cache and out of it count as different from this fraction on."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Figures:
    """Seconds of a call, and its speed as a fraction of the copy's, by rounds. ``times`` calls made a sample."""

    time: Summary
    fraction: Summary
    times: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Measured:
    """One variant of one package on one case.

    ``package`` is 0 for the package that was asked for and 1 for the one it is compared with. ``ratio`` is this one's
    time over that of the case's first entry, by rounds. ``cached`` are the figures with the data in a cache, where they
    would fit in one.
    """

    package: int
    variant: str
    selected: bool
    launches: int
    figures: Figures
    cached: Figures | None = None
    ratio: Summary | None = None
    tunables: Mapping[str, Json] = field(default_factory=dict)

    @property
    def relative(self) -> float:
        """The median of its ratio; 1 for the case's first entry."""
        return self.ratio.median if self.ratio is not None else 1.0

    @property
    def cache_differs(self) -> bool:
        """Whether it matters if the data are in a cache."""
        if self.cached is None:
            return False
        median = self.figures.time.median
        return abs(self.cached.time.median - median) > DIFFERENCE * median


@dataclass(frozen=True, kw_only=True, slots=True)
class Roofline:
    """What was measured beside a case: a copy that moves as much (``cached`` likewise), and an empty dispatch."""

    copy: Summary
    empty: Summary
    cached: Summary | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Outcome:
    """What became of one case. ``not_taken`` says why variants that were asked for were not measured.

    ``tuned`` are the tunables that make a difference, where values of them were tried. ``lost`` tells that the device
    cannot be used any more.
    """

    name: str
    group: str = ""
    status: Status = "measured"
    message: str = ""
    bytes_moved: float = 0
    entries: tuple[Measured, ...] = ()
    roofline: Roofline | None = None
    slices: int = 1
    not_taken: tuple[tuple[str, str], ...] = ()
    tuned: tuple[str, ...] = ()
    lost: bool = False

    def rate(self, time: Summary) -> float:
        """Bytes a second at the median."""
        return self.bytes_moved / time.median if time.median else 0.0

    @property
    def chosen(self) -> Measured | None:
        """The variant that selection picks, if it was measured."""
        return next((item for item in self.entries if item.selected and item.package == 0), None)

    @property
    def rival(self) -> Measured | None:
        """What the other package selects, if it was measured."""
        return next((item for item in self.entries if item.package == 1), None)

    @property
    def own_variants(self) -> list[Measured]:
        """The variants of the package itself, with its own tunables."""
        return [item for item in self.entries if item.package == 0 and not item.tunables]

    @property
    def fastest(self) -> Measured | None:
        """The fastest of them, by rounds beside the selected one."""
        return min(self.own_variants, key=lambda item: item.relative, default=None)


@dataclass(frozen=True, kw_only=True, slots=True)
class Clock:
    """What the times were taken with; ``tick_s`` is the resolution."""

    source: Literal["timestamps", "host"]
    tick_s: float


@dataclass(frozen=True, kw_only=True, slots=True)
class BenchReport:
    """All outcomes of a run, in the order of the cases."""

    packages: tuple[str, ...]
    engine: str
    adapter: Mapping[str, Any]
    clock: Clock
    outcomes: tuple[Outcome, ...]

    @property
    def measured(self) -> list[Outcome]:
        """The cases that have figures."""
        return [item for item in self.outcomes if item.status == "measured"]

    @property
    def copy_rate(self) -> float:
        """Bytes a second of the copy beside the largest case: the roofline of this device."""
        largest = max(self.measured, key=lambda item: item.bytes_moved, default=None)
        return largest.rate(largest.roofline.copy) if largest is not None and largest.roofline is not None else 0.0

    def to_json(self) -> dict[str, Any]:
        """The report as JSON."""
        return {
            "package": self.packages[0],
            **({"vs": self.packages[1]} if len(self.packages) > 1 else {}),
            "engine": self.engine,
            "adapter": dict(self.adapter),
            "clock": {"source": self.clock.source, "resolutionUs": _micro(self.clock.tick_s)},
            "copyGBps": _giga(self.copy_rate),
            "cases": [entry for item in self.outcomes for entry in _entries(item)],
            "notMeasured": [
                {"name": item.name, "status": item.status, "message": item.message}
                for item in self.outcomes
                if item.status != "measured"
            ],
        }


def selected_entries(cases: Sequence[Mapping[str, Any]]) -> dict[str, Mapping[str, Any]]:
    """Of the cases of a report in JSON, the entry of the package's selected variant, by case name."""
    return {item["name"]: item for item in cases if item.get("selected", True) and not item.get("vs", False)}


def setting_text(tunables: Mapping[str, Json]) -> str:
    """Values of tunables in a line: ``lanes=32, rowGroups=8``."""
    return ", ".join(f"{name}={json.dumps(value)}" for name, value in sorted(tunables.items()))


def _entries(outcome: Outcome) -> list[dict[str, Any]]:
    return [_entry(outcome, item) for item in outcome.entries]


def _entry(outcome: Outcome, item: Measured) -> dict[str, Any]:
    entry: dict[str, Any] = {"name": outcome.name, "variant": item.variant, **_figures(outcome, item.figures)}
    entry |= {"kernelLaunches": item.launches, "bytesMoved": outcome.bytes_moved, "selected": item.selected}
    if outcome.group:
        entry["group"] = outcome.group
    if outcome.roofline is not None:
        entry["copyUs"] = _micro(outcome.roofline.copy.median)
        entry["emptyUs"] = _micro(outcome.roofline.empty.median)
    if item.package:
        entry["vs"] = True
    if item.ratio is not None:
        entry["ratio"] = {"median": item.ratio.median, "p10": item.ratio.p10, "p90": item.ratio.p90}
    if item.cached is not None:
        entry["cached"] = _figures(outcome, item.cached)
    if item.tunables:
        entry["tunables"] = dict(item.tunables)
    return entry


def _figures(outcome: Outcome, figures: Figures) -> dict[str, Any]:
    time = figures.time
    return {
        "medianUs": _micro(time.median),
        "p10Us": _micro(time.p10),
        "p90Us": _micro(time.p90),
        "medianLowUs": _micro(time.low),
        "medianHighUs": _micro(time.high),
        "samples": time.count,
        "callsPerSample": figures.times,
        "GBps": _giga(outcome.rate(time)),
        "fractionOfCopy": float(f"{figures.fraction.median:.4g}"),
    }


def _micro(seconds: float) -> float:
    return float(f"{seconds * MICROSECONDS:.6g}")


def _giga(rate: float) -> float:
    return float(f"{rate / 1e9:.6g}")
