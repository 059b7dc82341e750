"""Symbols of dimensions while a model is read: which are equal, which are a number, and what they are called.

A symbol begins as a number of its own (``?3``), for a dimension of an input; it can be bound to a size of other
symbols. Names are given at the end, to those that are left.
"""

from typing import Final

from scanbuild.lowering.graph import Shape
from scanbuild.lowering.names import Namer, is_good
from scanbuild.lowering.sizes import Size

OUTER: Final = 0
"""How much a name is worth: the enclosing graph's, the body's, one made up for the dimension's role, any."""
INNER: Final = 1
ROLE: Final = 2
ANY: Final = 3

_LETTERS: Final = ("n", "m", "k", "p", "q", "r")


class UnequalError(Exception):
    """Two sizes can never be equal."""


class Symbols:
    """All symbols of a ``Scan``."""

    def __init__(self) -> None:
        self._wishes: dict[str, tuple[int, int, str]] = {}
        self._named: dict[tuple[str, str], Size] = {}
        self._bound: dict[str, Size] = {}
        self.equalities: dict[Size, tuple[Size, Size]] = {}
        """What must hold besides, by the difference."""
        self.nonnegative: dict[Size, None] = {}
        """What must not be below zero."""

    @property
    def bound(self) -> int:
        """How many are bound. A translation made before another was bound has to be made again."""
        return len(self._bound)

    def fresh(self, wish: str = "", worth: int = ANY) -> Size:
        """A new symbol. ``wish`` is what it is to be called."""
        name = f"?{len(self._wishes):04}"
        self._wishes[name] = (worth, len(self._wishes), wish)
        return Size.of(name)

    def named(self, scope: str, name: str, wish: str, worth: int) -> Size:
        """The symbol that a scope knows by a name, which need not be what it is to be called."""
        if (scope, name) not in self._named:
            self._named[scope, name] = self.fresh(wish, worth)
        return self.resolve(self._named[scope, name])

    def resolve(self, size: Size) -> Size:
        """The size in symbols that are not bound."""
        while self._bound and any(symbol in self._bound for symbol in size.symbols):
            size = size.at(self._bound)
        return size

    def resolve_all(self, shape: Shape) -> Shape:
        return tuple(self.resolve(size) for size in shape)

    def equal(self, left: Size, right: Size) -> Size:
        """One size for two that must be equal, a symbol bound if need be. UnequalError if they cannot be."""
        left, right = self.resolve(left), self.resolve(right)
        difference = left - right
        if not difference.terms:
            return left
        if difference.number is not None:
            raise UnequalError
        if len({factor > 0 for _, factor in difference.terms}) == 1 and 0 not in (left.number, right.number):
            raise UnequalError  # as d and 2 * d: equal for empty tensors only, which nobody means
        if not self._solve(_without_common(difference)):
            self.equalities.setdefault(difference, (left, right))
        return self.resolve(left)

    def require(self, size: Size) -> bool:
        """Note that a size must not be below zero; whether it can be so."""
        size = self.resolve(size)
        if size.number is not None:
            return size.number >= 0
        if any(factor < 0 for _, factor in size.terms):
            self.nonnegative[size] = None
        return True

    def forget(self) -> None:
        """Start again with what must hold; what is bound stays so."""
        self.equalities.clear()
        self.nonnegative.clear()

    def broadcast(self, left: Size, right: Size) -> Size:
        """The size of a dimension of two operands of an elementwise operation."""
        left, right = self.resolve(left), self.resolve(right)
        if left.number == 1:
            return right
        return left if right.number == 1 else self.equal(left, right)

    def _solve(self, difference: Size) -> bool:
        """Bind a symbol so that the difference is zero, if one can be."""
        for symbol in sorted(difference.symbols, key=lambda name: self._wishes[name], reverse=True):
            terms = dict(difference.terms)
            factor = terms.pop((symbol,), 0)
            if not factor or any(symbol in monomial for monomial in terms):
                continue
            value = Size(tuple((monomial, -times) for monomial, times in difference.terms if monomial != (symbol,)))
            quotient = value.divided(factor)
            if quotient is None and len(difference.symbols) == 1:
                raise UnequalError
            if quotient is not None and _is_a_size(quotient):
                self._bound[symbol] = quotient
                return True
            if quotient is not None and quotient.number is not None:
                raise UnequalError
        return False

    def names(self, shapes: list[Shape], namer: Namer) -> dict[str, Size]:
        """A name for each symbol that is left, in the order in which shapes have them."""
        found = [symbol for shape in shapes for size in shape for symbol in sorted(self.resolve(size).symbols)]
        names: dict[str, Size] = {}
        for symbol in dict.fromkeys(found):
            if is_good(self._wishes[symbol][2]):
                names[symbol] = Size.of(namer.take(self._wishes[symbol][2]))
        for symbol in dict.fromkeys(found):
            if symbol not in names:
                names[symbol] = Size.of(namer.take(next((item for item in _LETTERS if not namer.has(item)), "n")))
        return names


def _without_common(difference: Size) -> Size:
    """The difference divided by what all its terms have in common: n * m = 4 * n says that m is 4."""
    first, *rest = (list(monomial) for monomial, _ in difference.terms)
    for symbol in list(first):
        if all(symbol in monomial for monomial in (first, *rest)):
            for monomial in (first, *rest):
                monomial.remove(symbol)
    reduced = zip((first, *rest), difference.terms, strict=True)
    total = Size()
    for monomial, (_, factor) in reduced:
        product = Size.of(factor)
        for symbol in monomial:
            product = product * Size.of(symbol)
        total = total + product
    return total


def _is_a_size(size: Size) -> bool:
    """Whether it can be one: not if it is a number below zero."""
    return size.number is None or size.number >= 0
