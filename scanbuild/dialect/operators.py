"""What operators do to values."""

import math
from collections.abc import Callable

from .errors import limit_error, value_error
from .limits import MAX_ITEMS, MAX_TEXT
from .printing import array_text, function_text
from .text import js_number_text, string_number, units, well_formed
from .values import BROKEN, HOLE, UNDEFINED, Budget, Namespace, Native, Value, Whole, integer, whole

_NAMES = {
    int: "an integer",
    Whole: "an integer",
    float: "a float",
    str: "a string",
    bool: "a boolean",
    list: "a list",
    tuple: "a tuple",
    dict: "an object",
    Namespace: "a namespace",
    Native: "a function",
}
_NUMBERS = frozenset({int, float, Whole})
_NUMBERS_AND_BOOLEANS = _NUMBERS | {bool}

Binary = Callable[[Value, Value, Budget], Value]


def describe(value: Value) -> str:
    """What a value is, in words."""
    if value is None or value is UNDEFINED:
        return "null" if value is None else "undefined"
    if value is HOLE:
        return "the first or last element of an empty list"
    if value is BROKEN:
        return "a string index out of range"
    return _NAMES.get(type(value), "an object")


def is_string(value: Value) -> bool:
    """A StringValue, the broken one included."""
    return type(value) is str or value is BROKEN


def truthy(value: Value) -> bool:
    """Truth for ``and``, ``or``, conditionals and loops."""
    if value is HOLE:
        raise value_error(f"{describe(value)} cannot be tested")
    if type(value) in (float, Whole):
        return not math.isnan(value) and value != 0
    return bool(value) or type(value) in (Namespace, Native)


def raw_truthy(value: Value) -> bool:
    """Truth for ``not``: lists and objects are true, empty ones too."""
    return True if isinstance(value, (list, tuple, dict)) else truthy(value)


def loosely_equal(left: Value, right: Value, budget: Budget) -> bool:
    """``==`` of JavaScript on what the values hold."""
    if left is HOLE or right is HOLE:
        raise value_error(f"{describe(HOLE)} cannot be compared")
    left, right = _raw(left), _raw(right)
    if left is UNDEFINED or right is UNDEFINED:
        return left is right
    if not _is_primitive(left):
        if not _is_primitive(right):
            return left is right
        left, right = right, left
    if not _is_primitive(right):
        if type(right) is Native:
            return False
        right = raw_text(right, budget)
    if type(left) is str and type(right) is str:
        return left == right
    return _number(left) == _number(right)


def _raw(value: Value) -> Value:
    if value is None or value is BROKEN:
        return UNDEFINED
    return value.members if type(value) is Namespace else value


def _is_primitive(value: Value) -> bool:
    return type(value) in _NUMBERS_AND_BOOLEANS or type(value) is str


def _number(value: Value) -> float:
    return string_number(value) if type(value) is str else float(value)


def strictly_equal(left: Value, right: Value) -> bool:
    """``===`` of JavaScript on what the values hold."""
    left, right = _raw(left), _raw(right)
    if type(left) in _NUMBERS and type(right) in _NUMBERS:
        return bool(left == right)
    if type(left) is str and type(right) is str:
        return left == right
    return left is right


def raw_text(value: Value, budget: Budget) -> str:
    """Text of what a value holds, as ``~`` joins it: whole floats without a decimal."""
    kind = type(value)
    if kind is str:
        return str(value)
    if kind is bool:
        return "true" if value else "false"
    if kind in _NUMBERS:
        return js_number_text(value)
    if kind is list or kind is tuple:
        return array_text(value, budget)
    if isinstance(value, (dict, Namespace)):
        return "[object Map]"
    if kind is Native:
        return function_text(value)
    raise value_error(f"{describe(value)} has no text")


def join_texts(left: str, right: str, budget: Budget) -> str:
    """Two strings, one behind the other."""
    text = left + right
    if len(text) > 1024:
        if len(text) > MAX_TEXT:
            raise limit_error(f"a string of more than {MAX_TEXT} characters")
        budget.spend(len(text))
    if "\udc00" <= right[:1] <= "\udfff":
        text = well_formed(text)
    return text


def check_operands(symbol: str, left: Value, right: Value) -> None:
    """Refuse undefined and null operands."""
    for value in (left, right):
        if value is UNDEFINED or value is None or value is HOLE:
            raise value_error(f"{symbol!r} cannot be used on {describe(value)}")


def _mismatch(symbol: str, left: Value, right: Value) -> Exception:
    check_operands(symbol, left, right)
    return value_error(f"{symbol!r} cannot be used between {describe(left)} and {describe(right)}")


def concatenate(left: Value, right: Value, budget: Budget) -> str:
    """``~``"""
    check_operands("~", left, right)
    return join_texts(raw_text(left, budget), raw_text(right, budget), budget)


def add(left: Value, right: Value, budget: Budget) -> Value:
    """``+``"""
    kinds = type(left), type(right)
    if kinds[0] is int and kinds[1] is int:
        return integer(left + right)
    if kinds[0] in _NUMBERS and kinds[1] in _NUMBERS:
        return _typed(float(left) + float(right), kinds)
    check_operands("+", left, right)
    if kinds[0] in (list, tuple) and kinds[1] in (list, tuple):
        if len(left) + len(right) > MAX_ITEMS:
            raise limit_error(f"a list of more than {MAX_ITEMS} elements")
        budget.charge(left)
        budget.charge(right)
        return [*left, *right]
    if is_string(left) or is_string(right):
        if isinstance(right, (list, tuple)):
            _is_element(left, right)  # The engine looks for the string in the list first, and fails at a hole.
        return join_texts(raw_text(left, budget), raw_text(right, budget), budget)
    raise _mismatch("+", left, right)


def subtract(left: Value, right: Value, _budget: Budget) -> Value:
    """``-``"""
    if type(left) is int and type(right) is int:
        return integer(left - right)
    kinds = _numbers("-", left, right)
    return _typed(float(left) - float(right), kinds)


def multiply(left: Value, right: Value, _budget: Budget) -> Value:
    """``*``"""
    if type(left) is int and type(right) is int:
        product = left * right
        return integer(product) if product or (left >= 0 and right >= 0) else Whole("-0")
    kinds = _numbers("*", left, right)
    return _typed(float(left) * float(right), kinds)


def divide(left: Value, right: Value, _budget: Budget) -> Value:
    """``/``: always a float."""
    _numbers("/", left, right)
    return quotient(float(left), float(right))


def quotient(left: float, right: float) -> float:
    """Division as IEEE 754 has it."""
    if right:
        return left / right
    if left == 0 or math.isnan(left) or math.isnan(right):
        return math.nan
    return math.copysign(math.inf, left) * math.copysign(1.0, right)


def floor_divide(left: Value, right: Value, _budget: Budget) -> Value:
    """``//``"""
    kinds = _numbers("//", left, right)
    return _typed(floor(quotient(float(left), float(right))), kinds)


def floor(number: float) -> float:
    """``Math.floor``, which keeps NaN, infinities and -0."""
    return float(math.floor(number)) if number and math.isfinite(number) else number


def ceil(number: float) -> float:
    """``Math.ceil``, which gives -0 between -1 and 0."""
    return math.copysign(float(math.ceil(number)), number) if number and math.isfinite(number) else number


def remainder(left: Value, right: Value, _budget: Budget) -> Value:
    """``%``: the sign is that of the dividend."""
    kinds = _numbers("%", left, right)
    return _typed(modulo(float(left), float(right)), kinds)


def modulo(left: float, right: float) -> float:
    """The remainder of JavaScript."""
    if right == 0 or math.isinf(left) or math.isnan(left) or math.isnan(right):
        return math.nan
    return math.fmod(left, right)


def power(left: Value, right: Value, _budget: Budget) -> Value:
    """``**``"""
    kinds = type(left), type(right)
    if kinds[0] not in _NUMBERS_AND_BOOLEANS or kinds[1] not in _NUMBERS_AND_BOOLEANS:
        raise _mismatch("**", left, right)
    base, exponent = float(left), float(right)
    if base == 0 and exponent < 0:
        raise value_error("zero cannot be raised to a negative power")
    result = js_power(base, exponent)
    if not math.isfinite(result):
        raise value_error("the result of '**' is no finite number")
    return result if float in kinds or exponent < 0 else whole(result)


def js_power(base: float, exponent: float) -> float:
    """``Math.pow``, as today's engines have it: the C library's. (Those of some years ago differed in the last bit.)"""
    if math.isnan(exponent) or (math.isinf(exponent) and abs(base) == 1):
        return math.nan
    try:
        return math.pow(base, exponent)
    except OverflowError:
        return -math.inf if base < 0 and exponent % 2 == 1 else math.inf
    except ValueError:
        return math.nan if base else _reciprocal_of_zero(base, exponent)


def _reciprocal_of_zero(zero: float, exponent: float) -> float:
    """Zero to a negative power: the sign of -0 counts where the exponent is odd."""
    return -math.inf if math.copysign(1.0, zero) < 0 and exponent % 2 == 1 else math.inf


def _numbers(symbol: str, left: Value, right: Value) -> tuple[type, type]:
    kinds = type(left), type(right)
    if kinds[0] in _NUMBERS and kinds[1] in _NUMBERS:
        return kinds
    raise _mismatch(symbol, left, right)


def _typed(result: float, kinds: tuple[type, type]) -> float:
    """A float if either operand is one, else an integer."""
    return result if float in kinds else whole(result)


def equal(left: Value, right: Value, budget: Budget) -> bool:
    """``==``"""
    if type(left) is int and type(right) is int:
        return bool(left == right)
    budget.charge(left)
    budget.charge(right)
    return loosely_equal(left, right, budget)


def unequal(left: Value, right: Value, budget: Budget) -> bool:
    """``!=``"""
    return not equal(left, right, budget)


def less(left: Value, right: Value, _budget: Budget) -> bool:
    """``<``"""
    _numbers("<", left, right)
    return bool(left < right)


def greater(left: Value, right: Value, _budget: Budget) -> bool:
    """``>``"""
    _numbers(">", left, right)
    return bool(left > right)


def at_most(left: Value, right: Value, _budget: Budget) -> bool:
    """``<=``"""
    _numbers("<=", left, right)
    return bool(left <= right)


def at_least(left: Value, right: Value, _budget: Budget) -> bool:
    """``>=``"""
    _numbers(">=", left, right)
    return bool(left >= right)


def contained(left: Value, right: Value, budget: Budget) -> bool:
    """``in``"""
    if right is UNDEFINED or (left is HOLE and isinstance(right, (list, tuple)) and not right):
        return False
    check_operands("in", left, right)
    if isinstance(right, (list, tuple)) and not isinstance(left, (list, tuple)):
        budget.charge(right)
        return _is_element(left, right)
    if is_string(left) and is_string(right):
        if right is BROKEN:
            raise value_error(f"nothing can be in {describe(right)}")
        budget.spend(len(right))
        return units("undefined" if left is BROKEN else left) in units(right)
    if is_string(left) and isinstance(right, dict):
        return left in right
    raise _mismatch("in", left, right)


def _is_element(value: Value, items: list[Value] | tuple[Value, ...]) -> bool:
    for item in items:
        if item is HOLE:
            raise value_error(f"{describe(item)} cannot be compared")
        if strictly_equal(item, value):
            return True
    return False


def not_contained(left: Value, right: Value, budget: Budget) -> bool:
    """``not in``"""
    return not contained(left, right, budget)


def negate(value: Value) -> Value:
    """Unary ``-``"""
    if type(value) is int and value:
        return -value
    number = -float(_signed("-", value))
    return number if type(value) is float else whole(number)


def posit(value: Value) -> Value:
    """Unary ``+``"""
    _signed("+", value)
    return int(value) if type(value) is bool else value


def _signed(symbol: str, value: Value) -> Value:
    if type(value) not in _NUMBERS_AND_BOOLEANS:
        raise value_error(f"{symbol!r} cannot be used on {describe(value)}")
    return value


def unique_key(value: Value) -> object:
    """Equal for values that ``unique`` takes for the same."""
    value = _raw(value)
    kind = type(value)
    if kind in _NUMBERS:
        return "number", "NaN" if math.isnan(value) else value
    return (kind, value) if kind in (str, bool) else (kind, id(value))
