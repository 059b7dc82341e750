"""A manifest with one of everything that callers see, and ways to change it."""

import copy
from collections.abc import Callable
from typing import Any

from scanbuild.package.manifest import parse_manifest
from scanbuild.package.model import Manifest

Edit = Callable[[dict[str, Any]], object]

_PASS = {"shader": "a.wgsl.jinja", "bindings": ["x", "state"], "dispatch": {"threads": "n", "workgroupSize": 64}}

RICH: dict[str, Any] = {
    "domain": "org.example",
    "name": "Rich",
    "sinceVersion": 1,
    "inputs": {
        "x": {"dtype": "T", "rank": 2, "description": "the data"},
        "w": {"dtype": "T", "optional": True},
        "k": {"dtype": "int64", "storage": "int32", "narrowing": "saturating", "optional": True},
        "bits": {"dtype": "uint8", "layout": "packed", "optional": True},
        "mask": {"dtype": "B", "optional": True},
        "state": {"dtype": "float32", "optional": True},
    },
    "outputs": {
        "y": {"dtype": "T", "rank": 2, "shape": "shapes.x"},
        "state": {"dtype": "float32", "shape": ["n"]},
        "count": {"dtype": "int32", "shape": [1, "n"], "optional": True},
        "cast": {"dtype": "V", "shape": "shapes.x", "optional": True},
    },
    "args": {
        "size": {"kind": "u32"},
        "mode": {"kind": "string", "required": False, "oneOf": ["up", "down"]},
        "eps": {"kind": "f32", "required": False},
    },
    "attributes": {
        "axis": {"default": 0},
        "alpha": {"default": 1.0},
        "kind": {},
        "free": {},
    },
    "attributeConstraints": {"axis": {"values": [0, 1]}, "kind": {"required": True, "values": ["a", "b"]}},
    "typeConstraints": {
        "T": ["float32", "float16"],
        "B": ["bool", "uint8"],
        "V": ["float32", "int32"],
        "unused": ["int8", "int16"],
    },
    "derive": {"n": "numel(shapes.x)", "large": "n > 1000"},
    "when": ["ranks.x == 2"],
    "requires": {"features": ["shader-f16"], "limits": {"maxComputeInvocationsPerWorkgroup": 512}},
    "variants": [
        {
            "id": "fast",
            "priority": 10,
            "when": ["large"],
            "requires": {"features": ["subgroups"], "subgroupMinSize": 16},
            "passes": [_PASS],
        },
        {"id": "plain", "passes": [_PASS]},
    ],
}


def made(value: dict[str, Any]) -> Manifest:
    """The manifest of a JSON value, which has to load."""
    manifest, problems = parse_manifest(value)
    assert manifest is not None, problems
    return manifest


def rich(*edits: Edit) -> Manifest:
    """The rich manifest after some edits."""
    value = copy.deepcopy(RICH)
    for edit in edits:
        edit(value)
    return made(value)


def put(path: str, value: Any) -> Edit:
    """Set the member at a path such as ``inputs.x.dtype``; figures are indices."""

    def edit(whole: dict[str, Any]) -> None:
        *way, last = (int(part) if part.isdigit() else part for part in path.split("."))
        at: Any = whole
        for part in way:
            at = at[part] if isinstance(part, int) else at.setdefault(part, {})
        at[last] = copy.deepcopy(value)

    return edit


def drop(path: str) -> Edit:
    """Remove the member at a path."""

    def edit(whole: dict[str, Any]) -> None:
        *way, last = (int(part) if part.isdigit() else part for part in path.split("."))
        at: Any = whole
        for part in way:
            at = at[part]
        del at[last]

    return edit


def move(path: str, name: str) -> Edit:
    """Rename the member at a path, in its place."""

    def edit(whole: dict[str, Any]) -> None:
        *way, last = path.split(".")
        at: Any = whole
        for part in way:
            at = at[part]
        members = [(name if key == last else key, value) for key, value in at.items()]
        at.clear()
        at.update(members)

    return edit


def both(*edits: Edit) -> Edit:
    """Several edits, one after another."""

    def edit(whole: dict[str, Any]) -> None:
        for item in edits:
            item(whole)

    return edit
