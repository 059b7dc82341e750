"""Attributes and scalar arguments of a call: defaults, constraints, kinds (8.1, 8.2)."""

import math
from collections.abc import Iterable, Mapping
from typing import Any, Final, TypeGuard

import numpy as np

from scanbuild.dialect.errors import nearest as nearest_name
from scanbuild.package.model import ABSENT, Attribute, Json, Manifest, ScalarArg
from scanbuild.planning.failures import fail
from scanbuild.planning.uniforms import describe

_LISTED: Final = 50
_INTEGER_KINDS: Final = {"u32": (0, 2**32 - 1), "i32": (-(2**31), 2**31 - 1)}


def nearest(name: str, known: Iterable[str]) -> str:
    """A hint that names the nearest known spelling, or all of them where none is near."""
    names = list(known)
    close = nearest_name(name, names)
    if close is not None:
        return f"did you mean `{close}`?"
    listed = ", ".join(names[:_LISTED]) + (" and others" if len(names) > _LISTED else "")
    return f"known: {listed}" if names else "there are none"


def resolve_attributes(manifest: Manifest, given: Mapping[str, Json]) -> dict[str, Json]:
    """Defaults overlaid by the call's attributes, defaults first; CallError for an unknown or forbidden value."""
    for name in given:
        if name not in manifest.attributes:
            raise fail(f"unknown attribute `{name}`", hint=nearest(name, manifest.attributes), rule="attribute")
    values: dict[str, Json] = {
        name: item.default for name, item in manifest.attributes.items() if item.default is not ABSENT
    }
    values.update(given)
    for name, attribute in manifest.attributes.items():
        _check_attribute(attribute, name, values)
    return values


def _check_attribute(attribute: Attribute, name: str, values: Mapping[str, Json]) -> None:
    path = f"$.attributeConstraints.{name}"
    if name not in values:
        if attribute.required:
            raise fail(f"attribute `{name}` is required and was not given", rule="attribute-required", path=path)
        return
    if attribute.values is None:
        return
    if not any(same_attribute_value(values[name], allowed) for allowed in attribute.values):
        hint = f"one of {', '.join(describe(item) for item in attribute.values)}"
        message = f"attribute `{name}` may not be {describe(values[name])}"
        raise fail(message, hint=hint, rule="attribute-value", path=path)


def same_attribute_value(one: Json, other: Json) -> bool:
    """Equality of constrained attribute values: numbers as float32, all else strictly (2.5)."""
    if is_number(one) and is_number(other):
        with np.errstate(over="ignore"):
            return bool(np.float32(one) == np.float32(other))
    if isinstance(one, list | dict) or isinstance(other, list | dict):
        return False
    return type(one) is type(other) and one == other


def is_number(value: Any) -> TypeGuard[int | float]:
    """Whether a value is a number; booleans are none."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def check_args(manifest: Manifest, args: Mapping[str, Json]) -> None:
    """CallError for an unknown, missing or unfit scalar argument. A null counts as not given."""
    for name in args:
        if name not in manifest.args:
            raise fail(f"unknown argument `{name}`", hint=nearest(name, manifest.args), rule="arg")
    for name, arg in manifest.args.items():
        value = args.get(name)
        if value is None:
            if arg.required:
                raise fail(
                    f"argument `{name}` is required and was not given", rule="arg-required", path=f"$.args.{name}"
                )
            continue
        problem = _arg_problem(arg, value)
        if problem:
            raise fail(f"argument `{name}`: {problem}", rule="arg-kind", path=f"$.args.{name}")


def _arg_problem(arg: ScalarArg, value: Json) -> str:
    if arg.kind in _INTEGER_KINDS:
        low, high = _INTEGER_KINDS[arg.kind]
        fits = is_integer(value) and low <= value <= high
        return "" if fits else f"expected an integer from {low} to {high}, found {describe(value)}"
    if arg.kind == "f32":
        fits = is_number(value) and math.isfinite(value)
        return "" if fits else f"expected a finite number, found {describe(value)}"
    if arg.kind == "bool":
        return "" if isinstance(value, bool) else f"expected true or false, found {describe(value)}"
    if not isinstance(value, str):
        return f"expected a text, found {describe(value)}"
    if arg.one_of is not None and not any(isinstance(item, str) and item == value for item in arg.one_of):
        return f"expected one of {', '.join(describe(item) for item in arg.one_of)}, found {describe(value)}"
    return ""


def is_integer(value: Any) -> TypeGuard[int | float]:
    """Whether a value is a number without fraction; whole floats are."""
    return is_number(value) and math.isfinite(value) and value == math.floor(value)
