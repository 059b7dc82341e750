"""A ``Scan`` cut out of its model."""

from typing import Any

from scanbuild.errors import InputError
from scanbuild.lowering.enclosing import Enclosing, Info, info_of
from scanbuild.lowering.outside import surroundings
from scanbuild.lowering.parts import Candidate, Model
from scanbuild.lowering.read import read_scan
from scanbuild.lowering.scopes import body_of, captured, distinct
from scanbuild.lowering.translate.values import DTYPES


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
    outside = captured(body)
    around = surroundings(model, candidate)
    kept = [name for name in outside if around.small(name) is not None]
    given = [name for name in outside if name not in kept]
    values = [
        *_inputs(candidate, body, inputs, around, batched=batched),
        *(_value(name, around.infos.get(name, Info())) for name in given),
    ]
    _declare_results(model, candidate, body_of(node))
    del node.input[:], node.output[:]
    node.input.extend([*([""] if batched else []), *inputs])
    node.output.extend(outputs)
    graph = helper.make_graph([node], "scan", values, [helper.make_empty_tensor_value_info(name) for name in outputs])
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


def _declare_results(model: Model, candidate: Candidate, body: Any) -> None:
    """Give a body's outputs the shapes that are known: ONNX Runtime wants their ranks, and may not find them itself."""
    from onnx import helper

    if all(item.type.tensor_type.HasField("shape") for item in body.output):
        return
    try:
        scan = read_scan(model, candidate)
    except InputError:
        return
    nodes = scan.by_name
    results = [*(state.after for state in scan.states), *(output.node for output in scan.outputs)]
    for item, name in zip(body.output, results, strict=True):
        shape = nodes[name].shape[1:] if candidate.opset == 8 else nodes[name].shape
        number = next(number for number, dtype in DTYPES.items() if dtype == nodes[name].dtype)
        item.CopyFrom(helper.make_tensor_value_info(item.name, number, [size.number for size in shape]))
