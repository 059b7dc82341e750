"""Models as people write them: read, lowered, checked, planned, and every eligible variant run beside ONNX Runtime."""

import pytest

from scanbuild.checking.check import check_path
from tests.lowering.harness import answer, distance, lowered
from tests.lowering.models import EXAMPLES
from tests.lowering.models.seed import SEED, expected


@pytest.mark.parametrize("name", EXAMPLES)
def test_every_variant_of_a_model_gives_what_onnx_runtime_gives(name, engine):
    example = EXAMPLES[name]
    package = lowered(example)
    for sizes in example.sizes:
        inputs = package.inputs(example, sizes)
        want = answer(package, inputs)
        assert distance(package.interpreted(inputs), want) <= example.tolerance, f"the interpreter, {sizes}"
        variants = package.eligible(engine, inputs)
        assert variants, sizes
        for variant in variants:
            apart = distance(package.run(engine, inputs, variant), want)
            assert apart <= example.tolerance, f"{variant} is {apart:.3g} apart, {sizes}"


@pytest.mark.parametrize("name", EXAMPLES)
def test_nothing_is_found_wrong_with_the_package_of_a_model(name, tmp_path):
    result = check_path(lowered(EXAMPLES[name]).write(tmp_path))
    assert [str(problem) for problem in result.problems] == []


@pytest.mark.parametrize("name", SEED)
def test_the_examples_of_the_operators_description_come_out_as_it_says(name, engine):
    example = EXAMPLES[name]
    package = lowered(example)
    inputs = package.inputs(example, example.sizes[0])
    for variant in package.eligible(engine, inputs):
        assert distance(package.run(engine, inputs, variant), expected(name)) == 0
