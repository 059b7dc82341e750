"""Uniform structs: their padded fields and their bytes (5.5)."""

import math
import struct
from collections.abc import Mapping, Sequence
from typing import Final

from scanbuild.dialect import UNDEFINED
from scanbuild.package.model import Field

_RANGES: Final = {"u32": (0, 2**32 - 1), "i32": (-(2**31), 2**31 - 1)}
_FORMATS: Final = {"u32": "<I", "i32": "<i"}


def padded_fields(fields: Sequence[Field]) -> list[tuple[str, str]]:
    """Name and type of every field, filled up to a multiple of four with u32 fields whose names are not in use."""
    padded: list[tuple[str, str]] = [(field.name, field.type) for field in fields]
    used = {field.name for field in fields}
    number = 0
    while len(padded) % 4:
        name = f"_pad{number}"
        number += 1
        if name not in used:
            padded.append((name, "u32"))
    return padded


def uniform_size(fields: Sequence[Field]) -> int:
    """Bytes of the uniform buffer: four a field, padding included."""
    return 16 * -(-len(fields) // 4)


def number_problem(kind: str, value: object) -> str:
    """Why a value can stand in no uniform field of this type, skipped passes included; "" if it can."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return f"it is {describe(value)}, not a number"
    if isinstance(value, float) and math.isnan(value):
        return "it is NaN"
    if kind != "f32" and isinstance(value, float) and math.isinf(value):
        return f"it is infinite, not a {kind}"
    return ""


def range_problem(kind: str, value: float) -> str:
    """Why a number does not fit a field of this type of an executed pass; "" if it does."""
    if kind == "f32":
        return ""
    low, high = _RANGES[kind]
    if value != math.floor(value) or not low <= value <= high:
        return f"{number_text(value)} is no {kind}, a whole number from {low} to {high}"
    return ""


def pack(fields: Sequence[Field], values: Mapping[str, float]) -> bytes:
    """The bytes of the struct; a field without value is 0. Values must have passed both tests."""
    data = bytearray(uniform_size(fields))
    for index, field in enumerate(fields):
        value = values.get(field.name, 0)
        data[4 * index : 4 * index + 4] = _f32(value) if field.type == "f32" else _word(field.type, value)
    return bytes(data)


def _word(kind: str, value: float) -> bytes:
    return struct.pack(_FORMATS[kind], int(value))


def _f32(value: float) -> bytes:
    try:
        return struct.pack("<f", value)
    except OverflowError:
        return struct.pack("<f", math.copysign(math.inf, value))


def describe(value: object) -> str:
    """A value in words, for messages."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return number_text(value)
    if isinstance(value, str):
        return f"the text {value!r}" if len(value) <= 40 else f"a text of {len(value)} characters"
    if isinstance(value, list | tuple):
        return f"a list of {len(value)}"
    if isinstance(value, Mapping):
        return "an object"
    return "undefined" if value is UNDEFINED else f"a `{type(value).__name__}`"


def number_text(value: float) -> str:
    """A number without the `.0` of a whole float."""
    return str(int(value)) if isinstance(value, float) and value.is_integer() and abs(value) < 1e21 else str(value)
