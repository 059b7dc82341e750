"""Tests: what may stand behind ``is``."""

import math
from collections.abc import Callable
from typing import Final

from .errors import value_error
from .operators import describe, is_string, strictly_equal
from .values import BROKEN, HOLE, UNDEFINED, Native, Value, Whole

Test = Callable[[Value], bool]


def _is_odd(value: Value) -> bool:
    return bool(_integer("odd", value) % 2 != 0)


def _is_even(value: Value) -> bool:
    return bool(_integer("even", value) % 2 == 0)


def _integer(test: str, value: Value) -> float:
    if type(value) is int:
        return value
    if type(value) is Whole:
        return value if math.isfinite(value) else math.nan
    raise value_error(f"'is {test}' needs an integer, not {describe(value)}")


def _in_case(value: Value, convert: Callable[[str], str]) -> bool:
    if value is BROKEN:
        raise value_error(f"{describe(value)} has no case")
    return type(value) is str and value == convert(value)


TESTS: Final[dict[str, Test]] = {
    "boolean": lambda value: type(value) is bool,
    "callable": lambda value: type(value) is Native,
    "odd": _is_odd,
    "even": _is_even,
    "true": lambda value: value is True,
    "false": lambda value: value is False,
    "none": lambda value: value is None,
    "string": is_string,
    "number": lambda value: type(value) in (int, float, Whole),
    "integer": lambda value: type(value) in (int, Whole),
    "iterable": lambda value: type(value) is list or is_string(value),
    "mapping": lambda value: isinstance(value, dict),
    "sequence": lambda value: isinstance(value, (list, tuple, dict)) or is_string(value),
    "lower": lambda value: _in_case(value, str.lower),
    "upper": lambda value: _in_case(value, str.upper),
    "defined": lambda value: value is not UNDEFINED,
    "undefined": lambda value: value is UNDEFINED,
}

_OF_CLASS: Final = frozenset({"callable", "number", "integer", "mapping", "sequence"})
"""Tests that ask for the class of a value, which a hole need not have; the others look into it."""

EQUALITY: Final = frozenset({"equalto", "eq"})
"""Tests with an argument: they exist for ``selectattr`` and ``rejectattr`` only."""


def find_test(name: str) -> Test:
    """The test of that name, applicable to any value but a hole."""
    if name in EQUALITY:
        raise value_error(f"the test {name!r} needs an argument: use '=='")
    test = TESTS.get(name)
    if test is None:
        raise value_error(f"unknown test {name!r}; the loader knows {', '.join(TESTS)}")
    return test


def apply_test(name: str, value: Value) -> bool:
    """The outcome of the test of that name."""
    test = find_test(name)
    if value is HOLE:
        if name in _OF_CLASS:
            return False
        raise value_error(f"{describe(value)} cannot be tested")
    return test(value)


def find_attribute_test(name: str, operand: str | None) -> Test:
    """The test of that name, as ``selectattr`` uses it."""
    if name not in EQUALITY:
        return find_test(name)

    def test(value: Value) -> bool:
        if operand is None:
            raise value_error(f"the test {name!r} needs a string to compare with")
        return strictly_equal(value, operand)

    return test
