"""The variant for a scan without steps, of bodies with int64 values.

A tensor of int64 without elements has a buffer that is too short to be bound. Without steps all scan inputs and outputs
are such tensors, and only the states have to be handed on.
"""

from typing import Any

from scanbuild.lowering.blocks import Block
from scanbuild.lowering.draft import Variant
from scanbuild.lowering.elements import Emitter, count
from scanbuild.lowering.graph import Port, Scan
from scanbuild.lowering.heading import heading
from scanbuild.lowering.outputs import HEAD, WIDTH
from scanbuild.lowering.storage import Shader, as_json, namer, read_text, write_text


def is_needed(scan: Scan) -> bool:
    """Whether some port can be an int64 tensor without elements."""
    return any(may_be_short(port) for port in (*scan.inputs, *scan.results))


def may_be_short(port: Port) -> bool:
    """Whether the port can be an int64 tensor without elements."""
    return port.dtype == "int64" and any(not size.number for size in port.shape)


def conditions(scan: Scan) -> list[str]:
    """What every other variant needs: that there is no int64 tensor without elements."""
    ports = {count(port.shape): port for port in (*scan.inputs, *scan.results) if may_be_short(port)}
    return [f"numel(shapes.{port.name}) > 0" for port in ports.values()]


def draft(scan: Scan) -> Variant:
    """The states before the first step are those after the last; outputs without elements need no work either."""
    passes, templates = [], {}
    for state in scan.states:
        name = f"copy-{state.before}"
        main = Block(head=HEAD)
        emit = Emitter(nodes=scan.by_name, sources={}, names=namer(scan), root=main)
        total = emit.index_value(count(state.initial.shape)).text
        main.add(f"let element = workgroup_number(workgroup) * {WIDTH}u + local;")
        main.add(Block(head=f"if (element >= {total})", kind="branch", lines=["return;"]))
        main.add(write_text(state.final, "element", read_text(state.initial, "element")))
        text = main.render()
        title = f"Without steps, the state {state.before} is at last what it was at first."
        notes = ["Layout: both are row-major.", "Assumptions: indices of elements fit 32 bits."]
        shader = Shader(
            scan,
            heading(scan, title, notes, []),
            reads={state.initial.name: state.initial},
            writes={state.final.name: state.final},
        )
        templates[f"{name}.wgsl.jinja"] = shader.text(text)
        passes.append(
            {
                "id": name.replace("-", "_"),
                "shader": f"{name}.wgsl.jinja",
                "bindings": shader.bindings((), text),
                "dispatch": {"threads": as_json(count(state.initial.shape)), "workgroupSize": WIDTH},
            }
        )
    results = " + ".join(f"numel(shapes.{port.name})" for port in scan.results)
    entry: dict[str, Any] = {
        "id": "no_steps",
        "description": "Without steps: the states are handed on.",
        "priority": 0,
        "when": [f"{scan.steps} == 0 or {results} == 0"],
        "passes": passes,
    }
    return Variant(entry=entry, templates=templates)
