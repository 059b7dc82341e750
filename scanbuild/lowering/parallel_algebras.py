"""The algebras in which an update of states can be regrouped: sums of multiples, extremes of sums, bits."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, ClassVar, Final

import numpy as np

from scanbuild.lowering.graph import Node
from scanbuild.lowering.operations import FLOATS, INTEGERS
from scanbuild.lowering.parallel_forms import Algebra, Form, Term, UnfitError

_SWAPPED: Final = {"max": "min", "min": "max", "": ""}


class Linear(Algebra):
    """``sum of factor * state + offset``, over floats (regrouped, so rounded differently) and integers (they wrap)."""

    name: ClassVar[str] = "linear"

    def no_factor(self, form: Form) -> str:
        return self.grow.constant(1, form.dtype)

    def no_offset(self, form: Form) -> str:
        return self.grow.constant(0, form.dtype)

    def factor_that_erases(self, form: Form) -> str | None:
        return None if form.dtype in FLOATS else self.no_offset(form)

    def absent(self, form: Form) -> str:
        return self.no_offset(form)

    def merge(self, form: Form, left: str | None, right: str | None) -> str | None:
        return self._plain(self.grow.map("add", left or self.no_factor(form), right or self.no_factor(form)))

    def apply(self, node: Node, operands: list[str | Form]) -> Form:
        one = operands[0]
        match node.operation:
            case "add":
                return self._added(node, one, operands[1])
            case "sub":
                other = operands[1]
                taken = self._scaled_by_minus_one(other) if isinstance(other, Form) else self.grow.map("neg", other)
                return self._added(node, one, taken)
            case "neg" if isinstance(one, Form):
                return self._scaled_by_minus_one(one)
            case "mul":
                return self._multiplied(*operands)
            case "div" if isinstance(one, Form) and isinstance(operands[1], str):
                return self._divided(one, operands[1])
            case "cast" if isinstance(one, Form) and one.dtype in FLOATS and node.dtype in FLOATS:
                return self._mapped(one, lambda name: self.grow.cast(name, node.dtype), dtype=node.dtype)
        return super().apply(node, operands)

    def _plain(self, factor: str) -> str | None:
        return None if self.grow.is_uniform(factor, 1) else factor

    def _added(self, node: Node, left: str | Form, right: str | Form) -> Form:
        one, two = self.as_form(left, node), self.as_form(right, node)
        offset = one.offset or two.offset
        if one.offset is not None and two.offset is not None:
            offset = self.grow.map("add", one.offset, two.offset)
        whole = one if one.terms else two
        return replace(whole, terms=self.union(one, two), offset=offset)

    def _scaled_by_minus_one(self, form: Form) -> Form:
        def scaled(term: Term) -> Term:
            return replace(term, factor=self._plain(self.grow.map("neg", term.factor or self.no_factor(form))))

        offset = None if form.offset is None else self.grow.map("neg", form.offset)
        return replace(form, terms={index: scaled(term) for index, term in form.terms.items()}, offset=offset)

    def _multiplied(self, left: str | Form, right: str | Form) -> Form:
        if isinstance(left, Form) and isinstance(right, Form):
            raise UnfitError("a product of two values that depend on states cannot be regrouped")
        form, factor = (left, right) if isinstance(left, Form) else (right, left)
        assert isinstance(form, Form) and isinstance(factor, str)

        def scaled(name: str | None) -> str:
            return factor if name is None else self.grow.map("mul", name, factor)

        terms = {index: replace(term, factor=self._plain(scaled(term.factor))) for index, term in form.terms.items()}
        return replace(form, terms=terms, offset=None if form.offset is None else scaled(form.offset))

    def _divided(self, form: Form, divisor: str) -> Form:
        if form.dtype not in FLOATS:
            if self.grow.is_uniform(divisor, 1):
                return form
            raise UnfitError("a quotient of integers is cut off, which cannot be regrouped")

        def divided(name: str) -> str:
            return self.grow.map("div", name, divisor)

        terms = {
            index: replace(term, factor=self._plain(divided(term.factor or self.no_factor(form))))
            for index, term in form.terms.items()
        }
        return replace(form, terms=terms, offset=None if form.offset is None else divided(form.offset))

    def _mapped(self, form: Form, convert: Callable[[str], str], dtype: str) -> Form:
        terms = {
            index: replace(term, factor=None if term.factor is None else convert(term.factor))
            for index, term in form.terms.items()
        }
        return replace(form, terms=terms, offset=None if form.offset is None else convert(form.offset), dtype=dtype)


class Max(Algebra):
    """``max of (factor + state) and offset``, or the minimum of them; of integers without factors, as their sums wrap.

    Rounding keeps order, so the larger of two rounded sums is the rounded sum of the larger: a maximum may be moved
    into or out of an addition exactly. NaN goes through every sum, and every maximum as ONNX defines it.
    """

    name: ClassVar[str] = "max"

    def no_factor(self, form: Form) -> str:
        return self.grow.constant(0, form.dtype)

    def no_offset(self, form: Form) -> str:
        return self.grow.constant((lowest if self._kind(form) == "max" else highest)(form.dtype), form.dtype)

    def factor_that_erases(self, form: Form) -> str | None:  # noqa: ARG002
        return None

    def absent(self, form: Form) -> str:
        return self.no_offset(form)

    def merge(self, form: Form, left: str | None, right: str | None) -> str | None:
        if left == right:
            return left
        return self.grow.map(form.kind, left or self.no_factor(form), right or self.no_factor(form))

    def check_alike(self, left: Form, right: Form) -> None:
        if left.kind and right.kind and left.kind != right.kind:
            raise UnfitError("a maximum and a minimum together are not regrouped")
        if left.terms and right.terms and left.negated != right.negated:
            raise UnfitError("a state meets its own negative in a maximum or minimum")

    def mixture(self, left: Form, right: Form) -> dict[str, Any]:
        """An offset on one side alone is completed on the other by what a maximum, or a minimum, passes over."""
        kind = left.kind or right.kind
        if not kind and (left.offset is None) != (right.offset is None):
            kind = self._kind(left if left.terms else right)
        return {"kind": kind}

    def _kind(self, form: Form) -> str:
        """What is taken of the terms in this place for the algebra's kind in the end."""
        return form.kind or (_SWAPPED[self.name] if form.negated else self.name)

    def apply(self, node: Node, operands: list[str | Form]) -> Form:
        one = operands[0]
        if node.operation in ("max", "min"):
            return self._extreme(node, *operands)
        if isinstance(one, Form) and node.operation == "neg":
            return self._negated(one)
        if node.operation in ("add", "sub"):
            return self._shifted(node.operation, one, operands[1])
        if isinstance(one, Form) and node.operation == "cast" and one.dtype in FLOATS and node.dtype in FLOATS:
            return self._mapped(one, lambda name: self.grow.cast(name, node.dtype), node.dtype)
        return super().apply(node, operands)

    def _extreme(self, node: Node, left: str | Form, right: str | Form) -> Form:
        one, two = (
            replace(form, kind=form.kind or node.operation)
            for form in (self.as_form(left, node), self.as_form(right, node))
        )
        if {one.kind, two.kind} != {node.operation}:
            raise UnfitError("a maximum of a minimum, or the reverse, is not regrouped")
        self.check_alike(one, two)
        offset = one.offset or two.offset
        if one.offset is not None and two.offset is not None:
            offset = self.grow.map(node.operation, one.offset, two.offset)
        whole = one if one.terms else two
        return replace(whole, terms=self.union(one, two), offset=offset)

    def _negated(self, form: Form) -> Form:
        self._floats_only(form)
        flipped = self._mapped(form, lambda name: self.grow.map("neg", name), form.dtype)
        return replace(flipped, kind=_SWAPPED[form.kind], negated=not form.negated)

    def _shifted(self, operation: str, left: str | Form, right: str | Form) -> Form:
        if isinstance(left, Form) and isinstance(right, Form):
            raise UnfitError("a sum of two values that depend on states is no extreme of them")
        if isinstance(right, Form):
            form, by = (self._negated(right) if operation == "sub" else right), left
        else:
            form, by = left, self.grow.map("neg", right) if operation == "sub" else right  # type: ignore[assignment]
        assert isinstance(form, Form) and isinstance(by, str)
        self._floats_only(form)

        def moved(name: str | None) -> str:
            return by if name is None else self.grow.map("add", name, by)

        terms = {index: replace(term, factor=moved(term.factor)) for index, term in form.terms.items()}
        return replace(form, terms=terms, offset=None if form.offset is None else moved(form.offset))

    def _floats_only(self, form: Form) -> None:
        if form.dtype not in FLOATS:
            raise UnfitError("a sum of integers wraps, which does not keep the order that a maximum needs")

    def _mapped(self, form: Form, convert: Callable[[str], str], dtype: str) -> Form:
        terms = {
            index: replace(term, factor=None if term.factor is None else convert(term.factor))
            for index, term in form.terms.items()
        }
        return replace(form, terms=terms, offset=None if form.offset is None else convert(form.offset), dtype=dtype)


class Min(Max):
    """``min of (factor + state) and offset``: where both would do, as with none taken yet, this one means a minimum."""

    name: ClassVar[str] = "min"


class Bits(Algebra):
    """``exclusive or of (factor and state) and of offset``, for bools and for each bit of an integer.

    Every function of one bit is of this form, so that any logic of one state is; of several states their exclusive or.
    """

    name: ClassVar[str] = "bits"

    def no_factor(self, form: Form) -> str:
        return self.grow.constant(_ones(form.dtype), form.dtype)

    def no_offset(self, form: Form) -> str:
        return self.grow.constant(0, form.dtype)

    def factor_that_erases(self, form: Form) -> str | None:
        return self.no_offset(form)

    def merge(self, form: Form, left: str | None, right: str | None) -> str | None:
        return self._mask(self._xor(left or self.no_factor(form), right or self.no_factor(form)))

    def apply(self, node: Node, operands: list[str | Form]) -> Form:
        operation = node.operation.removeprefix("bit_")
        of_bools = self._dtype(operands[0]) == "bool"
        one = operands[0]
        if operation == "not" and isinstance(one, Form):
            return self._inverted(one)
        if operation in ("xor", "ne") and (operation == "xor" or of_bools):
            return self._parity(node, *operands)
        if operation == "eq" and of_bools:
            return self._inverted(self._parity(node, *operands))
        if operation == "and":
            return self._both(node, *operands)
        if operation == "or":
            return self._inverted(self._both(node, *(self._not(item) for item in operands)))
        return super().apply(node, operands)

    def choose(self, node: Node, condition: str | Form, chosen: str | Form, other: str | Form) -> Form:
        """Of bools the condition may depend on the state, too."""
        if isinstance(condition, str):
            return super().choose(node, condition, chosen, other)
        if node.dtype != "bool":
            raise UnfitError("a condition that depends on a state cannot be regrouped")
        asked = self.spread(condition, node.shape)
        picked, left = (self.spread(item, node.shape) if isinstance(item, Form) else item for item in (chosen, other))
        return self._parity(node, self._both(node, asked, picked), self._both(node, self._inverted(asked), left))

    def _dtype(self, value: str | Form) -> str:
        return value.dtype if isinstance(value, Form) else self.grow.dtype(value)

    def _map(self, operation: str, *operands: str) -> str:
        bools = self.grow.dtype(operands[0]) == "bool"
        return self.grow.map(operation if bools else f"bit_{operation}", *operands)

    def _xor(self, left: str, right: str) -> str:
        if left == right:
            return self.grow.constant(0, self.grow.dtype(left))
        for one, other in ((left, right), (right, left)):
            if self.grow.is_uniform(one, -1):
                return self._map("not", other)
        return self._map("xor", left, right)

    def _and(self, left: str, right: str) -> str:
        for one in (left, right):
            if self.grow.is_uniform(one, 0):
                return one
        return left if left == right else self._map("and", left, right)

    def _mask(self, factor: str) -> str | None:
        return None if self.grow.is_uniform(factor, -1) else factor

    def _not(self, value: str | Form) -> str | Form:
        return self._inverted(value) if isinstance(value, Form) else self._map("not", value)

    def _inverted(self, form: Form) -> Form:
        ones = self.no_factor(form)
        return self._lean(replace(form, offset=self._xor(form.offset or self.no_offset(form), ones)))

    def _parity(self, node: Node, left: str | Form, right: str | Form) -> Form:
        one, two = self.as_form(left, node), self.as_form(right, node)
        offset = one.offset or two.offset
        if one.offset is not None and two.offset is not None:
            offset = self._xor(one.offset, two.offset)
        return self._lean(replace(one if one.terms else two, terms=self.union(one, two), offset=offset))

    def _both(self, node: Node, left: str | Form, right: str | Form) -> Form:
        """``(m s ^ a) & (n s ^ b) = (m n ^ m b ^ n a) s ^ a b``, since a bit is its own square."""
        one, two = self.as_form(left, node), self.as_form(right, node)
        if one.terms and two.terms and ({*one.terms} != {*two.terms} or len(one.terms) > 1):
            raise UnfitError("a conjunction of several states cannot be regrouped")
        zero = self.no_offset(one if one.terms else two)
        masked = self._masked(one, two.offset or zero), self._masked(two, one.offset or zero)
        offset = self._and(one.offset or zero, two.offset or zero)
        terms = self.union(replace(one, terms=masked[0]), replace(two, terms=masked[1]))
        for index in {*one.terms} & {*two.terms}:
            ones = self.no_factor(one)
            square = self._and(one.terms[index].factor or ones, two.terms[index].factor or ones)
            mask = self._xor(terms[index].factor or ones, square)
            terms[index] = replace(terms[index], factor=self._mask(mask))
        return self._lean(replace(one if one.terms else two, terms=terms, offset=offset))

    def _lean(self, form: Form) -> Form:
        """The form without what is zero everywhere."""
        kept = {index: term for index, term in form.terms.items() if not self.grow.is_uniform(term.factor, 0)}
        return replace(form, terms=kept, offset=None if self.grow.is_uniform(form.offset, 0) else form.offset)

    def _masked(self, form: Form, mask: str) -> dict[int, Term]:
        ones = self.no_factor(form)
        return {
            index: replace(term, factor=self._mask(self._and(term.factor or ones, mask)))
            for index, term in form.terms.items()
        }


def _ones(dtype: str) -> Any:
    kind = np.dtype(dtype).kind
    return True if kind == "b" else np.iinfo(dtype).max if kind == "u" else -1


def lowest(dtype: str) -> Any:
    """What no value of a dtype is below."""
    return np.iinfo(dtype).min if dtype in INTEGERS else -np.inf


def highest(dtype: str) -> Any:
    """What no value of a dtype is above."""
    return np.iinfo(dtype).max if dtype in INTEGERS else np.inf
