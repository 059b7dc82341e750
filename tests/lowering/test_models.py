"""Models as people write them: read, lowered, checked, planned, and every eligible variant run beside ONNX Runtime."""

import json
from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest

from scanbuild.cases.casefile import Case, read_tests
from scanbuild.cases.fixtures import expected_array
from scanbuild.cases.requests import case_inputs
from scanbuild.checking.check import check_path
from scanbuild.gpu import Engine
from scanbuild.lowering.lower import read
from scanbuild.lowering.precision import compiled
from tests.lowering.building import Example, with_fixed_sizes
from tests.lowering.harness import Arrays, Lowered, answer, distance, lowered, with_all_variants
from tests.lowering.models import EXAMPLES
from tests.lowering.models.seed import SEED, expected

CHECKED = ("exponential_average", "gru", "viterbi", "mixed_dtypes", "kalman_filter", "half_precision", "no_states")
"""Those whose packages are checked every day; `make test-long` takes all."""

RUN = ("exponential_average", "gru", "viterbi", "kalman_filter", "no_states")
"""Those whose cases are run every day."""

REGROUPED = ("cumulative_sum", "max_plus_recurrence", "scanned_along_the_last_axis_backwards")
"""Those whose parallel scan is run every day: a software adapter needs seconds to compile one."""


def everyday(names: tuple[str, ...]) -> list[object]:
    """All models as parameters, those of other names marked as long."""
    return [name if name in names else pytest.param(name, marks=pytest.mark.long) for name in EXAMPLES]


@pytest.mark.parametrize("name", EXAMPLES)
def test_every_variant_of_a_model_gives_what_onnx_runtime_gives(name, engine):
    example = EXAMPLES[name]
    package = with_all_variants(read(example.data, f"{name}.onnx", None))
    for sizes in example.sizes:
        _compare(package, example, sizes, engine)


@pytest.mark.parametrize("name", everyday(REGROUPED))
def test_every_variant_of_a_model_takes_many_steps(name, engine):
    example = replace(EXAMPLES[name], values={})
    package = with_all_variants(read(example.data, f"{name}.onnx", None))
    reached = _compare(package, example, {**example.sizes[0], "t": 150}, engine)
    assert reached == {variant.id for variant in package.read.possible}


def _compare(package: Lowered, example: Example, sizes: Mapping[str, int], engine: Engine) -> set[str]:
    """The variants that were run."""
    inputs = package.inputs(example, sizes)
    want = answer(package, inputs)
    room = example.tolerance * max(1, sizes["t"] // 10)
    assert distance(package.interpreted(inputs), want) <= room, f"the interpreter, {sizes}"
    variants = package.eligible(engine, inputs)
    assert variants, sizes
    for variant in variants:
        apart = distance(package.run(engine, inputs, variant), want)
        assert apart <= room, f"{variant} is {apart:.3g} apart, {sizes}"
    return set(variants)


@pytest.mark.parametrize("name", everyday(CHECKED))
def test_nothing_is_found_wrong_with_the_package_of_a_model(name, tmp_path):
    result = check_path(lowered(EXAMPLES[name]).write(tmp_path))
    assert [str(problem) for problem in result.problems] == []


@pytest.mark.parametrize("name", everyday(RUN))
def test_every_eligible_variant_passes_every_case_of_the_package(name, engine):
    package = lowered(EXAMPLES[name])
    reference = compiled(package.read.scan)
    cases = read_tests(package.files["test.json"].decode(), "test.json", manifest=package.manifest).cases
    reached = set()
    for case in cases:
        inputs = case_inputs(case)
        want = _expected(case, reference(inputs, {}, {}))
        variants = package.eligible(engine, inputs)
        assert variants[0] == case.expect_variant, case.name
        reached |= set(variants)
        for variant in variants:
            _check(case, variant, package.run(engine, inputs, variant), want)
    assert reached == {variant.id for variant in package.manifest.variants}, "a variant that no case reaches"


def _expected(case: Case, computed: Arrays) -> Arrays:
    stored = {name: item.fixture for name, item in case.outputs.items() if item.fixture.data is not None}
    return {name: expected_array(stored[name]) if name in stored else computed[name] for name in case.outputs}


def _check(case: Case, variant: str, got: Arrays, want: Arrays) -> None:
    for name, output in case.outputs.items():
        found = np.asarray(got[name])
        value = np.asarray(want[name]).astype(found.dtype)
        apart = distance({name: found}, {name: value})
        assert apart <= (output.tolerance or 0.0) * 1.01 + 1e-7, f"{case.name}: {variant}: {name} is {apart:.3g} apart"


@pytest.mark.parametrize("fixed", [False, True], ids=["symbolic", "fixed"])
@pytest.mark.parametrize("name", SEED)
def test_the_examples_of_the_operators_description_come_out_as_it_says(name, fixed, engine):
    example = with_fixed_sizes(EXAMPLES[name]) if fixed else EXAMPLES[name]
    package = with_all_variants(read(example.data, f"{name}.onnx", None))
    inputs = package.inputs(example, example.sizes[0])
    for variant in package.eligible(engine, inputs):
        assert distance(package.run(engine, inputs, variant), expected(name)) == 0


def test_nothing_is_found_wrong_with_a_package_of_fixed_sizes(tmp_path):
    package = lowered(with_fixed_sizes(EXAMPLES["scan9_sum"]))
    assert package.manifest.derive == {}
    assert [str(problem) for problem in check_path(package.write(tmp_path)).problems] == []


def test_the_folder_says_what_was_lowered():
    package: Lowered = lowered(EXAMPLES["gru"])
    record = json.loads(package.files["lowered.json"])
    assert record["node"] == "loop"
    assert record["sha256"].keys() == package.files.keys() - {"lowered.json"}
