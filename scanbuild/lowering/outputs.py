"""Scan outputs: storing their elements, and passes for those that depend on no state."""

from typing import Any, Final

from scanbuild.lowering.blocks import Block, Value
from scanbuild.lowering.elements import Emitter, Index, count, targets, use_counts
from scanbuild.lowering.graph import Output, Scan
from scanbuild.lowering.heading import heading
from scanbuild.lowering.sizes import Size
from scanbuild.lowering.storage import Shader, as_json, mentioned, namer, step_sources, write_text

WIDTH: Final = 64
HEAD: Final = (
    f"@compute @workgroup_size({WIDTH})\n"
    "fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) local: u32)"
)


def store_output(
    emit: Emitter, scan: Scan, output: Output, index: Index, step: Size, known: Value | None = None
) -> None:
    """Compute an element of an output's value in a step, if it is not known, and store it."""
    value = known or emit.operand(emit.value(output.node, index))
    position = scan.steps - 1 - step if output.prepend else step
    whole = (*index[: output.axis], position, *index[output.axis :])
    at = emit.index_value(emit.address(whole, output.port.shape))
    emit.block.add(write_text(output.port, at.text, value.text))


def map_pass(scan: Scan, output: Output, name: str) -> tuple[dict[str, Any], str]:
    """An output that depends on no state: an invocation an element, whatever its step."""
    main, names, shape = Block(head=HEAD), namer(scan), output.port.shape
    emit = Emitter(nodes=scan.by_name, sources={}, names=names, root=main, uses=use_counts(scan.nodes, targets(scan)))
    main.add(f"let element = workgroup_number(workgroup) * {WIDTH}u + local;")
    total = emit.index_value(count(shape)).text
    main.add(Block(head=f"if (element >= {total})", kind="branch", lines=["return;"]))
    index = emit.unravel("element", shape, main, "i")
    position = index[output.axis]
    step = scan.steps - 1 - position if output.prepend else position
    emit.sources = step_sources(scan, step)
    inner = (*index[: output.axis], *index[output.axis + 1 :])
    store_output(emit, scan, output, inner, step)
    main.prune()
    text = main.render()
    notes = [
        "Layout: the output is row-major; neighbouring invocations write neighbouring elements.",
        "Algorithm: no element depends on another step, so all are computed at once.",
        "Assumptions: indices of elements fit 32 bits.",
    ]
    shader = Shader(
        scan,
        heading(scan, f"The scan output {output.port.name}, which depends on no state.", notes, [output.node]),
        reads=mentioned(scan, text),
        writes={output.port.name: output.port},
    )
    entry = {
        "id": name.replace("-", "_"),
        "shader": f"{name}.wgsl.jinja",
        "bindings": shader.bindings((), text),
        "dispatch": {"threads": as_json(count(shape)), "workgroupSize": WIDTH},
    }
    return entry, shader.text(text, tables=emit.tables.values())
