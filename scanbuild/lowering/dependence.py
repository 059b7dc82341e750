"""What each value of a step depends on, and which states feed on which."""

from collections.abc import Iterable
from dataclasses import dataclass

from scanbuild.lowering.graph import Node, Scan


@dataclass(frozen=True, kw_only=True, slots=True)
class Reads:
    """What a value depends on: numbers of states, elements and captures of the ``Scan``."""

    states: frozenset[int] = frozenset()
    elements: frozenset[int] = frozenset()
    captures: frozenset[int] = frozenset()

    def __or__(self, other: "Reads") -> "Reads":
        return Reads(
            states=self.states | other.states,
            elements=self.elements | other.elements,
            captures=self.captures | other.captures,
        )

    @property
    def step_invariant(self) -> bool:
        """Whether the value is the same in every step."""
        return not self.states and not self.elements


def reads_of(scan: Scan) -> dict[str, Reads]:
    """What each node depends on, through any number of other nodes, within one step."""
    found = {state.before: Reads(states=frozenset({index})) for index, state in enumerate(scan.states)}
    found |= {element.node: Reads(elements=frozenset({index})) for index, element in enumerate(scan.elements)}
    found |= {capture.node: Reads(captures=frozenset({index})) for index, capture in enumerate(scan.captures)}
    for node in scan.nodes:
        if node.name not in found:
            total = Reads()
            for name in node.inputs:
                total |= found[name]
            found[node.name] = total
    return found


def feeds(scan: Scan, reads: dict[str, Reads] | None = None) -> tuple[frozenset[int], ...]:
    """For each state the states that its update reads, itself included if it does: the rows of a matrix."""
    known = reads_of(scan) if reads is None else reads
    return tuple(known[state.after].states for state in scan.states)


def knots(rows: tuple[frozenset[int], ...]) -> tuple[tuple[int, ...], ...]:
    """The strongly connected components of the states, each behind all that it reads.

    States of one component depend on each other in a circle; a component of one state may or may not read itself.
    """
    reach = _closure(rows)
    together = [
        tuple(sorted({one} | {other for other in reach[one] if one in reach[other]})) for one in range(len(rows))
    ]
    order = sorted(set(together), key=lambda members: (len(reach[members[0]] | set(members)), members))
    return tuple(order)


def layers(rows: tuple[frozenset[int], ...]) -> tuple[tuple[tuple[int, ...], ...], ...]:
    """The components in layers: each reads nothing but itself and components of layers before its own."""
    depth: dict[int, int] = {}
    found: list[list[tuple[int, ...]]] = []
    for members in knots(rows):
        before = {other for one in members for other in rows[one]} - set(members)
        level = 1 + max((depth[other] for other in before), default=-1)
        depth |= dict.fromkeys(members, level)
        found += [[] for _ in range(level + 1 - len(found))]
        found[level].append(members)
    return tuple(tuple(sorted(layer)) for layer in found)


def needed(scan_nodes: Iterable[Node], wanted: Iterable[str]) -> tuple[Node, ...]:
    """The nodes that the wanted ones are computed from, themselves included, in the given order."""
    ordered = tuple(scan_nodes)
    missing = set(wanted)
    kept = []
    for node in reversed(ordered):
        if node.name in missing:
            kept.append(node)
            missing.update(node.inputs)
    return tuple(reversed(kept))


def _closure(rows: tuple[frozenset[int], ...]) -> list[set[int]]:
    reach = [set(row) for row in rows]
    for through in range(len(rows)):
        for row in reach:
            if through in row:
                row.update(reach[through])
    return reach
