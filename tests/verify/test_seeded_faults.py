"""Ten faults that authors make: each is found, and called by its name."""

import json
from pathlib import Path
from typing import Any

import pytest

from scanbuild.cases.casefile import read_tests
from scanbuild.cases.oracle import Oracle
from scanbuild.cases.probing import Depth
from scanbuild.cases.run import CaseResult, CaseRunner
from scanbuild.cases.variants import VariantSurvey
from scanbuild.gpu import Engine
from scanbuild.package.folder import open_folder
from scanbuild.planning.planner import Planner
from scanbuild.planning.profiles import profiles
from tests.cases.packages import case, manifest, variant, write_package
from tests.verify.faults import FAULTS, MENDED


def run(engine: Engine, root: Path, name: str, shader: str | None = None) -> list[CaseResult]:
    fault = FAULTS[name]
    folder = fault.write(root, shader)
    package = open_folder(folder)
    cases = read_tests((folder / "test.json").read_text(), "test.json").cases
    depth = Depth(runs=fault.runs, reorder=fault.runs > 2)
    runner = CaseRunner(Planner(package), engine, Oracle(manifest=package.manifest), depth)
    return [runner.run(item) for item in cases]


def kinds(result: CaseResult) -> set[str]:
    return {item.kind for item in result.findings}


def test_a_missing_barrier_is_named_with_its_line(engine: Engine, tmp_path: Path):
    (result,) = run(engine, tmp_path, "missing barrier")
    assert kinds(result) - {"not-reproducible"} == {"wrong-value", "missing-barrier"}
    shader = FAULTS["missing barrier"].shader
    assert "with workgroupBarrier() before line 13 of the rendered text the case passes" in result.message
    assert "y[id.x] = row[63u - lane];" in shader


def test_a_barrier_under_a_non_uniform_branch_is_what_tint_refuses(dawn: Engine, tmp_path: Path):
    (result,) = run(dawn, tmp_path, "barrier under a non-uniform branch")
    assert kinds(result) == {"non-uniform-barrier"}
    assert "line 12 of the rendered text: if (lane < 32u) { workgroupBarrier(); }" in result.message


def test_an_off_by_one_bound_writes_past_the_end(engine: Engine, tmp_path: Path):
    (result,) = run(engine, tmp_path, "off-by-one bound")
    assert kinds(result) == {"writes-past-end"}
    assert result.message == "writes past the end of y: 4 bytes, right behind it, which robust access hides"


def test_an_element_that_is_never_written_is_named(engine: Engine, tmp_path: Path):
    (result,) = run(engine, tmp_path, "output element never written")
    assert (kinds(result), result.message) == ({"not-written"}, "y: element 5 is not written")


def test_a_read_past_the_end_is_found_though_robust_access_hides_it(engine: Engine, tmp_path: Path):
    (result,) = run(engine, tmp_path, "read past the end")
    assert kinds(result) == {"reads-past-end"}
    assert result.max_abs_error == 0
    assert "reads past the end of x" in result.message


def test_reliance_on_subgroups_of_32_is_named(engine: Engine, tmp_path: Path):
    if "subgroups" not in engine.record.features or engine.record.adapter_info.get("subgroupMinSize") == 32:
        pytest.skip("the adapter has no subgroups, or such ones")
    (result,) = run(engine, tmp_path, "subgroup size")
    assert kinds(result) == {"wrong-value", "subgroup-size"}
    assert "relies on subgroups of 32 invocations" in result.message
    assert f"this adapter has subgroups of {engine.record.adapter_info['subgroupMinSize']}" in result.message


def test_a_race_between_workgroups_is_found(engine: Engine, tmp_path: Path):
    (result,) = run(engine, tmp_path, "race")
    assert result.status == "failed"
    assert kinds(result) & {"not-reproducible", "workgroup-order"}


def test_a_race_that_shows_once_in_twenty_runs_is_found_by_running_often_enough(wgpu: Engine, tmp_path: Path):
    """The device's part is played here, so that the race shows when it shall: in one run of twenty."""
    fault = FAULTS["race"]
    package = open_folder(fault.write(tmp_path, MENDED["race"]))
    (item,) = read_tests((tmp_path / "build/webgpu/test.json").read_text(), "test.json").cases

    class Racing:
        """The device, but that the last bit of an output is another one in every twentieth run."""

        def __init__(self) -> None:
            self.count = 0

        def __getattr__(self, name: str) -> object:
            return getattr(wgpu, name)

        def run(self, job: Any) -> Any:
            self.count += 1
            result = wgpu.run(job)
            if self.count % 20:
                return result
            changed = [bytearray(data) for data in result.data]
            changed[1][256] ^= 1
            return type(result)(data=tuple(map(bytes, changed)), seconds=result.seconds)

    def found(runs: int) -> set[str]:
        oracle = Oracle(manifest=package.manifest, reference=lambda inputs, attrs, args: {"y": inputs["x"]})
        return kinds(CaseRunner(Planner(package), Racing(), oracle, Depth(runs=runs)).run(item))  # type: ignore[arg-type]

    assert found(2) == set()
    assert found(20) == {"not-reproducible"}


def test_a_float16_overflow_is_named(engine: Engine, tmp_path: Path):
    (result,) = run(engine, tmp_path, "float16 overflow")
    if "shader-f16" not in engine.record.features:
        assert (result.status, "the device lacks shader-f16" in result.message) == ("skipped", True)
        return
    assert kinds(result) == {"overflow"}
    assert "an intermediate value overflows float16" in result.message


def test_an_attribute_that_is_ignored_is_named(engine: Engine, tmp_path: Path):
    forward, backward = run(engine, tmp_path, "reverse ignored")
    assert (forward.status, kinds(backward)) == ("passed", {"wrong-value", "ignored-attribute"})
    assert "the attribute `reverse` is ignored: 1 gives the same as its default 0" in backward.message


def test_a_variant_that_nothing_reaches_because_of_its_priority_is_named(tmp_path: Path):
    made = manifest(variant("general", priority=2), variant("long_rows", when=["shapes.x[0] >= 4"], priority=1))
    package = open_folder(write_package(tmp_path, made, None))
    text = [case("short", [1], [2]), case("long", [1] * 5, [2] * 5)]
    cases = read_tests(json.dumps({"cases": text}), "test.json").cases
    (finding,) = VariantSurvey(Planner(package)).unreached(cases, profiles())
    assert finding.message == ("nothing reaches the variant long_rows: general (priority 2) goes before it in long")


@pytest.mark.parametrize("name", MENDED)
def test_the_same_kernel_without_its_fault_passes(engine: Engine, tmp_path: Path, name: str):
    for result in run(engine, tmp_path, name, MENDED[name]):
        expected = {"skipped"} if result.status == "skipped" else {"passed", "noOracle"}
        assert result.status in expected, result.message
        assert kinds(result) <= {"no-oracle"}, result.message
