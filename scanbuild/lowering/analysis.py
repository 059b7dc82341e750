"""What is known of a ``Scan`` before anything is compiled: dependences, and which updates can be regrouped."""

from dataclasses import dataclass

from scanbuild.lowering.algebra import Knot, Recurrence, Unrecognised, recognise
from scanbuild.lowering.dependence import Reads, feeds, layers, reads_of
from scanbuild.lowering.graph import Node, Scan
from scanbuild.lowering.parallel_growth import Growth


@dataclass(frozen=True, kw_only=True, slots=True)
class Analysis:
    """``reads``: what each node depends on. ``feeds``: for each state, the states that its update reads.

    ``layers``: knots of states, each in a layer behind the layers of all that it reads. ``grown``: the nodes that
    coefficients of the recurrences are made of, beside those of the body.
    """

    scan: Scan
    reads: dict[str, Reads]
    feeds: tuple[frozenset[int], ...]
    layers: tuple[tuple[Knot, ...], ...]
    grown: tuple[Node, ...]

    @property
    def nodes(self) -> dict[str, Node]:
        """All nodes by name, those of the body and those grown."""
        return self.scan.by_name | {node.name: node for node in self.grown}

    @property
    def knots(self) -> tuple[Knot, ...]:
        return tuple(knot for layer in self.layers for knot in layer)

    @property
    def recurrences(self) -> tuple[Recurrence, ...]:
        return tuple(knot for knot in self.knots if isinstance(knot, Recurrence))

    @property
    def unrecognised(self) -> tuple[Unrecognised, ...]:
        return tuple(knot for knot in self.knots if isinstance(knot, Unrecognised))


def analyse(scan: Scan) -> Analysis:
    """The analysis of a ``Scan``; nothing in it depends on sizes that a call brings."""
    reads = reads_of(scan)
    rows = feeds(scan, reads)
    growth = Growth(scan)
    found = tuple(tuple(recognise(scan, growth, members) for members in layer) for layer in layers(rows))
    return Analysis(scan=scan, reads=reads, feeds=rows, layers=found, grown=tuple(growth.added))
