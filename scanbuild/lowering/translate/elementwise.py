"""Operators that are one elementwise operation, or a few of them."""

from functools import reduce
from typing import Final

import numpy as np

from scanbuild.lowering.translate.registry import Call, is_float, operator
from scanbuild.lowering.translate.values import RefusedError, Value, dtype_name

_UNARY: Final = {
    "Neg": "neg",
    "Abs": "abs",
    "Sign": "sign",
    "Floor": "floor",
    "Ceil": "ceil",
    "Round": "round",
    "Sqrt": "sqrt",
    "Exp": "exp",
    "Log": "log",
    "Sin": "sin",
    "Cos": "cos",
    "Tan": "tan",
    "Asin": "asin",
    "Acos": "acos",
    "Atan": "atan",
    "Sinh": "sinh",
    "Cosh": "cosh",
    "Tanh": "tanh",
    "Asinh": "asinh",
    "Acosh": "acosh",
    "Atanh": "atanh",
    "Erf": "erf",
    "Sigmoid": "sigmoid",
    "Softplus": "softplus",
    "IsNaN": "is_nan",
    "Not": "not",
    "BitwiseNot": "bit_not",
}
_BINARY: Final = {
    "Add": "add",
    "Sub": "sub",
    "Mul": "mul",
    "Div": "div",
    "Equal": "eq",
    "Less": "lt",
    "LessOrEqual": "le",
    "Greater": "gt",
    "GreaterOrEqual": "ge",
    "And": "and",
    "Or": "or",
    "Xor": "xor",
    "BitwiseAnd": "bit_and",
    "BitwiseOr": "bit_or",
    "BitwiseXor": "bit_xor",
}
_LARGEST: Final = float(np.finfo(np.float32).max)
_VARIADIC: Final = {"Max": "max", "Min": "min", "Sum": "add"}


@operator(*_UNARY)
def unary(call: Call) -> Value:
    return call.map(_UNARY[call.operator], call.input(0))


@operator(*_BINARY)
def binary(call: Call) -> Value:
    left, right = call.input(0), call.input(1)
    if call.version < 7 and call.attribute("broadcast"):
        raise RefusedError("the attribute `broadcast` is of an opset before 7", "convert the model to a later opset")
    return call.builder.map(_BINARY[call.operator], left, right)


@operator(*_VARIADIC)
def variadic(call: Call) -> Value:
    return reduce(lambda left, right: call.map(_VARIADIC[call.operator], left, right), call.inputs)


@operator("Mean", wide=True)
def mean(call: Call) -> Value:
    """The sum, times the share of each: that is how ONNX Runtime rounds."""
    values = call.inputs
    total = reduce(lambda left, right: call.map("add", left, right), values)
    return total if len(values) == 1 else call.map("mul", total, 1 / len(values))


@operator("Mod")
def mod(call: Call) -> Value:
    left, right = call.input(0), call.input(1)
    if call.attribute("fmod", 0):
        return call.map("fmod", left, right)
    if is_float(left):
        raise RefusedError(f"of {left.dtype} it needs the attribute fmod = 1", "set it")
    return call.map("mod", left, right)


@operator("Pow")
def power(call: Call) -> Value:
    """The result has the type of the base, whatever that of the exponent."""
    base, exponent = call.input(0), call.input(1)
    few = _small_exponent(call, base, exponent)
    if few is not None:
        return reduce(lambda left, right: call.map("mul", left, right), [base] * few)
    if base.dtype == exponent.dtype or is_float(base):
        return call.map("pow", base, call.builder.cast(exponent, base.dtype))
    if is_float(exponent):
        wide = call.map("pow", call.builder.cast(base, exponent.dtype), exponent)
        return call.builder.cast(wide, base.dtype)
    return call.map("pow", base, call.builder.cast(exponent, base.dtype))


def _small_exponent(call: Call, base: Value, exponent: Value) -> int | None:
    """1, 2 or 3 where the exponent is that and no larger than the base: then it is a product, whatever the sign."""
    array = exponent.array
    if array is None or not array.size or exponent.dtype == "bool" or base.dtype == "bool":
        return None
    first = array.reshape(-1)[0]
    if first not in (1, 2, 3) or not (array == first).all():
        return None
    whole = call.builder.symbols.resolve_all(base.shape)
    return int(first) if call.builder.broadcast_shapes([base.shape, exponent.shape]) == whole else None


@operator("BitShift")
def bit_shift(call: Call) -> Value:
    direction = call.attribute("direction", "")
    if direction not in ("LEFT", "RIGHT"):
        raise RefusedError(f"its direction is `{direction}`", "it can be LEFT or RIGHT")
    return call.map("shift_left" if direction == "LEFT" else "shift_right", call.input(0), call.input(1))


@operator("IsInf")
def is_inf(call: Call) -> Value:
    value = call.input(0)
    low, high = call.attribute("detect_negative", 1), call.attribute("detect_positive", 1)
    if low and high:
        return call.map("is_inf", value)
    if not low and not high:
        return call.builder.expand(call.builder.constant(False, "bool"), value.shape)
    return call.map("eq", value, np.inf if high else -np.inf)


@operator("Where")
def where(call: Call) -> Value:
    condition, left, right = call.input(0), call.input(1), call.input(2)
    if condition.dtype != "bool":
        raise RefusedError(f"its condition is {condition.dtype}", "make it bool")
    return call.builder.map("where", condition, left, right)


@operator("Clip")
def clip(call: Call) -> Value:
    """Bounds are attributes before opset 11, inputs since then; the upper one wins.

    A bound of float32 that is not given is the largest number there is, as in ONNX Runtime: infinity does not pass.
    """
    value = call.input(0)
    low, high = (call.optional(1), call.optional(2)) if call.version >= 11 else (None, None)
    if call.version < 11:
        low = call.builder.like(value, call.attribute("min")) if call.has("min") else None
        high = call.builder.like(value, call.attribute("max")) if call.has("max") else None
    for operation, bound, limit in (("max", low, -_LARGEST), ("min", high, _LARGEST)):
        if bound is not None:
            value = call.map(operation, value, _scalar(call, bound))
        elif value.dtype == "float32":
            value = call.map(operation, value, limit)
    return value


def _scalar(call: Call, value: Value) -> Value:
    """A bound may be a tensor of one element."""
    return call.builder.reshape(value, ()) if value.rank else value


@operator("Cast")
def cast(call: Call) -> Value:
    return call.builder.cast(call.input(0), dtype_name(int(call.attribute("to", 0))))


@operator("CastLike")
def cast_like(call: Call) -> Value:
    return call.builder.cast(call.input(0), call.input(1).dtype)


@operator("Identity")
def identity(call: Call) -> Value:
    return call.input(0)


@operator("Dropout")
def dropout(call: Call) -> list[Value]:
    """In inference everything passes. The mask says so since opset 12; before, ONNX Runtime leaves it false."""
    value, training = call.input(0), call.optional(2)
    if training is not None and (training.array is None or bool(training.array.reshape(-1)[0])):
        raise RefusedError("it is in training mode, or may be", "export the model for inference")
    return [value, call.builder.expand(call.builder.constant(call.version >= 12, "bool"), value.shape)]
