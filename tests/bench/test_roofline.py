"""The copy and the empty dispatch, as plans and as they run."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scanbuild.bench.roofline import copy_of, nothing
from scanbuild.gpu import Engine, execute
from scanbuild.planning.device import DEFAULT_DEVICE


@given(st.floats(min_value=1, max_value=2**34))
def test_a_copy_moves_what_it_stands_for_or_is_scaled_to_it(wanted):
    copy = copy_of(wanted, DEFAULT_DEVICE)
    size = copy.plan.inputs["copy source"].size
    assert copy.bytes_moved == 2 * size
    assert size <= DEFAULT_DEVICE.limits["maxStorageBufferBindingSize"]
    assert copy.scale <= 1.5 or size == DEFAULT_DEVICE.limits["maxStorageBufferBindingSize"]
    assert abs(copy.bytes_moved * copy.scale - wanted) <= 31


@given(st.integers(min_value=1, max_value=2**31))
def test_the_grid_of_a_copy_covers_it_within_the_limits(wanted):
    most = replace(DEFAULT_DEVICE, limits={**DEFAULT_DEVICE.limits, "maxStorageBufferBindingSize": 2**31})
    copy = copy_of(wanted, replace(most, limits={**most.limits, "maxBufferSize": 2**31}))
    columns, rows, _ = copy.plan.passes[0].grid
    vectors = copy.bytes_moved // 32
    assert max(columns, rows) <= 65535
    assert vectors <= columns * rows * 256 < vectors + 256 * (rows + 1)


@pytest.mark.parametrize("count", [4, 1000, 1 << 18])
def test_a_copy_copies(engine: Engine, count: int):
    plan = replace(copy_of(8 * count, engine.record).plan, returned=("copy target",))
    values = np.arange(count, dtype=np.float32)
    copied = execute(engine, plan, {"copy source": values}).outputs["copy target"]
    assert isinstance(copied, bytes)
    assert np.frombuffer(copied, np.float32).tolist() == values.tolist()


def test_nothing_changes_nothing(engine: Engine):
    plan = replace(nothing(), returned=("empty cell",))
    assert execute(engine, plan).outputs["empty cell"] == bytes(4)
