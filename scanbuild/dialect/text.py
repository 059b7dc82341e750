"""Strings and numbers as JavaScript has them: white space, UTF-16, conversions to and from text."""

import math
import re
from typing import Final

from .values import EXACT, UNDEFINED, Function, NameSet, Plain

WHITE_SPACE: Final = (
    "\t\n\v\f\r \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000\ufeff"
)
"""What JavaScript trims and what its ``\\s`` matches."""

SPACE_CLASS: Final = "[" + re.escape(WHITE_SPACE) + "]"

_SPACE = re.compile(SPACE_CLASS + "*")
_DECIMAL = re.compile(r"[+-]?(?:Infinity|(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)")
_INTEGER = re.compile(r"[+-]?[0-9]+")
_RADIX = {"0x": 16, "0o": 8, "0b": 2}
_PAIR = re.compile("[\ud800-\udbff][\udc00-\udfff]")
_ASTRAL = re.compile("[\U00010000-\U0010ffff]")


def skip_space(text: str, position: int) -> int:
    """Where the white space at ``position`` ends."""
    return _SPACE.match(text, position).end()  # type: ignore[union-attr]


def well_formed(text: str) -> str:
    """``text`` with each surrogate pair as the character it stands for; lone surrogates stay."""
    if text.isascii() or not _PAIR.search(text):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")


def units(text: str) -> str:
    """``text`` with one character a UTF-16 code unit."""
    if text.isascii() or not _ASTRAL.search(text):
        return text
    data = text.encode("utf-16-be", "surrogatepass")
    return "".join([chr(data[i] << 8 | data[i + 1]) for i in range(0, len(data), 2)])


def unit_length(text: str) -> int:
    """Length in UTF-16 code units."""
    return len(text) if text.isascii() else len(text) + len(_ASTRAL.findall(text))


def sort_key(text: str) -> bytes:
    """Orders strings by code units."""
    return text.encode("utf-16-be", "surrogatepass")


def js_number_text(number: float) -> str:
    """Text of a number as JavaScript's ``String(number)``: shortest digits that read back the same double."""
    if isinstance(number, int) and -EXACT <= number <= EXACT:
        return str(int(number))
    number = float(number)
    if math.isnan(number):
        return "NaN"
    if number in (float("inf"), float("-inf")):
        return "Infinity" if number > 0 else "-Infinity"
    if number == 0:
        return "0"
    sign = "-" if number < 0 else ""
    digits, point = _digits(abs(number))
    return sign + _layout(digits, point)


def _digits(number: float) -> tuple[str, int]:
    """Shortest digits and the place of the point: the value is 0.DIGITS times 10 to the power of it."""
    mantissa, _, exponent = repr(number).partition("e")
    before, _, after = mantissa.partition(".")
    digits = (before + after).lstrip("0")
    point = len(before) + int(exponent or 0) - (len(before + after) - len(digits))
    return digits.rstrip("0"), point


def _layout(digits: str, point: int) -> str:
    count = len(digits)
    if count <= point <= 21:
        return digits + "0" * (point - count)
    if 0 < point <= 21:
        return f"{digits[:point]}.{digits[point:]}"
    if -6 < point <= 0:
        return f"0.{'0' * -point}{digits}"
    power = point - 1
    fraction = f".{digits[1:]}" if count > 1 else ""
    return f"{digits[0]}{fraction}e{'+' if power > 0 else '-'}{abs(power)}"


def float_text(number: float) -> str:
    """Text of a FloatValue: a whole one keeps a decimal."""
    if number % 1 == 0 and abs(number) < 1e21:
        return "-0.0" if number == 0 and str(number)[0] == "-" else f"{int(number)}.0"
    return js_number_text(number)


def parse_int(text: str) -> float | None:
    """``parseInt(text, 10)``, or None for NaN."""
    found = _INTEGER.match(text.lstrip(WHITE_SPACE))
    return float(found.group()) if found else None


def parse_float(text: str) -> float | None:
    """``parseFloat(text)``, or None for NaN."""
    found = _DECIMAL.match(text.lstrip(WHITE_SPACE))
    return float(found.group()) if found else None


def string_number(text: str) -> float:
    """``Number(text)``."""
    text = text.strip(WHITE_SPACE)
    if not text:
        return 0.0
    radix = _RADIX.get(text[:2].lower())
    if radix is not None:
        digits = text[2:]
        allowed = "0123456789abcdef"[:radix]
        if not digits or digits.lower().strip(allowed):
            return float("nan")
        try:
            return float(int(digits, radix))
        except OverflowError:
            return float("inf")
    return float(text) if _DECIMAL.fullmatch(text) else float("nan")


def to_number(value: Plain) -> float:
    """``Number(value)`` of a plain value, as a float."""
    if isinstance(value, str):
        return string_number(value)
    if value is None:
        return 0.0
    if isinstance(value, (bool, int, float)):
        return float(value)
    if isinstance(value, (list, tuple)):
        return string_number(js_string(value))
    return float("nan")


def js_string(value: Plain) -> str:
    """``String(value)`` of a plain value. A list gives its elements joined by commas, null ones as nothing."""
    if isinstance(value, str):
        return value
    if value is None:
        return "null"
    if value is UNDEFINED:
        return "undefined"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return js_number_text(value)
    if isinstance(value, (list, tuple)):
        return ",".join(["" if item is None or item is UNDEFINED else js_string(item) for item in value])
    if isinstance(value, Function):
        return f"function {value.name}() {{ [native code] }}"
    return "[object Set]" if isinstance(value, NameSet) else "[object Object]"
