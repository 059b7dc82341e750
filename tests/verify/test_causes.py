"""The texts that causes are found with: what is changed in a shader, and that a right one stays right."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from scanbuild.cases.barriers import with_barriers
from scanbuild.cases.loops import loop_limit
from scanbuild.cases.oracle import Oracle
from scanbuild.cases.probing import Depth, Prober
from scanbuild.cases.reordering import reordered
from scanbuild.cases.run import CaseResult, CaseRunner
from scanbuild.cases.subgroups import with_subgroups_of
from scanbuild.errors import CallError
from scanbuild.gpu import Engine
from scanbuild.package.folder import open_folder
from scanbuild.planning.planner import Planner
from tests.cases.packages import case, manifest, variant, write_package
from tests.gpu.plans import DECLARATIONS, doubling, one_pass
from tests.verify.test_engine_faults import cases_of

LONG_LOOP = """{{ env.wgsl.resourceDeclarations }}
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  var sum = {{ T }}(0);
  for (var k = 0u; k < 70000u; k++) { sum = sum + x[k % 2u]; }
  if (id.x < params.n) { y[id.x] = sum; }
}
"""


def run(engine: Engine, root: Path, shader: str, one: dict[str, Any], depth: Depth | None = None) -> CaseResult:
    made = manifest(variant("main", "one.wgsl.jinja"))
    package = open_folder(write_package(root, made, None, {"one.wgsl.jinja": shader}))
    (item,) = cases_of(one)
    return CaseRunner(Planner(package), engine, Oracle(manifest=package.manifest), depth or Depth()).run(item)


def test_a_loop_that_the_adapter_ends_too_early_is_no_fault_of_the_package(engine: Engine, tmp_path: Path):
    right = run(engine, tmp_path / "right", LONG_LOOP, case("long", [1, 1], [70000, 70000], "int32"))
    if not loop_limit(engine):
        assert right.status == "passed"
        return
    assert right.status == "skipped"
    assert f"this adapter ends every loop after {loop_limit(engine)}" in right.message
    short = LONG_LOOP.replace("70000u", "60000u")
    wrong = run(engine, tmp_path / "wrong", short, case("short", [1, 1], [70000, 70000], "int32"))
    assert [item.kind for item in wrong.findings] == ["wrong-value"]


STEPS = """// fn main() { decoy(); }
var<workgroup> row: array<f32, 8>;
fn touch(lane: u32) { row[lane] = 1.0; row[lane] += 1.0; }
fn other() { let a = 1; let b = 2; }
@compute @workgroup_size(8) fn main(@builtin(local_invocation_index) lane: u32) {
  touch(lane);
  for (var k = 0u; k < 3u; k++) { row[k] = 1.0; row[k] = 2.0; }
  if (lane == 0u) { row[0] = 1.0; row[1] = 2.0; }
  row[2] = 3.0;
}
"""


def test_barriers_go_between_the_statements_that_touch_workgroup_memory_and_not_under_conditions():
    outer, inner = (text for text, _ in with_barriers(STEPS))
    assert (outer.count("workgroupBarrier"), inner.count("workgroupBarrier")) == (4, 5)
    assert "row[k] = 1.0; storageBarrier(); workgroupBarrier();  row[k] = 2.0;" in inner
    assert "row[0] = 1.0; row[1] = 2.0;" in inner
    assert "let a = 1; let b = 2;" in inner
    lines = [line for _, line in with_barriers(STEPS, one_at_a_time=True, most=20)]
    assert lines == [3, 7, 7, 8, 9]


TURNED = (
    DECLARATIONS
    + """@compute @workgroup_size(2, 2)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(workgroup_id) group: vec3u) {
  let at = id.y * 6u + id.x;
  if (id.x < 6u && id.y < 4u) { y[at] = x[at] + f32(group.x + 3u * group.y); }
}
"""
)


def test_turning_workgroups_round_changes_nothing_where_their_order_does_not_matter(engine: Engine):
    plan = doubling(TURNED, count=24, grid=(3, 2, 1))
    turned = reordered(plan)
    assert turned is not None
    x = {"x": np.arange(24, dtype=np.float32)}
    want = Prober(engine, plan, x).run()[0]
    assert np.frombuffer(want["y"], np.float32)[23] == 23 + 5
    assert Prober(engine, turned, x).run()[0] == want
    assert "scanbuild_id" in turned.passes[0].wgsl
    assert reordered(doubling(TURNED, count=24)) is None


OPERATIONS = {
    "subgroupAdd(v)": lambda v: np.repeat(v.reshape(-1, 4).sum(axis=1), 4),
    "subgroupMax(v)": lambda v: np.repeat(v.reshape(-1, 4).max(axis=1), 4),
    "subgroupInclusiveAdd(v)": lambda v: np.cumsum(v.reshape(-1, 4), axis=1).reshape(-1),
    "subgroupExclusiveAdd(v)": lambda v: (np.cumsum(v.reshape(-1, 4), axis=1) - v.reshape(-1, 4)).reshape(-1),
    "subgroupBroadcastFirst(v)": lambda v: np.repeat(v[::4], 4),
    "subgroupShuffleXor(v, 1u)": lambda v: v.reshape(-1, 2)[:, ::-1].reshape(-1),
    "f32(size + 10u * lane)": lambda v: np.tile(np.array([4, 14, 24, 34]), 2),
}


@pytest.mark.parametrize("operation", OPERATIONS)
def test_emulated_subgroups_do_what_subgroups_of_that_size_do(engine: Engine, operation: str):
    wgsl = f"""enable subgroups;
{DECLARATIONS}@compute @workgroup_size(8)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(subgroup_size) size: u32,
        @builtin(subgroup_invocation_id) lane: u32) {{
  let v = x[id.x];
  y[id.x] = {operation} + 0.0 * f32(size + lane);
}}
"""
    if "subgroups" not in engine.record.features:
        pytest.skip("the device has no subgroups")
    x = np.array([3, 1, 4, 1, 5, 9, 2, 6], np.float32)
    got = []
    for text in with_subgroups_of(wgsl, 4):
        assert "let size = 4u;" in text
        plan = doubling(text, count=8)
        try:
            got.append(np.frombuffer(Prober(engine, plan, {"x": x}).run()[0]["y"], np.float32))
        except CallError:
            continue
    assert got
    assert got[0].tolist() == OPERATIONS[operation](x).tolist()


def test_a_plan_of_one_workgroup_has_nothing_to_turn_round():
    assert reordered(doubling()) is None
    assert one_pass(TURNED, ()).grid == (1, 1, 1)
