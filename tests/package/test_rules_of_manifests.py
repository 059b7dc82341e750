"""Section 2 of the format: each rule of ``rules.json`` with what it takes and what it refuses.

A rule is a sentence, edits of the base manifest that leave it one that loads, and edits that make one mistake.
Paths are dotted; ``{"$gone": true}`` drops a member.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from scanbuild.package.manifest import check_manifest, parse_manifest
from tests.package.building import BASE, GONE, PASS, edited

RULES: list[dict[str, Any]] = [
    rule for group in json.loads(Path(__file__).with_name("rules.json").read_text("utf-8")).values() for rule in group
]


@pytest.mark.parametrize("edits", [rule["takes"] for rule in RULES], ids=[rule["rule"] for rule in RULES])
def test_a_rule_takes(edits: dict[str, Any]) -> None:
    manifest, problems = parse_manifest(edited(BASE, edits))
    assert problems == []
    assert manifest is not None


@pytest.mark.parametrize("edits", [rule["refuses"] for rule in RULES], ids=[rule["rule"] for rule in RULES])
def test_a_rule_refuses_with_one_problem_at_a_place_in_the_text(edits: dict[str, Any]) -> None:
    value = edited(BASE, edits)
    manifest, report = check_manifest(value)
    assert manifest is None
    text = json.dumps(value, indent=1)
    (problem,) = report.located(text, "manifest.json")
    assert problem.rule
    assert problem.line is not None
    assert problem.message


def test_defaults_are_filled_in() -> None:
    manifest, _ = parse_manifest(BASE)
    assert manifest is not None
    (variant,) = manifest.variants
    (single,) = variant.all_passes()
    assert manifest.op_id == "ai.onnx.Probe"
    assert (single.id, single.name, single.path) == ("pass_0", "ai.onnx.Probe.main.pass_0", "$.variants[0].passes[0]")
    assert [(item.name, item.buffer, item.element_type) for item in single.bindings] == [
        ("x", "read-only-storage", "f32"),
        ("y", "storage", "f32"),
    ]


def test_what_the_manifest_says_is_merged_into_its_variants() -> None:
    edits = {
        "when": ["a"],
        "requires": {
            "features": ["subgroups"],
            "limits": {"maxBindGroups": 2, "maxBufferSize": 9},
            "subgroupMinSize": 4,
        },
        "tunables": {"t": {"default": 1}, "u": {"default": 2}},
        "variants.0.when": ["b"],
        "variants.0.requires": {"features": ["shader-f16", "subgroups"], "limits": {"maxBindGroups": 3}},
        "variants.0.tunables": {"t": {"default": "x"}},
    }
    manifest, _ = parse_manifest(edited(BASE, edits))
    assert manifest is not None
    (variant,) = manifest.variants
    assert variant.when == ("a", "b")
    assert variant.requires.features == ("subgroups", "shader-f16")
    assert variant.requires.limits == {"maxBindGroups": 3, "maxBufferSize": 9}
    assert variant.requires.subgroup_min_size == 4
    assert variant.tunables == {"t": "x", "u": 2}


def test_comments_are_gone_from_values() -> None:
    manifest, _ = parse_manifest(edited(BASE, {"derive": {"$comment": "c", "a": {"$comment": "c", "b": 1}}}))
    assert manifest is not None
    assert manifest.derive == {"a": {"b": 1}}


def test_all_problems_are_reported_at_once_in_the_order_of_the_text() -> None:
    value = edited(BASE, {"zzz": 1, "inputs.x.optional": 1, "variants.0.passes.0.dispatch": {}, "domain": "X"})
    _, report = check_manifest(value)
    found = report.located(json.dumps(value, indent=1), "manifest.json")
    assert [problem.path for problem in found] == [
        "$.inputs.x.optional",
        "$.variants[0].passes[0].dispatch",
        "$.zzz",
        "$.domain",
    ]


@pytest.mark.parametrize(
    ("edits", "hint"),
    [
        ({"inputs.x": {"dtyp": "float32"}}, '"dtype"'),
        ({"variants.0.passes.0.bindings.0": "X"}, '"x"'),
        ({"derivee": {}}, '"derive"'),
        ({"variants.0.constants": {}}, "use derive"),
        ({"variants.0.passes.0.dispatch": {"x": 1, "gridStride": True}}, "implied"),
        ({"requires": {"features": ["shader_f16"]}}, '"shader-f16"'),
        ({"tunables": {"t": 5}}, '{"default": 5}'),
    ],
)
def test_a_hint_names_the_way_out(edits: dict[str, Any], hint: str) -> None:
    _, problems = parse_manifest(edited(BASE, edits))
    assert any(hint in problem.hint for problem in problems)


@pytest.mark.parametrize(
    "edits",
    [
        {"variant": BASE["variants"], "variants": GONE},
        {"variants.0.passes.0": {**PASS, "shader": GONE, "shaders": "s.wgsl"}},
        {"variants.0.passes.0.dispatch": {"threads": 1, "workgroup_size": 64}},
        {"variants.0.passes.0.bindings.0": {"names": "x", "name": "x"}},
        {"args": {"a": {"kinds": "u32"}}},
        {"tunables": {"a": {"defualt": 1}}},
        {"inputs.x": {"dtyp": "float32"}},
    ],
)
def test_a_misspelt_member_is_not_reported_as_missing_too(edits: dict[str, Any]) -> None:
    value = edited(BASE, edits)
    item = value.get("variants", [{"passes": [{}]}])[0]["passes"][0]
    if item.get("shader") == GONE:
        del item["shader"]
    _, problems = parse_manifest(value)
    assert [problem.rule for problem in problems] == ["unknown-key"]
    assert "did you mean" in problems[0].hint


def test_what_refers_to_a_broken_intermediate_is_not_reported_again() -> None:
    bound = ["x", "t", {"scratch": "u"}, {"name": "q", "scratch": "u", "elementType": "f32"}]
    mistakes: list[Any] = [[{"name": "t", "dtype": "float32"}], {"t": {}}]
    for broken in mistakes:
        edits = {"variants.0.intermediates": broken, "variants.0.passes.0.bindings": bound}
        _, problems = parse_manifest(edited(BASE, edits))
        assert len(problems) == 1
        assert problems[0].path.startswith("$.variants[0].intermediates")


def test_what_refers_to_a_broken_port_is_not_reported_again() -> None:
    _, problems = parse_manifest(edited(BASE, {"inputs.x.dtype": 5}))
    assert [problem.path for problem in problems] == ["$.inputs.x.dtype"]
    _, problems = parse_manifest(edited(BASE, {"inputs": 5}))
    assert [problem.path for problem in problems] == ["$.inputs"]
