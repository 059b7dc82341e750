"""What changed in the variants of a kernel: conditions, rank, requirements, parameters, passes."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, is_dataclass
from typing import Any, Final, Literal

from scanbuild.package.model import ABSENT, Json, Manifest, Pass, RepeatGroup, Variant
from scanbuild.publishing.contract_change import alike, pair

EVERY: Final = "every variant"
_LONG: Final = 160
_BEFORE: Final = 40
_CAMEL: Final = {
    "subgroup_collectives_width": "subgroupCollectivesWidth",
    "submit_after": "submitAfter",
    "view_alias": "viewAlias",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Detail:
    """One member of a variant that changed: words, empty for what is not there."""

    what: str
    before: str
    after: str


@dataclass(frozen=True, kw_only=True, slots=True)
class VariantChange:
    """What became of one variant; of all that both packages have, where ``id`` is EVERY."""

    id: str
    status: Literal["added", "removed", "renamed", "changed"]
    details: tuple[Detail, ...] = ()
    old_id: str = ""

    def to_json(self) -> dict[str, Json]:
        """The change as ``schemas/diff-report.schema.json`` has it."""
        details: list[Json] = [{"what": item.what, "before": item.before, "after": item.after} for item in self.details]
        entry: dict[str, Json] = {"variant": self.id, "status": self.status, "details": details}
        return {**entry, "oldVariant": self.old_id} if self.old_id else entry


def variant_changes(old: Manifest, new: Manifest) -> list[VariantChange]:
    """Every change. What changed alike in all variants that both have is told once, at the front."""
    before, after = ({item.id: item for item in manifest.variants} for manifest in (old, new))
    names = pair(before, after, _unnamed)
    details = {name: list(_details(before[name], after[name], old, new)) for name in names.both}
    common = _common(list(details.values()))
    common = [*_general(old, new), *common]
    found = [VariantChange(id=EVERY, status="changed", details=tuple(common))] if common else []
    found += [_alone(before[name], old, "removed") for name in names.removed]
    found += [VariantChange(id=other, old_id=name, status="renamed") for name, other in names.renamed.items()]
    found += [_alone(after[name], new, "added") for name in names.added]
    for name, items in details.items():
        own = tuple(item for item in items if item not in common)
        if own:
            found.append(VariantChange(id=name, status="changed", details=own))
    order = _order_change(old, new, names.both)
    return [*found, *order]


def _common(details: Sequence[Sequence[Detail]]) -> list[Detail]:
    if len(details) < 2:
        return []
    return [item for item in details[0] if all(item in others for others in details[1:])]


def _general(old: Manifest, new: Manifest) -> Iterator[Detail]:
    """What is declared for all variants: tunables and derives of the manifest."""
    yield from _map_details("tunable", old.tunables, new.tunables)
    yield from _map_details("derive", old.derive, new.derive)


def _order_change(old: Manifest, new: Manifest, both: Sequence[str]) -> Iterator[VariantChange]:
    """Variants of equal priority are tried in the order of the list, so that it matters among those."""
    if any(old.variant(name).priority != new.variant(name).priority for name in both):
        return
    ranks = [[item.id for item in manifest.ranked if item.id in both] for manifest in (old, new)]
    if ranks[0] != ranks[1]:
        before, after = (", ".join(item) for item in ranks)
        yield VariantChange(id=EVERY, status="changed", details=(Detail(what="order", before=before, after=after),))


def _details(old: Variant, new: Variant, before: Manifest, after: Manifest) -> Iterator[Detail]:
    if old.priority != new.priority:
        yield Detail(what="priority", before=f"{old.priority:g}", after=f"{new.priority:g}")
    yield from _list_details("when", old.when, new.when)
    yield from _list_details("demoteWhen", old.demote_when, new.demote_when)
    yield from _list_details("supersededBy", old.superseded_by, new.superseded_by)
    yield from _list_details("feature", old.requires.features, new.requires.features)
    yield from _map_details("limit", old.requires.limits, new.requires.limits)
    yield from _detail("subgroupMinSize", old.requires.subgroup_min_size, new.requires.subgroup_min_size)
    yield from _detail(
        "subgroupMatrixConfigs", old.requires.subgroup_matrix_configs, new.requires.subgroup_matrix_configs
    )
    yield from _map_details("tunable", _own_tunables(old, before), _own_tunables(new, after))
    yield from _map_details("derive", old.derive, new.derive)
    yield from _map_details("intermediate", old.intermediates, new.intermediates)
    yield from _pass_details(old, new)


def _own_tunables(variant: Variant, manifest: Manifest) -> dict[str, Json]:
    """The tunables that differ from the manifest's; those are told once for all variants."""
    return {
        name: value
        for name, value in variant.tunables.items()
        if name not in manifest.tunables or manifest.tunables[name] != value
    }


def _alone(variant: Variant, manifest: Manifest, status: Literal["added", "removed"]) -> VariantChange:
    """A variant that only one package has, in its main features."""
    shared = set.intersection(*(set(item.when) for item in manifest.variants))
    parts = [("priority", f"{variant.priority:g}")]
    parts += [("when", clause) for clause in variant.when if clause not in shared]
    parts += [("feature", name) for name in variant.requires.features]
    parts += [("passes", ", ".join(f"{item.id} ({item.shader})" for item in variant.all_passes()))]
    gone = status == "removed"
    details = (Detail(what=what, before=text * gone, after=text * (not gone)) for what, text in parts)
    return VariantChange(id=variant.id, status=status, details=tuple(details))


def _pass_details(old: Variant, new: Variant) -> Iterator[Detail]:
    before, after = dict(_flat(old.passes, "")), dict(_flat(new.passes, ""))
    for name in dict.fromkeys([*before, *after]):
        one, other = before.get(name), after.get(name)
        if one is not None and other is not None:
            yield from _member_details(f"pass {name}", one, other)
        else:
            yield Detail(what=f"pass {name}", before=_kind(one), after=_kind(other))
    if before.keys() == after.keys() and list(before) != list(after):
        yield Detail(what="order of passes", before=", ".join(before), after=", ".join(after))


def _flat(items: Sequence[Pass | RepeatGroup], prefix: str) -> Iterator[tuple[str, Pass | RepeatGroup]]:
    """Passes and groups by id, those of a group behind its own."""
    for item in items:
        yield f"{prefix}{item.id}", item
        if isinstance(item, RepeatGroup):
            yield from _flat(item.passes, f"{prefix}{item.id}.")


def _member_details(what: str, old: Pass | RepeatGroup, new: Pass | RepeatGroup) -> Iterator[Detail]:
    if not isinstance(old, Pass) or not isinstance(new, Pass):
        if isinstance(old, RepeatGroup) and isinstance(new, RepeatGroup):
            yield from _detail(f"{what}: count", old.count, new.count)
            yield from _detail(f"{what}: index", old.index, new.index)
        else:
            yield Detail(what=what, before=_kind(old), after=_kind(new))
        return
    yield from _detail(f"{what}: shader", old.shader, new.shader)
    yield from _detail(f"{what}: dispatch", old.dispatch.sizes, new.dispatch.sizes)
    bindings = [{binding.name: binding for binding in item.bindings} for item in (old, new)]
    yield from _map_details(f"{what}: binding", *bindings)
    if bindings[0].keys() == bindings[1].keys():
        yield from _detail(f"{what}: order of bindings", list(bindings[0]), list(bindings[1]))
    yield from _map_details(f"{what}: derive", old.derive, new.derive)
    yield from _detail(f"{what}: profile", old.profile, new.profile)
    for member in ("subgroup_collectives_width", "submit_after", "view_alias"):
        yield from _detail(f"{what}: {_CAMEL[member]}", getattr(old, member), getattr(new, member))


def _kind(item: Pass | RepeatGroup | None) -> str:
    if item is None:
        return ""
    return f"runs {item.shader}" if isinstance(item, Pass) else "a group"


def _list_details(what: str, old: Sequence[str], new: Sequence[str]) -> Iterator[Detail]:
    yield from (Detail(what=what, before=item, after="") for item in dict.fromkeys(old) if item not in new)
    yield from (Detail(what=what, before="", after=item) for item in dict.fromkeys(new) if item not in old)


def _map_details(what: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[Detail]:
    for name in dict.fromkeys([*old, *new]):
        yield from _detail(f"{what} {name}", old.get(name, ABSENT), new.get(name, ABSENT))


def _detail(what: str, old: Any, new: Any) -> Iterator[Detail]:
    before, after = _plain(old), _plain(new)
    if before != after:
        before, after = _excerpts(before, after)
        yield Detail(what=what, before=before, after=after)


def _excerpts(old: str, new: str) -> tuple[str, str]:
    """Two texts that differ, long ones around the first difference."""
    if max(len(old), len(new)) <= _LONG:
        return old, new
    start = max(alike(old, new) - _BEFORE, 0)
    return _excerpt(old, start), _excerpt(new, start)


def _excerpt(text: str, start: int) -> str:
    head, tail = "..." if start else "", "..." if len(text) > start + _LONG else ""
    return f"{head}{text[start : start + _LONG]}{tail}" if text else ""


def _plain(value: Any) -> str:
    """A value of the model as JSON; empty for one that is not there."""
    if value is ABSENT or value is None:
        return ""
    return json.dumps(value, default=_object, ensure_ascii=False)


def _object(value: Any) -> Any:
    if is_dataclass(value) and not isinstance(value, type):
        return {name: item for name, item in asdict(value).items() if item not in (ABSENT, None, (), {})}
    return "" if value is ABSENT else list(value)


def _unnamed(variant: Variant) -> object:
    """A variant whatever its name, its description and its place."""
    passes = [(_plain_pass(item)) for item in variant.passes]
    head = (variant.priority, variant.when, variant.demote_when, variant.requires, variant.tunables, variant.derive)
    return repr((head, variant.intermediates, passes))


def _plain_pass(item: Pass | RepeatGroup) -> object:
    if isinstance(item, RepeatGroup):
        return item.id, item.index, item.count, [_plain_pass(inner) for inner in item.passes]
    return item.id, item.shader, repr(item.bindings), item.dispatch, repr(item.derive), repr(item.profile)
