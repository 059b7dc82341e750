"""What test.json promises: shapes, variants and dtypes it covers, exact data, derived tolerances."""

import math
from collections import Counter

import numpy as np
import pytest

from scanbuild.cases.casefile import Case
from scanbuild.cases.compare import compare
from scanbuild.cases.fixtures import Random, Values, expected_array
from tests.kernels.source import case_inputs, cases, planner, reference
from tests.kernels.summation import needed, walked

STEPS = {0, 1, 2, 63, 64, 65, 255, 256, 257, 4095, 4096, 4097, 100_003}
DIMS = {0, 1, 2, 3, 4, 5, 31, 32, 33, 63, 64, 65, 255, 256, 257, 65_537}


def _is_float(case: Case) -> bool:
    return case.inputs["scan_input"].dtype.startswith("float")


def _is_exact(case: Case) -> bool:
    return all(item.tolerance == 0 for item in case.outputs.values())


EXACT_OTHERWISE = {"the_largest_values_cancel_40x1", "tiny_magnitudes_forward_4097x2"}
"""Sums of neighbours are 0, 3e38 or -3e38 in the first, and all sums are small multiples of 2**-100 in the second."""

ROUNDED = [case for case in cases() if not _is_exact(case)]
REALS = [case for case in ROUNDED if any(word in case.name for word in ("_reals_", "_waves", "large_magnitudes"))]


def test_every_length_and_width_of_interest_has_a_case_in_each_direction():
    for reverse in (False, True):
        shapes = [case.inputs["scan_input"].shape for case in cases() if bool(case.attrs.get("reverse")) is reverse]
        assert {steps for steps, _ in shapes} >= STEPS
        assert {dim for _, dim in shapes} >= (DIMS if not reverse else DIMS - {2})


def test_every_variant_is_the_aim_of_several_cases_in_each_direction():
    aims = Counter((case.expect_variant, bool(case.attrs.get("reverse"))) for case in cases())
    for variant in planner().package.manifest.variants:
        assert min(aims[variant.id, False], aims[variant.id, True]) >= 3


def test_every_dtype_reaches_every_variant():
    reached = {(case.inputs["scan_input"].dtype, case.expect_variant) for case in cases()}
    manifest = planner().package.manifest
    assert reached >= {(dtype, item.id) for dtype in manifest.type_constraints["T"] for item in manifest.variants}


def test_cases_without_tolerance_have_sums_that_are_exact_in_any_order():
    for case in cases():
        if not (_is_float(case) and _is_exact(case)) or case.name in EXACT_OTHERWISE:
            continue
        rows = walked(case_inputs(case), bool(case.attrs.get("reverse")))
        finite = np.where(np.isfinite(rows), rows, 0)
        limit = 2**11 if case.inputs["scan_input"].dtype == "float16" else 2**24
        quantum = 8
        assert np.array_equal(finite * quantum, np.rint(finite * quantum)), case.name
        assert np.abs(np.cumsum(finite, axis=0)).max(initial=0) * (1 if _is_whole(finite) else quantum) <= limit, (
            case.name
        )


def _tolerances(case: Case) -> list[float]:
    stated = [output.tolerance for output in case.outputs.values() if output.tolerance is not None]
    assert len(stated) == len(case.outputs)
    return stated


def _is_whole(rows: np.ndarray) -> bool:
    return bool(np.array_equal(rows, np.rint(rows)))


@pytest.mark.parametrize("case", ROUNDED, ids=lambda case: case.name)
def test_a_tolerance_is_no_less_than_the_bound_of_the_summation_error(case):
    assert min(_tolerances(case)) >= needed(case).tolerance


def test_the_tolerance_of_real_valued_data_is_the_bound_and_hardly_more():
    assert len(REALS) >= 20
    for case in REALS:
        assert max(_tolerances(case)) <= 1.5 * needed(case).tolerance, case.name


def test_no_tolerance_of_real_valued_data_lets_zeros_pass():
    for case in REALS:
        want = reference(case_inputs(case), case.attrs)
        for name, output in case.outputs.items():
            for tolerance in (output.tolerance, *output.tolerances.values()):
                zeros = np.zeros(want[name].shape, output.fixture.dtype)
                assert not compare(zeros, want[name], output.fixture.dtype, tolerance).passed, case.name


def test_stored_expectations_are_those_of_the_reference():
    stored = [case for case in cases() if any(item.fixture.data is not None for item in case.outputs.values())]
    assert len(stored) >= 10
    for case in stored:
        want = reference(case_inputs(case), case.attrs)
        for name, output in case.outputs.items():
            np.testing.assert_array_equal(expected_array(output.fixture), want[name], err_msg=f"{case.name} {name}")


def test_large_tensors_are_described_and_not_listed():
    for case in cases():
        for fixture in case.inputs.values():
            assert fixture.count <= 320 or not isinstance(fixture.data, Values), case.name


def test_random_data_of_two_tensors_never_share_a_seed():
    seeds = [
        fixture.data.seed for case in cases() for fixture in case.inputs.values() if isinstance(fixture.data, Random)
    ]
    assert len(seeds) == len(set(seeds)) >= 60


def test_no_case_asks_for_more_than_a_small_machine_has():
    assert max(math.prod(case.inputs["scan_input"].shape) for case in cases()) <= 2**22 + 2**20
