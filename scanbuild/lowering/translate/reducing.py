"""Operators that bring an axis, or several, down to one element, and those that run along an axis."""

from collections.abc import Callable, Sequence
from typing import Final

from scanbuild.lowering.sizes import ONE, product
from scanbuild.lowering.translate.registry import Call, is_float, operator
from scanbuild.lowering.translate.shaping import iota
from scanbuild.lowering.translate.values import RefusedError, Value

_PLAIN: Final = {"ReduceSum": "add", "ReduceProd": "mul", "ReduceMax": "max", "ReduceMin": "min"}
_OTHER: Final = ("ReduceMean", "ReduceL1", "ReduceL2", "ReduceSumSquare", "ReduceLogSum", "ReduceLogSumExp")


@operator(*_PLAIN, *_OTHER, wide=True)
def reduce(call: Call) -> Value:
    value = call.input(0)
    axes = call.axes(value.rank, 1, since=13 if call.operator == "ReduceSum" else 18)
    if not axes:
        if call.attribute("noop_with_empty_axes", 0):
            return _REDUCTIONS[call.operator](call, value, ())
        axes = tuple(range(value.rank))
    made = _REDUCTIONS[call.operator](call, value, axes)
    return made if call.attribute("keepdims", 1) else without(call, made, axes)


def without(call: Call, value: Value, axes: Sequence[int]) -> Value:
    """A value without axes of size 1."""
    return call.builder.reshape(value, tuple(size for axis, size in enumerate(value.shape) if axis not in axes))


def total(call: Call, value: Value, axes: Sequence[int]) -> Value:
    return call.builder.reduce("add", value, axes)


def mean(call: Call, value: Value, axes: Sequence[int]) -> Value:
    """The sum by the number of elements; of integers, towards zero."""
    count = product([value.shape[axis] for axis in axes])
    return call.map("div", total(call, value, axes), call.builder.sizes(count, value.dtype))


def _extreme(call: Call, value: Value, axes: Sequence[int]) -> Value:
    """A bool is the smaller one if it is false."""
    kind = _PLAIN[call.operator]
    if value.dtype == "bool":
        return call.builder.cast(call.builder.reduce(kind, call.builder.cast(value, "uint32"), axes), "bool")
    return call.builder.reduce(kind, value, axes)


def log_sum_exp(call: Call, value: Value, axes: Sequence[int]) -> Value:
    """Nothing overflows: the largest element is taken out of the sum, if it is finite."""
    peak = call.builder.reduce("max", value, axes)
    peak = call.map("where", call.map("is_inf", peak), 0, peak)
    rest = total(call, call.map("exp", call.map("sub", value, peak)), axes)
    return call.map("add", call.map("log", rest), peak)


def _sum_of_squares(call: Call, value: Value, axes: Sequence[int]) -> Value:
    return total(call, call.map("mul", value, value), axes)


_REDUCTIONS: Final[dict[str, Callable[[Call, Value, Sequence[int]], Value]]] = {
    "ReduceSum": total,
    "ReduceProd": lambda call, value, axes: call.builder.reduce("mul", value, axes),
    "ReduceMax": _extreme,
    "ReduceMin": _extreme,
    "ReduceMean": mean,
    "ReduceL1": lambda call, value, axes: total(call, call.map("abs", value), axes),
    "ReduceL2": lambda call, value, axes: call.map("sqrt", _sum_of_squares(call, value, axes)),
    "ReduceSumSquare": _sum_of_squares,
    "ReduceLogSum": lambda call, value, axes: call.map("log", total(call, value, axes)),
    "ReduceLogSumExp": log_sum_exp,
}


@operator("ArgMax", "ArgMin")
def arg(call: Call) -> Value:
    value = call.input(0)
    axis = call.axis(call.attribute("axis", 0), value.rank)
    last = bool(call.attribute("select_last_index", 0))
    found = call.builder.arg("max" if call.operator == "ArgMax" else "min", value, axis, last=last)
    return found if call.attribute("keepdims", 1) else without(call, found, [axis])


@operator("CumSum")
def running_sum(call: Call) -> Value:
    value = call.input(0)
    axis = call.axis(call.known_ints(1, "its axis")[0], value.rank)
    exclusive, reverse = bool(call.attribute("exclusive", 0)), bool(call.attribute("reverse", 0))
    return call.builder.cumulate(value, axis, exclusive=exclusive, reverse=reverse)


def _softmax_axes(call: Call, value: Value) -> tuple[int, ...]:
    """One axis; before opset 13 all from one on, which count as one."""
    if call.version >= 13:
        return (call.axis(call.attribute("axis", -1), value.rank),)
    axis = call.attribute("axis", 1)
    return tuple(range(axis if axis == value.rank else call.axis(axis, value.rank), value.rank))


@operator("Softmax", "LogSoftmax", wide=True)
def softmax(call: Call) -> Value:
    value = call.input(0)
    axes = _softmax_axes(call, value)
    moved = call.map("sub", value, call.builder.reduce("max", value, axes))
    raised = call.map("exp", moved)
    whole = total(call, raised, axes)
    if call.operator == "LogSoftmax":
        return call.map("sub", moved, call.map("log", whole))
    return call.map("div", raised, whole)


@operator("Hardmax")
def hardmax(call: Call) -> Value:
    """1 where the first of the largest elements is."""
    value = call.input(0)
    if not is_float(value):
        raise RefusedError(f"this is not supported for {value.dtype}", "cast to float32")
    axes = _softmax_axes(call, value)
    flat = value
    if len(axes) != 1:
        sizes = (product(value.shape[: value.rank - len(axes)]), product([value.shape[axis] for axis in axes]))
        flat, axes = call.builder.reshape(value, sizes), (1,)
    axis = axes[0]
    first = call.builder.arg("max", flat, axis, last=False)
    places = tuple(flat.shape[axis] if i == axis else ONE for i in range(flat.rank))
    numbers = call.builder.reshape(iota(call, flat.shape[axis], "int64"), places)
    return call.builder.reshape(call.builder.cast(call.map("eq", numbers, first), value.dtype), value.shape)


@operator("LayerNormalization")
def layer_normalization(call: Call) -> list[Value]:
    """The mean and the inverse deviation stay float32, whatever the type of the input."""
    dtype = call.input(0).dtype
    made, middle, inverse = _normalized(call.widened())
    return [call.builder.cast(made, dtype), middle, inverse]


def _normalized(call: Call) -> tuple[Value, Value, Value]:
    x, scale, bias = call.input(0), call.input(1), call.optional(2)
    axes = range(call.axis(call.attribute("axis", -1), x.rank), x.rank)
    middle = mean(call, x, axes)
    centred = call.map("sub", x, middle)
    inverse = _inverse_deviation(call, mean(call, call.map("mul", centred, centred), axes))
    made = call.map("mul", call.map("mul", centred, inverse), scale)
    return made if bias is None else call.map("add", made, bias), middle, inverse


@operator("RMSNormalization", wide=True)
def rms_normalization(call: Call) -> Value:
    x, scale = call.input(0), call.input(1)
    axes = range(call.axis(call.attribute("axis", -1), x.rank), x.rank)
    inverse = _inverse_deviation(call, mean(call, call.map("mul", x, x), axes))
    return call.map("mul", call.map("mul", x, inverse), scale)


def _inverse_deviation(call: Call, variance: Value) -> Value:
    return call.map("div", 1, call.map("sqrt", call.map("add", variance, call.attribute("epsilon", 1e-5))))


@operator("LpNormalization", wide=True)
def lp_normalization(call: Call) -> Value:
    """By the norm along an axis; where that is zero, zero stays."""
    x, order = call.input(0), call.attribute("p", 2)
    axes = [call.axis(call.attribute("axis", -1), x.rank)]
    if order not in (1, 2):
        raise RefusedError(f"its p is {order}", "it can be 1 or 2")
    norm = total(call, call.map("abs", x), axes) if order == 1 else call.map("sqrt", _sum_of_squares(call, x, axes))
    return call.map("where", call.map("eq", norm, 0), 0, call.map("div", x, norm))


@operator("BatchNormalization", wide=True)
def batch_normalization(call: Call) -> Value:
    """In inference: with a mean and a variance that are given, a channel (axis 1) each."""
    x = call.input(0)
    if call.attribute("training_mode", 0) or any(call.wants(i) for i in range(1, len(call.outputs))):
        raise RefusedError("it is in training mode", "export the model for inference")
    shape = (x.shape[1] if x.rank > 1 else ONE, *[ONE] * (x.rank - 2))
    scale, bias, middle, variance = (call.builder.reshape(call.input(i), shape) for i in range(1, 5))
    factor = call.map("mul", _inverse_deviation(call, variance), scale)
    return call.map("add", call.map("mul", call.map("sub", x, middle), factor), bias)


@operator("TopK")
def top(call: Call) -> list[Value]:
    """For k = 1 only, which is the largest or smallest element and its index."""
    value = call.input(0)
    count = int(call.attribute("k", 0)) if call.version < 10 else call.known_ints(1, "its k")[0]
    if count != 1:
        raise RefusedError(f"it takes {count} elements", "only k = 1 can be lowered")
    axis = call.axis(call.attribute("axis", -1), value.rank)
    kind = "max" if call.attribute("largest", 1) else "min"
    return [call.builder.reduce(kind, value, [axis]), call.builder.arg(kind, value, axis, last=False)]
