"""Medians, and how well they are known."""

import math
import random
from statistics import median

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scanbuild.bench.statistics import geometric_mean, is_settled, median_ranks, quantile, summarise

TIMES = st.lists(st.floats(min_value=1e-9, max_value=1e3), min_size=1, max_size=60)


@given(TIMES)
def test_quantiles_are_those_of_numpy(times):
    ordered = sorted(times)
    for share in (0.0, 0.1, 0.5, 0.9, 1.0):
        assert quantile(ordered, share) == pytest.approx(np.quantile(ordered, share), rel=1e-9)


@given(TIMES)
def test_a_summary_is_in_order_whatever_the_samples(times):
    found = summarise(times)
    assert min(times) <= found.p10 <= found.median <= found.p90 <= max(times)
    assert found.low <= found.median <= found.high
    assert found.median == pytest.approx(median(times))
    assert found.count == len(times)
    assert found.uncertainty >= 0


@given(TIMES, st.floats(min_value=1e-3, max_value=1e3))
def test_a_scaled_summary_is_that_of_scaled_samples(times, factor):
    scaled, direct = summarise(times).scaled(factor), summarise([factor * item for item in times])
    for name in ("median", "p10", "p90", "low", "high"):
        assert getattr(scaled, name) == pytest.approx(getattr(direct, name))


@pytest.mark.parametrize(
    ("count", "ranks"),
    # The published tables of the sign test, as 0-based ranks.
    [(6, (0, 5)), (8, (0, 7)), (9, (1, 7)), (12, (2, 9)), (15, (3, 11)), (20, (5, 14)), (30, (9, 20)), (50, (17, 32))],
)
def test_the_ranks_around_the_median_are_those_of_the_sign_test(count, ranks):
    assert median_ranks(count) == ranks


@given(st.integers(min_value=6, max_value=400))
def test_the_ranks_hold_the_median_with_the_confidence_and_no_tighter_ones_do(count):
    low, high = median_ranks(count)

    def coverage(left_out: int) -> float:
        return 1 - 2 * float(sum(math.comb(count, below) for below in range(left_out + 1)) / 2**count)

    assert high == count - 1 - low
    assert coverage(low) >= 0.95
    assert coverage(low + 1) < 0.95


def test_the_interval_holds_the_median_of_skewed_times_as_often_as_it_says():
    generator = random.Random(7)
    held = 0
    for _ in range(400):
        found = summarise([generator.expovariate(1) for _ in range(25)])
        held += found.low <= math.log(2) <= found.high
    assert held >= 0.93 * 400


def test_equal_samples_are_settled_once_there_are_enough():
    assert not is_settled([2.0] * 5, 0.01)
    assert is_settled([2.0] * 6, 0.01)
    assert not is_settled([1.0, 2.0] * 10, 0.01)


def test_the_geometric_mean_takes_a_half_and_a_double_for_equals():
    assert geometric_mean([0.5, 2.0]) == pytest.approx(1)
    assert geometric_mean([4.0, 1.0]) == pytest.approx(2)
