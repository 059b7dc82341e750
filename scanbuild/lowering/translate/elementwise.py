"""Operators that are one elementwise operation, or a few of them."""

from typing import Final

from scanbuild.lowering.translate.registry import Call, operator
from scanbuild.lowering.translate.values import RefusedError, Value

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


@operator(*_UNARY)
def unary(call: Call) -> Value:
    return call.map(_UNARY[call.operator], call.input(0))


@operator(*_BINARY)
def binary(call: Call) -> Value:
    left, right = call.input(0), call.input(1)
    if call.version < 7 and call.attribute("broadcast"):
        raise RefusedError("the attribute `broadcast` is of an opset before 7", "convert the model to a later opset")
    return call.builder.map(_BINARY[call.operator], left, right)


@operator("Identity")
def identity(call: Call) -> Value:
    return call.input(0)
