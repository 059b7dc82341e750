"""Plans made by hand."""

import struct

from scanbuild.planning.plan import BindingPlan, PassPlan, Plan, ScratchSpec, TensorSpec

DECLARATIONS = """@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read_write> y: array<f32>;
"""

DOUBLE = (
    DECLARATIONS
    + """@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  if (id.x < arrayLength(&y)) { y[id.x] = 2.0 * x[id.x]; }
}
"""
)


def tensor(name: str, count: int, dtype: str = "float32") -> TensorSpec:
    return TensorSpec(name=name, dtype=dtype, logical=dtype, shape=(count,), size=4 * max(count, 1))


def bound(name: str, access: str, count: int, source: str = "tensor") -> BindingPlan:
    return BindingPlan(name=name, access=access, source=source, ref=name, size=4 * max(count, 1))  # type: ignore[arg-type]


def uniform(*words: int) -> BindingPlan:
    data = struct.pack(f"<{len(words)}I", *words)
    return BindingPlan(name="params", access="uniform", source="uniform", size=len(data), data=data)


def one_pass(wgsl: str, bindings: tuple[BindingPlan, ...], **more: object) -> PassPlan:
    members: dict[str, object] = {"id": "main", "label": "toy/main", "grid": (1, 1, 1), "template": "k.wgsl.jinja"}
    return PassPlan(wgsl=wgsl, bindings=bindings, **{**members, **more})  # type: ignore[arg-type]


def plan(
    *passes: PassPlan,
    count: int = 5,
    inputs: tuple[str, ...] = ("x",),
    outputs: tuple[str, ...] = ("y",),
    scratches: tuple[ScratchSpec, ...] = (),
) -> Plan:
    return Plan(
        op_id="ai.onnx.Toy",
        variant="main",
        inputs={name: tensor(name, count) for name in inputs},
        outputs={name: tensor(name, count) for name in outputs},
        returned=outputs,
        passes=passes,
        scratches={item.id: item for item in scratches},
    )


def doubling(wgsl: str = DOUBLE, count: int = 5, **more: object) -> Plan:
    """y = 2 x, or whatever the given text does with the same bindings."""
    return plan(one_pass(wgsl, (bound("x", "read", count), bound("y", "read_write", count)), **more), count=count)
