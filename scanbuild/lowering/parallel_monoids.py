"""Recurrences as elements of a scan: what an element consists of, how two are combined, in WGSL.

An element stands for the function that a run of steps makes of the states; the state before the first step is the
function that ignores what it is given. So the combination of everything up to a step, the initial states included,
holds the states after it. Factors of f32 are kept in a wide range (``templates/_lowered/wide.wgsl``), halves in f32.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np

from scanbuild.lowering import wgsl
from scanbuild.lowering.algebra import Recurrence, Row
from scanbuild.lowering.operations import FLOATS
from scanbuild.lowering.parallel_algebras import highest, lowest
from scanbuild.lowering.parallel_forms import Term

Texts = dict[str, str]
Evaluate = Callable[[str], str]
"""The text of a node's value in the lane and step at hand."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Monoid:
    """How elements look and combine.

    ``parts``: members and their types. ``identity`` and ``combined`` give a text for each member, the latter in terms
    of ``left`` and ``right``; ``lines`` are statements in front of it. ``states``: the member that holds each state.
    """

    parts: tuple[tuple[str, str], ...]
    identity: Texts
    combined: Texts
    states: Mapping[int, str]
    dtype: str
    lines: tuple[str, ...] = ()

    @property
    def words(self) -> int:
        return sum(2 if kind.startswith("vec2") else 1 for _, kind in self.parts)


def monoid(recurrence: Recurrence, names: Mapping[int, str]) -> Monoid:
    """The elements of a recurrence; ``names`` are words for its states, to call members after."""
    if recurrence.kind == "matrix":
        return _matrix(recurrence, names)
    maker = {"last": _last, "linear": _affine, "max_plus": _affine, "min_plus": _affine, "bits": _affine}
    return maker.get(recurrence.kind, _plain)(recurrence, names[recurrence.states[0]])


def loaded(recurrence: Recurrence, names: Mapping[int, str], value: Evaluate) -> Texts:
    """The element of one step: a text for each member."""
    if recurrence.kind == "matrix":
        return _matrix_loaded(recurrence, names, value)
    (row,) = recurrence.rows
    name, term = names[row.state], next(iter(row.terms.values()), Term())
    algebra = _Scalars(recurrence)
    found: Texts = {}
    if recurrence.kind == "last":
        return {f"{name}_offset": algebra.kept(value(row.offset or "")), f"{name}_set": "1u"}
    if recurrence.kind in ("mul", "and"):
        found[f"{name}_factor"] = algebra.factor(term, value)
    else:
        found[f"{name}_offset"] = algebra.offset(row, value)
    if recurrence.kind in ("linear", "max_plus", "min_plus", "bits"):
        found[f"{name}_factor"] = algebra.factor(term, value)
        if algebra.wide:
            found[f"{name}_exponent"] = "0i"
    if recurrence.cut:
        live = term.live
        found[f"{name}_cut"] = "0u" if live is None else f"select(1u, 0u, {value(live)})"
    return found


class _Scalars:
    """The two operations of a recurrence's algebra, their neutral elements, and how values are kept in elements."""

    def __init__(self, recurrence: Recurrence) -> None:
        self.algebra, self.dtype = recurrence.algebra, recurrence.dtype
        self.computed = "float32" if self.dtype == "float16" else self.dtype
        self.scalar = "u32" if self.dtype == "bool" else wgsl.SCALARS[self.dtype]
        self.wide = self.algebra == "linear" and self.dtype in FLOATS and recurrence.kind == "linear"

    def plus(self, left: str, right: str) -> str:
        """How two offsets are combined."""
        if self.dtype == "bool":
            return f"({left} ^ {right})"
        return self._map({"linear": "add", "bits": "bit_xor"}.get(self.algebra, self.algebra), left, right)

    def times(self, factor: str, value: str) -> str:
        """How a factor is applied."""
        if self.dtype == "bool":
            return f"({factor} & {value})"
        return self._map({"linear": "mul", "bits": "bit_and"}.get(self.algebra, "add"), factor, value)

    def times_plus(self, factor: str, value: str, term: str) -> str:
        """Of floats in one operation, so that the text rounds alike wherever it is compiled."""
        if self.scalar == "f32" and self.algebra == "linear":
            return f"fma({factor}, {value}, {term})"
        return self.plus(self.times(factor, value), term)

    def kept(self, text: str) -> str:
        return f"select(0u, 1u, {text})" if self.dtype == "bool" else text

    @property
    def one(self) -> str:
        """The factor that changes nothing: of sums -0, to which even -0 can be added."""
        if self.algebra == "bits":
            return {"u32": "0xffffffffu", "i32": "-1i"}.get(self.scalar, "vec2<u32>(0xffffffffu, 0xffffffffu)")
        return wgsl.literal(1 if self.algebra == "linear" else -0.0, self.computed)

    @property
    def zero(self) -> str:
        """The offset that changes nothing."""
        if self.algebra in ("max", "min"):
            return wgsl.literal((lowest if self.algebra == "max" else highest)(self.computed), self.computed)
        if self.dtype == "bool":
            return "0u"
        return wgsl.literal(-0.0 if self.scalar == "f32" else 0, self.computed)

    def factor(self, term: Term, value: Evaluate) -> str:
        return self.one if term.factor is None else self.kept(value(term.factor))

    def offset(self, row: Row, value: Evaluate) -> str:
        return self.zero if row.offset is None else self.kept(value(row.offset))

    def _map(self, operation: str, left: str, right: str) -> str:
        return f"({wgsl.map_text(operation, self.computed, (left, right))})"


def _plain(recurrence: Recurrence, name: str) -> Monoid:
    """One member, which is combined with itself; with ``cut`` a second that tells that what was before is forgotten."""
    scalars = _Scalars(recurrence)
    product = recurrence.kind in ("mul", "and")
    member = f"{name}_{'factor' if product else 'offset'}"
    left, right = f"left.{member}", f"right.{member}"
    if recurrence.kind in ("or", "and", "xor") and recurrence.dtype != "bool":
        both = f"({wgsl.map_text(f'bit_{recurrence.kind}', recurrence.dtype, (left, right))})"
    elif recurrence.kind in ("or", "and", "xor"):
        both = f"({left} {_BITWISE[recurrence.kind]} {right})"
    else:
        both = scalars.times(right, left) if product else scalars.plus(left, right)
    parts, identity = [(member, scalars.scalar)], {member: scalars.one if product else scalars.zero}
    combined: Texts = {}
    if recurrence.cut:
        _add_cut(name, parts, identity, combined)
        both = f"select({both}, {right}, right.{name}_cut != 0u)"
    return Monoid(
        parts=tuple(parts),
        identity=identity,
        combined={member: both, **combined},
        states={recurrence.states[0]: member},
        dtype=recurrence.dtype,
    )


_BITWISE: Final = {"or": "|", "and": "&", "xor": "^"}


def _add_cut(name: str, parts: list[tuple[str, str]], identity: Texts, combined: Texts) -> None:
    parts.append((f"{name}_cut", "u32"))
    identity[f"{name}_cut"] = "0u"
    combined[f"{name}_cut"] = f"left.{name}_cut | right.{name}_cut"


def _last(recurrence: Recurrence, name: str) -> Monoid:
    scalars = _Scalars(recurrence)
    member, flag = f"{name}_offset", f"{name}_set"
    return Monoid(
        parts=((member, scalars.scalar), (flag, "u32")),
        identity={member: scalars.zero, flag: "0u"},
        combined={
            member: f"select(left.{member}, right.{member}, right.{flag} != 0u)",
            flag: f"left.{flag} | right.{flag}",
        },
        states={recurrence.states[0]: member},
        dtype=recurrence.dtype,
    )


def _affine(recurrence: Recurrence, name: str) -> Monoid:
    """A factor and an offset: ``factor * state + offset``, in whatever algebra."""
    scalars = _Scalars(recurrence)
    factor, offset, exponent = f"{name}_factor", f"{name}_offset", f"{name}_exponent"
    parts = [(factor, scalars.scalar), (offset, scalars.scalar)]
    identity = {factor: scalars.one, offset: scalars.zero}
    combined: Texts = {}
    lines = []
    if scalars.wide:
        parts.append((exponent, "i32"))
        identity[exponent] = "0i"
        lines.append(f"let {name}_product = left.{factor} * right.{factor};")
        combined[factor] = f"wide_significand({name}_product)"
        combined[exponent] = f"wide_exponent({name}_product, left.{exponent} + right.{exponent})"
        applied = f"wide_apply(right.{factor}, right.{exponent}, left.{offset}, right.{offset})"
    else:
        combined[factor] = scalars.times(right := f"right.{factor}", f"left.{factor}")
        applied = scalars.times_plus(right, f"left.{offset}", f"right.{offset}")
    if recurrence.cut:
        _add_cut(name, parts, identity, combined)
        applied = f"select({applied}, right.{offset}, right.{name}_cut != 0u)"
    combined[offset] = applied
    return Monoid(
        parts=tuple(parts),
        identity=identity,
        combined=combined,
        states={recurrence.states[0]: offset},
        dtype=recurrence.dtype,
        lines=tuple(lines),
    )


def pattern(recurrence: Recurrence) -> set[tuple[int, int]]:
    """Which entries of a matrix, or of a product of several, may differ from zero: (row, column) by states."""
    entries = {(row.state, column) for row in recurrence.rows for column in row.terms}
    entries |= {(state, state) for state in recurrence.states}
    while True:
        more = {(row, column) for row, inner in entries for other, column in entries if inner == other}
        if more <= entries:
            return entries
        entries |= more


def _matrix(recurrence: Recurrence, names: Mapping[int, str]) -> Monoid:
    scalars = _Scalars(recurrence)
    entries = sorted(pattern(recurrence))
    parts = [(_entry(names, *entry), scalars.scalar) for entry in entries]
    parts += [(f"{names[state]}_offset", scalars.scalar) for state in recurrence.states]
    nothing = scalars.zero if scalars.algebra in ("max", "min") else _nought(scalars)
    identity = {_entry(names, *entry): scalars.one if entry[0] == entry[1] else nothing for entry in entries}
    identity |= {f"{names[state]}_offset": scalars.zero for state in recurrence.states}
    combined: Texts = {}
    for row, column in entries:
        inner = [state for state in recurrence.states if (row, state) in entries and (state, column) in entries]
        pairs = [(f"right.{_entry(names, row, state)}", f"left.{_entry(names, state, column)}") for state in inner]
        combined[_entry(names, row, column)] = _sum_of_products(scalars, pairs, None)
    for row in recurrence.states:
        pairs = [
            (f"right.{_entry(names, row, state)}", f"left.{names[state]}_offset")
            for state in recurrence.states
            if (row, state) in entries
        ]
        combined[f"{names[row]}_offset"] = _sum_of_products(scalars, pairs, f"right.{names[row]}_offset")
    return Monoid(
        parts=tuple(parts),
        identity=identity,
        combined=combined,
        states={state: f"{names[state]}_offset" for state in recurrence.states},
        dtype=recurrence.dtype,
    )


def _sum_of_products(scalars: _Scalars, pairs: list[tuple[str, str]], start: str | None) -> str:
    total = start
    for factor, value in pairs:
        total = scalars.times(factor, value) if total is None else scalars.times_plus(factor, value, total)
    assert total is not None
    return total


def _matrix_loaded(recurrence: Recurrence, names: Mapping[int, str], value: Evaluate) -> Texts:
    scalars = _Scalars(recurrence)
    nothing = scalars.zero if scalars.algebra in ("max", "min") else _nought(scalars)
    rows = {row.state: row for row in recurrence.rows}
    found: Texts = {}
    for state, column in sorted(pattern(recurrence)):
        term = rows[state].terms.get(column)
        found[_entry(names, state, column)] = nothing if term is None else scalars.factor(term, value)
    for state, row in rows.items():
        found[f"{names[state]}_offset"] = scalars.offset(row, value)
    return found


def _entry(names: Mapping[int, str], row: int, column: int) -> str:
    return f"{names[row]}_of_{names[column]}"


def _nought(scalars: _Scalars) -> str:
    return "0u" if scalars.dtype == "bool" else wgsl.literal(np.zeros((), scalars.computed), scalars.computed)
