"""Which updates of states can be regrouped, and how: recognition by what a body computes, not by how it is written.

States that depend on each other in a circle form a knot; all that a knot reads of other states is taken as known, since
they can be scanned before it. A knot is recognised if, in one of the algebras of ``parallel_algebras``, the states
after the step are a combination of those before it, with coefficients that no state of the knot has a part in:
functions of that kind compose into functions of that kind, whatever the grouping.

Not recognised, though some would compose: a state clipped on both sides, a product or quotient of states, rounding.
What floats are concerned: sums and products are regrouped, so rounded differently; so is float16, whose chains are
computed in float32. Maxima and minima are exact.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from scanbuild.lowering.dependence import needed
from scanbuild.lowering.graph import Node, Origin, Scan
from scanbuild.lowering.parallel_algebras import Bits, Linear, Max, Min
from scanbuild.lowering.parallel_forms import Algebra, Form, Term, Unfit, View
from scanbuild.lowering.parallel_growth import Growth
from scanbuild.lowering.sizes import ONE

LARGEST_KNOT = 4
"""States that may depend on each other in a circle: their coefficients are a matrix."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Row:
    """A state after the step: its terms, by the number of the state they belong to, and its offset (None for none)."""

    state: int
    terms: dict[int, Term]
    offset: str | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Recurrence:
    """A knot that can be regrouped.

    ``kind`` is what its functions are, the narrowest of: ``add`` (the state and an offset are added), ``mul``, ``max``,
    ``min``, ``or``, ``and``, ``xor`` (likewise: one coefficient a state, the offset, or of ``mul`` and ``and`` the
    factor), ``last`` (the state is replaced), ``linear`` (factor and offset), ``max_plus``, ``min_plus``, ``bits``, and
    with several states ``matrix``, whose ``algebra`` tells what is summed. ``cut``: some terms are there on condition.
    """

    states: tuple[int, ...]
    algebra: str
    kind: str
    rows: tuple[Row, ...]
    cut: bool
    dtype: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Unrecognised:
    """A knot that cannot, as far as anyone knows, be regrouped. ``attempts``: why, for each algebra that was tried."""

    states: tuple[int, ...]
    reason: str
    origin: Origin = field(default_factory=Origin)
    attempts: tuple[tuple[str, str], ...] = ()


Knot = Recurrence | Unrecognised


def recognise(scan: Scan, growth: Growth, states: Sequence[int]) -> Knot:
    """What the updates of some states are, that depend on each other in a circle, or of one state."""
    if len(states) > LARGEST_KNOT:
        return Unrecognised(
            states=tuple(states),
            reason=f"{len(states)} states depend on each other; at most {LARGEST_KNOT} are scanned",
        )
    dtypes = {scan.states[index].initial.dtype for index in states}
    if len(dtypes) > 1:
        return Unrecognised(
            states=tuple(states), reason=f"they depend on each other and are {' and '.join(sorted(dtypes))}"
        )
    dtype = dtypes.pop()
    nodes = needed(scan.nodes, [scan.states[index].after for index in states])
    attempts: list[tuple[str, Unfit]] = []
    for algebra in (Bits,) if dtype == "bool" else (Linear, Max, Min, Bits):
        if algebra is Bits and dtype.startswith("float"):
            continue
        found = _in_algebra(scan, growth, states, algebra(scan, growth, states, nodes))
        if isinstance(found, Recurrence):
            return found
        attempts.append((algebra.name, found))
    _, best = _most_telling(nodes, attempts)
    told = tuple((name, unfit.reason) for name, unfit in attempts)
    return Unrecognised(states=tuple(states), reason=best.reason, origin=best.origin, attempts=told)


def _in_algebra(scan: Scan, growth: Growth, states: Sequence[int], algebra: Algebra) -> Recurrence | Unfit:
    rows = []
    for index in states:
        state = scan.states[index]
        value = algebra[state.after]
        if isinstance(value, Unfit):
            return value
        if isinstance(value, str):
            rows.append(Row(state=index, terms={}, offset=value))
            continue
        misplaced = _misplaced(scan, index, value, growth[state.after], algebra.name)
        if misplaced is not None:
            return misplaced
        offset = value.offset if value.terms or value.offset else growth.constant(0, value.dtype)
        rows.append(Row(state=index, terms=dict(value.terms), offset=offset))
    dtype = scan.states[states[0]].initial.dtype
    kind = _kind(growth, algebra.name, rows)
    cut = any(term.live is not None for row in rows for term in row.terms.values())
    if kind == "matrix" and cut:
        return Unfit(reason="states that depend on each other and are taken by conditions are not regrouped")
    return Recurrence(states=tuple(states), algebra=algebra.name, kind=kind, rows=tuple(rows), cut=cut, dtype=dtype)


def _misplaced(scan: Scan, index: int, form: Form, node: Node, algebra: str) -> Unfit | None:
    """Why the terms of a state after the step are not each from the same lane before it."""
    target = scan.states[index].initial.shape
    if form.kind and form.kind != algebra:
        return Unfit(reason=f"it is a {form.kind}imum", origin=node.origin)
    if form.negated:
        return Unfit(reason="the state after the step is an extreme of negated states", origin=node.origin)
    for other, term in form.terms.items():
        source = scan.states[other].initial.shape
        spread: View = () if source == target else (("expand", source, target),)
        padded = source if len(source) >= len(target) else (ONE,) * (len(target) - len(source)) + source
        reshaped: View = (("reshape", source, target),)
        if term.view != spread and not (padded == target and term.view == reshaped):
            return Unfit(reason="lanes of a state become other lanes", origin=node.origin)
    return None


def _kind(growth: Growth, algebra: str, rows: list[Row]) -> str:
    if len(rows) > 1:
        return "matrix"
    row = rows[0]
    if not row.terms:
        return "last"
    (term,) = row.terms.values()
    if algebra == "linear":
        if term.factor is None:
            return "add"
        return "mul" if row.offset is None and term.live is None else "linear"
    if algebra in ("max", "min"):
        return algebra if term.factor is None else f"{algebra}_plus"
    return _kind_of_bits(growth, term.factor, row.offset)


def _kind_of_bits(growth: Growth, factor: str | None, offset: str | None) -> str:
    if factor is None:
        return "xor"
    if offset is None:
        return "and"
    opposite = growth[factor].operation in ("not", "bit_not") and growth[factor].inputs == (offset,)
    opposite |= growth[offset].operation in ("not", "bit_not") and growth[offset].inputs == (factor,)
    return "or" if opposite else "bits"


def _most_telling(nodes: Sequence[Node], attempts: list[tuple[str, Unfit]]) -> tuple[str, Unfit]:
    """The attempt that got furthest: the one whose obstacle comes last in the body."""
    places = {(node.origin.name, node.origin.operator): place for place, node in enumerate(nodes)}
    return max(attempts, key=lambda item: places.get((item[1].origin.name, item[1].origin.operator), -1))
