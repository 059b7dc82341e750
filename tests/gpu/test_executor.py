"""Running plans, on every engine that is installed."""

import numpy as np
import pytest

from scanbuild.errors import CallError
from scanbuild.gpu import Engine, GpuBuffer, execute
from scanbuild.planning.plan import ScratchSpec
from tests.gpu.plans import DECLARATIONS, DOUBLE, bound, doubling, one_pass, plan, uniform

X = np.array([1, -2, 3, 0.5, 7], dtype=np.float32)

ADD_ONE = """@group(0) @binding(0) var<storage, read_write> y: array<f32>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  if (id.x < arrayLength(&y)) { y[id.x] += 1.0; }
}
"""


def floats(data: bytes | GpuBuffer) -> list[float]:
    raw = data.read() if isinstance(data, GpuBuffer) else data
    values: list[float] = np.frombuffer(raw, dtype=np.float32).tolist()
    return values


def test_a_plan_gives_the_bytes_of_its_outputs(engine: Engine):
    result = execute(engine, doubling(), {"x": X})
    assert floats(result.outputs["y"]) == [2, -4, 6, 1, 14]
    assert result.seconds > 0


def test_nothing_stays_on_the_device_after_a_call(engine: Engine):
    before = engine.live_buffers
    execute(engine, doubling(), {"x": X})
    assert engine.live_buffers == before


def test_a_kept_output_is_read_later_and_taken_by_another_call(engine: Engine):
    before = engine.live_buffers
    kept = execute(engine, doubling(), {"x": X}, keep=True).outputs["y"]
    assert isinstance(kept, GpuBuffer)
    assert engine.live_buffers == before + 1
    again = execute(engine, doubling(), resident={"x": kept}).outputs["y"]
    assert floats(again) == [4, -8, 12, 2, 28]
    assert floats(kept) == [2, -4, 6, 1, 14]
    kept.destroy()
    kept.destroy()
    assert engine.live_buffers == before


def test_a_destroyed_buffer_is_refused_by_name(engine: Engine):
    with execute(engine, doubling(), {"x": X}, keep=True).outputs["y"] as kept:  # type: ignore[union-attr]
        pass
    with pytest.raises(CallError, match="resident tensor y was destroyed"):
        execute(engine, doubling(), resident={"x": kept})
    with pytest.raises(CallError, match="was destroyed"):
        kept.read()


def test_an_output_given_as_resident_is_written_in_place_and_keeps_what_no_pass_writes(engine: Engine):
    accumulate = plan(one_pass(ADD_ONE, (bound("y", "read_write", 5),)), inputs=())
    first = execute(engine, accumulate, keep=True).outputs["y"]
    assert isinstance(first, GpuBuffer)
    with first:
        second = execute(engine, accumulate, resident={"y": first}, keep=True).outputs["y"]
        assert second is first
        assert floats(first) == [2.0] * 5


def test_an_inout_tensor_is_uploaded_once_and_returned(engine: Engine):
    in_place = plan(one_pass(ADD_ONE, (bound("y", "read_write", 5),)), inputs=("y",))
    assert floats(execute(engine, in_place, {"y": X}).outputs["y"]) == (X + 1).tolist()


def test_passes_run_in_order_and_share_a_zero_filled_scratch(engine: Engine):
    scratch = ScratchSpec(id="s", dtype="float32", shape=(5,), size=20)
    adder = ADD_ONE.replace("var<storage, read_write> y", "var<storage, read_write> s").replace("y[", "s[")
    adder = adder.replace("&y", "&s")
    bump = one_pass(adder, (bound("s", "read_write", 5, "scratch"),), submit_after=True)
    copy = one_pass(DOUBLE, (bound("s", "read", 5, "scratch"), bound("y", "read_write", 5)))
    result = execute(engine, plan(bump, bump, bump, copy, inputs=(), scratches=(scratch,)))
    assert floats(result.outputs["y"]) == [6.0] * 5
    assert engine.live_buffers == 0


def test_uniforms_reach_the_shader_each_pass_its_own(engine: Engine):
    text = (
        "struct Params { at: u32, value: u32, _pad0: u32, _pad1: u32 };\n"
        "@group(0) @binding(0) var<storage, read_write> y: array<f32>;\n"
        "@group(0) @binding(1) var<uniform> params: Params;\n"
        "@compute @workgroup_size(1) fn main() { y[params.at] = f32(params.value); }\n"
    )
    passes = [
        one_pass(text, (bound("y", "read_write", 5), uniform(at, value, 0, 0)))
        for at, value in [(0, 7), (3, 9), (4, 1)]
    ]
    assert floats(execute(engine, plan(*passes, inputs=())).outputs["y"]) == [7, 0, 0, 9, 1]


def test_a_plan_without_passes_gives_zeros_or_what_was_uploaded(engine: Engine):
    empty = plan(inputs=("y",), outputs=("y", "z"))
    result = execute(engine, empty, {"y": X})
    assert floats(result.outputs["y"]) == X.tolist()
    assert floats(result.outputs["z"]) == [0.0] * 5


def test_a_shader_that_does_not_compile_names_template_line_and_the_engine_s_words(engine: Engine):
    broken = DECLARATIONS + "@compute @workgroup_size(64)\nfn main() { y[0] = nothing_of_this_name; }\n"
    with pytest.raises(CallError) as caught:
        execute(engine, doubling(broken), {"x": X})
    (problem,) = caught.value.problems
    assert (problem.file, problem.line, problem.stage) == ("k.wgsl.jinja", 4, "call")
    assert "nothing_of_this_name" in problem.message
    assert engine.live_buffers == 0


@pytest.mark.parametrize(
    "text",
    [
        "",
        "@compute @workgroup_size(1) fn other() {}",
        "@vertex fn main() -> @builtin(position) vec4<f32> { return vec4<f32>(); }",
        "#version 450\nvoid main() {}",
        "@group(0) @binding(9) var<storage, read> q: array<f32>;\n@compute @workgroup_size(1) fn main() { _ = q[0]; }",
        "@group(1) @binding(0) var<storage, read> q: array<f32>;\n@compute @workgroup_size(1) fn main() { _ = q[0]; }",
        DOUBLE.replace("read>", "read_write>"),
        DOUBLE.replace("workgroup_size(64)", "workgroup_size(100000)"),
        DOUBLE.replace("workgroup_size(64)", "workgroup_size(0)"),
        "fn f() { g(); } fn g() { f(); }\n@compute @workgroup_size(1) fn main() { f(); }",
        "// \ud800 is no character\n" + DOUBLE,
        "\0" + DOUBLE,
    ],
    ids=[
        "empty",
        "no main",
        "no compute main",
        "glsl",
        "binding not in the layout",
        "other group",
        "wrong access",
        "workgroup too large",
        "workgroup of nothing",
        "recursion",
        "lone surrogate",
        "nul",
    ],
)
def test_a_hostile_shader_is_a_call_error_and_leaves_nothing_behind(engine: Engine, text: str):
    with pytest.raises(CallError):
        execute(engine, doubling(text), {"x": X})
    assert engine.live_buffers == 0
    assert floats(execute(engine, doubling(), {"x": X}).outputs["y"]) == [2, -4, 6, 1, 14]


def test_a_dispatch_over_the_device_s_limit_is_a_call_error(engine: Engine):
    with pytest.raises(CallError, match="running main"):
        execute(engine, doubling(grid=(1, 70000, 1)), {"x": X})
    assert engine.live_buffers == 0


def test_a_buffer_over_the_device_s_limit_is_a_call_error(engine: Engine):
    with pytest.raises(CallError, match="maxBufferSize"):
        execute(engine, doubling(count=2**40), {"x": X})
    assert engine.live_buffers == 0


def test_a_binding_smaller_than_the_shader_s_type_is_a_call_error(engine: Engine):
    text = DOUBLE.replace("x: array<f32>;", "x: array<vec4<f32>>;").replace("2.0 * x[id.x]", "x[id.x].x")
    with pytest.raises(CallError):
        execute(engine, doubling(text, count=1), {"x": X[:1]})
    assert engine.live_buffers == 0


def test_equal_shaders_share_one_pipeline(wgpu_engine: Engine):
    items = doubling().passes[0], doubling(label="another").passes[0]
    assert wgpu_engine.pipeline(items[0])[0] is wgpu_engine.pipeline(items[1])[0]
