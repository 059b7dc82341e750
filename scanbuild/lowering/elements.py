"""A graph as expressions of elements: the value of a node at an index, in terms of elements of its sources.

Sources are what lies in memory or registers: states, scan inputs, captures, values that a strategy stores. Everything
else is computed where it is read. Views become arithmetic of indices, so nothing is copied; reductions become loops.

Indices are polynomials (:class:`Size`) over the symbols of sizes and over variables of the shader, which begin with
``%``. So a row-major offset is a plain sum, and whether two indices are the same is a question of equality.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from scanbuild.lowering import loops, views, wgsl
from scanbuild.lowering.blocks import Block, Value, Variable, deepest
from scanbuild.lowering.graph import Node, Origin, Scan, Shape
from scanbuild.lowering.names import Namer
from scanbuild.lowering.operations import MAPS
from scanbuild.lowering.sizes import ONE, Size, product

Index = tuple[Size, ...]
Load = Callable[["Emitter", Index], Value]
ZERO: Final = Size()
_LONG: Final = 72
_MOST_VALUES: Final = 20_000


class CannotExpressError(Exception):
    """A strategy cannot express something; ``origin`` is the operation that stands in the way."""

    def __init__(self, reason: str, origin: Origin) -> None:
        super().__init__(reason)
        self.reason = reason
        self.origin = origin


@dataclass(slots=True)
class Emitter:
    """Writes the computation of elements into blocks.

    ``sources`` tells how the elements of some nodes are read; no other inputs may be reached. ``sizes`` gives the
    text of a symbol, ``spellings`` that of variables that are not called as theirs. ``tables`` collects the constants
    that need an array in the shader, ``flats`` the indices that were made of one number.
    """

    nodes: Mapping[str, Node]
    sources: Mapping[str, Load]
    names: Namer
    root: Block
    sizes: Callable[[str], str] = lambda symbol: f"sizes.{symbol}"
    uses: Mapping[str, int] = field(default_factory=dict)
    variables: dict[str, Variable] = field(default_factory=dict)
    tables: dict[str, str] = field(default_factory=dict)
    spellings: dict[str, str] = field(default_factory=dict)
    flats: dict[tuple[Index, Shape], Size] = field(default_factory=dict)
    written: int = 0
    block: Block = field(init=False)
    _touched: list[list[Block]] = field(default_factory=list)
    _tables_of: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.block = self.root

    # Values

    def value(self, name: str, index: Index) -> Value:
        """The value of a node at an index of its shape."""
        node = self.nodes[name]
        key = (name, index)
        made = next((block.known[key] for block in self.block.chain() if key in block.known), None)
        if made is None:
            made = self._compute(node, index)
            if not made.cheap and (self.uses.get(name, 0) > 1 or len(made.text) > _LONG):
                made = self.bind(made, name)
            made.block.known[key] = made
        self.touch(made.block)
        return made

    def _compute(self, node: Node, index: Index) -> Value:
        self.written += 1
        if self.written > _MOST_VALUES:
            reason = f"a step unfolds into more than {_MOST_VALUES} values: the same is computed at too many indices"
            raise CannotExpressError(reason, node.origin)
        source = self.sources.get(node.name)
        if source is not None:
            return source(self, index)
        if node.operation in MAPS:
            return self._map(node, index)
        if node.operation in views.VIEWS:
            return views.VIEWS[node.operation](self, node, index)
        if node.operation in loops.LOOPS:
            return loops.LOOPS[node.operation](self, node, index)
        match node.operation:
            case "constant":
                return self._constant(node, index)
            case "size":
                return self._size(node)
            case "cast":
                source_node = self.nodes[node.inputs[0]]
                operand = self.operand(self.value(source_node.name, index))
                return self.made(wgsl.cast_text(operand.operand, source_node.dtype, node.dtype), [operand])
        raise CannotExpressError(f"nothing brings the value of {node.name}", node.origin)

    def _map(self, node: Node, index: Index) -> Value:
        operands = [self.operand(self.value(name, self.broadcast(name, index)), name) for name in node.inputs]
        dtype = self.nodes[node.inputs[-1]].dtype
        if dtype in ("float32", "float16") and node.operation not in ("add", "sub", "mul", "div", "neg", "where"):
            # These texts name their operands more than once.
            operands = [
                item if item.cheap else self.bind(item, name) for item, name in zip(operands, node.inputs, strict=True)
            ]
        texts = [item.operand for item in operands]
        if node.operation == "where" or node.operation in ("min", "max"):
            texts = [item.text for item in operands]
        return self.made(wgsl.map_text(node.operation, dtype, texts), operands)

    def _constant(self, node: Node, index: Index) -> Value:
        array = np.asarray(node.attributes["value"])
        numbers = [item.number for item in index]
        if array.size and all(number is not None for number in numbers):
            return self.literal(array[tuple(number or 0 for number in numbers)], node.dtype)
        first = array.reshape(-1)[:1]
        if array.size and array.tobytes() == first.tobytes() * array.size:
            return self.literal(first[0], node.dtype)
        return self._from_table(node, array, index)

    def _from_table(self, node: Node, array: "np.ndarray[Any, Any]", index: Index) -> Value:
        name = self._tables_of.get(node.name)
        bits = wgsl.SCALARS[node.dtype] == "f32" and any(map(wgsl.needs_bits, array.astype(np.float32).reshape(-1)))
        if name is None:
            name = self._tables_of[node.name] = self.names.take(node.name)
            self.tables[name] = wgsl.table(name, array, node.dtype, bits=bits)
        at = self.index_value(self.offset(index, node.shape))
        text = f"{name}[{at.text}]"
        if bits:
            text = f"from_bits({text})"
        return self.made(f"{text} != 0u" if node.dtype == "bool" else text, [at])

    def _size(self, node: Node) -> Value:
        size = Size.of(node.attributes["size"])
        if size.number is not None:
            return self.literal(size.number, node.dtype)
        at = self.index_value(size)
        return self.made(wgsl.cast_text(at.operand, "uint32", node.dtype), [at])

    # Building

    def made(self, text: str, operands: Sequence[Value]) -> Value:
        """An expression of operands."""
        block = deepest([self.block.floor(), *(item.block for item in operands)])
        cheap = text.isidentifier() or wgsl.is_literal(text)
        return Value(text, block, atomic=cheap or wgsl.is_atomic(text), cheap=cheap)

    def literal(self, value: Any, dtype: str) -> Value:
        text = wgsl.literal(value, dtype)
        return Value(text, self.root, atomic=True, cheap="(0x" not in text)

    def bind(self, value: Value, hint: str) -> Value:
        """The value under a name of its own."""
        if value.cheap:
            return value
        key = ("text", value.text)
        known = next((block.known[key] for block in self.block.chain() if key in block.known), None)
        if known is not None:
            return known
        name = self.names.take(hint)
        value.block.add(f"let {name} = {value.text};")
        value.block.known[key] = Value(name, value.block, atomic=True, cheap=True)
        return value.block.known[key]

    def operand(self, value: Value, hint: str = "fixed") -> Value:
        """The value, computed once outside of the loops that it does not vary in."""
        if value.cheap or value.block is self.block:
            return value
        between = []
        for block in self.block.chain():
            if block is value.block:
                break
            between.append(block)
        return self.bind(value, hint) if any(block.kind == "loop" for block in between) else value

    def broadcast(self, name: str, index: Index) -> Index:
        """The index of an operand that is broadcast to the shape that an index is for."""
        shape = self.nodes[name].shape
        tail = index[len(index) - len(shape) :]
        return tuple(ZERO if size == ONE else at for size, at in zip(shape, tail, strict=True))

    def offset(self, index: Index, shape: Shape) -> Size:
        """The number of an element in row-major order."""
        total = ZERO
        for at, size in zip(index, shape, strict=True):
            total = total * size + at
        return total

    def address(self, index: Index, shape: Shape) -> Size:
        """The number of an element in row-major order, by the flat numbers that indices were made of if that can be."""
        for first in range(len(shape)):
            flat = self.flats.get((index[first:], shape[first:]))
            if flat is not None:
                return self.offset(index[:first], shape[:first]) * count(shape[first:]) + flat
        return self.offset(index, shape)

    def index_value(self, size: Size) -> Value:
        """An index, a size or an offset as u32 arithmetic, which is modular: differences may pass below zero."""
        blocks = [self.root, *(self.variables[name].block for name in size.symbols if name in self.variables)]
        for block in blocks:
            self.touch(block)
        block = deepest(blocks)
        return views.index_text(size, self._spelled, block)

    def recall(self, key: object) -> Index | None:
        """Indices that were computed before, where they can be seen from here."""
        return next((block.indices[key] for block in self.block.chain() if key in block.indices), None)

    def _spelled(self, symbol: str) -> str:
        if symbol in self.spellings:
            return self.spellings[symbol]
        return symbol[1:] if symbol.startswith("%") else self.sizes(symbol)

    def variable(self, text: str, block: Block, extent: Size, hint: str) -> Size:
        """A u32 that is computed in a block, as an index."""
        name = self.names.take(hint)
        block.add(f"let {name} = {text};")
        self.variables[f"%{name}"] = Variable(block, extent)
        return Size.of(f"%{name}")

    def unravel(self, flat: str, shape: Shape, block: Block, hint: str) -> Index:
        """The index of the element of a number in row-major order, a u32 of a block by its name."""
        symbol = f"%{flat}"
        self.variables[symbol] = Variable(block, count(shape))
        wide = [axis for axis, size in enumerate(shape) if size != ONE]
        found = [ZERO] * len(shape)
        if not wide:
            return tuple(found)
        if len(wide) == 1:
            found[wide[0]] = Size.of(symbol)
            return tuple(found)
        for position, axis in enumerate(wide):
            inner = product([shape[other] for other in wide[position + 1 :]])
            text = flat if inner == ONE else f"{flat} / {self.index_value(inner).operand}"
            if position:
                extent = self.index_value(shape[axis]).operand
                text = f"{text} % {extent}" if inner == ONE else f"({text}) % {extent}"
            found[axis] = self.variable(text, block, shape[axis], f"{hint}{axis}")
        self.flats[tuple(found), shape] = Size.of(symbol)
        return tuple(found)

    def touch(self, block: Block) -> None:
        """Note that a block's values are used, so that what is being written stays inside of it."""
        for seen in self._touched:
            seen.append(block)

    @contextmanager
    def inside(self, head: str, kind: Any, joined: bool = False) -> Iterator[Block]:
        """A block in the current one."""
        outer, inner = self.block, Block(head=head, parent=self.block, kind=kind, joined=joined)
        self.block = inner
        try:
            yield inner
        finally:
            self.block = outer
        outer.add(inner)

    @contextmanager
    def loop(self, hint: str, extent: Size, start: int | Size = 0, stop: Size | None = None) -> Iterator[Size]:
        """A loop over positions below ``extent``; the index in it."""
        if extent == ONE and start == 0 and stop is None:
            yield ZERO
            return
        name = self.names.take(hint)
        first = self.index_value(Size.of(start)).text
        last = self.index_value(extent if stop is None else stop).text
        with self.inside(f"for (var {name} = {first}; {name} < {last}; {name} += 1u)", "loop") as block:
            self.variables[f"%{name}"] = Variable(block, extent)
            yield Size.of(f"%{name}")

    @contextmanager
    def detached(self) -> Iterator[Block]:
        """Statements that are put where their operands are, by :meth:`place`."""
        outer = self.block
        body = Block(parent=outer, kind="run")
        self._touched.append([])
        self.block = body
        try:
            yield body
        finally:
            self.block = outer

    def place(self, body: Block) -> Block:
        """Put the statements of a detached block into the outermost block that has all they need."""
        chain = list(self.block.chain())
        seen = [block for block in self._touched.pop() if block in chain]
        target = deepest([self.block.floor(), *seen])
        for line in body.lines:
            if isinstance(line, Block):
                line.parent = target
            target.add(line)
        return target


def count(shape: Shape) -> Size:
    """The number of elements of a shape."""
    return product(list(shape))


def use_counts(nodes: Sequence[Node], targets: Sequence[str] = ()) -> dict[str, int]:
    """How often each node is read by others, and wanted for itself."""
    found: dict[str, int] = {}
    for name in [*(name for node in nodes for name in node.inputs), *targets]:
        found[name] = found.get(name, 0) + 1
    return found


def targets(scan: Scan) -> list[str]:
    """The nodes that a step is computed for, one for each state and output."""
    return [state.after for state in scan.states] + [output.node for output in scan.outputs]
