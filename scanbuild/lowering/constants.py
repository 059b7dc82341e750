"""Constants of many elements: words of a scratch buffer that a pass writes before all others.

An array in a shader that is indexed by a variable is copied into registers or stack by compilers, element by element,
wherever it is read; from some size on they take minutes.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from scanbuild.lowering import wgsl
from scanbuild.lowering.blocks import Value
from scanbuild.lowering.draft import Variant
from scanbuild.lowering.elements import Emitter, Index, Load
from scanbuild.lowering.graph import Node, Scan

NAME: Final = "constants"
BINDING: Final[Mapping[str, Any]] = {"scratch": NAME, "buffer": "read-only-storage"}
_FEW: Final = 8
_FILE: Final = "constants.wgsl.jinja"


@dataclass(frozen=True, kw_only=True, slots=True)
class Pool:
    """The constants of a ``Scan`` that lie in the buffer, and the word at which each begins."""

    nodes: tuple[Node, ...]
    starts: Mapping[str, int]
    size: int


def pool_of(scan: Scan) -> Pool:
    """The constants that are too large for an array in a shader."""
    nodes, starts, size = [], {}, 0
    for node in scan.nodes:
        if node.operation == "constant" and _is_large(np.asarray(node.attributes["value"])):
            starts[node.name] = size
            nodes.append(node)
            size += len(_words(node))
    return Pool(nodes=tuple(nodes), starts=starts, size=size)


def _is_large(array: "np.ndarray[Any, Any]") -> bool:
    return array.size > _FEW and array.tobytes() != array.reshape(-1)[:1].tobytes() * array.size


def _words(node: Node) -> "np.ndarray[Any, Any]":
    array = np.ascontiguousarray(node.attributes["value"]).reshape(-1)
    wide = {"f32": np.float32, "i32": np.int32, "u32": np.uint32, "bool": np.uint32, "vec2<u32>": np.int64}
    return array.astype(wide[wgsl.SCALARS[node.dtype]]).view(np.uint32)


def pool_sources(scan: Scan) -> dict[str, Load]:
    """How the constants of the buffer are read."""
    pool = pool_of(scan)
    return {node.name: _load(node, pool.starts[node.name]) for node in pool.nodes}


def _load(node: Node, start: int) -> Load:
    scalar = wgsl.SCALARS[node.dtype]

    def load(emit: Emitter, index: Index) -> Value:
        numbers = [item.number for item in index]
        if all(number is not None for number in numbers):
            array = np.asarray(node.attributes["value"])
            return emit.literal(array[tuple(number or 0 for number in numbers)], node.dtype)
        at = emit.address(index, node.shape)
        words = [emit.index_value(at + start)]
        if scalar == "vec2<u32>":
            words = [emit.index_value(at * 2 + start + part) for part in (0, 1)]
        texts = [f"{NAME}[{word.text}]" for word in words]
        forms = {"u32": "{0}", "bool": "({0} != 0u)", "vec2<u32>": "vec2<u32>({0}, {1})"}
        text = forms.get(scalar, f"bitcast<{scalar}>({{0}})").format(*texts)
        return Value(text, emit.made("", words).block, atomic=True)

    return load


def with_constants(scan: Scan, variant: Variant) -> Variant:
    """A variant with the buffer, and the pass that fills it before all others, if a shader of it reads the buffer."""
    if not any(f"{NAME}[" in text for text in variant.templates.values()):
        return variant
    pool = pool_of(scan)
    buffer = {"id": NAME, "dtype": "uint32", "shape": [pool.size]}
    fill = {"id": NAME, "shader": _FILE, "bindings": [{"scratch": NAME}], "dispatch": {"x": 1}}
    entry = {
        **variant.entry,
        "intermediates": [buffer, *variant.entry.get("intermediates", [])],
        "passes": [fill, *variant.entry["passes"]],
    }
    return Variant(entry=entry, templates={**variant.templates, _FILE: _template(pool)})


def _template(pool: Pool) -> str:
    lines = ["// The constants of the body, as words in the order of the nodes.", "//"]
    for node in pool.nodes:
        shape = ", ".join(map(str, node.shape))
        lines.append(f"// From word {pool.starts[node.name]} on: {node.name}, {node.dtype} [{shape}].")
    lines += ["", "{{ env.wgsl.resourceDeclarations }}", "", "@compute @workgroup_size(1)", "fn main() {"]
    for node in pool.nodes:
        start = pool.starts[node.name]
        lines += [f"  {NAME}[{start + number}u] = 0x{word:08x}u;" for number, word in enumerate(_words(node))]
    return "\n".join([*lines, "}", ""])
