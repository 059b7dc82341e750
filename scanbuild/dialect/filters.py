"""Filters: those without parentheses by the type of their operand, those with arguments by name."""

import math
from collections.abc import Callable
from typing import Final, NoReturn

from .arguments import Arguments
from .errors import limit_error, value_error
from .limits import ITEM_COST, MAX_ITEMS, MAX_TEXT, NODE_COST
from .methods import OBJECT_METHODS, STRING_METHODS, capitalize, items, lower, title, upper
from .operators import check_operands, describe, floor, is_string, raw_text, truthy, unique_key
from .printing import Style, element_text, list_text, to_json
from .sorting import attribute_of, sort
from .text import WHITE_SPACE, parse_float, parse_int, unit_length
from .values import BROKEN, HOLE, UNDEFINED, Budget, KeywordArguments, Namespace, Value, Whole, whole

Bare = Callable[[Value, Budget], Value]
Called = Callable[[Value, Arguments, Budget], Value]


def _unique(values: Value, budget: Budget) -> Value:
    budget.spend(len(values) * NODE_COST)
    seen: dict[object, Value] = {}
    for value in values:
        seen.setdefault(unique_key(_present(value)), value)
    return list(seen.values())


def _present(value: Value) -> Value:
    if value is HOLE:
        check_operands("unique", value, value)
    return value


def _joined_text(value: Value, budget: Budget) -> str:
    return "" if value is None or value is UNDEFINED or value is BROKEN else raw_text(value, budget)


def _join(values: Value, separator: str, budget: Budget) -> str:
    parts = list(values) if type(values) is str else [_joined_text(value, budget) for value in values]
    budget.spend(len(parts) * ITEM_COST)
    size = sum(map(len, parts)) + len(separator) * len(parts)
    if size > MAX_TEXT:
        raise limit_error(f"a string of more than {MAX_TEXT} characters")
    budget.spend(size)
    return separator.join(parts)


def _indent(text: str, prefix: str, first: bool, blank: bool, budget: Budget) -> str:
    lines = text.split("\n")
    size = len(text) + len(prefix) * len(lines)
    if size > MAX_TEXT:
        raise limit_error(f"a string of more than {MAX_TEXT} characters")
    budget.spend(size)
    return "\n".join(
        [line if (not first and i == 0) or (not blank and not line) else prefix + line for i, line in enumerate(lines)]
    )


def _int_of_text(text: Value) -> Value:
    number = None if text is BROKEN else parse_int(text)
    return 0 if number is None else whole(number)


def _float_of_text(text: Value) -> Value:
    number = None if text is BROKEN else parse_float(text)
    return 0.0 if number is None else number


def _abs(number: Value, _budget: Budget) -> Value:
    return abs(number) if type(number) is not Whole else whole(abs(float(number)))


def _on_text(function: Callable[[str], Value]) -> Bare:
    """A filter of strings that fails on the broken one."""

    def apply(text: Value, budget: Budget) -> Value:
        if text is BROKEN:
            raise value_error(f"{describe(text)} has no text")
        budget.spend(len(text))
        return function(text)

    return apply


_LIST_FILTERS: Final[dict[str, Bare]] = {
    "list": lambda values, _budget: values,
    "first": lambda values, _budget: values[0] if values else HOLE,
    "last": lambda values, _budget: values[-1] if values else HOLE,
    "length": lambda values, _budget: len(values),
    "reverse": lambda values, _budget: list(values[::-1]),
    "sort": lambda values, budget: sort(list(values), lambda value: value, budget),
    "join": lambda values, budget: _join(values, "", budget),
    "string": list_text,
    "unique": _unique,
}
_TEXT_FILTERS: Final[dict[str, Bare]] = {
    "length": _on_text(unit_length),
    "upper": _on_text(upper),
    "lower": _on_text(lower),
    "title": _on_text(title),
    "capitalize": _on_text(capitalize),
    "trim": _on_text(lambda text: text.strip(WHITE_SPACE)),
    "indent": lambda text, budget: _indent(_on_text(str)(text, budget), "    ", False, False, budget),
    "join": lambda text, _budget: text,
    "string": lambda text, _budget: text,
    "int": lambda text, _budget: _int_of_text(text),
    "float": lambda text, _budget: _float_of_text(text),
}
_NUMBER_FILTERS: Final[dict[str, Bare]] = {
    "abs": _abs,
    "int": lambda number, _budget: number if type(number) is int else whole(floor(float(number))),
    "float": lambda number, _budget: float(number),
    "string": element_text,
}
_BOOLEAN_FILTERS: Final[dict[str, Bare]] = {
    "bool": lambda flag, _budget: flag,
    "int": lambda flag, _budget: int(flag),
    "float": lambda flag, _budget: float(flag),
    "string": lambda flag, _budget: "true" if flag else "false",
}
_OBJECT_FILTERS: Final[dict[str, Bare]] = {
    "items": lambda members, _budget: items(members),
    "length": lambda members, _budget: len(members),
    "keys": lambda members, _budget: list(members),
    "values": lambda members, _budget: list(members.values()),
    "dictsort": lambda members, budget: OBJECT_METHODS["dictsort"](members, [], budget),
    "get": lambda members, budget: OBJECT_METHODS["get"](members, [], budget),
}
_BARE: Final[dict[type, dict[str, Bare]]] = {
    list: _LIST_FILTERS,
    tuple: _LIST_FILTERS,
    str: _TEXT_FILTERS,
    type(BROKEN): _TEXT_FILTERS,
    int: _NUMBER_FILTERS,
    float: _NUMBER_FILTERS,
    Whole: _NUMBER_FILTERS,
    bool: _BOOLEAN_FILTERS,
    dict: _OBJECT_FILTERS,
    KeywordArguments: _OBJECT_FILTERS,
}


def apply_bare(name: str, operand: Value, budget: Budget) -> Value:
    """``operand | name``"""
    if name == "safe":
        return operand
    if name == "tojson":
        return to_json(operand, budget)
    known = {} if operand is UNDEFINED or operand is HOLE else _BARE.get(type(operand), {})
    chosen = known.get(name)
    if chosen is None:
        _unknown(name, operand, ["safe", "tojson", *known], called=False)
    return chosen(operand, budget)


def apply_called(name: str, operand: Value, given: Arguments, budget: Budget) -> Value:
    """``operand | name(...)``, except for the filters of :data:`LITERAL_ARGUMENTS`."""
    chosen = _ANY_CALLED.get(name)
    if chosen is None:
        known = _called_for(operand)
        chosen = known.get(name)
        if chosen is None:
            _unknown(name, operand, [*_ANY_CALLED, *known], called=True)
    return chosen(operand, given, budget)


def _unknown(name: str, operand: Value, known: list[str], *, called: bool) -> NoReturn:
    shape = f"{name}(...)" if called else name
    style = "with" if called else "without"
    raise value_error(
        f"no filter {shape!r} for {describe(operand)}; the loader knows, {style} parentheses: {', '.join(known)}"
    )


def _called_for(operand: Value) -> dict[str, Called]:
    if isinstance(operand, (list, tuple)):
        return _LIST_CALLED
    if is_string(operand):
        return _TEXT_CALLED
    return _OBJECT_CALLED if isinstance(operand, dict) else {}


def _tojson(operand: Value, given: Arguments, budget: Budget) -> Value:
    named = Arguments([], given.named)
    indent = named.get(0, "indent", None)
    if indent is not None and type(indent) not in (int, Whole):
        raise value_error("indent must be an integer")
    separators = named.get(0, "separators", None)
    if separators is not None and not _two_strings(separators):
        raise value_error("separators must be two strings")
    width = 0 if indent is None or math.isnan(indent) else indent
    default = (",", ": ") if width else (", ", ": ")
    style = Style(
        indent=width,
        separators=default if separators is None else (separators[0], separators[1]),
        ensure_ascii=named.flag(0, "ensure_ascii"),
        sort_keys=named.flag(0, "sort_keys"),
    )
    return to_json(operand, budget, style)


def _two_strings(value: Value) -> bool:
    return isinstance(value, (list, tuple)) and len(value) == 2 and all(type(item) is str for item in value)


def _join_with(operand: Value, given: Arguments, budget: Budget) -> Value:
    if type(operand) is not str and not isinstance(operand, (list, tuple)):
        raise value_error(f"join() needs a list or a string, not {describe(operand)}")
    separator = given.get(0, "separator", "")
    if separator is BROKEN:
        separator = ","  # what the host takes for none
    if type(separator) is not str:
        raise value_error("the separator of join() must be a string")
    return _join(operand, separator, budget)


def _int_or(operand: Value, given: Arguments, _budget: Budget) -> Value:
    return _number_or(operand, given, parse_int, whole, int)


def _float_or(operand: Value, given: Arguments, _budget: Budget) -> Value:
    return _number_or(operand, given, parse_float, float, float)


def _number_or(
    operand: Value,
    given: Arguments,
    parse: Callable[[str], float | None],
    build: Callable[[float], Value],
    of_boolean: Callable[[bool], Value],
) -> Value:
    if is_string(operand):
        number = None if operand is BROKEN else parse(operand)
        return given.get(0, "default", build(0.0)) if number is None else build(number)
    if type(operand) in (int, float, Whole):
        return operand
    if type(operand) is bool:
        return of_boolean(operand)
    raise value_error(f"{describe(operand)} is no number")


def _default(operand: Value, given: Arguments, _budget: Budget) -> Value:
    fallback = Arguments(given.args, {}).get(0, "", "")
    if given.flag(1, "boolean") and not truthy(operand):
        return fallback
    return fallback if operand is UNDEFINED else operand


def _sort(operand: Value, given: Arguments, budget: Budget) -> Value:
    reverse = given.flag(0, "reverse")
    case_sensitive = given.flag(1, "case_sensitive")
    attribute = given.get(2, "attribute", None)
    if attribute is not None and type(attribute) not in (str, int, Whole):
        raise value_error("the attribute of sort() must be a string or an integer")
    path = attribute if type(attribute) is str else None if attribute is None else raw_text(attribute, budget)

    def key(item: Value) -> Value:
        return item if path is None else attribute_of(item, path)

    return sort(list(operand), key, budget, case_sensitive=case_sensitive, reverse=reverse)


def _map(operand: Value, given: Arguments, budget: Budget) -> Value:
    attribute = given.named.get("attribute", UNDEFINED)
    if type(attribute) is not str:
        raise value_error("map() needs attribute='...' and knows no other form")
    fallback = Arguments([], given.named).get(0, "default", UNDEFINED)
    mapped = []
    for item in operand:
        if not isinstance(item, (dict, Namespace)):
            raise value_error(f"map() needs a list of objects; there is {describe(item)} in it")
        value = attribute_of(item, attribute)
        mapped.append(fallback if value is UNDEFINED else value)
    budget.spend(len(mapped))
    return mapped


def _indent_by(operand: Value, given: Arguments, budget: Budget) -> Value:
    width = given.get(0, "width", 4)
    first = given.get(1, "first", False)
    blank = given.get(2, "blank", False)
    if operand is BROKEN or type(width) not in (int, Whole) or width < 0 or width == float("inf"):
        raise value_error("indent() needs a whole number of blanks, from 0 on")
    if width > MAX_ITEMS:
        raise limit_error(f"an indentation of more than {MAX_ITEMS} blanks")
    prefix = " " * int(width) if not math.isnan(width) else ""
    return _indent(operand, prefix, _raw_flag(first), _raw_flag(blank), budget)


def _raw_flag(value: Value) -> bool:
    return isinstance(value, (list, tuple, dict)) or truthy(value)


def _replace(operand: Value, given: Arguments, budget: Budget) -> Value:
    if operand is BROKEN:
        raise value_error(f"{describe(operand)} has no text")
    return STRING_METHODS["replace"](operand, [*given.args, KeywordArguments(given.named)], budget)


def _object_method(name: str) -> Called:
    def apply(operand: Value, given: Arguments, budget: Budget) -> Value:
        arguments = [*given.args, KeywordArguments(given.named)] if given.named else given.args
        return OBJECT_METHODS[name](operand, arguments, budget)

    return apply


_ANY_CALLED: Final[dict[str, Called]] = {
    "tojson": _tojson,
    "join": _join_with,
    "int": _int_or,
    "float": _float_or,
    "default": _default,
}
_LIST_CALLED: Final[dict[str, Called]] = {"sort": _sort, "map": _map}
_TEXT_CALLED: Final[dict[str, Called]] = {"indent": _indent_by, "replace": _replace}
_OBJECT_CALLED: Final[dict[str, Called]] = {name: _object_method(name) for name in OBJECT_METHODS}

INSTANT: Final = frozenset({"safe", "list", "first", "last", "length"})
"""Filters that do not look at all of a list (nor, but for ``length``, exist for strings)."""

LITERAL_ARGUMENTS: Final = frozenset({"selectattr", "rejectattr"})
"""Filters of lists whose arguments must be written as strings."""


def select_by(
    operand: Value, select: bool, attribute: str | None, test: Callable[[Value], bool], budget: Budget
) -> Value:
    """The elements whose attribute passes the test, or those where it does not."""
    chosen = []
    for item in operand:
        if attribute is None:
            raise value_error("selectattr() and rejectattr() need the name of an attribute")
        value = (item.members if isinstance(item, Namespace) else item).get(attribute, HOLE)
        passed = False if value is HOLE else test(value)
        if passed == select:
            chosen.append(item)
    budget.spend(len(chosen))
    return chosen


BARE_FILTERS: Final = frozenset({"safe", "tojson"}).union(*_BARE.values())
"""Filters that some value has without parentheses."""

CALLED_FILTERS: Final = LITERAL_ARGUMENTS.union(_ANY_CALLED, _LIST_CALLED, _TEXT_CALLED, _OBJECT_CALLED)
"""Filters that some value has with parentheses."""
