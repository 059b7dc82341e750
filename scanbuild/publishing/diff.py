"""What differs between two packages: contract, variants, files, and which variants the cases select.

Changes of the contract that the manifests alone leave open are put to the cases of both packages.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from scanbuild.errors import Problem
from scanbuild.package.model import Json
from scanbuild.planning.device import DeviceRecord
from scanbuild.publishing.contract import KINDS, Change, Kind, contract_changes
from scanbuild.publishing.contract_calls import is_left_to_calls
from scanbuild.publishing.contract_ports import is_left_to_shapes
from scanbuild.publishing.diff_cases import Pair, Plans, plan_both
from scanbuild.publishing.diff_files import FileChange, ShaderChange, file_changes, shader_changes
from scanbuild.publishing.diff_sides import Side
from scanbuild.publishing.diff_variants import VariantChange, variant_changes


@dataclass(frozen=True, kw_only=True, slots=True)
class Reselection:
    """Calls that another variant takes now.

    ``new`` is empty where they are refused for ``reason``, whichever of the variants ``old`` took them; ``old`` where
    they were refused before.
    """

    old: tuple[str, ...]
    new: str
    cases: tuple[tuple[str, tuple[str, ...]], ...]
    """The names of cases, each with the devices on which it is so."""
    reason: str = ""

    def to_json(self) -> dict[str, Json]:
        """The change as ``schemas/diff-report.schema.json`` has it."""
        cases: list[Json] = [{"name": name, "devices": list(devices)} for name, devices in self.cases]
        entry: dict[str, Json] = {"oldVariants": list(self.old), "newVariant": self.new or None, "cases": cases}
        return {**entry, "reason": self.reason} if self.reason else entry


@dataclass(frozen=True, kw_only=True, slots=True)
class PackageDiff:
    """All differences of two packages. ``cases`` and ``devices`` tell what was planned; no case where nothing was."""

    old: Side
    new: Side
    contract: tuple[Change, ...] = ()
    variants: tuple[VariantChange, ...] = ()
    selections: tuple[Reselection, ...] = ()
    files: tuple[FileChange, ...] = ()
    shaders: tuple[ShaderChange, ...] = ()
    cases: int = 0
    devices: tuple[str, ...] = ()

    @property
    def same(self) -> bool:
        """Whether the packages are the same text by text."""
        return not self.files

    @property
    def version_is_raised(self) -> bool:
        """Whether the new package declares a later version of the contract."""
        return self.old.version is not None and self.new.version is not None and self.new.version > self.old.version

    @property
    def notes(self) -> tuple[Problem, ...]:
        """What could not be read and is left out."""
        return (*self.old.notes, *self.new.notes)

    def count(self, kind: Kind) -> int:
        """How many changes of the contract are of a kind."""
        return sum(change.kind == kind for change in self.contract)

    def fails(self, *, strict: bool = False) -> bool:
        """Whether callers may break under the version that they know; ``strict`` counts what is unknown, too."""
        grave = self.count("breaking") + (self.count("unknown") if strict else 0)
        return grave > 0 and not self.version_is_raised

    def to_json(self, *, strict: bool = False) -> dict[str, Json]:
        """The report as ``schemas/diff-report.schema.json`` has it, performance apart."""
        return {
            "old": _side_json(self.old),
            "new": _side_json(self.new),
            "same": self.same,
            "passed": not self.fails(strict=strict),
            "summary": {kind: self.count(kind) for kind in KINDS},
            "contract": [change.to_json() for change in self.contract],
            "variants": [change.to_json() for change in self.variants],
            "cases": {
                "planned": self.cases,
                "devices": list(self.devices),
                "selections": [change.to_json() for change in self.selections],
            },
            "files": [change.to_json() for change in self.files],
            "shaders": [change.to_json() for change in self.shaders],
            "notes": [str(problem) for problem in self.notes],
        }


def _side_json(side: Side) -> dict[str, Json]:
    op_id, version = side.manifest.op_id, side.version
    return {"location": side.location, "kind": side.kind, "package": op_id, "version": version, "id": side.id or None}


def compare_packages(old: Side, new: Side, devices: Mapping[str, DeviceRecord]) -> PackageDiff:
    """Every difference. The cases of both are planned on the devices, unless the packages are the same."""
    files = file_changes(old.files, new.files)
    plans = plan_both(old, new, devices) if files else Plans()
    contract = judged(contract_changes(old.manifest, new.manifest), plans)
    variants = variant_changes(old.manifest, new.manifest)
    renamed = _renamed(plans, {change.old_id: change.id for change in variants if change.old_id})
    return PackageDiff(
        old=old,
        new=new,
        contract=tuple(contract),
        variants=tuple(variants),
        selections=tuple(_reselections(renamed)),
        files=tuple(files),
        shaders=tuple(shader_changes(renamed)),
        cases=plans.cases,
        devices=plans.devices,
    )


def judged(changes: list[Change], plans: Plans) -> list[Change]:
    """The changes of a contract, those that calls can decide decided by the cases; the worst first.

    A call that was taken and is refused, and a result of another dtype or shape, break callers, whatever the manifests
    let one expect.
    """
    decided = [_decided(change, plans) for change in changes]
    if not any(change.kind == "breaking" for change in decided):
        decided += _unforeseen(plans)
    return sorted(decided, key=lambda change: KINDS.index(change.kind))


def _decided(change: Change, plans: Plans) -> Change:
    if is_left_to_calls(change):
        return _by_calls(change, plans)
    if is_left_to_shapes(change):
        return _by_shapes(change, plans)
    return change


def _by_calls(change: Change, plans: Plans) -> Change:
    """Whether all cases are still taken that the variants in question took."""
    concerned = [pair for pair in plans.pairs if pair.old.variant in change.about]
    refused = [pair for pair in concerned if pair.new.refused]
    if refused:
        return replace(change, kind="breaking", evidence=_refusal(refused))
    reached = {pair.old.variant for pair in concerned}
    missing = [name for name in change.about if name not in reached]
    if missing:
        return replace(change, evidence=f"no case of either package reaches {', '.join(missing)}")
    return replace(change, kind="compatible", evidence=f"{_counted(concerned)} that they took are taken still")


def _by_shapes(change: Change, plans: Plans) -> Change:
    """Whether the results of all cases have the shape they had."""
    name = (change.old_path or "").split(".")[2]
    concerned = [pair for pair in plans.pairs if pair.both and name in pair.old.outputs and name in pair.new.outputs]
    for pair in concerned:
        before, after = pair.old.outputs[name][1], pair.new.outputs[name][1]
        if before != after:
            evidence = f"case {pair.case} gives {list(after)}, and gave {list(before)}"
            return replace(change, kind="breaking", evidence=evidence)
    if not concerned:
        return replace(change, evidence="no case of either package tells")
    return replace(change, kind="compatible", evidence=f"the shape is as before in {_counted(concerned)}")


def _unforeseen(plans: Plans) -> Iterator[Change]:
    """What the cases show to be broken although the manifests do not tell."""
    refused = [pair for pair in plans.pairs if pair.new.refused and not pair.old.refused]
    if refused:
        why = "a call that was right is refused now"
        yield _call_change(f"taken by `{refused[0].old.variant}`", "refused", why, _refusal(refused))
    for name in dict.fromkeys(name for pair in plans.pairs for name in pair.old.outputs):
        for pair in plans.pairs:
            before, after = pair.old.outputs.get(name), pair.new.outputs.get(name)
            if pair.both and before != after:
                evidence = f"case {pair.case} on {pair.device}"
                why = "a call gets another result"
                yield _call_change(f"output `{name}`: {_spec(before)}", _spec(after), why, evidence)
                break


def _call_change(before: str, after: str, why: str, evidence: str) -> Change:
    return Change(kind="breaking", subject="calls", before=before, after=after, why=why, evidence=evidence)


def _spec(output: tuple[str, tuple[int, ...]] | None) -> str:
    return "none" if output is None else f"{output[0]} {list(output[1])}"


def _refusal(refused: list[Pair]) -> str:
    first = refused[0]
    return f"{_counted(refused)} refused, the first being {first.case} on {first.device}: {first.new.refused}"


def _counted(pairs: list[Pair]) -> str:
    cases, devices = len({(pair.file, pair.case) for pair in pairs}), len({pair.device for pair in pairs})
    return f"{cases} case{'s' * (cases != 1)} on {devices} device profile{'s' * (devices != 1)}"


def _renamed(plans: Plans, names: Mapping[str, str]) -> Plans:
    """The plans with old variants called as the new package calls them."""

    def named(pair: Pair) -> Pair:
        variant = pair.old.variant
        return replace(pair, old=replace(pair.old, variant=names[variant])) if variant in names else pair

    return replace(plans, pairs=tuple(map(named, plans.pairs))) if names else plans


def _reselections(plans: Plans) -> list[Reselection]:
    """The calls that another variant takes, by the two variants; before them those that are refused, by the reason."""
    found: dict[tuple[str, str, str], dict[str, list[str]]] = {}
    takers: dict[tuple[str, str, str], dict[str, None]] = {}
    for pair in plans.pairs:
        old, new = pair.old.variant, pair.new.variant
        if old == new:
            continue
        key = (old if new else "", new, pair.new.refused or pair.old.refused)
        found.setdefault(key, {}).setdefault(pair.case, []).append(pair.device)
        takers.setdefault(key, {})[old] = None
    return [
        Reselection(
            old=tuple(name for name in takers[key] if name),
            new=key[1],
            cases=tuple((name, tuple(devices)) for name, devices in cases.items()),
            reason=key[2],
        )
        for key, cases in sorted(found.items(), key=lambda item: (item[0][1] != "", item[0]))
    ]
