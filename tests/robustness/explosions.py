"""Manifests that are small as text and very large as what they stand for."""

import random
from collections.abc import Callable
from typing import Any

Explosion = Callable[[dict[str, Any], random.Random], None]


def _variants(manifest: dict[str, Any]) -> list[Any]:
    found = manifest.get("variants")
    return found if isinstance(found, list) else []


def _template(manifest: dict[str, Any]) -> dict[str, Any]:
    """A variant of the manifest, or of one of its families."""
    for item in _variants(manifest):
        if isinstance(item, dict):
            inner = item.get("variants")
            if isinstance(inner, list) and inner and isinstance(inner[0], dict):
                return dict(inner[0])
            return dict(item)
    return {"passes": []}


def _passes(manifest: dict[str, Any]) -> list[Any]:
    """The passes of a variant, in place."""
    for item in _variants(manifest):
        if isinstance(item, dict):
            inner = item.get("variants")
            holder = inner[0] if isinstance(inner, list) and inner and isinstance(inner[0], dict) else item
            passes = holder.get("passes")
            if isinstance(passes, list):
                return passes
    return []


def nested_groups(manifest: dict[str, Any], chance: random.Random) -> None:
    """Groups of 65535 rounds in groups of 65535 rounds."""
    passes = _passes(manifest)
    inner: list[Any] = chance.choice([[], list(passes)])
    for depth in range(chance.choice([1, 2, 3, 60])):
        inner = [{"id": f"g{depth}", "repeat": {"index": f"i{depth}", "count": 65535}, "passes": inner}]
    passes[:] = inner


def many_rounds(manifest: dict[str, Any], chance: random.Random) -> None:
    """One group of many rounds whose passes ask which round it is."""
    passes = _passes(manifest)
    for item in passes:
        if isinstance(item, dict) and "shader" in item and chance.random() < 0.8:
            item["derive"] = {**(item.get("derive") or {}), "round0": "repeat.index * 2"}
    passes[:] = [{"id": "g", "repeat": {"index": "i", "count": chance.choice([300, 65535])}, "passes": list(passes)}]


def many_passes(manifest: dict[str, Any], chance: random.Random) -> None:
    passes = _passes(manifest)
    if passes and isinstance(passes[0], dict):
        first = passes[0]
        passes[:] = [{**first, "id": f"p{index}"} for index in range(chance.choice([100, 1_500, 3_000]))]


def wide_grid(manifest: dict[str, Any], chance: random.Random) -> None:
    """A family of a million variants."""
    size = chance.choice([10, 60, 1_000])
    axes = {name: [{"$key": f"k{index}", f"f{name}": index} for index in range(size)] for name in ("a", "b")}
    template = {**_template(manifest), "id": "v{fa}_{fb}"}
    manifest["variants"] = [{"axes": axes, "variants": [template]}]


def many_cases(manifest: dict[str, Any], chance: random.Random) -> None:
    size = chance.choice([30, 400, 5_000])
    template = {**_template(manifest), "id": "v{n}"}
    manifest["variants"] = [{"cases": [{"n": index} for index in range(size)], "variants": [template] * 2}]


def long_fields(manifest: dict[str, Any], chance: random.Random) -> None:
    """A field of a case that is long, put in many places."""
    long = chance.choice(["x" * 50_000, "{v}" * 5_000, ["x"] * 5_000, {"a": ["{v}"] * 2_000}])
    template = {**_template(manifest), "id": "v", "description": "{v}" * 500, "when": ["{v}"] * 300}
    manifest["variants"] = [{"cases": [{"v": long}] * 20, "variants": [template]}]


def fields_in_fields(manifest: dict[str, Any], chance: random.Random) -> None:
    """Placeholders that lead to placeholders, each doubling."""
    fields = {f"f{index}": f"{{f{index + 1}}}{{f{index + 1}}}" for index in range(40)}
    template = {**_template(manifest), "id": "v{f0}"}
    manifest["variants"] = [{"cases": [{**fields, "f40": "x"}], "variants": [template]}]


def many_derives(manifest: dict[str, Any], chance: random.Random) -> None:
    """Derives that double a text or a list from one to the next."""
    start, step = chance.choice([("'ab'", "d{0} ~ d{0}"), ("[1]", "[d{0}, d{0}]"), ("[1]", "d{0} + d{0}")])
    derives: dict[str, Any] = {"d0": start}
    for index in range(chance.choice([5, 20, 40, 400])):
        derives[f"d{index + 1}"] = step.format(index)
    manifest["derive"] = {**(manifest.get("derive") or {}), **derives}


def kept_derives(manifest: dict[str, Any], chance: random.Random) -> None:
    """Many long lists, all of them alive at once."""
    derives = {f"d{index}": "fill(1, 1000000)" for index in range(chance.choice([2, 20, 200]))}
    manifest["derive"] = {**(manifest.get("derive") or {}), **derives}


def many_clauses(manifest: dict[str, Any], chance: random.Random) -> None:
    clause = chance.choice(["numel(fill(1, 1000000)) > 0", "true", "1 < 2", "(" * 100 + "true" + ")" * 100])
    manifest["when"] = [clause] * chance.choice([100, 1_500, 3_000])


def many_unknown(manifest: dict[str, Any], chance: random.Random) -> None:
    """Names that nothing has, one or many in each of many expressions."""
    many = chance.choice([1, 40])
    size = chance.choice([20, 300, 1_500])
    derives = {f"d{index}": " + ".join(f"e{index}x{n}" for n in range(many)) for index in range(size)}
    manifest["derive"] = {**(manifest.get("derive") or {}), **derives}


def many_fields(manifest: dict[str, Any], chance: random.Random) -> None:
    """A uniform with many members."""
    size = chance.choice([1_000, 20_000])
    struct = [{"name": f"f{index}", "type": "u32", "value": "1"} for index in range(size)]
    for item in _passes(manifest):
        if isinstance(item, dict) and isinstance(item.get("bindings"), list):
            item["bindings"].append({"name": "flood", "buffer": "uniform", "struct": struct})


def many_bindings(manifest: dict[str, Any], chance: random.Random) -> None:
    for item in _passes(manifest):
        if isinstance(item, dict) and isinstance(item.get("bindings"), list):
            item["bindings"] = (item["bindings"] * chance.choice([10, 300]))[:1_000]


def many_ports(manifest: dict[str, Any], chance: random.Random) -> None:
    ports = {f"p{index}": {"dtype": "float32", "optional": True} for index in range(chance.choice([100, 1_500, 3_000]))}
    manifest["inputs"] = {**(manifest.get("inputs") or {}), **ports}


def many_scratches(manifest: dict[str, Any], chance: random.Random) -> None:
    for item in _variants(manifest):
        if isinstance(item, dict):
            item["intermediates"] = [
                {"id": f"s{index}", "dtype": "float32", "shape": chance.choice(["9007199254740992", ["1"] * 50, "[2]"])}
                for index in range(chance.choice([10, 1_000]))
            ]


def large_dispatch(manifest: dict[str, Any], chance: random.Random) -> None:
    forms: list[Any] = [
        {"x": 65535, "y": 65535, "z": 65535},
        {"x": "9007199254740992"},
        {"threads": "9007199254740992", "workgroupSize": 1},
        {"threads": "1 // 0", "workgroupSize": "0 // 0"},
        {"workgroups": "9007199254740993"},
        {"threads": -1, "workgroupSize": 0},
        {"x": 0, "y": "-1", "z": "0.5"},
        {"threads": 1, "workgroupSize": "5e-324"},
        {"workgroups": "fill(1, 3)"},
    ]
    for item in _passes(manifest):
        if isinstance(item, dict):
            item["dispatch"] = chance.choice(forms)


def odd_lengths(manifest: dict[str, Any], chance: random.Random) -> None:
    """Sized arrays and element types of every kind."""
    lengths = [9007199254740992, -1, 0, "$n", "$missing", "$", "1e9", 0.5, "$" + "n" * 50_000, None]
    types = ["$T", "$n", "vec4<f32>", "array<" * 500, "f32; }", "\ud800", "$missing", "", "mat4x4<f32>"]
    for item in _passes(manifest):
        if isinstance(item, dict) and isinstance(item.get("bindings"), list):
            item["bindings"] = [
                {"name": f"b{index}", "arg": entry, "buffer": "storage", "elementType": chance.choice(types)}
                | ({"length": chance.choice(lengths)} if chance.random() < 0.5 else {})
                for index, entry in enumerate(item["bindings"])
            ]


def many_requirements(manifest: dict[str, Any], chance: random.Random) -> None:
    configs = [{"M": 8, "N": 8, "K": index} for index in range(chance.choice([10, 3_000]))]
    manifest["requires"] = {
        "features": [f"f{index}" for index in range(chance.choice([1, 3_000]))],
        "limits": {"maxBufferSize": chance.choice([0, 2**53, 1e308])},
        "subgroupMatrixConfigs": configs,
    }


def long_words(manifest: dict[str, Any], chance: random.Random) -> None:
    """A name of a megabyte, and a million words that nothing is called."""
    manifest[chance.choice(["name", "domain", "description"])] = "x" * 1_000_000
    manifest["derive"] = {**(manifest.get("derive") or {}), "d": "x" * 300_000}


EXPLOSIONS: tuple[Explosion, ...] = (
    nested_groups,
    nested_groups,
    many_rounds,
    many_passes,
    wide_grid,
    many_cases,
    long_fields,
    fields_in_fields,
    many_derives,
    kept_derives,
    many_clauses,
    many_unknown,
    many_fields,
    many_bindings,
    many_ports,
    many_scratches,
    large_dispatch,
    odd_lengths,
    many_requirements,
    long_words,
)
