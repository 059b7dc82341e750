"""Every expression of a manifest: where it stands, what it is for, and which names it may use (3.1, 3.7).

Branches that are not taken and variants that are never chosen are looked at like all others.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Final, Literal

from scanbuild.checking.places import JsonText
from scanbuild.package.jsonfile import Path, parse_path
from scanbuild.package.model import ABSENT, Absent, Dispatch, Json, Manifest, Pass, RepeatGroup, Variant
from scanbuild.planning.device import DEFAULT_DEVICE
from scanbuild.planning.scope import Scalars, Scope, request_names
from scanbuild.planning.types import Types

Use = Literal["derive", "clause", "shape", "dimension", "scratch", "count", "size", "workgroups", "field", "profile"]
Stage = Literal["inference", "manifest", "clause", "variant", "pass"]

STAGE_WORDS: Final[Mapping[Stage, str]] = {
    "inference": "an output shape",
    "manifest": "a derive of the manifest",
    "clause": "a clause of when or demoteWhen",
    "variant": "a variant's derives, scratch shapes and repeat counts",
    "pass": "a pass",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Visible:
    """What an expression may name: ``derives`` so far, ``later`` ones that it may not use yet, tunables, dtype labels
    as bare names, and the members of ``repeat``."""

    stage: Stage
    derives: tuple[str, ...] = ()
    later: tuple[str, ...] = ()
    tunables: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    repeat: tuple[str, ...] = ()

    @property
    def bare(self) -> frozenset[str]:
        """Every name that may stand alone, but for the helpers."""
        return NAMESPACES | frozenset(self.derives) | frozenset(self.labels)

    @property
    def derive_members(self) -> tuple[str, ...]:
        """What ``derive.x`` may be."""
        return (*self.labels, *self.derives)


@dataclass(frozen=True, kw_only=True, slots=True)
class Site:
    """One expression. ``words`` say where it stands; ``kind`` is a field's WGSL type, ``variant`` an id or empty.

    ``levels`` are the derives around it: those of the manifest, of the variant and of the pass.
    """

    text: str
    path: Path
    words: str
    use: Use
    visible: Visible
    kind: str = ""
    variant: str = ""
    levels: tuple[Mapping[str, Json], ...] = field(default=(), compare=False)

    def definition(self, name: str) -> Json | Absent:
        """What a derive's name stands for here."""
        for level in reversed(self.levels):
            if name in level:
                return level[name] if name in self.visible.derives else ABSENT
        return ABSENT


def _namespaces() -> frozenset[str]:
    request = request_names(
        Manifest(name="x"), {}, Types(), Scalars(attrs={}, args={}), device=DEFAULT_DEVICE, args_present=False
    )
    return frozenset(Scope(request=request).names)


NAMESPACES: Final = _namespaces()
"""The names that planning puts into every scope, helpers apart."""


def sites_of(manifest: Manifest, text: JsonText) -> tuple[Site, ...]:
    """All expressions, each once for every set of names that it may see."""
    walker = _Walker(manifest, text)
    seen: dict[tuple[object, ...], Site] = {}
    for site in walker.sites():
        seen.setdefault((site.path, site.text, site.visible), site)
    return tuple(seen.values())


def labels_of(manifest: Manifest) -> tuple[str, ...]:
    """The ``dtype`` labels of all ports: the keys of ``dtypes``."""
    ports = [*manifest.inputs.values(), *manifest.outputs.values()]
    return tuple(dict.fromkeys(port.dtype for port in ports if port.dtype))


@dataclass(frozen=True, slots=True)
class _Walker:
    manifest: Manifest
    text: JsonText
    own_clauses: int = field(init=False)

    def __post_init__(self) -> None:
        clauses = self.text.get(("when",))
        object.__setattr__(self, "own_clauses", len(clauses) if isinstance(clauses, list) else 0)

    def sites(self) -> Iterator[Site]:
        for site in self._general():
            yield replace(site, levels=(self.manifest.derive,))
        clause = Visible(stage="clause", derives=tuple(self.manifest.derive), tunables=tuple(self.manifest.tunables))
        for variant in self.manifest.variants:
            for site in self._variant(variant, clause):
                levels = site.levels or (self.manifest.derive, variant.derive)
                yield replace(site, levels=levels, variant=variant.id)

    def _general(self) -> Iterator[Site]:
        """What stands outside of the variants."""
        manifest = self.manifest
        tunables = tuple(manifest.tunables)
        derives = tuple(manifest.derive)
        inference = Visible(stage="inference", derives=derives, tunables=tunables)
        for name, port in manifest.outputs.items():
            if port.shape is not ABSENT:
                draft = _draft(("outputs", name, "shape"), f"output `{name}`, shape", "shape", inference)
                yield from _sized(port.shape, draft)
        start = Visible(stage="manifest", tunables=tunables)
        yield from _derives(manifest.derive, ("derive",), "derive", start)
        clause = Visible(stage="clause", derives=derives, tunables=tunables)
        for index, written in enumerate(_strings(self.text.get(("when",)))):
            yield Site(text=written, path=("when", index), words="when", use="clause", visible=clause)

    def _variant(self, variant: Variant, clause: Visible) -> Iterator[Site]:
        path, words = parse_path(variant.path), f"variant `{variant.id}`"
        own = (("when", variant.when[self.own_clauses :]), ("demoteWhen", variant.demote_when))
        for key, clauses in own:
            for index, written in enumerate(clauses):
                yield Site(
                    text=written,
                    path=(*path, key, index),
                    words=f"{words}, {key}",
                    use="clause",
                    visible=clause,
                    levels=(self.manifest.derive,),
                )
        start = Visible(stage="variant", derives=tuple(self.manifest.derive), tunables=tuple(variant.tunables))
        yield from _derives(variant.derive, (*path, "derive"), f"{words}, derive", start)
        values = replace(start, derives=_joined(start.derives, variant.derive))
        positions = self._scratch_places(path)
        for name, scratch in variant.intermediates.items():
            if scratch.shape is not ABSENT:
                place = (*path, "intermediates", *positions.get(name, ()), "shape")
                draft = _draft(place, f"{words}, scratch `{name}`", "scratch", values)
                yield from _sized(scratch.shape, draft)
        for item in variant.passes:
            yield from self._item(item, values, words, (), variant)

    def _scratch_places(self, path: Path) -> dict[str, Path]:
        raw = self.text.get((*path, "intermediates"))
        if not isinstance(raw, list):
            return {}
        return {item["id"]: (index,) for index, item in enumerate(raw) if isinstance(item, dict) and _has_id(item)}

    def _item(
        self, item: Pass | RepeatGroup, values: Visible, words: str, around: tuple[str, ...], variant: Variant
    ) -> Iterator[Site]:
        path = parse_path(item.path)
        if isinstance(item, Pass):
            levels = (self.manifest.derive, variant.derive, item.derive)
            start = replace(values, stage="pass", labels=labels_of(self.manifest))
            for site in self._pass(item, path, start, words):
                yield replace(site, levels=levels)
            return
        if isinstance(item.count, str):
            yield Site(
                text=item.count,
                path=(*path, "repeat", "count"),
                words=f"{words}, group `{item.id}`, repeat.count",
                use="count",
                visible=values,
            )
        names = (*around, item.index)
        members = ("index", "count", *names, *(f"{name}_count" for name in names))
        for inner in item.passes:
            yield from self._item(inner, replace(values, repeat=members), words, names, variant)

    def _pass(self, item: Pass, path: Path, values: Visible, around: str) -> Iterator[Site]:
        words = f"{around}, pass `{item.id}`"
        yield from _derives(item.derive, (*path, "derive"), f"{words}, derive", values)
        inner = replace(values, derives=_joined(values.derives, item.derive))
        for name, use, size in _sizes(item.dispatch):
            if isinstance(size, str):
                place = (*path, "dispatch", name)
                yield Site(text=size, path=place, words=f"{words}, dispatch.{name}", use=use, visible=inner)
        for index, binding in enumerate(item.bindings):
            place = binding_path(self.text, item, path, index)
            for position, member in enumerate(binding.fields):
                for key, written in (("value", member.value), ("default", member.default)):
                    if isinstance(written, str):
                        yield Site(
                            text=written,
                            path=(*place, "struct", position, key),
                            words=f"{words}, uniform `{binding.name}`, field `{member.name}`",
                            use="field",
                            visible=inner,
                            kind=member.type,
                        )
        members: list[tuple[str | int, Json]] = []
        if isinstance(item.profile, dict):
            members += item.profile.items()
        elif isinstance(item.profile, list):
            members += enumerate(item.profile)
        for named, value in members:
            draft = _draft((*path, "profile", named), f"{words}, profile `{named}`", "profile", inner)
            yield from _tree(value, draft)


def binding_path(text: JsonText, item: Pass, path: Path, index: int) -> Path:
    """Where the entry of a binding is written: at its handle if it names one, else in the pass."""
    raw = text.get((*path, "bindings"))
    if not isinstance(raw, list) or len(raw) != len(item.bindings):
        return (*path, "bindings")
    written = raw[index]
    if isinstance(written, str) and text.has(("bindings", written)):
        return ("bindings", written)
    return (*path, "bindings", index)


def _draft(path: Path, words: str, use: Use, visible: Visible) -> Site:
    return Site(text="", path=path, words=words, use=use, visible=visible)


def _sized(value: Json, draft: Site) -> Iterator[Site]:
    """A shape: one expression, or a list of expressions and numbers."""
    if isinstance(value, str):
        yield replace(draft, text=value)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            if isinstance(item, str):
                yield replace(draft, text=item, path=(*draft.path, index), use="dimension")


def _tree(value: Json, draft: Site) -> Iterator[Site]:
    """Every string of a JSON value."""
    pending: list[tuple[Json, Path]] = [(value, draft.path)]
    while pending:
        item, path = pending.pop()
        if isinstance(item, str):
            yield replace(draft, text=item, path=path)
        elif isinstance(item, list):
            pending.extend((member, (*path, index)) for index, member in reversed(list(enumerate(item))))
        elif isinstance(item, dict):
            pending.extend((member, (*path, name)) for name, member in reversed(list(item.items())))


def _derives(derives: Mapping[str, Json], path: Path, words: str, start: Visible) -> Iterator[Site]:
    """The derives of one level, each seeing those before it."""
    names = list(derives)
    known = start.derives
    for index, (name, value) in enumerate(derives.items()):
        later = tuple(other for other in names[index:] if other not in known)
        visible = replace(start, derives=known, later=later)
        yield from _tree(value, _draft((*path, name), f"{words} `{name}`", "derive", visible))
        known = _joined(known, (name,))


def _joined(names: tuple[str, ...], more: Mapping[str, Json] | tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*names, *more)))


def _sizes(dispatch: Dispatch) -> list[tuple[str, Use, str | int]]:
    if dispatch.form == "threads":
        return [("threads", "workgroups", dispatch.threads), ("workgroupSize", "workgroups", dispatch.workgroup_size)]
    if dispatch.form == "workgroups":
        return [("workgroups", "workgroups", dispatch.workgroups)]
    return [("x", "size", dispatch.x), ("y", "size", dispatch.y), ("z", "size", dispatch.z)]


def _strings(value: Json) -> list[str]:
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []


def _has_id(item: Mapping[str, Json]) -> bool:
    return isinstance(item.get("id"), str)
