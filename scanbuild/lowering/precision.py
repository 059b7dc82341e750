"""How far apart two correct computations of a ``Scan`` may be.

The body is run in its own dtypes and once more with every float as a float64. How much the two differ tells how much
the body magnifies rounding on these data. A kernel rounds differently from ONNX Runtime (another order of sums, a
device's own exponential), but not by orders of magnitude more, so a multiple of that difference is the tolerance.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Final, TypeVar

import numpy as np
import numpy.typing as npt

from scanbuild.lowering.graph import Element, Node, Output, Port, Scan, State
from scanbuild.lowering.operations import FLOATS
from scanbuild.lowering.reference import print_reference

Array = npt.NDArray[Any]
Item = TypeVar("Item", Element, Output)
Reference = Callable[[Mapping[str, Array], Mapping[str, Any], Mapping[str, Any]], dict[str, Array]]

_EXACT: Final = frozenset(
    {"input", "constant", "size", "add", "sub", "mul", "min", "max", "neg", "abs", "sign", "floor", "ceil", "round"}
    | {"eq", "ne", "lt", "le", "gt", "ge", "and", "or", "xor", "not", "where", "cast", "is_nan", "is_inf"}
    | {"reshape", "transpose", "expand", "slice", "concat", "pad", "gather", "gather_elements", "arg"}
    | {"reduce", "cumulate", "contract"}
)
"""Operations that a device rounds once, or not at all, for each sum or product."""
_MARGIN: Final = 16
_BASE: Final = {("float32", True): 1e-6, ("float32", False): 1e-5, ("float16", True): 2e-3, ("float16", False): 4e-3}
_LOOSEST: Final = {"float32": 1e-2, "float16": 1e-1}


def is_exact(scan: Scan) -> bool:
    """Whether the body has no operation whose accuracy is a device's own affair, such as an exponential."""
    return all(node.operation in _EXACT for node in scan.nodes)


def compiled(scan: Scan) -> Reference:
    """The function of the printed reference of a ``Scan``."""
    names: dict[str, Any] = {}
    exec(compile(print_reference(scan, "reference"), "<reference.py>", "exec"), names)
    function: Reference = names["reference"]
    return function


def widened(scan: Scan) -> Scan:
    """The same ``Scan`` with every float as a float64."""
    return replace(
        scan,
        nodes=tuple(map(_wide_node, scan.nodes)),
        states=tuple(
            State(initial=_wide(item.initial), final=_wide(item.final), before=item.before, after=item.after)
            for item in scan.states
        ),
        elements=tuple(_wide_port(item) for item in scan.elements),
        captures=tuple(replace(item, port=_wide(item.port)) for item in scan.captures),
        outputs=tuple(_wide_port(item) for item in scan.outputs),
    )


def tolerance(dtype: str, exact: bool, narrow: Array, wide: Array) -> float | None:
    """How far a result may be from the right one, relative from 1 on; None if that is more than can be told apart.

    ``narrow`` and ``wide`` are the results in the dtype and in float64. Integers have to agree in both.
    """
    if dtype not in FLOATS:
        return 0.0 if np.array_equal(narrow, wide) else None
    spread = difference(narrow, wide)
    if not spread <= _LOOSEST[dtype] / _MARGIN:
        return None
    return rounded_up(max(_BASE[dtype, exact], _MARGIN * spread))


def loosest(dtype: str) -> float:
    """The tolerance of a result of which nothing is known but its dtype."""
    return _LOOSEST.get(dtype, 0.0)


def difference(one: Array, other: Array) -> float:
    """The largest distance of two results, relative from 1 on; infinite where only one of them is finite."""
    a, b = one.astype(np.float64).reshape(-1), other.astype(np.float64).reshape(-1)
    with np.errstate(invalid="ignore", over="ignore"):
        apart = np.abs(a - b) / np.maximum(1.0, np.abs(b))
    same = (a == b) | (np.isnan(a) & np.isnan(b))
    apart = np.where(same, 0.0, np.where(np.isnan(apart), np.inf, apart))
    return float(apart.max()) if apart.size else 0.0


def rounded_up(value: float) -> float:
    """A number with one digit that is not less."""
    if value <= 0:
        return 0.0
    power = math.floor(math.log10(value))
    return float(f"{math.ceil(value / 10.0**power * (1 - 1e-9))}e{power}")


def _wide_node(node: Node) -> Node:
    attributes = dict(node.attributes)
    if node.operation == "constant" and node.dtype in FLOATS:
        attributes["value"] = np.asarray(attributes["value"]).astype(np.float64)
    return replace(node, dtype="float64" if node.dtype in FLOATS else node.dtype, attributes=attributes)


def _wide(port: Port) -> Port:
    return replace(port, dtype="float64") if port.dtype in FLOATS else port


def _wide_port(item: Item) -> Item:
    return replace(item, port=_wide(item.port))
