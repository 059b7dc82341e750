"""Nodes as NumPy expressions: the one definition of what an operation means.

The interpreter evaluates these texts, and a package's ``reference.py`` is made of them.
"""

import re
from collections.abc import Sequence
from typing import Any, Final

from scanbuild.lowering.graph import Node
from scanbuild.lowering.operations import MAPS
from scanbuild.lowering.sizes import Size

_OPERAND: Final = re.compile(r"\b[abc]\b")
_REDUCTIONS: Final = {"add": "total", "mul": "product", "min": "lowest", "max": "highest"}


def expression(node: Node, operands: Sequence[str]) -> str:
    """The value of a node, in terms of its operands (names or literals) and the symbols of sizes, by their names.

    Besides them only ``np`` and the functions of ``numerics`` occur. Not for inputs and constants, which have no text.
    """
    if node.operation in MAPS:
        by_letter = dict(zip("abc", operands, strict=False))
        return _OPERAND.sub(lambda letter: by_letter[letter[0]], MAPS[node.operation].numpy)
    return _shaped(node, operands) if node.operation in _SHAPED else _gathered(node, operands)


_SHAPED: Final = frozenset({"size", "cast", "reshape", "transpose", "expand", "slice", "concat", "pad"})


def _shaped(node: Node, operands: Sequence[str]) -> str:
    attributes = node.attributes
    shape = sizes_text(node.shape)
    match node.operation:
        case "size":
            return f"np.asarray({attributes['size']}).astype(np.{node.dtype})"
        case "cast":
            return f"convert({operands[0]}, np.{_numpy_name(node.dtype)})"
        case "reshape":
            return f"np.reshape({operands[0]}, {shape})"
        case "transpose":
            return f"np.transpose({operands[0]}, {tuple(attributes['perm'])})"
        case "expand":
            return f"np.broadcast_to({operands[0]}, {shape})"
        case "slice":
            starts, steps = sizes_text(attributes["starts"]), tuple(attributes["steps"])
            return f"cut({operands[0]}, {starts}, {steps}, {shape})"
        case "concat":
            return f"np.concatenate(({', '.join(operands)},), axis={attributes['axis']})"
        case _:
            before, after = sizes_text(attributes["before"]), sizes_text(attributes["after"])
            rest = "".join(f", {operand}" for operand in operands[1:])
            return f'pad({operands[0]}, {before}, {after}, "{attributes["mode"]}"{rest})'


def _gathered(node: Node, operands: Sequence[str]) -> str:
    attributes, first = node.attributes, operands[0]
    match node.operation:
        case "gather":
            return f"np.take({first}, {operands[1]}, axis={attributes['axis']})"
        case "gather_elements":
            return f"gather_elements({first}, {operands[1]}, {attributes['axis']})"
        case "reduce":
            return f"{_REDUCTIONS[attributes['kind']]}({first}, {tuple(attributes['axes'])})"
        case "arg":
            flags = f"lowest={attributes['kind'] == 'min'}, last={bool(attributes['last'])}"
            return f"arg({first}, {attributes['axis']}, {flags})"
        case "cumulate":
            flags = f"exclusive={bool(attributes['exclusive'])}, reverse={bool(attributes['reverse'])}"
            return f"cumulate({first}, {attributes['axis']}, {flags})"
        case "contract":
            left, right, out = ("".join(attributes[side]) for side in ("left", "right", "out"))
            return f'contract("{left},{right}->{out}", {first}, {operands[1]})'
        case other:
            raise ValueError(f"{other} is no operation of the normal form")


def sizes_text(sizes: Sequence[Any]) -> str:
    """Sizes as a Python tuple of integer expressions over their symbols."""
    words = [str(Size.of(size)) for size in sizes]
    return f"({', '.join(words)}{',' if len(words) == 1 else ''})"


def _numpy_name(dtype: str) -> str:
    return "bool_" if dtype == "bool" else dtype
