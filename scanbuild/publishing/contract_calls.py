"""Which calls are taken at all: what the variants ask of the device (2.10, 9.2) and of the call (``when``).

The manifest's own ``when`` and ``requires`` are part of every variant, so a narrower one shows here as well. A call
is lost for certain if every variant that runs on its device asks for something that the variant asked for that took it;
where conditions were reworded, only calls can tell.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from scanbuild.package.jsonfile import json_path
from scanbuild.package.model import Manifest, Variant
from scanbuild.package.report import some
from scanbuild.planning.device import DEFAULT_DEVICE
from scanbuild.publishing.contract_change import Change, Kind, canonical
from scanbuild.publishing.contract_meaning import meaning

_STORAGE_LIMIT: Final = "maxStorageBuffersPerShaderStage"
_UNIFORM_LIMIT: Final = "maxUniformBuffersPerShaderStage"
_FEATURE: Final = "the feature"
_MOST_NAMED: Final = 3


@dataclass(frozen=True, kw_only=True, slots=True)
class _Taker:
    """A variant as far as it decides which calls it takes. ``clauses`` maps meanings to texts."""

    variant: Variant
    needs: Mapping[str, float]
    matrices: frozenset[str] | None
    clauses: Mapping[str, str]

    def runs_where(self, other: "_Taker") -> bool:
        """Whether it runs on every device on which the other does."""
        within = all(value <= other.needs.get(name, float("-inf")) for name, value in self.needs.items())
        fits = self.matrices is None or (other.matrices is not None and other.matrices <= self.matrices)
        return within and fits


@dataclass(frozen=True, kw_only=True, slots=True)
class _Loss:
    """Why calls that a variant took may be lost."""

    certain: bool
    what: str
    why: str


_UNSURE: Final = _Loss(
    certain=False,
    what="no variant takes all of them for certain",
    why="the conditions of variants changed; only calls tell if each is still taken",
)


def call_changes(old: Manifest, new: Manifest) -> Iterator[Change]:
    """Calls that may be refused now for want of a variant, and calls that are taken for the first time."""
    lost, gained = _losses(old, new), _losses(new, old)
    for loss, variants in lost.items():
        yield _change(loss, variants, old, "breaking" if loss.certain else "unknown")
    for loss, variants in gained.items():
        if loss.certain or not lost:
            yield _change(loss, variants, new, "compatible")


def is_left_to_calls(change: Change) -> bool:
    """Whether a change is one of conditions, of which only calls tell what it means."""
    return change.kind == "unknown" and change.subject == "calls"


def _change(loss: _Loss, variants: list[str], owner: Manifest, kind: Kind) -> Change:
    path = json_path(("variants",))
    first = owner.variant(variants[0])
    before, after = f"taken by {_named(variants)}", loss.what
    why = loss.why
    old_path, new_path = first.path or path, path
    if kind == "compatible":
        before, after = loss.what, f"taken by {_named(variants)}"
        why = "more calls are taken" if loss.certain else "no call is lost, and more may be taken"
        old_path, new_path = path, first.path or path
    return Change(
        kind=kind,
        subject="calls",
        before=before,
        after=after,
        why=why,
        old_path=old_path,
        new_path=new_path,
        about=tuple(variants),
    )


def _named(variants: list[str]) -> str:
    return some((f"`{name}`" for name in variants), _MOST_NAMED)


def _losses(before: Manifest, after: Manifest) -> dict[_Loss, list[str]]:
    """Why calls that a manifest takes may be refused by another one, and the variants that took them."""
    found: dict[_Loss, list[str]] = {}
    takers = [_taker(variant, after) for variant in after.variants]
    for variant in before.variants:
        loss = _loss(_taker(variant, before), takers)
        if loss is not None:
            found.setdefault(loss, []).append(variant.id)
    return found


def _loss(taker: _Taker, others: list[_Taker]) -> _Loss | None:
    able = [other for other in others if other.runs_where(taker)]
    if not able:
        what = f"no variant runs without {_missing(taker, others)}"
        return _Loss(certain=True, what=what, why="calls on a device without it are refused")
    if any(other.clauses.keys() <= taker.clauses.keys() for other in able):
        return None
    added = set(able[0].clauses).intersection(*(other.clauses for other in able)) - set(taker.clauses)
    reworded = set(taker.clauses) - set().union(*(other.clauses for other in able))
    if added and not reworded:
        texts = _texts(able[0].clauses[item] for item in sorted(added))
        return _Loss(certain=True, what=f"every variant asks for {texts}", why="calls that do not meet it are refused")
    return _UNSURE


def _texts(clauses: Iterable[str]) -> str:
    return " and ".join(f"`{clause}`" for clause in clauses)


def _missing(taker: _Taker, others: list[_Taker]) -> str:
    """What the variants need that one did not: of the nearest of them."""
    excess = [_excess(other, taker) for other in others]
    least = min(excess, key=len, default=[])
    return " and ".join(least) or "more than it needed"


def _excess(taker: _Taker, than: _Taker) -> list[str]:
    parts = [
        name if name.startswith(_FEATURE) else f"{name} of {value:g}"
        for name, value in taker.needs.items()
        if not value <= than.needs.get(name, float("-inf"))
    ]
    if taker.matrices is not None and (than.matrices is None or not than.matrices <= taker.matrices):
        parts.append("some subgroup matrix configuration")
    return parts


def _taker(variant: Variant, manifest: Manifest) -> _Taker:
    requires = variant.requires
    configs = requires.subgroup_matrix_configs
    return _Taker(
        variant=variant,
        needs=_needs(variant),
        matrices=None if configs is None else frozenset(canonical(dict(config)) for config in configs),
        clauses={meaning(clause, manifest): clause for clause in variant.when},
    )


def _needs(variant: Variant) -> dict[str, float]:
    """What a device has to have. A limit that every device offers is left out."""
    requires = variant.requires
    limits = dict(requires.limits)
    for name, count in zip((_STORAGE_LIMIT, _UNIFORM_LIMIT), _most_bindings(variant), strict=True):
        limits[name] = max(count, limits.get(name, 0))
    needs: dict[str, float] = {f"{_FEATURE} `{name}`": 1 for name in requires.features}
    if requires.subgroup_min_size is not None:
        needs["a smallest subgroup"] = requires.subgroup_min_size
    for name, value in limits.items():
        offered = DEFAULT_DEVICE.limits.get(name)
        if name.startswith("min") or offered is None or value > offered:
            needs[f"a `{name}`"] = value
    return needs


def _most_bindings(variant: Variant) -> tuple[int, int]:
    """The largest numbers of storage and of uniform bindings in any pass (9.2, step 2)."""
    storages, uniforms = 0, 0
    for item in variant.all_passes():
        count = sum(binding.buffer == "uniform" for binding in item.bindings)
        storages, uniforms = max(storages, len(item.bindings) - count), max(uniforms, count)
    return storages, uniforms
