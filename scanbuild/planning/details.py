"""The passes of a planned call in detail: what every number in them comes from."""

import re
import struct
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from scanbuild.package.model import ABSENT, Binding, Dispatch, Field, Json
from scanbuild.planning.dispatch import grid
from scanbuild.planning.expansion import Instance, expand
from scanbuild.planning.passes import PassPlanner, Program
from scanbuild.planning.plan import BindingPlan, PassPlan, Plan
from scanbuild.planning.scope import Scope
from scanbuild.planning.uniforms import padded_fields
from scanbuild.planning.wgsl import strip_comments

Grid = tuple[int, int, int]

_FORMATS: Final = {"u32": "<I", "i32": "<i", "f32": "<f"}
_WORKGROUP: Final = re.compile(r"@\s*workgroup_size\s*\(([^()]*(?:\([^()]*\)[^()]*)*)\)", re.ASCII)
_INDEX: Final = re.compile(r"\[\d+\](?=\.)")
_NUMBER: Final = re.compile(r"(\d+)[iu]?\Z", re.ASCII)


@dataclass(frozen=True, kw_only=True, slots=True)
class Size:
    """A size of a dispatch: which one, as written, and its value in the first round told of."""

    name: str
    written: str | int
    value: Any


@dataclass(frozen=True, kw_only=True, slots=True)
class UniformField:
    """Four bytes of a uniform: at ``offset``, from ``written`` (ABSENT for none). ``last`` is the value of the last
    round where the rounds differ. Fields that fill the struct up are ``padding``."""

    name: str
    type: str
    offset: int
    written: Any
    value: float
    last: float | None = None
    padding: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class BindingDetail:
    """One entry of bind group 0. ``source`` and ``ref`` say which buffer it is, ``size`` how many bytes are bound.

    ``element_type`` is empty for uniforms; ``size`` is None in a pass that is skipped.
    """

    index: int
    name: str
    access: Literal["read", "read_write", "uniform"]
    element_type: str
    length: int | None
    source: str
    ref: str
    size: int | None
    fields: tuple[UniformField, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class PassDetail:
    """A pass as written, with all its rounds. What is told but for counts and grids is of the first round that runs.

    ``group`` names the repeat groups around it, outermost first, with dots between them; "" for none. Its rounds take
    turns with those of the other passes there. ``grids`` counts the rounds of each grid. ``folded`` tells that more
    than 65535 workgroups became two axes. ``skipped`` says why rounds do not run, "" if all do. ``texts`` are the
    different shaders of its rounds.
    """

    id: str
    group: str
    first: str
    shader: str
    rounds: int
    executed: int
    skipped: Literal["", "empty", "zero", "view"]
    derives: tuple[tuple[str, Json, Any], ...]
    form: Literal["grid", "threads", "workgroups"]
    sizes: tuple[Size, ...]
    grids: tuple[tuple[Grid, int], ...]
    folded: bool
    workgroup_size: str
    bindings: tuple[BindingDetail, ...]
    submit_after: bool
    bytes_moved: float | None
    texts: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Totals:
    """What a call comes to. ``reads`` and ``writes`` count each tensor once that some pass binds so: a kernel that
    looks at all its input moves at least so many bytes. ``bytes_moved`` is what the passes' profiles state, if any."""

    dispatches: int
    workgroups: int
    submissions: int
    reads: int
    writes: int
    scratch: int
    bytes_moved: float | None


def explain_passes(planner: PassPlanner, scope: Scope, plan: Plan) -> tuple[PassDetail, ...]:
    """Every written pass of the variant that has a round, in the order of their first rounds."""
    rounds: dict[int, list[Instance]] = {}
    for instance in expand(planner.variant, scope):
        rounds.setdefault(id(instance.item), []).append(instance)
    planned = {item.id: item for item in plan.passes}
    return tuple(_detail(planner, scope, instances, planned) for instances in rounds.values())


def _detail(
    planner: PassPlanner, scope: Scope, instances: Sequence[Instance], planned: dict[str, PassPlan]
) -> PassDetail:
    runs = [planned[instance.id] for instance in instances if instance.id in planned]
    shown = next((instance for instance in instances if instance.id in planned), instances[0])
    program = planner.program(shown, scope)
    item = shown.item
    grids = Counter(run.grid for run in runs)
    skipped: Literal["", "empty", "zero", "view"] = ""
    if len(runs) < len(instances):
        skipped = "empty" if planner.is_empty else _why_skipped(planner, scope, instances, planned)
    texts = dict.fromkeys(run.wgsl for run in runs) or dict.fromkeys([program.wgsl])
    moved = [run.bytes_moved for run in runs if run.bytes_moved is not None]
    return PassDetail(
        id=item.id,
        group=_INDEX.sub("", shown.id.removesuffix(item.id)).rstrip("."),
        first=shown.id,
        shader=item.shader,
        rounds=len(instances),
        executed=len(runs),
        skipped=skipped,
        derives=tuple((name, written, program.scope.derives.get(name)) for name, written in item.derive.items()),
        form=item.dispatch.form,
        sizes=() if planner.is_empty else _sizes(item.dispatch, program),
        grids=tuple(grids.items()),
        folded=item.dispatch.form != "grid" and any(size[1] > 1 for size in grids),
        workgroup_size=workgroup_size(program.wgsl),
        bindings=_bindings(planner, program, runs),
        submit_after=item.submit_after,
        bytes_moved=sum(moved) if moved else None,
        texts=tuple(text for text in texts if text),
    )


def _why_skipped(
    planner: PassPlanner, scope: Scope, instances: Sequence[Instance], planned: dict[str, PassPlan]
) -> Literal["zero", "view"]:
    """Whether the first round that does not run has an empty grid; else it would only copy a tensor to itself."""
    program = planner.program(next(item for item in instances if item.id not in planned), scope)
    dispatch = program.instance.item.dispatch
    size = grid(dispatch, program.scope, planner.device.max_workgroups, program.place)
    return "zero" if 0 in size else "view"


def _sizes(dispatch: Dispatch, program: Program) -> tuple[Size, ...]:
    place = program.place.member("dispatch", ".dispatch")
    return tuple(
        Size(name=name, written=text, value=program.scope.evaluate(text, place))
        for name, text in dispatch.sizes.items()
    )


def _bindings(planner: PassPlanner, program: Program, runs: Sequence[PassPlan]) -> tuple[BindingDetail, ...]:
    details = []
    for index, declared in enumerate(program.declared):
        binding = declared.binding
        bound = [run.bindings[index] for run in runs]
        first = bound[0] if bound else None
        access: Literal["read", "read_write", "uniform"] = "uniform"
        if binding.buffer != "uniform":
            access = "read" if binding.buffer == "read-only-storage" else "read_write"
        details.append(
            BindingDetail(
                index=index,
                name=binding.name,
                access=access,
                element_type=declared.element_type,
                length=declared.length,
                source=first.source if first else "",
                ref=first.ref if first else binding.scratch or binding.arg or "",
                size=first.size if first else None,
                fields=_fields(binding, bound, planner.args) if binding.buffer == "uniform" else (),
            )
        )
    return tuple(details)


def _fields(binding: Binding, bound: Sequence[BindingPlan], args: Any) -> tuple[UniformField, ...]:
    if not bound:
        return ()
    written = {item.name: _written(item, args) for item in binding.fields}
    fields = []
    for index, (name, kind) in enumerate(padded_fields(binding.fields)):
        first, last = (_word(item.data, 4 * index, kind) for item in (bound[0], bound[-1]))
        fields.append(
            UniformField(
                name=name,
                type=kind,
                offset=4 * index,
                written=written.get(name, ABSENT),
                value=first,
                last=None if all(_same(item, bound[0], 4 * index) for item in bound) else last,
                padding=index >= len(binding.fields),
            )
        )
    return tuple(fields)


def _same(one: BindingPlan, other: BindingPlan, offset: int) -> bool:
    return one.data[offset : offset + 4] == other.data[offset : offset + 4]


def _word(data: bytes, offset: int, kind: str) -> float:
    value: float = struct.unpack_from(_FORMATS[kind], data, offset)[0]
    return value


def _written(item: Field, args: Any) -> Any:
    if item.value is not ABSENT and item.value is not None:
        return item.value
    return f"args.{item.name}" if item.name in args else item.default


def workgroup_size(wgsl: str) -> str:
    """The workgroup of a shader, as ``64 x 4``; sizes that are named constants by their values, others as written."""
    bare = strip_comments(wgsl)
    match = _WORKGROUP.search(bare)
    if match is None:
        return ""
    sizes = [part.strip() for part in match[1].split(",") if part.strip()]
    found = [_constant(size, bare) for size in sizes]
    while len(found) > 1 and found[-1] == "1":
        found.pop()
    return " x ".join(found)


def _constant(size: str, bare: str) -> str:
    declared = re.search(rf"\bconst\s+{re.escape(size)}\s*(?::\s*\w+\s*)?=\s*(\d+)[iu]?\s*;", bare, re.ASCII)
    number = _NUMBER.match(size)
    return number[1] if number else declared[1] if declared else size


def totals(plan: Plan) -> Totals:
    """What the passes of a plan come to together."""
    tensors = {**plan.inputs, **plan.outputs}
    bound = {"read": set[str](), "read_write": set[str](), "uniform": set[str]()}
    for item in plan.passes:
        for binding in item.bindings:
            if binding.source == "tensor":
                bound[binding.access].add(binding.ref)
    moved = [item.bytes_moved for item in plan.passes if item.bytes_moved is not None]
    return Totals(
        dispatches=len(plan.passes),
        workgroups=sum(x * y * z for x, y, z in (item.grid for item in plan.passes)),
        submissions=_submissions(plan.passes),
        reads=sum(tensors[name].size for name in bound["read"]),
        writes=sum(tensors[name].size for name in bound["read_write"]),
        scratch=sum(item.size for item in plan.scratches.values()),
        bytes_moved=sum(moved) if moved else None,
    )


def _submissions(passes: Sequence[PassPlan]) -> int:
    """Command buffers: one ends behind every pass with ``submitAfter``, and one at the end if anything is left."""
    ended = sum(item.submit_after for item in passes)
    return ended + (1 if passes and not passes[-1].submit_after else 0)
