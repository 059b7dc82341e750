"""When a value passes, and how far apart values are."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scanbuild.cases.compare import compare

F32 = np.float32


def floats(*values: float) -> np.ndarray:
    return np.array(values, dtype=np.float64)


def test_the_tolerance_is_relative_above_one_and_absolute_below():
    assert compare(floats(1000.9).astype(F32), floats(1000), "float32", 1e-3).passed
    assert not compare(floats(1001.1).astype(F32), floats(1000), "float32", 1e-3).passed
    assert compare(floats(0.0009).astype(F32), floats(0), "float32", 1e-3).passed
    assert not compare(floats(0.0011).astype(F32), floats(0), "float32", 1e-3).passed


def test_a_tolerance_of_zero_wants_equal_numbers_and_takes_either_zero():
    assert compare(floats(-0.0, 3).astype(F32), floats(0, 3), "float32", 0).passed
    one_off = np.nextafter(F32(3), F32(4))
    result = compare(np.array([one_off]), floats(3), "float32", 0)
    assert not result.passed
    assert result.max_ulp == 1
    assert result.max_abs_error == pytest.approx(2**-22)


@pytest.mark.parametrize(
    ("got", "want", "allow_nan", "passed"),
    [
        (math.inf, math.inf, True, True),
        (-math.inf, math.inf, True, False),
        (3e38, math.inf, True, False),
        (math.inf, 3e38, True, False),
        (math.nan, math.nan, True, True),
        (math.nan, math.nan, False, False),
        (math.nan, 1.0, True, False),
        (1.0, math.nan, True, False),
        (math.inf, math.nan, True, False),
        (math.inf, 1e39, True, True),
        (3.4028234e38, 3.4028236e38, True, True),
    ],
)
def test_values_that_are_not_finite(got: float, want: float, allow_nan: bool, passed: bool):
    assert compare(floats(got).astype(F32), floats(want), "float32", 1e-6, allow_nan).passed is passed


def test_a_failure_names_the_first_element_and_how_many_there_are():
    result = compare(floats(1, 2, 9, 9).astype(F32), floats(1, 2, 3, 4), "float32", 0)
    assert result.message.startswith("2 of 4 elements differ; the first is element 2: got 9.0, expected 3.0")


def test_shapes_have_to_agree():
    assert "expected [2, 3]" in compare(np.zeros((3, 2), F32), np.zeros((2, 3)), "float32").message


def test_float16_steps_are_its_own():
    got = np.array([np.nextafter(np.float16(1), np.float16(2))])
    assert compare(got, floats(1), "float16", 1).max_ulp == 1


def test_integers_are_compared_exactly_at_any_width():
    big = np.array([2**63 - 1, -(2**63)], dtype=np.int64)
    assert compare(big, big.copy(), "int64").passed
    result = compare(big, big[::-1].copy(), "int64")
    assert not result.passed
    assert result.max_abs_error == 2.0**64
    assert compare(np.array([2**53 + 1]), np.array([2**53]), "int64").max_abs_error == 1


def test_integers_may_be_given_a_tolerance():
    assert compare(np.array([12], np.int32), np.array([10]), "int32", 0.2).passed
    assert not compare(np.array([13], np.int32), np.array([10]), "int32", 0.2).passed


def test_an_expected_fraction_is_met_by_no_integer():
    assert not compare(np.array([2], np.int32), floats(2.5), "int32").passed
    assert compare(np.array([2], np.int32), floats(2.0), "int32").passed


def test_empty_tensors_pass_with_nothing_to_measure():
    result = compare(np.zeros((0, 3), F32), np.zeros((0, 3)), "float32", 0)
    assert (result.passed, result.max_abs_error, result.max_ulp) == (True, None, None)


@given(st.floats(width=32, allow_nan=False, allow_infinity=False), st.integers(0, 50))
def test_ulps_count_the_steps_between_two_floats(start: float, steps: int):
    value = F32(start)
    for _ in range(steps):
        value = np.nextafter(value, F32(math.inf))
    result = compare(np.array([value]), floats(float(F32(start))), "float32", 0)
    if np.isfinite(value):
        crossed_zero = start < 0 <= value
        assert result.max_ulp == steps or (crossed_zero and result.max_ulp in (steps, steps - 1))
