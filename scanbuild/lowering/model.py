"""ONNX models: reading them, finding their ``Scan`` nodes, and cutting one out for ONNX Runtime to run it alone."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from scanbuild.errors import InputError, Problem
from scanbuild.lowering.external import ExternalData
from scanbuild.lowering.isolate import isolated
from scanbuild.lowering.parts import SMALL, Candidate, Model, opset_of, subgraphs

__all__ = ["SMALL", "Candidate", "Model", "candidates", "find", "isolated", "read_model"]

_LARGEST_FILE: Final = 2**31 - 1
_DEEPEST: Final = 32
_MOST_NODES: Final = 10_000


def read_model(data: bytes, where: str, folder: Path | None) -> Model:
    """A model from the bytes of a file. External data is read from files within ``folder``, and from nowhere else.

    InputError if it is no ONNX model, of an opset without ``Scan`` or a newer one than is known, or if external data
    is missing or lies outside of the folder.
    """
    from onnx import ModelProto

    if len(data) > _LARGEST_FILE:
        raise InputError(Problem(message="the model is larger than 2 GiB, which no ONNX file can be", file=where))
    proto = ModelProto()
    try:
        proto.ParseFromString(data)
    except Exception:
        proto = ModelProto()
    if not proto.HasField("graph") or not proto.opset_import:
        raise InputError(
            Problem(
                message="this is no ONNX model, or only a part of one: it has no graph or no opset",
                file=where,
                hint="give a file that onnx.checker.check_model accepts",
            )
        )
    if not _is_text(proto):
        raise InputError(Problem(message="a name in the model is no UTF-8 text: the file is damaged", file=where))
    if any(_has_scan(function) for function in proto.functions):
        proto = _inlined(proto, where)
    ExternalData(where, folder, SMALL).read_into(proto)
    return Model(proto=proto, where=where)


def _is_text(proto: Any) -> bool:
    """Whether all names are text; protobuf hands out what is no UTF-8 as bytes, or not at all."""
    try:
        parts = [proto.graph, *proto.functions]
        names = [item.domain for item in proto.opset_import]
        names += [name for function in proto.functions for name in (*function.input, *function.output)]
        return all(isinstance(name, str) for name in names) and all(map(_has_text, parts))
    except UnicodeDecodeError:
        return False


def _has_text(part: Any) -> bool:
    values = () if not hasattr(part, "initializer") else (*part.input, *part.output, *part.value_info)
    names = [part.name, *(tensor.name for tensor in getattr(part, "initializer", ()))]
    names += [name for value in values for name in (value.name, *_dims(value))]
    for node in part.node:
        names += [node.name, node.op_type, node.domain, *node.input, *node.output]
        names += [text for item in node.attribute for text in (item.name, item.ref_attr_name)]
    inner = (graph for node in part.node for graph in subgraphs(node))
    return all(isinstance(name, str) for name in names) and all(map(_has_text, inner))


def _dims(value: Any) -> list[Any]:
    return [dim.dim_param for dim in value.type.tensor_type.shape.dim]


def _has_scan(part: Any) -> bool:
    return any(node.op_type == "Scan" or any(map(_has_scan, subgraphs(node))) for node in part.node)


def _inlined(proto: Any, where: str) -> Any:
    """The model without functions of its own, so that a ``Scan`` in one of them has a place."""
    from onnx import inliner

    try:
        _count_nodes(proto)
        return inliner.inline_local_functions(proto)
    except Exception as error:
        text = f"the model's functions contain a Scan, and could not be inlined: {error}"
        raise InputError(Problem(message=text, file=where)) from None


def _count_nodes(proto: Any) -> None:
    """ValueError if functions that call functions make too many nodes, or never end."""
    functions = {(item.domain, item.name): item for item in proto.functions}
    counts: dict[tuple[str, str], int] = {}
    for _ in range(len(functions)):
        for key, function in functions.items():
            counts[key] = min(_MOST_NODES + 1, _size(function, counts))
    if _size(proto.graph, counts) > _MOST_NODES or any(_size(functions[key], counts) > _MOST_NODES for key in counts):
        raise ValueError("they have too many nodes, or call each other without end")


def _size(part: Any, counts: dict[tuple[str, str], int]) -> int:
    inner = sum(_size(graph, counts) for node in part.node for graph in subgraphs(node))
    return inner + sum(1 + counts.get((node.domain, node.op_type), 0) for node in part.node)


def candidates(model: Model) -> tuple[Candidate, ...]:
    """Every ``Scan`` of the model, in the order of the nodes, one within another after the other.

    One without a name, or whose name another has, is called ``Scan_0``, ``Scan_1``, ... by its place.
    """
    opset = opset_of(model.proto) or 0
    found = [(node, graphs, path) for node, graphs, path in _walk((model.proto.graph,), "") if node.op_type == "Scan"]
    given = [node.name for node, _, _ in found]
    names = [name if name and given.count(name) == 1 else "" for name in given]
    result = []
    for number, (node, graphs, path) in enumerate(found):
        name = names[number] or _free(f"Scan_{number}", names)
        names[number] = name
        result.append(Candidate(name=name, path=f"{path}{name}", node=node, graphs=graphs, opset=opset))
    return tuple(result)


def _free(name: str, taken: list[str]) -> str:
    while name in taken:
        name += "_"
    return name


def _walk(graphs: tuple[Any, ...], path: str) -> Iterator[tuple[Any, tuple[Any, ...], str]]:
    if len(graphs) > _DEEPEST:
        return
    for number, node in enumerate(graphs[-1].node):
        yield node, graphs, path
        for attribute in node.attribute:
            for graph in [attribute.g] if attribute.HasField("g") else attribute.graphs:
                inner = f"{path}{node.name or f'{node.op_type}_{number}'}.{attribute.name}/"
                yield from _walk((*graphs, graph), inner)


def find(model: Model, node: str | None) -> Candidate:
    """The ``Scan`` of this name, path or first output; with None the only one there is. InputError names them all."""
    known = candidates(model)
    if not known:
        text = "the model has no node of the operator Scan"
        raise InputError(Problem(message=text, file=model.where, hint="only Scan nodes are lowered"))
    listed = ", ".join(f"`{item.path}`" for item in known)
    if node is None:
        if len(known) == 1:
            return known[0]
        text = f"the model has {len(known)} Scan nodes"
        raise InputError(Problem(message=text, file=model.where, hint=f"choose one with --node: {listed}"))
    chosen = [item for item in known if node in (item.name, item.path, *item.node.output[:1])]
    if len(chosen) != 1:
        text = f"the model has no Scan node `{node}`" if not chosen else f"`{node}` is more than one Scan node"
        raise InputError(Problem(message=text, file=model.where, hint=f"there are {listed}"))
    return chosen[0]
