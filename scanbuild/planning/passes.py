"""From the chosen variant to the passes of a plan (10.1 to 10.3)."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Final

from scanbuild.package.model import Absent, Intermediate, Json, Pass, Variant
from scanbuild.planning.attributes import is_number
from scanbuild.planning.bindings import (
    Buffers,
    bind,
    check_aliasing,
    declare,
    dollar_names,
    is_view_alias,
    uniform_values,
)
from scanbuild.planning.device import DeviceRecord
from scanbuild.planning.dispatch import dispatch_names, grid
from scanbuild.planning.dtypes import buffer_size
from scanbuild.planning.expansion import Instance, expand
from scanbuild.planning.failures import charge, fail
from scanbuild.planning.inference import dimensions
from scanbuild.planning.int64 import opaque_problem
from scanbuild.planning.module import module_problem
from scanbuild.planning.plan import PassPlan, ScratchSpec
from scanbuild.planning.program import Renderer
from scanbuild.planning.rounds import Rounds
from scanbuild.planning.scope import Place, Scope, derive_place, mentions_in
from scanbuild.planning.types import BoundTensor
from scanbuild.planning.uniforms import describe, number_text
from scanbuild.planning.wgsl import Declaration, check_structs, declarations, strip_comments

PASS_WORK: Final = 1400
"""What planning one pass counts for beside its evaluations, in the units of their work."""

NEW_PASS_WORK: Final = 1 << 14
"""The same where the pass is met for the first time in a call."""

TEXT_WORK: Final = 1 << 11
"""What looking at one shader counts for by itself: as much as several evaluations."""

CHARACTER_WORK: Final = 16
"""What looking at one character of a shader counts for."""


@dataclass(frozen=True, kw_only=True, slots=True)
class PlannedPasses:
    """The executed passes, the scratches they use, and the ids of the skipped ones."""

    passes: tuple[PassPlan, ...]
    scratches: dict[str, ScratchSpec]
    skipped: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Program:
    """A pass instance with its shader: what is made of skipped passes, too.

    ``scope`` holds its derives, ``wgsl`` the final text, which may be empty.
    """

    instance: Instance
    place: Place
    scope: Scope
    declared: list[Declaration]
    declarations: str
    wgsl: str


@dataclass(kw_only=True, slots=True)
class PassPlanner:
    """Plans the passes of one variant for one request. ``is_empty`` tells that all outputs are empty (8.5)."""

    variant: Variant
    device: DeviceRecord
    renderer: Renderer
    scope: Scope
    labels: Mapping[str, str]
    tensors: Mapping[str, BoundTensor]
    args: Mapping[str, Json]
    is_empty: bool
    buffers: Buffers = field(init=False)
    rounds: dict[int, Rounds] = field(default_factory=dict)

    def __post_init__(self) -> None:
        scratches = dict.fromkeys(self.variant.intermediates)
        self.buffers = Buffers(scratches=scratches, tensors=self.tensors)

    def plan(self) -> PlannedPasses:
        """The passes of the call; CallError for whatever the loader refuses behind selection."""
        scope = self.variant_scope()
        instances = expand(self.variant, scope)
        if not self.is_empty:
            scratches = {name: self._scratch(item, scope) for name, item in self.variant.intermediates.items()}
            self.buffers = Buffers(scratches=scratches, tensors=self.tensors)
        planned = self._plan_instances(instances, scope)
        passes = tuple(item for item in planned if item is not None)
        used = {binding.ref for item in passes for binding in item.bindings if binding.source == "scratch"}
        kept = {name: spec for name, spec in self.buffers.scratches.items() if name in used and spec is not None}
        for name, spec in kept.items():
            check_buffer(f"variant `{self.variant.id}`, scratch `{name}`", spec.size, self.device)
        return PlannedPasses(
            passes=passes,
            scratches=kept,
            skipped=tuple(instance.id for instance, item in zip(instances, planned, strict=True) if item is None),
        )

    def _plan_instances(self, instances: Sequence[Instance], scope: Scope) -> list[PassPlan | None]:
        """The plan of every instance, None for a skipped one.

        A pass in a group that asks nothing about the repetition is planned once, for all its instances.
        """
        planned: list[PassPlan | None] = []
        first: dict[int, PassPlan | None] = {}
        for instance in instances:
            key = id(instance.item)
            if key in first and self._rounds(instance).all_alike:
                known = first[key]
                planned.append(known and replace(known, id=instance.id))
                continue
            charge(PASS_WORK if key in first else NEW_PASS_WORK, self._place.words)
            planned.append(self._plan_pass(self.program(instance, scope)))
            first.setdefault(key, planned[-1])
        return planned

    def _rounds(self, instance: Instance) -> Rounds:
        """What the pass of an instance keeps from its other instances in this call."""
        key = id(instance.item)
        if key not in self.rounds:
            self.rounds[key] = Rounds(repeats=bool(instance.repeat))
        return self.rounds[key]

    def programs(self) -> list[Program]:
        """Every pass with its shader, skipped ones included, before anything is known of grids and uniforms."""
        scope = self.variant_scope()
        return [self.program(instance, scope) for instance in expand(self.variant, scope)]

    @property
    def _place(self) -> Place:
        return Place(words=f"variant `{self.variant.id}`", path=self.variant.path)

    def variant_scope(self) -> Scope:
        """What the passes see: the tunables and derives of the variant; CallError where a derive fails."""
        scope = self.scope.stage(tunables=dict(self.variant.tunables))
        scope.define_all(self.variant.derive, self._place)
        return scope

    def _scratch(self, item: Intermediate, scope: Scope) -> ScratchSpec:
        place = self._place.member(f"scratch `{item.id}`")
        shape: Any = item.shape
        if isinstance(shape, str):
            shape = scope.evaluate(shape, place)
        elif isinstance(shape, list):
            shape = [scope.evaluate(size, place) if isinstance(size, str) else size for size in shape]
        sizes = [shape] if is_number(shape) else shape
        if not isinstance(sizes, list) or not sizes:
            found = "no shape" if isinstance(shape, Absent) else describe(shape)
            message = f"{place.words}: expected a number or a list of dimensions, found {found}"
            raise fail(message, rule="scratch-shape", path=place.path)
        dims = dimensions(sizes, place)
        return ScratchSpec(id=item.id, dtype=item.dtype, shape=dims, size=buffer_size(item.dtype, dims))

    def program(self, instance: Instance, variant_scope: Scope) -> Program:
        """One pass with its derives and its shader."""
        item, rounds = instance.item, self._rounds(instance)
        place = Place(words=f"variant `{self.variant.id}`, pass `{instance.id}`", path=item.path)
        scope = variant_scope.stage(repeat=instance.repeat, labels=self.labels)
        for name, value in item.derive.items():
            make = partial(scope.evaluate, value, derive_place(place, name))
            scope.define(name, rounds.derive(name, partial(mentions_in, value), make))
        looked_up = partial(dollar_names, item.bindings)
        declared = rounds.step("declared", looked_up, partial(self._declared, item, scope, place))
        lines = rounds.step("declarations", looked_up, partial(declarations, declared))
        wgsl = rounds.step(
            "text",
            partial(self._text_names, item),
            partial(self.renderer.wgsl, item.shader, lines, scope, place),
        )
        return Program(instance=instance, place=place, scope=scope, declared=declared, declarations=lines, wgsl=wgsl)

    def _declared(self, item: Pass, scope: Scope, place: Place) -> list[Declaration]:
        declared = declare(item, scope, self.buffers, place)
        check_structs(item.bindings, place.words, place.path)
        return declared

    def _text_names(self, item: Pass) -> frozenset[str]:
        """Every name that the text of a pass, once rendered, may depend on."""
        return self.renderer.names(item.shader) | dollar_names(item.bindings)

    def _plan_pass(self, program: Program) -> PassPlan | None:
        """The plan of one pass; None if it is skipped."""
        if self.is_empty:
            return None
        item, scope, place = program.instance.item, program.scope, program.place
        rounds = self._rounds(program.instance)
        size = rounds.step(
            "grid",
            partial(dispatch_names, item.dispatch),
            partial(grid, item.dispatch, scope, self.device.max_workgroups, place),
        )
        uniforms = {
            binding.name: uniform_values(binding, scope, self.args, self.buffers, place, rounds)
            for binding in item.bindings
            if binding.buffer == "uniform"
        }
        profile = partial(self._bytes_moved, item, scope, place)
        bytes_moved = rounds.step("profile", partial(_profile_names, item.profile), profile)
        if 0 in size:
            return None
        bindings = bind(program.declared, uniforms, self.args, self.buffers, place, rounds)
        if is_view_alias(item, bindings, self.buffers):
            return None
        rounds.step("aliasing", frozenset, partial(check_aliasing, bindings, self.buffers, place))
        rounds.step("verdict", partial(self._text_names, item), partial(self._check_text, program))
        return PassPlan(
            id=program.instance.id,
            label=item.name,
            wgsl=program.wgsl,
            bindings=bindings,
            grid=size,
            submit_after=item.submit_after,
            template=item.shader,
            bytes_moved=bytes_moved,
        )

    def _bytes_moved(self, item: Pass, scope: Scope, place: Place) -> float | None:
        """``profile.bytesMoved`` where it is a number; every member of a profile is evaluated."""
        values = {
            key: scope.evaluate(value, place.member(f"profile `{key}`", f".profile.{key}"))
            for key, value in _members(item.profile)
        }
        moved = values.get("bytesMoved")
        return float(moved) if is_number(moved) else None

    def _check_text(self, program: Program) -> None:
        """CallError for the text of an executed pass that cannot run; the verdict on a text is kept with it."""
        shader, place = program.instance.item.shader, program.place
        if not program.wgsl:
            raise fail(f"{place.words}: the template renders to nothing", rule="template-empty", file=shader)
        opaque = tuple(item.binding.name for item in program.declared if self._is_opaque(item))
        key = (program.wgsl, program.declarations, opaque, self.device.features)
        verdict = self.renderer.verdicts.get(key)
        if verdict is None:
            charge(TEXT_WORK + len(program.wgsl) * CHARACTER_WORK, place.words)
            verdict = _judge_text(program, opaque, self.device.features)
            self.renderer.verdicts.put(key, verdict)
        rule, problem = verdict
        if problem:
            raise fail(f"{place.words}: {problem}", rule=rule, file=shader)

    def _is_opaque(self, item: Declaration) -> bool:
        tensor = self.buffers.tensor_of(item.binding) if item.binding.buffer != "uniform" else None
        return tensor is not None and tensor.storage == "int64"


def _judge_text(program: Program, opaque: Sequence[str], features: frozenset[str]) -> tuple[str, str]:
    """The rule that a text breaks, and how; two empty texts if it breaks none."""
    bare = strip_comments(program.wgsl)
    problem = opaque_problem(bare, opaque) if opaque else ""
    if problem:
        return "int64-arithmetic", f"elements of an int64 tensor may be copied only: {problem}"
    problem = module_problem(bare, program.declared, features)
    return ("wgsl", f"the shader does not compile: {problem}") if problem else ("", "")


def _members(profile: Json) -> Iterable[tuple[str, Json]]:
    if isinstance(profile, dict):
        return profile.items()
    if isinstance(profile, str | list):
        return ((str(index), value) for index, value in enumerate(profile))
    return ()


def _profile_names(profile: Json) -> frozenset[str]:
    return mentions_in([value for _, value in _members(profile)])


def check_buffer(words: str, size: int, device: DeviceRecord) -> None:
    """CallError for a buffer larger than the device allows."""
    limit = device.limits.get("maxBufferSize", 0)
    if size > limit:
        message = f"{words} takes {size} bytes, the device allows {number_text(limit)}"
        raise fail(message, rule="buffer-limit")


def compile_failure(texts: Iterable[str], device: DeviceRecord) -> str:
    """Which WGSL function that the device cannot compile stands in one of the texts; "" if none."""
    bare = [strip_comments(text) for text in texts]
    for name in sorted(device.wgsl_compile_failures):
        pattern = re.compile(rf"\b{re.escape(name)}\b", re.ASCII)
        if any(pattern.search(text) for text in bare):
            return f"the device cannot compile `{name}`"
    return ""
