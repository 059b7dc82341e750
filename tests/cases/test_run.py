"""What becomes of a case."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from scanbuild.cases.casefile import read_tests
from scanbuild.cases.oracle import Oracle, Reference, load_reference
from scanbuild.cases.requests import case_inputs, case_request
from scanbuild.cases.run import CaseResult, CaseRunner
from scanbuild.cases.writing import case_json
from scanbuild.errors import InputError
from scanbuild.gpu import Engine, open_engine
from scanbuild.package.folder import open_folder
from scanbuild.planning.device import DEFAULT_DEVICE
from scanbuild.planning.planner import Planner
from tests.cases.packages import case, manifest, variant, write_package
from tests.engines import open_for_test


@pytest.fixture(scope="module")
def device() -> Iterator[Engine]:
    with open_for_test("wgpu") as opened:
        yield opened


@pytest.fixture
def engine(device: Engine) -> Engine:
    """An engine whose record a test may change."""
    return open_engine(device=device.device)


def run(
    engine: Engine, root: Path, made: dict[str, Any], one: dict[str, Any], reference: Reference | None = None
) -> CaseResult:
    package = open_folder(write_package(root, made, None))
    (item,) = read_tests(json.dumps({"cases": [one]}), "test.json").cases
    return CaseRunner(Planner(package), engine, Oracle(manifest=package.manifest, reference=reference)).run(item)


def test_a_case_the_device_has_no_feature_for_is_skipped_and_the_feature_named(engine: Engine, tmp_path: Path):
    engine.record = replace(engine.record, features=engine.record.features - {"shader-f16"})
    made = manifest(variant("main", when=["f16Ok(dtypes.T)"]))
    result = run(engine, tmp_path, made, case("half", [1], [2], "float16"))
    assert (result.status, result.variant) == ("skipped", None)
    assert result.message.startswith("the device lacks shader-f16: ")


def test_a_case_no_device_can_run_fails(engine: Engine, tmp_path: Path):
    result = run(engine, tmp_path, manifest(variant("main", when=["false"])), case("none", [1], [2]))
    assert result.status == "failed"
    assert "no variant takes this request" in result.message


def test_a_stated_dtype_or_shape_that_does_not_come_out_fails(engine: Engine, tmp_path: Path):
    wrong = case("wrong", [1, 2], [2, 4])
    wrong["outputs"]["y"].update(dtype="int32")
    assert "the dtype is float32, expected int32" in run(engine, tmp_path / "a", manifest(), wrong).message
    wrong["outputs"]["y"].update(dtype="float32", shape=[2, 1])
    assert "the shape is [2], expected [2, 1]" in run(engine, tmp_path / "b", manifest(), wrong).message


def test_the_reference_computes_what_the_case_does_not_state(engine: Engine, tmp_path: Path):
    def reference(inputs: Any, attrs: Any, args: Any) -> dict[str, Any]:
        return {"y": 2.0 * inputs["x"].astype(np.float64) * attrs["factor"]}

    made = manifest(attributes={"factor": {"default": 1}})
    result = run(engine, tmp_path, made, case("open", [1.5, 2], None), reference)
    assert (result.status, result.max_abs_error) == ("passed", 0)


@pytest.mark.parametrize(
    ("returned", "status", "words"),
    [
        ({"y": np.zeros((2, 1))}, "failed", "the oracle's shape is [2, 1]"),
        ({"z": np.zeros(2)}, "noOracle", "the reference does not give it"),
        (None, "failed", "returns a NoneType"),
        ({"y": [[1], [1, 2]]}, "failed", "gives no array as y"),
        ({"y": ["1", "2"]}, "failed", "gives no numbers as y"),
        ({"y": [None, 2]}, "failed", "gives no numbers as y"),
    ],
)
def test_a_reference_that_does_not_answer_is_told(
    engine: Engine, tmp_path: Path, returned: Any, status: str, words: str
):
    result = run(engine, tmp_path, manifest(), case("open", [1, 2], None), lambda *_: returned)
    assert result.status == status
    assert words in result.message


def test_an_internal_lowering_is_not_asked_of_onnx(engine: Engine, tmp_path: Path):
    made = manifest(domain="ai.onnx", name="Relu", conformance="internal-lowering")
    result = run(engine, tmp_path, made, case("open", [1, 2], None))
    assert result.status == "noOracle"
    assert "internal-lowering is not the ONNX operator" in result.message


def test_a_request_can_be_planned_without_data(tmp_path: Path):
    package = open_folder(write_package(tmp_path, manifest(), None))
    (item,) = read_tests(json.dumps({"cases": [case("one", [1, 2], [2, 4])]}), "test.json").cases
    prepared = Planner(package).prepare(case_request(item, package.manifest), DEFAULT_DEVICE)
    assert prepared.plan.variant == "main"
    assert prepared.uploads == {}
    assert case_inputs(item)["x"].tolist() == [1, 2]


def test_an_optional_output_that_a_case_states_is_asked_for(engine: Engine, tmp_path: Path):
    made = manifest(outputs={"y": {"dtype": "T", "shape": "shapes.x", "optional": True}})
    assert run(engine, tmp_path, made, case("asks", [1, 2], [2, 4])).status == "passed"


@pytest.mark.parametrize(
    "text", ["1 / 0", "raise SystemExit(0)", "reference = 3", "import nothing_of_this_name", "def f(:"]
)
def test_a_reference_file_that_cannot_be_used_is_an_input_error(tmp_path: Path, text: str):
    (tmp_path / "reference.py").write_text(text)
    with pytest.raises(InputError, match=r"reference\.py"):
        load_reference(tmp_path)
    assert load_reference(tmp_path / "elsewhere") is None


def test_an_error_of_a_reference_has_the_line_that_raised_it(engine: Engine, tmp_path: Path):
    text = (
        "import numpy as np\n\n\ndef reference(inputs, attrs, args):\n    return {'y': inputs['x'] * attrs['fator']}\n"
    )
    (tmp_path / "reference.py").write_text(text)
    found = run(engine, tmp_path, manifest(), case("open", [1, 2], None), load_reference(tmp_path))
    assert found.message == "reference.py:5 raises KeyError: 'fator'"
    (tmp_path / "reference.py").write_text("\nimport nothing_of_this_name\n")
    with pytest.raises(InputError) as caught:
        load_reference(tmp_path)
    assert caught.value.problems[0].line == 2


@pytest.mark.filterwarnings("error")
def test_means_of_nothing_are_no_warnings_of_ours(engine: Engine, tmp_path: Path):
    lines = [
        "import numpy as np",
        "def reference(inputs, attrs, args):",
        "    nothing = np.mean(inputs['x'][:0])",
        "    return {'y': 2 * inputs['x'] + np.nan_to_num(nothing)}",
    ]
    (tmp_path / "reference.py").write_text("\n".join(lines))
    assert run(engine, tmp_path, manifest(), case("open", [1, 2], None), load_reference(tmp_path)).status == "passed"


def test_a_variant_may_have_a_tolerance_of_its_own(engine: Engine, tmp_path: Path):
    package = open_folder(write_package(tmp_path, manifest(variant("first"), variant("second")), None))
    one = case("off", [1, 2], [2, 4.25])
    one["outputs"]["y"]["tolerances"] = {"second": 0.1}
    (item,) = read_tests(json.dumps({"cases": [one]}), "test.json", manifest=package.manifest).cases
    assert case_json(item) == one
    runner = CaseRunner(Planner(package), engine, Oracle(manifest=package.manifest))
    assert (runner.run(item).status, runner.run(item, "second").status) == ("failed", "passed")
    one["outputs"]["y"]["tolerances"] = {"secnod": 0.1}
    with pytest.raises(InputError, match=r"outputs\.y\.tolerances.*no variant .secnod"):
        read_tests(json.dumps({"cases": [one]}), "test.json", manifest=package.manifest)
