"""What ``scanbuild lower --explain`` tells, as plain data (JSON): ``schemas/lower-report.schema.json`` describes it."""

from typing import Any

from scanbuild.lowering.algebra import Recurrence
from scanbuild.lowering.analysis import Analysis, analyse
from scanbuild.lowering.dependence import Reads
from scanbuild.lowering.draft import Draft, Refusal
from scanbuild.lowering.graph import Origin, Port, Scan
from scanbuild.lowering.heading import formulas
from scanbuild.lowering.lower import Read


def explanation(read: Read) -> dict[str, Any]:
    """States, inputs, captures and outputs, what depends on what, and what each strategy makes of it."""
    scan, analysis = read.scan, analyse(read.scan)
    return {
        "model": read.model.where,
        "node": read.candidate.path,
        "opset": scan.opset,
        "steps": str(scan.steps),
        "equalities": [f"{left} == {right}" for left, right in scan.equalities],
        "states": [_state(index, analysis) for index in range(len(scan.states))],
        "inputs": [{**_port(item.port), "axis": item.axis, "reverse": item.reverse} for item in scan.elements],
        "captures": [_port(item.port) for item in scan.captures],
        "outputs": [
            {
                **_port(item.port),
                "axis": item.axis,
                "prepend": item.prepend,
                "reads": _reads(analysis.reads[item.node], scan),
            }
            for item in scan.outputs
        ],
        "body": [line.strip() for line in formulas(scan)],
        "strategies": [_strategy(name, draft, read) for name, draft in read.drafts.items()],
    }


def _state(index: int, analysis: Analysis) -> dict[str, Any]:
    state = analysis.scan.states[index]
    return {
        **_port(state.initial),
        "name": state.before,
        "initial": state.initial.name,
        "final": state.final.name,
        "reads": _reads(analysis.reads[state.after], analysis.scan),
        "update": _update(index, analysis),
    }


def _update(index: int, analysis: Analysis) -> dict[str, Any]:
    """Whether steps of this state can be regrouped, together with which states, and why not."""
    knot = next(knot for knot in analysis.knots if index in knot.states)
    together = [analysis.scan.states[other].before for other in knot.states]
    if isinstance(knot, Recurrence):
        return {"regroups": True, "kind": knot.kind, "with": together}
    return {"regroups": False, "with": together, "reason": knot.reason, **_origin(knot.origin)}


def _strategy(name: str, draft: Draft, read: Read) -> dict[str, Any]:
    if isinstance(draft, Refusal):
        return {"name": name, "applies": False, "reason": draft.reason, **_origin(draft.origin)}
    hidden = read.hidden_by(draft)
    return {
        "name": name,
        "applies": True,
        "variant": draft.id,
        "description": str(draft.entry.get("description", "")),
        "when": list(draft.entry.get("when", ())),
        **({"hiddenBy": hidden.id} if hidden else {}),
    }


def _origin(origin: Origin) -> dict[str, Any]:
    return {"node": {"name": origin.name, "operator": origin.operator}} if origin.name or origin.operator else {}


def _reads(reads: Reads, scan: Scan) -> dict[str, list[str]]:
    return {
        "states": [scan.states[index].before for index in sorted(reads.states)],
        "inputs": [scan.elements[index].port.name for index in sorted(reads.elements)],
        "captures": [scan.captures[index].port.name for index in sorted(reads.captures)],
    }


def _port(port: Port) -> dict[str, Any]:
    return {
        "name": port.name,
        "dtype": port.dtype,
        "shape": [size.number if size.number is not None else str(size) for size in port.shape],
    }
