"""What the loader would do with one call, and why, as plain data: for people to read, not for engines to run.

The verdicts and the plan are those of the planner itself; what is told beside them comes from the same scopes.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache, partial
from typing import Any, Literal

from scanbuild.dialect import allowance
from scanbuild.dialect.limits import CALL_WORK
from scanbuild.errors import CallError, Problem
from scanbuild.package.model import Json, Variant
from scanbuild.planning.clauses import ClauseExplanation, explain_clause
from scanbuild.planning.details import PassDetail, Totals, explain_passes, totals
from scanbuild.planning.device import DeviceRecord
from scanbuild.planning.plan import Plan, ScratchSpec, TensorSpec
from scanbuild.planning.planner import Bound, Planner, ReadRequest
from scanbuild.planning.request import Request
from scanbuild.planning.selection import VariantVerdict, judge_all, over_budget, unmet_requirements

Stage = Literal["request", "device", "selection", "variant", ""]
"""How far a refused call gets: its request is wrong, or wrong on this device; no variant takes it; or the one that
takes it fails. Empty for a call that is planned."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Derived:
    """A derive: as written, and its value."""

    name: str
    written: Json
    value: Any


@dataclass(frozen=True, kw_only=True, slots=True)
class VariantExplanation:
    """One variant in selection order. ``unmet`` are all requirements that the device does not meet."""

    verdict: VariantVerdict
    unmet: tuple[str, ...]
    when: tuple[ClauseExplanation, ...]
    demote_when: tuple[ClauseExplanation, ...]

    @property
    def failing(self) -> tuple[ClauseExplanation, ...]:
        """The clauses of ``when`` that do not hold; the loader stops at the first."""
        return tuple(clause for clause in self.when if not clause.holds)


@dataclass(frozen=True, kw_only=True, slots=True)
class CallExplanation:
    """One call on one device. What lies behind the stage at which a call is refused is missing.

    ``chosen`` is the variant that runs, or would if it did not fail. ``problems`` say why the loader refuses.
    """

    stage: Stage = ""
    problems: tuple[Problem, ...] = ()
    tensors: tuple[TensorSpec, ...] = ()
    returned: tuple[str, ...] = ()
    types: Mapping[str, str] = field(default_factory=dict)
    attrs: Mapping[str, Json] = field(default_factory=dict)
    args: Mapping[str, Json] = field(default_factory=dict)
    derives: tuple[Derived, ...] = ()
    variants: tuple[VariantExplanation, ...] = ()
    chosen: str = ""
    forced: bool = False
    variant_derives: tuple[Derived, ...] = ()
    tunables: Mapping[str, Json] = field(default_factory=dict)
    passes: tuple[PassDetail, ...] = ()
    scratches: tuple[ScratchSpec, ...] = ()
    totals: Totals | None = None
    is_empty: bool = False


def explain_call(
    planner: Planner, request: Request, device: DeviceRecord, variant_id: str | None = None
) -> CallExplanation:
    """What the loader would do with a request on a device; with the named variant in place of the selected one.

    A refused call is no error here: the explanation says how far it gets.
    """
    found: dict[str, Any] = {"forced": variant_id is not None}
    stage: Stage = "request"
    try:
        read = planner.read(request)
        found |= _of_request(planner, read)
        stage = "device"
        bound = _bound(planner, read, device)
        found["derives"] = _derived(planner.package.manifest.derive, bound.scope.derives)
        stage = "selection"
        found["variants"] = _explain_variants(planner, bound, device)
        found["chosen"] = variant_id or chosen_of(found["variants"])
        plan = _plan(planner, read, device, variant_id)
        found |= _of_variant(planner, planner.package.manifest.variant(plan.variant), bound, device, plan)
    except CallError as error:
        if stage == "selection" and not _is_about_selection(error):
            stage = "variant"
        if stage == "variant":
            found |= _of_failed(planner, found["chosen"], bound, device)
        return CallExplanation(stage=stage, problems=error.problems, **found)
    return CallExplanation(**found)


def chosen_of(variants: tuple[VariantExplanation, ...]) -> str:
    """The variant that verdicts in ranking order lead to: the first one accepted, demoted ones last; "" for none."""
    accepted = [item.verdict for item in variants if item.verdict.accepted]
    return next((item.id for item in sorted(accepted, key=lambda verdict: verdict.demoted)), "")


def _is_about_selection(error: CallError) -> bool:
    return any(problem.rule in ("no-variant", "variant-name", "variant-refuses") for problem in error.problems)


def _of_request(planner: Planner, read: ReadRequest) -> dict[str, Any]:
    return {
        "tensors": tuple(planner.spec(tensor) for tensor in read.tensors.values()),
        "returned": tuple(read.outputs),
        "types": read.types.logical,
        "attrs": read.scalars.attrs,
        "args": read.scalars.args,
        "is_empty": read.is_empty,
    }


@allowance(CALL_WORK)
def _bound(planner: Planner, read: ReadRequest, device: DeviceRecord) -> Bound:
    return planner.bind(read, device)


@allowance(CALL_WORK)
def _plan(planner: Planner, read: ReadRequest, device: DeviceRecord, variant_id: str | None) -> Plan:
    return planner.plan(read, device, variant_id).plan


@allowance(2 * CALL_WORK)
def _explain_variants(planner: Planner, bound: Bound, device: DeviceRecord) -> tuple[VariantExplanation, ...]:
    """The verdicts first, so that explaining them cannot use up the work that they need."""
    manifest, names = planner.package.manifest, bound.scope.names
    with allowance(CALL_WORK):
        verdicts = judge_all(manifest, device, names, planner.screen(bound, device))
    explain = cache(partial(explain_clause, names=names))  # the clauses of the manifest stand in every variant
    return tuple(
        VariantExplanation(
            verdict=verdict,
            unmet=tuple(unmet_requirements(variant.requires, device)) or _over_budget(variant, device),
            when=tuple(map(explain, variant.when)),
            demote_when=tuple(map(explain, variant.demote_when)),
        )
        for variant, verdict in zip(manifest.ranked, verdicts, strict=True)
    )


def _over_budget(variant: Variant, device: DeviceRecord) -> tuple[str, ...]:
    reason = over_budget(variant, device)
    return (reason,) if reason else ()


@allowance(2 * CALL_WORK)  # whoever was planned within one must not fail for being explained
def _of_variant(planner: Planner, variant: Variant, bound: Bound, device: DeviceRecord, plan: Plan) -> dict[str, Any]:
    passes = planner.pass_planner(variant, bound, device)
    scope = passes.variant_scope()
    return {
        "chosen": variant.id,
        "variant_derives": _derived(variant.derive, scope.derives),
        "tunables": variant.tunables,
        "passes": explain_passes(passes, scope, plan),
        "scratches": tuple(plan.scratches.values()),
        "totals": totals(plan),
    }


@allowance(CALL_WORK)
def _of_failed(planner: Planner, chosen: str, bound: Bound, device: DeviceRecord) -> dict[str, Any]:
    """What can be told of a variant whose plan fails: its derives, unless they are what fails."""
    variant = planner.package.manifest.variant(chosen)
    try:
        scope = planner.pass_planner(variant, bound, device).variant_scope()
    except CallError:
        return {"tunables": variant.tunables}
    return {"tunables": variant.tunables, "variant_derives": _derived(variant.derive, scope.derives)}


def _derived(written: Mapping[str, Json], values: Mapping[str, Any]) -> tuple[Derived, ...]:
    return tuple(Derived(name=name, written=text, value=values.get(name)) for name, text in written.items())
