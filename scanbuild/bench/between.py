"""Comparing two saved reports: what became faster or slower from one package to another, and what is noise."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from scanbuild.bench.report import selected_entries
from scanbuild.bench.statistics import geometric_mean
from scanbuild.package.model import Json


@dataclass(frozen=True, kw_only=True, slots=True)
class Timed:
    """One case in both reports, by the variants that were selected. Times are the median microseconds of a call.

    ``ratio`` is the new time over the old one. ``low`` and ``high`` bound it by the spread of both: the new 10th
    percentile over the old 90th, and the reverse. Where the devices differ, times are taken relative to the copy
    that was timed beside each.
    """

    name: str
    old_us: float
    new_us: float
    ratio: float
    low: float
    high: float
    old_variant: str
    new_variant: str

    @property
    def verdict(self) -> str:
        """``faster`` or ``slower`` beyond noise, else ``noise``: the samples of the two overlap."""
        return "faster" if self.high < 1 else "slower" if self.low > 1 else "noise"

    def to_json(self) -> dict[str, Json]:
        """The case as ``schemas/diff-report.schema.json`` has it."""
        return {
            "name": self.name,
            "oldUs": self.old_us,
            "newUs": self.new_us,
            "ratio": float(f"{self.ratio:.4g}"),
            "low": float(f"{self.low:.4g}"),
            "high": float(f"{self.high:.4g}"),
            "verdict": self.verdict,
            "oldVariant": self.old_variant,
            "newVariant": self.new_variant,
        }


@dataclass(frozen=True, kw_only=True, slots=True)
class Between:
    """Two reports compared. ``relative`` tells that they are of different devices, drivers or engines."""

    cases: tuple[Timed, ...]
    only_old: tuple[str, ...]
    only_new: tuple[str, ...]
    old_device: str
    new_device: str
    relative: bool

    @property
    def mean(self) -> float | None:
        """The geometric mean of the ratios; None without cases."""
        return geometric_mean([item.ratio for item in self.cases]) if self.cases else None

    def count(self, verdict: str) -> int:
        """How many cases have a verdict."""
        return sum(item.verdict == verdict for item in self.cases)

    def to_json(self) -> dict[str, Json]:
        """The comparison as ``schemas/diff-report.schema.json`` has it."""
        return {
            "oldDevice": self.old_device,
            "newDevice": self.new_device,
            "relative": self.relative,
            "mean": None if self.mean is None else float(f"{self.mean:.4g}"),
            "cases": [item.to_json() for item in self.cases],
            "onlyOld": list(self.only_old),
            "onlyNew": list(self.only_new),
        }


def between(old: Mapping[str, Any], new: Mapping[str, Any]) -> Between:
    """Compare two reports in JSON by the names of their cases. A case that was timed as 0 in either is left out."""
    before, after = selected_entries(old["cases"]), selected_entries(new["cases"])
    relative = _device(old) != _device(new)
    names = [name for name in before if name in after and _is_timed(before[name]) and _is_timed(after[name])]
    return Between(
        cases=tuple(_timed(name, before[name], after[name], relative=relative) for name in names),
        only_old=_missing(before, names),
        only_new=_missing(after, names),
        old_device=_device(old),
        new_device=_device(new),
        relative=relative,
    )


def _timed(name: str, old: Mapping[str, Any], new: Mapping[str, Any], *, relative: bool) -> Timed:
    scale = 1.0
    if relative:
        # The fraction of the copy stands for the time, where times of two devices say nothing.
        scale = old["fractionOfCopy"] / new["fractionOfCopy"] / (new["medianUs"] / old["medianUs"])
    return Timed(
        name=name,
        old_us=old["medianUs"],
        new_us=new["medianUs"],
        ratio=new["medianUs"] / old["medianUs"] * scale,
        low=new["p10Us"] / old["p90Us"] * scale,
        high=new["p90Us"] / old["p10Us"] * scale,
        old_variant=old["variant"],
        new_variant=new["variant"],
    )


def _is_timed(entry: Mapping[str, Any]) -> bool:
    return all(entry[name] > 0 for name in ("medianUs", "p10Us", "p90Us", "fractionOfCopy"))


def _missing(entries: Mapping[str, Any], names: Sequence[str]) -> tuple[str, ...]:
    return tuple(name for name in entries if name not in names)


def _device(report: Mapping[str, Any]) -> str:
    driver = report["adapter"]["driver"]
    return f"{report['adapter']['name']}{f' ({driver})' if driver else ''} through {report['engine']}"
