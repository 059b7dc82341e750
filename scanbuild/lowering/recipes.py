"""Data for the cases of a lowered package, chosen so that the body is defined for them.

ONNX leaves open what a division of integers by zero gives, or a float too large for the integer it is cast to; ONNX
Runtime even ends the process over the former. So bounds of the random data are tried until the body meets none of that
and gives finite values.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from scanbuild.lowering.graph import Node, Port, Scan, Shape
from scanbuild.lowering.interpreter import run_scan, shape_at

Array = npt.NDArray[Any]
Bounds = tuple[float, float]

_FLOATS: Final[tuple[Bounds, ...]] = ((-2.0, 2.0), (-1.0, 1.0), (0.125, 1.5), (0.5, 0.9), (1.0, 1.5))
_INTEGERS: Final[tuple[Bounds, ...]] = ((-9, 10), (0, 10), (1, 10), (0, 2), (1, 2), (0, 1))
_SPECIAL: Final = (1.5, -2.25, np.inf, 0.5, -0.0, 3.0, np.nan, -1.0, -np.inf, 0.0, 2.0)
_WORDS: Final = {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}
_UNDEFINED: Final = frozenset({"div", "mod", "fmod"})
_SHIFTS: Final = frozenset({"shift_left", "shift_right"})


@dataclass(frozen=True, kw_only=True, slots=True)
class Recipe:
    """How the inputs of a case come about: bounds of random floats (from, to) and of random integers (to excluded).

    ``whole`` asks for floats without fractions, ``special`` for some that are infinite or no number. ``sound`` says
    that the body is defined for such data, so that ONNX Runtime may be asked.
    """

    floats: Bounds = _FLOATS[0]
    integers: Bounds = _INTEGERS[0]
    whole: bool = False
    special: bool = False
    sound: bool = True

    def describe(self, port: Port, sizes: Mapping[str, int], seed: int) -> dict[str, Any]:
        """The data of a port as the case files write it."""
        kind = np.dtype(port.dtype).kind
        if kind == "b":
            return {"kind": "random", "seed": seed, "low": 0, "high": 2}
        if kind == "f" and self.special:
            values = np.resize(np.roll(_SPECIAL, seed), elements(port.shape, sizes)).tolist()
            return {"kind": "values", "values": [_WORDS.get(str(value), value) for value in values]}
        if kind == "f":
            low, high = self.floats
            return {
                "kind": "random",
                "seed": seed,
                "low": low,
                "high": high,
                **({"integers": True} if self.whole else {}),
            }
        low, high = self.integers
        return {"kind": "random", "seed": seed, "low": max(low, 0) if kind == "u" else low, "high": high}


class UndefinedError(Exception):
    """The body does something for these inputs that ONNX leaves open."""


def find_recipe(scan: Scan, sizes: Mapping[str, int]) -> Recipe:
    """Bounds for which the body is defined and gives finite values, tried for these sizes; else merely defined."""
    defined: Recipe | None = None
    for recipe in _recipes(scan):
        inputs = make_inputs(scan, sizes, recipe, seed=1)
        try:
            results = run_scan(scan, inputs, watch=refuse_undefined)
        except (UndefinedError, IndexError, ValueError):
            continue
        if all(bool(np.isfinite(value).all()) for value in results.values()):
            return recipe
        defined = defined or recipe
    return defined or Recipe(sound=False)


def _recipes(scan: Scan) -> Iterator[Recipe]:
    kinds = {np.dtype(port.dtype).kind for port in scan.inputs}
    for integers in _INTEGERS if kinds & {"i", "u"} else _INTEGERS[:1]:
        for floats in _FLOATS if "f" in kinds else _FLOATS[:1]:
            yield Recipe(floats=floats, integers=integers)


def make_inputs(scan: Scan, sizes: Mapping[str, int], recipe: Recipe, seed: int) -> dict[str, Array]:
    """The arrays that the descriptions of a case stand for, by the ports' names."""
    return {
        port.name: make(recipe.describe(port, sizes, seed + index), port.dtype, shape_at(port.shape, sizes))
        for index, port in enumerate(scan.inputs)
    }


def make(data: Mapping[str, Any], dtype: str, shape: tuple[int, ...]) -> Array:
    """The array that a description of data stands for, as the case files define it."""
    if data["kind"] == "values":
        return np.array(list(map(float, data["values"])), np.float64).astype(dtype).reshape(shape)
    generator = np.random.default_rng(data["seed"])
    count = int(np.prod(shape, dtype=np.int64))
    low, high = data["low"], data["high"]
    if data.get("integers", np.dtype(dtype).kind != "f"):
        return generator.integers(int(low), int(high), size=count).astype(dtype).reshape(shape)
    return generator.uniform(low, high, size=count).astype(dtype).reshape(shape)


def refuse_undefined(node: Node, operands: list[Array]) -> None:
    """Raise UndefinedError where ONNX does not say what an operation gives for such operands."""
    kind = operands[0].dtype.kind if operands else ""
    if node.operation in _UNDEFINED and kind in "iu":
        lowest = np.iinfo(operands[0].dtype).min
        if (operands[1] == 0).any() or (kind == "i" and (operands[0] == lowest).any() and (operands[1] == -1).any()):
            raise UndefinedError(f"{node.name} divides an integer by zero")
    elif node.operation == "pow" and kind in "iu" and (operands[1] < 0).any():
        raise UndefinedError(f"{node.name} raises an integer to a negative power")
    elif node.operation in _SHIFTS and (operands[1] >= operands[0].dtype.itemsize * 8).any():
        raise UndefinedError(f"{node.name} shifts by more bits than there are")
    elif node.operation == "cast" and kind == "f" and np.dtype(node.dtype).kind in "iu":
        limits, whole = np.iinfo(node.dtype), np.trunc(operands[0].astype(np.float64))
        if not ((whole >= limits.min) & (whole < float(limits.max))).all():
            raise UndefinedError(f"{node.name} casts a float beyond {node.dtype}")
    elif node.operation == "arg" and kind == "f" and np.isnan(operands[0]).any():
        raise UndefinedError(f"{node.name} looks for an extreme among values that are no numbers")


def can_be_undefined(scan: Scan) -> bool:
    """Whether there is an operation that ``refuse_undefined`` can refuse."""
    integral = {node.name for node in scan.nodes if np.dtype(node.dtype).kind in "iu"}
    return any(
        node.name in integral and node.operation in (*_UNDEFINED, *_SHIFTS, "pow", "cast", "arg") for node in scan.nodes
    ) or any(node.operation in ("gather", "gather_elements") for node in scan.nodes)


def elements(shape: Shape, sizes: Mapping[str, int]) -> int:
    """The number of elements of a shape."""
    return int(np.prod(shape_at(shape, sizes), dtype=np.int64))
