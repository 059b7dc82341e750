"""Sizes of dimensions: polynomials with integer coefficients over symbols such as ``batch``.

A symbol stands for a size that a call brings along. Sums and products of sizes are sizes; a quotient is one only where
the division leaves nothing over.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

Monomial = tuple[str, ...]
"""The symbols of a product, sorted; the empty tuple is the constant."""


@dataclass(frozen=True, slots=True)
class Size:
    """A polynomial: sorted pairs of a monomial and its coefficient, none of them zero."""

    terms: tuple[tuple[Monomial, int], ...] = ()

    @classmethod
    def of(cls, value: "int | str | Size") -> "Size":
        """A number or a symbol as a size."""
        if isinstance(value, Size):
            return value
        return _size({(value,): 1}) if isinstance(value, str) else _size({(): value})

    def __add__(self, other: "Size | int") -> "Size":
        return _size(_sum(dict(self.terms), Size.of(other).terms))

    def __sub__(self, other: "Size | int") -> "Size":
        return self + Size.of(other) * -1

    def __mul__(self, other: "Size | int") -> "Size":
        product: dict[Monomial, int] = {}
        for left, factor in self.terms:
            _sum(product, [(tuple(sorted(left + right)), factor * times) for right, times in Size.of(other).terms])
        return _size(product)

    def divided(self, other: "Size | int") -> "Size | None":
        """The quotient, None where it is no polynomial with integer coefficients, or the divisor is zero."""
        divisor = Size.of(other)
        if not divisor.terms:
            return None
        rest, quotient = self, Size()
        lead, factor = divisor.terms[-1]
        while rest.terms:
            monomial, times = rest.terms[-1]
            remaining = list(monomial)
            for symbol in lead:
                if symbol not in remaining:
                    return None
                remaining.remove(symbol)
            if times % factor:
                return None
            step = _size({tuple(remaining): times // factor})
            quotient, rest = quotient + step, rest - step * divisor
        return quotient

    @property
    def number(self) -> int | None:
        """The value, if there is no symbol in it."""
        if not self.terms:
            return 0
        return self.terms[0][1] if len(self.terms) == 1 and self.terms[0][0] == () else None

    @property
    def symbol(self) -> str | None:
        """The symbol, if the size is that and nothing else."""
        if len(self.terms) == 1 and self.terms[0][1] == 1 and len(self.terms[0][0]) == 1:
            return self.terms[0][0][0]
        return None

    @property
    def symbols(self) -> frozenset[str]:
        return frozenset(symbol for monomial, _ in self.terms for symbol in monomial)

    @property
    def is_unwieldy(self) -> bool:
        """Whether it is longer or larger than any tensor's; what computes with sizes need not go on from here."""
        return len(self.terms) > 64 or any(len(monomial) > 16 or abs(times) >= 2**63 for monomial, times in self.terms)

    def at(self, values: "Mapping[str, Size | int]") -> "Size":
        """The size with values for some or all of its symbols."""
        total = Size()
        for monomial, factor in self.terms:
            product = Size.of(factor)
            for symbol in monomial:
                product = product * values.get(symbol, Size.of(symbol))
            total = total + product
        return total

    def __str__(self) -> str:
        """As people, and the loader's expressions, write it: ``2 * batch * heads - 1``. Only a number has a sign."""
        words = [(factor, " * ".join(_factors(monomial, abs(factor)))) for monomial, factor in reversed(self.terms)]
        added = [word for factor, word in words if factor > 0]
        taken = [word for factor, word in words if factor < 0]
        if self.number is not None and taken:
            return f"-{taken[0]}"
        return " - ".join([" + ".join(added) or "0", *taken])


def product(sizes: "tuple[Size, ...] | list[Size]") -> Size:
    """The number of elements of a shape."""
    total = Size.of(1)
    for size in sizes:
        total = total * size
    return total


def _factors(monomial: Monomial, factor: int) -> list[str]:
    return [*([] if factor == 1 and monomial else [str(factor)]), *monomial]


def _sum(
    into: dict[Monomial, int], terms: "list[tuple[Monomial, int]] | tuple[tuple[Monomial, int], ...]"
) -> dict[Monomial, int]:
    for monomial, factor in terms:
        into[monomial] = into.get(monomial, 0) + factor
    return into


def _size(terms: Mapping[Monomial, int]) -> Size:
    """In the order of degrees, then names, which any division needs."""
    kept = [(monomial, factor) for monomial, factor in terms.items() if factor]
    return Size(tuple(sorted(kept, key=lambda term: (len(term[0]), term[0]))))


ONE: Final = Size.of(1)
