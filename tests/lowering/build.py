"""Scans in normal form, built by hand: a body is a list of operations on names."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from scanbuild.lowering.graph import Capture, Element, Node, Origin, Output, Port, Scan, Shape, State
from scanbuild.lowering.operations import MAPS
from scanbuild.lowering.sizes import ONE, Size

Sizes = Sequence[int | str | Size]


def shape_of(sizes: Sizes) -> Shape:
    return tuple(Size.of(size) for size in sizes)


def broadcast(shapes: Sequence[Shape]) -> Shape:
    """The common shape of operands, as NumPy has it; sizes that differ without being 1 are taken to be equal."""
    rank = max((len(shape) for shape in shapes), default=0)
    padded = [(ONE,) * (rank - len(shape)) + shape for shape in shapes]
    return tuple(next((size for size in sizes if size != ONE), ONE) for sizes in zip(*padded, strict=True))


class Body:
    """Collects the nodes and ports of a ``Scan``. Every method returns the name of the node it made."""

    def __init__(self, steps: int | str = "steps") -> None:
        self.steps = Size.of(steps)
        self.nodes: dict[str, Node] = {}
        self.states: list[tuple[str, Port]] = []
        self.elements: list[Element] = []
        self.captures: list[Capture] = []
        self.outputs: list[Output] = []
        self.afters: list[str] = []

    def state(self, name: str, sizes: Sizes, dtype: str = "float32") -> str:
        port = Port(name=f"{name}_initial", dtype=dtype, shape=shape_of(sizes))
        self.states.append((name, port))
        return self._input(name, port.shape, dtype)

    def element(self, name: str, sizes: Sizes, dtype: str = "float32", *, axis: int = 0, reverse: bool = False) -> str:
        """A scan input; ``sizes`` are those of its element."""
        shape = shape_of(sizes)
        port = Port(name=name, dtype=dtype, shape=(*shape[:axis], self.steps, *shape[axis:]))
        self.elements.append(Element(port=port, axis=axis, reverse=reverse, node=f"{name}_now"))
        return self._input(f"{name}_now", shape, dtype)

    def capture(self, name: str, sizes: Sizes, dtype: str = "float32") -> str:
        port = Port(name=name, dtype=dtype, shape=shape_of(sizes))
        self.captures.append(Capture(port=port, node=f"{name}_value"))
        return self._input(f"{name}_value", port.shape, dtype)

    def constant(self, value: Any, dtype: str = "float32") -> str:
        array = np.asarray(value, dtype)
        return self.add("constant", dtype=dtype, shape=shape_of(array.shape), value=array)

    def add(
        self,
        operation: str,
        *inputs: str,
        dtype: str | None = None,
        shape: Sizes | None = None,
        name: str = "",
        **attributes: Any,
    ) -> str:
        """A node. Its dtype and shape are found out for operations of ``MAPS``, and given for others."""
        operands = [self.nodes[item] for item in inputs]
        known = MAPS.get(operation)
        if dtype is None:
            dtype = "bool" if known is not None and known.gives_bool else operands[-1].dtype
        if shape is None:
            shape = broadcast([item.shape for item in operands])
        name = name or f"{operation}_{len(self.nodes)}"
        node = Node(
            name=name,
            operation=operation,
            inputs=inputs,
            dtype=dtype,
            shape=shape_of(shape),
            attributes=attributes,
            origin=Origin(name=name, operator=operation.title()),
        )
        self.nodes[name] = node
        return name

    def update(self, *afters: str) -> None:
        """The states after the step, in the order of the states."""
        self.afters += afters

    def output(self, name: str, node: str, *, axis: int = 0, prepend: bool = False) -> None:
        inner = self.nodes[node]
        shape = (*inner.shape[:axis], self.steps, *inner.shape[axis:])
        port = Port(name=name, dtype=inner.dtype, shape=shape)
        self.outputs.append(Output(port=port, axis=axis, prepend=prepend, node=node))

    def scan(self, name: str = "scan") -> Scan:
        states = tuple(
            State(
                initial=port,
                final=Port(name=f"{before}_final", dtype=port.dtype, shape=port.shape),
                before=before,
                after=after,
            )
            for (before, port), after in zip(self.states, self.afters, strict=True)
        )
        return Scan(
            name=name,
            opset=21,
            nodes=tuple(self.nodes.values()),
            states=states,
            elements=tuple(self.elements),
            captures=tuple(self.captures),
            outputs=tuple(self.outputs),
            steps=self.steps,
        )

    def _input(self, name: str, shape: Shape, dtype: str) -> str:
        self.nodes[name] = Node(name=name, operation="input", dtype=dtype, shape=shape)
        return name
