"""Step passes: a repeat group of the manifest, one iteration a step, each group of values a pass over its elements.

It takes any body. States are kept in scratch memory twice: a step reads one half and writes the other.
"""

import re
from dataclasses import dataclass
from typing import Any, Final

from scanbuild.lowering import wgsl
from scanbuild.lowering.blocks import Block, Value
from scanbuild.lowering.constants import pool_of
from scanbuild.lowering.draft import Draft, Refusal, Variant
from scanbuild.lowering.elements import CannotExpressError, Emitter, Index, Load, count, targets, use_counts
from scanbuild.lowering.graph import Origin, Output, Scan, Shape, State
from scanbuild.lowering.heading import heading
from scanbuild.lowering.outputs import HEAD, WIDTH, map_pass, store_output
from scanbuild.lowering.schedule import Group, Schedule, reach, schedule, wanted_of
from scanbuild.lowering.sizes import Size
from scanbuild.lowering.storage import Shader, as_json, at_most, mentioned, namer, reader, step_sources, write_text

PRIORITY: Final = 10
_MOST_PASSES: Final = 131072
_MOST_STEPS: Final = 65535
_MOST_BUFFERS: Final = 8
_ATTEMPTS: Final = 30
_SCRATCH: Final = {"f32": "float32", "i32": "int32", "u32": "uint32", "bool": "uint32", "vec2<u32>": "uint32"}
_TURN: Final = {
    "name": "turn",
    "structName": "Turn",
    "struct": [{"name": "step", "type": "u32", "value": "repeat.turn"}],
}


@dataclass(frozen=True, slots=True)
class Scratch:
    """Memory between passes: the elements of a node, or those of a state twice."""

    name: str
    dtype: str
    size: Size

    @property
    def words(self) -> Size:
        return self.size * 2 if self.dtype == "int64" else self.size

    @property
    def entry(self) -> dict[str, Any]:
        words, number = self.words, self.words.number
        return {
            "id": self.name,
            "dtype": _SCRATCH[wgsl.SCALARS[self.dtype]],
            "shape": [str(words) if number is None else number],
        }

    def binding(self, written: bool) -> dict[str, Any]:
        made: dict[str, Any] = {"scratch": self.name, "buffer": "storage" if written else "read-only-storage"}
        if self.dtype == "int64":
            made["elementType"] = "vec2<u32>"
        return made

    def read(self, at: str) -> str:
        text = f"{self.name}[{at}]"
        return f"({text} != 0u)" if self.dtype == "bool" else text

    def write(self, at: str, value: str) -> str:
        return f"{self.name}[{at}] = {f'select(0u, 1u, {value})' if self.dtype == 'bool' else value};"


def draft(scan: Scan) -> Draft:
    """The variant of step passes of a ``Scan``."""
    forced: set[str] = set()
    for _ in range(_ATTEMPTS):
        try:
            return _Passes(scan, schedule(scan, forced)).made()
        except _TooManyBuffersError as error:
            more = _operands(scan, error.node) - forced
            if not more:
                reason = f"the value of {error.node} takes more buffers than a pass may bind on every device"
                return Refusal(reason=reason, origin=scan.by_name[error.node].origin)
            forced |= more
        except CannotExpressError as error:
            return Refusal(reason=error.reason, origin=error.origin)
    return Refusal(reason="the body takes more buffers than passes may bind on every device")


def limits_of(scan: Scan) -> list[str] | None:
    """The clauses of the variant of step passes; None if there is none."""
    made = draft(scan)
    return list(made.entry.get("when", [])) if isinstance(made, Variant) else None


def _operands(scan: Scan, name: str) -> set[str]:
    nodes = scan.by_name
    return {one for one in nodes[name].inputs if nodes[one].operation not in ("input", "constant", "size")}


class _TooManyBuffersError(Exception):
    def __init__(self, node: str) -> None:
        super().__init__(node)
        self.node = node


class _Passes:
    """The passes of a schedule, with the scratch memory they share."""

    def __init__(self, scan: Scan, plan: Schedule) -> None:
        self.scan, self.plan = scan, plan
        self.fixed = {name for stage in plan.fixed for group in stage for name in group.nodes}
        self.pooled = set(pool_of(scan).starts)
        self.after = {state.after: state for state in reversed(scan.states)}
        names = namer(scan)
        self.kept = {
            state.before: Scratch(
                names.take(f"{state.before}_kept"), state.initial.dtype, count(state.initial.shape) * 2
            )
            for state in scan.states
        }
        nodes = scan.by_name
        self.stored = {
            name: Scratch(names.take(f"{name}_kept"), nodes[name].dtype, count(nodes[name].shape))
            for name in (node.name for node in scan.nodes if node.name in plan.stored)
            if name not in self.after or name in self.fixed
        }
        self.templates: dict[str, str] = {}

    def made(self) -> Variant:
        scan, plan = self.scan, self.plan
        before = [self._start(state) for state in scan.states]
        before += [self._group(group, None) for stage in plan.fixed for group in self._fitting(stage)]
        turns = [self._group(group, Size.of("%step")) for stage in plan.stages for group in self._fitting(stage)]
        after = [self._finish(state) for state in scan.states]
        for number in plan.maps:
            more, text = map_pass(scan, scan.outputs[number], f"output-{number + 1}")
            self.templates[more["shader"]] = text
            after.append(more)
        passes = list(before)
        if turns:
            passes.append({"id": "steps", "repeat": {"index": "turn", "count": as_json(scan.steps)}, "passes": turns})
        entry: dict[str, Any] = {
            "id": "step_passes",
            "description": "A few passes a step, with all values of a step in memory.",
            "priority": PRIORITY,
        }
        most = min(_MOST_STEPS, (_MOST_PASSES - len(before) - len(after)) // max(1, len(turns)))
        if scan.steps.number is None:
            entry["when"] = [at_most(scan.steps, most)]
        elif scan.steps.number > most:
            raise CannotExpressError(f"{scan.steps} steps take more passes than a call may have", Origin())
        clauses = [
            f"4 * ({scratch.words}) <= device.limits.maxStorageBufferBindingSize"
            for scratch in self.stored.values()
            if scratch.words.number is None
        ]
        if clauses:
            entry["when"] = [*entry.get("when", []), *clauses]
        scratches = [scratch.entry for scratch in (*self.kept.values(), *self.stored.values())]
        if scratches:
            entry["intermediates"] = scratches
        entry["passes"] = passes + after
        return Variant(entry=entry, templates=self.templates)

    def _fitting(self, stage: tuple[Group, ...]) -> list[Group]:
        """The groups of a stage, those apart that would bind too many buffers together."""
        found = []
        for group in stage:
            if self._buffers(group.nodes) <= _MOST_BUFFERS:
                found.append(group)
                continue
            for name in group.nodes:
                if self._buffers((name,)) > _MOST_BUFFERS:
                    raise _TooManyBuffersError(name)
                found.append(Group(shape=group.shape, nodes=(name,)))
        return found

    def _buffers(self, names: tuple[str, ...]) -> int:
        nodes = self.scan.by_name
        found: set[str] = set()
        for name in names:
            read = reach(nodes, name, self.plan.stored)
            found |= {one for one in read if nodes[one].operation != "constant"}
            found |= {"constants"} if read & self.pooled else set()
            states, outputs = wanted_of(self.scan, name)
            found |= {self.scan.states[number].before for number in states}
            found |= {f"output {number}" for number in outputs if number not in self.plan.maps}
            found |= {name} & set(self.stored)
        return len(found)

    # Passes

    def _emitter(self, step: Size | None) -> tuple[Block, Emitter]:
        scan, main = self.scan, Block(head=HEAD)
        names = namer(scan)
        for scratch in (*self.kept.values(), *self.stored.values()):
            names.take(scratch.name)
        emit = Emitter(
            nodes=scan.by_name,
            sources={},
            names=names,
            root=main,
            uses=use_counts(scan.nodes, targets(scan)),
            spellings={"%step": "turn.step"},
        )
        sources = step_sources(scan, step or Size())
        for name, scratch in self.stored.items():
            sources[name] = self._load(scratch, scan.by_name[name].shape)
        for name, state in self.after.items():
            if name in self.plan.stored and name not in self.stored:
                sources[name] = self._load(self.kept[state.before], state.initial.shape, self._half(state, 1))
        for state in scan.states:
            sources[state.before] = self._load(self.kept[state.before], state.initial.shape, self._half(state, 0))
        emit.sources = sources
        return main, emit

    @staticmethod
    def _load(scratch: Scratch, shape: Shape, half: Size | None = None) -> Load:
        def load(emit: Emitter, index: Index) -> Value:
            at = emit.index_value(emit.address(index, shape) + (half or Size()))
            return Value(scratch.read(at.text), emit.made("", [at]).block, atomic=True)

        return load

    @staticmethod
    def _half(state: State, following: int) -> Size:
        """Where the values of a state before a step begin, or those after it."""
        return count(state.initial.shape) * Size.of("%following" if following else "%now")

    def _begin(self, emit: Emitter, main: Block, shape: Shape) -> Index:
        main.add(f"let element = workgroup_number(workgroup) * {WIDTH}u + local;")
        total = emit.index_value(count(shape)).text
        main.add(Block(head=f"if (element >= {total})", kind="branch", lines=["return;"]))
        return emit.unravel("element", shape, main, "i")

    def _group(self, group: Group, step: Size | None) -> dict[str, Any]:
        scan = self.scan
        main, emit = self._emitter(step)
        index = self._begin(emit, main, group.shape)
        if step is not None:
            emit.spellings |= {"%now": "(turn.step & 1u)", "%following": "(1u - (turn.step & 1u))"}
        outputs: dict[str, Output] = {}
        for name in group.nodes:
            states, numbers = wanted_of(scan, name)
            keep = name in self.stored and not (step is not None and name in self.fixed)
            value = self._root_value(emit, name, index, again=step is not None and name in self.fixed)
            value = emit.bind(value, name)
            if keep:
                at = emit.index_value(emit.address(index, group.shape)).text
                main.add(self.stored[name].write(at, value.text))
            for number in states if step is not None else []:
                state = scan.states[number]
                at = emit.index_value(emit.address(index, group.shape) + self._half(state, 1)).text
                main.add(self.kept[state.before].write(at, value.text))
            for number in numbers if step is not None else []:
                if number not in self.plan.maps:
                    output = scan.outputs[number]
                    outputs[output.port.name] = output
                    store_output(emit, scan, output, index, step or Size(), value)
        when = "in one step" if step is not None else "the same in every step"
        title = f"The values of {', '.join(group.nodes)}, {when}."
        ports = {name: output.port for name, output in outputs.items()}
        return self._entry("-".join(group.nodes), title, main, emit, ports, list(group.nodes), group.shape)

    def _root_value(self, emit: Emitter, name: str, index: Index, *, again: bool) -> Value:
        """The value of a node to be stored: computed, although others will read it from memory."""
        if again or name not in self.plan.stored:
            return emit.value(name, index)
        source = emit.sources[name]
        emit.sources = {key: load for key, load in emit.sources.items() if key != name}
        value = emit.value(name, index)
        emit.sources = {**emit.sources, name: source}
        return value

    def _start(self, state: State) -> dict[str, Any]:
        main, emit = self._emitter(None)
        index = self._begin(emit, main, state.initial.shape)
        value = reader(state.initial)(emit, index)
        main.add(self.kept[state.before].write("element", value.text))
        title = f"The state {state.before} before the first step, put into the first half of its memory."
        return self._entry(f"start-{state.before}", title, main, emit, {}, [], state.initial.shape, state.initial.name)

    def _finish(self, state: State) -> dict[str, Any]:
        main, emit = self._emitter(None)
        self._begin(emit, main, state.initial.shape)
        steps = emit.index_value(self.scan.steps).operand
        emit.spellings["%now"] = f"({steps} & 1u)"
        at = emit.index_value(Size.of("%element") + self._half(state, 0)).text
        main.add(write_text(state.final, "element", self.kept[state.before].read(at)))
        title = f"The state {state.before} after the last step, from the half of its memory that was written last."
        ports = {state.final.name: state.final}
        return self._entry(f"finish-{state.before}", title, main, emit, ports, [], state.initial.shape)

    def _entry(
        self,
        name: str,
        title: str,
        main: Block,
        emit: Emitter,
        writes: dict[str, Any],
        wanted: list[str],
        shape: Shape,
        initial: str = "",
    ) -> dict[str, Any]:
        main.prune()
        text = main.render()
        reads = mentioned(self.scan, text)
        reads |= {state.initial.name: state.initial for state in self.scan.states if state.initial.name == initial}
        notes = [
            "Layout: row-major. A state has two halves: step t reads half t % 2 and writes the other.",
            "Algorithm: an invocation an element. What other values are read was stored by earlier passes.",
            "Assumptions: indices of elements fit 32 bits.",
        ]
        shader = Shader(self.scan, heading(self.scan, title, notes, wanted), reads=reads, writes=writes)
        more: list[Any] = [
            scratch.binding(bool(re.search(rf"^ *{scratch.name}\[", text, re.MULTILINE)))
            for scratch in (*self.kept.values(), *self.stored.values())
            if re.search(rf"\b{scratch.name}\[", text)
        ]
        if "turn.step" in text:
            more.append(_TURN)
        file = f"step-{name[:60]}.wgsl.jinja"
        self.templates[file] = shader.text(text, tables=emit.tables.values())
        return {
            "id": name[:60].replace("-", "_"),
            "shader": file,
            "bindings": shader.bindings(more, text),
            "dispatch": {"threads": as_json(count(shape)), "workgroupSize": WIDTH},
        }
