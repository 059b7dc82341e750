"""Methods of strings and objects. Each takes the receiver, the call's arguments and the budget."""

import math
import re
from collections.abc import Callable
from typing import Final

from .arguments import Arguments, argument, string_argument
from .errors import limit_error, value_error
from .limits import ITEM_COST, MAX_ITEMS, MAX_TEXT
from .sorting import sort
from .text import SPACE_CLASS, WHITE_SPACE, units, well_formed
from .values import HOLE, Budget, KeywordArguments, Native, Value, Whole

Method = Callable[[Value, list[Value], Budget], Value]

_INITIALS = re.compile(r"(?<![A-Za-z0-9_])[a-z]")
_NOT_SPACE = re.compile(f"[^{SPACE_CLASS[1:-1]}]+")


def upper(text: str) -> str:
    """``toUpperCase``"""
    return text.upper()


def lower(text: str) -> str:
    """``toLowerCase``"""
    return text.lower()


def title(text: str) -> str:
    """Upper-case ASCII letters that begin a word; the rest is unchanged."""
    return _INITIALS.sub(lambda found: found.group().upper(), text)


def capitalize(text: str) -> str:
    """Upper-case first code unit; the rest is unchanged."""
    return text[:1].upper() + text[1:] if text[:1] <= "\uffff" else text


def _affix(name: str, test: Callable[[str, str], bool]) -> Method:
    def method(text: str, args: list[Value], budget: Budget) -> Value:
        wanted = argument(args, 0)
        options = wanted if isinstance(wanted, (list, tuple)) else [wanted]
        for option in map(string_argument, options):
            if option is None:
                raise value_error(f"{name}() takes a string, or a list of strings")
            budget.spend(ITEM_COST + len(option))
            if test(units(text), units(option)):
                return True
        return False

    return method


def _split(text: str, args: list[Value], budget: Budget) -> Value:
    separator = argument(args, 0)
    most = argument(args, 1, -1)
    if separator is not None and type(separator) is not str:
        raise value_error("split() takes a string or none, and a number of cuts")
    if type(most) not in (int, Whole):
        raise value_error("the number of cuts must be an integer")
    if separator == "":
        raise value_error("split() needs a separator that is not empty")
    budget.spend(len(text))
    parts = _split_blanks(text, most) if separator is None else _split_at(text, separator, most)
    if len(parts) > MAX_ITEMS:
        raise limit_error(f"a list of more than {MAX_ITEMS} elements")
    return parts


def _split_blanks(text: str, most: float) -> list[str]:
    text = text.lstrip(WHITE_SPACE)
    parts: list[str] = []
    for found in _NOT_SPACE.finditer(text):
        if most != -1 and len(parts) >= most:
            return [*parts, text[found.start() :]]
        parts.append(found.group())
    return parts


def _split_at(text: str, separator: str, most: float) -> list[str]:
    parts = units(text).split(units(separator))
    if most != -1 and len(parts) > most:
        keep = slice_bound(most, len(parts))
        parts = [*parts[:keep], units(separator).join(parts[keep:])]
    return [well_formed(part) for part in parts]


def slice_bound(bound: float, length: int) -> int:
    """An index as JavaScript's ``slice`` and ``splice`` take it: from the end if negative, NaN as 0."""
    if math.isnan(bound):
        return 0
    if math.isinf(bound):
        return length if bound > 0 else 0
    return max(length + int(bound), 0) if bound < 0 else min(int(bound), length)


def _replace(text: str, args: list[Value], budget: Budget) -> Value:
    old, new = argument(args, 0), string_argument(argument(args, 1))
    if type(old) is not str or new is None or HOLE in args[:3]:
        raise value_error("replace() takes two strings, and a count")
    count = argument(args, 2)
    if isinstance(count, KeywordArguments):
        count = argument([count.get("count", HOLE)], 0)
    if count is not None and type(count) not in (int, Whole):
        raise value_error("the count of replace() must be an integer or null")
    times = text.count(old)
    if count is not None and not count < 0:
        times = 0 if math.isnan(count) else int(min(times, count))
    size = len(text) + times * len(new)
    if size > MAX_TEXT:
        raise limit_error(f"a string of more than {MAX_TEXT} characters")
    budget.spend(size)
    return well_formed(text.replace(old, new, times))


def _simple(function: Callable[[str], str]) -> Method:
    def method(text: str, _args: list[Value], budget: Budget) -> Value:
        budget.spend(len(text))
        return function(text)

    return method


STRING_METHODS: Final[dict[str, Method]] = {
    "upper": _simple(upper),
    "lower": _simple(lower),
    "strip": _simple(lambda text: text.strip(WHITE_SPACE)),
    "lstrip": _simple(lambda text: text.lstrip(WHITE_SPACE)),
    "rstrip": _simple(lambda text: text.rstrip(WHITE_SPACE)),
    "title": _simple(title),
    "capitalize": _simple(capitalize),
    "startswith": _affix("startswith", str.startswith),
    "endswith": _affix("endswith", str.endswith),
    "split": _split,
    "replace": _replace,
}


def _get(members: dict[str, Value], args: list[Value], _budget: Budget) -> Value:
    if not args or type(args[0]) is not str:
        raise value_error("get() takes a string")
    value = members.get(args[0], HOLE)
    return argument(args, 1) if value is HOLE else value


def items(members: dict[str, Value]) -> list[Value]:
    """Pairs of key and value."""
    return [[key, value] for key, value in members.items()]


def _items(members: dict[str, Value], _args: list[Value], budget: Budget) -> Value:
    budget.spend(len(members))
    return items(members)


def _keys(members: dict[str, Value], _args: list[Value], budget: Budget) -> Value:
    budget.spend(len(members))
    return list(members)


def _values(members: dict[str, Value], _args: list[Value], budget: Budget) -> Value:
    budget.spend(len(members))
    return list(members.values())


def _dictsort(members: dict[str, Value], args: list[Value], budget: Budget) -> Value:
    given = Arguments.of(args)
    case_sensitive = given.flag(0, "case_sensitive")
    by = given.get(1, "by", "key")
    if by not in ("key", "value") or type(by) is not str:
        raise value_error("by must be 'key' or 'value'")
    place = 0 if by == "key" else 1
    reverse = given.flag(2, "reverse")
    return sort(items(members), lambda pair: pair[place], budget, case_sensitive=case_sensitive, reverse=reverse)


OBJECT_METHODS: Final[dict[str, Method]] = {
    "get": _get,
    "items": _items,
    "keys": _keys,
    "values": _values,
    "dictsort": _dictsort,
}


def bound(name: str, method: Method, receiver: Value) -> Native:
    """A method of ``receiver`` as a function value."""
    return Native(name, lambda arguments, scope: method(receiver, arguments, scope.budget))
