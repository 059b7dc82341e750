"""Named values of a kernel: attributes with their constraints (2.5), tunables (2.6) and derives (2.7)."""

import math
import struct
from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Final, cast

from scanbuild.package.model import ABSENT, Attribute, Json
from scanbuild.package.report import Node, shown
from scanbuild.package.values import (
    boolean,
    description,
    expect_keys,
    expect_list,
    expect_object,
    identifier,
    is_finite,
    is_number,
    required,
)
from scanbuild.package.vocabulary import RESERVED_NAMES

MAX_DERIVES: Final = 400
"""So many derives may stand in one place: each sees all before it. Published packages have a few dozen."""

ATTRIBUTE_KEYS: Final = ("default", "description")
CONSTRAINT_KEYS: Final = ("required", "values")

_ATTRIBUTE_ADVICE: Final = {
    "required": "it belongs to attributeConstraints",
    "values": "it belongs to attributeConstraints",
}


def parse_attributes(node: Node | None, constraints: Node | None) -> dict[str, Attribute]:
    """The attributes, each with its constraint."""
    attributes: dict[str, Attribute] = {}
    if node is not None and expect_object(node, "attributes") is not None:
        attributes = {name: _parse_attribute(item, name) for name, item in node.members()}
    if constraints is not None and expect_object(constraints, "attributeConstraints") is not None:
        for name, item in constraints.members():
            if name not in attributes:
                hint = item.nearest(name, attributes)
                item.fail("attribute", f"there is no attribute called {shown(name)}", hint=hint, key=True)
            attributes[name] = _constrain(item, attributes.get(name) or Attribute(name=name))
    return attributes


def _parse_attribute(node: Node, name: str) -> Attribute:
    if not name:
        node.fail("empty", "the name of an attribute may not be empty", key=True)
    if not isinstance(node.value, dict):
        hint = f'write {{"default": {node.shown}}}' if not isinstance(node.value, list) else ""
        node.fail("type", f"an attribute has to be an object, not {node.shown}", hint=hint)
        return Attribute(name=name)
    expect_keys(node, ATTRIBUTE_KEYS, "an attribute", _ATTRIBUTE_ADVICE)
    default = node.get("default")
    return Attribute(name=name, default=ABSENT if default is None else default.value, description=description(node))


def _constrain(node: Node, attribute: Attribute) -> Attribute:
    if expect_object(node, "an attribute constraint") is None:
        return attribute
    expect_keys(node, CONSTRAINT_KEYS, "an attribute constraint")
    needed = boolean(node.get_unless_null("required"), "required")
    values_node = node.get("values")
    if not needed and values_node is None:
        node.fail("constraint", "an attribute constraint says required: true, or lists values, or both")
    if needed and attribute.default is not ABSENT:
        node.fail("constraint", "a required attribute has no default", hint="drop one of the two")
    values = _constraint_values(values_node, attribute) if values_node is not None else None
    return replace(attribute, required=needed, values=values)


def _constraint_values(node: Node, attribute: Attribute) -> tuple[Json, ...]:
    if expect_list(node, "values", optional=True) is None:
        return ()
    seen: set[tuple[str, object]] = set()
    for item in node.elements():
        if isinstance(item.value, dict | list) or (is_number(item.value) and not is_finite(item.value)):
            item.fail("constraint", f"a value is null, a text, a boolean or a finite number, not {item.shown}")
            continue
        key = constraint_key(item.value)
        if key in seen:
            item.fail("constraint", f"{item.shown} is listed twice (numbers are compared as float32)")
        seen.add(key)
    if attribute.default is not ABSENT and constraint_key(attribute.default) not in seen:
        node.fail("constraint", f"the default, {shown(attribute.default)}, is not among the values")
    return tuple(cast(list[Json], node.value))


def constraint_key(value: Json) -> tuple[str, object]:
    """Equal for two attribute values that are the same to a constraint: numbers are compared as float32."""
    if is_number(value):
        return "number", _float32(cast(float, value))
    if isinstance(value, dict | list):
        return "object", id(value)
    return type(value).__name__, value


def _float32(value: float) -> float:
    try:
        return float(struct.unpack("<f", struct.pack("<f", value))[0])
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def parse_tunables(node: Node | None) -> dict[str, Json]:
    """Name -> default."""
    if node is None or expect_object(node, "tunables") is None:
        return {}
    return {name: _parse_tunable(item, name) for name, item in node.members()}


def _parse_tunable(node: Node, name: str) -> Json:
    identifier(node, name, "the name of a tunable")
    if not isinstance(node.value, dict):
        hint = f'write {{"default": {node.shown}}}' if not isinstance(node.value, list) else ""
        node.fail("type", f"a tunable has to be an object, not {node.shown}", hint=hint)
        return 0
    expect_keys(node, ATTRIBUTE_KEYS, "a tunable")
    description(node)
    default = required(node, "default", "a tunable")
    if default is None:
        return 0
    if not isinstance(default.value, str | bool) and not is_finite(default.value):
        default.fail("tunable", f"a tunable is a finite number, a text or a boolean, not {default.shown}")
    return default.value


def parse_derive(node: Node | None, type_variables: Collection[str]) -> Mapping[str, Json]:
    """Name -> unevaluated value, in the order of the file."""
    if node is None or expect_object(node, "derive") is None:
        return {}
    if isinstance(node.value, dict) and len(node.value) > MAX_DERIVES:
        node.fail("limit-derives", f"{len(node.value)} derives in one place; {MAX_DERIVES} are the limit")
        return {}
    for name, item in node.members():
        if name == "$use":
            item.fail("fragment", "a shared fragment ($use) has to be expanded before publishing", key=True)
        elif identifier(item, name, "the name of a derive"):
            if name in RESERVED_NAMES:
                item.fail("reserved", f"{name} is a word of the expression language; no derive may take it", key=True)
            elif name in type_variables:
                item.fail("reserved", f"{name} is a type variable; no derive may take its name", key=True)
    return cast(dict[str, Json], node.value)
