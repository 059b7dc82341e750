"""The substitution of ``{name}`` in the templates of a variant family (2.9).

The loader expands a family before it validates the variants. So that a mistake can be shown where it was written,
the way back, from a path in an expanded variant to one in its template, is found on demand by ``written_path``.
"""

import re
from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from itertools import accumulate
from typing import Any, Final, cast

from scanbuild.package.jsonfile import MAX_DEPTH, Path
from scanbuild.package.model import Json
from scanbuild.package.report import Node, Origin, shown

MAX_VARIANTS: Final = 2048
"""A manifest may expand to this many variants. The loader has no limit; published packages stay below 200."""

MAX_VALUES: Final = 100_000
"""All expanded variants of a manifest together may hold this many JSON values."""

MAX_CHARACTERS: Final = 32 * 2**20
"""All texts of the expanded variants together may have this many characters."""

_PLACEHOLDER = re.compile(r"\{([A-Za-z_][A-Za-z0-9_]*)\}")

Case = Mapping[str, Json]


@dataclass(frozen=True, slots=True)
class Draft:
    """A variant before validation: plain, or expanded from a template for one case."""

    node: Node
    origin: Origin | None = None
    case: str = ""


@dataclass(slots=True)
class Budget:
    """How much expansion is left for a manifest."""

    variants: int = MAX_VARIANTS
    values: int = MAX_VALUES
    characters: int = MAX_CHARACTERS

    def spend(self, *, values: int = 0, characters: int = 0, depth: int = 0) -> None:
        """Take from what is left; raises ExpansionError when nothing is."""
        self.values -= values
        self.characters -= characters
        if depth > MAX_DEPTH:
            raise ExpansionError(f"nests deeper than {MAX_DEPTH} levels")
        if self.values < 0:
            raise ExpansionError(f"holds more than {MAX_VALUES} JSON values")
        if self.characters < 0:
            raise ExpansionError(f"holds more than {MAX_CHARACTERS} characters of text")


class ExpansionError(Exception):
    """The expansion is beyond what any honest package needs."""


class NullKey(str):
    """A key that null was substituted into: no check of keys knows it, and free-form objects lose the member."""

    __slots__ = ()


def expand_template(template: Node, case: Case, label: str, budget: Budget) -> Draft | None:
    """The variant a template makes for a case, or None if it makes none, which is reported."""
    with template.report.within(None, label):
        before = len(template.report.findings)
        value = _Substitution(template, case, budget).result()
        if value is _DELETED:
            template.fail("family", "null cannot stand for a whole variant")
            return None
        if value is _FAILED or len(template.report.findings) > before:
            return None
    expanded = Node(cast(Json, value), template.path, template.report)
    return Draft(expanded, partial(_origin, template, case, {}), label)


class _Mark:
    """A result that is no JSON value."""


_DELETED: Final = _Mark()
_FAILED: Final = _Mark()


class _Substitution:
    """Replaces the placeholders of one template by the values of one case."""

    def __init__(self, template: Node, case: Case, budget: Budget) -> None:
        self._template, self._case, self._budget = template, case, budget
        self._failed = False

    def result(self) -> Json | _Mark:
        """The expanded template."""
        value = self._value(self._template, 0)
        return _FAILED if self._failed else value

    def _fail(self, node: Node, message: str, *, hint: str = "", key: bool = False) -> None:
        self._failed = True
        node.fail("family", message, hint=hint, key=key)

    def _value(self, node: Node, depth: int) -> Json | _Mark:
        self._budget.spend(values=1, depth=depth)
        if isinstance(node.value, str):
            name = whole_placeholder(node.value, self._case)
            if name is None:
                return self._text(node, node.value)
            value = self._case[name]
            if value is None:
                return _DELETED
            self._check_value(node, value, depth)
            return value
        if isinstance(node.value, list):
            return self._list(node, depth)
        if isinstance(node.value, dict):
            return self._object(node, depth)
        return node.value

    def _list(self, node: Node, depth: int) -> list[Any]:
        made: list[Any] = []
        for item in node.elements():
            value = self._value(item, depth + 1)
            if value is _DELETED:
                self._fail(item, "null cannot stand for an element of a list")
            elif isinstance(item.value, str) and isinstance(value, list):
                made.extend(value)
            else:
                made.append(value)
        return made

    def _object(self, node: Node, depth: int) -> dict[str, Any]:
        made: dict[str, Any] = {}
        for name, item in node.members():
            key = self._key(item, name)
            value = self._value(item, depth + 1)
            if isinstance(key, NullKey) and self._is_free(node.path):
                continue
            if value is _DELETED:
                if key == "id" or (key == "passes" and depth == 0):
                    self._fail(item, f"null cannot stand for the member {key}, which cannot be left out")
                continue
            if key in made:
                self._fail(item, f"two members are called {shown(key)} after substitution", key=True)
            made[key] = value
        return made

    def _is_free(self, path: Path) -> bool:
        """Whether the object at a path is free-form: a profile, or a derive's value."""
        inner = path[len(self._template.path) :]
        return "profile" in inner or "derive" in inner[:-1]

    def _key(self, node: Node, key: str) -> str:
        if "{" not in key:
            return key
        name = whole_placeholder(key, self._case)
        if name is None:
            return self._text(node, key, key=True)
        if self._case[name] is None:
            return NullKey(key)
        made = text_form(self._case[name])
        self._check_left(node, made, key=True)
        return made

    def _text(self, node: Node, written: str, *, key: bool = False) -> str:
        if "{" not in written:
            return written
        made = self._replaced(node, written, key=key)
        if made is None:
            return written
        self._check_left(node, made, key=key)
        return made

    def _replaced(self, node: Node, written: str, *, key: bool) -> str | None:
        """The text with its placeholders replaced; None if one has a value that cannot be part of a text."""
        parts: list[str] = []
        end = 0
        for match in _PLACEHOLDER.finditer(written):
            name = match.group(1)
            if name not in self._case:
                continue
            value = self._case[name]
            if value is None or isinstance(value, list | dict):
                self._fail(node, f"{{{name}}} is {shown(value)} here and cannot stand within a text", key=key)
                return None
            part = text_form(value)
            self._budget.spend(characters=len(part))
            parts += (written[end : match.start()], part)
            end = match.end()
        self._budget.spend(characters=len(written))
        parts.append(written[end:])
        return "".join(parts)

    def _check_left(self, node: Node, made: str, *, key: bool = False) -> None:
        match = _PLACEHOLDER.search(made)
        if match is not None:
            name = match.group(1)
            if name in self._case:
                hint = "text that a value brings in is not substituted again"
            else:
                hint = node.nearest(name, self._case) or f"the case has {', '.join(list(self._case)[:10])}"
            self._fail(node, f"the placeholder {shown(match.group(0))} is left over", hint=hint, key=key)

    def _check_value(self, node: Node, value: Json, depth: int) -> None:
        """Count a value that a case brings in, and refuse placeholders in it."""
        self._budget.spend(values=1, depth=depth)
        if isinstance(value, str):
            self._budget.spend(characters=len(value))
            self._check_left(node, value)
        elif isinstance(value, list):
            for item in value:
                self._check_value(node, item, depth + 1)
        elif isinstance(value, dict):
            for name, item in value.items():
                self._check_left(node, name)
                self._check_value(node, item, depth + 1)


def whole_placeholder(written: str, case: Case) -> str | None:
    """The field a text stands for as a whole, if it does."""
    match = _PLACEHOLDER.fullmatch(written)
    return match.group(1) if match and match.group(1) in case else None


def text_form(value: Json) -> str:
    """What JavaScript's ``String(value)`` gives."""
    if isinstance(value, dict):
        return "[object Object]"
    if isinstance(value, list):
        return ",".join("" if item is None else text_form(item) for item in value)
    if value is None:
        return "null"
    if isinstance(value, str):
        return value
    from scanbuild.dialect import js_string

    return js_string(value)


# --- the way back ----------------------------------------------------------------------------------------------


Ends = dict[int, list[int]]
"""By the identity of a list of the template: where, in the expanded list, what each of its elements became ends."""


def _origin(template: Node, case: Case, ends: Ends, path: Path) -> Path:
    if path[: len(template.path)] != template.path:
        return path
    return template.path + written_path(template.value, case, path[len(template.path) :], ends)


def written_path(template: Json, case: Case, path: Path, ends: Ends | None = None) -> Path:
    """Where, in a template, stands what is found at a path of the variant it expands to for a case.

    A place within a value that the case brought in is shown as that of the placeholder. ``ends`` is kept between the
    paths of one variant.
    """
    known = {} if ends is None else ends
    written: list[str | int] = []
    node = template
    for part in path:
        step = _step_back(node, case, part, known)
        if step is None:
            break
        written.append(step)
        node = cast(Any, node)[step]
    return tuple(written)


def _step_back(node: Json, case: Case, part: str | int, ends: Ends) -> str | int | None:
    if isinstance(node, dict):
        return next((key for key in node if _key_becomes(key, case) == part), None)
    if not isinstance(node, list) or not isinstance(part, int):
        return None
    if id(node) not in ends:
        ends[id(node)] = list(accumulate(_length(item, case) for item in node))
    index = bisect_right(ends[id(node)], part)
    return index if index < len(node) else None


def _length(item: Json, case: Case) -> int:
    """How many elements an element of a list becomes."""
    name = whole_placeholder(item, case) if isinstance(item, str) else None
    value = case[name] if name is not None else None
    return len(value) if isinstance(value, list) else 1


def _key_becomes(key: str, case: Case) -> str:
    def form(match: re.Match[str]) -> str:
        name = match.group(1)
        return text_form(case[name]) if name in case else match.group(0)

    return _PLACEHOLDER.sub(form, key) if "{" in key else key
