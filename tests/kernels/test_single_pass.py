"""Tiles that look back: no stall and no order of workgroups changes a bit, and nothing waits for ever."""

import numpy as np
import pytest

from tests.kernels.source import fit, planner_of, reference, run
from tests.kernels.summation import runs_of
from tests.kernels.test_variants import device_for, integer_valued, real_valued

TILES = ["lane_tiles", "quad_tiles", "run_tiles"]
RUNS = 20
SHORT = {"run_tiles": {"runSteps": 4}, "quad_tiles": {"quadSteps": 4}, "lane_tiles": {"laneTileSteps": 4}}
"""Tunables that make tiles short, and so many of little data."""
LONG = {"run_tiles": (200_000, 1), "quad_tiles": (20_000, 68), "lane_tiles": (5000, 33)}
"""Shapes of more groups of short tiles than a tile looks back over."""


def short(variant, **tunables):
    return planner_of(variant, **SHORT[variant], **tunables)


def bits(variant, engine, inputs, **tunables):
    got = run(short(variant, **tunables), engine, inputs, {"reverse": 1}, engine.record)
    return got["scan_output"].tobytes() + got["final_state"].tobytes()


@pytest.mark.parametrize("variant", TILES)
def test_a_long_shape_has_more_groups_than_a_tile_looks_back_over(variant):
    steps, channels = LONG[variant]
    tile = runs_of(variant, steps, channels)
    tiles = steps / (tile.row_groups * 4)
    assert tiles / tile.group > tile.look + 1


@pytest.mark.parametrize("variant", TILES)
def test_real_valued_sums_have_the_same_bits_without_stalls_and_in_twenty_runs_with_them(engine, variant):
    inputs = real_valued(17, *LONG[variant])
    outcomes = {bits(variant, engine, inputs), bits(variant, engine, inputs, tileWorkgroups=3)}
    outcomes |= {bits(variant, engine, inputs, scanWithhold=3, scanPatience=2) for _ in range(RUNS)}
    assert len(outcomes) == 1


@pytest.mark.parametrize("variant", TILES)
def test_a_tile_that_waits_for_nobody_sums_the_same(engine, variant):
    inputs = real_valued(19, *LONG[variant])
    calm = bits(variant, engine, inputs)
    assert bits(variant, engine, inputs, scanPatience=0) == calm


@pytest.mark.parametrize("withhold", [1, 2, 16])
@pytest.mark.parametrize("variant", TILES)
def test_sums_are_exact_though_workgroups_withhold_what_others_need(engine, variant, withhold):
    inputs = integer_valued(23, *LONG[variant], "float32")
    got = run(short(variant, scanWithhold=withhold, scanPatience=2), engine, inputs, {}, engine.record)
    for name, want in reference(inputs, {}).items():
        np.testing.assert_array_equal(got[name], want, err_msg=name)


@pytest.mark.parametrize("kind", ["float16", "float16 as words", "int32", "uint32"])
@pytest.mark.parametrize("variant", TILES)
def test_every_dtype_is_exact_with_stalls(engine, variant, kind):
    steps, dim = fit(variant, 3000, 5)
    inputs = integer_valued(29, steps, dim, kind)
    device = device_for(kind, engine)
    got = run(planner_of(variant, scanWithhold=2, scanPatience=2), engine, inputs, {"reverse": 1}, device)
    for name, want in reference(inputs, {"reverse": 1}).items():
        np.testing.assert_array_equal(got[name], want, err_msg=name)


@pytest.mark.parametrize(
    ("variant", "tunables"),
    [
        ("run_tiles", {"runSteps": 16}),
        ("quad_tiles", {"quadSteps": 24}),
        ("lane_tiles", {"laneTileSteps": 24}),
    ],
)
def test_tiles_of_other_shapes_sum_exactly(engine, variant, tunables):
    inputs = integer_valued(31, *LONG[variant], "float32")
    got = run(planner_of(variant, **tunables), engine, inputs, {"reverse": 1}, engine.record)
    np.testing.assert_array_equal(got["scan_output"], reference(inputs, {"reverse": 1})["scan_output"])


@pytest.mark.parametrize("variant", TILES)
def test_a_nan_of_nothing_but_ones_reaches_all_that_comes_later_and_looks_like_nothing_missing(engine, variant):
    inputs = integer_valued(37, *LONG[variant], "float32")
    row = len(inputs["scan_input"]) // 2
    inputs["scan_input"][row, 0] = np.frombuffer(b"\xff\xff\xff\xff", np.float32)[0]
    got = run(short(variant), engine, inputs, {}, engine.record)["scan_output"]
    want = reference(inputs, {})["scan_output"]
    assert np.isnan(want[row:, 0]).all()
    np.testing.assert_array_equal(got, want)
