"""What stands at the top of a shader: what it computes, in formulas that a person can read, and how."""

import re
import textwrap
from collections.abc import Iterable, Sequence
from typing import Any, Final

import numpy as np

from scanbuild.lowering.dependence import needed
from scanbuild.lowering.elements import targets, use_counts
from scanbuild.lowering.graph import Node, Scan
from scanbuild.lowering.sizes import Size

_INFIX: Final = {
    "add": "+",
    "sub": "-",
    "mul": "*",
    "div": "/",
    "eq": "==",
    "ne": "!=",
    "lt": "<",
    "le": "<=",
    "gt": ">",
    "ge": ">=",
    "and": "and",
    "or": "or",
    "bit_and": "&",
    "bit_or": "|",
    "bit_xor": "^",
}
_PART: Final = re.compile(r"\w+\[[^\[\]]*\]")
_WIDTH: Final = 116
_LONG: Final = 64


def heading(scan: Scan, summary: str, notes: Iterable[str], wanted: Sequence[str]) -> str:
    """The comment at the top of a template: a summary, the body's formulas for what is wanted, notes."""
    lines = textwrap.wrap(summary, _WIDTH)
    if wanted:
        lines += ["", "Computes, in each step:", *(f"  {line}" for line in formulas(scan, wanted)), ""]
    for note in notes:
        lines += textwrap.wrap(note, _WIDTH)
    return "".join(f"// {_harmless(line)}".rstrip() + "\n" for line in lines)


def _harmless(text: str) -> str:
    """A text that begins no tag of the template language."""
    return text.replace("{", "(").replace("}", ")")


def formulas(scan: Scan, wanted: Sequence[str] = ()) -> list[str]:
    """The body as formulas: what is read several times has a line of its own; ``s'`` is the state s after the step."""
    shown = list(dict.fromkeys(wanted or targets(scan)))
    nodes = needed(scan.nodes, shown)
    uses, texts, lines = use_counts(nodes), {}, []
    for node in nodes:
        if node.operation == "input":
            texts[node.name] = node.name
            continue
        text = _text(node, [texts[name] for name in node.inputs])
        if node.operation in ("constant", "size") and node.name not in shown:
            texts[node.name] = text
        elif node.name in shown or uses.get(node.name, 0) > 1 or len(text) > _LONG:
            lines += textwrap.wrap(f"{node.name} = {text}", _WIDTH - 2, subsequent_indent="    ")
            texts[node.name] = node.name
        else:
            texts[node.name] = text
    for state in scan.states:
        if state.after in shown:
            lines.append(f"{state.before}' = {state.after}")
    for output in scan.outputs:
        if output.node in shown:
            lines.append(f"{output.port.name}: {output.node}")
    return lines


def _text(node: Node, operands: list[str]) -> str:
    grouped = [
        f"({text})" if " " in text and not _is_call(text) and not _PART.fullmatch(text) else text for text in operands
    ]
    if node.operation in _INFIX:
        return f"{grouped[0]} {_INFIX[node.operation]} {grouped[1]}"
    match node.operation:
        case "neg":
            return f"-{grouped[0]}"
        case "constant":
            return _constant(np.asarray(node.attributes["value"]))
        case "size":
            return str(node.attributes["size"])
        case "cast":
            return f"{node.dtype}({operands[0]})"
        case "slice":
            spans = map(_span, node.attributes["starts"], node.attributes["steps"], node.shape)
            return f"{grouped[0]}[{', '.join(spans)}]"
        case "reshape" | "expand":
            return f"{node.operation}({operands[0]}, [{', '.join(map(str, node.shape))}])"
        case "arg":
            last = ", the last" if node.attributes["last"] else ""
            return f"arg{node.attributes['kind']}({operands[0]} over {node.attributes['axis']}{last})"
        case "transpose":
            return f"transpose({operands[0]}, axes {', '.join(map(str, node.attributes['perm']))})"
        case "reduce":
            axes = ", ".join(map(str, node.attributes["axes"]))
            words = {"add": "sum", "mul": "product", "min": "min", "max": "max"}
            return f"{words[node.attributes['kind']]}({operands[0]} over {axes})"
        case "contract":
            left, right, out = ("".join(node.attributes[side]) for side in ("left", "right", "out"))
            return f'einsum("{left},{right}->{out}", {operands[0]}, {operands[1]})'
    return f"{node.operation}({', '.join(operands)})"


def _span(start: Size | int, step: int, count: Size) -> str:
    """A part of an axis as Python writes it: from where, to where, how far apart."""
    first = Size.of(start)
    if step == 1:
        return f"{first}:{first + count}" if first.terms else f":{count}"
    return f"{first}:{first + count * step}:{step}"


def _constant(array: "np.ndarray[Any, Any]") -> str:
    if array.ndim == 0:
        return str(array)
    if array.size <= 4:
        return str(array.tolist()).replace("\n", " ")
    return f"constant{list(array.shape)}"


def _is_call(text: str) -> bool:
    opening = text.find("(")
    return opening > 0 and text[:opening].isidentifier() and text.endswith(")") and _closes_last(text, opening)


def _closes_last(text: str, opening: int) -> bool:
    depth = 0
    for index in range(opening, len(text)):
        depth += {"(": 1, ")": -1}.get(text[index], 0)
        if depth == 0:
            return index == len(text) - 1
    return False
