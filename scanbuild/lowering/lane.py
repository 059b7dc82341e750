"""Lane-serial: one invocation for each lane of the states walks all steps, its states in registers.

It applies where each element of a state depends on the same element of the states alone. States whose shapes can be
broadcast to each other share lanes: of an axis of size 1, each lane computes the same. States that have nothing to do
with each other get passes of their own, and so does an output that depends on no state, which needs no walk.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from scanbuild.lowering.blocks import Block, Value, Variable
from scanbuild.lowering.dependence import needed, reads_of
from scanbuild.lowering.draft import Draft, Refusal, Variant
from scanbuild.lowering.elements import (
    ZERO,
    CannotExpressError,
    Emitter,
    Index,
    Load,
    count,
    targets,
    use_counts,
)
from scanbuild.lowering.graph import Origin, Output, Scan, Shape, State
from scanbuild.lowering.heading import heading
from scanbuild.lowering.outputs import HEAD, WIDTH, map_pass, store_output
from scanbuild.lowering.sizes import ONE, Size
from scanbuild.lowering.storage import (
    SIZES,
    Shader,
    as_json,
    mentioned,
    namer,
    reader,
    shape_text,
    step_sources,
    write_text,
)
from scanbuild.lowering.tracing import Read, trace

PRIORITY: Final = 30
_MOST_BUFFERS: Final = 8
_BATCH: Final = 4
_LARGE_BODY: Final = 40


@dataclass(frozen=True, kw_only=True, slots=True)
class Group:
    """States that share lanes, and the outputs that are computed along with them. Without states: a lone output."""

    states: tuple[int, ...]
    outputs: tuple[int, ...]
    lanes: Shape


@dataclass(frozen=True, kw_only=True, slots=True)
class Place:
    """Which elements of an output a lane computes.

    ``index`` is the output's index in terms of lane variables and free variables (loops over their ``extents``);
    ``guards`` are pairs (position, extent): it is this lane's if every position is below its extent.
    """

    index: Index
    free: tuple[tuple[str, Size], ...]
    guards: tuple[tuple[Size, Size], ...]


def draft(scan: Scan) -> Draft:
    """The lane-serial variant of a ``Scan``."""
    try:
        groups = _groups(scan)
        passes: list[dict[str, Any]] = []
        templates: dict[str, str] = {}
        for number, group in enumerate(groups):
            name = "lanes" if len(groups) == 1 else f"lanes-{number + 1}"
            made = _pass(scan, group, name)
            passes.append(made[0])
            templates[f"{name}.wgsl.jinja"] = made[1]
    except CannotExpressError as error:
        return Refusal(reason=error.reason, origin=error.origin)
    entry: dict[str, Any] = {
        "id": "lane_serial",
        "description": "One invocation for each lane of the states walks all steps.",
        "priority": PRIORITY,
    }
    most = max(sum(binding != SIZES for binding in item["bindings"]) for item in passes)
    clauses = [f"{size} >= 1" for size in sorted({size for group in groups for size in _owed(scan, group)}, key=str)]
    if clauses:
        entry["when"] = clauses
    if most > _MOST_BUFFERS:
        entry["requires"] = {"limits": {"maxStorageBuffersPerShaderStage": most}}
    entry["passes"] = passes
    return Variant(entry=entry, templates=templates)


def _owed(scan: Scan, group: Group) -> set[Size]:
    """Sizes of lanes that must not be zero: where there is no lane, nobody computes what does not have that size."""
    shapes = [scan.states[index].initial.shape for index in group.states]
    if group.states:
        shapes += [scan.by_name[scan.outputs[index].node].shape for index in group.outputs]
    return {size for shape in shapes for size in group.lanes if size.number is None and size not in shape}


def traced_lanes(shape: Shape) -> Index:
    """The index of a lane, as it is traced."""
    return tuple(ZERO if size == ONE else Size.of(f"%lane{axis}") for axis, size in enumerate(shape))


def own_index(shape: Shape, lane: Index) -> Index:
    """The index of a lane's element of a state that is broadcast to the lanes."""
    tail = lane[len(lane) - len(shape) :]
    return tuple(ZERO if size == ONE else at for size, at in zip(shape, tail, strict=True))


def _groups(scan: Scan) -> list[Group]:
    """States joined by what reads them; CannotExpressError if the states of a group have no common lanes."""
    reads = reads_of(scan)
    leader = list(range(len(scan.states)))

    def find(item: int) -> int:
        while leader[item] != item:
            item = leader[item]
        return item

    ties = [{index, *reads[state.after].states} for index, state in enumerate(scan.states)]
    ties += [set(reads[output.node].states) for output in scan.outputs]
    for tie in ties:
        first, *others = sorted(tie) or [0]
        for other in others:
            leader[find(other)] = find(first)
    groups = []
    for head in sorted({find(index) for index in range(len(scan.states))}):
        members = tuple(index for index in range(len(scan.states)) if find(index) == head)
        outputs = tuple(index for index, output in enumerate(scan.outputs) if reads[output.node].states & set(members))
        groups.append(Group(states=members, outputs=outputs, lanes=_lanes(scan, members)))
    for index, output in enumerate(scan.outputs):
        if not reads[output.node].states:
            groups.append(Group(states=(), outputs=(index,), lanes=output.port.shape))
    return groups


def _lanes(scan: Scan, members: Sequence[int]) -> Shape:
    shapes = [scan.states[index].initial.shape for index in members]
    rank = max(map(len, shapes))
    found: list[Size] = []
    for axis in range(rank):
        sizes = {shape[axis - rank + len(shape)] for shape in shapes if axis - rank + len(shape) >= 0} - {ONE}
        if len(sizes) > 1:
            names = ", ".join(
                f"{scan.states[index].before} {shape_text(shape)}" for index, shape in zip(members, shapes, strict=True)
            )
            raise CannotExpressError(f"the states that depend on each other have no common lanes: {names}", Origin())
        found.append(sizes.pop() if sizes else ONE)
    return tuple(found)


def _check_states(scan: Scan, group: Group) -> None:
    """CannotExpressError where a state reads another element of a state than its own."""
    for number in group.states:
        state = scan.states[number]
        index = own_index(state.initial.shape, traced_lanes(group.lanes))
        for read in trace(scan, state.after, index, _extents(group.lanes)):
            wanted = own_index(_state_of(scan, read).initial.shape, traced_lanes(group.lanes))
            if read.index != wanted:
                raise CannotExpressError(
                    f"the state {state.before} reads other elements of the state {read.source} than its own",
                    read.origin,
                )


def _state_of(scan: Scan, read: Read) -> State:
    return next(state for state in scan.states if state.before == read.source)


def _extents(lanes: Shape) -> dict[str, Size]:
    return {f"%lane{axis}": size for axis, size in enumerate(lanes)}


def _place(scan: Scan, group: Group, output: Output) -> Place:
    """Which lane computes which elements of an output; CannotExpressError where no lane has all that they need."""
    shape = scan.by_name[output.node].shape
    own = tuple(ZERO if size == ONE else Size.of(f"%out{axis}") for axis, size in enumerate(shape))
    extents = {f"%out{axis}": size for axis, size in enumerate(shape)}
    solved: dict[str, Size] = {}
    met: set[str] = set()
    for read in trace(scan, output.node, own, extents):
        wanted = own_index(_state_of(scan, read).initial.shape, traced_lanes(group.lanes))
        for found, lane in zip(read.index, wanted, strict=True):
            met |= lane.symbols
            symbol = next((item for item in found.symbols if item.startswith("%out")), None)
            if symbol is None and found == lane:
                continue
            shift = found - Size.of(symbol) if symbol else None
            if symbol is None or shift is None or any(item.startswith("%") for item in shift.symbols) or lane == ZERO:
                raise _crossing(output, read)
            if solved.setdefault(symbol, lane - shift) != lane - shift:
                raise _crossing(output, read)
    guards = [(at, ONE) for at in traced_lanes(group.lanes) if at != ZERO and not at.symbols & met]
    for symbol, at in solved.items():
        owner = next(item for item in at.symbols if item.startswith("%lane"))
        if at != Size.of(owner) or extents[symbol] != _extents(group.lanes)[owner]:
            guards.append((at, extents[symbol]))
    free = tuple((symbol, size) for symbol, size in extents.items() if symbol not in solved and size != ONE)
    index = tuple(at.at(solved) for at in own)
    return Place(index=index, free=free, guards=tuple(guards))


def _crossing(output: Output, read: Read) -> CannotExpressError:
    reason = f"the output {output.port.name} needs elements of the state {read.source} that are in several lanes"
    return CannotExpressError(reason, read.origin)


def _pass(scan: Scan, group: Group, name: str) -> tuple[dict[str, Any], str]:
    if not group.states:
        return map_pass(scan, scan.outputs[group.outputs[0]], name)
    _check_states(scan, group)
    places = [_place(scan, group, scan.outputs[number]) for number in group.outputs]
    return _Walk(scan, group, places, name).made()


class _Walk:
    """The pass of one group: a loop over the steps in each lane."""

    def __init__(self, scan: Scan, group: Group, places: list[Place], name: str) -> None:
        self.scan, self.group, self.places, self.name = scan, group, places, name
        self.states = [scan.states[number] for number in group.states]
        self.outputs = [scan.outputs[number] for number in group.outputs]
        self.main = Block(head=HEAD)
        self.names = namer(scan)
        self.registers = {state.before: self.names.take(state.before) for state in self.states}
        self.step = Size.of("%step")
        self.emit = Emitter(
            nodes=scan.by_name, sources={}, names=self.names, root=self.main, uses=use_counts(scan.nodes, targets(scan))
        )

    def made(self) -> tuple[dict[str, Any], str]:
        lanes = self.group.lanes
        self._find_lane()
        self._load_states()
        self._walk_all()
        self._store_states()
        self.main.prune()
        text = self.main.render()
        shader = Shader(
            self.scan,
            heading(self.scan, "One invocation a lane walks all steps.", self._notes(), self._wanted()),
            reads={state.initial.name: state.initial for state in self.states} | mentioned(self.scan, text),
            writes={
                port.name: port
                for port in (*(state.final for state in self.states), *(output.port for output in self.outputs))
            },
        )
        entry = {
            "id": self.name.replace("-", "_"),
            "shader": f"{self.name}.wgsl.jinja",
            "bindings": shader.bindings((), text),
            "dispatch": {"threads": as_json(count(lanes)), "workgroupSize": WIDTH},
        }
        return entry, shader.text(text, tables=self.emit.tables.values())

    def _wanted(self) -> list[str]:
        return [state.after for state in self.states] + [output.node for output in self.outputs]

    def _notes(self) -> list[str]:
        states = ", ".join(state.before for state in self.states)
        layout = (
            f"Layout: the lanes are the elements of {shape_text(self.group.lanes)}, row-major, so that neighbouring"
            f" invocations touch neighbouring elements of {states}."
        )
        algorithm = (
            "Algorithm: the states are in registers; a step reads its elements, computes all new states, writes its"
            " outputs, and only then replaces the states. Elements of several steps are loaded with nothing between,"
            " so that their latencies overlap. What does not vary from step to step is computed before the loop."
        )
        assumptions = (
            "Assumptions: indices of elements fit 32 bits. Without steps the initial states are the final ones."
        )
        return [layout, algorithm, assumptions]

    def _size(self, size: Size) -> str:
        return self.emit.index_value(size).text

    def _find_lane(self) -> None:
        main, lanes = self.main, self.group.lanes
        main.add(f"let lane = workgroup_number(workgroup) * {WIDTH}u + local;")
        main.add(Block(head=f"if (lane >= {self._size(count(lanes))})", kind="branch", lines=["return;"]))
        self.lane = self.emit.unravel("lane", lanes, main, "lane")
        self.renamed = {
            symbol: at for one, at in zip(traced_lanes(lanes), self.lane, strict=True) for symbol in one.symbols
        }

    def _load_states(self) -> None:
        for state in self.states:
            value = reader(state.initial)(self.emit, own_index(state.initial.shape, self.lane))
            self.main.add(f"var {self.registers[state.before]} = {value.text};")

    def _walk_all(self) -> None:
        """The loop over the steps: one over batches of steps, and one over what is left."""
        emit, total = self.emit, self._size(self.scan.steps)
        batch = self._batch()
        if batch == 1:
            with emit.inside(f"for (var step = 0u; step < {total}; step += 1u)", "loop") as walk:
                emit.variables["%step"] = Variable(walk, self.scan.steps)
                self._step(walk, step_sources(self.scan, self.step), self.step)
            return
        self.main.add("var step = 0u;")
        head = f"for (; step + {batch - 1}u < {total}; step += {batch}u)"
        with emit.inside(head, "loop") as walk:
            emit.variables["%step"] = Variable(walk, self.scan.steps)
            loads = Block(parent=walk, kind="branch")
            loads.add(f"{{% for turn in range({batch}) %}}")
            walk.add(loads)
            walk.add(f"{{% for turn in range({batch}) %}}")
            with emit.inside("{", "loop") as inner:
                emit.variables["%turn"] = Variable(inner, Size.of(batch))
                emit.spellings["%turn"] = "{{ turn }}u"
                step = self.step + Size.of("%turn")
                sources = step_sources(self.scan, step)
                sources |= {
                    element.node: self._ahead(sources[element.node], element.node, loads, inner)
                    for element in self.scan.elements
                }
                self._step(inner, sources, step)
            walk.add("{% endfor %}")
            loads.add("{% endfor %}")
        with emit.inside(f"for (; step < {total}; step += 1u)", "loop") as rest:
            emit.variables["%step"] = Variable(rest, self.scan.steps)
            self._step(rest, step_sources(self.scan, self.step), self.step)

    def _batch(self) -> int:
        """How many steps' elements are loaded before they are used, so that their latencies overlap."""
        steps = self.scan.steps.number
        large = len(needed(self.scan.nodes, self._wanted())) > _LARGE_BODY
        if large or not self.scan.elements or (steps is not None and steps < 2 * _BATCH):
            return 1
        return _BATCH

    def _ahead(self, source: Load, name: str, loads: Block, inner: Block) -> Load:
        """Loads of elements at an index that is the same in the whole step, in front of all steps of a batch."""
        known: dict[str, str] = {}

        def load(emit: Emitter, index: Index) -> Value:
            value = source(emit, index)
            symbols = {item for at in index for item in at.symbols if item in emit.variables} - {"%turn"}
            if any(emit.variables[item].block.depth >= inner.depth for item in symbols):
                return value  # The index is computed in the step.
            text = known.get(value.text)
            if text is None:
                text = known[value.text] = f"{self.names.take(name)}_{{{{ turn }}}}"
                loads.add(f"let {text} = {value.text};")
            return Value(text, inner, atomic=True, cheap=True)

        return load

    def _step(self, walk: Block, sources: dict[str, Load], step: Size) -> None:
        emit = self.emit
        for state in self.states:
            sources[state.before] = self._register(state, walk)
        emit.sources = sources
        fresh = []
        for state in self.states:
            value = emit.value(state.after, own_index(state.initial.shape, self.lane))
            if value.text in self.registers.values() and value.text != self.registers[state.before]:
                # The register will have changed by the time that this state takes its value.
                name = self.names.take(f"{state.before}_next")
                walk.add(f"let {name} = {value.text};")
                value = Value(name, walk, atomic=True, cheap=True)
            fresh.append(emit.bind(value, state.after))
        for output, place in zip(self.outputs, self.places, strict=True):
            self._output(output, place, step)
        for state, value in zip(self.states, fresh, strict=True):
            if value.text != self.registers[state.before]:
                walk.add(f"{self.registers[state.before]} = {value.text};")

    def _register(self, state: State, walk: Block) -> Load:
        def load(_emit: Emitter, _index: Index) -> Value:
            return Value(self.registers[state.before], walk, atomic=True, cheap=True)

        return load

    def _output(self, output: Output, place: Place, step: Size) -> None:
        emit = self.emit
        tests = []
        for at, size in place.guards:
            position = emit.index_value(at.at(self.renamed)).operand
            tests.append(f"{position} == 0u" if size == ONE else f"{position} < {self._size(size)}")
        if tests:
            with emit.inside(f"if ({' && '.join(tests)})", "branch"):
                self._loops(output, place, list(place.free), {}, step)
        else:
            self._loops(output, place, list(place.free), {}, step)

    def _loops(
        self, output: Output, place: Place, free: list[tuple[str, Size]], known: dict[str, Size], step: Size
    ) -> None:
        if free:
            (symbol, size), *rest = free
            with self.emit.loop("i", size) as variable:
                self._loops(output, place, rest, {**known, symbol: variable}, step)
            return
        index = tuple(at.at({**self.renamed, **known}) for at in place.index)
        store_output(self.emit, self.scan, output, index, step)

    def _store_states(self) -> None:
        for state in self.states:
            index = own_index(state.final.shape, self.lane)
            at = self._size(self.emit.address(index, state.final.shape))
            line = write_text(state.final, at, self.registers[state.before])
            spare = [item for item in self.lane if item != ZERO and item not in index]
            if spare:
                test = " && ".join(f"{self._size(item)} == 0u" for item in spare)
                self.main.add(Block(head=f"if ({test})", kind="branch", lines=[line]))
            else:
                self.main.add(line)
