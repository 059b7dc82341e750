"""The axis of a batch: everything in a step carries it straight through, so that its positions are independent."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from scanbuild.lowering.elements import ZERO, CannotExpressError, Index
from scanbuild.lowering.graph import Scan, Shape
from scanbuild.lowering.schedule import Schedule
from scanbuild.lowering.sizes import ONE, Size
from scanbuild.lowering.tracing import trace

_ROW: Final = Size.of("%row")
_TRIES: Final = 200


@dataclass(frozen=True, slots=True)
class Batch:
    """The batch's size, and its axis in each state (by its node before the step) and each node of a schedule."""

    size: Size
    axes: dict[str, int]


def find_batch(scan: Scan, plan: Schedule) -> Batch | None:
    """A batch axis of a ``Scan``; the largest one, as far as that can be told."""
    if not scan.states:
        return None
    first = scan.states[0].initial.shape
    candidates = {size for size in first if size != ONE and size.number != 0}
    for size in sorted(candidates, key=lambda item: (item.number is not None, -(item.number or 0), str(item))):
        search = _Search(scan, plan, size)
        axes = next(search.states({}, 0), None)
        if axes is not None:
            return Batch(size, axes)
    return None


class _Search:
    """Assigns axes to the states, then to the nodes in the order of the schedule, and takes back what fails."""

    def __init__(self, scan: Scan, plan: Schedule, size: Size) -> None:
        self.scan, self.plan, self.size = scan, plan, size
        self.order = [name for group in plan.groups for name in group.nodes]
        self.order = list(dict.fromkeys(self.order))
        self.nodes = scan.by_name
        self.tries = 0
        self.sources = {state.before for state in scan.states} | set(plan.stored)

    def states(self, axes: dict[str, int], number: int) -> Iterator[dict[str, int]]:
        if number == len(self.scan.states):
            yield from self.values(axes, 0)
            return
        state = self.scan.states[number]
        for axis in _axes(state.initial.shape, self.size):
            yield from self.states({**axes, state.before: axis}, number + 1)

    def values(self, axes: dict[str, int], number: int) -> Iterator[dict[str, int]]:
        if number == len(self.order):
            yield axes
            return
        name = self.order[number]
        wanted = {axes[state.before] for state in self.scan.states if state.after == name}
        if len(wanted) > 1:
            return
        for axis in wanted or _axes(self.nodes[name].shape, self.size):
            self.tries += 1
            if self.tries > _TRIES:
                return
            if self._independent(name, axis, axes):
                yield from self.values({**axes, name: axis}, number + 1)

    def _independent(self, name: str, axis: int, axes: dict[str, int]) -> bool:
        """Whether the part of a node at a position of the batch reads nothing but parts at that position."""
        shape = self.nodes[name].shape
        if self.nodes[name].operation == "input" and name not in axes:
            return True
        extents = {f"%x{number}": size for number, size in enumerate(shape)} | {"%row": self.size}
        index: Index = tuple(
            _ROW if number == axis else ZERO if size == ONE else Size.of(f"%x{number}")
            for number, size in enumerate(shape)
        )
        try:
            reads = trace(self.scan, name, index, extents, self.sources - ({name} - _befores(self.scan)))
        except CannotExpressError:
            return False
        return all(read.source in axes and read.index[axes[read.source]] == _ROW for read in reads)


def _befores(scan: Scan) -> set[str]:
    return {state.before for state in scan.states}


def _axes(shape: Shape, size: Size) -> list[int]:
    return [axis for axis, one in enumerate(shape) if one == size]
