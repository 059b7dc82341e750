"""Every variant, alone, on every shape it can take: exact sums, and the same bits in every run."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from scanbuild.cases.compare import compare
from scanbuild.gpu import Engine
from scanbuild.planning.device import DeviceRecord
from tests.kernels.source import LAYOUT_LIMIT, Arrays, case_inputs, cases, fit, planner, planner_of, reference, run

VARIANTS = sorted(LAYOUT_LIMIT)
KINDS = ["float32", "float16", "float16 as words", "int32", "uint32"]
SMALL = [case for case in cases() if math.prod(case.inputs["scan_input"].shape) <= 300_000]


def device_for(kind: str, engine: Engine) -> DeviceRecord:
    """The engine's device, which for float16 as words hides that it has a 16-bit type."""
    record = engine.record
    return replace(record, features=record.features - {"shader-f16"}) if kind == "float16 as words" else record


def integer_valued(seed: int, steps: int, dim: int, kind: str) -> Arrays:
    """Whole numbers whose sums are exact in any order; for integers the whole range, which wraps."""
    generator = np.random.default_rng(seed)
    dtype = np.dtype(kind.split(maxsplit=1)[0])
    if dtype.kind == "f":
        low, high = (-1, 2) if dtype == np.float16 else (-99, 100)
    else:
        low, high = int(np.iinfo(dtype).min), int(np.iinfo(dtype).max) + 1
    shapes = {"initial_state": (dim,), "scan_input": (steps, dim)}
    return {name: generator.integers(low, high, shape).astype(dtype) for name, shape in shapes.items()}


def real_valued(seed: int, steps: int, dim: int) -> Arrays:
    generator = np.random.default_rng(seed)
    draws = {"initial_state": generator.normal(size=dim), "scan_input": generator.normal(size=(steps, dim))}
    return {name: draw.astype(np.float32) for name, draw in draws.items()}


DAWN_WIDTHS = (1, 5, 33, 200)
"""A tile's width is written into its shader, which SwiftShader takes seconds to compile; wgpu gets all widths."""


@pytest.mark.parametrize("variant", VARIANTS)
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    steps=st.integers(1, 900),
    dim=st.integers(1, 256),
    kind=st.sampled_from(KINDS),
    reverse=st.integers(0, 1),
    workgroups=st.sampled_from([1, 2, 3, 1024]),
    seed=st.integers(0, 2**32),
)
def test_a_variant_sums_any_shape_exactly(engine, variant, steps, dim, kind, reverse, workgroups, seed):
    if engine.name == "dawn" and variant.endswith("_tiles"):
        dim = DAWN_WIDTHS[dim % len(DAWN_WIDTHS)]
    inputs = integer_valued(seed, *fit(variant, steps, dim), kind)
    alone = planner_of(variant, targetWorkgroups=workgroups)
    got = run(alone, engine, inputs, {"reverse": reverse}, device_for(kind, engine))
    for name, want in reference(inputs, {"reverse": reverse}).items():
        np.testing.assert_array_equal(got[name], want, err_msg=name)


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_final_state_is_the_row_written_last_bit_for_bit(engine, variant):
    for steps, dim in [(33, 1), (300, 7), (1000, 64), (650, 129)]:
        inputs = real_valued(7, *fit(variant, steps, dim))
        for reverse, last in [(0, -1), (1, 0)]:
            got = run(planner_of(variant, targetWorkgroups=3), engine, inputs, {"reverse": reverse}, engine.record)
            assert got["final_state"].tobytes() == got["scan_output"][last].tobytes()


@pytest.mark.parametrize("variant", VARIANTS)
def test_real_valued_sums_have_the_same_bits_in_every_run(engine, variant):
    inputs = real_valued(11, *fit(variant, 5000, 65))
    runs = [run(planner_of(variant), engine, inputs, {}, engine.record) for _ in range(20)]
    assert len({item["scan_output"].tobytes() for item in runs}) == 1


@pytest.mark.parametrize("tunables", [{"flatSteps": 4}, {"flatSteps": 12}, {"totalSteps": 16}])
def test_other_values_of_the_tunables_sum_exactly_for_few_channels(engine, tunables):
    inputs = integer_valued(3, 3001, 5, "float32")
    got = run(planner_of("flat_spans", targetWorkgroups=2, **tunables), engine, inputs, {"reverse": 1}, engine.record)
    np.testing.assert_array_equal(got["scan_output"], reference(inputs, {"reverse": 1})["scan_output"])


@pytest.mark.parametrize("tunables", [{"laneSteps": 8}, {"lanes": 16, "rowGroups": 16}, {"lanes": 64, "rowGroups": 3}])
def test_other_values_of_the_tunables_sum_exactly_for_many_channels(engine, tunables):
    inputs = integer_valued(5, 1001, 70, "float32")
    got = run(planner_of("lane_spans", targetWorkgroups=4, **tunables), engine, inputs, {"reverse": 1}, engine.record)
    np.testing.assert_array_equal(got["scan_output"], reference(inputs, {"reverse": 1})["scan_output"])


def test_minus_zero_is_kept_where_everything_is_minus_zero(engine):
    for steps, dim in [(3, 2), (100, 2), (40_000, 1), (100, 70), (1100, 70)]:
        inputs = {"initial_state": np.full(dim, -0.0, "f4"), "scan_input": np.full((steps, dim), -0.0, "f4")}
        for output in run(planner(), engine, inputs, {}, engine.record).values():
            assert np.signbit(output).all()


@pytest.mark.parametrize("case", SMALL, ids=lambda case: case.name)
def test_a_case_of_moderate_size_passes(engine, case):
    inputs = case_inputs(case)
    got = run(planner(), engine, inputs, case.attrs, engine.record)
    for name, want in reference(inputs, case.attrs).items():
        expected = case.outputs[name]
        verdict = compare(got[name], want, expected.fixture.dtype, expected.tolerance, expected.allow_nan)
        assert verdict.passed, verdict.message
