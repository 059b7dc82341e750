"""Which elements of the states a value depends on."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from scanbuild.lowering.blocks import Block, Value, Variable
from scanbuild.lowering.elements import Emitter, Index, Load
from scanbuild.lowering.graph import Node, Origin, Scan
from scanbuild.lowering.names import Namer
from scanbuild.lowering.sizes import Size


@dataclass(frozen=True, slots=True)
class Read:
    """An element of a source that is read: its index in terms of the variables that were traced, and of loops.

    ``origin`` is the operation nearest to the source that tells the index.
    """

    source: str
    index: Index
    origin: Origin


def trace(
    scan: Scan, name: str, index: Index, extents: Mapping[str, Size], sources: Collection[str] | None = None
) -> list[Read]:
    """What the value of a node at an index reads of the sources, which are the states if none are named."""
    wanted = {state.before for state in scan.states} if sources is None else sources
    nodes = scan.by_name
    root = Block()
    found: dict[tuple[str, Index], Read] = {}

    def recording(node: Node) -> Load:
        def load(emit: Emitter, at: Index) -> Value:
            if node.name in wanted:
                found.setdefault((node.name, at), Read(node.name, at, _reader(scan, node.name, name)))
            blocks = [emit.index_value(item) for item in at]
            return Value("0", emit.made("", blocks).block, atomic=True, cheap=True)

        return load

    inputs = {node.name: recording(node) for node in scan.nodes if node.operation == "input" or node.name in wanted}
    emit = Emitter(nodes=nodes, sources=inputs, names=Namer(), root=root)
    emit.variables |= {symbol: Variable(root, size) for symbol, size in extents.items()}
    emit.value(name, index)
    return list(found.values())


def _reader(scan: Scan, source: str, target: str) -> Origin:
    """The first operation, on a way from the source to the target, that is not elementwise; else the target's."""
    reaching = {target}
    for node in reversed(scan.nodes):
        if node.name in reaching:
            reaching.update(node.inputs)
    carrying = {source}
    for node in scan.nodes:
        if carrying.intersection(node.inputs):
            carrying.add(node.name)
            if node.name in reaching and node.operation in _CROSSING:
                return node.origin
    return scan.by_name[target].origin


_CROSSING = frozenset(
    {
        "reshape",
        "transpose",
        "slice",
        "concat",
        "pad",
        "gather",
        "gather_elements",
        "reduce",
        "arg",
        "cumulate",
        "contract",
    }
)
