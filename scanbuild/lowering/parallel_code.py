"""The template of one pass of the parallel scan: what ``_shared/scan-tiles.wgsl.jinja`` asks its includer to define.

A lane is an element of the shape that all states and outputs can be broadcast to. Where a lane's own element of a scan
input is read both to make an element of the scan and to compute outputs, it stays in a register in between.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache

from scanbuild.lowering.algebra import Recurrence
from scanbuild.lowering.blocks import Block, Value, Variable
from scanbuild.lowering.elements import ZERO, CannotExpressError, Emitter, Index, Load, use_counts
from scanbuild.lowering.graph import Element, Node, Origin, Output, Port, Scan, Shape, State
from scanbuild.lowering.parallel_monoids import loaded, monoid
from scanbuild.lowering.sizes import ONE, Size, product
from scanbuild.lowering.storage import namer, read_text, reader, step_sources, write_text
from scanbuild.lowering.wgsl import SCALARS
from scanbuild.resources import data_folder

_FIXED = ("Elem", "elem_identity", "elem_combine", "elem_initial", "load_elem", "emit", "emit_final", "main", "params")
_PARAMETERS = ("elem", "before", "after", "lane", "state", "step")


@dataclass(frozen=True, kw_only=True, slots=True)
class Layer:
    """The recurrences that one pass scans, and the outputs that it can compute then.

    ``kept``: states whose values after each step later passes read; ``known``: such states of earlier passes.
    """

    recurrences: tuple[Recurrence, ...]
    outputs: tuple[Output, ...]
    kept: tuple[int, ...]
    known: tuple[int, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Code:
    """A template's parts, and what it binds: ports and scratches, by name."""

    text: str
    tables: tuple[str, ...]
    parts: tuple[tuple[str, str], ...]
    words: int
    reads: Mapping[str, Port]
    writes: Mapping[str, Port]
    trails: tuple[int, ...]

    @property
    def place_words(self) -> int:
        """Words in which an element is told to other workgroups: integers need one more between them."""
        return self.words + any("f32" not in kind for _, kind in self.parts)


def lanes_of(scan: Scan) -> Shape:
    """The shape that states and outputs are broadcast to; CannotExpressError if there is none."""
    found: Shape = ()
    nodes = scan.by_name
    shapes = [(state.before, state.initial.shape) for state in scan.states]
    shapes += [(output.port.name, nodes[output.node].shape) for output in scan.outputs]
    for name, shape in shapes:
        rank = max(len(found), len(shape))
        pairs = zip(_padded(found, rank), _padded(shape, rank), strict=True)
        met = [sorted({one, other} - {ONE}, key=str) for one, other in pairs]
        if any(len(sizes) > 1 for sizes in met):
            raise CannotExpressError(f"{name} has other lanes than what comes before it", nodes_origin(scan, name))
        found = tuple(sizes[0] if sizes else ONE for sizes in met)
    return found


def nodes_origin(scan: Scan, name: str) -> Origin:
    node = scan.by_name.get(name)
    return Origin() if node is None else node.origin


def trail_name(scan: Scan, state: int) -> str:
    """The scratch that holds a state's values after each step, row by row."""
    return f"{scan.states[state].before}_trail"


def write_layer(scan: Scan, nodes: Mapping[str, Node], layer: Layer, lanes: Shape) -> Code:
    """The functions of a pass; ``nodes`` are the body's and those grown beside it."""
    return _Writer(scan, nodes, layer, lanes).code()


@dataclass(slots=True)
class _Function:
    """A function in the making."""

    emit: Emitter
    root: Block


class _Writer:
    def __init__(self, scan: Scan, nodes: Mapping[str, Node], layer: Layer, lanes: Shape) -> None:
        self.scan, self.nodes, self.layer, self.lanes = scan, nodes, layer, lanes
        self.names = namer(scan)
        for word in _FIXED:
            if self.names.take(word) != word:
                raise CannotExpressError(f"a port is called {word}, which the kernel needs as a name", Origin())
        ports = {port.name for port in (*scan.inputs, *scan.results)}
        self.word = {
            word: word if self.names.has(word) and word not in ports else self.names.take(word) for word in _PARAMETERS
        }
        self.words = {index: state.before for index, state in enumerate(scan.states)}
        self.monoids = [monoid(recurrence, self.words) for recurrence in layer.recurrences]
        self.members = {index: (made, name) for made in self.monoids for index, name in made.states.items()}
        self.tables: list[str] = []
        self.step, self.row = Size.of(f"%{self.word['step']}"), Size.of(f"%{self.word['lane']}")
        wide = [axis for axis, size in enumerate(lanes) if size != ONE]
        self.axes = {
            axis: self.word["lane"] if len(wide) == 1 else self.names.take(f"{self.word['lane']}{axis}")
            for axis in wide
        }
        self.lane = tuple(ZERO if size == ONE else Size.of(f"%{self.axes[axis]}") for axis, size in enumerate(lanes))
        self.uses = use_counts(list(nodes.values()))

    def code(self) -> Code:
        shared = self._shared_elements()
        load = self._load(shared)
        texts = [self._struct(shared), self._identity(shared), self._combine(), self._initial(), load]
        texts += [self._emit(shared), self._final()]
        parts = tuple(part for made in self.monoids for part in made.parts)
        text = "\n".join(texts)
        if "wide_" in text:
            text = f"{_wide()}\n{text}"
        text = f"{self._trail_readers(text)}{text}"
        ports = {port.name: port for port in self.scan.inputs if self._mentioned(port.name, text)}
        outputs = [output.port for output in self.layer.outputs]
        finals = [self.scan.states[index].final for index in self.members]
        return Code(
            text=text,
            tables=tuple(dict.fromkeys(self.tables)),
            parts=parts,
            words=sum(made.words for made in self.monoids),
            reads=ports,
            writes={port.name: port for port in (*outputs, *finals)},
            trails=tuple(index for index in self.layer.known if trail_name(self.scan, index) in text),
        )

    # The functions

    def _struct(self, shared: Sequence[Element]) -> str:
        members = [part for made in self.monoids for part in made.parts]
        members += [(self._register(element), SCALARS[element.port.dtype]) for element in shared]
        return "struct Elem {\n" + "".join(f"  {name}: {kind},\n" for name, kind in members) + "}\n"

    def _identity(self, shared: Sequence[Element]) -> str:
        del shared
        lines = [f"  elem.{name} = {text};" for made in self.monoids for name, text in made.identity.items()]
        return "\n".join(["fn elem_identity() -> Elem {", "  var elem: Elem;", *lines, "  return elem;", "}\n"])

    def _combine(self) -> str:
        lines = ["  var both = right;"]
        for made in self.monoids:
            lines += [f"  {line}" for line in made.lines]
            lines += [f"  both.{name} = {text};" for name, text in made.combined.items()]
        head = "fn elem_combine(left: Elem, right: Elem) -> Elem {"
        return "\n".join([head, *lines, "  return both;", "}\n"])

    def _initial(self) -> str:
        """Elements that ignore what is to their left: the offset is the state, factors are never looked at."""
        with self._function(f"fn elem_initial({self.word['lane']}: u32) -> Elem", {}, with_step=False) as made:
            made.root.add(f"var {self.word['elem']} = elem_identity();")
            for index, (kept, member) in self.members.items():
                state = self.scan.states[index]
                value = reader(state.initial)(made.emit, self._own(state.initial.shape))
                text = f"select(0u, 1u, {value.text})" if kept.dtype == "bool" else value.text
                made.root.add(f"{self.word['elem']}.{member} = {text};")
            made.root.add(f"return {self.word['elem']};")
        return made.root.render()

    def _load(self, shared: Sequence[Element]) -> str:
        sources = self._common_sources()
        with self._function(
            f"fn load_elem({self.word['step']}: u32, {self.word['lane']}: u32) -> Elem", sources
        ) as made:
            made.root.add(f"var {self.word['elem']} = elem_identity();")
            for recurrence in self.layer.recurrences:
                for member, text in loaded(recurrence, self.words, self._evaluator(made)).items():
                    made.root.add(f"{self.word['elem']}.{member} = {text};")
            for element in shared:
                made.root.add(f"{self.word['elem']}.{self._register(element)} = {self._evaluator(made)(element.node)};")
            made.root.add(f"return {self.word['elem']};")
        return made.root.render()

    def _emit(self, shared: Sequence[Element]) -> str:
        sources = self._common_sources() | self._state_sources()
        for element in shared:
            sources[element.node] = self._registered(element, sources[element.node])
        word = self.word
        places = f"{word['step']}: u32, {word['lane']}: u32"
        head = f"fn emit({places}, {word['elem']}: Elem, {word['before']}: Elem, {word['after']}: Elem)"
        with self._function(head, sources) as made:
            for output in self.layer.outputs:
                self._write_output(made, output)
            for index in self.layer.kept:
                self._write_trail(made, index)
        return made.root.render()

    def _final(self) -> str:
        with self._function(
            f"fn emit_final({self.word['lane']}: u32, {self.word['state']}: Elem)", {}, with_step=False
        ) as made:
            for index in self.members:
                state = self.scan.states[index]
                own = self._own(state.final.shape)
                at = made.emit.index_value(made.emit.address(own, state.final.shape)).text
                with self._guarded(made, own):
                    made.emit.block.add(write_text(state.final, at, self._state_text(index, self.word["state"])))
        return made.root.render()

    def _trail_readers(self, text: str) -> str:
        """Functions that read states of earlier passes, before and after a step."""
        found = ""
        for index in self.layer.known:
            state, name = self.scan.states[index], trail_name(self.scan, index)
            if name not in text:
                continue
            scalar = SCALARS[state.initial.dtype]
            element = f"({name}[at] != 0u)" if scalar == "bool" else f"{name}[at]"
            found += f"fn {name}_after(at: u32) -> {scalar} {{\n  return {element};\n}}\n\n"
            if f"{name}_before(" in text:
                found += (
                    f"fn {name}_before(step: u32, at: u32, width: u32) -> {scalar} {{\n"
                    f"  if (step == 0u) {{\n    return {read_text(state.initial, 'at')};\n  }}\n"
                    f"  return {name}_after((step - 1u) * width + at);\n}}\n\n"
                )
        return found

    # Sources

    def _common_sources(self) -> dict[str, Load]:
        found = step_sources(self.scan, self.step)
        for index in self.layer.known:
            state = self.scan.states[index]
            found[state.before] = self._trail_reader(index, after=False)
            if self.nodes[state.after].operation != "input":
                found[state.after] = self._trail_reader(index, after=True)
        return found

    def _registered(self, element: Element, otherwise: Load) -> Load:
        own = self._own(self.nodes[element.node].shape)

        def load(emit: Emitter, index: Index) -> Value:
            if index == own:
                return Value(f"{self.word['elem']}.{self._register(element)}", emit.root, atomic=True, cheap=True)
            return otherwise(emit, index)

        return load

    def _state_sources(self) -> dict[str, Load]:
        found: dict[str, Load] = {}
        for index in self.members:
            state = self.scan.states[index]
            found[state.before] = self._state_reader(state, index, self.word["before"])
            if self.nodes[state.after].operation != "input":
                found[state.after] = self._state_reader(state, index, self.word["after"])
        return found

    def _state_reader(self, state: State, index: int, holder: str) -> Load:
        own = self._own(state.initial.shape)

        def load(emit: Emitter, at: Index) -> Value:
            if at != own:
                reason = f"elements of the state {state.before} are needed in other lanes than their own"
                raise CannotExpressError(reason, self.nodes[state.after].origin)
            return Value(self._state_text(index, holder), emit.root, atomic=True, cheap=True)

        return load

    def _trail_reader(self, index: int, *, after: bool) -> Load:
        state, name = self.scan.states[index], trail_name(self.scan, index)
        width = product(list(state.initial.shape))

        def load(emit: Emitter, at: Index) -> Value:
            offset = emit.address(at, state.initial.shape)
            if after:
                place = emit.index_value(self.step * width + offset)
                return Value(f"{name}_after({place.text})", place.block, atomic=True)
            place = emit.index_value(offset)
            text = f"{name}_before({self.word['step']}, {place.text}, {emit.index_value(width).text})"
            return Value(text, emit.root, atomic=True)

        return load

    def _state_text(self, index: int, holder: str) -> str:
        made, member = self.members[index]
        text = f"{holder}.{member}"
        if made.dtype == "bool":
            return f"({text} != 0u)"
        return f"half({text})" if made.dtype == "float16" else text

    # Writing

    def _write_output(self, made: _Function, output: Output) -> None:
        own = self._own(self.nodes[output.node].shape)
        position = self.scan.steps - 1 - self.step if output.prepend else self.step
        whole = (*own[: output.axis], position, *own[output.axis :])
        emit = made.emit
        with self._guarded(made, own):
            value = emit.value(output.node, own)
            at = emit.index_value(emit.address(whole, output.port.shape))
            emit.block.add(write_text(output.port, at.text, value.text))

    def _write_trail(self, made: _Function, index: int) -> None:
        state = self.scan.states[index]
        own = self._own(state.initial.shape)
        emit = made.emit
        offset = self.step * product(list(state.initial.shape)) + emit.address(own, state.initial.shape)
        text = self._state_text(index, self.word["after"])
        kept = f"select(0u, 1u, {text})" if state.initial.dtype == "bool" else text
        with self._guarded(made, own):
            emit.block.add(f"{trail_name(self.scan, index)}[{emit.index_value(offset).text}] = {kept};")

    @contextmanager
    def _guarded(self, made: _Function, own: Index) -> Iterator[None]:
        """Where several lanes hold the same element, the first of them writes it."""
        used = frozenset().union(*(at.symbols for at in own)) if own else frozenset()
        spare = [at for at in self.lane if at != ZERO and not at.symbols & used]
        if not spare:
            yield
            return
        test = " && ".join(f"{made.emit.index_value(at).text} == 0u" for at in spare)
        with made.emit.inside(f"if ({test})", "branch"):
            yield

    # Functions

    @contextmanager
    def _function(self, head: str, sources: Mapping[str, Load], *, with_step: bool = True) -> Iterator[_Function]:
        root = Block(head=head)
        emit = Emitter(nodes=self.nodes, sources=sources, names=self.names.copy(), root=root, uses=self.uses)
        emit.variables[f"%{self.word['lane']}"] = Variable(root, product(list(self.lanes)))
        if with_step:
            emit.variables[f"%{self.word['step']}"] = Variable(root, self.scan.steps)
        self._take_lane_apart(emit)
        yield _Function(emit=emit, root=root)
        self.tables += emit.tables.values()

    def _take_lane_apart(self, emit: Emitter) -> None:
        wide = [axis for axis, size in enumerate(self.lanes) if size != ONE]
        if len(wide) < 2:
            return
        emit.flats[self.lane, self.lanes] = self.row
        for place, axis in enumerate(wide):
            rest = emit.index_value(product([self.lanes[other] for other in wide[place + 1 :]])).operand
            whole = self.word["lane"]
            text = whole if place == len(wide) - 1 else f"{whole} / {rest}"
            if place:
                text = f"{text} % {emit.index_value(self.lanes[axis]).operand}"
            emit.root.add(f"let {self.axes[axis]} = {text};")
            emit.variables[f"%{self.axes[axis]}"] = Variable(emit.root, self.lanes[axis])

    def _evaluator(self, made: _Function) -> Callable[[str], str]:
        def value(name: str) -> str:
            return made.emit.value(name, self._own(self.nodes[name].shape)).text

        return value

    def _own(self, shape: Shape) -> Index:
        """A lane's element of what is broadcast to the lanes, or has further axes of size 1 in front."""
        tail = self.lane[max(0, len(self.lane) - len(shape)) :]
        tail = (*[ZERO] * (len(shape) - len(tail)), *tail)
        return tuple(ZERO if size == ONE else at for size, at in zip(shape, tail, strict=True))

    def _register(self, element: Element) -> str:
        return f"own_{element.port.name}"

    def _shared_elements(self) -> list[Element]:
        """Scan inputs of which a lane's own element is read both for the scan and for outputs: by trying both."""
        loads: set[str] = set()
        emits: set[str] = set()
        sources = self._common_sources()
        with self._function("", self._noting(sources, loads)) as made:
            for recurrence in self.layer.recurrences:
                loaded(recurrence, self.words, self._evaluator(made))
        with self._function("", self._noting(sources, emits) | self._state_sources()) as made:
            for output in self.layer.outputs:
                self._write_output(made, output)
        self.tables.clear()
        return [element for element in self.scan.elements if element.node in loads & emits]

    def _noting(self, sources: Mapping[str, Load], seen: set[str]) -> dict[str, Load]:
        def noting(name: str, load: Load) -> Load:
            def noted(emit: Emitter, index: Index) -> Value:
                if index == self._own(self.nodes[name].shape):
                    seen.add(name)
                return load(emit, index)

            return noted

        return {name: noting(name, load) for name, load in sources.items()}

    def _mentioned(self, port: str, text: str) -> bool:
        return any(f"{port}{end}" in _tokens(text) for end in ("", "_at"))


def _tokens(text: str) -> frozenset[str]:
    found, word = set(), ""
    for char in text + " ":
        if char.isalnum() or char == "_":
            word += char
        elif word:
            found.add(word)
            word = ""
    return frozenset(found)


def _padded(shape: Shape, rank: int) -> Shape:
    return (ONE,) * (rank - len(shape)) + shape


@cache
def _wide() -> str:
    return (data_folder("templates") / "_lowered" / "wide.wgsl").read_text(encoding="utf-8")
