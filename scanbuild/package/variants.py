"""The list of variants (2.8), families expanded, and the rules that hold between them."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final, cast

from scanbuild.package.bindings import parse_handles
from scanbuild.package.contract import Contract
from scanbuild.package.family import expand, is_family
from scanbuild.package.jsonfile import json_path
from scanbuild.package.model import Binding, Json, Requires, Variant
from scanbuild.package.parameters import parse_derive, parse_tunables
from scanbuild.package.passes import Surroundings, parse_intermediates, parse_passes
from scanbuild.package.report import Node, shown
from scanbuild.package.requires import merge_requires, parse_requires
from scanbuild.package.substitution import Budget, Draft
from scanbuild.package.values import (
    clauses,
    description,
    expect_keys,
    expect_list,
    expect_object,
    is_finite,
    required,
    text,
)
from scanbuild.package.vocabulary import is_stable_id

VARIANT_KEYS: Final = (
    "id",
    "description",
    "priority",
    "when",
    "demoteWhen",
    "supersededBy",
    "requires",
    "tunables",
    "derive",
    "intermediates",
    "passes",
)

_ADVICE: Final = {
    "use": "shared fragments have to be expanded before publishing",
    "constants": "use derive",
    "bindings": "bindings belong to a pass, shared ones to the top level of the manifest",
    "shader": "a shader belongs to a pass",
    "dispatch": "a dispatch belongs to a pass",
    "variants": "a family of variants needs cases or axes beside variants",
}
_UNEXPANDED: Final = ("use", "variants")
"""With one of these and no passes, the unknown member is the mistake; that passes are missing follows from it."""


@dataclass(frozen=True, slots=True)
class General:
    """What the manifest says for all its variants."""

    op_id: str
    contract: Contract
    handles: Mapping[str, Binding | None]
    when: tuple[str, ...]
    requires: Requires
    tunables: Mapping[str, Json]


def parse_general(manifest: Node, contract: Contract, op_id: str) -> General:
    """The members of a manifest that every variant inherits."""
    return General(
        op_id=op_id,
        contract=contract,
        handles=parse_handles(manifest.get("bindings"), contract),
        when=clauses(manifest.get("when"), "when"),
        requires=parse_requires(manifest.get("requires")),
        tunables=parse_tunables(manifest.get("tunables")),
    )


def parse_variants(node: Node, general: General) -> tuple[Variant, ...]:
    """All variants after expansion, in order."""
    if expect_list(node, "variants") is None:
        return ()
    parsed: list[tuple[Draft, Variant]] = []
    for index, draft in enumerate(_drafts(node)):
        with node.report.within(draft.origin, draft.case):
            variant = _parse_variant(draft.node, index, general)
        if variant is not None:
            parsed.append((draft, variant))
            node.report.note_variant(variant.id, draft.node.path, draft.origin)
    _check_ids(parsed)
    if not node.report.failed:
        _check_superseded(parsed)
    return tuple(variant for _, variant in parsed)


def _drafts(node: Node) -> Iterator[Draft]:
    budget = Budget()
    for item in node.elements():
        if is_family(item.value):
            yield from expand(item, budget)
        else:
            yield Draft(item)


def _parse_variant(node: Node, index: int, general: General) -> Variant | None:
    if expect_object(node, "a variant") is None:
        return None
    if is_family(node.value):
        node.fail("family", "a template cannot be a family itself; families do not nest")
        return None
    expect_keys(node, VARIANT_KEYS, "a variant", _ADVICE)
    if not node.has("passes") and any(node.has(key) for key in _UNEXPANDED):
        return None
    variant_id = _variant_id(node.get_unless_null("id"), f"variant_{index}")
    contract = general.contract
    scratches = parse_intermediates(node.get("intermediates"), contract)
    if scratches is None:
        scratches, contract = {}, replace(contract, complete=False)
    around = Surroundings(contract, general.handles, scratches, f"{general.op_id}.{variant_id}")
    passes = required(node, "passes", "a variant")
    requires = node.get("requires")
    own_tunables = parse_tunables(node.get("tunables"))
    return Variant(
        id=variant_id,
        passes=parse_passes(passes, around) if passes is not None else (),
        priority=_priority(node.get_unless_null("priority")),
        when=general.when + clauses(node.get("when"), "when"),
        demote_when=clauses(node.get("demoteWhen"), "demoteWhen"),
        superseded_by=_superseded_by(node.get("supersededBy")),
        requires=merge_requires(general.requires, parse_requires(requires), requires),
        tunables={**general.tunables, **own_tunables},
        derive=parse_derive(node.get("derive"), contract.type_constraints),
        intermediates=scratches,
        description=description(node),
        path=json_path(node.report.written(node.path)),
    )


def _variant_id(node: Node | None, default: str) -> str:
    if node is None:
        return default
    if not isinstance(node.value, str):
        node.fail("type", f"the id of a variant has to be a text, not {node.shown}")
        return default
    if not is_stable_id(node.value):
        message = f"the id of a variant has letters, digits and underscores, not {node.shown}"
        node.fail("id", message, hint="it may not begin with an underscore")
    return node.value


def _priority(node: Node | None) -> float:
    if node is None:
        return 0
    if is_finite(node.value):
        return cast(float, node.value)
    node.fail("type", f"a priority has to be a finite number, not {node.shown}")
    return 0


def _superseded_by(node: Node | None) -> tuple[str, ...]:
    if node is None or expect_list(node, "supersededBy", optional=True) is None:
        return ()
    return tuple(text(item, "a variant id", empty=True) for item in node.elements())


def _check_ids(parsed: list[tuple[Draft, Variant]]) -> None:
    seen: set[str] = set()
    for draft, variant in parsed:
        if variant.id in seen:
            place = draft.node.get("id") or draft.node
            with place.report.within(draft.origin, draft.case):
                place.fail("duplicate", f"another variant is called {shown(variant.id)}")
        seen.add(variant.id)


def _check_superseded(parsed: list[tuple[Draft, Variant]]) -> None:
    """Each variant named has to exist and to come first anyway."""
    order = {variant.id: (index, variant) for index, (_, variant) in enumerate(parsed)}
    for index, (draft, variant) in enumerate(parsed):
        node = draft.node.get("supersededBy")
        if node is None:
            continue
        with node.report.within(draft.origin, draft.case):
            for item, other_id in zip(node.elements(), variant.superseded_by, strict=True):
                if other_id not in order:
                    hint = item.nearest(other_id, order)
                    item.fail("superseded", f"there is no variant called {shown(other_id)}", hint=hint)
                elif other_id == variant.id:
                    item.fail("superseded", "a variant cannot be superseded by itself")
                else:
                    position, other = order[other_id]
                    if (-other.priority, position) > (-variant.priority, index):
                        message = f"{shown(other_id)} does not outrank {shown(variant.id)}"
                        hint = "it needs a higher priority, or an equal one and an earlier place in the list"
                        item.fail("superseded", message, hint=hint)
