"""What a device can do at best: a copy of as many bytes, and a dispatch that does nothing. As plans like any other."""

from dataclasses import dataclass
from typing import Final

from scanbuild.planning.device import DeviceRecord
from scanbuild.planning.plan import BindingPlan, PassPlan, Plan, TensorSpec

_INVOCATIONS: Final = 256
_VECTOR: Final = 16

_COPY: Final = """@group(0) @binding(0) var<storage, read> source: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read_write> target_: array<vec4<f32>>;
@compute @workgroup_size(256)
fn main(
  @builtin(workgroup_id) group: vec3<u32>,
  @builtin(num_workgroups) groups: vec3<u32>,
  @builtin(local_invocation_index) lane: u32,
) {
  let index = (group.y * groups.x + group.x) * 256u + lane;
  if (index < arrayLength(&target_)) { target_[index] = source[index]; }
}
"""

# It names a buffer that it may write, so that one waits for the one before, as calls of a kernel do.
_NOTHING: Final = """@group(0) @binding(0) var<storage, read_write> cell: array<u32>;
@compute @workgroup_size(1) fn main() {}
"""


@dataclass(frozen=True, kw_only=True, slots=True)
class Copy:
    """A copy that moves ``bytes_moved`` in all, half of them read and half written, and what it stands for.

    ``scale`` is what its time has to be multiplied with: above 1 where the device cannot bind as much at once, below
    where so little is asked for that the smallest copy moves more.
    """

    plan: Plan
    bytes_moved: int
    scale: float


def copy_of(bytes_moved: float, device: DeviceRecord) -> Copy:
    """The copy that moves so many bytes: one ``vec4`` an invocation, 256 invocations a workgroup."""
    most = int(min(device.limits["maxStorageBufferBindingSize"], device.limits["maxBufferSize"])) // _VECTOR
    vectors = min(max(round(bytes_moved / 2 / _VECTOR), 1), most)
    size = vectors * _VECTOR
    groups = -(-vectors // _INVOCATIONS)
    rows = -(-groups // device.max_workgroups)
    plan = _plan(
        "copy",
        _COPY,
        (_binding("copy source", "read", size), _binding("copy target", "read_write", size)),
        (-(-groups // rows), rows, 1),
    )
    moved = 2 * size
    # A copy of less than one vector is not to be had; it takes what an empty dispatch takes.
    return Copy(plan=plan, bytes_moved=moved, scale=max(bytes_moved / moved, 1.0))


def nothing() -> Plan:
    """One workgroup of one invocation that does nothing."""
    return _plan("empty", _NOTHING, (_binding("empty cell", "read_write", 4),), (1, 1, 1))


def _plan(name: str, wgsl: str, bindings: tuple[BindingPlan, ...], grid: tuple[int, int, int]) -> Plan:
    specs = {
        item.ref: TensorSpec(name=item.ref, dtype="float32", logical="float32", shape=(item.size // 4,), size=item.size)
        for item in bindings
    }
    written = {item.ref for item in bindings if item.access == "read_write"}
    return Plan(
        op_id=f"scanbuild.roofline.{name}",
        variant=name,
        inputs={key: spec for key, spec in specs.items() if key not in written},
        outputs={key: spec for key, spec in specs.items() if key in written},
        returned=(),
        passes=(PassPlan(id=name, label=f"roofline/{name}", wgsl=wgsl, bindings=bindings, grid=grid),),
        scratches={},
    )


def _binding(name: str, access: str, size: int) -> BindingPlan:
    return BindingPlan(
        name=name.rpartition(" ")[2],
        access="read" if access == "read" else "read_write",
        source="tensor",
        ref=name,
        size=size,
    )
