"""Variant families (2.9): from cases or a grid of two axes to the variants before validation."""

from collections.abc import Iterator, Mapping
from typing import Final, cast

from scanbuild.package.model import Json
from scanbuild.package.report import Node, shown
from scanbuild.package.substitution import MAX_VARIANTS, Budget, Case, Draft, ExpansionError, expand_template
from scanbuild.package.values import (
    expect_keys,
    expect_list,
    expect_object,
    identifier,
    is_finite,
    is_number,
    required,
    text,
)

FAMILY_KEYS: Final = ("variants", "description", "cases", "axes", "exclude")
MARKS: Final = ("cases", "axes", "exclude")


def is_family(value: Json) -> bool:
    """Whether a member of ``variants`` is a family."""
    return isinstance(value, dict) and any(key in value for key in MARKS)


def expand(node: Node, budget: Budget) -> Iterator[Draft]:
    """The variants of a family in order: case by case, and template by template within a case."""
    expect_keys(node, FAMILY_KEYS, "a variant family")
    text(node.get("description"), "a description", empty=True)
    templates = required(node, "variants", "a variant family")
    if node.has("axes"):
        cases = _grid_cases(node)
    else:
        if node.has("exclude"):
            cast(Node, node.get("exclude")).fail("family", "exclude needs axes beside it", key=True)
        cases = _plain_cases(node.get("cases"))
    if templates is None or expect_list(templates, "the template list of a family") is None or cases is None:
        return
    for label, case in cases:
        for template in templates.elements():
            budget.variants -= 1
            if budget.variants < 0:
                node.fail("limit-variants", f"the manifest expands to more than {MAX_VARIANTS} variants")
                return
            try:
                draft = expand_template(template, case, label, budget)
            except ExpansionError as error:
                node.fail("limit-expansion", f"the expanded manifest {error}")
                budget.variants = 0
                return
            if draft is not None:
                yield draft


def _plain_cases(node: Node | None) -> list[tuple[str, Case]] | None:
    if node is None or expect_list(node, "cases") is None:
        return None
    cases: list[tuple[str, Case]] = []
    for index, item in enumerate(node.elements()):
        if expect_object(item, "a case") is None:
            return None
        if not item.value:
            item.fail("empty", "a case may not be empty")
        if not _check_fields(item, "a field of a case"):
            return None
        cases.append((f"case {index}", cast(dict[str, Json], item.value)))
    return cases


def _check_fields(node: Node, what: str, but: tuple[str, ...] = ()) -> bool:
    good = True
    for name, item in node.members():
        if name not in but:
            good &= identifier(item, name, what)
            good &= _check_finite(item)
    return good


def _check_finite(node: Node) -> bool:
    if is_number(node.value):
        if not is_finite(node.value):
            node.fail("type", "a number in a case has to be finite")
            return False
        return True
    return all([*map(_check_finite, node.elements()), *(_check_finite(item) for _, item in node.members())])


def _grid_cases(node: Node) -> list[tuple[str, Case]] | None:
    axes_node = cast(Node, node.get("axes"))
    axes = _parse_axes(axes_node)
    if axes is None:
        return None
    (outer, outer_entries), (inner, inner_entries) = axes.items()
    excluded = _parse_excluded(node.get("exclude"), axes)
    overrides = _parse_overrides(node.get("cases"), axes, excluded)
    if excluded is None or overrides is None:
        return None
    cells: list[tuple[str, Case]] = []
    for outer_key, outer_fields in outer_entries.items():
        for inner_key, inner_fields in inner_entries.items():
            cell = outer_key, inner_key
            if cell not in excluded:
                label = f"cell {outer}={outer_key}, {inner}={inner_key}"
                cells.append((label, {**outer_fields, **inner_fields, **overrides.get(cell, {})}))
            if len(cells) > MAX_VARIANTS:
                node.fail("limit-variants", f"the manifest expands to more than {MAX_VARIANTS} variants")
                return None
    if not cells:
        node.fail("family", "every cell of the grid is excluded")
        return None
    return cells


Axes = Mapping[str, Mapping[str, Case]]
Cell = tuple[str, str]


def _parse_axes(node: Node) -> Axes | None:
    if expect_object(node, "axes") is None:
        return None
    if len(cast(dict[str, Json], node.value)) != 2:
        node.fail("family", f"a grid has two axes, not {len(cast(dict[str, Json], node.value))}")
        return None
    axes: dict[str, dict[str, Case]] = {}
    good = True
    for name, item in node.members():
        good &= identifier(item, name, "the name of an axis")
        entries = _parse_axis(item)
        good &= entries is not None
        axes[name] = entries or {}
    if not good:
        return None
    return axes if _check_axis_fields(node, axes) else None


def _parse_axis(node: Node) -> dict[str, Case] | None:
    if expect_list(node, "an axis") is None:
        return None
    entries: dict[str, Case] = {}
    good = True
    for item in node.elements():
        if expect_object(item, "an axis entry") is None:
            return None
        key_node = required(item, "$key", "an axis entry")
        key = text(key_node, "$key")
        if key_node is None or not key or not identifier(key_node, key, "$key", key=False):
            good = False
            continue
        if key in entries:
            key_node.fail("duplicate", f"the axis has an entry with the key {key} already")
            good = False
        good &= _check_fields(item, "a field of an axis entry", but=("$key",))
        entries[key] = {name: value for name, value in cast(dict[str, Json], item.value).items() if name != "$key"}
    return entries if good else None


def _check_axis_fields(node: Node, axes: Axes) -> bool:
    (outer, outer_entries), (_, inner_entries) = axes.items()
    outer_fields = {name for fields in outer_entries.values() for name in fields}
    inner_fields = {name for fields in inner_entries.values() for name in fields}
    good = True
    for axis, item in node.members():
        for entry in item.elements():
            for name, field in entry.members():
                if name in axes:
                    field.fail("family", f"{name} is the name of an axis; a field needs another", key=True)
                    good = False
                elif axis != outer and name in outer_fields and name in inner_fields:
                    field.fail("family", f"both axes have a field called {name}", key=True)
                    good = False
    return good


def _parse_excluded(node: Node | None, axes: Axes) -> set[Cell] | None:
    if node is None:
        return set()
    if expect_list(node, "exclude", empty=True) is None:
        return None
    excluded: set[Cell] = set()
    for item in node.elements():
        if expect_object(item, "an excluded cell") is None:
            return None
        expect_keys(item, list(axes), "an excluded cell")
        cell = _cell(item, axes, "an excluded cell")
        if cell is None or len(cast(dict[str, Json], item.value)) != 2:
            return None
        if cell in excluded:
            item.fail("duplicate", "this cell is excluded already")
        excluded.add(cell)
    return excluded


def _parse_overrides(node: Node | None, axes: Axes, excluded: set[Cell] | None) -> dict[Cell, Case] | None:
    if node is None:
        return {}
    if expect_list(node, "cases", empty=True) is None:
        return None
    overrides: dict[Cell, Case] = {}
    for item in node.elements():
        if expect_object(item, "a case") is None:
            return None
        cell = _cell(item, axes, "a case of a grid")
        if cell is None or not _check_fields(item, "a field of a case", but=tuple(axes)):
            return None
        if cell in overrides:
            item.fail("duplicate", "there is a case for this cell already")
        if excluded is not None and cell in excluded:
            item.fail("family", "this cell is excluded")
        overrides[cell] = {name: value for name, value in cast(dict[str, Json], item.value).items() if name not in axes}
    return overrides


def _cell(node: Node, axes: Axes, what: str) -> Cell | None:
    keys: list[str] = []
    for axis, entries in axes.items():
        member = required(node, axis, what)
        key = text(member, axis)
        if member is None or not key:
            continue
        if key not in entries:
            hint = member.nearest(key, entries)
            member.fail("family", f"the axis {axis} has no entry with the key {shown(key)}", hint=hint)
            continue
        keys.append(key)
    return (keys[0], keys[1]) if len(keys) == 2 else None
