"""What rounds of a group share is never what differs between them."""

from itertools import combinations
from typing import Any

import pytest

from scanbuild.planning.device import DEFAULT_DEVICE
from scanbuild.planning.request import HostTensor, Request
from scanbuild.planning.rounds import Rounds

MAIN = "@compute @workgroup_size(1) fn main() {}"
REQUEST = Request(inputs={"x": HostTensor(shape=[3], dtype="float32")}, args={"s": "derive.d + 1"})

# Each changes one part of a pass so that it depends on the round, directly or through a derive.
PARTS: dict[str, dict[str, Any]] = {
    "grid": {"dispatch": {"x": "(repeat.i + 1) % 3"}},
    "grid by a derive": {"dispatch": {"x": "d"}},
    "grid by an absent derive": {"dispatch": {"x": "1 if maybe is defined else 2"}},
    "shorthand": {"dispatch": {"threads": "repeat.i * 5", "workgroupSize": 4}},
    "field": {"struct": {"value": "repeat.index"}},
    "field by default": {"struct": {"default": "derive.d"}},
    "field by a text argument": {"struct": {"name": "s"}},
    "profile": {"profile": {"bytesMoved": "8 * repeat.i", "note": "1"}},
    "text": {"shader": "t.wgsl"},
    "text by a derive": {"shader": "d.wgsl"},
    "length": {"length": "$d"},
    "element type": {"elementType": "$kind"},
}
FILES = {"t.wgsl": "// {{ repeat.i }}\n" + MAIN, "d.wgsl": "// {{ derive.chain }}\n" + MAIN}
DERIVES = {
    "d": "repeat.i % 2 + 1",
    "same": "n + 1",
    "chain": "[d, same]",
    "maybe": "attrs.k if repeat.i == 0 else 1",
    "kind": "'f32' if repeat.i else 'u32'",
}


def planner(kernel, names):
    field: dict[str, Any] = {"name": "v", "type": "u32", "value": "n"}
    item: dict[str, Any] = {"id": "p", "shader": "s.wgsl", "dispatch": {"x": 1}, "derive": DERIVES}
    binding: dict[str, Any] = {"name": "x"}
    for name in names:
        part = dict(PARTS[name])
        if "struct" in part:
            field = {"name": "v", "type": "u32", **part.pop("struct")}
        for key in {"length", "elementType"} & part.keys():
            binding[key] = part.pop(key)
        item.update(part)
    item["bindings"] = [binding, "y", {"name": "params", "struct": [field, {"name": "w", "type": "u32", "value": 2}]}]
    group = {"id": "g", "repeat": {"index": "i", "count": 4}, "passes": [item, {**item, "id": "q"}]}
    return kernel(
        {
            "derive": {"n": "numel(shapes.x)"},
            "attributes": {"k": {}},
            "args": {"s": {"kind": "string"}},
            "variants": [{"id": "main", "passes": [group]}],
        },
        shader="{{ env.wgsl.resourceDeclarations }}\n" + MAIN,
        **FILES,
    )


@pytest.mark.parametrize("names", [*[(name,) for name in PARTS], *combinations(PARTS, 2), ()], ids=" and ".join)
def test_a_plan_is_that_of_rounds_planned_one_by_one(kernel, monkeypatch, names):
    shared = planner(kernel, names).prepare(REQUEST, DEFAULT_DEVICE).plan
    with monkeypatch.context() as patch:
        patch.setattr(Rounds, "step", lambda self, name, reads, make: make())
        patch.setattr(Rounds, "all_alike", False)
        single = planner(kernel, names).prepare(REQUEST, DEFAULT_DEVICE).plan
    assert shared == single


def test_what_reads_nothing_of_the_round_is_made_once():
    rounds = Rounds(repeats=True)
    made: list[str] = []
    for _ in range(3):
        rounds.step("same", lambda: {"n"}, lambda: made.append("same"))
        rounds.step("own", lambda: {"n", "repeat"}, lambda: made.append("own"))
    assert made == ["same", "own", "own", "own"]
    assert not rounds.all_alike


def test_a_derive_that_reads_the_round_makes_its_readers_vary():
    rounds = Rounds(repeats=True)
    rounds.derive("a", lambda: {"n"}, lambda: 1)
    assert rounds.all_alike
    assert rounds.varying == {"repeat"}
    rounds.derive("b", lambda: {"repeat"}, lambda: 1)
    assert rounds.varying == {"repeat", "b", "derive"}
    rounds.derive("c", lambda: {"b"}, lambda: 1)
    assert "c" in rounds.varying


def test_a_pass_outside_of_groups_keeps_nothing():
    rounds = Rounds(repeats=False)
    assert rounds.step("a", frozenset, lambda: 1) == 1
    assert rounds.step("a", frozenset, lambda: 2) == 2
    assert not rounds.all_alike
