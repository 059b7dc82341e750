"""Why a clause of a variant holds or not: the parts that decide it, and the values that they read."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from scanbuild.dialect import UNDEFINED, DialectError, NameSet, parse_expression
from scanbuild.dialect.parts import Part, take_apart

MOST_PARTS: Final = 12
"""So many deciding parts are told of one clause."""

MOST_READINGS: Final = 12
"""So many values are told of one part."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Reading:
    """A name with the members behind it, and its value; or why it has none."""

    text: str
    value: Any = None
    failure: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class DecidingPart:
    """A part that makes its clause what it is: its own value, and those of what it reads."""

    text: str
    value: Any = None
    failure: str = ""
    readings: tuple[Reading, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class ClauseExplanation:
    """A clause, its value, or why it fails. ``parts`` are those that decide it; where it ends in `and`, the one at
    which evaluation stops comes first, and what would stop it behind that one follows."""

    text: str
    value: Any = None
    failure: str = ""
    parts: tuple[DecidingPart, ...] = ()

    @property
    def holds(self) -> bool:
        """Whether it is exactly true, which alone counts."""
        return self.value is True and not self.failure


def explain_clause(text: str, names: Mapping[str, Any]) -> ClauseExplanation:
    """A clause of ``when`` or ``demoteWhen`` with the names that it sees."""
    try:
        value = parse_expression(text).evaluate(names)
    except DialectError as error:
        return ClauseExplanation(text=text, failure=error.message, parts=_parts_of(text, names))
    return ClauseExplanation(text=text, value=value, parts=_parts_of(text, names))


def _parts_of(text: str, names: Mapping[str, Any]) -> tuple[DecidingPart, ...]:
    try:
        part = take_apart(text)
    except DialectError:
        return ()
    found: dict[str, DecidingPart] = {}
    for item in _deciding(part, names):
        found.setdefault(item.text, _explained(item, names))
        if len(found) == MOST_PARTS:
            break
    return tuple(found.values())


def _deciding(part: Part, names: Mapping[str, Any]) -> Iterator[Part]:
    """The parts to which the value of a part is due, going down through `and`, `or`, `not` and choices."""
    value, failure = _evaluated(part, names)
    if failure:
        yield from _failing(part, names)
    elif part.kind == "not":
        yield from _deciding(part.operands[0], names)
    elif part.kind in ("and", "or"):
        stops = part.kind == "or"
        yield from _of_chain(part, names, decided=_truthy(value) is stops)
    elif part.kind == "choice":
        test, chosen, *other = part.operands
        yield from _deciding(test, names)
        holds = _truthy(_evaluated(test, names)[0])
        branch = chosen if holds else other[0] if other else None
        if branch is not None and branch.kind != "constant":
            yield from _deciding(branch, names)
    else:
        yield part


def _of_chain(part: Part, names: Mapping[str, Any], *, decided: bool) -> Iterator[Part]:
    """Of an `and` that is false its false operands, of an `or` that is true the first true one; else all."""
    first = True
    for operand in part.operands:
        value, failure = _evaluated(operand, names)
        if decided and (failure or _truthy(value) is (part.kind == "and")):
            continue
        if decided and part.kind == "or" and not first:
            return
        first = False
        yield from _deciding(operand, names)


def _failing(part: Part, names: Mapping[str, Any]) -> Iterator[Part]:
    """The innermost operands of `and`, `or`, `not` and choices that fail, else the part itself."""
    operands = () if part.kind == "compare" else part.operands
    inner = [item for item in operands if _evaluated(item, names)[1]]
    if not inner:
        yield part
        return
    for item in inner:
        yield from _failing(item, names)


def _explained(part: Part, names: Mapping[str, Any]) -> DecidingPart:
    value, failure = _evaluated(part, names)
    readings: list[Reading] = []
    for item in _told(part):
        if len(readings) == MOST_READINGS:
            break
        if item.text == part.text and not failure:
            continue  # a lone name, whose value is told already
        found, why = _evaluated(item, names)
        found = _set_at(item.path, names) or found
        readings.append(Reading(text=item.text, value=found, failure=why))
    return DecidingPart(text=part.text, value=value, failure=failure, readings=tuple(readings))


def _set_at(path: tuple[str, ...], names: Mapping[str, Any]) -> NameSet | None:
    """The set that names and members lead to: evaluated, it is an object that says nothing of what is in it."""
    value: Any = names
    for name in path:
        value = value.get(name) if isinstance(value, Mapping) else None
    return value if isinstance(value, NameSet) else None


def _told(part: Part) -> Iterator[Part]:
    """What is worth telling of a part: the sides of a comparison that have to be computed, and all that is read."""
    if part.kind == "compare":
        yield from (side for side in part.operands if side.kind not in ("constant", "reading") and any(side.readings()))
    yield from part.readings()


def _evaluated(part: Part, names: Mapping[str, Any]) -> tuple[Any, str]:
    """The value of a part, and why it has none."""
    try:
        return part.evaluate(names), ""
    except DialectError as error:
        return UNDEFINED, error.message


def _truthy(value: Any) -> bool:
    """Truth as `and`, `or`, `not` and choices see it: empty lists are false."""
    if isinstance(value, float) and math.isnan(value):
        return False
    return bool(value) and value is not UNDEFINED
