"""The table of translations: for each operator a function from its inputs and attributes to its values."""

from collections.abc import Callable, Sequence
from copy import copy
from typing import Any, Final, TypeVar

from scanbuild.lowering.sizes import Size
from scanbuild.lowering.translate.builder import Builder
from scanbuild.lowering.translate.values import RefusedError, Value


class Call:
    """One node to translate. ``version`` is that of its operator set."""

    __slots__ = ("_attributes", "_inputs", "builder", "operator", "outputs", "version")

    def __init__(
        self,
        builder: Builder,
        node: Any,
        version: int,
        inputs: Sequence[Value | None],
        attributes: dict[str, Any],
    ) -> None:
        self.builder = builder
        self.operator: str = node.op_type
        self.outputs: tuple[str, ...] = tuple(node.output)
        self.version = version
        self._inputs = tuple(inputs)
        self._attributes = attributes

    @property
    def inputs(self) -> tuple[Value, ...]:
        """All inputs, of an operator whose inputs are not optional."""
        return tuple(self.input(i) for i in range(len(self._inputs)))

    def input(self, position: int) -> Value:
        """An input; RefusedError if it is missing."""
        found = self.optional(position)
        if found is None:
            raise RefusedError(f"its input {position} is missing")
        return found

    def optional(self, position: int) -> Value | None:
        return self._inputs[position] if position < len(self._inputs) else None

    def has_half(self) -> bool:
        """Whether an input is float16."""
        return any(value is not None and value.dtype == "float16" for value in self._inputs)

    def widened(self) -> "Call":
        """The same with float32 inputs for those of float16."""
        other = copy(self)
        other._inputs = tuple(
            self.builder.cast(value, "float32") if value is not None and value.dtype == "float16" else value
            for value in self._inputs
        )
        return other

    def attribute(self, name: str, default: Any = None) -> Any:
        """An attribute: a number, text, an array, or a list of numbers."""
        return self._attributes.get(name, default)

    def has(self, name: str) -> bool:
        return name in self._attributes

    def wants(self, output: int) -> bool:
        """Whether something can read an output."""
        return output < len(self.outputs) and bool(self.outputs[output])

    def axis(self, axis: int, rank: int) -> int:
        """An axis counted from the front; RefusedError if there is none such."""
        if not -rank <= axis < rank:
            raise RefusedError(f"axis {axis} is out of range for {rank} dimensions")
        return axis % rank

    def known_sizes(self, position: int, what: str) -> tuple[Size, ...]:
        """The elements of an integer input that must be known; RefusedError if they are not."""
        value = self.input(position)
        known = value.known
        if known is None or value.rank > 1:
            raise RefusedError(
                f"{what} is computed from values, so that a shape would depend on them", "make it a constant"
            )
        return tuple(known.reshape(-1))

    def known_ints(self, position: int, what: str) -> tuple[int, ...]:
        """The same, as numbers without symbols."""
        numbers = [size.number for size in self.known_sizes(position, what)]
        if any(number is None for number in numbers):
            raise RefusedError(f"{what} depends on a size that is not known", "make it a constant")
        return tuple(int(number or 0) for number in numbers)

    def number(self, position: int, what: str) -> float:
        """An input that must be a constant with one element."""
        array = self.input(position).array
        if array is None or array.size != 1:
            raise RefusedError(f"{what} is no constant", "make it one")
        return float(array.reshape(-1)[0])

    def axes(self, rank: int, position: int, *, since: int) -> tuple[int, ...] | None:
        """Axes as an input, or as an attribute before opset ``since``. None if there are none."""
        if self.version < since:
            given = self.attribute("axes")
        else:
            given = None if self.optional(position) is None else self.known_ints(position, "the list of axes")
        if given is None:
            return None
        found = tuple(self.axis(int(axis), rank) for axis in given)
        if len(set(found)) != len(found):
            raise RefusedError(f"the axes {list(given)} name one twice")
        return found

    # Shorthand for what most translations are made of

    def map(self, operation: str, *operands: "Value | float") -> Value:
        """An elementwise operation; numbers become constants of the dtype of the first value among the operands."""
        given = [item for item in operands if isinstance(item, Value)]
        first = next((item for item in reversed(given) if item.dtype != "bool"), given[-1])
        values = [item if isinstance(item, Value) else self.builder.like(first, item) for item in operands]
        return self.builder.map(operation, *values)


Translation = Callable[[Call], "Value | Sequence[Value | None]"]

TRANSLATIONS: Final[dict[tuple[str, str], Translation]] = {}
"""By domain (empty for ONNX's own) and operator."""


_T = TypeVar("_T", bound=Translation)


def operator(*names: str, domain: str = "", wide: bool = False) -> Callable[[_T], _T]:
    """Enter a function into the table.

    ``wide`` is for what is composed of several operations: float16 is computed in float32 and rounded once.
    """

    def enter(function: _T) -> _T:
        for name in names:
            TRANSLATIONS[domain, name] = _widened(function) if wide else function
        return function

    return enter


def _widened(function: Translation) -> Translation:
    def translate(call: Call) -> "Value | Sequence[Value | None]":
        if not call.has_half():
            return function(call)
        made = function(call.widened())
        results = [made] if isinstance(made, Value) else made
        return [
            value if value is None or value.dtype != "float32" else call.builder.cast(value, "float16")
            for value in results
        ]

    return translate


def is_float(value: Value) -> bool:
    return value.dtype in ("float16", "float32")
