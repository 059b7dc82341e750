"""A ``Scan`` cut out of its model."""

from collections.abc import Iterator
from typing import Any

from scanbuild.lowering.enclosing import Enclosing, Info, enclosing, info_of
from scanbuild.lowering.parts import Candidate, Model, subgraphs


def captured(body: Any) -> tuple[str, ...]:
    """The names that a body, or a graph within it, reads from outside, in the order in which it does."""
    return tuple(dict.fromkeys(_free_names(body)))


def _free_names(graph: Any) -> Iterator[str]:
    known = {item.name for item in (*graph.input, *graph.initializer)}
    known |= {item.values.name for item in graph.sparse_initializer}
    for node in graph.node:
        yield from (name for name in node.input if name and name not in known)
        for inner in subgraphs(node):
            yield from (name for name in _free_names(inner) if name not in known)
        known.update(node.output)
    yield from (item.name for item in graph.output if item.name not in known)


def _all_names(graph: Any) -> Iterator[str]:
    for item in (*graph.input, *graph.initializer, *graph.output):
        yield item.name
    for node in graph.node:
        yield from (*node.input, *node.output)
        for inner in subgraphs(node):
            yield from _all_names(inner)


def distinct(node: Any, body: Any) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Names for the inputs and the outputs of a ``Scan`` that is alone: the model's, made different where they are not.

    One value may be the start of two states, or be read by the body besides.
    """
    taken = set(_all_names(body))
    inputs = tuple(_once(name or "input", taken) for name in node.input)
    outputs = tuple(_once(name or "output", taken) for name in node.output)
    return inputs, outputs


def _once(name: str, taken: set[str]) -> str:
    number, free = 1, name
    while free in taken:
        number += 1
        free = f"{name}_{number}"
    taken.add(free)
    return free


def isolated(model: Model, candidate: Candidate) -> Any:
    """A model (``onnx.ModelProto``) of this ``Scan`` alone.

    Its inputs are the node's and what the body reads from outside, but for small constants, which it keeps. They are
    named as ``Port.onnx`` has them.
    """
    from onnx import ModelProto, helper

    body = next(item.g for item in candidate.node.attribute if item.name == "body")
    node = type(candidate.node)()
    node.CopyFrom(candidate.node)
    batched = candidate.opset == 8
    inputs, outputs = distinct(_without_lengths(node) if batched else node, body)
    outside = captured(body)
    around = enclosing(model, candidate, [*candidate.node.input, *outside])
    kept = [name for name in outside if around.small(name) is not None]
    given = [name for name in outside if name not in kept]
    values = [
        *_inputs(candidate, body, inputs, around, batched=batched),
        *(_value(name, around.infos.get(name, Info())) for name in given),
    ]
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


def _without_lengths(node: Any) -> Any:
    """A node of version 8 without its first input, the lengths of the sequences."""
    rest = type(node)()
    rest.CopyFrom(node)
    del rest.input[0]
    return rest


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
