"""Values of a body as functions of its states, in one algebra: what all algebras share.

A :class:`Form` says that a node's value is a combination of terms, one for each state it depends on, and of an offset
that depends on no state. What the combination is (a sum, a maximum, an exclusive or of bits) is the algebra's matter.
Coefficients are nodes, grown beside the body's, of any shape that broadcasts to the form's.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Final

from scanbuild.lowering.graph import Node, Origin, Scan, Shape
from scanbuild.lowering.parallel_growth import Growth
from scanbuild.lowering.sizes import ONE, product

View = tuple[tuple[str, Any, Shape], ...]
"""How the elements of a state have been moved: operations, what they take, the shape they give. Empty: not at all."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Term:
    """What a state contributes. ``factor``: the node it is combined with, None for the one that changes nothing.

    ``live``: the node that tells where there is such a term at all, None for everywhere. A term that a ``where`` has
    cut off is not the same as one with the factor zero, which would make NaN of an infinite state.
    """

    factor: str | None = None
    live: str | None = None
    view: View = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Form:
    """A value as a function of states, numbered as in the ``Scan``."""

    terms: Mapping[int, Term]
    offset: str | None
    shape: Shape
    dtype: str
    kind: str = ""
    """Of extremes: ``max`` or ``min``, empty where neither has been taken yet."""
    negated: bool = False
    """Of extremes: the terms contain the negated states."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Unfit:
    """Why a value has no form in an algebra, and the first operation that is to blame."""

    reason: str
    origin: Origin = field(default_factory=Origin)


Value = str | Form | Unfit
"""A node that depends on no state, by its name; a form; or the reason why there is none."""


_MIXING: Final = {
    "contract": "a product of matrices",
    "slice": "a slice",
    "concat": "a concatenation",
    "pad": "padding",
    "gather": "a gather",
    "gather_elements": "a gather",
    "arg": "a search for an extreme",
    "cumulate": "a running sum",
}


class UnfitError(Exception):
    """Raised inside an algebra where an operation does not fit."""


class Algebra:
    """Finds the forms of nodes, with the terms of some states; all other states count as known values."""

    name: ClassVar[str] = ""
    neutral: ClassVar[str] = ""
    """The elementwise operation by which two offsets are combined."""

    def __init__(self, scan: Scan, growth: Growth, variables: Iterable[int], nodes: Iterable[Node]) -> None:
        """``nodes``: those that are asked for, and all they are computed from, in order."""
        self.grow = growth
        self._variables = {scan.states[index].before: index for index in variables}
        self._values: dict[str, Value] = {}
        for node in nodes:
            self._values[node.name] = self._value(node)

    def __getitem__(self, name: str) -> Value:
        return self._values[name]

    # What an algebra says of itself.

    def no_factor(self, form: Form) -> str:
        """The factor that leaves a state as it is."""
        raise NotImplementedError

    def no_offset(self, form: Form) -> str:
        """The offset that leaves the terms as they are."""
        raise NotImplementedError

    def merge(self, form: Form, left: str | None, right: str | None) -> str | None:
        """The factor of two terms of one state."""
        raise NotImplementedError

    def factor_that_erases(self, form: Form) -> str | None:
        """The factor that takes a term away exactly; None if there is none, and ``live`` has to."""
        raise NotImplementedError

    def absent(self, form: Form) -> str:
        """The factor that does not count where two terms of one state are merged."""
        raise NotImplementedError

    def apply(self, node: Node, operands: list[str | Form]) -> Form:  # noqa: ARG002
        """The form of an elementwise operation, at least one of whose operands has one; may raise UnfitError."""
        mixing = _MIXING.get(node.operation)
        if mixing is not None:
            raise UnfitError(f"{mixing} mixes the lanes of a state")
        raise UnfitError(f"{node.operation} of a state cannot be regrouped")

    # What is the same for all.

    def _value(self, node: Node) -> Value:
        if node.name in self._variables:
            return Form(terms={self._variables[node.name]: Term()}, offset=None, shape=node.shape, dtype=node.dtype)
        operands = [self._values[name] for name in node.inputs]
        unfit = next((operand for operand in operands if isinstance(operand, Unfit)), None)
        if unfit is not None:
            return unfit
        fitting = [operand for operand in operands if not isinstance(operand, Unfit)]
        if all(isinstance(operand, str) for operand in fitting):
            return node.name
        try:
            return self._formed(node, fitting)
        except UnfitError as error:
            return Unfit(reason=str(error), origin=node.origin)

    def _formed(self, node: Node, operands: list[str | Form]) -> Form:
        first = operands[0]
        if node.operation == "where":
            return self.choose(node, *operands)
        if isinstance(first, Form) and node.operation in ("reshape", "transpose", "expand", "reduce"):
            return self._moved(node, first)
        if isinstance(first, Form) and node.operation == "cast" and first.dtype == node.dtype:
            return first
        spread = [self.spread(item, node.shape) if isinstance(item, Form) else item for item in operands]
        return self.apply(node, spread)

    def choose(self, node: Node, condition: str | Form, chosen: str | Form, other: str | Form) -> Form:
        """The form of a ``where``, whose condition may not depend on a state here."""
        if isinstance(condition, Form):
            raise UnfitError("a condition that depends on a state cannot be regrouped")
        left, right = (
            self.spread(self.as_form(item, node), node.shape) if isinstance(item, Form) else self.as_form(item, node)
            for item in (chosen, other)
        )
        self.check_alike(left, right)
        terms = {}
        for index in sorted({*left.terms, *right.terms}):
            terms[index] = self._chosen(condition, left, right, index)
        offset = self._optional(
            left, right, lambda one, two: self.grow.map("where", condition, one, two), default=self.no_offset
        )
        return replace(left if left.terms else right, terms=terms, offset=offset, **self.mixture(left, right))

    def mixture(self, left: Form, right: Form) -> dict[str, Any]:
        """The further fields of a form made of two."""
        return {"kind": left.kind or right.kind}

    def check_alike(self, left: Form, right: Form) -> None:
        """Raise UnfitError if two forms cannot be combined, whatever the combination."""

    def as_form(self, value: str | Form, node: Node) -> Form:
        """A value that depends on no state as a form without terms."""
        if isinstance(value, Form):
            return value
        return Form(terms={}, offset=value, shape=node.shape, dtype=self.grow.dtype(value))

    def union(self, left: Form, right: Form) -> dict[int, Term]:
        """The terms of two forms that are combined."""
        terms = dict(left.terms)
        for index, term in right.terms.items():
            terms[index] = self._joined(left, terms[index], term) if index in terms else term
        return terms

    def spread(self, form: Form, shape: Shape) -> Form:
        """The form as an operand of an elementwise operation of this shape."""
        if form.shape == shape:
            return form
        same = product(form.shape) == product(shape)
        step = ("reshape" if same else "expand", None, shape)
        return self._viewed(form, step, lambda name: name)

    def _moved(self, node: Node, form: Form) -> Form:
        if node.operation == "reduce":
            if any(form.shape[axis] != ONE for axis in node.attributes["axes"]):
                raise UnfitError("a reduction mixes the lanes of a state")
            return form
        if node.operation == "transpose":
            perm = tuple(node.attributes["perm"])
            return self._viewed(
                form, ("transpose", perm, node.shape), lambda name: self.grow.transpose(self._full(form, name), perm)
            )
        if node.operation == "expand":
            return self.spread(form, node.shape)
        return self._viewed(
            form, ("reshape", None, node.shape), lambda name: self.grow.reshape(self._full(form, name), node.shape)
        )

    def _full(self, form: Form, name: str) -> str:
        """A coefficient in the whole shape of its form, unless it is a single value."""
        return name if self.grow.uniform(name) is not None else self.grow.expand(name, form.shape)

    def _viewed(self, form: Form, step: tuple[str, Any, Shape], move: Callable[[str], str]) -> Form:
        def moved(name: str | None) -> str | None:
            return None if name is None else move(name)

        terms = {
            index: Term(factor=moved(term.factor), live=moved(term.live), view=_extended(term.view, step, form.shape))
            for index, term in form.terms.items()
        }
        return replace(form, terms=terms, offset=moved(form.offset), shape=step[2])

    def _optional(
        self,
        left: Form,
        right: Form,
        combine: Callable[[str, str], str],
        default: Callable[[Form], str],
    ) -> str | None:
        if left.offset is None and right.offset is None:
            return None
        one = default(right) if left.offset is None else left.offset
        two = default(left) if right.offset is None else right.offset
        return combine(one, two)

    def _chosen(self, condition: str, left: Form, right: Form, index: int) -> Term:
        one, two = left.terms.get(index), right.terms.get(index)
        whole = left if one is not None else right
        if one is not None and two is not None:
            _check_views(one, two)
            return Term(
                factor=self._where_factor(condition, whole, one.factor, two.factor),
                live=self._where_live(condition, one.live, two.live),
                view=one.view,
            )
        term = one if one is not None else two
        assert term is not None
        erased = self.factor_that_erases(whole)
        if erased is not None:
            kept = term.factor or self.no_factor(whole)
            pair = (kept, erased) if one is not None else (erased, kept)
            return replace(term, factor=self.grow.map("where", condition, *pair))
        there = condition if one is not None else self.grow.map("not", condition)
        return replace(term, live=there if term.live is None else self.grow.map("and", there, term.live))

    def _where_factor(self, condition: str, form: Form, one: str | None, two: str | None) -> str | None:
        if one == two:
            return one
        neutral = self.no_factor(form)
        return self.grow.map("where", condition, one or neutral, two or neutral)

    def _where_live(self, condition: str, one: str | None, two: str | None) -> str | None:
        if one == two:
            return one
        if one is None:
            assert two is not None
            return self.grow.map("or", condition, two)
        if two is None:
            return self.grow.map("or", self.grow.map("not", condition), one)
        return self.grow.map("where", condition, one, two)

    def _joined(self, form: Form, one: Term, two: Term) -> Term:
        _check_views(one, two)
        if one.live is None and two.live is None:
            return replace(one, factor=self.merge(form, one.factor, two.factor))
        live = None if one.live is None or two.live is None else self.grow.map("or", one.live, two.live)
        factors = [self._where_live_factor(form, term) for term in (one, two)]
        if one.factor is None and two.factor is None and self.merge(form, None, None) is None:
            return replace(one, live=live)
        return replace(one, factor=self.merge(form, *factors), live=live)

    def _where_live_factor(self, form: Form, term: Term) -> str | None:
        if term.live is None:
            return term.factor
        return self.grow.map("where", term.live, term.factor or self.no_factor(form), self.absent(form))


def _check_views(one: Term, two: Term) -> None:
    if one.view != two.view:
        raise UnfitError("lanes of a state meet other lanes of it")


def _extended(view: View, step: tuple[str, Any, Shape], before: Shape) -> View:
    """A view with one more operation, in the shortest form: what undoes itself is gone."""
    operation, detail, shape = step
    if operation == "transpose":
        moved = [axis for axis in detail if before[axis] != ONE]
        if moved == sorted(moved):
            return _extended(view, ("reshape", None, shape), before)
        if view and view[-1][0] == "transpose":
            merged = tuple(view[-1][1][axis] for axis in detail)
            inner = _inner_shape(view[-1])
            return _extended(view[:-1], ("transpose", merged, shape), inner)
    elif shape == before:
        return view
    elif view and view[-1][0] == operation:
        return _extended(view[:-1], step, view[-1][1])
    return (*view, step if operation == "transpose" else (operation, before, shape))


def _inner_shape(step: tuple[str, Any, Shape]) -> Shape:
    """The shape that a transpose was given."""
    _, perm, shape = step
    inner = [ONE] * len(shape)
    for place, axis in enumerate(perm):
        inner[axis] = shape[place]
    return tuple(inner)
