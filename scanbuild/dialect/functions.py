"""Constants and functions that the engine itself knows: ``range``, ``namespace``, ``raise_exception``."""

from collections.abc import Mapping
from typing import Any, Final

from .errors import limit_error, value_error
from .helpers import HELPERS
from .limits import ITEM_COST, MAX_ITEMS
from .operators import describe, is_string, join_texts, raw_text
from .printing import array_text
from .text import string_number
from .values import BROKEN, HOLE, UNDEFINED, Budget, KeywordArguments, Namespace, Native, Plain, Value, Whole, whole

CONSTANTS: Final[Mapping[str, Plain]] = {
    "true": True,
    "false": False,
    "none": None,
    "True": True,
    "False": False,
    "None": None,
}


def _namespace(arguments: list[Value], scope: Any) -> Value:
    args = list(arguments)
    named = args.pop() if args and isinstance(args[-1], KeywordArguments) else {}
    if len(args) > 1:
        raise value_error(f"namespace() takes at most one argument, not {len(args)}")
    scope.budget.charge(args[0] if args else None)
    members = dict(_entries(args[0])) if args else {}
    members.update(named)
    return Namespace(members)


def _entries(source: Value) -> list[tuple[str, Value]]:
    if isinstance(source, dict):
        return list(source.items())
    if not isinstance(source, (list, tuple)):
        raise value_error(f"namespace() takes an object or a list of pairs, not {describe(source)}")
    return [_entry(pair) for pair in source]


def _entry(pair: Value) -> tuple[str, Value]:
    if isinstance(pair, (list, tuple, str)) and len(pair) == 2 and type(pair[0]) is str:
        return pair[0], pair[1]
    raise value_error("namespace() takes an object or a list of pairs, each a key and a value")


def _raise_exception(arguments: list[Value], _scope: Any) -> Value:
    message = arguments[0] if arguments and type(arguments[0]) is str else "raise_exception() was called"
    raise value_error(message)


def _range(arguments: list[Value], scope: Any) -> Value:
    budget: Budget = scope.budget
    start, stop, step = (*[_raw(value) for value in arguments], UNDEFINED, UNDEFINED, UNDEFINED)[:3]
    if stop is UNDEFINED:
        start, stop = 0, start
    step = 1 if step is UNDEFINED else step
    if type(step) in (int, float, Whole) and step == 0:
        raise value_error("the step of range() must not be 0")
    if type(start) is int and type(stop) is int and type(step) is int:
        if (stop - start) // step > MAX_ITEMS:
            raise limit_error(f"range(): a list of more than {MAX_ITEMS} elements")
        numbers = range(start, stop, step)
        budget.make_numbers(len(numbers))
        return list(numbers)
    return [_retyped(value) for value in _counted(start, _as_number(stop, budget), step, budget)]


def _raw(value: Value) -> Value:
    if value is HOLE:
        raise value_error(f"range() cannot use {describe(value)}")
    return UNDEFINED if value is None or value is BROKEN else value


def _counted(start: Value, stop: float, step: Value, budget: Budget) -> list[Value]:
    """What counting with JavaScript's own ``<`` and ``+`` gives."""
    up = _as_number(step, budget) > 0
    values: list[Value] = []
    current = start
    while _as_number(current, budget) < stop if up else _as_number(current, budget) > stop:
        values.append(current)
        budget.spend(2 * ITEM_COST)
        if len(values) > MAX_ITEMS:
            raise limit_error(f"range(): a list of more than {MAX_ITEMS} elements")
        if is_string(current) or isinstance(current, (list, tuple, dict)) or not _is_number(step):
            current = join_texts(raw_text(current, budget), raw_text(step, budget), budget)
        else:
            current = _as_number(current, budget) + _as_number(step, budget)
    return values


def _is_number(value: Value) -> bool:
    return value is UNDEFINED or type(value) in (bool, int, float, Whole)


def _as_number(value: Value, budget: Budget) -> float:
    if type(value) is str:
        return string_number(value)
    if isinstance(value, (list, tuple)):
        return string_number(array_text(value, budget))
    return float(value) if type(value) in (bool, int, float, Whole) else float("nan")


def _retyped(value: Value) -> Value:
    return whole(value) if type(value) is float and value % 1 == 0 else value


NAMESPACE: Final = Native("namespace", _namespace)

EXPRESSION_BUILTINS: Final[Mapping[str, Plain]] = {**CONSTANTS, **HELPERS}
"""What expressions find behind their scope."""

TEMPLATE_BUILTINS: Final[Mapping[str, Plain]] = {
    **EXPRESSION_BUILTINS,
    "range": Native("range", _range),
    "raise_exception": Native("raise_exception", _raise_exception),
}
"""What templates find behind their context."""
