"""A ``Scan`` in normal form, computed with NumPy: the definition that kernels and tests are held against.

Every operation rounds to its node's dtype, as the kernels and ONNX Runtime do; sums and contractions of float16 are
taken in float32 and rounded once.
"""

from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from types import CodeType
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from scanbuild.lowering.graph import Element, Node, Output, Port, Scan, Shape
from scanbuild.lowering.notation import expression
from scanbuild.lowering.numerics import HELPERS
from scanbuild.lowering.sizes import Size

Array = npt.NDArray[Any]
Sizes = Mapping[str, int]
Watch = Callable[[Node, list[Array]], None]
"""Is shown a node and the values of its inputs before it is computed."""

_NAMES: Final[dict[str, Any]] = {"__builtins__": {}, "np": np, **HELPERS}


def run_scan(scan: Scan, inputs: Mapping[str, Array], watch: Watch | None = None) -> dict[str, Array]:
    """The results of a ``Scan`` by the ports' names, for inputs by the ports' names.

    ValueError where the shapes of the inputs contradict the ports or each other.
    """
    sizes = bind_sizes(scan, inputs)
    steps = number(scan.steps, sizes)
    fixed, looped = split_invariant(scan)
    known = evaluate(fixed, {capture.node: inputs[capture.port.name] for capture in scan.captures}, sizes, watch)
    states = {state.before: np.asarray(inputs[state.initial.name]) for state in scan.states}
    collected: dict[str, list[Array]] = {output.port.name: [] for output in scan.outputs}
    for step in range(steps):
        taken = {item.node: element_at(item, inputs[item.port.name], step, steps) for item in scan.elements}
        values = evaluate(looped, {**known, **states, **taken}, sizes, watch)
        states = {state.before: values[state.after] for state in scan.states}
        for output in scan.outputs:
            collected[output.port.name].append(values[output.node])
    results = {state.final.name: states[state.before] for state in scan.states}
    return results | {item.port.name: stack(item, collected[item.port.name], sizes) for item in scan.outputs}


def evaluate(
    nodes: Iterable[Node], values: Mapping[str, Array], sizes: Sizes | None = None, watch: Watch | None = None
) -> dict[str, Array]:
    """``values`` and those of all nodes, which stand in an order of computation; nodes with a value are passed over.

    ``sizes`` gives a number for each symbol in the nodes' shapes and attributes. ValueError if a value is not of its
    node's dtype and shape.
    """
    known = {name: np.asarray(value) for name, value in values.items()}
    sizes = sizes or {}
    with np.errstate(all="ignore"):
        for node in nodes:
            if node.name in known:
                continue
            operands = [known[name] for name in node.inputs]
            if watch is not None:
                watch(node, operands)
            known[node.name] = compute(node, operands, sizes)
    return known


def compute(node: Node, operands: list[Array], sizes: Sizes) -> Array:
    """The value of one node for the values of its inputs; ValueError if it is not of the node's dtype and shape."""
    if node.operation == "constant":
        value = np.asarray(node.attributes["value"])
    else:
        letters = "abc" if len(operands) <= 3 else [f"a{index}" for index in range(len(operands))]
        names = dict(zip(letters, operands, strict=False))
        text = expression(node, list(names))
        value = np.asarray(eval(_compiled(text), _NAMES, {**sizes, **names}))
    shape = shape_at(node.shape, sizes)
    if value.dtype != np.dtype(node.dtype) or value.shape != shape:
        found, wanted = f"{value.dtype} {list(value.shape)}", f"{node.dtype} {list(shape)}"
        raise ValueError(f"{node.operation} ({node.name}) gives {found} where {wanted} was expected")
    return value


@lru_cache(maxsize=4096)
def _compiled(text: str) -> CodeType:
    return compile(text, "<a node>", "eval")


def bind_sizes(scan: Scan, inputs: Mapping[str, Array]) -> dict[str, int]:
    """The numbers that the symbols stand for; ValueError where the shapes do not agree."""
    sizes: dict[str, int] = {}
    for port in scan.inputs:
        shape = np.shape(inputs[port.name])
        if len(shape) != len(port.shape):
            raise ValueError(f"{port.name} has the shape {list(shape)}, expected {_written(port)}")
        for size, length in zip(port.shape, shape, strict=True):
            if size.symbol is not None:
                sizes.setdefault(size.symbol, length)
    for port in scan.inputs:
        shape = np.shape(inputs[port.name])
        if shape_at(port.shape, sizes) != shape:
            raise ValueError(f"{port.name} has the shape {list(shape)}, expected {_written(port)}")
    for left, right in scan.equalities:
        if number(left, sizes) != number(right, sizes):
            raise ValueError(f"{left} = {number(left, sizes)} and {right} = {number(right, sizes)} must be equal")
    for size in scan.nonnegative:
        if number(size, sizes) < 0:
            raise ValueError(f"{size} = {number(size, sizes)} must not be less than zero")
    return sizes


def number(size: Size, sizes: Sizes) -> int:
    """A size as a number."""
    value = size.at(sizes).number
    if value is None:
        raise ValueError(f"nothing tells how much {size} is")
    return value


def shape_at(shape: Shape, sizes: Sizes) -> tuple[int, ...]:
    """A shape as numbers."""
    return tuple(number(size, sizes) for size in shape)


def split_invariant(scan: Scan) -> tuple[tuple[Node, ...], tuple[Node, ...]]:
    """The nodes whose value is the same in every step, and the others."""
    varying = {state.before for state in scan.states} | {element.node for element in scan.elements}
    fixed, looped = [], []
    for node in scan.nodes:
        if node.name in varying or varying.intersection(node.inputs):
            varying.add(node.name)
            looped.append(node)
        else:
            fixed.append(node)
    return tuple(fixed), tuple(looped)


def element_at(element: Element, whole: Array, step: int, steps: int) -> Array:
    """What a scan input brings in a step."""
    return np.asarray(np.take(whole, steps - 1 - step if element.reverse else step, axis=element.axis))


def stack(output: Output, values: list[Array], sizes: Sizes) -> Array:
    """The collected values of an output, along its axis."""
    if not values:
        return np.zeros(shape_at(output.port.shape, sizes), output.port.dtype)
    return np.stack(values[::-1] if output.prepend else values, axis=output.axis)


def _written(port: Port) -> str:
    return f"[{', '.join(map(str, port.shape))}]"
