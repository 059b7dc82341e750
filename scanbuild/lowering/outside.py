"""Values around a ``Scan`` that are known when its model is read: computed from constants, or from shapes in numbers.

Exporters move what is the same in every step out of a body, shapes for Reshape and Expand above all.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from scanbuild.lowering.enclosing import Enclosing, Info, count, enclosing, infer, is_told
from scanbuild.lowering.graph import Shape
from scanbuild.lowering.names import Namer
from scanbuild.lowering.parts import SMALL, Candidate, Model, subgraphs
from scanbuild.lowering.scopes import body_of, captured
from scanbuild.lowering.sizes import Size
from scanbuild.lowering.translate import Builder, Symbols, Value, Walker
from scanbuild.lowering.translate.builder import TooLargeError
from scanbuild.lowering.translate.values import DTYPES
from scanbuild.lowering.translate.walker import FAILED, Environment, Failed

ShapeOf = Callable[[str, Info], Shape]

_MOST_NODES: Final = 100
_LARGEST: Final = 4096


def surroundings(model: Model, candidate: Candidate) -> Enclosing:
    """What is known around a ``Scan``, with a tensor for each small value that its body reads and that is known.

    Types are inferred only if those declared leave something open.
    """
    outside = captured(body_of(candidate.node))
    known = enclosing(model, candidate)
    _compute(model, candidate, outside, known)
    outside = tuple(name for name in outside if name not in known.derived)
    if not is_told(candidate, known, (*candidate.node.input, *outside)):
        infer(model, candidate, known)
        _compute(model, candidate, outside, known)
    return known


def _compute(model: Model, candidate: Candidate, names: Iterable[str], known: Enclosing) -> None:
    """Add tensors for those that are constants, and the nodes of those that are sizes."""
    from onnx import numpy_helper

    makers = {name: node for graph in candidate.graphs for node in graph.node for name in node.output if name}
    for name in names:
        nodes = _needed(name, makers, known) if name in makers and name not in known.tensors else None
        if not nodes:
            continue
        value = evaluated(model, name, nodes, known, Symbols(), None)
        if value is not None and value.array is not None and value.array.size <= SMALL:
            known.tensors[name] = numpy_helper.from_array(value.array, name)
        elif value is not None and value.sizes is not None and value.rank <= 1:
            known.derived[name] = tuple(nodes)
            number = next(number for number, dtype in DTYPES.items() if dtype == value.dtype)
            known.infos[name] = Info(dtype=number, dims=tuple(size.number for size in value.shape))


def evaluated(
    model: Model, name: str, nodes: Iterable[Any], known: Enclosing, symbols: Symbols, shape_of: ShapeOf | None
) -> Value | None:
    """The value that nodes around a ``Scan`` give, as far as shapes and constants tell; None if they do not.

    ``shape_of`` has a shape for a name of a known rank; without it sizes that are no numbers are symbols of their own.
    """
    opsets = {"" if item.domain == "ai.onnx" else item.domain: int(item.version) for item in model.proto.opset_import}
    builder = Builder(symbols, Namer())
    walker = Walker(builder, opsets, {}, lambda *_: None)
    listed = list(nodes)
    made = {output for node in listed for output in node.output}
    leaves = {leaf for node in listed for leaf in node.input if leaf and leaf not in made}
    values: Environment = {leaf: _leaf(leaf, known, builder, walker, shape_of) for leaf in sorted(leaves)}
    try:
        walker.nodes(listed, values, "")
    except TooLargeError:
        return None
    value = values.get(name)
    return value if isinstance(value, Value) and not value.node else None


def _needed(name: str, makers: Mapping[str, Any], known: Enclosing) -> list[Any] | None:
    """The nodes that make a value, in the order of the model; None if they are many, or hold graphs of their own."""
    found: dict[str, Any] = {}
    wanted = [name]
    while wanted:
        current = wanted.pop()
        node = makers.get(current)
        if node is None or current in known.tensors or node.output[0] in found:
            continue
        if next(subgraphs(node), None) is not None or len(found) >= _MOST_NODES:
            return None
        found[node.output[0]] = node
        wanted += [item for item in node.input if item]
    return [node for first, node in makers.items() if first in found and found[first] is node]


def _leaf(name: str, known: Enclosing, builder: Builder, walker: Walker, shape_of: ShapeOf | None) -> Value | Failed:
    """A constant, or something of a known shape."""
    tensor = known.tensors.get(name)
    if tensor is not None:
        return walker.tensor(tensor, name) if count(tensor) <= _LARGEST else FAILED
    info = known.infos.get(name, Info())
    if info.dims is None or info.dtype not in DTYPES:
        return FAILED
    fresh = tuple(Size.of(dim) if isinstance(dim, int) else builder.symbols.fresh() for dim in info.dims)
    return builder.input(name, DTYPES[info.dtype], fresh if shape_of is None else shape_of(name, info))
