"""What the graphs around a ``Scan`` tell of its inputs and of the values that its body reads from outside."""

import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Final

from scanbuild.lowering.parts import SMALL, Candidate, Model, subgraphs

Dim = int | str | None
"""A dimension as a model has it: a number, a name, or nothing."""

_FEW: Final = 1024
_PATIENCE: Final = 15
"""Seconds for inference, which takes one or two; a damaged model can keep it busy for ever."""

_INFER: Final = """
import sys
try:
    import resource
    resource.setrlimit(resource.RLIMIT_AS, (2**32, 2**32))
except Exception:
    pass
from onnx import ModelProto, shape_inference
model = ModelProto()
model.ParseFromString(sys.stdin.buffer.read())
found = shape_inference.infer_shapes(model, strict_mode=False, data_prop=True)
sys.stdout.buffer.write(found.SerializeToString())
"""


@dataclass(frozen=True, kw_only=True, slots=True)
class Info:
    """The type of a value. ``dtype`` is ONNX's number, 0 if unknown; ``dims`` is None if the rank is unknown."""

    dtype: int = 0
    dims: tuple[Dim, ...] | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Enclosing:
    """Types by name, and the tensors of initializers and constants that nothing can override.

    ``derived`` are values that the body reads and that are sizes: for each the nodes that compute it from shapes.
    """

    infos: dict[str, Info] = field(default_factory=dict)
    tensors: dict[str, Any] = field(default_factory=dict)
    derived: dict[str, tuple[Any, ...]] = field(default_factory=dict)

    def small(self, name: str) -> Any:
        """The tensor of a constant that becomes part of the kernel; None for a larger one, or what is none."""
        tensor = self.tensors.get(name)
        return tensor if tensor is not None and count(tensor) <= SMALL else None


def count(tensor: Any) -> int:
    """The number of elements."""
    total = 1
    for size in tensor.dims:
        total *= size
    return total


def info_of(value: Any) -> Info:
    """The type that a ``ValueInfoProto`` declares."""
    tensor = value.type.tensor_type
    if not tensor.HasField("shape"):
        return Info(dtype=tensor.elem_type)
    dims: list[Dim] = []
    for dim in tensor.shape.dim:
        kind = dim.WhichOneof("value")
        if kind == "dim_value":
            dims.append(int(dim.dim_value) if dim.dim_value >= 0 else None)
        else:
            dims.append(dim.dim_param or None)
    return Info(dtype=tensor.elem_type, dims=tuple(dims))


def merged(first: Info, second: Info) -> Info:
    """All that two say of one value; where they contradict each other, the first."""
    dtype = first.dtype or second.dtype
    if first.dims is None or second.dims is None or len(first.dims) != len(second.dims):
        return Info(dtype=dtype, dims=first.dims if first.dims is not None else second.dims)
    dims = tuple(
        a if isinstance(a, int) or (a is not None and not isinstance(b, int)) else b if b is not None else a
        for a, b in zip(first.dims, second.dims, strict=True)
    )
    return Info(dtype=dtype, dims=dims)


def enclosing(model: Model, candidate: Candidate) -> Enclosing:
    """What the model declares around a ``Scan``."""
    result = Enclosing()
    for graph in candidate.graphs:
        _add(result, graph, model.proto.ir_version)
    return result


def is_told(candidate: Candidate, known: Enclosing, names: Iterable[str]) -> bool:
    """Whether inference can tell nothing more of these: their types are whole, or nothing makes them."""
    made = {name for graph in candidate.graphs for node in graph.node for name in node.output}
    made |= {value.name for graph in candidate.graphs[1:] for value in graph.input}
    return all(name not in made or name in known.tensors or _is_whole(known.infos.get(name)) for name in names)


def infer(model: Model, candidate: Candidate, known: Enclosing) -> None:
    """Add the types that ONNX infers."""
    for graph in _inferred(model, candidate):
        for value in (*graph.input, *graph.value_info, *graph.output):
            known.infos[value.name] = merged(known.infos.get(value.name, Info()), info_of(value))


def _is_whole(info: Info | None) -> bool:
    return info is not None and bool(info.dtype) and info.dims is not None and None not in info.dims


def _add(result: Enclosing, graph: Any, ir_version: int) -> None:
    """A graph's own names hide those of the graphs around it."""
    for value in (*graph.input, *graph.value_info, *graph.output):
        result.infos[value.name] = info_of(value)
        result.tensors.pop(value.name, None)
    overridable = {value.name for value in graph.input} if ir_version >= 4 else set()
    for tensor in graph.initializer:
        _constant(result, tensor.name, tensor, overridable)
    for node in graph.node:
        if node.op_type == "Constant" and node.domain in ("", "ai.onnx") and node.output:
            tensor = _constant_tensor(node)
            if tensor is not None:
                _constant(result, node.output[0], tensor, set())


def _constant(result: Enclosing, name: str, tensor: Any, overridable: set[str]) -> None:
    result.infos[name] = Info(dtype=tensor.data_type, dims=tuple(tensor.dims))
    if name not in overridable:
        result.tensors[name] = tensor


def _constant_tensor(node: Any) -> Any:
    from onnx import TensorProto, helper

    for attribute in node.attribute:
        match attribute.name:
            case "value":
                return attribute.t
            case "value_float":
                return helper.make_tensor("", TensorProto.FLOAT, [], [attribute.f])
            case "value_int":
                return helper.make_tensor("", TensorProto.INT64, [], [attribute.i])
            case "value_floats":
                return helper.make_tensor("", TensorProto.FLOAT, [len(attribute.floats)], list(attribute.floats))
            case "value_ints":
                return helper.make_tensor("", TensorProto.INT64, [len(attribute.ints)], list(attribute.ints))
    return None


def _inferred(model: Model, candidate: Candidate) -> list[Any]:
    """The graphs around the ``Scan`` once more, with the types that ONNX infers; none if it cannot."""
    if not model.typed:
        model.typed.append(_with_types(_slim(model.proto)))
    found = model.typed[0]
    if found is None:
        return []
    graphs = [found.graph]
    for outer, inner in zip(candidate.graphs, candidate.graphs[1:], strict=False):
        index = next(
            ((i, j) for i, node in enumerate(outer.node) for j, graph in enumerate(subgraphs(node)) if graph is inner),
            None,
        )
        if index is None:
            return graphs
        graphs.append(list(subgraphs(graphs[-1].node[index[0]]))[index[1]])
    return graphs


def _with_types(proto: Any) -> Any:
    """The model with inferred types; None if ONNX cannot tell.

    It is asked in a process of its own, for it crashes where a type is missing that it looks at.
    """
    from onnx import ModelProto

    try:
        done = subprocess.run(
            [sys.executable, "-P", "-c", _INFER],  # it imports nothing from the current folder
            input=proto.SerializeToString(),
            capture_output=True,
            check=False,
            timeout=_PATIENCE,
        )
        if done.returncode:
            return None
        found = ModelProto()
        found.ParseFromString(done.stdout)
    except Exception:
        return None
    return found


def _slim(proto: Any) -> Any:
    """The model without the elements of large initializers, which inference has no use for."""
    from onnx import ModelProto, helper

    slim = ModelProto(ir_version=proto.ir_version)
    slim.opset_import.extend(proto.opset_import)
    slim.functions.extend(proto.functions)
    graph = proto.graph
    slim.graph.name = graph.name
    for part in ("node", "input", "output", "value_info"):
        getattr(slim.graph, part).extend(getattr(graph, part))
    declared = {value.name for value in graph.input}
    for tensor in graph.initializer:
        if count(tensor) <= _FEW:
            slim.graph.initializer.append(tensor)
        elif tensor.name not in declared:
            slim.graph.input.append(helper.make_tensor_value_info(tensor.name, tensor.data_type, list(tensor.dims)))
    return slim
