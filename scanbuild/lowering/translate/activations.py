"""Activation functions, as ONNX Runtime computes them where a value is NaN or infinite."""

import math
from typing import Final

from scanbuild.lowering.translate.registry import Call, operator
from scanbuild.lowering.translate.values import RefusedError, Value

# The constants of self-normalizing networks, to which Selu defaults.
_SELU_ALPHA: Final = 1.67326319217681884765625
_SELU_GAMMA: Final = 1.05070102214813232421875


@operator("Relu")
def relu(call: Call) -> Value:
    return call.map("max", call.input(0), 0)


@operator("LeakyRelu", wide=True)
def leaky_relu(call: Call) -> Value:
    x = call.input(0)
    return call.map("where", call.map("lt", x, 0), call.map("mul", x, call.attribute("alpha", 0.01)), x)


@operator("PRelu", wide=True)
def parametric_relu(call: Call) -> Value:
    x, slope = call.input(0), call.input(1)
    scaled = call.map("mul", x, slope)
    if call.builder.symbols.resolve_all(scaled.shape) != call.builder.symbols.resolve_all(x.shape):
        raise RefusedError("its slope does not broadcast to its input", "give it no more axes than the input")
    return call.map("where", call.map("lt", x, 0), scaled, x)


@operator("ThresholdedRelu", wide=True)
def thresholded_relu(call: Call) -> Value:
    x = call.input(0)
    return call.map("where", call.map("gt", x, call.attribute("alpha", 1.0)), x, 0)


@operator("Elu", wide=True)
def elu(call: Call) -> Value:
    x = call.input(0)
    return call.map("where", call.map("lt", x, 0), _scaled(call, _exp_minus_one(call, x), "alpha", 1.0), x)


@operator("Selu", wide=True)
def selu(call: Call) -> Value:
    x = call.input(0)
    curve = _scaled(call, _exp_minus_one(call, x), "alpha", _SELU_ALPHA)
    return _scaled(call, call.map("where", call.map("gt", x, 0), x, curve), "gamma", _SELU_GAMMA)


@operator("Celu", wide=True)
def celu(call: Call) -> Value:
    x, alpha = call.input(0), float(call.attribute("alpha", 1.0))
    curve = call.map("mul", _exp_minus_one(call, call.map("div", x, alpha)), alpha)
    return call.map("where", call.map("lt", x, 0), curve, x)


@operator("HardSigmoid", wide=True)
def hard_sigmoid(call: Call) -> Value:
    return _ramp(call, call.input(0), call.attribute("alpha", 0.2), call.attribute("beta", 0.5))


@operator("HardSwish", wide=True)
def hard_swish(call: Call) -> Value:
    x = call.input(0)
    return call.map("mul", x, _ramp(call, x, 1 / 6, 0.5))


@operator("Softsign", wide=True)
def softsign(call: Call) -> Value:
    x = call.input(0)
    return call.map("div", x, call.map("add", call.map("abs", x), 1))


@operator("Mish", wide=True)
def mish(call: Call) -> Value:
    x = call.input(0)
    return call.map("mul", x, call.map("tanh", call.map("softplus", x)))


@operator("Swish", wide=True)
def swish(call: Call) -> Value:
    x = call.input(0)
    return call.map("mul", x, call.map("sigmoid", _scaled(call, x, "alpha", 1.0)))


@operator("Gelu", wide=True)
@operator("Gelu", domain="com.microsoft", wide=True)
def gelu(call: Call) -> Value:
    x, form = call.input(0), call.attribute("approximate", "none")
    if form not in ("none", "tanh"):
        raise RefusedError(f"its attribute `approximate` is `{form}`", "it can be none or tanh")
    return tanh_gelu(call, x) if form == "tanh" else exact_gelu(call, x)


def exact_gelu(call: Call, x: Value) -> Value:
    share = call.map("add", call.map("erf", call.map("mul", x, math.sqrt(0.5))), 1)
    return call.map("mul", call.map("mul", x, 0.5), share)


def tanh_gelu(call: Call, x: Value) -> Value:
    cube = call.map("mul", call.map("mul", x, x), x)
    inner = call.map("mul", call.map("add", x, call.map("mul", cube, 0.044715)), math.sqrt(2 / math.pi))
    return call.map("mul", call.map("mul", x, 0.5), call.map("add", call.map("tanh", inner), 1))


@operator("BiasGelu", domain="com.microsoft", wide=True)
def bias_gelu(call: Call) -> Value:
    return exact_gelu(call, call.map("add", call.input(0), call.input(1)))


@operator("FastGelu", domain="com.microsoft", wide=True)
def fast_gelu(call: Call) -> Value:
    bias = call.optional(1)
    return tanh_gelu(call, call.input(0) if bias is None else call.map("add", call.input(0), bias))


@operator("QuickGelu", domain="com.microsoft", wide=True)
def quick_gelu(call: Call) -> Value:
    x = call.input(0)
    return call.map("mul", x, call.map("sigmoid", _scaled(call, x, "alpha", 1.702)))


@operator("Shrink", wide=True)
def shrink(call: Call) -> Value:
    x, bias, limit = call.input(0), call.attribute("bias", 0.0), call.attribute("lambd", 0.5)
    upper = call.map("where", call.map("gt", x, limit), call.map("sub", x, bias), 0)
    return call.map("where", call.map("lt", x, -limit), call.map("add", x, bias), upper)


@operator("Reciprocal")
def reciprocal(call: Call) -> Value:
    return call.map("div", 1, call.input(0))


def _scaled(call: Call, value: Value, name: str, default: float) -> Value:
    factor = float(call.attribute(name, default))
    return value if factor == 1 else call.map("mul", value, factor)


def _exp_minus_one(call: Call, value: Value) -> Value:
    return call.map("sub", call.map("exp", value), 1)


def _ramp(call: Call, value: Value, slope: float, offset: float) -> Value:
    """From 0 to 1, straight in between."""
    line = call.map("add", call.map("mul", value, slope), offset)
    return call.map("max", call.map("min", line, 1), 0)
