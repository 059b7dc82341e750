"""Generated cases: where they come from, and that they find what a package's own cases miss."""

import json
from pathlib import Path
from typing import Any

import pytest

from scanbuild.cases.casefile import Case, read_tests
from scanbuild.cases.findings import Finding
from scanbuild.cases.fuzz import Generator, clause_constants, make_generator
from scanbuild.cases.run import CaseResult, failed
from scanbuild.cases.shrinking import shrink
from scanbuild.cases.writing import case_json
from scanbuild.gpu import Engine
from scanbuild.package.folder import open_folder
from scanbuild.planning.device import DEFAULT_DEVICE
from scanbuild.planning.planner import Planner
from tests.cases.packages import DOUBLE, case, manifest, sign, variant, write_package
from tests.test_verify_command import read_report, verify

EDGED = manifest(variant("many", priority=1, when=["shapes.x[0] >= 32"]), variant("main"))
CASES = [case("three", [1, 2, 3], None), case("four", [4, -2, 3, 4], None), case("whole", [1, 2], None, "int32")]
REFERENCE = "def reference(inputs, attrs, args):\n    return {'y': 2.0 * inputs['x']}\n"


def generator(root: Path, made: dict[str, Any], cases: list[dict[str, Any]], seed: int = 0) -> Generator:
    package = open_folder(write_package(root, made, None))
    read = read_tests(json.dumps({"cases": cases}), "test.json").cases
    return make_generator(Planner(package), DEFAULT_DEVICE, read, seed)


def sizes(cases: list[Case]) -> list[int]:
    return [item.inputs["x"].shape[0] for item in cases]


def test_the_boundaries_of_clauses_come_first(tmp_path: Path):
    made = generator(tmp_path, EDGED, CASES)
    assert clause_constants(made.manifest) == [32]
    assert sorted(sizes(list(made.cases(3)))) == [31, 32, 33]


def test_the_same_seed_draws_the_same_cases_and_another_one_others(tmp_path: Path):
    first = [case_json(item) for item in generator(tmp_path / "a", EDGED, CASES, 1).cases(20)]
    assert first == [case_json(item) for item in generator(tmp_path / "b", EDGED, CASES, 1).cases(20)]
    assert first != [case_json(item) for item in generator(tmp_path / "c", EDGED, CASES, 2).cases(20)]


def test_generated_cases_are_as_case_files_have_them_and_ask_an_oracle(tmp_path: Path):
    made = generator(tmp_path, EDGED, CASES)
    drawn = list(made.cases(40))
    written = [case_json(item) for item in drawn]
    again = read_tests(json.dumps({"cases": written}), "test.json", manifest=made.manifest).cases
    assert [case_json(item) for item in again] == written
    assert {item.inputs["x"].dtype for item in drawn} == {"float32", "int32"}
    assert all(item.outputs["y"].fixture.data is None for item in drawn)
    assert len({item.name for item in drawn}) == 40


def test_data_stay_within_what_the_cases_show(tmp_path: Path):
    made = generator(tmp_path, manifest(), [case("positive", [1, 2], None), case("more", [2, 1.5, 2], None)])
    for item in made.cases(20):
        data = item.inputs["x"].data
        assert data is not None
        assert (data.low >= 1, data.high <= 3) == (True, True)  # type: ignore[union-attr]


def test_sizes_that_always_agree_are_drawn_together(tmp_path: Path):
    made_manifest = manifest(inputs={"x": {"dtype": "T"}, "z": {"dtype": "T"}})
    cases = []
    for count in (2, 3):
        one = case(f"of {count}", [1.0] * count, None)
        one["inputs"]["z"] = one["inputs"]["x"]
        cases.append(one)
    made = generator(tmp_path, made_manifest, cases)
    for item in made.cases(20):
        assert item.inputs["x"].shape == item.inputs["z"].shape == item.outputs["y"].fixture.shape


def test_a_failing_case_is_made_as_small_as_it_fails(tmp_path: Path):
    made = generator(tmp_path, EDGED, CASES)
    wrong = Finding(kind="wrong-value", message="wrong")

    def run(item: Case) -> CaseResult:
        fails = item.inputs["x"].shape[0] >= 37
        return failed(item.name, wrong) if fails else CaseResult(name=item.name, status="passed")

    large = next(item for item in made.cases(200) if item.inputs["x"].shape[0] > 200)
    small, result = shrink(large, run(large), made, run)
    assert small.inputs["x"].shape == (37,)
    assert case_json(small)["inputs"]["x"]["data"] == {"kind": "constant", "value": 1}  # type: ignore[index,call-overload]
    assert result.status == "failed"


def test_a_failing_case_is_made_smaller_where_an_attribute_that_goes_takes_an_axis_of_the_output_along(tmp_path: Path):
    made = manifest(attributes={"keep": {"default": 0}})
    made["outputs"]["y"]["shape"] = "shapes.x + ([1] if attrs.keep else [])"
    kept = case("kept", [1, 2, 3], None, attrs={"keep": 1})
    kept["outputs"]["y"]["shape"] = [3, 1]
    drawing = generator(tmp_path, made, [case("flat", [1, 2, 3], None), kept])

    def run(item: Case) -> CaseResult:
        return failed(item.name, Finding(kind="wrong-value", message="wrong"))

    deep = next(item for item in drawing.cases(100) if len(item.outputs["y"].fixture.shape) == 2)
    small, _ = shrink(deep, run(deep), drawing, run)
    assert (small.attrs, small.inputs["x"].shape, small.outputs["y"].fixture.shape) == ({}, (1,), (1,))


@pytest.mark.usefixtures("wgpu")
def test_a_fault_that_the_package_s_own_cases_miss_is_found_shrunk_and_printed(tmp_path: Path):
    wrong = DOUBLE.replace("x[id.x] + x[id.x]", "select(2.0, 3.0, id.x == 33u) * x[id.x]").replace("2.0", "{{ T }}(2)")
    folder = write_package(
        tmp_path,
        manifest(variant("many", "many.wgsl.jinja", priority=1, when=["shapes.x[0] >= 32"]), variant("main")),
        CASES,
        {"many.wgsl.jinja": wrong.replace("3.0", "{{ T }}(3)")},
    )
    sign(folder)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "reference.py").write_text(REFERENCE)
    arguments = ["--source", "mine", "--fuzz", 30, "--seed", 5, "--json", "report.json"]
    ran = verify(*arguments, cwd=tmp_path)
    assert ran.returncode == 1, ran.stdout
    (run,) = read_report(tmp_path / "report.json")["runs"]
    assert run["summary"] == {"passed": 3, "failed": 0, "skipped": 0, "noOracle": 0}
    (failure,) = run["generated"]["failures"]
    assert failure["result"]["findings"][0]["kind"] == "wrong-value"
    assert failure["case"]["inputs"]["x"]["shape"] == [34]
    assert "the case, ready for test.json" in ran.stderr
    printed = next(line for line in ran.stderr.splitlines() if line.strip().startswith("{"))
    assert json.loads(printed) == failure["case"]


def test_a_generated_case_that_passes_says_so(wgpu: Engine, tmp_path: Path):
    write_package(tmp_path, EDGED, CASES)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "reference.py").write_text(REFERENCE)
    ran = verify("--source", "mine", "--fuzz", 10, cwd=tmp_path)
    assert (ran.returncode, "10 generated cases from seed 0: all is well" in ran.stdout) == (0, True)
