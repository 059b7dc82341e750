"""Goes through a graph, node by node, and translates each; what goes wrong is gathered."""

from collections.abc import Callable, Sequence
from typing import Any, Final

from scanbuild.lowering.graph import Origin
from scanbuild.lowering.names import sanitized
from scanbuild.lowering.translate import activations, constants, elementwise, indexing, linear, reducing, shaping
from scanbuild.lowering.translate.builder import Builder
from scanbuild.lowering.translate.registry import TRANSLATIONS, Call
from scanbuild.lowering.translate.values import DTYPES, RefusedError, Value, array_of

_ROOMS: Final = (activations, constants, elementwise, indexing, linear, reducing, shaping)
"""Modules that enter translations into the table."""


_BRANCHES: Final = ("then_branch", "else_branch")
_INSTEAD: Final = {
    "Loop": "write its turns one after another, if they are few",
    "Scan": "the inner Scan can be lowered by itself: choose it by its name",
    **dict.fromkeys(("LSTM", "GRU", "RNN"), "write the cell with MatMul, Sigmoid and Tanh"),
    **dict.fromkeys(("ScatterND", "ScatterElements", "Scatter"), "choose with Where and a comparison of indices"),
    **dict.fromkeys(("NonZero", "Unique", "Compress"), "its size depends on values; mask with Where instead"),
}
_DEEPEST: Final = 60


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
        self._context = _checker(opsets.get("", 1))
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
        self.nodes(graph.node, values, path)
        return [self._lookup(values, item.name, f"output `{path}{item.name}`") for item in graph.output]

    def _lookup(self, values: Environment, name: str, place: str) -> "Value | Failed":
        if name not in values:
            self._report(place, f"`{name}` is not made before it is read", "put the nodes in order")
            values[name] = FAILED
        return values[name]

    def nodes(self, nodes: Sequence[Any], values: Environment, path: str) -> None:
        """Translate nodes one after another; their outputs are added to the values."""
        for number, node in enumerate(nodes):
            place = f"{path}{node.name or (node.output[0] if node.output else '') or f'{node.op_type}_{number}'}"
            for name, value in zip(node.output, self._node(node, values, place), strict=False):
                if name:
                    values[name] = value

    def tensor(self, tensor: Any, place: str) -> "Value | Failed":
        """A constant of the model."""
        try:
            return self._builder.constant(array_of(tensor))
        except RefusedError as refusal:
            self._report(f"constant `{place}`", refusal.reason, refusal.hint)
            return FAILED

    def _node(self, node: Any, values: Environment, place: str) -> Sequence["Value | Failed"]:
        failed = [FAILED] * len(node.output)
        self._builder.count_node()
        reader = f"node `{place}` ({node.op_type})"
        inputs = [self._lookup(values, name, reader) if name else None for name in node.input]
        if any(isinstance(value, Failed) for value in inputs):
            return failed
        known = [value for value in inputs if not isinstance(value, Failed)]
        self._builder.origin = Origin(name=place, operator=node.op_type)
        self._builder.hint = sanitized(next(filter(None, node.output), ""), node.op_type.lower())
        try:
            made = self._translated(node, known, values, place)
        except RefusedError as refusal:
            self._report(reader, refusal.reason, refusal.hint)
            return failed
        results = [made] if isinstance(made, (Value, Failed)) else made
        return [FAILED if value is None else value for value in results]

    def _translated(
        self, node: Any, inputs: list["Value | None"], values: Environment, place: str
    ) -> "Value | Sequence[Value | Failed | None]":
        domain = "" if node.domain == "ai.onnx" else node.domain
        function = self._functions.get((domain, node.op_type))
        if function is not None:
            return self._function(function, node, inputs, f"{place}/")
        version = self._opsets.get(domain, 1)
        if domain == "" and (domain, node.op_type) in TRANSLATIONS:
            _check(node, self._context)
        if (domain, node.op_type) == ("", "If"):
            return self._if(node, inputs, values, place)
        translation = TRANSLATIONS.get((domain, node.op_type))
        if translation is not None:
            return translation(Call(self._builder, node, version, inputs, attributes_of(node)))
        function = function_of(node, version, inputs) if domain == "" else None
        if function is None:
            hint = _INSTEAD.get(node.op_type, "compute it outside of the Scan")
            raise RefusedError("this operator cannot be part of a kernel", hint)
        return self._function(function, node, inputs, f"{place}/")

    def _function(
        self, function: Any, node: Any, inputs: list["Value | None"], path: str
    ) -> Sequence["Value | Failed | None"]:
        """The nodes of a function in place of the one that calls it."""
        if path.count("/") > _DEEPEST:
            raise RefusedError("functions call each other without end, or almost")
        inner: Environment = {}
        for name, value in zip(function.input, inputs, strict=False):
            if value is not None:
                inner[name] = value
        attributes = {item.name: item for item in (*function.attribute_proto, *node.attribute)}
        names = {name for name in function.input if name not in inner}
        nodes = [_bound(item, attributes, names) for item in function.node]
        opsets = {**self._opsets, **{_domain(item.domain): int(item.version) for item in function.opset_import}}
        walker = Walker(self._builder, opsets, self._functions, self._report)
        walker.nodes(nodes, inner, path)
        wanted = [name for name, given_to in zip(function.output, node.output, strict=False) if given_to]
        made = {name: self._lookup(inner, name, f"output `{path}{name}`") for name in wanted}
        return [made.get(name) for name in function.output]

    def _if(
        self, node: Any, inputs: list["Value | None"], values: Environment, place: str
    ) -> Sequence["Value | Failed | None"]:
        """Both branches, and a choice between their results; only one of them if the condition is known."""
        condition = inputs[0] if inputs else None
        if condition is None or condition.dtype != "bool":
            raise RefusedError("its condition is not bool")
        branches = {item.name: item.g for item in node.attribute}
        if not branches.keys() >= {"then_branch", "else_branch"}:
            raise RefusedError("it lacks a branch")
        known = condition.known
        if known is not None and known.size == 1:
            name = "then_branch" if known.reshape(-1)[0] else "else_branch"
            return self.graph(branches[name], dict(values), f"{place}.{name}/")
        results = [self.graph(branches[name], dict(values), f"{place}.{name}/") for name in _BRANCHES]
        self._builder.origin = Origin(name=place, operator="If")
        return [self._chosen(condition, left, right) for left, right in zip(*results, strict=False)]

    def _chosen(self, condition: Value, left: "Value | Failed", right: "Value | Failed") -> "Value | Failed":
        if isinstance(left, Failed) or isinstance(right, Failed):
            return FAILED
        hint = "both branches have to give values of one type and shape"
        if left.dtype != right.dtype:
            raise RefusedError(f"one branch gives {left.dtype}, the other {right.dtype}", hint)
        try:
            self._builder.same_shape(left.shape, right.shape, "the branches differ")
        except RefusedError as refusal:
            raise RefusedError(refusal.reason, hint) from None
        return self._builder.map("where", self._builder.reshape(condition, ()), left, right)


def _domain(domain: str) -> str:
    return "" if domain == "ai.onnx" else domain


def _checker(version: int) -> Any:
    """ONNX's context for checking nodes of its own operators."""
    from onnx import checker

    context = checker.C.CheckerContext()
    context.ir_version = 10
    context.opset_imports = {"": version}
    return context


def _check(node: Any, context: Any) -> None:
    """Refused for attributes of a wrong kind, or a wrong number of inputs or outputs."""
    from onnx import checker

    try:
        checker.check_node(node, context)
    except checker.ValidationError as error:
        raise RefusedError(f"ONNX does not accept it: {str(error).splitlines()[0]}") from None


def _bound(node: Any, given: dict[str, Any], missing: set[str]) -> Any:
    """A node of a function with the attributes that the call gives, without inputs that it does not give."""
    bound = type(node)()
    bound.CopyFrom(node)
    for position, name in enumerate(bound.input):
        if name in missing:
            bound.input[position] = ""
    kept = []
    for attribute in bound.attribute:
        if attribute.ref_attr_name:
            if attribute.ref_attr_name not in given:
                continue
            name = attribute.name
            attribute.CopyFrom(given[attribute.ref_attr_name])
            attribute.name = name
        for graph in [attribute.g] if attribute.HasField("g") else attribute.graphs:
            inner = [_bound(item, given, missing) for item in graph.node]
            del graph.node[:]
            graph.node.extend(inner)
        kept.append(attribute)
    other = type(node)()
    other.CopyFrom(bound)
    del other.attribute[:]
    other.attribute.extend(kept)
    return other


def function_of(node: Any, version: int, inputs: Sequence["Value | None"]) -> Any:
    """The function that ONNX defines an operator by; None if it has none."""
    from onnx import FunctionProto, defs

    try:
        schema: Any = defs.get_schema(node.op_type, version, node.domain)
    except Exception:
        return None
    try:
        if schema.has_function:
            text = schema.get_function_with_opset_version(
                max(v for v in schema.function_opset_versions if v <= version)
            )
        elif schema.has_context_dependent_function:
            versions = [v for v in schema.context_dependent_function_opset_versions if v <= version]
            types = [_type(value).SerializeToString() for value in inputs]
            text = schema.get_context_dependent_function_with_opset_version(
                max(versions), node.SerializeToString(), types
            )
        else:
            return None
        function = FunctionProto()
        function.ParseFromString(text)
        defaults = (item.default_value for item in schema.attributes.values())
        function.attribute_proto.extend(value for value in defaults if value.name)
    except Exception:
        return None
    return function


def _type(value: "Value | None") -> Any:
    from onnx import TypeProto, helper

    if value is None:
        return TypeProto()
    number = next(number for number, name in DTYPES.items() if name == value.dtype)
    return helper.make_tensor_type_proto(number, [size.number for size in value.shape])


def attributes_of(node: Any) -> dict[str, Any]:
    """The attributes of a node: numbers, text, lists of them, tensors as they are in the model."""
    from onnx import helper

    found = {}
    for attribute in node.attribute:
        value = helper.get_attribute_value(attribute)
        found[attribute.name] = value.decode("utf-8", "replace") if isinstance(value, bytes) else value
    return found
