"""What tensors hold while they are timed."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scanbuild.bench.inputs import BLOCK, MOST_SLICES, block_of, slices_for
from scanbuild.cases.fixtures import Constant, Iota, Random, TensorFixture, Values
from scanbuild.planning.plan import TensorSpec


def spec(dtype: str, count: int, size: int, packed: bool = False) -> TensorSpec:
    return TensorSpec(name="x", dtype=dtype, logical=dtype, shape=(count,), size=size, packed=packed)


RANDOM = Random(seed=1, low=-1, high=1)


def test_small_tensors_hold_the_values_of_the_case():
    fixture = TensorFixture(dtype="float32", shape=(3,), data=Values(values=[1, 2, 3]))
    assert np.frombuffer(block_of(fixture, spec("float32", 3, 12)), np.float32).tolist() == [1, 2, 3]


def test_a_tensor_of_a_gibibyte_takes_the_host_a_few_mebibytes():
    fixture = TensorFixture(dtype="float32", shape=(2**28,), data=RANDOM)
    tracemalloc.start()
    block = block_of(fixture, spec("float32", 2**28, 2**30))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(block) == 4 * BLOCK
    assert peak < 64 << 20
    values = np.frombuffer(block, np.float32)
    assert -1 <= values.min() < values.max() < 1


@pytest.mark.parametrize(
    ("dtype", "packed", "stored"),
    [
        ("float16", False, np.float16),
        ("int32", False, np.int32),
        ("uint8", False, np.uint32),
        ("uint8", True, np.uint8),
        ("bool", False, np.uint32),
    ],
)
def test_blocks_are_in_storage_form_and_whole_words(dtype, packed, stored):
    fixture = TensorFixture(dtype=dtype, shape=(3,), data=Constant(value=1))
    block = block_of(fixture, spec(dtype, 3, 12, packed))
    assert len(block) % 4 == 0
    assert np.frombuffer(block, stored)[:3].tolist() == [1, 1, 1]


def test_int64_is_clamped_to_the_storage_of_its_port():
    fixture = TensorFixture(dtype="int64", shape=(2,), data=Values(values=[-5, 2**40]))
    block = block_of(fixture, spec("int32", 2, 8))
    assert np.frombuffer(block, np.int32).tolist() == [-5, 2**31 - 1]


def test_an_empty_tensor_has_a_block_that_its_buffer_holds():
    fixture = TensorFixture(dtype="float32", shape=(0,), data=Iota())
    assert len(block_of(fixture, spec("float32", 0, 4))) == 4


@given(st.integers(1, 2**34), st.integers(2**20, 2**28), st.integers(2**27, 2**32))
def test_places_are_enough_to_leave_the_cache_or_as_many_as_fit(size, cache, most):
    largest = min(size, most)
    slices = slices_for(size, cache, largest, most)
    assert 1 <= slices <= MOST_SLICES
    assert slices == 1 or slices * largest <= most
    if size >= cache:
        assert slices == 1
    elif slices < MOST_SLICES and (slices + 1) * (largest + 256) <= most:
        assert slices * size >= 2 * cache
