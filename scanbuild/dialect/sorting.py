"""Order of values, for ``sort`` and ``dictsort``."""

import re
from collections.abc import Callable
from functools import cmp_to_key

from .errors import value_error
from .limits import COMPARE_COST
from .operators import describe, is_string
from .text import WHITE_SPACE, sort_key
from .values import BROKEN, HOLE, UNDEFINED, Budget, Namespace, Value, Whole

_NUMBERS = (int, float, Whole, bool)
_INDEX = re.compile(r"[+-]?[0-9]+")


def compare(left: Value, right: Value, case_sensitive: bool) -> int:
    """-1, 0 or 1; an error for values that have no order."""
    if left is right and (left is None or left is UNDEFINED):
        return 0
    if type(left) in _NUMBERS and type(right) in _NUMBERS:
        return int(left > right) - int(left < right)
    if is_string(left) and is_string(right):
        return _compare_strings(left, right, case_sensitive)
    raise value_error(f"{describe(left)} and {describe(right)} cannot be sorted")


def _compare_strings(left: Value, right: Value, case_sensitive: bool) -> int:
    if left is BROKEN or right is BROKEN:
        if case_sensitive:
            return 0
        raise value_error(f"{describe(BROKEN)} cannot be sorted")
    if not case_sensitive:
        left, right = left.lower(), right.lower()
    if not (left.isascii() and right.isascii()):
        left, right = sort_key(left), sort_key(right)
    return int(left > right) - int(left < right)


def sort(
    items: list[Value],
    key: Callable[[Value], Value],
    budget: Budget,
    *,
    case_sensitive: bool = False,
    reverse: bool = False,
) -> list[Value]:
    """A sorted copy; elements that compare equal keep their order, also in reverse. Holes come last."""
    sign = -1 if reverse else 1

    def order(left: Value, right: Value) -> int:
        budget.spend(COMPARE_COST)
        left, right = key(left), key(right)
        budget.charge(left)
        budget.charge(right)
        return sign * compare(left, right, case_sensitive)

    present = [item for item in items if item is not HOLE]
    return sorted(present, key=cmp_to_key(order)) + [HOLE] * (len(items) - len(present))


def attribute_of(item: Value, path: str) -> Value:
    """The member that a dotted path leads to; digits index lists. UNDEFINED if there is none."""
    value = item
    for part in path.split("."):
        if isinstance(value, Namespace):
            value = value.members.get(part, UNDEFINED)
        elif isinstance(value, dict):
            value = value.get(part, UNDEFINED)
        elif isinstance(value, (list, tuple)):
            found = _INDEX.match(part.lstrip(WHITE_SPACE))
            index = float(found.group()) if found else -1.0
            if not 0 <= index < len(value):
                return UNDEFINED
            value = value[int(index)]
        else:
            return UNDEFINED
        if value is HOLE:
            value = UNDEFINED
    return value
