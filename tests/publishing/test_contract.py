"""What counts as a change of a contract, and of which kind."""

import copy

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scanbuild.package.model import Manifest
from scanbuild.publishing.contract import Change, breaking_changes, contract_changes
from tests.publishing.contracts import RICH, Edit, both, drop, made, move, put, rich

# name: edit, kind that is expected and what it is about; the kind of the way back, None where nothing is.
MUTATIONS: dict[str, tuple[Edit, str, str, str | None]] = {
    "another name": (put("name", "Poor"), "breaking", "op id", "breaking"),
    "another domain": (put("domain", "com.example"), "breaking", "op id", "breaking"),
    "another sinceVersion": (put("sinceVersion", 2), "unknown", "sinceVersion", "unknown"),
    "an optional input removed": (drop("inputs.mask"), "breaking", "input `mask`", "compatible"),
    "a required input added": (put("inputs.z", {"dtype": "T"}), "breaking", "input `z`", "breaking"),
    "an optional input renamed": (move("inputs.mask", "hide"), "breaking", "input `mask`", "breaking"),
    "an input becomes required": (drop("inputs.w.optional"), "breaking", "input `w`", "compatible"),
    "an input of one dtype fewer": (put("inputs.mask.dtype", "bool"), "breaking", "input `mask`", "compatible"),
    "an input of another dtype": (put("inputs.mask.dtype", "int32"), "breaking", "input `mask`", "breaking"),
    "an input without dtype": (drop("inputs.mask.dtype"), "compatible", "input `mask`", "breaking"),
    "an input of an undeclared type": (put("inputs.mask.dtype", "U"), "compatible", "input `mask`", "breaking"),
    "a variable of one dtype fewer": (put("typeConstraints.T", ["float32"]), "breaking", "type `T`", "compatible"),
    "a variable of other dtypes": (put("typeConstraints.B", ["bool", "int8"]), "breaking", "type `B`", "breaking"),
    "a variable of a destination narrowed": (put("typeConstraints.V", ["float32"]), "breaking", "type `V`", "breaking"),
    "an input with a type of its own": (
        both(put("inputs.w.dtype", "W"), put("typeConstraints.W", ["float32", "float16"])),
        "compatible",
        "inputs `x`, `w`",
        "breaking",
    ),
    "an int64 kept in other words": (put("inputs.k.storage", "uint32"), "breaking", "input `k`", "breaking"),
    "an int64 kept whole": (
        both(drop("inputs.k.storage"), drop("inputs.k.narrowing")),
        "breaking",
        "input `k`",
        "breaking",
    ),
    "values beyond the range refused": (put("inputs.k.narrowing", "checked"), "breaking", "input `k`", "compatible"),
    "a packed input widened": (drop("inputs.bits.layout"), "compatible", "input `bits`", "breaking"),
    "an input of another rank": (put("inputs.x.rank", 3), "breaking", "input `x`", "breaking"),
    "an input without rank": (drop("inputs.x.rank"), "compatible", "input `x`", "unknown"),
    "an input with a shape": (put("inputs.x.shape", ["a", "b"]), "unknown", "input `x`", "compatible"),
    "an output removed": (drop("outputs.y"), "breaking", "output `y`", "compatible"),
    "an output without shape added": (put("outputs.z", {"dtype": "T"}), "breaking", "output `z`", "breaking"),
    "an output renamed": (move("outputs.y", "result"), "breaking", "output `y`", "breaking"),
    "an output given only if asked for": (put("outputs.y.optional", True), "breaking", "output `y`", "compatible"),
    "an output of another dtype": (put("outputs.y.dtype", "int32"), "breaking", "output `y`", "breaking"),
    "an output of a fixed dtype": (put("outputs.y.dtype", "float32"), "breaking", "output `y`", "breaking"),
    "an output without dtype": (drop("outputs.count.dtype"), "breaking", "output `count`", "breaking"),
    "an output of another rank": (put("outputs.y.rank", 1), "breaking", "output `y`", "breaking"),
    "an output of no rank": (drop("outputs.y.rank"), "unknown", "output `y`", "compatible"),
    "an output of other sizes": (put("outputs.count.shape", [2, "n"]), "breaking", "output `count`", "breaking"),
    "an output of fewer sizes": (put("outputs.count.shape", ["n"]), "breaking", "output `count`", "breaking"),
    "an output of another expression": (put("outputs.y.shape", ["n", 1]), "unknown", "output `y`", "unknown"),
    "a derive that a shape refers to": (put("derive.n", "shapes.x[0]"), "unknown", "output `state`", "unknown"),
    "an output of no shape": (drop("outputs.y.shape"), "breaking", "output `y`", "unknown"),
    "an input that is written": (
        put("outputs.mask", {"dtype": "B", "shape": "shapes.x"}),
        "breaking",
        "port `mask`",
        "breaking",
    ),
    "an output that is read": (put("inputs.count", {"dtype": "int32"}), "breaking", "port `count`", "breaking"),
    "an argument removed": (drop("args.eps"), "breaking", "argument `eps`", "compatible"),
    "a required argument added": (put("args.more", {"kind": "i32"}), "breaking", "argument `more`", "breaking"),
    "an argument renamed": (move("args.eps", "epsilon"), "breaking", "argument `eps`", "breaking"),
    "an argument that may be left out": (put("args.size.required", False), "compatible", "argument `size`", "breaking"),
    "an argument of a wider kind": (put("args.size.kind", "f32"), "compatible", "argument `size`", "breaking"),
    "an argument of another kind": (put("args.size.kind", "i32"), "breaking", "argument `size`", "breaking"),
    "an argument of fewer words": (put("args.mode.oneOf", ["up"]), "breaking", "argument `mode`", "compatible"),
    "an argument of any word": (drop("args.mode.oneOf"), "compatible", "argument `mode`", "breaking"),
    "an attribute removed": (drop("attributes.free"), "breaking", "attribute `free`", "compatible"),
    "an attribute with default added": (put("attributes.b", {"default": 1}), "compatible", "attribute `b`", "breaking"),
    "a required attribute added": (
        both(put("attributes.b", {}), put("attributeConstraints.b", {"required": True})),
        "breaking",
        "attribute `b`",
        "breaking",
    ),
    "an attribute renamed": (move("attributes.alpha", "beta"), "breaking", "attribute `alpha`", "breaking"),
    "another default": (put("attributes.alpha.default", 2), "breaking", "attribute `alpha`", "breaking"),
    "a default of another type": (put("attributes.alpha.default", True), "breaking", "attribute `alpha`", "breaking"),
    "no default any more": (drop("attributes.alpha.default"), "breaking", "attribute `alpha`", "unknown"),
    "a value no longer allowed": (
        put("attributeConstraints.axis.values", [0]),
        "breaking",
        "attribute `axis`",
        "compatible",
    ),
    "a free attribute constrained": (
        put("attributeConstraints.alpha", {"values": [1, 2]}),
        "breaking",
        "attribute `alpha`",
        "compatible",
    ),
    "an attribute required no longer": (
        drop("attributeConstraints.kind.required"),
        "compatible",
        "attribute `kind`",
        "breaking",
    ),
    "a clause for all variants": (put("when", ["ranks.x == 2", "n > 0"]), "breaking", "calls", "compatible"),
    "a clause reworded": (put("when", ["2 == ranks.x"]), "unknown", "calls", "unknown"),
    "a clause that another derive decides": (put("variants.1.when", ["large"]), "breaking", "calls", "compatible"),
    "a feature for all variants": (
        put("requires.features", ["shader-f16", "timestamp-query"]),
        "breaking",
        "calls",
        "compatible",
    ),
    "a higher limit for all variants": (
        put("requires.limits.maxComputeInvocationsPerWorkgroup", 1024),
        "breaking",
        "calls",
        "compatible",
    ),
    "wider subgroups for all variants": (
        put("variants.1.requires", {"features": ["subgroups"], "subgroupMinSize": 32}),
        "breaking",
        "calls",
        "compatible",
    ),
    "matrices for all variants": (
        put("requires.subgroupMatrixConfigs", [{"M": 8}]),
        "breaking",
        "calls",
        "compatible",
    ),
    "the variant for all other calls removed": (drop("variants.1"), "breaking", "calls", "compatible"),
    "more buffers than every device binds": (
        put("variants.1.passes.0.bindings", [{"name": f"b{index}", "arg": "x"} for index in range(11)]),
        "breaking",
        "calls",
        "compatible",
    ),
}

NO_CHANGES: dict[str, Edit] = {
    "a description": put("inputs.x.description", "other words"),
    "the description of the kernel": put("description", "What it does."),
    "a name in ONNX": put("inputs.x.onnx", "X"),
    "a type variable that no port has": put("typeConstraints.unused", ["int8"]),
    "a dtype named twice": put("typeConstraints.T", ["float32", "float16", "float32"]),
    "the order of dtypes": put("typeConstraints.T", ["float16", "float32"]),
    "the order of values": put("attributeConstraints.axis.values", [1, 0]),
    "a default written as a float": put("attributes.axis.default", 0.0),
    "a tunable": put("tunables.lanes", {"default": 4}),
    "a derive that no condition reads": put("derive.other", "n + 1"),
    "a priority": put("variants.0.priority", 5),
    "the name of a variant": put("variants.0.id", "quick"),
    "the fast variant removed": drop("variants.0"),
    "a limit that every device offers": put("requires.limits.maxComputeWorkgroupSizeX", 256),
    "another template": put("variants.0.passes.0.shader", "b.wgsl.jinja"),
    "conformance, which no loader looks at": put("conformance", "internal-lowering"),
    "the order of inputs": lambda value: value.update(inputs=dict(reversed(value["inputs"].items()))),
    "the name of a type variable": both(
        move("typeConstraints.T", "S"),
        *(put(f"{port}.dtype", "S") for port in ("inputs.x", "inputs.w", "outputs.y")),
    ),
}


def found(old: Manifest, new: Manifest, subject: str) -> list[Change]:
    return [change for change in contract_changes(old, new) if change.subject == subject]


@pytest.mark.parametrize(("edit", "kind", "subject"), [item[:3] for item in MUTATIONS.values()], ids=MUTATIONS)
def test_a_change_is_found_and_is_of_the_right_kind(edit, kind, subject):
    changes = contract_changes(rich(), rich(edit))
    assert [change.kind for change in changes if change.subject == subject] == [kind]
    worst = {change.kind for change in changes}
    assert kind == "breaking" or "breaking" not in worst, [str(change) for change in changes]


@pytest.mark.parametrize(("edit", "back"), [(item[0], item[3]) for item in MUTATIONS.values()], ids=MUTATIONS)
def test_the_way_back_is_of_the_right_kind_too(edit, back):
    kinds = [change.kind for change in contract_changes(rich(edit), rich())]
    assert kinds[0] == back


@pytest.mark.parametrize("edit", [item[0] for item in MUTATIONS.values()], ids=MUTATIONS)
def test_a_contract_does_not_differ_from_itself(edit):
    assert contract_changes(rich(edit), rich(edit)) == []


@pytest.mark.parametrize("edit", NO_CHANGES.values(), ids=NO_CHANGES)
def test_what_no_caller_sees_is_no_change(edit):
    assert [change for change in contract_changes(rich(), rich(edit)) if change.kind != "compatible"] == []
    assert [change for change in contract_changes(rich(edit), rich()) if change.kind == "breaking"] == []


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from(sorted(MUTATIONS)), min_size=2, max_size=3, unique=True))
def test_what_breaks_alone_breaks_together(names):
    edits = [MUTATIONS[name] for name in names]
    if len({subject for *_, subject, _ in edits}) < len(edits):
        return  # one edit may undo the other
    value = copy.deepcopy(RICH)
    try:
        for edit, *_ in edits:
            edit(value)
        new = made(value)
    except (KeyError, IndexError, AssertionError):
        return  # one edit took away what the other changes
    changes = contract_changes(rich(), new)
    assert changes != []
    assert breaking_changes(rich(), new) == [change for change in changes if change.kind == "breaking"]
    if any(kind == "breaking" for _, kind, *_ in edits):
        assert changes[0].kind == "breaking"


def test_a_change_names_its_places_and_says_what_it_was():
    (change,) = found(rich(), rich(put("attributes.alpha.default", 2)), "attribute `alpha`")
    assert (change.old_path, change.new_path) == ("$.attributes.alpha.default",) * 2
    assert (change.before, change.after) == ("default 1.0", "default 2")
    assert "another value" in change.why and "default 1.0 -> default 2" in str(change)


def test_what_is_gone_has_a_place_in_the_old_manifest_alone():
    (change,) = found(rich(), rich(drop("args.eps")), "argument `eps`")
    assert (change.old_path, change.new_path, change.after) == ("$.args.eps", None, "")


def test_a_renamed_port_is_one_change_with_both_names():
    changes = contract_changes(rich(), rich(move("inputs.mask", "hide")))
    assert [(change.before, change.after) for change in changes] == [("mask", "hide")]


def test_two_alike_that_are_gone_are_not_taken_for_renamed():
    twins = rich(put("attributes.b", {"default": 1}), put("attributes.c", {"default": 1}))
    changes = contract_changes(twins, rich(put("attributes.d", {"default": 1})))
    assert [(change.subject, change.after) for change in changes if change.kind == "breaking"] == [
        ("attribute `b`", ""),
        ("attribute `c`", ""),
    ]


def test_the_dtype_of_an_output_follows_the_inputs_that_old_calls_had():
    fixed = rich(put("typeConstraints.T", ["float32"]))
    assert breaking_changes(fixed, rich()) == []
    alone = rich(put("outputs.y.dtype", "float32"))
    (change,) = found(rich(), alone, "output `y`")
    assert "float16" in change.why and (change.before, change.after) == ("float16", "float32")


def test_an_output_that_follows_a_new_input_is_not_called_undecided():
    new = rich(put("inputs.z", {"dtype": "Z"}), put("typeConstraints.Z", ["int8", "int16"]))
    assert [change.subject for change in breaking_changes(rich(), new)] == ["input `z`"]
    followed = rich(put("inputs.z", {"dtype": "V"}), put("outputs.more", {"dtype": "V", "shape": "shapes.z"}))
    assert [change.subject for change in breaking_changes(rich(), followed)] == ["input `z`"]


@pytest.mark.parametrize(
    ("port", "kind"),
    [
        ({"dtype": "int32", "shape": [1]}, "compatible"),
        ({"dtype": "U", "shape": [1]}, "compatible"),
        ({"dtype": "V", "optional": True}, "compatible"),
        ({"dtype": "int32"}, "breaking"),
        ({"dtype": "V", "shape": [1]}, "breaking"),
    ],
)
def test_an_added_output_is_compatible_if_its_dtype_and_shape_are_told(port, kind):
    (change,) = contract_changes(rich(), rich(put("outputs.more", port)))
    assert (change.kind, change.subject) == (kind, "output `more`")
    assert change.after.startswith("given if asked for" if "optional" in port else "always given")


def test_a_wider_list_that_leaves_an_output_undecided_breaks():
    single = rich(put("typeConstraints.V", ["int32"]))
    (change,) = found(single, rich(), "output `cast`")
    assert change.kind == "breaking" and change.before == "int32"


def test_two_variants_that_share_the_calls_of_one_are_left_to_the_calls():
    old = rich(drop("variants.0"))
    parts = [{**RICH["variants"][1], "id": name, "when": [clause]} for name, clause in (("a", "large"), ("b", "n < 1"))]
    (change,) = contract_changes(old, rich(put("variants", parts)))
    assert (change.kind, change.subject) == ("unknown", "calls")


def test_an_implied_condition_is_seen_where_a_variant_asks_for_less():
    old = rich(put("variants.1.when", ["n > 0", "n < 9"]))
    (change,) = contract_changes(old, rich(put("variants.1.when", ["n < 9"])))
    assert change.kind == "compatible"


def test_changes_come_worst_first():
    edits = (put("inputs.x.shape", ["a", "b"]), drop("inputs.mask.dtype"), put("attributes.alpha.default", 2))
    changes = contract_changes(rich(), rich(*edits))
    kinds = [change.kind for change in changes]
    assert kinds == sorted(kinds, key=("breaking", "unknown", "compatible").index)
    assert set(kinds) == {"breaking", "unknown", "compatible"}
