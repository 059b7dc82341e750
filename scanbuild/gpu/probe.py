"""Finding out what an engine's Python layer does not tell, or tells wrongly, of a created device.

The layers report subgroup sizes 4 and 128 and no WGSL language features on every adapter, so both are tried: a
language feature is there if a module that requires it compiles, and the subgroup size is what a shader sees. A
software driver has one size. On hardware one shader does not show the range, so it comes from a table of vendors,
and is left out (as WebGPU allows) for others.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

LANGUAGE_FEATURES: Final = (
    "buffer_view",
    "fragment_depth",
    "immediate_address_space",
    "linear_indexing",
    "packed_4x8_integer_dot_product",
    "pointer_composite_access",
    "readonly_and_readwrite_storage_textures",
    "subgroup_id",
    "subgroup_uniformity",
    "swizzle_assignment",
    "texture_and_sampler_let",
    "texture_formats_tier1",
    "uniform_buffer_standard_layout",
    "unrestricted_pointer_parameters",
)

# What browsers report for these vendors.
_SUBGROUP_RANGES: Final[Mapping[str, tuple[int, int]]] = {
    "nvidia": (32, 32),
    "apple": (32, 32),
    "intel": (8, 32),
    "amd": (32, 64),
}

_EMPTY_MAIN = "@compute @workgroup_size(1) fn main() {}\n"

_EXCHANGE = """
@group(0) @binding(0) var<storage, read_write> cell: atomic<u32>;
@compute @workgroup_size(1) fn main() {
  let seen = atomicCompareExchangeWeak(&cell, 0u, 1u);
  if (seen.exchanged) { atomicStore(&cell, seen.old_value + 2u); }
}
"""

_PLAIN_ATOMICS = """
@group(0) @binding(0) var<storage, read_write> cell: atomic<u32>;
@compute @workgroup_size(1) fn main() { atomicStore(&cell, atomicLoad(&cell) + 2u); }
"""

_SUBGROUP_SIZE = """
@group(0) @binding(0) var<storage, read_write> seen: array<u32>;
@compute @workgroup_size(64) fn main(@builtin(subgroup_size) size: u32) { seen[0] = size; }
"""


def language_features(device: Any) -> list[str]:
    """The WGSL language features that the engine's compiler knows."""
    return [name for name in LANGUAGE_FEATURES if _compiles(device, f"requires {name};\n{_EMPTY_MAIN}")]


def compile_failures(device: Any) -> frozenset[str]:
    """The WGSL functions that the device cannot compile although it compiles their like (6.3)."""
    if _builds(device, _EXCHANGE) or not _builds(device, _PLAIN_ATOMICS):
        return frozenset()
    return frozenset({"atomicCompareExchangeWeak"})


def subgroup_sizes(
    module: Any, device: Any, vendor: str, software: bool, adapt: Callable[[str], str]
) -> tuple[int, int] | None:
    """Smallest and largest subgroup size of a device with subgroups, or None where they are not known."""
    if not software:
        return _SUBGROUP_RANGES.get(vendor)
    try:
        size = _run_for_word(module, device, adapt("enable subgroups;" + _SUBGROUP_SIZE))
    except Exception:
        return None
    return (size, size) if 1 <= size <= 128 else None


def _compiles(device: Any, code: str) -> bool:
    try:
        device.create_shader_module(code=code)
    except Exception:
        return False
    return True


def _builds(device: Any, code: str) -> bool:
    try:
        module = device.create_shader_module(code=code)
        device.create_compute_pipeline(layout="auto", compute={"module": module, "entry_point": "main"})
    except Exception:
        return False
    return True


def _run_for_word(module: Any, device: Any, code: str) -> int:
    """Run one workgroup of a shader and return the first 32-bit word of its only buffer."""
    usage = module.BufferUsage
    shader = device.create_shader_module(code=code)
    pipeline = device.create_compute_pipeline(layout="auto", compute={"module": shader, "entry_point": "main"})
    buffer = device.create_buffer(size=4, usage=usage.STORAGE | usage.COPY_SRC)
    try:
        entry = {"binding": 0, "resource": {"buffer": buffer, "offset": 0, "size": 4}}
        group = device.create_bind_group(layout=pipeline.get_bind_group_layout(0), entries=[entry])
        encoder = device.create_command_encoder()
        compute = encoder.begin_compute_pass()
        compute.set_pipeline(pipeline)
        compute.set_bind_group(0, group)
        compute.dispatch_workgroups(1, 1, 1)
        compute.end()
        device.queue.submit([encoder.finish()])
        return int.from_bytes(bytes(device.queue.read_buffer(buffer)), "little")
    finally:
        buffer.destroy()
