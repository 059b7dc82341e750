"""Members, indices and slices."""

import math
from collections.abc import Callable

from .errors import value_error
from .limits import SLICE_COST
from .methods import OBJECT_METHODS, STRING_METHODS, bound
from .operators import describe, is_string
from .text import unit_length, units, well_formed
from .values import BROKEN, HOLE, UNDEFINED, Budget, Namespace, Value, Whole


def member(holder: Value, name: str) -> Value:
    """``holder.name``, or ``holder["name"]``."""
    if isinstance(holder, dict):
        value = holder.get(name, HOLE)
        if value is not HOLE:
            return value
        return bound(name, OBJECT_METHODS[name], holder) if name in OBJECT_METHODS else UNDEFINED
    if isinstance(holder, Namespace):
        value = holder.members.get(name, HOLE)
        return UNDEFINED if value is HOLE else value
    if holder is BROKEN or holder is HOLE:
        raise value_error(f"{describe(holder)} has no members")
    if type(holder) is str:
        return _string_member(holder, name)
    if isinstance(holder, (list, tuple)) and name == "length":
        return len(holder)
    return UNDEFINED


def _string_member(text: str, name: str) -> Value:
    if name == "length":
        return unit_length(text)
    return bound(name, STRING_METHODS[name], text) if name in STRING_METHODS else UNDEFINED


def item(holder: Value, index: Value) -> Value:
    """``holder[index]``"""
    if type(index) is str:
        return member(holder, index)
    if index is BROKEN and holder is not BROKEN and holder is not HOLE:
        return UNDEFINED
    if type(index) in (int, Whole) and (isinstance(holder, (list, tuple)) or is_string(holder)):
        return _element(holder, index)
    if isinstance(holder, (list, tuple)) or is_string(holder):
        raise value_error(f"an index must be an integer, not {describe(index)}" + _hint(index))
    raise value_error(f"{describe(holder)} has no element {describe(index)}")


def _hint(index: Value) -> str:
    return "; '//' divides to an integer, '| int' makes one" if type(index) is float else ""


def _element(holder: Value, index: float) -> Value:
    if holder is BROKEN:
        raise value_error(f"{describe(holder)} has no elements")
    sequence = units(holder) if type(holder) is str else holder
    place = 0 if math.isnan(index) else -1 if math.isinf(index) else int(index)
    if math.isinf(index) or not -len(sequence) <= place < len(sequence):
        return BROKEN if type(holder) is str else UNDEFINED
    value = sequence[place]
    return UNDEFINED if value is HOLE else value


def slice_of(holder: Value, bounds: Callable[[], tuple[Value, Value, Value]], budget: Budget) -> Value:
    """``holder[start:stop:step]``: a list, or of a string a string."""
    if not isinstance(holder, (list, tuple)) and type(holder) is not str:
        raise value_error(f"{describe(holder)} cannot be sliced")
    start, stop, step = bounds()
    for value in (start, stop, step):
        if value is not UNDEFINED and type(value) not in (int, Whole):
            raise value_error(f"the bounds of a slice must be integers, not {describe(value)}" + _hint(value))
    budget.spend(len(holder) * SLICE_COST)
    places = _places(len(holder), start, stop, 1 if step is UNDEFINED else step)
    if type(holder) is str:
        return well_formed("".join([holder[place] for place in places]))
    return [holder[place] for place in places]


def _places(length: int, start: Value, stop: Value, step: float) -> range:
    """The indices that a slice names. Infinite bounds reach the end, NaN reaches nothing."""
    given = [value for value in (start, stop, step) if value is not UNDEFINED]
    if step == 0 or any(math.isnan(value) for value in given):
        return range(0)
    low, high = (0, length) if step > 0 else (-1, length - 1)
    first = _clamp(start, length, low, high, low if step > 0 else high)
    if step < 0 and stop == -1:
        # Backwards, a written -1 is the default: the loader goes on to the first element, where Python stops at once.
        stop = UNDEFINED
    last = _clamp(stop, length, low, high, high if step > 0 else low)
    if math.isinf(step):
        step = math.copysign(length + 1, step)
    return range(first, last, int(step))


def _clamp(value: Value, length: int, low: int, high: int, default: int) -> int:
    if value is UNDEFINED:
        return default
    if value < 0:
        value = value + length
        return low if value < low else int(value)
    return high if value > high else int(value)
