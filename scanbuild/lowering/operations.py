"""The elementwise operations of a body, each with what it means in NumPy.

NumPy is the definition: the WGSL of ``wgsl`` has to give the same, to the accuracy of the device. Both operands of an
operation have the same dtype, except that the condition of ``where`` is bool.
"""

from dataclasses import dataclass
from typing import Final

FLOATS: Final = frozenset({"float16", "float32"})
SIGNED: Final = frozenset({"int8", "int16", "int32", "int64"})
UNSIGNED: Final = frozenset({"uint8", "uint32"})
INTEGERS: Final = SIGNED | UNSIGNED
NUMBERS: Final = FLOATS | INTEGERS
BOOL: Final = frozenset({"bool"})
ANY: Final = NUMBERS | BOOL


@dataclass(frozen=True, kw_only=True, slots=True)
class Map:
    """An elementwise operation. ``numpy`` is the text of an expression over ``a``, ``b``, ``c`` (arrays).

    ``dtypes`` are those its operands (of ``where``: the last two) may have; ``gives_bool`` says that the value is bool
    rather than of the operands' dtype.
    """

    arity: int
    numpy: str
    dtypes: frozenset[str]
    gives_bool: bool = False


def _float(numpy: str, arity: int = 1) -> Map:
    return Map(arity=arity, numpy=numpy, dtypes=FLOATS)


def _number(numpy: str, arity: int = 2) -> Map:
    return Map(arity=arity, numpy=numpy, dtypes=NUMBERS)


def _compare(numpy: str, dtypes: frozenset[str] = NUMBERS) -> Map:
    return Map(arity=2, numpy=numpy, dtypes=dtypes, gives_bool=True)


MAPS: Final[dict[str, Map]] = {
    "add": _number("a + b"),
    "sub": _number("a - b"),
    "mul": _number("a * b"),
    "div": _number("divide(a, b)"),  # of integers: towards zero
    "mod": _number("mod(a, b)"),  # has the sign of the divisor
    "fmod": _number("np.fmod(a, b)"),  # has the sign of the dividend
    "pow": _number("power(a, b)"),
    "min": _number("np.minimum(a, b)"),  # NaN if one is
    "max": _number("np.maximum(a, b)"),
    "neg": _number("-a", 1),
    "abs": _number("np.abs(a)", 1),
    "sign": _number("np.sign(a)", 1),
    "floor": _float("np.floor(a)"),
    "ceil": _float("np.ceil(a)"),
    "round": _float("np.rint(a)"),  # halves to even
    "sqrt": _float("np.sqrt(a)"),
    "exp": _float("np.exp(a)"),
    "log": _float("np.log(a)"),
    "sin": _float("np.sin(a)"),
    "cos": _float("np.cos(a)"),
    "tan": _float("np.tan(a)"),
    "asin": _float("np.arcsin(a)"),
    "acos": _float("np.arccos(a)"),
    "atan": _float("np.arctan(a)"),
    "sinh": _float("np.sinh(a)"),
    "cosh": _float("np.cosh(a)"),
    "tanh": _float("np.tanh(a)"),
    "asinh": _float("np.arcsinh(a)"),
    "acosh": _float("np.arccosh(a)"),
    "atanh": _float("np.arctanh(a)"),
    "erf": _float("erf(a)"),
    "sigmoid": _float("sigmoid(a)"),
    "softplus": _float("np.logaddexp(a, 0)"),
    "is_nan": Map(arity=1, numpy="np.isnan(a)", dtypes=FLOATS, gives_bool=True),
    "is_inf": Map(arity=1, numpy="np.isinf(a)", dtypes=FLOATS, gives_bool=True),
    "eq": _compare("a == b", ANY),
    "ne": _compare("a != b", ANY),
    "lt": _compare("a < b"),
    "le": _compare("a <= b"),
    "gt": _compare("a > b"),
    "ge": _compare("a >= b"),
    "and": _compare("a & b", BOOL),
    "or": _compare("a | b", BOOL),
    "xor": _compare("a ^ b", BOOL),
    "not": Map(arity=1, numpy="~a", dtypes=BOOL, gives_bool=True),
    "bit_and": Map(arity=2, numpy="a & b", dtypes=INTEGERS),
    "bit_or": Map(arity=2, numpy="a | b", dtypes=INTEGERS),
    "bit_xor": Map(arity=2, numpy="a ^ b", dtypes=INTEGERS),
    "bit_not": Map(arity=1, numpy="~a", dtypes=INTEGERS),
    "shift_left": Map(arity=2, numpy="shift_left(a, b)", dtypes=UNSIGNED),  # zero from the width on
    "shift_right": Map(arity=2, numpy="shift_right(a, b)", dtypes=UNSIGNED),
    "where": Map(arity=3, numpy="np.where(a, b, c)", dtypes=ANY),
}
