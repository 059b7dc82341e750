"""Why a case fails: further runs of it, each with one thing changed, so that the cause can be named.

An attribute that makes no difference is ignored. A call that passes with more barriers lacks one. And if the adapter
ended a loop too early, the case says nothing of the package.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Final

from scanbuild.cases.barriers import with_barriers
from scanbuild.cases.findings import Finding
from scanbuild.cases.loops import counted_plan, loop_limit
from scanbuild.cases.probing import Outputs, Prober
from scanbuild.cases.subgroups import SIZES, uses_subgroups, with_subgroups_of
from scanbuild.errors import ScanbuildError
from scanbuild.gpu.interface import Executor
from scanbuild.package.model import ABSENT, Json
from scanbuild.planning.attributes import resolve_attributes
from scanbuild.planning.plan import PassPlan, Plan
from scanbuild.planning.planner import Planner, PreparedCall
from scanbuild.planning.request import Request

_TRIALS: Final = 40
_VALUE_FAULTS: Final = frozenset({"wrong-value", "not-reproducible"})
_UNDONE: Final = _VALUE_FAULTS | {"overflow", "not-written", "zero-fill"}
"""What a loop may leave behind that was ended too early."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Suspect:
    """A call that failed: how it was planned, what it gave, what was found, and whether other outputs would pass."""

    planner: Planner
    executor: Executor
    request: Request
    prepared: PreparedCall
    outputs: Outputs
    findings: tuple[Finding, ...]
    passes: Callable[[Outputs], bool]

    def outcome(self, plan: Plan) -> Outputs | None:
        """What a changed plan gives with the same data; None if the engine refuses it."""
        if self.executor.lost:
            return None
        try:
            return Prober(self.executor, plan, self.prepared.uploads).run()[0]
        except ScanbuildError:
            return None

    def cures(self, plan: Plan) -> bool:
        """Whether a changed plan passes, twice with the same bits."""
        first = self.outcome(plan)
        return first is not None and self.passes(first) and self.outcome(plan) == first


def diagnose(suspect: Suspect, *, briefly: bool = False) -> list[Finding]:
    """The causes that can be named; none if the faults themselves say enough, or nothing was found out.

    ``briefly`` asks only whether the adapter is to blame: that takes one or two runs, the rest may take a hundred.
    """
    kinds = {item.kind for item in suspect.findings}
    blameless = _cut_loops(suspect) if kinds & _UNDONE else []
    if blameless or briefly or not kinds & _VALUE_FAULTS:
        return blameless
    return _ignored_attributes(suspect) or _subgroup_size(suspect) or _missing_barriers(suspect)


def _cut_loops(suspect: Suspect) -> list[Finding]:
    """A pass with a loop that the adapter ended because it went on for too long for it."""
    limit = loop_limit(suspect.executor)
    if not limit:
        return []
    for index, item in enumerate(suspect.prepared.plan.passes):
        counted = counted_plan(suspect.prepared.plan, index, limit)
        if counted is None:
            continue
        plan, scratch = counted
        try:
            _, _, _, laid, result = Prober(suspect.executor, plan, suspect.prepared.uploads).run()
        except ScanbuildError:
            continue
        if laid.scratch(result, scratch)[0]:
            message = (
                f"pass {item.id} has a loop of {limit} rounds or more, and this adapter ends every loop after {limit}: "
                "it cannot run this case, which says nothing of the package"
            )
            return [Finding(kind="loop-limit", message=message)]
    return []


def _ignored_attributes(suspect: Suspect) -> list[Finding]:
    """Attributes whose other value gives the same bits, where the case fails."""
    manifest = suspect.planner.package.manifest
    given = resolve_attributes(manifest, suspect.request.attrs)
    found = []
    for name, attribute in manifest.attributes.items():
        value, default = given.get(name), attribute.default
        if default is ABSENT or name not in suspect.request.attrs or _same(value, default):
            continue
        if _same_outcome(suspect, name, default):
            message = (
                f"the attribute `{name}` is ignored: {_shown(value)} gives the same as its default {_shown(default)}"
            )
            found.append(Finding(kind="ignored-attribute", message=message))
    return found


def _same_outcome(suspect: Suspect, name: str, value: Json) -> bool:
    request = replace(suspect.request, attrs={**suspect.request.attrs, name: value})
    variant = suspect.prepared.plan.variant
    try:
        other = suspect.planner.prepare(request, suspect.executor.record, variant)
        outputs = Prober(suspect.executor, other.plan, other.uploads).run()[0]
    except ScanbuildError:
        return False
    return outputs == suspect.outputs


def _subgroup_size(suspect: Suspect) -> list[Finding]:
    """A pass that is right for subgroups of another size than the device has, and wrong for the device's own."""
    plan = suspect.prepared.plan
    info = suspect.executor.record.adapter_info
    own = (info.get("subgroupMinSize"), info.get("subgroupMaxSize"))
    for index, item in enumerate(plan.passes):
        if not uses_subgroups(item.wgsl) or _right_for(suspect, index, own[0]):
            continue
        for size in SIZES:
            if size not in own and _right_for(suspect, index, size):
                has = (
                    "of unknown size"
                    if own[0] is None
                    else f"of {own[0]}"
                    if own[0] == own[1]
                    else f"of {own[0]} to {own[1]}"
                )
                message = (
                    f"pass {item.id} relies on subgroups of {size} invocations: for such ones the case passes, and "
                    f"this adapter has subgroups {has}"
                )
                return [Finding(kind="subgroup-size", message=message)]
    return []


def _right_for(suspect: Suspect, index: int, size: int | None) -> bool:
    """Whether the call passes with the subgroups of a pass emulated in a size."""
    plan = suspect.prepared.plan
    texts = () if size is None else with_subgroups_of(plan.passes[index].wgsl, size)
    return any(suspect.cures(_with_text(plan, index, text)) for text in texts)


def _missing_barriers(suspect: Suspect) -> list[Finding]:
    """A pass that cures the call with more barriers, and the line where one is enough, if one is."""
    plan = suspect.prepared.plan
    for index, item in enumerate(plan.passes):
        for changed, _ in _trials(item, None):
            if not suspect.cures(_with_text(plan, index, changed)):
                continue
            line = next(
                (line for text, line in _trials(item, _TRIALS) if suspect.cures(_with_text(plan, index, text))), None
            )
            where = f"before line {line} of the rendered text" if line else "between its statements"
            message = f"pass {item.id} lacks a barrier: with workgroupBarrier() {where} the case passes"
            return [Finding(kind="missing-barrier", message=message)]
    return []


def _trials(item: PassPlan, most: int | None) -> Iterator[tuple[str, int]]:
    """Texts with a barrier at every place there may be one; with ``most``, with one at a time, up to so many."""
    return with_barriers(item.wgsl, one_at_a_time=most is not None, most=most or 1)


def _with_text(plan: Plan, index: int, wgsl: str) -> Plan:
    passes = list(plan.passes)
    passes[index] = replace(passes[index], wgsl=wgsl)
    return replace(plan, passes=tuple(passes))


def _same(value: Json, other: object) -> bool:
    return type(value) is type(other) and value == other


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 40 else text[:40] + "…"
