"""Workgroup-serial: a workgroup walks all steps, states and stored values in its memory.

It applies where these fit there. An axis that is carried straight through everything, a batch, is spread over
workgroups, one position each; without one there is a single workgroup. A step is a sequence of stages with barriers
between them; in a stage each invocation computes every so-manieth element.
"""

from dataclasses import dataclass
from typing import Any, Final

from scanbuild.lowering import wgsl
from scanbuild.lowering.batch import Batch, find_batch
from scanbuild.lowering.blocks import Block, Value, Variable
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
from scanbuild.lowering.graph import Origin, Scan, Shape
from scanbuild.lowering.heading import heading
from scanbuild.lowering.outputs import map_pass, store_output
from scanbuild.lowering.schedule import Group, Schedule, products, schedule, wanted_of
from scanbuild.lowering.sizes import ONE, Size
from scanbuild.lowering.steps import limits_of
from scanbuild.lowering.storage import (
    SIZES,
    Shader,
    as_json,
    at_most,
    mentioned,
    namer,
    reader,
    shape_text,
    step_sources,
    write_text,
)
from scanbuild.lowering.turning import turned_captures, turning_pass

PRIORITY: Final = 20
_MOST_THREADS: Final = 256
_FEW_THREADS: Final = 32
_MEMORIES: Final = (16384, 32768)
_MOST_BUFFERS: Final = 8
_MUCH: Final = 2**22
"""Products in a step that a workgroup, which reads some 100 GB a second, needs longer for than passes to start."""
_MANY_ROWS: Final = 16
_ROW: Final = Size.of("%row")


@dataclass(frozen=True, slots=True)
class Memory:
    """An array in workgroup memory: the elements of a node that belong to the workgroup, or those of a state twice."""

    name: str
    dtype: str
    shape: Shape
    halves: int

    @property
    def words(self) -> Size:
        return count(self.shape) * (self.halves * (2 if self.dtype == "int64" else 1))

    def declaration(self) -> str:
        size = count(self.shape) * self.halves
        scalar = wgsl.SCALARS[self.dtype]
        scalar = "u32" if scalar == "bool" else scalar
        length = str(max(1, size.number)) if size.number is not None else f"{{{{ max(1, {size}) }}}}"
        return f"var<workgroup> {self.name}: array<{scalar}, {length}>;"

    def read(self, at: str) -> str:
        text = f"{self.name}[{at}]"
        return f"({text} != 0u)" if self.dtype == "bool" else text

    def write(self, at: str, value: str) -> str:
        return f"{self.name}[{at}] = {f'select(0u, 1u, {value})' if self.dtype == 'bool' else value};"


def draft(scan: Scan) -> Draft:
    """The workgroup-serial variant of a ``Scan``, for devices with the least workgroup memory there is."""
    return _draft(scan, 0)


def draft_large(scan: Scan) -> Draft:
    """The same for devices with twice the memory, and bodies that need it."""
    return _draft(scan, 1)


def _draft(scan: Scan, size: int) -> Draft:
    if not scan.states:
        return Refusal(reason="there are no states, so nothing needs a walk")
    plan = schedule(scan)
    try:
        made = _Walk(scan, plan, find_batch(scan, plan)).made(size)
    except CannotExpressError as error:
        return Refusal(reason=error.reason, origin=error.origin)
    return made


class _Walk:
    """The one shader of a workgroup's walk."""

    def __init__(self, scan: Scan, plan: Schedule, batch: Batch | None) -> None:
        self.scan, self.plan, self.batch = scan, plan, batch
        self.main = Block(head="{head}")
        self.names = namer(scan)
        for word in ("threads", "row", "following"):
            self.names.take(word)
        self.fixed = {name for stage in plan.fixed for group in stage for name in group.nodes}
        self.after = {state.after: state for state in reversed(scan.states)}
        nodes = scan.by_name
        self.kept = {
            state.before: Memory(
                self.names.take(f"{state.before}_kept"),
                state.initial.dtype,
                self.local(state.initial.shape, self.axis(state.before)),
                2,
            )
            for state in scan.states
        }
        self.stored = {
            name: Memory(
                self.names.take(f"{name}_kept"), nodes[name].dtype, self.local(nodes[name].shape, self.axis(name)), 1
            )
            for name in (node.name for node in scan.nodes if node.name in plan.stored)
            if name not in self.after or name in self.fixed
        }
        self.turned = turned_captures(scan, plan)
        for item in self.turned:
            self.names.take(item.name)
        self.emit = Emitter(
            nodes=nodes,
            sources={},
            names=self.names,
            root=self.main,
            uses=use_counts(scan.nodes, targets(scan)),
        )

    def axis(self, name: str) -> int | None:
        """The batch axis of a state or node, None if it has none."""
        return None if self.batch is None else self.batch.axes.get(name)

    @staticmethod
    def local(shape: Shape, axis: int | None) -> Shape:
        """The part of a shape that belongs to one workgroup: one position of the batch."""
        return tuple(ONE if number == axis else size for number, size in enumerate(shape))

    def whole(self, index: Index, axis: int | None) -> Index:
        """An index of a workgroup's part as one of the whole."""
        return tuple(_ROW if number == axis else at for number, at in enumerate(index))

    # The variant

    def made(self, size: int) -> Draft:
        scan = self.scan
        words = self._words()
        limit = _MEMORIES[size]
        if words.number is not None and 4 * words.number > limit:
            return Refusal(
                reason=f"the states and stored values of a step take {4 * words.number} bytes, workgroups have {limit}"
            )
        if size and words.number is not None and 4 * words.number <= _MEMORIES[0]:
            return Refusal(reason="the states and stored values fit into the memory that every device has")
        body = self._body()
        suffix = "-large" if size else ""
        entry, templates = self._entry(body, f"workgroup{suffix}.wgsl.jinja")
        found: dict[str, Any] = {
            "id": f"workgroup_serial{'_large' if size else ''}",
            "description": self._description(),
            "priority": PRIORITY - size,
        }
        clauses = [at_most(words * 4, limit)] if words.number is None else []
        clauses += self._worth()
        if clauses:
            found["when"] = clauses
        limits: dict[str, int] = {}
        if size:
            limits["maxComputeWorkgroupStorageSize"] = limit
        buffers = sum(item != SIZES for item in entry["bindings"])
        if buffers > _MOST_BUFFERS:
            limits["maxStorageBuffersPerShaderStage"] = buffers
        if limits:
            found["requires"] = {"limits": limits}
        threads = self._threads()
        found["derive"] = {"threads": int(threads) if threads.isdigit() else threads}
        if self.turned:
            found["intermediates"] = [item.scratch for item in self.turned]
        passes = []
        for item in self.turned:
            turn, name, text = turning_pass(scan, item)
            templates[name] = text
            passes.append(turn)
        passes.append(entry)
        for number in self.plan.maps:
            more, text = map_pass(scan, scan.outputs[number], f"output-{number + 1}{suffix}")
            templates[more["shader"]] = text
            passes.append(more)
        found["passes"] = passes
        return Variant(entry=found, templates=templates)

    def _worth(self) -> list[str]:
        """A clause where passes over the whole device would be faster: few workgroups with much to do in each step."""
        rows = Size.of(1) if self.batch is None else self.batch.size
        work = products(self.scan, self.plan).divided(rows)
        others = limits_of(self.scan)
        if work is None or (work.number or 0) <= _MUCH or (rows.number or 0) >= _MANY_ROWS or others is None:
            return []
        choices = [f"{rows} >= {_MANY_ROWS}"] if rows.number is None else []
        choices += [f"not ({clause})" for clause in others]
        if not choices:
            raise CannotExpressError("passes over the whole device do a step faster than a few workgroups", Origin())
        return [" or ".join(choices)]

    def _words(self) -> Size:
        total = Size()
        for memory in (*self.kept.values(), *self.stored.values()):
            total += memory.words
        return total

    def _threads(self) -> str:
        """An expression: as many invocations as the largest group has elements, in reason."""
        sizes = {count(self.local(group.shape, self._group_axis(group))) for group in self.plan.groups}
        numbers = [size.number for size in sizes]
        if all(number is not None for number in numbers):
            largest = max(number or 0 for number in numbers)
            return str(min(_MOST_THREADS, max(_FEW_THREADS, 1 << max(0, largest - 1).bit_length())))
        words = ", ".join(sorted(map(str, sizes)))
        most = f"max({words})" if len(sizes) > 1 else words
        return f"min({_MOST_THREADS}, max({_FEW_THREADS}, pow2ceil({most})))"

    def _description(self) -> str:
        if self.batch is None:
            return "One workgroup walks all steps, the states in its memory."
        return "A workgroup for each position of the batch walks all steps, the states in its memory."

    def _group_axis(self, group: Group) -> int | None:
        return self.axis(group.nodes[0])

    def _entry(self, body: str, file: str) -> tuple[dict[str, Any], dict[str, str]]:
        scan = self.scan
        outputs = [output for number, output in enumerate(scan.outputs) if number not in self.plan.maps]
        shader = Shader(
            scan,
            heading(scan, self._description(), self._notes(), self._wanted()),
            reads={state.initial.name: state.initial for state in scan.states} | mentioned(scan, body),
            writes={
                port.name: port
                for port in (*(state.final for state in scan.states), *(output.port for output in outputs))
            },
        )
        memory = [item.declaration() for item in (*self.kept.values(), *self.stored.values())]
        entry = {
            "id": "walk",
            "shader": file,
            "bindings": shader.bindings([item.binding for item in self.turned], body),
            "dispatch": {"workgroups": as_json(self.batch.size)} if self.batch is not None else {"x": 1},
        }
        return entry, {file: shader.text(body, tables=self.emit.tables.values(), memory=memory)}

    def _wanted(self) -> list[str]:
        wanted = [state.after for state in self.scan.states]
        return wanted + [output.node for number, output in enumerate(self.scan.outputs) if number not in self.plan.maps]

    def _notes(self) -> list[str]:
        states = ", ".join(f"{name} {shape_text(memory.shape)}" for name, memory in self.kept.items())
        layout = f"Layout: row-major. In workgroup memory are, twice, the states ({states})"
        if self.stored:
            stored = ", ".join(f"{name} {shape_text(memory.shape)}" for name, memory in self.stored.items())
            layout += f", and the values {stored}"
        algorithm = (
            "Algorithm: step t reads half t % 2 of a state and writes the other. What a stage reads was stored before"
            " the barrier in front of it; an invocation computes the elements local, local + threads, and so on."
        )
        assumptions = (
            "Assumptions: all of that fits the workgroup memory. Without steps the initial states are the final ones."
        )
        return [f"{layout}.", algorithm, assumptions]

    # The shader

    def _body(self) -> str:
        main, emit, scan = self.main, self.emit, self.scan
        main.head = (
            "@compute @workgroup_size({{ threads }})\n"
            "fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) local: u32)"
        )
        if self.batch is not None:
            emit.variables["%row"] = Variable(main, self.batch.size)
            main.add("let row = workgroup_number(workgroup);")
            rows = emit.index_value(self.batch.size).text
            main.add(Block(head=f"if (row >= {rows})", kind="branch", lines=["return;"]))
        else:
            main.head = main.head.replace("@builtin(workgroup_id) workgroup: vec3<u32>, ", "")
        self._start()
        emit.sources = self._sources(Size.of("%step"))
        for stage in self.plan.fixed:
            self._stage(stage, None)
        steps = emit.index_value(scan.steps).text
        with emit.inside(f"for (var step = 0u; step < {steps}; step += 1u)", "loop") as walk:
            emit.variables["%step"] = Variable(walk, scan.steps)
            for word, text in (("now", "step & 1u"), ("following", "1u - (step & 1u)")):
                walk.add(f"let {word} = {text};")
                emit.variables[f"%{word}"] = Variable(walk, Size.of(2))
            for stage in self.plan.stages:
                self._stage(stage, Size.of("%step"))
        self._finish()
        main.prune()
        return main.render()

    def _start(self) -> None:
        self.main.add("// The states before the first step.")
        for state in self.scan.states:
            memory, axis = self.kept[state.before], self.axis(state.before)
            with self._elements(memory.shape) as index:
                value = reader(state.initial)(self.emit, self.whole(index, axis))
                at = self.emit.index_value(self.emit.address(index, memory.shape))
                self.emit.block.add(memory.write(at.text, value.text))
        self.main.add("workgroupBarrier();")

    def _finish(self) -> None:
        main, emit = self.main, self.emit
        main.add("// The states after the last step.")
        steps = emit.index_value(self.scan.steps).operand
        main.add(f"let last = {steps} & 1u;")
        emit.variables["%last"] = Variable(main, Size.of(2))
        for state in self.scan.states:
            memory, axis = self.kept[state.before], self.axis(state.before)
            with self._elements(memory.shape) as index:
                half = count(memory.shape) * Size.of("%last")
                at = emit.index_value(emit.address(index, memory.shape) + half)
                to = emit.index_value(emit.address(self.whole(index, axis), state.final.shape))
                emit.block.add(write_text(state.final, to.text, memory.read(at.text)))

    def _elements(self, shape: Shape) -> "_Elements":
        return _Elements(self.emit, shape)

    def _sources(self, step: Size) -> dict[str, Load]:
        scan = self.scan
        found = step_sources(scan, step) | {item.capture.node: item.load for item in self.turned}
        for name, memory in self.stored.items():
            found[name] = self._load(memory, self.axis(name), None)
        for name, state in self.after.items():
            if name in self.plan.stored and name not in self.stored:
                found[name] = self._load(self.kept[state.before], self.axis(state.before), Size.of("%following"))
        for state in scan.states:
            found[state.before] = self._load(self.kept[state.before], self.axis(state.before), Size.of("%now"))
        return found

    def _load(self, memory: Memory, axis: int | None, half: Size | None) -> Load:
        shape = memory.shape

        def load(emit: Emitter, index: Index) -> Value:
            inner = tuple(ZERO if number == axis else at for number, at in enumerate(index))
            start = ZERO if half is None else count(shape) * half
            at = emit.index_value(emit.address(inner, shape) + start)
            return Value(memory.read(at.text), emit.made("", [at]).block, atomic=True)

        return load

    def _stage(self, stage: tuple[Group, ...], step: Size | None) -> None:
        """The groups of a stage, and the barrier behind it."""
        emit = self.emit
        outer = emit.block
        names = [name for group in stage for name in group.nodes]
        block = Block(parent=outer, kind="branch")
        emit.block = block
        try:
            block.add(f"// {', '.join(names)}{'' if step is not None else ': the same in every step'}.")
            for group in stage:
                self._group(group, step)
            block.add("workgroupBarrier();")
        finally:
            emit.block = outer
        outer.add(block)

    def _group(self, group: Group, step: Size | None) -> None:
        axis = self._group_axis(group)
        with self._elements(self.local(group.shape, axis)) as index:
            for name in group.nodes:
                self._root(name, index, axis, step)

    def _root(self, name: str, index: Index, axis: int | None, step: Size | None) -> None:
        emit, scan = self.emit, self.scan
        states, numbers = wanted_of(scan, name)
        whole = self.whole(index, axis)
        again = step is not None and name in self.fixed
        value = emit.bind(self._value(name, whole, again=again), name)
        if name in self.stored and not again:
            memory = self.stored[name]
            at = emit.index_value(emit.address(index, memory.shape))
            emit.block.add(memory.write(at.text, value.text))
        if step is None:
            return
        for number in states:
            state = scan.states[number]
            memory = self.kept[state.before]
            at = emit.index_value(emit.address(index, memory.shape) + count(memory.shape) * Size.of("%following"))
            emit.block.add(memory.write(at.text, value.text))
        for number in numbers:
            if number not in self.plan.maps:
                store_output(emit, scan, scan.outputs[number], whole, step, value)

    def _value(self, name: str, index: Index, *, again: bool) -> Value:
        """A value to be stored: computed, although others will read it from memory."""
        emit = self.emit
        if again or name not in self.plan.stored:
            return emit.value(name, index)
        source = emit.sources[name]
        emit.sources = {key: load for key, load in emit.sources.items() if key != name}
        value = emit.value(name, index)
        emit.sources = {**emit.sources, name: source}
        return value


class _Elements:
    """The loop of an invocation over its elements of a shape; the index in it."""

    def __init__(self, emit: Emitter, shape: Shape) -> None:
        self.emit, self.shape = emit, shape
        name = emit.names.take("e")
        limit = emit.index_value(count(shape)).text
        head = f"for (var {name} = local; {name} < {limit}; {name} += {{{{ threads }}}}u)"
        if count(shape) == ONE:
            head = "if (local == 0u)"
        self.name, self.inside = name, emit.inside(head, "loop" if count(shape) != ONE else "branch")

    def __enter__(self) -> Index:
        block = self.inside.__enter__()
        return self.emit.unravel(self.name, self.shape, block, "i")

    def __exit__(self, *details: Any) -> None:
        self.inside.__exit__(*details)
