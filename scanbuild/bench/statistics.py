"""Medians, percentiles, and how well a median is known. Nothing is assumed of how the samples are distributed."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

CONFIDENCE: Final = 0.95
"""With this probability the true median lies between ``low`` and ``high`` of a summary."""

_FEWEST: Final = 6
"""With fewer samples not even the smallest and the largest enclose the median with that probability."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Summary:
    """Samples in a few numbers, in the samples' unit. ``low`` and ``high`` bound the median (see CONFIDENCE)."""

    median: float
    p10: float
    p90: float
    low: float
    high: float
    count: int

    @property
    def uncertainty(self) -> float:
        """Half of the interval that holds the median, as a fraction of the median."""
        return (self.high - self.low) / 2 / self.median if self.median else math.inf

    def scaled(self, factor: float) -> "Summary":
        """The summary of all samples times a positive number."""
        return Summary(
            median=self.median * factor,
            p10=self.p10 * factor,
            p90=self.p90 * factor,
            low=self.low * factor,
            high=self.high * factor,
            count=self.count,
        )


def summarise(samples: Sequence[float]) -> Summary:
    """The summary of at least one sample."""
    ordered = sorted(samples)
    low, high = median_ranks(len(ordered))
    return Summary(
        median=quantile(ordered, 0.5),
        p10=quantile(ordered, 0.1),
        p90=quantile(ordered, 0.9),
        low=ordered[low],
        high=ordered[high],
        count=len(ordered),
    )


def quantile(ordered: Sequence[float], share: float) -> float:
    """The value below which a share of the sorted samples lies, linear between neighbours (NumPy's default)."""
    position = share * (len(ordered) - 1)
    below = math.floor(position)
    above = min(below + 1, len(ordered) - 1)
    # Written so that equal neighbours give exactly their value.
    return ordered[below] + (ordered[above] - ordered[below]) * (position - below)


def median_ranks(count: int, confidence: float = CONFIDENCE) -> tuple[int, int]:
    """Which two of ``count`` sorted samples enclose the true median with at least the confidence.

    The number of samples below the median is binomial with p = 1/2, whatever the distribution, so the r smallest and
    the r largest are left out with the largest r for which both tails together have at most 1 - confidence. With too
    few samples for that, all are enclosed.
    """
    tail, left_out = 0.0, 0
    allowed = (1 - confidence) / 2
    while left_out < (count - 1) // 2:
        tail += _half_binomial(count, left_out)
        if tail > allowed:
            break
        left_out += 1
    # Of the 1-based ranks r and n + 1 - r, the first is left_out here.
    low = max(left_out - 1, 0)
    return low, count - 1 - low


def is_settled(samples: Sequence[float], precision: float) -> bool:
    """Whether the median of the samples is known to within ``precision``, as a fraction of it."""
    return len(samples) >= _FEWEST and summarise(samples).uncertainty <= precision


def geometric_mean(ratios: Sequence[float]) -> float:
    """The mean of positive ratios that treats 2 and 1/2 as equally far from 1."""
    return math.exp(math.fsum(math.log(ratio) for ratio in ratios) / len(ratios))


def _half_binomial(count: int, successes: int) -> float:
    """The probability of so many heads in ``count`` throws of a coin."""
    logarithm = math.lgamma(count + 1) - math.lgamma(successes + 1) - math.lgamma(count - successes + 1)
    return math.exp(logarithm - count * math.log(2))
