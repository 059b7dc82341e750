"""New nodes beside those of a body: the coefficients of a recurrence, simplified as far as a recognition needs it.

Simplified are constants, and what leaves a value as it is (the sign of a zero and the kind of a NaN aside). The same
operation on the same operands is one node.
"""

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from scanbuild.lowering.graph import Node, Origin, Scan, Shape
from scanbuild.lowering.interpreter import compute
from scanbuild.lowering.operations import MAPS
from scanbuild.lowering.sizes import ONE

Value = npt.NDArray[Any]

_NEUTRAL: Final[dict[str, tuple[Any, Any]]] = {
    "add": (0, 0),
    "sub": (None, 0),
    "mul": (1, 1),
    "div": (None, 1),
    "and": (True, True),
    "or": (False, False),
    "xor": (False, False),
    "bit_and": (-1, -1),
    "bit_or": (0, 0),
    "bit_xor": (0, 0),
}
"""Operands on the left and on the right that leave the other as it is; -1 stands for all bits of any dtype."""


class Growth:
    """The nodes of a ``Scan`` and what has been added to them, each in an order of computation."""

    def __init__(self, scan: Scan) -> None:
        self._nodes = scan.by_name
        self._known: dict[Any, str] = {}
        self._uniform: dict[str, Value | None] = {}
        self.added: list[Node] = []

    def __getitem__(self, name: str) -> Node:
        return self._nodes[name]

    def shape(self, name: str) -> Shape:
        return self._nodes[name].shape

    def dtype(self, name: str) -> str:
        return self._nodes[name].dtype

    def constant(self, value: Any, dtype: str) -> str:
        """A scalar of a dtype."""
        scalar = np.asarray(value, _numpy(dtype))
        return self._add("constant", (), dtype, (), {"value": scalar}, (scalar.tobytes(),))

    def uniform(self, name: str) -> Value | None:
        """The one value that all elements of a node have, as a scalar, if that is known now."""
        if name not in self._uniform:
            self._uniform[name] = self._find_uniform(self._nodes[name])
        return self._uniform[name]

    def is_uniform(self, name: str | None, value: Any) -> bool:
        """Whether all elements are known to be this value; -1 is all bits of an unsigned integer, too."""
        found = None if name is None else self.uniform(name)
        return found is not None and found == _scalar(value, found.dtype)

    def map(self, operation: str, *operands: str) -> str:
        """An elementwise operation, with broadcasting."""
        simpler = self._simplified(operation, operands)
        if simpler is not None:
            return simpler
        dtype = "bool" if MAPS[operation].gives_bool else self.dtype(operands[-1])
        constants = [self.uniform(name) for name in operands]
        if all(constant is not None for constant in constants):
            node = Node(name="", operation=operation, inputs=operands, dtype=dtype, shape=())
            with np.errstate(all="ignore"):
                return self.constant(compute(node, [item for item in constants if item is not None], {}), dtype)
        shape: Shape = ()
        for name in operands:
            shape = broadcast(shape, self.shape(name))
        return self._add(operation, operands, dtype, shape)

    def cast(self, name: str, dtype: str) -> str:
        if self.dtype(name) == dtype:
            return name
        constant = self.uniform(name)
        if constant is not None:
            return self.constant(constant.astype(_numpy(dtype)), dtype)
        return self._add("cast", (name,), dtype, self.shape(name))

    def reshape(self, name: str, shape: Shape) -> str:
        return self._moved("reshape", name, shape, {})

    def expand(self, name: str, shape: Shape) -> str:
        return self._moved("expand", name, shape, {})

    def transpose(self, name: str, perm: tuple[int, ...]) -> str:
        if self.uniform(name) is not None:
            return self.reshape(name, ())
        shape = tuple(self.shape(name)[axis] for axis in perm)
        return self._moved("transpose", name, shape, {"perm": perm})

    def _moved(self, operation: str, name: str, shape: Shape, attributes: dict[str, Any]) -> str:
        """A node of a single value stays a scalar: what is made of it is broadcast."""
        value = self.uniform(name)
        if value is not None:
            return self.constant(value, self.dtype(name))
        if shape == self.shape(name) and operation != "transpose":
            return name
        return self._add(operation, (name,), self.dtype(name), shape, attributes)

    def _simplified(self, operation: str, operands: tuple[str, ...]) -> str | None:
        first = operands[0]
        if operation == "where":
            return self._simplified_where(*operands)
        if operation in ("not", "neg", "bit_not") and self._nodes[first].operation == operation:
            return self._nodes[first].inputs[0]
        left, right = _NEUTRAL.get(operation, (None, None))
        if right is not None and self.is_uniform(operands[1], right):
            return first
        if left is not None and self.is_uniform(first, left):
            return operands[1]
        return None

    def _simplified_where(self, condition: str, chosen: str, other: str) -> str | None:
        if chosen == other:
            return chosen
        if self.is_uniform(condition, True):
            return chosen
        if self.is_uniform(condition, False):
            return other
        if self.is_uniform(chosen, True) and self.is_uniform(other, False) and self.dtype(chosen) == "bool":
            return condition
        return None

    def _find_uniform(self, node: Node) -> Value | None:
        if node.operation == "constant":
            value = np.asarray(node.attributes["value"])
            alike = value.size > 0 and bool((value == value.flat[0]).all())
            return value.reshape(-1)[0].reshape(()) if alike else None
        if node.operation in ("reshape", "expand", "transpose"):
            return self.uniform(node.inputs[0])
        if node.operation == "cast" or node.operation in MAPS:
            operands = [self.uniform(name) for name in node.inputs]
            if all(operand is not None for operand in operands):
                alone = Node(name="", operation=node.operation, inputs=node.inputs, dtype=node.dtype, shape=())
                with np.errstate(all="ignore"):
                    return compute(alone, [item for item in operands if item is not None], {})
        return None

    def _add(
        self,
        operation: str,
        inputs: tuple[str, ...],
        dtype: str,
        shape: Shape,
        attributes: dict[str, Any] | None = None,
        extra: tuple[Any, ...] = (),
    ) -> str:
        kept = {} if attributes is None else attributes
        key = (operation, inputs, dtype, shape, extra or tuple(kept.items()))
        if key not in self._known:
            name = f"form{len(self.added)}"
            while name in self._nodes:
                name += "_"
            origin = self._nodes[inputs[0]].origin if inputs else Origin()
            node = Node(
                name=name, operation=operation, inputs=inputs, dtype=dtype, shape=shape, attributes=kept, origin=origin
            )
            self._nodes[name] = node
            self.added.append(node)
            self._known[key] = name
        return self._known[key]


def broadcast(left: Shape, right: Shape) -> Shape:
    """The shape of an elementwise operation. Sizes that are neither equal nor 1 are equal in every call."""
    rank = max(len(left), len(right))
    padded = [(ONE,) * (rank - len(shape)) + shape for shape in (left, right)]
    return tuple(other if one == ONE else one for one, other in zip(*padded, strict=True))


def _numpy(dtype: str) -> np.dtype[Any]:
    return np.dtype(dtype)


def _scalar(value: Any, dtype: np.dtype[Any]) -> Any:
    """All bits for -1 of an unsigned integer or a bool."""
    if dtype.kind in "ub" and value == -1:
        return np.iinfo(dtype).max if dtype.kind == "u" else True
    return np.asarray(value).astype(dtype)
