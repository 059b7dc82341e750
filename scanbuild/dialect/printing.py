"""Text of values: as ``{{ }}`` prints them, and as JSON."""

import json
import math
import re
from collections.abc import Iterable
from dataclasses import dataclass

from .collation import collation_key
from .errors import limit_error, value_error
from .limits import ITEM_COST, MAX_TEXT, NODE_COST, NUMBER_COST
from .text import float_text, js_number_text
from .values import BROKEN, HOLE, UNDEFINED, Budget, Namespace, Native, Value, Whole

_SURROGATE = re.compile("[\ud800-\udfff]")
_NOT_ASCII = re.compile(r"[^\x00-\x7e]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Style:
    """How JSON text is laid out. ``indent`` 0 keeps it on one line."""

    indent: int | Whole = 0
    separators: tuple[str, str] = (", ", ": ")
    ensure_ascii: bool = False
    sort_keys: bool = False
    undefined: str = "null"


_TOJSON = Style()
_PRINTED = Style(undefined="undefined")


def text_of(value: Value, budget: Budget) -> str:
    """What ``{{ value }}`` prints."""
    kind = type(value)
    if kind is str:
        return str(value)
    if value is None or value is UNDEFINED:
        return ""
    if value is HOLE:
        raise value_error("the first or last element of an empty list cannot be printed")
    return element_text(value, budget)


def element_text(value: Value, budget: Budget) -> str:
    """``toString()`` of a value; null and undefined give ``undefined``."""
    kind = type(value)
    if kind is str:
        return str(value)
    if kind is bool:
        return "true" if value else "false"
    if kind is int or kind is Whole:
        budget.spend(NUMBER_COST)
        return js_number_text(value)
    if kind is float:
        budget.spend(2 * NODE_COST)
        return float_text(value)
    if value is None or value is UNDEFINED or value is BROKEN:
        return "undefined"
    if value is HOLE:
        return ""
    if kind is Native:
        return function_text(value)
    return json_text(value, budget, _PRINTED) or ""


def function_text(value: Native) -> str:
    """Functions print their source in the loader; there is none here."""
    raise value_error(f"the function {value.name!r} cannot be printed; call it")


def array_text(items: Iterable[Value], budget: Budget) -> str:
    """The elements joined by commas, as ``~`` and ``==`` see a list."""
    texts, size = [], 0
    for item in items:
        text = element_text(item, budget)
        size += len(text) + 1
        budget.spend(ITEM_COST + len(text))
        if size > MAX_TEXT:
            raise limit_error(f"a string of more than {MAX_TEXT} characters")
        texts.append(text)
    return ",".join(texts)


def to_json(value: Value, budget: Budget, style: Style = _TOJSON) -> Value:
    """JSON text of a value. A broken string stays one."""
    text = json_text(value, budget, style)
    return BROKEN if text is None else text


def list_text(value: Value, budget: Budget) -> Value:
    """JSON text as the filter ``string`` gives it: undefined stays undefined."""
    return to_json(value, budget, _PRINTED)


def json_text(value: Value, budget: Budget, style: Style) -> str | None:
    """JSON text, or None for a broken string."""
    return _Writer(style, budget).write(value, 0)


class _Writer:
    def __init__(self, style: Style, budget: Budget) -> None:
        self.style = style
        self.budget = budget
        self.size = 0

    def write(self, value: Value, depth: int) -> str | None:
        self.budget.spend(NODE_COST)
        kind = type(value)
        if kind is str:
            return self._string(value)
        if kind is bool:
            return "true" if value else "false"
        if value is None:
            return "null"
        if value is UNDEFINED:
            return self.style.undefined
        if kind is int or kind is float or kind is Whole:
            return js_number_text(value) if value - value == 0 else "null"
        if kind is list:
            return self._bracketed("[", "]", [self.write(item, depth + 1) or "" for item in value], depth)
        if kind is dict or kind is Namespace:
            members = value.members if kind is Namespace else value
            lines = [self._member(key, members[key], depth) for key in self._keys(members)]
            return self._bracketed("{", "}", lines, depth)
        if value is BROKEN and not self.style.ensure_ascii:
            return None
        what = "a tuple" if kind is tuple else "a function" if kind is Native else "a string index out of range"
        raise value_error(f"{what} has no JSON text")

    def _keys(self, members: dict[str, Value]) -> Iterable[str]:
        return sorted(members, key=collation_key) if self.style.sort_keys else members

    def _member(self, key: str, value: Value, depth: int) -> str:
        text = self.write(value, depth + 1)
        return f"{self._string(key)}{self.style.separators[1]}{'undefined' if text is None else text}"

    def _string(self, value: str) -> str:
        text = json.dumps(value, ensure_ascii=False)
        self._grow(len(text))
        if text.isascii() and "\x7f" not in text:
            return text
        if self.style.ensure_ascii:
            return _NOT_ASCII.sub(lambda found: _escaped(found.group()), text)
        return _SURROGATE.sub(lambda found: _escaped(found.group()), text)

    def _bracketed(self, opening: str, closing: str, parts: list[str], depth: int) -> str:
        indent = self._indent()
        inner = "\n" + indent * (depth + 1) if indent else ""
        outer = "\n" + indent * depth if indent else ""
        self._grow(len(parts) * (len(self.style.separators[0]) + len(inner)) + len(outer) + 2)
        if indent and opening == "{" and not parts:
            inner = ""
        return f"{opening}{inner}{(self.style.separators[0] + inner).join(parts)}{outer}{closing}"

    def _indent(self) -> str:
        width = self.style.indent
        if math.isnan(width) or not width:
            return ""
        if width < 0 or width == float("inf"):
            raise value_error("the width of an indentation is a number from 0 on")
        if width > 1024:
            raise limit_error("an indentation of more than 1024 blanks")
        return " " * int(width)

    def _grow(self, amount: int) -> None:
        self.budget.spend(amount)
        self.size += amount
        if self.size > MAX_TEXT:
            raise limit_error(f"a string of more than {MAX_TEXT} characters")


def _escaped(character: str) -> str:
    units = character.encode("utf-16-be", "surrogatepass")
    return "".join([f"\\u{units[i] << 8 | units[i + 1]:04x}" for i in range(0, len(units), 2)])
