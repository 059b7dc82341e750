"""Hostile and broken packages: words and limits, never a traceback, a hang or a flood."""

import copy
import json
import random
import time
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from scanbuild.errors import LoadError
from scanbuild.package.manifest import check_manifest, parse_manifest, read_manifest
from scanbuild.package.metadata import parse_metadata
from scanbuild.package.passes import MAX_PASSES
from scanbuild.package.report import MAX_FINDINGS
from tests.package.building import BASE, PASS, edited
from tests.package.test_corpus_load import ENTRIES

MANIFESTS = [
    entry["files"]["manifest.json"] for entry in ENTRIES if isinstance(entry["files"].get("manifest.json"), dict)
]
METADATA = [
    entry["files"]["metadata.json"] for entry in ENTRIES if isinstance(entry["files"].get("metadata.json"), dict)
]
ODD: list[Any] = [
    *(None, True, 0, -1, 1e999, -0.0, 0.5, 2**53, 1e300),
    *("", "x", "\ud800", "{n}", "$", "é\n", "a" * 5000),
    *([], {}, [[]], [None], {"": None}, {"constructor": 1}, {"$comment": 1}),
    *({"cases": [{}]}, {"repeat": {}}, {"axes": {}, "variants": []}),
]


def containers(value: Any) -> list[Any]:
    found = [value] if isinstance(value, dict | list) and value else []
    for item in value.values() if isinstance(value, dict) else value if isinstance(value, list) else []:
        found += containers(item)
    return found


def mutated(value: Any, chance: random.Random) -> Any:
    """The value with one member dropped, retyped, doubled, renamed, or put where another was."""
    made = copy.deepcopy(value)
    everywhere = containers(made)
    node = chance.choice(everywhere)
    key = chance.choice(list(node)) if isinstance(node, dict) else chance.randrange(len(node))
    match chance.randrange(5):
        case 0:
            del node[key]
        case 1:
            node[key] = copy.deepcopy(chance.choice(ODD))
        case 2 if isinstance(node, list):
            node.append(copy.deepcopy(node[key]))
        case 3 if isinstance(node, dict):
            node[chance.choice(["", "use", "passes", "$use", "{n}", str(key)[:-1], str(key) + "s"])] = node.pop(key)
        case _:
            node[key] = copy.deepcopy(chance.choice(everywhere))
    return made


@given(st.randoms(use_true_random=False), st.integers(1, 4))
@settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_no_mutation_of_a_manifest_gives_anything_but_problems(chance: random.Random, times: int) -> None:
    value = chance.choice(MANIFESTS)
    for _ in range(times):
        value = mutated(value, chance) if containers(value) else value
    manifest, report = check_manifest(value)
    text = json.dumps(value, allow_nan=False, default=str) if "Infinity" not in json.dumps(value) else ""
    if text:
        for problem in report.located(text, "manifest.json"):
            assert problem.message.isprintable(), problem
            assert problem.line == 1
            assert problem.path.startswith("$")
    assert (manifest is None) == report.failed


@given(st.randoms(use_true_random=False))
@settings(max_examples=200, deadline=None)
def test_no_mutation_of_metadata_gives_anything_but_problems(chance: random.Random) -> None:
    value = mutated(chance.choice(METADATA), chance)
    metadata, problems = parse_metadata(value)
    assert (metadata is None) == bool(problems)


@pytest.mark.parametrize("value", [*ODD, *([{"variants": [item]}] for item in ODD)], ids=lambda value: repr(value)[:30])
def test_anything_at_all_may_be_called_a_manifest(value: Any) -> None:
    assert parse_manifest(value)[0] is None


def test_a_manifest_deeper_than_any_text_is_refused_in_words() -> None:
    value: Any = 1
    for _ in range(400):
        value = [value]
    _, problems = parse_manifest(edited(BASE, {"onnx": value}))
    assert [problem.rule for problem in problems] == ["limit-depth"]


@pytest.mark.parametrize(("count", "rules"), [(MAX_PASSES, []), (MAX_PASSES + 1, ["limit-passes"])])
def test_a_variant_has_so_many_passes_and_no_more(count: int, rules: list[str]) -> None:
    variant = BASE["variants"][0]
    passes = [{**variant["passes"][0], "id": f"p{index}"} for index in range(count)]
    _, problems = parse_manifest({**BASE, "variants": [{**variant, "passes": passes}]})
    assert [problem.rule for problem in problems] == rules


def test_no_more_problems_are_listed_than_anyone_reads() -> None:
    _, problems = parse_manifest(edited(BASE, {"tunables": {f"a-{index}": {} for index in range(5000)}}))
    assert len(problems) == MAX_FINDINGS + 1
    assert "further problems" in problems[-1].message


def family(cases: list[Any], template: Any) -> dict[str, Any]:
    return {"variants": [{"cases": cases, "variants": [template]}]}


LARGE = {
    "long names": {"derive": {"a" * 100_000: 1, "é" * 100_000: 1}},
    "many unknown bindings": {"variants.0.passes.0.bindings": ["X" * 1000] * 20_000},
    "many unknown members": {f"unknown{index}": 1 for index in range(20_000)},
    "many clauses": {"when": ["x"] * 200_000},
    "many values": {"attributes": {"a": {}}, "attributeConstraints": {"a": {"values": list(range(200_000))}}},
    "many braces": family([{"v": "{" * 50_000}], {"id": "{v}", "passes": [PASS]}),
    "many variants": {"variants": [{"passes": [PASS], "supersededBy": ["variant_0"] * 1000}] * 3000},
    "one mistake in every case": family([{"v": 1}] * 4000, {"id": "f{w}", "passes": [PASS] * 10}),
    "many deletions": family([{"v": None}] * 4000, {"passes": [PASS], "derive": {f"d{i}": "{v}" for i in range(50)}}),
}


@pytest.mark.parametrize("edits", LARGE.values(), ids=LARGE.keys())
def test_a_large_hostile_manifest_is_answered_soon(edits: dict[str, Any]) -> None:
    text = json.dumps(edited(BASE, edits))
    start = time.process_time()
    try:
        read_manifest(text)
    except LoadError as error:
        assert len(str(error)) < 2_000_000
    assert time.process_time() - start < 10
