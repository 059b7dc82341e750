"""Weights whose rows are summed over, turned once so that neighbouring invocations read neighbouring elements.

In ``y = x W'``, with W as PyTorch stores it, invocation j reads row j of W: every load of a workgroup touches as many
lines of memory as there are invocations. A walk reads its weights in each step, so a copy with the axes in another
order pays soon.
"""

from dataclasses import dataclass
from typing import Any, Final

from scanbuild.lowering.blocks import Block, Value
from scanbuild.lowering.elements import ZERO, Emitter, Index, Load, count
from scanbuild.lowering.graph import Capture, Scan, Shape
from scanbuild.lowering.heading import heading
from scanbuild.lowering.outputs import HEAD, WIDTH
from scanbuild.lowering.schedule import Schedule
from scanbuild.lowering.sizes import ONE, Size
from scanbuild.lowering.storage import Shader, as_json, namer, reader
from scanbuild.lowering.tracing import trace

_WORTH: Final = 1024
_DTYPES: Final = frozenset({"float32", "int32", "uint32"})


@dataclass(frozen=True, kw_only=True, slots=True)
class Turned:
    """A capture that is read from a copy, a scratch buffer; axis i of the copy is axis ``perm[i]`` of the capture."""

    capture: Capture
    name: str
    perm: tuple[int, ...]

    @property
    def shape(self) -> Shape:
        return tuple(self.capture.port.shape[axis] for axis in self.perm)

    @property
    def scratch(self) -> dict[str, Any]:
        size = count(self.shape)
        return {"id": self.name, "dtype": self.capture.port.dtype, "shape": [size.number or str(size)]}

    @property
    def binding(self) -> dict[str, Any]:
        return {"scratch": self.name, "buffer": "read-only-storage"}

    @property
    def load(self) -> Load:
        """How an element of the capture is read from the copy."""

        def load(emit: Emitter, index: Index) -> Value:
            at = emit.index_value(emit.address(tuple(index[axis] for axis in self.perm), self.shape))
            return Value(f"{self.name}[{at.text}]", emit.made("", [at]).block, atomic=True)

        return load


def turned_captures(scan: Scan, plan: Schedule) -> tuple[Turned, ...]:
    """The captures that are always read along their last axis within a sum, and across it by neighbours."""
    found = []
    for capture in scan.captures:
        shape = capture.port.shape
        large = not count(shape).number or (count(shape).number or 0) >= _WORTH
        if len(shape) > 1 and large and capture.port.dtype in _DTYPES:
            axes = {_neighbours(scan, plan, capture, name) for group in plan.groups for name in group.nodes} - {None}
            axis = axes.pop() if len(axes) == 1 else None
            if axis is not None and 0 <= axis < len(shape) - 1:
                perm = (*(other for other in range(len(shape)) if other != axis), axis)
                found.append(Turned(capture=capture, name=f"{capture.port.name}_turned", perm=perm))
    return tuple(found)


def _neighbours(scan: Scan, plan: Schedule, capture: Capture, name: str) -> int | None:
    """The axis of a capture along which neighbouring elements of a value read it; -1 if there is no one axis.

    None if the value does not read it.
    """
    shape = scan.by_name[name].shape
    extents = {f"%x{axis}": size for axis, size in enumerate(shape)}
    index = tuple(ZERO if size == ONE else Size.of(symbol) for symbol, size in extents.items())
    last = next((symbol for symbol, size in reversed(extents.items()) if size != ONE), "")
    others = {state.before for state in scan.states} | set(plan.stored)
    reads = trace(scan, name, index, extents, {capture.node} | (others - {name}))
    axes = {
        next((axis for axis, at in enumerate(read.index) if last in at.symbols), -1)
        for read in reads
        if read.source == capture.node
    }
    return None if not axes else axes.pop() if len(axes) == 1 else -1


def turning_pass(scan: Scan, turned: Turned) -> tuple[dict[str, Any], str, str]:
    """The pass that makes the copy: its entry, and the name and text of its template."""
    main = Block(head=HEAD)
    names = namer(scan)
    names.take(turned.name)
    emit = Emitter(nodes=scan.by_name, sources={}, names=names, root=main)
    main.add(f"let element = workgroup_number(workgroup) * {WIDTH}u + local;")
    total = emit.index_value(count(turned.shape)).text
    main.add(Block(head=f"if (element >= {total})", kind="branch", lines=["return;"]))
    index = emit.unravel("element", turned.shape, main, "i")
    places = tuple(index[turned.perm.index(axis)] for axis in range(len(turned.perm)))
    main.add(f"{turned.name}[element] = {reader(turned.capture.port)(emit, places).text};")
    text = main.render()
    port = turned.capture.port
    title = f"A copy of {port.name} with the axes in the order {list(turned.perm)}."
    notes = [
        "Layout: both are row-major. Neighbouring invocations of the walk read neighbouring elements of the copy.",
        "Assumptions: indices of elements fit 32 bits.",
    ]
    shader = Shader(scan, heading(scan, title, notes, []), reads={port.name: port})
    file = f"turn-{port.name}.wgsl.jinja"
    entry = {
        "id": f"turn_{port.name}",
        "shader": file,
        "bindings": shader.bindings([{"scratch": turned.name}], text),
        "dispatch": {"threads": as_json(count(turned.shape)), "workgroupSize": WIDTH},
    }
    return entry, file, shader.text(text)
