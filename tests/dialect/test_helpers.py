"""The helper functions against NumPy's and Python's own idea of the same thing."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scanbuild.dialect import HELPERS, UNDEFINED, DialectError, f16_ok

DIMS = st.integers(0, 6)
SHAPES = st.lists(DIMS, max_size=5)
FULL_SHAPES = st.lists(DIMS, min_size=1, max_size=5)
AXES = st.integers(-7, 7)


def call(name: str, *arguments: Any) -> Any:
    return HELPERS[name].call(*arguments)


def refused(name: str, *arguments: Any) -> bool:
    try:
        call(name, *arguments)
    except DialectError as error:
        return error.kind == "value"
    return False


@given(SHAPES, SHAPES)
def test_broadcast_shape_is_numpys(a: list[int], b: list[int]) -> None:
    try:
        expected = list(np.broadcast_shapes(tuple(a), tuple(b)))
    except ValueError:
        assert refused("broadcastShape", a, b)
    else:
        assert call("broadcastShape", a, b) == expected


@given(SHAPES, SHAPES)
def test_broadcastable_means_that_numpy_broadcasts_to_that_shape(a: list[int], b: list[int]) -> None:
    try:
        np.broadcast_to(np.empty(a), tuple(b))
        expected = True
    except ValueError:
        expected = False
    assert call("broadcastable", a, b) == expected


@given(st.lists(st.integers(0, 3), max_size=4), st.lists(st.integers(0, 3), max_size=4))
def test_matmul_shape_is_numpys(a: list[int], b: list[int]) -> None:
    try:
        expected = list(np.matmul(np.zeros(a), np.zeros(b)).shape)
    except ValueError:
        assert refused("matmulShape", a, b)
    else:
        assert call("matmulShape", a, b) == expected


@given(SHAPES, AXES, AXES)
def test_move_axis_is_numpys(shape: list[int], origin: int, target: int) -> None:
    try:
        expected = list(np.moveaxis(np.empty(shape), origin, target).shape)
    except np.exceptions.AxisError:
        assert refused("moveAxis", shape, origin, target)
    else:
        assert call("moveAxis", shape, origin, target) == expected


@given(SHAPES, st.lists(st.integers(-5, 5), max_size=5))
def test_permute_shape_is_numpys_transpose(shape: list[int], axes: list[int]) -> None:
    try:
        expected = list(np.transpose(np.empty(shape), axes).shape)
    except ValueError:
        assert refused("permuteShape", shape, axes)
    else:
        assert call("permuteShape", shape, axes) == expected


@given(SHAPES)
def test_numel_is_numpys_size(shape: list[int]) -> None:
    assert call("numel", shape) == np.empty(shape).size


@given(FULL_SHAPES, AXES)
def test_the_products_around_an_axis_make_up_the_whole(shape: list[int], axis: int) -> None:
    place = axis % len(shape)
    assert call("outer", shape, axis) == math.prod(shape[:place])
    assert call("inner", shape, axis) == math.prod(shape[place + 1 :])
    assert call("rows", shape, axis) == math.prod(shape[:place] + shape[place + 1 :])
    assert call("dim", shape, axis) == shape[place]


@given(SHAPES, st.integers(0, 9))
def test_prefix_and_suffix_split_a_list(shape: list[int], count: int) -> None:
    assert call("prefix", shape, count) == shape[:count]
    assert call("suffix", shape, count) == shape[count:]


@given(st.lists(AXES, max_size=4), AXES, st.integers(1, 5))
def test_has_axis_reduces_axes_modulo_the_rank(axes: list[int], axis: int, rank: int) -> None:
    expected = axis % rank in {value % rank for value in axes}
    assert call("hasAxis", axes, axis, rank) == expected
    values = [10 + i for i in range(len(axes))]
    position = [value % rank for value in axes].index(axis % rank) if expected else None
    assert call("axisValue", values, axes, axis, rank, -1) == (-1 if position is None else values[position])


@given(st.lists(st.integers(-4, 8), max_size=5), st.integers(-4, 4), st.integers(0, 8), st.integers(0, 5))
def test_unique_int_lists_are_those_that_a_set_keeps_whole(values: list[int], lo: int, hi: int, modulus: int) -> None:
    reduced = [value % modulus for value in values] if modulus else values
    expected = all(lo <= value < hi for value in values) and len(set(reduced)) == len(values)
    assert call("isUniqueIntList", values, lo, hi, modulus) == expected


@given(st.integers(-(2**40), 2**40), st.integers(1, 2**20))
def test_ceil_div_is_exact_integer_division_rounded_up(a: int, b: int) -> None:
    assert call("ceilDiv", a, b) == -(-a // b)


@given(st.integers(-4, 2**48))
def test_log2ceil_is_the_bits_of_the_number_below(x: int) -> None:
    expected = (x - 1).bit_length() if x > 1 else 0
    assert call("log2ceil", x) == expected
    assert call("pow2ceil", x) == 2**expected


@given(st.lists(st.floats(allow_nan=True), max_size=5))
def test_min_and_max_are_numpys_and_infinite_for_nothing(values: list[float]) -> None:
    smallest, largest = call("min", *values), call("max", *values)
    assert np.array_equal(smallest, np.min(values, initial=math.inf), equal_nan=True)
    assert np.array_equal(largest, np.max(values, initial=-math.inf), equal_nan=True)


@given(st.one_of(SHAPES, st.lists(st.floats(), max_size=3)))
def test_same_shape_compares_elements(shape: list[Any]) -> None:
    assert call("sameShape", shape, list(shape)) == all(value == value for value in shape)
    assert not call("sameShape", shape, [*shape, 1])


@pytest.mark.parametrize(
    "name", sorted(set(HELPERS) - {"ceil", "floor", "min", "max", "pow", "has", "isUniqueIntList"})
)
def test_a_missing_argument_is_an_error_or_no_number_but_no_crash(name: str) -> None:
    cases: list[tuple[Any, ...]] = [(), (UNDEFINED,), (None, None), ("ab", 1), ({}, {}), ([[]], [{}], [1], [2], [3])]
    for arguments in cases:
        try:
            call(name, *arguments)
        except DialectError as error:
            assert error.kind == "value"


def test_half_precision_needs_the_feature() -> None:
    assert [f16_ok(False).call(dtype) for dtype in ("f16", "float16", "f32", UNDEFINED)] == [False, False, True, True]
    assert f16_ok(True).call("f16") is True
