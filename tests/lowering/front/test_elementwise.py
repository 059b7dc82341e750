"""Elementwise operators against ONNX Runtime: values out of the ordinary, broadcasting, types and versions."""

import numpy as np
import pytest

from .models import compare
from .operators import AWKWARD, Case, case, fixed, floats, truths, whole

PLAIN = [
    *("Neg", "Abs", "Sign", "Floor", "Ceil", "Round", "Exp", "Sin", "Cos", "Tan", "Atan", "Sinh", "Cosh", "Tanh"),
    *("Asinh", "Erf", "Sigmoid", "Softplus", "IsNaN", "IsInf", "Relu", "LeakyRelu", "ThresholdedRelu", "Elu", "Selu"),
    *("Celu", "HardSigmoid", "HardSwish", "Softsign", "Mish", "Gelu", "Shrink", "Reciprocal", "Identity"),
]
DOMAINS = [("Sqrt", 0, 9), ("Log", 0.1, 9), ("Asin", -1, 1), ("Acos", -1, 1), ("Acosh", 1, 9), ("Atanh", -0.9, 0.9)]
PAIRS = ["Add", "Sub", "Mul", "Div", "Pow", "Max", "Min", "Less", "LessOrEqual", "Greater", "GreaterOrEqual", "Equal"]
INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint32"]
SHAPES = [
    ((2, 3), (2, 3)),
    ((2, 3), (3,)),
    ((3,), (2, 3)),
    ((2, 1), (1, 3)),
    ((), (2, 3)),
    ((2, 3), ()),
    ((4, 1, 3), (2, 1)),
]
LOGIC = truths(4), truths(4, seed=1)


def lacks(operator: str, dtype: str) -> bool:
    """Whether ONNX Runtime's CPU has no such operator for the type."""
    return (operator == "Pow" and dtype not in ("int32", "int64")) or (operator in ("Max", "Min") and dtype == "int16")


CASES = [
    *(case(operator, AWKWARD) for operator in PLAIN),
    *(case(operator, floats(2, 5, low=low, high=high)) for operator, low, high in DOMAINS),
    *(case(operator, AWKWARD) for operator in ("Sqrt", "Log", "Asin", "Atanh")),
    *(case("Add", floats(*left), floats(*right, seed=1)) for left, right in SHAPES),
    *(case(operator, np.resize(AWKWARD, 70), np.repeat(AWKWARD, 5)) for operator in PAIRS if operator != "Pow"),
    *(case(operator, floats(4, low=0.1), floats(4, seed=1)) for operator in PAIRS),
    *(
        case(operator, whole(6, dtype=dtype, low=1), whole(6, dtype=dtype, low=1, high=5, seed=1))
        for operator in PAIRS
        for dtype in INTEGERS
        if not lacks(operator, dtype)
    ),
    *(case(operator, whole(9)) for operator in ("Neg", "Abs", "Sign", "Relu")),
    *(case(operator, *LOGIC) for operator in ("And", "Or", "Xor", "Equal")),
    case("Not", LOGIC[0]),
    *(case(f"Bitwise{name}", whole(6), whole(6, seed=1)) for name in ("And", "Or", "Xor")),
    case("BitwiseNot", whole(6, dtype="int8")),
    *(
        case("BitShift", whole(6, low=0, high=99, dtype=dtype), whole(6, low=0, high=7, dtype=dtype), direction=way)
        for way in ("LEFT", "RIGHT")
        for dtype in ("uint8", "uint32")
    ),
    case("Add", whole(3, low=2**31 - 9, high=2**31 - 1), whole(3, low=9, high=99)),
    case("Mul", whole(9, low=100, high=127, dtype="int8"), whole(9, low=2, high=9, dtype="int8")),
    *(case("Mod", whole(9, dtype=dtype), fixed([3, -3, 2] * 3, dtype)) for dtype in ("int8", "int32", "int64")),
    case("Mod", whole(9), fixed([4, -4, 5] * 3, "int32"), fmod=1),
    case("Mod", floats(9), fixed([0.75, -0.75, 0.5] * 3, "float32"), fmod=1),
    case("Pow", floats(4, low=0.1), whole(4)),
    case("Pow", whole(4, low=1), fixed(2.0, "float32")),
    case("Pow", floats(4), fixed(2)),
    *(case(operator, floats(2, 3), floats(3), floats(2, 1)) for operator in ("Max", "Min", "Sum", "Mean")),
    *(case(operator, floats(2, 3)) for operator in ("Max", "Min", "Sum", "Mean")),
    case("IsInf", AWKWARD, detect_negative=0),
    case("IsInf", AWKWARD, detect_positive=0),
    case("IsInf", AWKWARD, detect_positive=0, detect_negative=0),
    case("Where", truths(2, 1), floats(3), floats(2, 3)),
    case("Where", truths(2, 3), whole(2, 3), fixed(7, "int32")),
    case("Clip", AWKWARD, fixed(-1, "float32"), fixed(1, "float32")),
    case("Clip", AWKWARD, fixed(2, "float32"), fixed(1, "float32")),
    case("Clip", AWKWARD, None, fixed(1, "float32")),
    case("Clip", AWKWARD, floats()),
    case("Clip", AWKWARD),
    case("Clip", AWKWARD, opset=9, min=-1.0, max=0.75),
    case("Clip", whole(9), fixed(-3, "int32"), fixed(4, "int32")),
    *(case("Cast", floats(9, low=0, high=9), to=number) for number in (1, 2, 3, 5, 6, 7, 9, 10, 12)),
    *(case("Cast", whole(9, low=-300, high=300), to=number) for number in (1, 2, 3, 5, 6, 7, 9, 10, 12)),
    case("Cast", truths(5), to=1),
    case("Cast", AWKWARD, to=9),
    case("CastLike", floats(5), fixed([1], "int32")),
    case("LeakyRelu", AWKWARD, alpha=0.3),
    case("Elu", AWKWARD, alpha=0.3),
    case("Celu", AWKWARD, alpha=2.0),
    case("Selu", AWKWARD, alpha=2.0, gamma=3.0),
    case("ThresholdedRelu", AWKWARD, alpha=2.0),
    case("HardSigmoid", AWKWARD, alpha=0.3, beta=0.2),
    case("Shrink", AWKWARD, bias=0.25, lambd=1.0),
    case("Gelu", AWKWARD, approximate="tanh"),
    case("Swish", AWKWARD, opset=24),
    case("Swish", AWKWARD, opset=24, alpha=1.5),
    case("PRelu", AWKWARD.reshape(2, 7), floats(7)),
    case("PRelu", floats(2, 3), floats(2, 1)),
    case("Dropout", AWKWARD, outputs=2),
    case("Dropout", AWKWARD, fixed(0.5, "float32"), fixed(False, "bool"), outputs=2),
    *(case(operator, floats(5), domain="com.microsoft") for operator in ("Gelu", "QuickGelu", "FastGelu")),
    case("BiasGelu", floats(2, 5), floats(5), domain="com.microsoft"),
    case("FastGelu", floats(2, 5), floats(5), domain="com.microsoft"),
    *(case(operator, floats(6).astype("float16")) for operator in ("Relu", "Gelu", "Mish", "Exp", "Elu", "Softplus")),
    case("Add", floats(6).astype("float16"), floats(6).astype("float16")),
    *(case(operator, floats(5), opset=9) for operator in ("Erf", "Softplus", "Selu", "IsNaN")),
]


@pytest.mark.parametrize("item", CASES, ids=[item.id for item in CASES])
def test_an_elementwise_operator_is_that_of_onnx_runtime(item: Case):
    half = any(isinstance(value, np.ndarray) and value.dtype == np.float16 for value in item.inputs)
    compare(item.model(symbolic=True), item.feeds(), rtol=2e-3 if half else 2e-5, atol=1e-3 if half else 2e-6)
