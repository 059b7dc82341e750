"""Makes a graph smaller without changing what it computes.

One node after another is looked at in the light of those before it: it may be the same as another, do nothing, or do
together with its input what one node does. In the end, what nothing reads is left out.
"""

from collections.abc import Hashable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from scanbuild.lowering.graph import Node, Scan, Shape
from scanbuild.lowering.operations import MAPS
from scanbuild.lowering.sizes import ONE

_COMMUTATIVE = frozenset({"add", "mul", "min", "max", "eq", "ne", "and", "or", "xor", "bit_and", "bit_or", "bit_xor"})


def simplified(scan: Scan) -> Scan:
    """The scan with fewer nodes. Inputs stay, read or not."""
    simplifier = _Simplifier()
    for node in scan.nodes:
        simplifier.add(node)
    same = simplifier.same
    states = tuple(replace(state, after=same.get(state.after, state.after)) for state in scan.states)
    outputs = tuple(replace(output, node=same.get(output.node, output.node)) for output in scan.outputs)
    live = {state.after for state in states} | {output.node for output in outputs}
    for node in reversed(simplifier.nodes):
        if node.name in live:
            live.update(node.inputs)
    kept = tuple(node for node in simplifier.nodes if node.name in live or node.operation == "input")
    return replace(scan, nodes=kept, states=states, outputs=outputs)


class _Simplifier:
    def __init__(self) -> None:
        self.nodes: list[Node] = []
        self.same: dict[str, str] = {}
        """For a name that is gone, one of the same value."""
        self._by_name: dict[str, Node] = {}
        self._seen: dict[Hashable, str] = {}

    def add(self, node: Node) -> None:
        node = replace(node, inputs=tuple(self.same.get(name, name) for name in node.inputs))
        node = self._without_transposes(self._without_expands(self._merged(node)))
        other = self._idle(node) or self._seen.get(_key(node))
        if other is not None and node.operation != "input":
            self.same[node.name] = other
            return
        self._seen[_key(node)] = node.name
        self._by_name[node.name] = node
        self.nodes.append(node)

    def _idle(self, node: Node) -> str | None:
        """The input, if the node gives it back."""
        if not node.inputs:
            return None
        first = self._by_name[node.inputs[0]]
        if node.operation == "mul" and self._is_full_of(first.name, 1):
            second = self._by_name[node.inputs[1]]
            return second.name if second.shape == node.shape else None
        if first.shape != node.shape or first.dtype != node.dtype:
            return None
        match node.operation:
            case "reshape" | "expand" | "cast":
                return first.name
            case "transpose" if list(node.attributes["perm"]) == list(range(len(node.shape))):
                return first.name
            case "concat" if len(node.inputs) == 1:
                return first.name
            case "mul" | "div" if self._is_full_of(node.inputs[1], 1):
                return first.name
            case "sub" if self._is_full_of(node.inputs[1], 0):
                return first.name
        return None

    def _is_full_of(self, name: str, number: int) -> bool:
        node = self._by_name[name]
        return node.operation == "constant" and bool(np.all(node.attributes["value"] == number))

    def _merged(self, node: Node) -> Node:
        """A reshape of a reshape, a transpose of a transpose and an expand of an expand are one."""
        if node.operation not in ("reshape", "transpose", "expand"):
            return node
        first = self._by_name[node.inputs[0]]
        if first.operation != node.operation:
            return node
        if node.operation == "transpose":
            inner, outer = first.attributes["perm"], node.attributes["perm"]
            return replace(node, inputs=first.inputs, attributes={"perm": tuple(inner[axis] for axis in outer)})
        return replace(node, inputs=first.inputs)

    def _without_transposes(self, node: Node) -> Node:
        """A contraction takes the axes of its operands in any order."""
        if node.operation != "contract":
            return node
        inputs, labels = list(node.inputs), [node.attributes["left"], node.attributes["right"]]
        for position, name in enumerate(inputs):
            operand = self._by_name[name]
            if operand.operation == "transpose":
                places = dict(zip(operand.attributes["perm"], labels[position], strict=True))
                inputs[position] = operand.inputs[0]
                labels[position] = "".join(places[axis] for axis in sorted(places))
        attributes = {**node.attributes, "left": labels[0], "right": labels[1]}
        return replace(node, inputs=tuple(inputs), attributes=attributes)

    def _without_expands(self, node: Node) -> Node:
        """Elementwise operations broadcast by themselves: an operand need not be expanded if another is as large."""
        if node.operation not in MAPS:
            return node
        inputs = list(node.inputs)
        for position, name in enumerate(inputs):
            operand = self._by_name[name]
            if operand.operation != "expand":
                continue
            small = self._by_name[operand.inputs[0]]
            others = [self._by_name[other].shape for i, other in enumerate(inputs) if i != position]
            if others and _broadcast([small.shape, *others]) == node.shape:
                inputs[position] = small.name
        return replace(node, inputs=tuple(inputs))


def _broadcast(shapes: list[Shape]) -> Shape:
    """The common shape of operands that are known to broadcast."""
    rank = max(map(len, shapes))
    padded = [(ONE,) * (rank - len(shape)) + shape for shape in shapes]
    return tuple(next((size for size in sizes if size != ONE), ONE) for sizes in zip(*padded, strict=True))


def _key(node: Node) -> Hashable:
    """Equal for nodes of equal value."""
    inputs = tuple(sorted(node.inputs)) if node.operation in _COMMUTATIVE else node.inputs
    return (node.operation, inputs, node.dtype, node.shape, _frozen(node.attributes))


def _frozen(value: Any) -> Hashable:
    if isinstance(value, np.ndarray):
        return (str(value.dtype), value.shape, value.tobytes())
    if isinstance(value, Mapping):
        return tuple((key, _frozen(item)) for key, item in sorted(value.items()))
    return tuple(map(_frozen, value)) if isinstance(value, list | tuple) else value
