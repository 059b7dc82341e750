"""Tensors from their descriptions."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scanbuild.cases.fixtures import (
    Constant,
    Data,
    Iota,
    Random,
    TensorFixture,
    Values,
    Wave,
    expected_array,
    make_array,
)


def made(data: Data, dtype: str = "float32", shape: tuple[int, ...] = (4,)) -> np.ndarray:
    return make_array(TensorFixture(dtype=dtype, shape=shape, data=data))


def test_values_fill_the_shape_row_by_row():
    array = made(Values(values=[1, 2.5, 3, 4]), shape=(2, 2))
    assert array.dtype == np.float32
    assert array.tolist() == [[1, 2.5], [3, 4]]


def test_words_stand_for_what_json_has_no_number_for():
    array = made(Values(values=["NaN", "Infinity", "-Infinity", "-0"]))
    assert math.isnan(array[0])
    assert array[1:3].tolist() == [math.inf, -math.inf]
    assert math.copysign(1, array[3]) == -1


@pytest.mark.parametrize(
    ("dtype", "value", "wrapped"),
    [
        ("int8", 200, -56),
        ("int16", 70000, 4464),
        ("uint8", -1, 255),
        ("int32", 2**31, -(2**31)),
        ("uint32", -1, 2**32 - 1),
        ("int64", str(2**63 - 1), 2**63 - 1),
        ("int64", str(2**63), -(2**63)),
        ("bool", True, 1),
    ],
)
def test_integers_wrap_at_their_width(dtype: str, value: int | str, wrapped: int):
    assert made(Values(values=[value]), dtype, (1,)).tolist() == [wrapped]


def test_the_wave_is_computed_in_float64_and_rounded():
    array = made(Wave(sin_step=0.13, cos_step=0.29, scale=0.5), shape=(7,))
    want = [np.float32(0.5 * (math.sin(i * 0.13) + math.cos(i * 0.29))) for i in range(7)]
    assert array.tolist() == pytest.approx(want, rel=1e-7)


def test_random_is_numpy_s_generator():
    array = made(Random(seed=7, low=-1, high=1), shape=(5,))
    assert array.tolist() == np.random.default_rng(7).uniform(-1, 1, 5).astype(np.float32).tolist()


def test_random_whole_numbers_exclude_the_upper_end():
    array = made(Random(seed=1, low=-2, high=3, integers=True), shape=(1000,))
    assert sorted(set(array.tolist())) == [-2, -1, 0, 1, 2]


def test_random_integers_are_whole_without_being_asked():
    assert set(made(Random(seed=1, low=0, high=2), "int32", (100,)).tolist()) == {0, 1}


def test_iota_counts_from_its_start():
    assert made(Iota(start=10, step=-2)).tolist() == [10, 8, 6, 4]
    assert made(Iota(start=254, step=1), "uint8").tolist() == [254, 255, 0, 1]


def test_a_constant_fills_everything_even_nothing():
    assert made(Constant(value="-Infinity"), shape=(2,)).tolist() == [-math.inf] * 2
    assert made(Constant(value=3), shape=(3, 0)).shape == (3, 0)
    assert made(Constant(value=3), shape=()).tolist() == 3


def test_expected_floats_are_not_rounded():
    fixture = TensorFixture(dtype="float16", shape=(1,), data=Values(values=[0.1]))
    assert expected_array(fixture).tolist() == [0.1]
    assert make_array(fixture).tolist() != [0.1]


@given(
    st.lists(st.integers(-(2**70), 2**70), max_size=20), st.sampled_from(["int8", "uint8", "int32", "uint32", "int64"])
)
def test_any_integer_wraps_as_twos_complement(values: list[int], dtype: str):
    array = made(Values(values=values), dtype, (len(values),))
    bits = array.dtype.itemsize * 8
    assert [int(item) % 2**bits for item in array] == [value % 2**bits for value in values]
