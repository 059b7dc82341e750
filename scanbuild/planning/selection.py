"""Which variant runs, and why the others do not (section 9)."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from scanbuild.dialect import DialectError, parse_expression
from scanbuild.package.model import Json, Manifest, Requires, Variant
from scanbuild.planning.attributes import is_number, nearest
from scanbuild.planning.device import DeviceRecord
from scanbuild.planning.failures import fail
from scanbuild.planning.uniforms import describe, number_text


@dataclass(frozen=True, slots=True)
class VariantVerdict:
    """What selection says of one variant. ``reason`` tells why it was rejected or demoted; "" for neither."""

    id: str
    accepted: bool
    demoted: bool
    reason: str


Screen = Callable[[Variant], str]
"""Says which function that the device cannot compile a variant uses; "" if none."""


def judge_all(
    manifest: Manifest, device: DeviceRecord, names: Mapping[str, Any], screen: Screen
) -> list[VariantVerdict]:
    """The verdict on every variant, in ranking order."""
    preferred: set[str] = set()
    verdicts = []
    for variant in manifest.ranked:
        verdicts.append(_judge(variant, device, names, preferred, screen=screen))
        if verdicts[-1].accepted and not verdicts[-1].demoted:
            preferred.add(variant.id)
    return verdicts


def select(manifest: Manifest, device: DeviceRecord, names: Mapping[str, Any], screen: Screen) -> Variant:
    """The variant that runs; CallError with every rejection if none does.

    ``names`` is what a ``when`` clause sees. The first accepted, undemoted variant ends the search: none that follows
    can change the outcome.
    """
    demoted: Variant | None = None
    verdicts: list[VariantVerdict] = []
    for variant in manifest.ranked:
        verdict = _judge(variant, device, names, frozenset(), screen=screen)
        if verdict.accepted and not verdict.demoted:
            return variant
        if verdict.accepted and demoted is None:
            demoted = variant
        verdicts.append(verdict)
    if demoted is not None:
        return demoted
    reasons = "; ".join(f"`{verdict.id}`: {verdict.reason}" for verdict in verdicts)
    raise fail(f"no variant takes this request: {reasons}", rule="no-variant", path="$.variants")


def force(
    manifest: Manifest, device: DeviceRecord, names: Mapping[str, Any], screen: Screen, variant_id: str
) -> Variant:
    """The variant of that id if it takes the request, whatever goes before it; CallError with its reason if not.

    Demotion and ``supersededBy`` only tell which of several variants goes first, so neither counts.
    """
    try:
        variant = manifest.variant(variant_id)
    except KeyError:
        near = nearest(variant_id, [item.id for item in manifest.variants])
        raise fail(f"there is no variant `{variant_id}`", hint=near, rule="variant-name", path="$.variants") from None
    verdict = _judge(variant, device, names, frozenset(), screen=screen)
    if not verdict.accepted:
        message = f"variant `{variant_id}` does not take this request: {verdict.reason}"
        raise fail(message, rule="variant-refuses", path=variant.path)
    return variant


def _judge(
    variant: Variant,
    device: DeviceRecord,
    names: Mapping[str, Any],
    preferred: set[str] | frozenset[str],
    *,
    screen: Screen,
) -> VariantVerdict:
    reason = (
        unmet_requirement(variant.requires, device)
        or over_budget(variant, device)
        or _unmet_clause(variant.when, names)
        or next((f"it is superseded by `{other}`" for other in variant.superseded_by if other in preferred), "")
        or screen(variant)
    )
    if reason:
        return VariantVerdict(variant.id, accepted=False, demoted=False, reason=reason)
    demotion, failure = _demotion(variant.demote_when, names)
    if failure:
        return VariantVerdict(variant.id, accepted=False, demoted=False, reason=failure)
    return VariantVerdict(variant.id, accepted=True, demoted=bool(demotion), reason=demotion)


def unmet_requirement(requires: Requires, device: DeviceRecord) -> str:
    """The first requirement the device does not meet; "" if it meets all."""
    return next(unmet_requirements(requires, device), "")


def unmet_requirements(requires: Requires, device: DeviceRecord) -> Iterator[str]:
    """Every requirement the device does not meet, in the order in which they are looked at."""
    for feature in requires.features:
        if feature not in device.features:
            yield f"the device lacks the feature `{feature}`"
    for name, wanted in requires.limits.items():
        offered = device.limits.get(name)
        if offered is None:
            yield f"the device does not report the limit `{name}`"
        elif not offered >= wanted:
            yield f"the limit `{name}` is {number_text(offered)}, {number_text(wanted)} is required"
    if requires.subgroup_min_size is not None:
        size = device.adapter_info.get("subgroupMinSize")
        if not is_number(size):
            yield "the adapter reports no smallest subgroup size"
        elif size < requires.subgroup_min_size:
            yield f"the smallest subgroup has {size} invocations, {requires.subgroup_min_size} are required"
    configs = device.adapter_info.get("subgroupMatrixConfigs")
    if requires.subgroup_matrix_configs is not None and configs is not None:
        patterns = requires.subgroup_matrix_configs
        if not any(_matches(pattern, config) for pattern in patterns for config in configs):
            yield "the adapter offers no subgroup matrix configuration that is asked for"


def _matches(pattern: Mapping[str, Json], config: Mapping[str, Json]) -> bool:
    return all(config.get(name) == wanted for name, wanted in pattern.items())


def over_budget(variant: Variant, device: DeviceRecord) -> str:
    """Which kind of binding a pass has more of than the device allows; "" for none."""
    for kind, limit in (
        ("storage", "maxStorageBuffersPerShaderStage"),
        ("uniform", "maxUniformBuffersPerShaderStage"),
    ):
        allowed = device.limits.get(limit, 0)
        for item in variant.all_passes():
            uniforms = sum(binding.buffer == "uniform" for binding in item.bindings)
            count = uniforms if kind == "uniform" else len(item.bindings) - uniforms
            if count > allowed:
                return f"pass `{item.id}` has {count} {kind} bindings, `{limit}` is {number_text(allowed)}"
    return ""


def _unmet_clause(clauses: Sequence[str], names: Mapping[str, Any]) -> str:
    for clause in clauses:
        value, failure = _clause(clause, names)
        if failure:
            return f"`{clause}` fails: {failure}"
        if value is not True:
            return f"`{clause}` is {describe(value)}"
    return ""


def _demotion(clauses: Sequence[str], names: Mapping[str, Any]) -> tuple[str, str]:
    """Why a variant is demoted, and why its demotion cannot be told: a clause that fails rejects it."""
    demotion = ""
    for clause in clauses:
        value, failure = _clause(clause, names)
        if failure:
            return "", f"`{clause}` fails: {failure}"
        if value is True and not demotion:
            demotion = f"`{clause}` is true"
    return demotion, ""


def _clause(clause: str, names: Mapping[str, Any]) -> tuple[Any, str]:
    try:
        return parse_expression(clause).evaluate(names), ""
    except DialectError as error:
        return None, error.message
