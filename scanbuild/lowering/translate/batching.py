"""A batch axis in front of every value that depends on the inputs, for ``Scan`` of version 8, whose body sees none.

It is put into the operations of the normal form, which are few.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Final

from scanbuild.lowering.graph import Node, Shape
from scanbuild.lowering.names import Namer
from scanbuild.lowering.operations import MAPS
from scanbuild.lowering.sizes import ONE, Size
from scanbuild.lowering.translate.builder import Builder
from scanbuild.lowering.translate.linear import contracted
from scanbuild.lowering.translate.symbols import Symbols
from scanbuild.lowering.translate.values import RefusedError, Value

_LETTERS: Final = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"


def with_batch(
    nodes: Iterable[Node], inputs: Iterable[str], results: Iterable[str], batch: Size, symbols: Symbols, namer: Namer
) -> tuple[tuple[Node, ...], tuple[str, ...]]:
    """The nodes and the names of the results. ``inputs`` get the axis; so does all that depends on them."""
    batching = _Batching(Builder(symbols, namer), batch)
    for node in nodes:
        batching.add(node, given=node.name in set(inputs))
    made = tuple(batching.result(name) for name in results)
    return tuple(batching.builder.nodes), made


class _Batching:
    def __init__(self, builder: Builder, batch: Size) -> None:
        self.builder = builder
        self._batch = batch
        self._values: dict[str, Value] = {}
        self._varying: set[str] = set()

    def add(self, node: Node, *, given: bool) -> None:
        """One node more, with the axis if it needs it."""
        if not given and self._varying.isdisjoint(node.inputs):
            self.builder.nodes.append(node)
            self._values[node.name] = Value(dtype=node.dtype, shape=node.shape, node=node.name)
            return
        self._varying.add(node.name)
        self.builder.origin, self.builder.hint = node.origin, re.sub(r"(_\d+)+$", "", node.name)
        if given:
            self._values[node.name] = self.builder.keep(node, self._whole(node.shape))
            return
        rule = _Batching._map if node.operation in MAPS else _RULES[node.operation]
        self._values[node.name] = rule(self, node)

    def result(self, name: str) -> str:
        """The node of a result, which has the axis whether it varies or not."""
        return self.builder.place(self._spread(name))

    def _whole(self, shape: Shape) -> Shape:
        return (self._batch, *shape)

    def _spread(self, name: str) -> Value:
        """An operand with the axis, the same for every index if it does not vary."""
        value = self._values[name]
        return value if name in self._varying else self.builder.expand(value, self._whole(value.shape))

    def _aligned(self, name: str, rank: int) -> Value:
        """An operand that broadcasts to ``rank`` axes behind the batch axis."""
        value = self._values[name]
        if name not in self._varying:
            return value
        return self.builder.reshape(value, (self._batch, *[ONE] * (rank + 1 - value.rank), *value.shape[1:]))

    def _map(self, node: Node) -> Value:
        return self.builder.map(node.operation, *(self._aligned(name, len(node.shape)) for name in node.inputs))

    def _cast(self, node: Node) -> Value:
        return self.builder.cast(self._values[node.inputs[0]], node.dtype)

    def _reshape(self, node: Node) -> Value:
        return self.builder.reshape(self._values[node.inputs[0]], self._whole(node.shape))

    def _transpose(self, node: Node) -> Value:
        return self.builder.transpose(
            self._values[node.inputs[0]], [0, *(axis + 1 for axis in node.attributes["perm"])]
        )

    def _expand(self, node: Node) -> Value:
        return self.builder.expand(self._aligned(node.inputs[0], len(node.shape)), self._whole(node.shape))

    def _slice(self, node: Node) -> Value:
        starts, steps = [Size(), *node.attributes["starts"]], [1, *node.attributes["steps"]]
        return self.builder.slice(self._values[node.inputs[0]], self._whole(node.shape), starts, steps)

    def _concat(self, node: Node) -> Value:
        return self.builder.concat([self._spread(name) for name in node.inputs], node.attributes["axis"] + 1)

    def _pad(self, node: Node) -> Value:
        before, after = ([Size(), *node.attributes[key]] for key in ("before", "after"))
        value, *fill = node.inputs
        if self._varying.intersection(fill):
            raise RefusedError("it fills with a value that is another for each item of the batch", "use a constant")
        filling = self._values[fill[0]] if fill else None
        return self.builder.pad(self._spread(value), before, after, node.attributes["mode"], filling)

    def _gather(self, node: Node) -> Value:
        data, indices = node.inputs
        axis = node.attributes["axis"]
        whole, places = self._values[data], self._values[indices]
        if indices not in self._varying:
            return self.builder.gather(whole, places, axis + 1)
        if data not in self._varying:
            made = self.builder.gather(whole, places, axis)
            order = [axis, *(i for i in range(made.rank) if i != axis)]
            return self.builder.transpose(made, order)
        return self._gather_both(node, whole, places, axis + 1)

    def _gather_both(self, node: Node, data: Value, indices: Value, axis: int) -> Value:
        """Indices of an item for data of the same item, element by element."""
        count = Size.of(1)
        for size in indices.shape[1:]:
            count = count * size
        ones = [ONE] * (data.rank - axis - 1)
        flat = self.builder.reshape(indices, (self._batch, *[ONE] * (axis - 1), count, *ones))
        spread = self.builder.expand(flat, (*data.shape[:axis], count, *data.shape[axis + 1 :]))
        found = self.builder.gather_elements(data, spread, axis)
        return self.builder.reshape(found, self._whole(node.shape))

    def _gather_elements(self, node: Node) -> Value:
        data, indices = (self._spread(name) for name in node.inputs)
        return self.builder.gather_elements(data, indices, node.attributes["axis"] + 1)

    def _reduce(self, node: Node) -> Value:
        axes = [axis + 1 for axis in node.attributes["axes"]]
        return self.builder.reduce(node.attributes["kind"], self._values[node.inputs[0]], axes)

    def _arg(self, node: Node) -> Value:
        kind, axis, last = (node.attributes[key] for key in ("kind", "axis", "last"))
        return self.builder.arg(kind, self._values[node.inputs[0]], axis + 1, last=last)

    def _cumulate(self, node: Node) -> Value:
        axis, exclusive, reverse = (node.attributes[key] for key in ("axis", "exclusive", "reverse"))
        value = self._values[node.inputs[0]]
        return self.builder.cumulate(value, axis + 1, exclusive=exclusive, reverse=reverse)

    def _contract(self, node: Node) -> Value:
        labels: Sequence[str] = [node.attributes[key] for key in ("left", "right", "out")]
        free = next(letter for letter in _LETTERS if letter not in "".join(labels))
        operands = [
            (self._values[name], [*([free] if name in self._varying else []), *axes])
            for name, axes in zip(node.inputs, labels[:2], strict=True)
        ]
        return contracted(self.builder, operands[0], operands[1], [free, *labels[2]])


_RULES: Final[dict[str, Callable[[_Batching, Node], Value]]] = {
    "cast": _Batching._cast,
    "reshape": _Batching._reshape,
    "transpose": _Batching._transpose,
    "expand": _Batching._expand,
    "slice": _Batching._slice,
    "concat": _Batching._concat,
    "pad": _Batching._pad,
    "gather": _Batching._gather,
    "gather_elements": _Batching._gather_elements,
    "reduce": _Batching._reduce,
    "arg": _Batching._arg,
    "cumulate": _Batching._cumulate,
    "contract": _Batching._contract,
}
