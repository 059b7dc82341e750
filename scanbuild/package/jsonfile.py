"""Strict JSON as JavaScript reads it, with places: where in the text does a value stand?

Parsing uses the standard library's fast parser; the text is only scanned for places when a problem needs one.
"""

import bisect
import json
import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from json.decoder import WHITESPACE, scanstring  # type: ignore[attr-defined]
from typing import Any, Final, TypeAlias, cast

from scanbuild.errors import InputError, LoadError, Problem
from scanbuild.package.model import Json
from scanbuild.package.text import BYTE_ORDER_MARK

Path: TypeAlias = tuple[str | int, ...]
Place: TypeAlias = tuple[int, int]

MAX_DEPTH: Final = 256
"""Objects and lists may nest this deep. The loader's own limit is the host's stack; published packages need ten."""

MAX_CHARACTERS: Final = 16 * 2**20
"""A JSON text may be this long, test cases with their data included."""

MAX_LOADED_CHARACTERS: Final = 4 * 2**20
"""A manifest or metadata file may be this long. Published ones stay below a twentieth of it."""

_PLAIN_KEY = re.compile(r"[A-Za-z_$][A-Za-z0-9_$]*")
_STEP = re.compile(r'\.([A-Za-z_$][A-Za-z0-9_$]*)|\[([0-9]+)\]|\[("(?:[^"\\]|\\.)*")\]')
_NO_JSON_NUMBER = re.compile(r'"(?:[^"\\]|\\.)*"|(-?Infinity|NaN)', re.DOTALL)
_MAX_SAFE_DIGITS = 16


class _ConstantError(ValueError):
    """The text holds NaN or an infinity, which JSON has no word for."""


def parse_json(text: str, file: str, *, limit: int = MAX_CHARACTERS) -> Json:
    """The value of a JSON text.

    Of duplicate keys the last wins, lone surrogates survive, and numbers are doubles: a whole one up to 2**53
    comes as int (except -0), any other as float, one beyond the range as an infinity. Raises InputError with
    file, line and column for a text that is no JSON, is too long, or nests too deep.
    """
    if len(text) > limit:
        raise _refusal(text, file, 0, f"the file is too long: {len(text)} characters; {limit} are the limit")
    try:
        value: Json = _DECODER.decode(text)
    except json.JSONDecodeError as error:
        offset = _offset_of(text, error)
        raise _refusal(text, file, offset, _wording(text, offset, error.msg)) from None
    except _ConstantError as error:
        raise _refusal(text, file, _constant_offset(text), f"{error} is no JSON number") from None
    except RecursionError:
        raise _too_deep(text, file) from None
    if _nests_too_deep(value):
        raise _too_deep(text, file)
    return value


def parse_json_at_load(text: str, file: str) -> Json:
    """The same for a file the loader reads: it raises LoadError."""
    try:
        return parse_json(text, file, limit=MAX_LOADED_CHARACTERS)
    except InputError as error:
        raise LoadError(*error.problems) from None


def json_path(parts: Sequence[str | int]) -> str:
    """The usual spelling of a path: ``$.variants[0].when[1]``, odd keys in brackets and quotes."""
    return "$" + "".join(_step(part) for part in parts)


def parse_path(spelled: str) -> Path:
    """The path that ``json_path`` spells like this."""
    parts: list[str | int] = []
    for match in _STEP.finditer(spelled):
        name, index, quoted = match.groups()
        parts.append(name if name is not None else int(index) if index is not None else json.loads(quoted))
    return tuple(parts)


def locate(text: str, path: Path, *, key: bool = False) -> Place:
    """Line and column, both from 1, of the value at a path, or of its key.

    Where the path leads nowhere, the place of the last container on the way is given.
    """
    return locate_all(text, [(path, key)])[path, key]


def locate_all(text: str, wanted: Iterable[tuple[Path, bool]]) -> dict[tuple[Path, bool], Place]:
    """Places of many values (or, where the flag is true, of their keys) in one scan of the text."""
    targets = list(wanted)
    root = _Wanted()
    for path, _ in targets:
        node = root
        for part in path:
            node = node.children.setdefault(part, _Wanted())
    _find(text, WHITESPACE.match(text, 0).end(), root)
    lines = _line_starts(text)
    return {(path, key): _place(lines, _offset(root, path, key)) for path, key in targets}


class Places:
    """Places of values asked for one after the other. Each object and list on the way is searched once."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._lines = _line_starts(text)
        self._children: dict[int, dict[str | int, tuple[int | None, int]]] = {}

    def place(self, path: Path, *, key: bool = False) -> Place:
        """The same as ``locate`` gives."""
        name: int | None = None
        offset = _skip(self._text, 0)
        for part in path:
            found = self._inside(offset).get(part)
            if found is None:
                return _place(self._lines, offset)
            name, offset = found
        return _place(self._lines, name if key and name is not None else offset)

    def _inside(self, offset: int) -> dict[str | int, tuple[int | None, int]]:
        """Offsets of key and value of whatever is in the object or list at an offset."""
        known = self._children.get(offset)
        if known is None:
            known = self._children[offset] = {}
            if self._text[offset] == "{":
                known |= {name: (key, value) for name, key, value in _members(self._text, offset)}
            elif self._text[offset] == "[":
                known |= {index: (None, value) for index, value in enumerate(_elements(self._text, offset))}
        return known


def duplicate_keys(text: str, file: str = "") -> list[Problem]:
    """A warning for every key of an object that is written again later, so that its first value is lost."""
    doubled: list[str] = []

    def note(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        made = dict(pairs)
        if len(made) < len(pairs):
            seen: set[str] = set()
            for name, _ in pairs:
                if name in seen:
                    doubled.append(name)
                seen.add(name)
        return made

    try:
        json.JSONDecoder(object_pairs_hook=note, parse_int=_integer, parse_float=_float).decode(text)
    except (ValueError, RecursionError):
        return []
    if not doubled:
        return []
    return [_duplicate(text, file, path, offset) for path, offset in _duplicate_places(text, set(doubled))]


def holds_more_than(value: Json, limit: int) -> bool:
    """Whether there are more values in a value than the limit, it and all objects and lists included."""
    pending, count = [value], 0
    while pending and count <= limit:
        node = pending.pop()
        count += 1
        if isinstance(node, dict | list):
            pending.extend(node.values() if isinstance(node, dict) else node)
    return count > limit


def value_at(value: Json, path: Path) -> Json:
    """The member of a JSON value at a path; KeyError or IndexError where there is none."""
    for part in path:
        if isinstance(value, dict):
            value = value[cast(str, part)]
        elif isinstance(value, list):
            value = value[cast(int, part)]
        else:
            raise KeyError(part)
    return value


# --- numbers ---------------------------------------------------------------------------------------------------


def _integer(digits: str) -> int | float:
    if len(digits) <= _MAX_SAFE_DIGITS and digits != "-0":
        number = int(digits)
        return number if abs(number) <= 2**53 else float(digits)
    return _float(digits)


def _float(digits: str) -> int | float:
    number = float(digits)
    if math.isfinite(number) and number.is_integer() and abs(number) <= 2**53:
        return number if number == 0 and math.copysign(1, number) < 0 else int(number)
    return number


def _constant(word: str) -> Json:
    raise _ConstantError(word)


_DECODER: Final = json.JSONDecoder(parse_int=_integer, parse_float=_float, parse_constant=_constant)


# --- refusals --------------------------------------------------------------------------------------------------


def _refusal(text: str, file: str, offset: int, message: str, hint: str = "") -> InputError:
    line, column = _place(_line_starts(text[: offset + 1]), offset)
    return InputError(Problem(message=message, rule="json", file=file, line=line, column=column, hint=hint))


def _too_deep(text: str, file: str) -> InputError:
    return _refusal(text, file, 0, f"objects and lists nest deeper than {MAX_DEPTH} levels")


def _constant_offset(text: str) -> int:
    for match in _NO_JSON_NUMBER.finditer(text):
        if match.group(1):
            return match.start(1)
    return 0


def _offset_of(text: str, error: json.JSONDecodeError) -> int:
    """Where the fault is: Python from 3.13 on points at a trailing comma, before that at what follows it."""
    if text.startswith(",", error.pos) and "trailing comma" in error.msg:
        return WHITESPACE.match(text, error.pos + 1).end()  # type: ignore[no-any-return]
    return error.pos


def _wording(text: str, offset: int, complaint: str) -> str:
    """What is wrong with the text, said for people rather than for parsers."""
    found = text[offset : offset + 1]
    if not text.strip():
        return "the file is empty; JSON was expected"
    if found == BYTE_ORDER_MARK:
        return "a byte-order mark stands here; one is dropped at the very beginning of a file, no other"
    if found in ("\ufffd", "\0"):
        return "this is no UTF-8 text"
    if not found:
        return "the text ends too early; a bracket or quote is not closed"
    if text.startswith("//", offset) or text.startswith("/*", offset):
        return "comments are no JSON; write a member called $comment"
    if found == "'":
        return "single quotes are no JSON; write double quotes"
    before = text[:offset].rstrip()
    if found in "}]" and before.endswith(","):
        return f"a comma stands before {found}; JSON has no trailing commas"
    words = {
        "Extra data": "there is text after the end of the value",
        "Expecting ',' delimiter": "a comma or a closing bracket was expected",
        "Expecting ':' delimiter": "a colon was expected after the key",
        "Expecting value": "a value was expected",
        "Expecting property name enclosed in double quotes": "a key in double quotes was expected",
        "Unterminated string starting at": "a text is not closed",
        "Invalid control character at": "a control character stands in a text; write it as an escape",
        "Invalid \\escape": "a text holds an escape that JSON does not know",
        "Invalid \\uXXXX escape": "\\u needs four hexadecimal digits",
    }
    message = words.get(complaint.removesuffix(": "), words.get(complaint, complaint))
    return f"{message}, not {found!a}" if message.endswith("expected") else message


def _nests_too_deep(value: Json) -> bool:
    level = [value]
    for _ in range(MAX_DEPTH + 1):
        deeper: list[Json] = []
        for item in level:
            if isinstance(item, dict):
                deeper.extend(item.values())
            elif isinstance(item, list):
                deeper.extend(item)
        if not deeper:
            return False
        level = deeper
    return True


# --- places ----------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Wanted:
    """A node on the way to a wanted value: offsets once found, and the wanted members below."""

    children: dict[str | int, "_Wanted"] = field(default_factory=dict)
    key: int | None = None
    value: int | None = None


def _find(text: str, offset: int, node: _Wanted) -> None:
    """Note where the value at an offset begins, and search its wanted members. Depth is that of the paths."""
    node.value = offset
    for child in node.children.values():
        child.key = child.value = None
    if not node.children or text[offset] not in "{[":
        return
    if text[offset] == "{":
        for name, key, value in _members(text, offset):
            child_of_name = node.children.get(name)
            if child_of_name is not None:
                child_of_name.key = key
                _find(text, value, child_of_name)
        return
    last = max((part for part in node.children if isinstance(part, int)), default=-1)
    for index, value in enumerate(_elements(text, offset)):
        if index > last:
            return
        element = node.children.get(index)
        if element is not None:
            _find(text, value, element)


def _skip(text: str, offset: int) -> int:
    end: int = WHITESPACE.match(text, offset).end()
    return end


def _members(text: str, offset: int) -> Iterable[tuple[str, int, int]]:
    """Name, offset of the key and offset of the value, of every member of the object at an offset."""
    offset = _skip(text, offset + 1)
    while text[offset] != "}":
        name, end = scanstring(text, offset + 1, True)
        value = _skip(text, _skip(text, end) + 1)
        yield name, offset, value
        offset = _skip(text, _SCAN(text, value)[1])
        if text[offset] == ",":
            offset = _skip(text, offset + 1)


def _elements(text: str, offset: int) -> Iterable[int]:
    """The offset of every element of the list at an offset."""
    offset = _skip(text, offset + 1)
    while text[offset] != "]":
        yield offset
        offset = _skip(text, _SCAN(text, offset)[1])
        if text[offset] == ",":
            offset = _skip(text, offset + 1)


_SCAN: Final = cast(Any, json.JSONDecoder(parse_int=float)).scan_once


def _offset(root: _Wanted, path: Path, key: bool) -> int:
    node, last = root, root.value or 0
    for part in path:
        node = node.children[part]
        if node.value is None:
            return last
        last = node.value
    return node.key if key and node.key is not None else last


def _line_starts(text: str) -> list[int]:
    return [0, *(match.end() for match in re.finditer("\r\n|\n|\r", text))]


def _place(lines: list[int], offset: int) -> Place:
    line = bisect.bisect_right(lines, offset)
    return line, offset - lines[line - 1] + 1


# --- duplicate keys --------------------------------------------------------------------------------------------


def _duplicate_places(text: str, names: set[str]) -> list[tuple[Path, int]]:
    """Path and offset of each key that was there before, looking at every object; the text is known to be JSON."""
    found: list[tuple[Path, int]] = []
    pending: list[tuple[Path, int]] = [((), _skip(text, 0))]
    while pending:
        path, offset = pending.pop()
        if text[offset] == "{":
            seen: set[str] = set()
            for name, key, value in _members(text, offset):
                if name in seen and name in names:
                    found.append(((*path, name), key))
                seen.add(name)
                pending.append(((*path, name), value))
        elif text[offset] == "[":
            pending.extend(((*path, index), value) for index, value in enumerate(_elements(text, offset)))
    return sorted(found, key=lambda item: item[1])


def _duplicate(text: str, file: str, path: Path, offset: int) -> Problem:
    line, column = _place(_line_starts(text), offset)
    return Problem(
        message="this key is written twice in one object; the loader keeps the last value only",
        rule="duplicate-key",
        file=file,
        line=line,
        column=column,
        path=json_path(path),
        severity="warning",
        stage="own",
    )


def _step(part: str | int) -> str:
    if isinstance(part, int):
        return f"[{part}]"
    return f".{part}" if _PLAIN_KEY.fullmatch(part) else f"[{json.dumps(part)}]"
