"""Compares this evaluator with the loader's engine on the same texts."""

import re
from collections.abc import Sequence
from typing import Any

from scanbuild.dialect import HELPERS, DialectError, Function, parse_expression, parse_template

from .engine import Engine, encoded
from .vocabulary import CONTEXT

_WORD = re.compile(r"\w+")
FUNCTION = repr("\0function\0")[1:-1]


def answer_expression(text: str) -> Any:
    """Our answer in the engine's form."""
    stage = "syntax"
    try:
        expression = parse_expression(text)
        stage = "value"
        value = expression.evaluate(CONTEXT)
        printed = _printed(expression)
    except DialectError as error:
        return {"error": stage, "kind": error.kind, "message": error.message}
    return {"value": _members(value), "printed": printed}


def _printed(expression: Any) -> Any:
    try:
        return parse_template("{{ " + expression.text + " }}").render(CONTEXT)
    except DialectError:
        return {"error": "value"}


def _members(value: Any) -> Any:
    if isinstance(value, Function):
        return {"$function": True}
    if isinstance(value, dict):
        return {"$members": [[key, _members(item)] for key, item in value.items()]}
    return [_members(item) for item in value] if isinstance(value, list) else encoded(value)


def answer_template(text: str) -> Any:
    """Our answer in the engine's form."""
    stage = "syntax"
    try:
        template = parse_template(text)
        stage = "value"
        return {"text": template.render(CONTEXT)}
    except DialectError as error:
        return {"error": stage, "kind": error.kind, "message": error.message}


def _agree(ours: Any, theirs: Any) -> bool:
    if "error" in ours and ours["kind"] == "name" and theirs.get("error") != "syntax":
        return True  # Names are checked by the loader, not by its engine.
    if "error" in ours and ours["kind"] == "names" and theirs.get("error") != "syntax":
        return True  # So are the targets of ``set``.
    if FUNCTION in str(theirs.values()) or "cannot be printed; call it" in str(ours.get("message")):
        return True  # The text of a function is the host's; here there is none.
    if "error" in ours or "error" in theirs:
        return bool(ours.get("error") == theirs.get("error"))
    return bool(ours == theirs)


def differences(engine: Engine, *, expressions: Sequence[str] = (), templates: Sequence[str] = ()) -> list[str]:
    """A line for every text on which the two differ."""
    answers = engine.ask(CONTEXT, expressions=expressions, templates=templates)
    exact_powers = engine.has_exact_powers()
    found = []
    for texts, ours_of, theirs in (
        (expressions, answer_expression, answers["expressions"]),
        (templates, answer_template, answers["templates"]),
    ):
        for text, their in zip(texts, theirs, strict=True):
            if not HELPERS.keys().isdisjoint(_WORD.findall(text)):
                continue  # The engine knows no helpers.
            ours = ours_of(text)
            inexact = "**" in text and not exact_powers and "error" not in ours and "error" not in their
            if not inexact and not _agree(ours, their):
                found.append(f"{text!r}\n    here:   {ours}\n    engine: {their}")
    return found
