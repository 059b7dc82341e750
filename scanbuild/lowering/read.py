"""From a ``Scan`` node to the normal form: shapes are brought together, the body is translated, names are given."""

from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from scanbuild.errors import InputError, Problem
from scanbuild.lowering.graph import Capture, Element, Node, Origin, Output, Port, Scan, Shape, State
from scanbuild.lowering.names import Namer, sanitized
from scanbuild.lowering.outside import evaluated, surroundings
from scanbuild.lowering.parts import Candidate, Model
from scanbuild.lowering.ports import Given, Ports
from scanbuild.lowering.scopes import captured
from scanbuild.lowering.signature import Signature, read_signature
from scanbuild.lowering.simplify import simplified
from scanbuild.lowering.sizes import Size
from scanbuild.lowering.translate import Builder, RefusedError, Symbols, Value, Walker
from scanbuild.lowering.translate.batching import with_batch
from scanbuild.lowering.translate.builder import TooLargeError
from scanbuild.lowering.translate.walker import Environment, Failed


@dataclass(frozen=True, kw_only=True, slots=True)
class Reading:
    """A ``Scan``, and values that its body reads from outside and that are sizes of its inputs: arrays of sizes."""

    scan: Scan
    derived: Mapping[str, Value]


def read_scan(model: Model, candidate: Candidate) -> Scan:
    """A ``Scan`` in normal form. InputError with all that stands in the way, each with its node and operator."""
    return read_all(model, candidate).scan


def read_all(model: Model, candidate: Candidate) -> Reading:
    """A ``Scan`` in normal form, with what it takes to run it alone. InputError as above."""
    reading = _Reader(model, candidate, read_signature(model, candidate)).read()
    return replace(reading, scan=simplified(reading.scan))


class _Problems:
    """What is wrong, each thing once."""

    def __init__(self, model: Model, candidate: Candidate) -> None:
        self._where = model.where
        self._scan = candidate.path
        self._found: dict[str, Problem] = {}

    def add(self, place: str, reason: str, hint: str = "") -> None:
        text = f"the Scan node `{self._scan}` cannot be lowered: {place}: {reason}"
        self._found.setdefault(text, Problem(message=text, file=self._where, hint=hint))

    def raise_if_any(self) -> None:
        if self._found:
            raise InputError(*self._found.values())


@dataclass(frozen=True, kw_only=True, slots=True)
class _Body:
    """A body, translated: its nodes, those of its inputs (captures last), and those of its results."""

    nodes: tuple[Node, ...]
    inputs: tuple[str, ...]
    results: tuple[str, ...]


class _Reader:
    def __init__(self, model: Model, candidate: Candidate, signature: Signature) -> None:
        self._model = model
        self._candidate = candidate
        self._signature = signature
        self._problems = _Problems(model, candidate)
        self._symbols = Symbols()
        self._outside = captured(signature.body)
        self._around = surroundings(model, candidate)
        self._ports = Ports(candidate, signature, self._around, self._symbols)
        self._opsets = {_domain(item.domain): int(item.version) for item in model.proto.opset_import}
        self._functions = {(_domain(item.domain), item.name): item for item in model.proto.functions}

    def read(self) -> Reading:
        given = list(self._given())
        self._problems.raise_if_any()
        derived = self._derived(given)
        captures = dict(self._captures(derived))
        self._problems.raise_if_any()
        results = self._ports.results()
        body = self._translated(given, captures, list(derived))
        assembled = self._assembled(given, captures, results, body)
        names = self._symbols.names([port.shape for port in assembled.inputs], self._ports.namer)
        made = _renamed(assembled, self._symbols, names)
        self._check_symbols(made)
        return Reading(scan=made, derived={name: self._named(value, names) for name, value in derived.items()})

    def _derived(self, given: list[Given], names: Iterable[str] | None = None) -> dict[str, Value]:
        """What the body reads from outside and is a size of the inputs, or several."""
        whole = {name: item.port.shape for name, item in zip(self._signature.inputs, given, strict=True)}
        told = {symbol for shape in whole.values() for size in shape for symbol in self._symbols.resolve(size).symbols}
        found = {}
        for name in self._around.derived if names is None else names:
            value = evaluated(
                self._model,
                name,
                self._around.derived[name],
                self._around,
                self._symbols,
                lambda leaf, info: self._symbols.resolve_all(whole.get(leaf) or self._ports.shape(info)),
            )
            if value is not None and all(told.issuperset(size.symbols) for size in _elements(value)):
                found[name] = value
        return found

    def _named(self, value: Value, names: dict[str, Size]) -> Value:
        """The same in symbols that are left, under their names."""
        assert value.known is not None
        found = value.known.copy()
        for index, size in np.ndenumerate(value.known):
            found[index] = self._symbols.resolve(size).at(names)
        return replace(value, sizes=found, array=None)

    def _check_symbols(self, scan: Scan) -> None:
        """Every symbol has to be the whole of a dimension that a caller brings."""
        whole = {size.symbol for port in scan.inputs for size in port.shape}
        for node in scan.nodes:
            for symbol in sorted(symbol for size in node.shape for symbol in size.symbols if symbol not in whole):
                place = f"node `{node.origin.name}` ({node.origin.operator})"
                self._problems.add(place, f"nothing that is given has the size {symbol}", "give the sizes as numbers")
        self._problems.raise_if_any()

    def _given(self) -> Iterator[Given]:
        for number, name in enumerate(self._signature.inputs):
            try:
                yield self._ports.given(number)
            except RefusedError as refusal:
                role = "initial state" if number < len(self._signature.states) else "scan input"
                self._problems.add(f"{role} `{name}`", refusal.reason, refusal.hint)

    def _captures(self, derived: Container[str]) -> Iterator[tuple[str, Port]]:
        for name in self._outside:
            if self._around.small(name) is not None or name in derived:
                continue
            try:
                yield name, self._ports.captured(name)
            except RefusedError as refusal:
                self._problems.add(f"captured value `{name}`", refusal.reason, refusal.hint)

    def _translated(self, given: list[Given], captures: dict[str, Port], derived: list[str]) -> _Body:
        """The body. Each time it says that two sizes are equal, it is translated again, with one for both."""
        while True:
            bound = self._symbols.bound
            self._symbols.forget()
            try:
                body = self._attempt(given, captures, derived)
            except TooLargeError:
                self._problems.add(
                    "the body", "it has too many nodes, those of its functions counted", "make it smaller"
                )
            self._problems.raise_if_any()
            if len(body.results) != len(self._signature.body.output):
                self._problems.add("the body", "not all of its outputs are made")
                self._problems.raise_if_any()
            if self._symbols.bound == bound:
                return body

    def _attempt(self, given: list[Given], captures: dict[str, Port], derived: list[str]) -> _Body:
        namer = self._ports.namer.copy()
        self._symbols.names([port.shape for port in (*(item.port for item in given), *captures.values())], namer)
        builder = Builder(self._symbols, namer)
        walker = Walker(builder, self._opsets, self._functions, self._problems.add)
        inner: Environment = {}
        for item in given:
            name = _free(sanitized(item.inner, "value"), namer)
            inner[item.inner] = builder.input(name, item.port.dtype, self._inner_shape(item))
        outer: Environment = {}
        for known, port in captures.items():
            outer[known] = builder.input(_free(port.name, namer), port.dtype, self._symbols.resolve_all(port.shape))
        inputs = tuple(node.name for node in builder.nodes)
        outer |= self._derived(given, derived)
        for known in self._outside:
            if known not in outer:
                outer[known] = walker.tensor(self._around.tensors[known], known)
        values = walker.graph(self._signature.body, outer | inner)
        results = [self._result(number, value, given, builder) for number, value in enumerate(values)]
        made = tuple(builder.place(value) for value in results if value is not None)
        return _Body(nodes=tuple(builder.nodes), inputs=inputs, results=made)

    def _inner_shape(self, item: Given) -> Shape:
        """What the body sees of an input."""
        hidden = {item.axis, 0 if self._signature.batched else None}
        return self._symbols.resolve_all(tuple(size for i, size in enumerate(item.port.shape) if i not in hidden))

    def _result(self, number: int, value: Value | Failed, given: list[Given], builder: Builder) -> Value | None:
        """A result of the body; that of a state has to be like the state."""
        if isinstance(value, Failed):
            return None
        if number >= len(self._signature.states):
            return value
        item = given[number]
        place = self._place(number, value, builder)
        if value.dtype != item.port.dtype:
            self._problems.add(place, f"it makes the state {value.dtype} from {item.port.dtype}", "cast it back")
            return None
        try:
            what = "a state has to keep its shape"
            builder.same_shape(self._inner_shape(item), value.shape, what)
        except RefusedError as refusal:
            self._problems.add(place, refusal.reason, refusal.hint or "give the initial state the shape it will have")
            return None
        return value

    def _place(self, number: int, value: Value, builder: Builder) -> str:
        origin = next((node.origin for node in builder.nodes if node.name == value.node), Origin())
        made = f", made by node `{origin.name}` ({origin.operator})" if origin.name else ""
        return f"state `{self._signature.body.input[number].name}`{made}"

    def _assembled(
        self, given: list[Given], captures: dict[str, Port], results: list[tuple[str, str]], body: _Body
    ) -> Scan:
        signature = self._signature
        count, total = len(signature.states), len(given)
        nodes, after = body.nodes, body.results
        if signature.batched:
            nodes, after = self._with_batch(body, total)
        by_name = {node.name: node for node in nodes}
        states = tuple(
            State(
                initial=item.port,
                final=replace(item.port, name=results[i][0], onnx=results[i][1]),
                before=body.inputs[i],
                after=after[i],
            )
            for i, item in enumerate(given[:count])
        )
        elements = tuple(
            Element(port=item.port, axis=item.axis or 0, reverse=signature.reversed[i], node=body.inputs[count + i])
            for i, item in enumerate(given[count:])
        )
        outputs = self._outputs([by_name[name] for name in after[count:]], results[count:])
        self._problems.raise_if_any()
        return Scan(
            name=self._candidate.name,
            opset=self._candidate.opset,
            nodes=nodes,
            states=states,
            elements=elements,
            captures=tuple(
                Capture(port=port, node=name) for port, name in zip(captures.values(), body.inputs[total:], strict=True)
            ),
            outputs=outputs,
            steps=self._ports.steps,
            equalities=tuple(self._symbols.equalities.values()),
            nonnegative=tuple(self._symbols.nonnegative),
        )

    def _with_batch(self, body: _Body, count: int) -> tuple[tuple[Node, ...], tuple[str, ...]]:
        """The nodes and results with the batch axis of version 8; ``count`` of the inputs have it too."""
        namer = self._ports.namer.copy()
        for node in body.nodes:
            namer.take(node.name)
        batch = self._symbols.resolve(self._ports.batch)
        try:
            return with_batch(body.nodes, body.inputs[:count], body.results, batch, self._symbols, namer)
        except RefusedError as refusal:
            self._problems.add("the batch axis of version 8", refusal.reason, refusal.hint)
            self._problems.raise_if_any()
            raise

    def _outputs(self, nodes: list[Node], names: list[tuple[str, str]]) -> tuple[Output, ...]:
        found = []
        for i, (node, (name, onnx)) in enumerate(zip(nodes, names, strict=True)):
            axis, rank = self._signature.output_axes[i], len(node.shape) + 1
            if not -rank <= axis < rank:
                hint = f"it can be {-rank} to {rank - 1}"
                self._problems.add(f"scan output `{name}`", f"axis {axis} is out of range for its rank {rank}", hint)
                continue
            axis %= rank
            shape = (*node.shape[:axis], self._ports.steps, *node.shape[axis:])
            port = Port(name=name, dtype=node.dtype, shape=shape, onnx=onnx)
            found.append(Output(port=port, axis=axis, prepend=self._signature.prepended[i], node=node.name))
        return tuple(found)


def _domain(domain: str) -> str:
    return "" if domain == "ai.onnx" else domain


def _free(wish: str, namer: Namer) -> str:
    """A wish for the name of a node that reads a port; the port may have that name itself."""
    return f"{wish}_now" if namer.has(wish) else wish


def _elements(value: Value) -> list[Size]:
    """The sizes of a value that is known."""
    return [] if value.known is None else [item for item in value.known.flat if isinstance(item, Size)]


def _renamed(scan: Scan, symbols: Symbols, names: dict[str, Size]) -> Scan:
    """The scan with every size in symbols that are left, under the names people will read."""

    def size(old: Size) -> Size:
        return symbols.resolve(old).at(names)

    def port(old: Port) -> Port:
        return replace(old, shape=tuple(map(size, old.shape)))

    def attribute(old: Any) -> Any:
        if isinstance(old, Size):
            return size(old)
        return tuple(map(attribute, old)) if isinstance(old, tuple) else old

    def node(old: Node) -> Node:
        changed = {name: attribute(value) for name, value in old.attributes.items()}
        return replace(old, shape=tuple(map(size, old.shape)), attributes=changed)

    pairs = [(size(left), size(right)) for left, right in scan.equalities]
    return replace(
        scan,
        nodes=tuple(map(node, scan.nodes)),
        states=tuple(replace(item, initial=port(item.initial), final=port(item.final)) for item in scan.states),
        elements=tuple(replace(item, port=port(item.port)) for item in scan.elements),
        captures=tuple(replace(item, port=port(item.port)) for item in scan.captures),
        outputs=tuple(replace(item, port=port(item.port)) for item in scan.outputs),
        steps=size(scan.steps),
        equalities=tuple(dict.fromkeys(pair for pair in pairs if pair[0] != pair[1])),
        nonnegative=tuple(dict.fromkeys(map(size, scan.nonnegative))),
    )
