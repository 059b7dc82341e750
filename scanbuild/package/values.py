"""Reading one member of an object: its presence, its type, and a default that lets the reader go on after a mistake."""

import sys
from collections.abc import Collection, Mapping
from typing import cast

from scanbuild.package.model import Json
from scanbuild.package.report import Node, listed, shown
from scanbuild.package.vocabulary import MAX_SAFE_INTEGER, is_identifier


def is_number(value: Json) -> bool:
    """A JSON number, infinities included."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def is_finite(value: Json) -> bool:
    """A JSON number within the range of a double."""
    return is_number(value) and -sys.float_info.max <= cast(float, value) <= sys.float_info.max


def is_natural(value: Json) -> bool:
    """A whole number from 0 up to 2**53 - 1; -0 is one."""
    return (
        is_finite(value)
        and cast(float, value) == int(cast(float, value))
        and 0 <= cast(float, value) <= MAX_SAFE_INTEGER
    )


def expect_object(node: Node, what: str) -> dict[str, Json] | None:
    """The object, or None after noting that the value is none."""
    if isinstance(node.value, dict):
        return node.value
    node.fail("type", f"{what} has to be an object, not {node.shown}")
    return None


def expect_list(node: Node, what: str, *, empty: bool = False, optional: bool = False) -> list[Json] | None:
    """The list, or None after noting that the value is none, or is empty where it may not be.

    ``optional`` says that instead of an empty list the member can be left out.
    """
    if not isinstance(node.value, list):
        node.fail("type", f"{what} has to be a list, not {node.shown}")
        return None
    if not node.value and not empty:
        node.fail("empty", f"{what} may not be empty", hint="leave it out" if optional else "")
        return None
    return node.value


def expect_keys(node: Node, allowed: Collection[str], what: str, advice: Mapping[str, str] | None = None) -> None:
    """Note every member that such an object does not have; ``advice`` says what to do about well-known ones."""
    if not isinstance(node.value, dict):
        return
    for name in node.value:
        if name in allowed:
            continue
        hint = (advice or {}).get(name, "")
        if not hint:
            hint = _spelling(node, name, [key for key in allowed if key not in node.value]) or node.nearest(
                name, allowed
            )
        if not hint and len(allowed) <= 6:
            hint = f"it has {listed(sorted(allowed))}"
        node.report.add(
            (*node.path, name), "unknown-key", f"{what} has no member called {shown(name)}", hint=hint, key=True
        )


def _spelling(node: Node, name: str, missing: list[str]) -> str:
    """Which missing member is meant by a name that none has; it will not be reported as missing."""
    close = node.report.closest(name, missing)
    if not close:
        return ""
    node.report.misspelt.add((node.path, close))
    return f"did you mean {shown(close)}?"


def required(node: Node, name: str, what: str) -> Node | None:
    """The member, or None after noting that it is missing, unless it was found under a wrong name."""
    member = node.get(name)
    if member is None and isinstance(node.value, dict) and (node.path, name) not in node.report.misspelt:
        close = node.report.closest(name, node.value)
        hint = f"a member called {shown(close)} is there" if close else ""
        node.fail("missing", f"{what} needs a member called {shown(name)}", hint=hint)
    return member


def text(node: Node | None, what: str, *, empty: bool = False, default: str = "") -> str:
    """A string member; ``default`` where it is absent or wrong."""
    if node is None:
        return default
    if not isinstance(node.value, str):
        node.fail("type", f"{what} has to be a text, not {node.shown}")
        return default
    if not node.value and not empty:
        node.fail("empty", f"{what} may not be empty")
        return default
    return node.value


def description(node: Node) -> str:
    """The ``description`` of an object."""
    return text(node.get("description"), "a description", empty=True)


def boolean(node: Node | None, what: str, default: bool = False) -> bool:
    """A boolean member; ``default`` where it is absent or wrong."""
    if node is None:
        return default
    if isinstance(node.value, bool):
        return node.value
    node.fail("type", f"{what} has to be true or false, not {node.shown}")
    return default


def word(node: Node | None, what: str, allowed: Collection[str]) -> str | None:
    """A member that has to be one of some words; None where it is absent or wrong."""
    if node is None:
        return None
    if isinstance(node.value, str) and node.value in allowed:
        return node.value
    hint = node.nearest(node.value, allowed) if isinstance(node.value, str) else ""
    node.fail("word", f"{what} has to be {listed(shown(item) for item in allowed)}, not {node.shown}", hint=hint)
    return None


def identifier(node: Node, name: str, what: str, *, key: bool = True) -> bool:
    """Whether a name is an identifier; notes it if not."""
    if is_identifier(name):
        return True
    node.fail(
        "identifier",
        f"{what} has to be an identifier, not {shown(name)}",
        hint="ASCII letters, digits and underscores, not beginning with a digit",
        key=key,
    )
    return False


def clauses(node: Node | None, what: str) -> tuple[str, ...]:
    """A ``when`` or ``demoteWhen`` list: non-empty, of non-empty expressions."""
    if node is None:
        return ()
    if isinstance(node.value, str):
        node.fail("type", f"{what} has to be a list of expressions, not a single text", hint="put it in brackets")
        return ()
    if expect_list(node, what, optional=True) is None:
        return ()
    return tuple(text(item, f"a clause of {what}") for item in node.elements())
