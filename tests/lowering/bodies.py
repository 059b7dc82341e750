"""Random bodies over the operators that can be lowered, as a strategy of Hypothesis.

Every value has a dtype and dimensions, numbers or the symbols ``d`` and ``e``, which are kept apart as ONNX does; an
operation is applied where operands for it are at hand.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from hypothesis import strategies as st
from onnx import ModelProto, TensorProto, helper, numpy_helper

Dims = tuple[int | str, ...]
SIZES = {"d": 3, "e": 2, "t": 4}

CODES = {
    "float32": TensorProto.FLOAT,
    "float16": TensorProto.FLOAT16,
    "int32": TensorProto.INT32,
    "int64": TensorProto.INT64,
    "int8": TensorProto.INT8,
    "uint8": TensorProto.UINT8,
    "uint32": TensorProto.UINT32,
    "bool": TensorProto.BOOL,
}
FLOATS, INTEGERS = ("float32", "float16"), ("int32", "int8", "uint8", "uint32", "int64")
_LENGTHS: tuple[int | str, ...] = (1, 2, 3, 4, "d", "d", "e")


@dataclass(frozen=True)
class Value:
    """A value of the body."""

    name: str
    dtype: str
    dims: Dims


@dataclass
class Body:
    """A body in the making; ``draw`` is Hypothesis's."""

    draw: Callable[[Any], Any]
    pool: list[Value] = field(default_factory=list)
    nodes: list[Any] = field(default_factory=list)

    def choose(self, options: Sequence[Any]) -> Any:
        return self.draw(st.sampled_from(list(options)))

    def pick(self, accept: Callable[[Value], bool]) -> Value | None:
        """A value that is accepted, rather a late one; None if there is none."""
        found = [value for value in self.pool if accept(value)]
        return self.choose(found[::-1]) if found else None

    def add(self, operator: str, inputs: Sequence[str], dtype: str, dims: Dims, **attributes: Any) -> Value:
        """A node with one output."""
        value = Value(f"v{len(self.nodes)}", dtype, dims)
        self.nodes.append(helper.make_node(operator, list(inputs), [value.name], **attributes))
        self.pool.append(value)
        return value

    def constant(self, array: Any) -> str:
        name = f"c{len(self.nodes)}"
        self.nodes.append(helper.make_node("Constant", [], [name], value=numpy_helper.from_array(np.asarray(array))))
        return name


def broadcast(one: Dims, other: Dims) -> Dims | None:
    """The common dimensions; None if there are none."""
    rank = max(len(one), len(other))
    padded = [(1,) * (rank - len(dims)) + dims for dims in (one, other)]
    joined = []
    for a, b in zip(*padded, strict=True):
        if a != b and 1 not in (a, b):
            return None
        joined.append(b if a == 1 else a)
    return tuple(joined)


_UNARY = ["Neg", "Abs", "Floor", "Ceil", "Round", "Sqrt", "Exp", "Log", "Sin", "Cos", "Tanh", "Sigmoid", "Relu", "Erf"]
_UNARY += ["Softplus", "Softsign", "Elu", "Selu", "LeakyRelu", "HardSigmoid", "HardSwish", "Gelu", "Mish", "Reciprocal"]
_UNARY += ["Atan", "Sinh", "Cosh", "Asinh", "Sign", "Celu", "ThresholdedRelu", "Identity"]
_BINARY = ["Add", "Sub", "Mul", "Div", "Min", "Max", "PRelu", "Mod"]
_COMPARE = ["Equal", "Less", "Greater", "LessOrEqual", "GreaterOrEqual"]
_REDUCE = ["ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceL1", "ReduceL2", "ReduceSumSquare", "ReduceProd"]


def float_unary(body: Body) -> None:
    if value := body.pick(lambda item: item.dtype in FLOATS):
        body.add(body.choose(_UNARY), [value.name], value.dtype, value.dims)


def float_clip(body: Body) -> None:
    if value := body.pick(lambda item: item.dtype in FLOATS):
        low = body.constant(np.array(body.choose([-1.0, 0.0, 0.25]), value.dtype))
        high = body.constant(np.array(body.choose([0.5, 1.0, 3.0]), value.dtype))
        body.add("Clip", [value.name, low, high], value.dtype, value.dims)


def _pair(body: Body, dtypes: Sequence[str]) -> tuple[Value, str, Dims] | None:
    """Operands of one dtype, the second a constant at times."""
    value = body.pick(lambda item: item.dtype in dtypes)
    if value is None:
        return None
    other = body.pick(lambda item: item.dtype == value.dtype and broadcast(item.dims, value.dims) is not None)
    assert other is not None
    if body.choose([0, 0, 0, 1]):
        number = body.choose([1, 2, 3]) if value.dtype in INTEGERS else body.choose([0.5, -0.25, 1.0, 1.5])
        return value, body.constant(np.array(number != 2 if value.dtype == "bool" else number, value.dtype)), value.dims
    dims = broadcast(value.dims, other.dims)
    assert dims is not None
    return value, other.name, dims


def float_binary(body: Body) -> None:
    if found := _pair(body, FLOATS):
        value, other, dims = found
        operator = body.choose(_BINARY)
        if operator == "PRelu" and dims != value.dims:
            operator = "Mul"
        body.add(operator, [value.name, other], value.dtype, dims, **({"fmod": 1} if operator == "Mod" else {}))


def integer_binary(body: Body) -> None:
    if found := _pair(body, INTEGERS):
        value, other, dims = found
        operators = ["Add", "Sub", "Mul", "BitwiseAnd", "BitwiseOr", "BitwiseXor"]
        if value.dtype in ("int32", "int64", "uint32"):
            operators += ["Min", "Max", "Div", "Mod"]
        if value.dtype in ("uint32", "uint8"):
            operators.append("BitShift")
        operator = body.choose(operators)
        if operator in ("Div", "Mod", "BitShift"):
            other, dims = body.constant(np.array(body.choose([1, 2, 3]), value.dtype)), value.dims
        attributes = {"direction": body.choose(["LEFT", "RIGHT"])} if operator == "BitShift" else {}
        body.add(operator, [value.name, other], value.dtype, dims, **attributes)


def integer_unary(body: Body) -> None:
    if value := body.pick(lambda item: item.dtype in INTEGERS):
        signed = value.dtype.startswith("i")
        operators = ["BitwiseNot", "Identity", *(["Neg", "Abs", "Sign"] if signed and value.dtype != "int16" else [])]
        body.add(body.choose(operators), [value.name], value.dtype, value.dims)


def comparison(body: Body) -> None:
    if found := _pair(body, ("float32", "int32", "int64")):
        value, other, dims = found
        body.add(body.choose(_COMPARE), [value.name, other], "bool", dims)


def logic(body: Body) -> None:
    if found := _pair(body, ("bool",)):
        value, other, dims = found
        if body.choose([0, 0, 1]):
            body.add("Not", [value.name], "bool", value.dims)
        else:
            body.add(body.choose(["And", "Or", "Xor"]), [value.name, other], "bool", dims)


def where(body: Body) -> None:
    mask = body.pick(lambda item: item.dtype == "bool")
    found = _pair(body, ("float32", "int32", "uint8", "int64"))
    if mask and found:
        value, other, dims = found
        whole = broadcast(mask.dims, dims)
        if whole is not None:
            body.add("Where", [mask.name, value.name, other], value.dtype, whole)


def cast(body: Body) -> None:
    if value := body.pick(lambda item: True):
        dtype = body.choose(["float32", "float32", "int32", "bool", "float16", "int64", "uint8", "int8", "uint32"])
        body.add("Cast", [value.name], dtype, value.dims, to=CODES[dtype])


def several(body: Body) -> None:
    if found := _pair(body, ("float32",)):
        value, other, dims = found
        body.add(body.choose(["Sum", "Mean", "Max", "Min"]), [value.name, other, value.name], value.dtype, dims)


def transpose(body: Body) -> None:
    if value := body.pick(lambda item: len(item.dims) > 1):
        perm = body.draw(st.permutations(range(len(value.dims))))
        body.add("Transpose", [value.name], value.dtype, tuple(value.dims[axis] for axis in perm), perm=perm)


def unsqueeze(body: Body) -> None:
    if value := body.pick(lambda item: len(item.dims) < 3):
        axis = body.draw(st.integers(0, len(value.dims)))
        axes = body.constant(np.array([axis], np.int64))
        body.add("Unsqueeze", [value.name, axes], value.dtype, (*value.dims[:axis], 1, *value.dims[axis:]))


def squeeze(body: Body) -> None:
    if value := body.pick(lambda item: 1 in item.dims):
        axis = body.choose([at for at, size in enumerate(value.dims) if size == 1])
        axes = body.constant(np.array([axis - len(value.dims) * body.choose([0, 1])], np.int64))
        body.add("Squeeze", [value.name, axes], value.dtype, (*value.dims[:axis], *value.dims[axis + 1 :]))


def flatten(body: Body) -> None:
    if value := body.pick(lambda item: len(item.dims) > 0 and all(isinstance(size, int) for size in item.dims)):
        count = int(np.prod([int(size) for size in value.dims]))
        wanted = body.choose([(count,), (1, count), (count, 1)])
        text = np.array([-1 if size == count else size for size in wanted][: len(wanted)], np.int64)
        text = np.array(wanted, np.int64) if (text == -1).sum() > 1 else text
        body.add("Reshape", [value.name, body.constant(text)], value.dtype, wanted)


def expand(body: Body) -> None:
    if value := body.pick(lambda item: len(item.dims) < 3):
        shape = body.constant(np.array([2, *(1 for _ in value.dims)], np.int64))
        body.add("Expand", [value.name, shape], value.dtype, (2, *value.dims))


def cut(body: Body) -> None:
    if value := body.pick(lambda item: any(isinstance(size, int) and size > 1 for size in item.dims)):
        axis = body.choose([at for at, size in enumerate(value.dims) if isinstance(size, int) and size > 1])
        size = int(value.dims[axis])
        start, step = body.draw(st.integers(0, size - 1)), body.choose([1, 1, 2, -1])
        end = body.draw(st.integers(start + 1, size + 1)) if step > 0 else -(2**31)
        kept = len(range(size)[start : None if step < 0 else end : step])
        parts = [body.constant(np.array([item], np.int64)) for item in (start, end, axis, step)]
        dims = (*value.dims[:axis], kept, *value.dims[axis + 1 :])
        body.add("Slice", [value.name, *parts], value.dtype, dims)


def concat(body: Body) -> None:
    if value := body.pick(lambda item: any(isinstance(size, int) for size in item.dims)):
        axis = body.choose([at for at, size in enumerate(value.dims) if isinstance(size, int)])
        dims = (*value.dims[:axis], 2 * int(value.dims[axis]), *value.dims[axis + 1 :])
        if int(dims[axis]) <= 8:
            body.add("Concat", [value.name, value.name], value.dtype, dims, axis=axis)


def gather(body: Body) -> None:
    if value := body.pick(lambda item: any(isinstance(size, int) for size in item.dims)):
        axis = body.choose([at for at, size in enumerate(value.dims) if isinstance(size, int)])
        size = int(value.dims[axis])
        indices = body.draw(st.lists(st.integers(-size, size - 1), min_size=1, max_size=3))
        dims = (*value.dims[:axis], len(indices), *value.dims[axis + 1 :])
        index = body.constant(np.array(indices, np.int64))
        body.add("Gather", [value.name, index], value.dtype, dims, axis=axis)


def pad(body: Body) -> None:
    if value := body.pick(lambda item: item.dtype == "float32" and any(isinstance(size, int) for size in item.dims)):
        axis = body.choose([at for at, size in enumerate(value.dims) if isinstance(size, int)])
        pads = np.zeros(2 * len(value.dims), np.int64)
        pads[axis], pads[len(value.dims) + axis] = body.choose([(1, 0), (0, 1), (1, 1)])
        dims = (*value.dims[:axis], int(value.dims[axis]) + int(pads.sum()), *value.dims[axis + 1 :])
        mode = body.choose(["constant", "edge"])
        body.add("Pad", [value.name, body.constant(pads)], value.dtype, dims, mode=mode)


def reduction(body: Body) -> None:
    if value := body.pick(lambda item: item.dtype == "float32" and len(item.dims) > 0):
        axis = body.draw(st.integers(0, len(value.dims) - 1))
        keep = body.choose([0, 1])
        dims = (*value.dims[:axis], *((1,) if keep else ()), *value.dims[axis + 1 :])
        axes = body.constant(np.array([axis], np.int64))
        body.add(body.choose(_REDUCE), [value.name, axes], value.dtype, dims, keepdims=keep)


def extreme_index(body: Body) -> None:
    if value := body.pick(lambda item: item.dtype == "float32" and len(item.dims) > 0):
        axis, keep = body.draw(st.integers(-len(value.dims), -1)), body.choose([0, 1])
        at = axis + len(value.dims)
        dims = (*value.dims[:at], *((1,) if keep else ()), *value.dims[at + 1 :])
        last = body.choose([0, 1])
        operator = body.choose(["ArgMax", "ArgMin"])
        body.add(operator, [value.name], "int64", dims, axis=axis, keepdims=keep, select_last_index=last)


def along_an_axis(body: Body) -> None:
    if value := body.pick(lambda item: item.dtype == "float32" and len(item.dims) > 0):
        axis = body.draw(st.integers(-len(value.dims), len(value.dims) - 1))
        operator = body.choose(["Softmax", "LogSoftmax", "CumSum"])
        if operator == "CumSum":
            flags = {"exclusive": body.choose([0, 1]), "reverse": body.choose([0, 1])}
            body.add("CumSum", [value.name, body.constant(np.int64(axis))], value.dtype, value.dims, **flags)
        else:
            body.add(operator, [value.name], value.dtype, value.dims, axis=axis)


def matrix_product(body: Body) -> None:
    left = body.pick(lambda item: item.dtype == "float32" and len(item.dims) == 2)
    if left is None:
        return
    right = body.pick(lambda item: item.dtype == "float32" and len(item.dims) == 2 and item.dims[0] == left.dims[1])
    if right is not None:
        body.add("MatMul", [left.name, right.name], "float32", (left.dims[0], right.dims[1]))
    else:
        body.add("Einsum", [left.name, left.name], "float32", (left.dims[0], left.dims[0]), equation="ij,kj->ik")


OPERATIONS = [float_unary] * 3 + [float_binary] * 4 + [float_clip, integer_binary, integer_binary, integer_unary]
OPERATIONS += [comparison, logic, where, cast, several, transpose, unsqueeze, squeeze, flatten, expand, cut, concat]
OPERATIONS += [gather, pad, reduction, reduction, extreme_index, along_an_axis, matrix_product]


@st.composite
def models(draw: Callable[[Any], Any]) -> ModelProto:
    """A model with one Scan, its sizes ``d``, ``e`` and ``t``."""
    body = Body(draw)
    dtypes = st.sampled_from(["float32"] * 5 + ["int32", "bool", "float16", "uint8", "int64", "uint32", "int8"])
    dims = st.lists(st.sampled_from(_LENGTHS), max_size=3).map(tuple)
    states = [Value(f"s{at}", draw(dtypes), draw(dims)) for at in range(draw(st.integers(0, 3)))]
    elements = [Value(f"x{at}", draw(dtypes), draw(dims)) for at in range(draw(st.integers(1, 3)))]
    captures = [Value(f"w{at}", draw(dtypes), draw(dims)) for at in range(draw(st.integers(0, 1)))]
    body.pool += [*states, *elements, *captures]
    for _ in range(draw(st.integers(1, 9))):
        draw(st.sampled_from(OPERATIONS))(body)
    after = [_after(body, state, at) for at, state in enumerate(states)]
    given = _outputs(body, least=0 if states else 1)
    return _model(draw, body, states, elements, captures, after, given)


def _after(body: Body, state: Value, at: int) -> Value:
    """The new state: a value of its kind, or one that broadcasting brings to it."""
    same = body.pick(lambda item: (item.dtype, item.dims) == (state.dtype, state.dims))
    assert same is not None
    fits = body.pick(lambda item: item.dtype == state.dtype and broadcast(item.dims, state.dims) == state.dims)
    assert fits is not None
    if state.dtype in FLOATS and body.choose([0, 1]):
        return body.add(body.choose(["Add", "Mul", "Max", "Sub"]), [state.name, fits.name], state.dtype, state.dims)
    return body.add("Identity", [same.name], state.dtype, state.dims)


def _outputs(body: Body, least: int) -> list[Value]:
    found = []
    for _ in range(body.draw(st.integers(least, 2))):
        value = body.pick(lambda item: len(item.dims) <= 3)
        assert value is not None
        found.append(body.add("Identity", [value.name], value.dtype, value.dims))
    return found


def _model(
    draw: Callable[[Any], Any],
    body: Body,
    states: list[Value],
    elements: list[Value],
    captures: list[Value],
    after: list[Value],
    given: list[Value],
) -> ModelProto:
    in_axes = [draw(st.integers(-len(item.dims) - 1, len(item.dims))) for item in elements]
    out_axes = [draw(st.integers(-len(item.dims) - 1, len(item.dims))) for item in given]
    graph = helper.make_graph(
        body.nodes,
        "step",
        [_info(item.name, item.dtype, item.dims) for item in (*states, *elements)],
        [_info(item.name, item.dtype, item.dims) for item in (*after, *given)],
    )
    attributes: dict[str, Any] = {}
    if given:
        attributes["scan_output_axes"] = out_axes
        attributes["scan_output_directions"] = [draw(st.sampled_from([0, 1])) for _ in given]
    node = helper.make_node(
        "Scan",
        [*(f"init_{item.name}" for item in states), *(f"all_{item.name}" for item in elements)],
        [*(f"final_{item.name}" for item in states), *(f"out_{at}" for at in range(len(given)))],
        name="loop",
        body=graph,
        num_scan_inputs=len(elements),
        scan_input_axes=in_axes,
        scan_input_directions=[draw(st.sampled_from([0, 1])) for _ in elements],
        **attributes,
    )
    inputs = [
        *(_info(f"init_{item.name}", item.dtype, item.dims) for item in states),
        *(
            _info(f"all_{item.name}", item.dtype, _along(item, axis))
            for item, axis in zip(elements, in_axes, strict=True)
        ),
        *(_info(item.name, item.dtype, item.dims) for item in captures),
    ]
    outputs = [
        *(_info(f"final_{item.name}", item.dtype, item.dims) for item in states),
        *(
            _info(f"out_{at}", item.dtype, _along(item, axis))
            for at, (item, axis) in enumerate(zip(given, out_axes, strict=True))
        ),
    ]
    whole = helper.make_graph([node], "model", inputs, outputs)
    return helper.make_model(whole, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)


def _info(name: str, dtype: str, dims: Dims) -> Any:
    return helper.make_tensor_value_info(name, CODES[dtype], list(dims))


def _along(value: Value, axis: int) -> Dims:
    dims = list(value.dims)
    dims.insert(axis % (len(dims) + 1), "t")
    return tuple(dims)
