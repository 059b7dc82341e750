"""Goes through a graph, node by node, and translates each; what goes wrong is gathered."""

from collections.abc import Callable, Sequence
from typing import Any, Final

from scanbuild.lowering.graph import Origin
from scanbuild.lowering.names import sanitized
from scanbuild.lowering.translate import constants, elementwise
from scanbuild.lowering.translate.builder import Builder
from scanbuild.lowering.translate.registry import TRANSLATIONS, Call
from scanbuild.lowering.translate.values import RefusedError, Value, dtype_name

_ROOMS: Final = (constants, elementwise)
"""Modules that enter translations into the table."""


class Failed:
    """Stands for a value that could not be made, and has been reported."""


FAILED: Final = Failed()
Environment = dict[str, "Value | Failed"]
Report = Callable[[str, str, str], None]
"""Takes the place (nodes by name), the reason and a hint."""


class Walker:
    """``opsets`` are the versions of operator sets by domain, ``functions`` those of the model by domain and name."""

    def __init__(
        self, builder: Builder, opsets: dict[str, int], functions: dict[tuple[str, str], Any], report: Report
    ) -> None:
        self._builder = builder
        self._opsets = opsets
        self._functions = functions
        self._report = report

    def graph(self, graph: Any, values: Environment, path: str = "") -> list["Value | Failed"]:
        """The values of a graph's outputs, for the values that its names have; it adds those of its nodes."""
        for tensor in graph.initializer:
            values[tensor.name] = self.tensor(tensor, f"{path}{tensor.name}")
        for sparse in graph.sparse_initializer:
            name = sparse.values.name
            self._report(path or name, f"`{name}` is a sparse tensor", "make it a dense one")
            values[name] = FAILED
        for number, node in enumerate(graph.node):
            place = f"{path}{node.name or (node.output[0] if node.output else '') or f'{node.op_type}_{number}'}"
            for name, value in zip(node.output, self._node(node, values, place), strict=False):
                if name:
                    values[name] = value
        return [values.get(item.name, FAILED) for item in graph.output]

    def tensor(self, tensor: Any, place: str) -> "Value | Failed":
        """A constant of the model."""
        from onnx import numpy_helper

        try:
            dtype = dtype_name(tensor.data_type)
            return self._builder.constant(numpy_helper.to_array(tensor), dtype)
        except RefusedError as refusal:
            self._report(f"constant `{place}`", refusal.reason, refusal.hint)
        except Exception as error:
            self._report(f"constant `{place}`", f"the constant cannot be read: {error}", "")
        return FAILED

    def _node(self, node: Any, values: Environment, place: str) -> Sequence["Value | Failed"]:
        failed = [FAILED] * len(node.output)
        inputs = [values.get(name, FAILED) if name else None for name in node.input]
        if any(isinstance(value, Failed) for value in inputs):
            return failed
        known = [value for value in inputs if not isinstance(value, Failed)]
        self._builder.origin = Origin(name=place, operator=node.op_type)
        self._builder.hint = sanitized(next(filter(None, node.output), ""), node.op_type.lower())
        try:
            made = self._translated(node, known)
        except RefusedError as refusal:
            self._report(f"node `{place}` ({node.op_type})", refusal.reason, refusal.hint)
            return failed
        results = [made] if isinstance(made, Value) else made
        return [FAILED if value is None else value for value in results]

    def _translated(self, node: Any, inputs: list["Value | None"]) -> "Value | Sequence[Value | None]":
        domain = "" if node.domain == "ai.onnx" else node.domain
        translation = TRANSLATIONS.get((domain, node.op_type))
        if translation is None:
            raise RefusedError(
                "this operator cannot be part of a kernel", "see the list of operators in the documentation"
            )
        attributes = attributes_of(node)
        call = Call(self._builder, node, self._opsets.get(domain, 1), inputs, attributes)
        return translation(call)


def attributes_of(node: Any) -> dict[str, Any]:
    """The attributes of a node: numbers, text, lists of them, tensors as they are in the model."""
    from onnx import helper

    found = {}
    for attribute in node.attribute:
        value = helper.get_attribute_value(attribute)
        found[attribute.name] = value.decode("utf-8", "replace") if isinstance(value, bytes) else value
    return found
