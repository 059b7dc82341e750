"""What is told of a call agrees with what the planner does, and comes from the values that it uses."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scanbuild.errors import CallError
from scanbuild.planning.details import workgroup_size
from scanbuild.planning.device import DEFAULT_DEVICE
from scanbuild.planning.explanation import chosen_of, explain_call
from scanbuild.planning.planner import Planner
from scanbuild.planning.profiles import profile, profiles
from scanbuild.planning.request import HostTensor, Request
from tests.corpus_files import make_package
from tests.kernels.source import planner as scan_planner
from tests.kernels.source import shape_request
from tests.planning.sentences import device, tensor

DECLARED = "{{ env.wgsl.resourceDeclarations }}\n@compute @workgroup_size(64) fn main() {}"


def request(*shape):
    return Request(inputs={"x": tensor(*shape)})


def explained(planner, call=None, on=DEFAULT_DEVICE, variant=None):
    return explain_call(planner, call or request(3), on, variant)


def variants(*items):
    return {
        "variants": [
            {"passes": [{"id": "p", "shader": "s.wgsl", "bindings": ["x"], "dispatch": {"x": 1}}], **item}
            for item in items
        ]
    }


CLAUSES = st.recursive(
    st.sampled_from(["n > 2", "n == 0", "n % 2 == 0", "true", "missing > 1", "attrs.mode == 'a'", "n", "attrs.mode"])
    | st.just("shapes.x[1] > 1"),
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from(["and", "or"]), inner).map(lambda found: "({}) {} ({})".format(*found)),
        inner.map("not ({})".format),
        st.tuples(inner, inner, inner).map(lambda found: "({}) if ({}) else ({})".format(*found)),
    ),
    max_leaves=4,
)
VARIANTS = st.fixed_dictionaries(
    {"priority": st.integers(0, 2), "when": st.lists(CLAUSES, min_size=1, max_size=3)},
    optional={
        "demoteWhen": st.lists(CLAUSES, min_size=1, max_size=2),
        "requires": st.sampled_from([{"features": ["subgroups"]}, {"limits": {"maxBindGroups": 99}}]),
    },
)


@settings(max_examples=120, deadline=None)
@given(st.lists(VARIANTS, min_size=1, max_size=4), st.integers(0, 4), st.sampled_from(["a", "b"]), st.booleans())
def test_the_verdicts_shown_lead_to_the_variant_that_the_planner_runs(items, size, mode, has_subgroups):
    manifest = {
        "name": "Toy",
        "inputs": {"x": {"dtype": "float32"}},
        "outputs": {},
        "attributes": {"mode": {"default": "a"}},
        "derive": {"n": "shapes.x[0]"},
        **variants(*({"id": f"v{index}", **item} for index, item in enumerate(items))),
    }
    planner = Planner(make_package({"manifest.json": manifest, "s.wgsl": DECLARED}))
    call = Request(inputs={"x": HostTensor(shape=[size], dtype="float32")}, attrs={"mode": mode})
    on = device(*(["subgroups"] if has_subgroups else []))
    found = explain_call(planner, call, on)
    try:
        chosen = planner.prepare(call, on).plan.variant
    except CallError as error:
        assert found.stage == "selection"
        assert found.problems == error.problems
        chosen = ""
    assert found.chosen == chosen_of(found.variants) == chosen
    assert planner.choose(call, on) == chosen if chosen else True
    for item in found.variants:
        rejected = bool(item.unmet or item.failing or any(clause.failure for clause in item.demote_when))
        assert item.verdict.accepted is not rejected
        if item.failing and not item.unmet:
            assert item.failing[0].text in item.verdict.reason
            assert item.failing[0].parts
        if item.verdict.accepted:
            assert item.verdict.demoted is any(clause.holds for clause in item.demote_when)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**21), st.integers(0, 5000), st.sampled_from(sorted(profiles())))
def test_the_real_kernel_runs_the_variant_that_is_shown(steps, channels, name):
    call = shape_request(steps, min(channels, 2**22 // max(1, steps)))
    found = explain_call(scan_planner(), call, profile(name))
    plan = scan_planner().prepare(call, profile(name)).plan
    assert found.chosen == plan.variant
    assert found.totals is not None
    assert found.totals.dispatches == len(plan.passes)
    assert [text for item in found.passes if item.executed for text in item.texts] == [
        item.wgsl for item in plan.passes
    ]


def test_derives_tell_expression_and_value(kernel):
    found = explained(kernel({"derive": {"n": "numel(shapes.x)", "k": 2}}, {"derive": {"twice": "n * k"}}))
    assert [(item.name, item.written, item.value) for item in found.derives] == [
        ("n", "numel(shapes.x)", 3),
        ("k", 2, 2),
    ]
    assert [(item.name, item.value) for item in found.variant_derives] == [("twice", 6)]


def test_every_requirement_that_a_device_lacks_is_told(kernel):
    requires = {"features": ["shader-f16", "subgroups"], "limits": {"maxBufferSize": 2**40}}
    found = explained(kernel(None, {"requires": requires}))
    assert found.stage == "selection"
    assert [re.findall("`(.*?)`", text)[0] for text in found.variants[0].unmet] == [
        "shader-f16",
        "subgroups",
        "maxBufferSize",
    ]


def test_a_demoted_variant_tells_the_clause_that_demotes_it(kernel):
    found = explained(kernel(variants({"id": "a", "demoteWhen": ["ranks.x == 1"]}, {"id": "b"})))
    assert found.chosen == "b"
    assert found.variants[0].verdict.demoted
    assert [clause.text for clause in found.variants[0].demote_when if clause.holds] == ["ranks.x == 1"]


def test_a_forced_variant_is_told_in_place_of_the_selected_one(kernel):
    planner = kernel(variants({"id": "a"}, {"id": "b"}, {"id": "c", "when": ["ranks.x == 9"]}))
    assert explained(planner, variant="b").chosen == "b"
    refused = explained(planner, variant="c")
    assert (refused.stage, refused.chosen) == ("selection", "c")
    assert "does not take this request" in refused.problems[0].message


@pytest.mark.parametrize(
    ("change", "call", "stage"),
    [
        ({}, Request(), "request"),
        ({}, Request(inputs={"x": tensor(3, dtype="int32")}), "request"),
        ({}, request(2**31), "device"),
        ({"derive": {"bad": "nothing + 1"}}, request(3), "device"),
        ({"when": ["ranks.x == 9"]}, request(3), "selection"),
    ],
)
def test_a_refused_call_tells_how_far_it_gets(kernel, change, call, stage):
    found = explained(kernel(change), call)
    assert found.stage == stage
    assert found.problems
    assert not found.passes


def test_a_variant_that_fails_is_told_with_its_derives(kernel):
    found = explained(kernel(None, {"derive": {"n": "70000"}}, {"dispatch": {"x": "n"}}))
    assert (found.stage, found.chosen) == ("variant", "main")
    assert [(item.name, item.value) for item in found.variant_derives] == [("n", 70000)]
    assert "70000" in found.problems[0].message


def test_bindings_tell_buffers_types_and_bytes_and_uniforms_their_fields(kernel):
    fields = [
        {"name": "n", "type": "u32", "value": "numel(shapes.x)"},
        {"name": "half", "type": "f32", "value": 0.5},
        {"name": "less", "type": "i32", "value": "0 - 3"},
    ]
    item = {"bindings": ["x", "y", {"scratch": "s"}, {"name": "params", "struct": fields}]}
    found = explained(kernel(None, {"intermediates": [{"id": "s", "dtype": "float32", "shape": ["7"]}]}, item))
    (detail,) = found.passes
    assert [(b.index, b.name, b.access, b.element_type, b.size, b.source, b.ref) for b in detail.bindings] == [
        (0, "x", "read", "f32", 12, "tensor", "x"),
        (1, "y", "read_write", "f32", 12, "tensor", "y"),
        (2, "s", "read_write", "f32", 28, "scratch", "s"),
        (3, "params", "uniform", "", 16, "uniform", ""),
    ]
    told = [(f.name, f.type, f.offset, f.value, f.padding) for f in detail.bindings[3].fields]
    assert told == [
        ("n", "u32", 0, 3, False),
        ("half", "f32", 4, 0.5, False),
        ("less", "i32", 8, -3, False),
        ("_pad0", "u32", 12, 0, True),
    ]
    totals = found.totals
    assert totals is not None
    assert (totals.reads, totals.writes, totals.scratch, totals.dispatches, totals.submissions) == (12, 12, 28, 1, 1)


def test_a_dispatch_tells_its_sizes_and_whether_it_is_folded(kernel):
    item = {"dispatch": {"threads": "numel(shapes.x)", "workgroupSize": 64}}
    (small,) = explained(kernel(None, None, item)).passes
    assert [(size.name, size.written, size.value) for size in small.sizes] == [
        ("threads", "numel(shapes.x)", 3),
        ("workgroupSize", 64, 64),
    ]
    assert small.grids == (((1, 1, 1), 1),)
    assert not small.folded
    (large,) = explained(kernel(None, None, item), request(65536 * 64)).passes
    assert large.grids == (((65535, 2, 1), 1),)
    assert large.folded
    (explicit,) = explained(kernel(None, None, {"dispatch": {"x": 2, "y": 3}})).passes
    assert explicit.grids == (((2, 3, 1), 1),)
    assert not explicit.folded


def test_rounds_of_a_group_are_told_once_with_what_differs(kernel):
    fields = [{"name": "r", "type": "u32", "value": "repeat.round"}, {"name": "k", "type": "u32", "value": 7}]
    inner = {
        "id": "step",
        "shader": "s.wgsl",
        "bindings": ["x", "y", {"name": "params", "struct": fields}],
        "dispatch": {"x": "repeat.round"},
        "submitAfter": True,
    }
    group = {"id": "g", "repeat": {"count": 5, "index": "round"}, "passes": [inner]}
    found = explained(kernel(None, {"passes": [group]}))
    (detail,) = found.passes
    assert (detail.id, detail.group, detail.first) == ("step", "g", "g[1].step")
    assert (detail.rounds, detail.executed) == (5, 4)
    assert detail.skipped == "zero"
    assert detail.grids == (((1, 1, 1), 1), ((2, 1, 1), 1), ((3, 1, 1), 1), ((4, 1, 1), 1))
    first, second, *_ = detail.bindings[2].fields
    assert (first.value, first.last) == (1, 4)
    assert (second.value, second.last) == (7, None)
    assert found.totals is not None
    assert found.totals.submissions == 4
    assert len(detail.texts) == 1


def test_a_pass_with_an_empty_grid_is_told_as_not_run(kernel):
    found = explained(kernel(None, None, {"dispatch": {"x": 0}}))
    (detail,) = found.passes
    assert (detail.executed, detail.skipped) == (0, "zero")
    assert [binding.size for binding in detail.bindings] == [None, None]
    assert detail.texts


def test_a_call_whose_outputs_are_empty_runs_nothing(kernel):
    found = explained(kernel(None, None, {"dispatch": {"x": "never"}}), request(0))
    assert found.is_empty
    assert found.stage == ""
    assert [(item.skipped, item.sizes) for item in found.passes] == [("empty", ())]


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("@compute @workgroup_size(64) fn main() {}", "64"),
        ("@compute @workgroup_size(8, 4u, 2) fn main() {}", "8 x 4 x 2"),
        ("const W = 32u;\n@compute @workgroup_size(W, 2) fn main() {}", "32 x 2"),
        ("const W: u32 = 16;\n@workgroup_size(W) @compute fn main() {}", "16"),
        ("override W: u32; @compute @workgroup_size(max(W, 2)) fn main() {}", "max(W"),
        ("@compute @workgroup_size(64, 1, 1) fn main() {}", "64"),
        ("// @workgroup_size(1)\n@compute @workgroup_size(2) fn main() {}", "2"),
        ("fn main() {}", ""),
    ],
)
def test_the_workgroup_is_read_from_the_shader(text, size):
    assert workgroup_size(text).startswith(size)
    assert bool(workgroup_size(text)) is bool(size)
