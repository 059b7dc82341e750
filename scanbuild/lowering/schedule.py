"""Which values of a step are stored, and in which order they are computed.

A value that is computed where it is read is computed as often as it is read. Where that is much more often than it has
elements, as with the operand of a matrix product, it is stored once and read from there. What is computed together in
one loop over elements, without depending on each other's stored values, is a group; groups that do not wait for each
other are a stage.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from scanbuild.lowering.dependence import needed, reads_of
from scanbuild.lowering.graph import Node, Scan, Shape
from scanbuild.lowering.operations import MAPS
from scanbuild.lowering.sizes import ONE, Size, product

_NOMINAL: Final = 32
"""What a size that is not known when a package is made is taken for."""
_MOST_JOINS: Final = 3
_BARRIER: Final = 64.0
_STORE: Final = 4.0
_MANY: Final = 1e30
_COSTLY_WORDS: Final = (
    "div mod fmod pow sqrt exp log sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh erf sigmoid softplus"
)
_COSTLY: Final = frozenset(_COSTLY_WORDS.split())


@dataclass(frozen=True, kw_only=True, slots=True)
class Group:
    """Values of one shape that one loop over elements computes. They are stored, become states, or are put out."""

    shape: Shape
    nodes: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Schedule:
    """``fixed`` and ``stages`` are stages of groups: those before the first step, and those of each step.

    ``stored`` are the nodes that others read from memory, ``maps`` the numbers of outputs that depend on no state, and
    are not in the stages.
    """

    fixed: tuple[tuple[Group, ...], ...]
    stages: tuple[tuple[Group, ...], ...]
    stored: frozenset[str]
    maps: tuple[int, ...]

    @property
    def groups(self) -> tuple[Group, ...]:
        return tuple(group for stage in (*self.fixed, *self.stages) for group in stage)


def schedule(scan: Scan, forced: Iterable[str] = ()) -> Schedule:
    """The order of a step. ``forced`` are nodes to store in any case."""
    reads = reads_of(scan)
    maps = tuple(number for number, output in enumerate(scan.outputs) if not reads[output.node].states)
    wanted = [state.after for state in scan.states]
    wanted += [output.node for number, output in enumerate(scan.outputs) if number not in maps]
    nodes = needed(scan.nodes, wanted)
    invariant = {node.name for node in nodes if reads[node.name].step_invariant}
    stored = _stored(nodes, wanted, invariant, set(forced))
    roots = [node for node in nodes if node.name in stored or node.name in wanted]
    early = [node for node in roots if node.name in stored and node.name in invariant]
    late = [node for node in roots if node not in early or node.name in wanted]
    return Schedule(
        fixed=_stages(early, nodes, stored), stages=_stages(late, nodes, stored), stored=frozenset(stored), maps=maps
    )


def reach(nodes: Mapping[str, Node], name: str, stored: Iterable[str]) -> set[str]:
    """The stored nodes, the inputs and the constants that the computation of a node reads."""
    found: set[str] = set()
    seen: set[str] = set()
    left = list(nodes[name].inputs) or [name]
    kept = set(stored)
    while left:
        one = left.pop()
        if one in seen:
            continue
        seen.add(one)
        if one in kept or nodes[one].operation in ("input", "constant"):
            found.add(one)
        else:
            left += nodes[one].inputs
    return found


def _stages(roots: list[Node], nodes: Iterable[Node], stored: set[str]) -> tuple[tuple[Group, ...], ...]:
    by_name = {node.name: node for node in nodes}
    level: dict[str, int] = {}
    for root in roots:
        before = reach(by_name, root.name, stored) - {root.name}
        level[root.name] = 1 + max((level[name] for name in before if name in level), default=-1)
    found = []
    for number in range(max(level.values(), default=-1) + 1):
        shapes: dict[Shape, list[str]] = {}
        for root in roots:
            if level[root.name] == number:
                shapes.setdefault(root.shape, []).append(root.name)
        found.append(tuple(Group(shape=shape, nodes=tuple(names)) for shape, names in shapes.items()))
    return tuple(found)


def _stored(nodes: tuple[Node, ...], wanted: list[str], invariant: set[str], forced: set[str]) -> set[str]:
    by_name = {node.name: node for node in nodes}
    work = _work(nodes)
    # Elements of one shape are computed in one loop, where readers of the same element share it: they count once.
    aligned = {name: _elements(by_name[name].shape) if name in wanted else 0.0 for name in by_name}
    apart = dict.fromkeys(by_name, 0.0)
    consumers: dict[str, list[str]] = {}
    for node in nodes:
        for name in node.inputs:
            consumers.setdefault(name, []).append(node.name)
    stored: set[str] = set()
    deep = _deep(nodes)
    for node in reversed(nodes):
        if node.operation in ("input", "constant", "size"):
            continue
        size = _elements(node.shape)
        often = aligned[node.name] + apart[node.name]
        leaves = node.name in invariant and any(name not in invariant for name in consumers.get(node.name, []))
        saved = (max(often - size, 0.0) + (often * _NOMINAL if leaves and _loops(node, by_name) else 0.0)) * work[
            node.name
        ]
        if node.name in forced | deep or (saved > _BARRIER + _STORE * often and not _is_view(node)):
            stored.add(node.name)
            often = size
        for name, factor in _factors(node, by_name):
            if factor == 1.0 and node.operation in MAPS and by_name[name].shape == node.shape:
                aligned[name] = max(aligned[name], often)
            else:
                apart[name] = min(apart[name] + often * factor, _MANY)
    return stored


def _deep(nodes: tuple[Node, ...]) -> set[str]:
    """Joins of joins of joins: each computes what it reads at indices of its own, so their texts would multiply."""
    found: set[str] = set()
    depth: dict[str, int] = {}
    for node in nodes:
        below = max((depth[name] for name in node.inputs), default=0)
        depth[node.name] = below + (node.operation == "concat" or (node.operation == "pad" and len(node.inputs) > 1))
        if depth[node.name] > _MOST_JOINS:
            found.add(node.name)
            depth[node.name] = 0
    return found


def _is_view(node: Node) -> bool:
    return node.operation not in MAPS and node.operation not in ("reduce", "contract", "arg", "cumulate", "cast")


def _loops(node: Node, nodes: Mapping[str, Node]) -> bool:
    """Whether computing an element takes a loop."""
    return node.operation in ("reduce", "contract", "arg", "cumulate") or any(
        _loops(nodes[name], nodes) for name in node.inputs
    )


def _elements(shape: Shape) -> float:
    size = product(list(shape))
    return float(max(1, size.at(dict.fromkeys(size.symbols, _NOMINAL)).number or 1))


def _factors(node: Node, nodes: Mapping[str, Node]) -> list[tuple[str, float]]:
    """How many elements of each input an element of the node takes."""
    own = _elements(node.shape)
    match node.operation:
        case "reduce" | "arg":
            return [(name, max(1.0, _elements(nodes[name].shape) / own)) for name in node.inputs]
        case "cumulate":
            return [(name, max(1.0, _elements((node.shape[node.attributes["axis"]],)) / 2)) for name in node.inputs]
        case "contract":
            return [(name, _summed(node, nodes)) for name in node.inputs]
        case "concat":
            return [(name, _elements(nodes[name].shape) / own) for name in node.inputs]
    return [(name, 1.0) for name in node.inputs]


def _summed(node: Node, nodes: Mapping[str, Node]) -> float:
    total, seen = 1.0, set(node.attributes["out"])
    for name, side in zip(node.inputs, ("left", "right"), strict=True):
        for label, size in zip(node.attributes[side], nodes[name].shape, strict=True):
            if label not in seen:
                seen.add(label)
                total *= _elements((size,))
    return total


def _work(nodes: tuple[Node, ...]) -> dict[str, float]:
    """Operations for an element, if nothing is stored on the way."""
    by_name = {node.name: node for node in nodes}
    found: dict[str, float] = {}
    for node in nodes:
        own = 8.0 if node.operation in _COSTLY else 1.0 if node.operation in MAPS else 0.5
        inputs = sum(factor * (found[name] + 1.0) for name, factor in _factors(node, by_name))
        found[node.name] = min(own + inputs, _MANY)
    return found


def products(scan: Scan, plan: Schedule) -> Size:
    """How many products of numbers the contractions of a step take, those that are the same in every step aside."""
    fixed = {name for stage in plan.fixed for group in stage for name in group.nodes}
    wanted = [name for stage in plan.stages for group in stage for name in group.nodes]
    total = Size()
    for node in needed(scan.nodes, wanted):
        if node.operation == "contract" and node.name not in fixed:
            extents: dict[str, Size] = {}
            for name, side in zip(node.inputs, ("left", "right"), strict=True):
                for label, size in zip(node.attributes[side], scan.by_name[name].shape, strict=True):
                    extents[label] = size if extents.get(label, ONE) == ONE else extents[label]
            total += product(list(extents.values()))
    return total


def wanted_of(scan: Scan, name: str) -> tuple[list[int], list[int]]:
    """The numbers of the states that a node is the next value of, and of the outputs that it is the value of."""
    states = [number for number, state in enumerate(scan.states) if state.after == name]
    outputs = [number for number, output in enumerate(scan.outputs) if output.node == name]
    return states, outputs
