"""A ``Scan`` cut out of its model."""

from collections.abc import Iterator
from typing import Any

from scanbuild.errors import InputError
from scanbuild.lowering.enclosing import Enclosing, Info, info_of
from scanbuild.lowering.graph import Scan
from scanbuild.lowering.outside import surroundings
from scanbuild.lowering.parts import Candidate, Model
from scanbuild.lowering.read import Reading, read_all
from scanbuild.lowering.scopes import body_of, captured, distinct
from scanbuild.lowering.translate.values import DTYPES, Value


def isolated(model: Model, candidate: Candidate) -> Any:
    """A model (``onnx.ModelProto``) of this ``Scan`` alone.

    Its inputs are the node's and what the body reads from outside, but for small constants, which it keeps. They are
    named as ``Port.onnx`` has them.
    """
    from onnx import ModelProto, helper

    body = body_of(candidate.node)
    node = type(candidate.node)()
    node.CopyFrom(candidate.node)
    batched = candidate.opset == 8
    inputs, outputs = distinct(candidate)
    reading = _reading(model, candidate)
    derived = {} if reading is None else reading.derived
    outside = captured(body)
    around = surroundings(model, candidate)
    kept = [name for name in outside if around.small(name) is not None]
    given = [name for name in outside if name not in kept and name not in derived]
    values = [
        *_inputs(candidate, body, inputs, around, batched=batched),
        *(_value(name, around.infos.get(name, Info())) for name in given),
    ]
    if reading is not None:
        _declare_results(reading.scan, body_of(node), batched=batched)
    del node.input[:], node.output[:]
    node.input.extend([*([""] if batched else []), *inputs])
    node.output.extend(outputs)
    before = (
        [made for name, value in derived.items() for made in size_nodes(name, value, reading.scan)] if reading else []
    )
    graph = helper.make_graph(
        [*before, node], "scan", values, [helper.make_empty_tensor_value_info(name) for name in outputs]
    )
    for name in kept:
        tensor = graph.initializer.add()
        tensor.CopyFrom(around.tensors[name])
        tensor.name = name
    alone = ModelProto(ir_version=model.proto.ir_version, graph=graph)
    alone.opset_import.extend(model.proto.opset_import)
    alone.functions.extend(model.proto.functions)
    return alone


def _inputs(candidate: Candidate, body: Any, names: tuple[str, ...], around: Enclosing, *, batched: bool) -> list[Any]:
    """The inputs of the node, each with its type: the model's own, or else that of the body's input."""
    given = candidate.node.input[1:] if batched else candidate.node.input
    values = []
    for name, old, inner in zip(names, given, body.input, strict=False):
        info = around.infos.get(old, Info())
        values.append(_value(name, Info(dtype=info.dtype or info_of(inner).dtype, dims=info.dims)))
    return values


def _value(name: str, info: Info) -> Any:
    """A declared value; sizes that are no numbers stay open, so that any can be tried."""
    from onnx import helper

    dims = None if info.dims is None else [dim if isinstance(dim, int) else None for dim in info.dims]
    return helper.make_tensor_value_info(name, info.dtype, dims)


def _reading(model: Model, candidate: Candidate) -> Reading | None:
    try:
        return read_all(model, candidate)
    except InputError:
        return None


def _declare_results(scan: Scan, body: Any, *, batched: bool) -> None:
    """Give a body's outputs the shapes that are known: ONNX Runtime wants their ranks, and may not find them itself."""
    from onnx import helper

    if all(item.type.tensor_type.HasField("shape") for item in body.output):
        return
    nodes = scan.by_name
    results = [*(state.after for state in scan.states), *(output.node for output in scan.outputs)]
    for item, name in zip(body.output, results, strict=True):
        shape = nodes[name].shape[1:] if batched else nodes[name].shape
        number = next(number for number, dtype in DTYPES.items() if dtype == nodes[name].dtype)
        item.CopyFrom(helper.make_tensor_value_info(item.name, number, [size.number for size in shape]))


def size_nodes(name: str, value: Value, scan: Scan) -> Iterator[Any]:
    """Nodes that make a value of sizes from the shapes of the inputs."""
    from onnx import TensorProto, helper

    parts = []
    for place, size in enumerate([] if value.known is None else value.known.flat):
        terms = []
        for number, (monomial, factor) in enumerate(size.terms):
            term = f"{name}/{place}/{number}"
            yield helper.make_node(
                "Constant", [], [term], value=helper.make_tensor("", TensorProto.INT64, [1], [factor])
            )
            for count, symbol in enumerate(monomial):
                yield from _size_node(f"{term}/{count}", symbol, scan)
                yield helper.make_node("Mul", [term, f"{term}/{count}"], [f"{term}/{count}/all"])
                term = f"{term}/{count}/all"
            terms.append(term)
        parts.append(f"{name}/{place}/sum")
        if terms:
            yield helper.make_node("Concat", terms, [f"{name}/{place}/terms"], axis=0)
            yield helper.make_node("ReduceSum", [f"{name}/{place}/terms"], [parts[-1]], keepdims=1)
        else:
            yield helper.make_node(
                "Constant", [], [parts[-1]], value=helper.make_tensor("", TensorProto.INT64, [1], [0])
            )
    yield helper.make_node("Concat", parts, [f"{name}/row"], axis=0)
    shape = helper.make_tensor("", TensorProto.INT64, [value.rank], [-1] * value.rank)
    yield helper.make_node("Constant", [], [f"{name}/shape"], value=shape)
    yield helper.make_node("Reshape", [f"{name}/row", f"{name}/shape"], [f"{name}/whole"])
    number = next(number for number, dtype in DTYPES.items() if dtype == value.dtype)
    yield helper.make_node("Cast", [f"{name}/whole"], [name], to=number)


def _size_node(name: str, symbol: str, scan: Scan) -> Iterator[Any]:
    from onnx import TensorProto, helper

    port, axis = next((p, i) for p in scan.inputs for i, size in enumerate(p.shape) if size.symbol == symbol)
    yield helper.make_node("Shape", [port.onnx], [f"{name}/shape"])
    yield helper.make_node(
        "Constant", [], [f"{name}/axis"], value=helper.make_tensor("", TensorProto.INT64, [1], [axis])
    )
    yield helper.make_node("Gather", [f"{name}/shape", f"{name}/axis"], [name], axis=0)
