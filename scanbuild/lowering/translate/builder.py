"""Lays down the operations of the normal form, and gives each its shape.

What can be computed when a model is read is computed: constants by the interpreter, tensors of sizes by ``symbolic``.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np

from scanbuild.lowering import interpreter
from scanbuild.lowering.graph import Node, Origin, Shape
from scanbuild.lowering.names import Namer
from scanbuild.lowering.operations import MAPS
from scanbuild.lowering.sizes import ONE, Size, product
from scanbuild.lowering.translate.symbolic import evaluate_sizes
from scanbuild.lowering.translate.symbols import Symbols, UnequalError
from scanbuild.lowering.translate.values import Array, RefusedError, Value, shape_of, written

_LARGEST_FOLD: Final = 4096
"""Elements up to which the elements of a constant may be multiplied by computing with it beforehand."""


_MOST_AXES: Final = 16
_LONGEST_AXIS: Final = 2**31 - 1
_MOST_NODES: Final = 10_000


class TooLargeError(Exception):
    """The body has more nodes than can be made into a kernel."""


class Builder:
    """The nodes made so far. ``origin`` and ``hint`` (a name) are those of the ONNX node at hand."""

    def __init__(self, symbols: Symbols, namer: Namer) -> None:
        self.symbols = symbols
        self.nodes: list[Node] = []
        self.origin = Origin()
        self.hint = "value"
        self._namer = namer
        self._count = 0
        self._placed: dict[int, tuple[Value, str]] = {}

    def count_node(self) -> None:
        """Count a node of the model. TooLargeError if functions that call functions make too many of them."""
        self._count += 1
        if self._count > _MOST_NODES:
            raise TooLargeError

    # Leaves

    def input(self, name: str, dtype: str, shape: Shape) -> Value:
        """A value that comes from outside of the step."""
        return self._node("input", (), dtype, shape, {}, name)

    def keep(self, node: Node, shape: Shape) -> Value:
        """A node from elsewhere, under its name, in another shape."""
        self.nodes.append(replace(node, shape=shape))
        return Value(dtype=node.dtype, shape=shape, node=node.name)

    def constant(self, array: Any, dtype: str = "") -> Value:
        """A constant; ``array`` is anything NumPy takes for one. Refused if the dtype cannot hold it."""
        try:
            made = np.asarray(array, dtype or None)
        except (OverflowError, ValueError):
            raise RefusedError(f"it needs a number that {dtype} cannot hold") from None
        return Value(dtype=str(made.dtype), shape=shape_of(made), array=made)

    def like(self, value: Value, number: float) -> Value:
        """A scalar of the dtype of a value."""
        return self.constant(number, value.dtype)

    def sizes(self, array: Any, dtype: str = "int64") -> Value:
        """A tensor of sizes: a constant if there is no symbol in it."""
        found = np.empty(np.shape(array), object)
        found[...] = array
        if all(isinstance(item, bool) or item.number is not None for item in found.flat):
            numbers = [item if isinstance(item, bool) else item.number for item in found.flat]
            return self.constant(np.array(numbers, dtype).reshape(found.shape))
        return Value(dtype=dtype, shape=shape_of(found), sizes=found)

    # Elementwise

    def map(self, operation: str, *operands: Value) -> Value:
        """An elementwise operation of ``MAPS``, broadcasting. RefusedError for dtypes that it does not have."""
        entry = MAPS[operation]
        checked = operands[1:] if operation == "where" else operands
        dtype = checked[0].dtype
        if any(value.dtype != dtype for value in checked):
            raise RefusedError(f"the operands have the types {', '.join(value.dtype for value in checked)}", "cast one")
        if dtype not in entry.dtypes:
            known = ", ".join(sorted(entry.dtypes))
            raise RefusedError(f"this is not supported for {dtype}", f"cast to one of {known}")
        shape = self.broadcast_shapes([value.shape for value in operands])
        return self.emit(operation, operands, "bool" if entry.gives_bool else dtype, shape)

    def broadcast_shapes(self, shapes: Sequence[Shape]) -> Shape:
        """The common shape, as NumPy broadcasts. Symbols that must be equal become so; RefusedError if sizes differ."""
        rank = max(map(len, shapes))
        result = (ONE,) * rank
        try:
            for shape in shapes:
                padded = (ONE,) * (rank - len(shape)) + shape
                result = tuple(self.symbols.broadcast(a, b) for a, b in zip(result, padded, strict=True))
        except UnequalError:
            listed = " and ".join(map(written, shapes))
            raise RefusedError(f"the shapes {listed} do not broadcast") from None
        return result

    def equal(self, left: Size, right: Size, what: str) -> Size:
        """One size for two; RefusedError if they cannot be equal."""
        try:
            return self.symbols.equal(left, right)
        except UnequalError:
            raise RefusedError(f"{what}: {left} and {right} are not equal") from None

    def same_shape(self, left: Shape, right: Shape, what: str) -> Shape:
        """One shape for two; RefusedError if they cannot be equal."""
        if len(left) != len(right):
            raise RefusedError(f"{what}: the ranks {len(left)} and {len(right)} are not equal")
        try:
            return tuple(self.symbols.equal(a, b) for a, b in zip(left, right, strict=True))
        except UnequalError:
            raise RefusedError(f"{what}: the shapes {written(left)} and {written(right)} are not equal") from None

    def require(self, size: Size) -> None:
        """Note that a size must not be below zero; Refused if it always is."""
        if not self.symbols.require(size):
            raise RefusedError(f"it reaches beyond an axis, by {self.symbols.resolve(size) * -1}")

    def cast(self, value: Value, dtype: str) -> Value:
        """In another dtype. Sizes stay sizes, of whatever dtype."""
        if value.dtype == dtype:
            return value
        if value.sizes is not None and value.dtype != "bool" and dtype != "bool":
            return Value(dtype=dtype, shape=value.shape, sizes=value.sizes)
        return self.emit("cast", (value,), dtype, value.shape)

    # Moving

    def reshape(self, value: Value, shape: Shape) -> Value:
        """The elements in another shape, of as many elements."""
        shape = self.symbols.resolve_all(shape)
        if shape == self.symbols.resolve_all(value.shape):
            return value
        self.equal(product(value.shape), product(shape), f"{written(value.shape)} cannot become {written(shape)}")
        return self.emit("reshape", (value,), value.dtype, shape)

    def transpose(self, value: Value, perm: Sequence[int]) -> Value:
        shape = tuple(value.shape[axis] for axis in perm)
        longer = [axis for axis in perm if self.symbols.resolve(value.shape[axis]) != ONE]
        if longer == sorted(longer):
            return self.reshape(value, shape)
        return self.emit("transpose", (value,), value.dtype, shape, perm=tuple(perm))

    def expand(self, value: Value, shape: Shape) -> Value:
        """Broadcast to a shape."""
        shape = self.symbols.resolve_all(shape)
        if shape == self.symbols.resolve_all(value.shape):
            return value
        return self.emit("expand", (value,), value.dtype, shape)

    def slice(self, value: Value, shape: Shape, starts: Sequence[Size], steps: Sequence[int]) -> Value:
        """Per axis as many elements as the shape tells, from a start on, a step apart."""
        whole = self.symbols.resolve_all(shape) == self.symbols.resolve_all(value.shape)
        if whole and all(start == Size() for start in starts) and all(step == 1 for step in steps):
            return value
        return self.emit("slice", (value,), value.dtype, shape, starts=tuple(starts), steps=tuple(steps))

    def concat(self, values: Sequence[Value], axis: int) -> Value:
        """One after another along an axis; RefusedError where their other axes or dtypes differ."""
        first, total = values[0], Size()
        shape = first.shape
        for value in values:
            if value.dtype != first.dtype:
                raise RefusedError(f"the operands have the types {first.dtype} and {value.dtype}", "cast one")
            around = (*value.shape[:axis], *value.shape[axis + 1 :])
            rest = self.same_shape((*shape[:axis], *shape[axis + 1 :]), around, "the axes that stay")
            total = total + value.shape[axis]
            shape = (*rest[:axis], total, *rest[axis:])
        return values[0] if len(values) == 1 else self.emit("concat", tuple(values), first.dtype, shape, axis=axis)

    def pad(self, value: Value, before: Sequence[Size], after: Sequence[Size], mode: str, fill: Value | None) -> Value:
        """Per axis elements added, or taken away where a size is negative. ``fill`` is a scalar, for ``constant``."""
        shape = tuple(a + b + c for a, b, c in zip(before, value.shape, after, strict=True))
        if shape == value.shape and all(size == Size() for size in before):
            return value
        operands = (value,) if fill is None else (value, fill)
        return self.emit("pad", operands, value.dtype, shape, before=tuple(before), after=tuple(after), mode=mode)

    def gather(self, data: Value, indices: Value, axis: int) -> Value:
        shape = (*data.shape[:axis], *indices.shape, *data.shape[axis + 1 :])
        return self.emit("gather", (data, indices), data.dtype, shape, axis=axis)

    def gather_elements(self, data: Value, indices: Value, axis: int) -> Value:
        return self.emit("gather_elements", (data, indices), data.dtype, indices.shape, axis=axis)

    # Reducing

    def reduce(self, kind: str, value: Value, axes: Sequence[int]) -> Value:
        """Over axes, which stay with size 1."""
        if not axes:
            return value
        shape = tuple(ONE if axis in axes else size for axis, size in enumerate(value.shape))
        return self.emit("reduce", (value,), value.dtype, shape, kind=kind, axes=tuple(sorted(axes)))

    def arg(self, kind: str, value: Value, axis: int, *, last: bool) -> Value:
        shape = (*value.shape[:axis], ONE, *value.shape[axis + 1 :])
        return self.emit("arg", (value,), "int64", shape, kind=kind, axis=axis, last=last)

    def cumulate(self, value: Value, axis: int, *, exclusive: bool, reverse: bool) -> Value:
        attributes = {"axis": axis, "exclusive": exclusive, "reverse": reverse}
        return self.emit("cumulate", (value,), value.dtype, value.shape, **attributes)

    def contract(self, left: Value, right: Value, labels: tuple[str, str, str]) -> Value:
        """An Einstein sum of two operands; labels of the left, of the right, and of the result."""
        sizes: dict[str, Size] = {}
        for value, axes in ((left, labels[0]), (right, labels[1])):
            for label, size in zip(axes, value.shape, strict=True):
                sizes[label] = self.equal(sizes.get(label, size), size, "what is summed over must have one size")
        shape = tuple(sizes[label] for label in labels[2])
        texts = dict(zip(("left", "right", "out"), labels, strict=True))
        return self.emit("contract", (left, right), left.dtype, shape, **texts)

    # All of them

    def emit(self, operation: str, operands: Sequence[Value], dtype: str, shape: Shape, **attributes: Any) -> Value:
        """A node, or what it would compute, if that is known."""
        shape = self.symbols.resolve_all(shape)
        _check_shape(shape)
        known = self._folded(operation, operands, dtype, shape, attributes)
        if known is not None:
            return known
        names = tuple(self.place(value) for value in operands)
        return self._node(operation, names, dtype, shape, attributes, self.hint)

    def place(self, value: Value) -> str:
        """The name of the node of a value; one is made for what is known, since an operation needs it."""
        if value.node:
            return value.node
        if id(value) not in self._placed:
            made = self._laid(value)
            self._placed[id(value)] = (value, made.node)
        return self._placed[id(value)][1]

    def _laid(self, value: Value) -> Value:
        if value.array is not None:
            return self._node("constant", (), value.dtype, value.shape, {"value": value.array}, "constant")
        assert value.sizes is not None
        if value.rank == 0:
            return self._size(value.sizes.item(), value.dtype)
        pieces = [self._node_of("reshape", self._size(item, value.dtype), (ONE,)) for item in value.sizes.flat]
        row = pieces[0]
        if len(pieces) > 1:
            names = tuple(piece.node for piece in pieces)
            row = self._node("concat", names, value.dtype, (Size.of(len(pieces)),), {"axis": 0}, "sizes")
        return row if value.rank == 1 else self._node_of("reshape", row, value.shape)

    def _node_of(self, operation: str, operand: Value, shape: Shape) -> Value:
        return self._node(operation, (operand.node,), operand.dtype, shape, {}, "sizes")

    def _size(self, item: Size, dtype: str) -> Value:
        if item.number is not None:
            return self._node("constant", (), dtype, (), {"value": np.asarray(item.number, dtype)}, "constant")
        return self._node("size", (), dtype, (), {"size": item}, "size")

    def _node(
        self,
        operation: str,
        inputs: tuple[str, ...],
        dtype: str,
        shape: Shape,
        attributes: Mapping[str, Any],
        hint: str,
    ) -> Value:
        name = self._namer.take(hint)
        node = Node(
            name=name,
            operation=operation,
            inputs=inputs,
            dtype=dtype,
            shape=shape,
            attributes=attributes,
            origin=self.origin,
        )
        self.nodes.append(node)
        return Value(dtype=dtype, shape=shape, node=name)

    def _folded(
        self, operation: str, operands: Sequence[Value], dtype: str, shape: Shape, attributes: Mapping[str, Any]
    ) -> Value | None:
        if not operands or any(value.node for value in operands):
            return None
        arrays = [value.array for value in operands]
        count = product(shape).number
        if all(array is not None for array in arrays):
            most = max(_LARGEST_FOLD if operation != "expand" else 64, *(array.size for array in arrays))  # type: ignore[union-attr]
            if count is not None and count <= most:
                return self._computed(operation, [a for a in arrays if a is not None], dtype, shape, attributes)
        known = [value.known for value in operands]
        if dtype not in ("int64", "int32", "bool") or any(item is None for item in known):
            return None
        found = evaluate_sizes(operation, [item for item in known if item is not None], shape, attributes)
        return None if found is None else self.sizes(found, dtype)

    def _computed(
        self, operation: str, arrays: list[Array], dtype: str, shape: Shape, attributes: Mapping[str, Any]
    ) -> Value | None:
        node = Node(name="", operation=operation, dtype=dtype, shape=shape, attributes=attributes)
        try:
            with np.errstate(all="ignore"):
                return self.constant(
                    np.ascontiguousarray(interpreter.compute(node, arrays, {})).reshape(
                        tuple(size.number or 0 for size in shape)
                    ),
                    dtype,
                )
        except (ValueError, IndexError) as error:
            raise RefusedError(f"its constants do not fit: {error}") from None


def _check_shape(shape: Shape) -> None:
    """Refused for what is too large for any kernel."""
    if len(shape) > _MOST_AXES:
        raise RefusedError(f"it has {len(shape)} axes; kernels have up to {_MOST_AXES}")
    for size in shape:
        if size.number is not None and not 0 <= size.number <= _LONGEST_AXIS:
            raise RefusedError(f"an axis of it has {size} elements, which no kernel can count")
        if size.is_unwieldy:
            raise RefusedError("its shape is too complicated a function of the sizes")
