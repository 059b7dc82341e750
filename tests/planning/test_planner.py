"""Planning through its public functions: what Python callers pass, what they are told, what is kept."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from scanbuild.errors import CallError
from scanbuild.planning.device import DEFAULT_DEVICE
from scanbuild.planning.planner import explain, prepare
from scanbuild.planning.program import CACHE_ENTRIES, frozen
from scanbuild.planning.request import Destination, HostTensor, Request, ResidentTensor

X = HostTensor.of(np.array([1, 2, 3], dtype=np.float32))


def request(**options):
    return Request(inputs={"x": X, **options.pop("inputs", {})}, **options)


def refusal(planner, asked=None):
    with pytest.raises(CallError) as caught:
        planner.prepare(asked or request(), DEFAULT_DEVICE)
    return caught.value.problems[0]


def test_a_plan_says_what_to_upload_bind_and_run(kernel):
    prepared = kernel().prepare(request(), DEFAULT_DEVICE)
    plan = prepared.plan
    assert (plan.op_id, plan.variant, plan.returned, plan.skipped) == ("ai.onnx.Toy", "main", ("y",), ())
    assert plan.inputs["x"].size == plan.outputs["y"].size == 12
    assert prepared.uploads["x"].tolist() == [1, 2, 3]
    assert prepared.resident == {}
    (item,) = plan.passes
    assert [(binding.name, binding.access, binding.source) for binding in item.bindings] == [
        ("x", "read", "tensor"),
        ("y", "read_write", "tensor"),
    ]
    assert (item.label, item.template, item.grid) == ("ai.onnx.Toy.main.p", "s.wgsl", (1, 1, 1))


def test_a_numpy_bool_array_needs_no_dtype(kernel):
    planner = kernel({"inputs": {"x": {"dtype": "bool"}}})
    asked = Request(inputs={"x": HostTensor.of(np.array([True, False]))})
    prepared = planner.prepare(asked, DEFAULT_DEVICE)
    assert prepared.uploads["x"].tolist() == [1, 0]
    assert prepared.uploads["x"].dtype == np.uint32


def test_a_call_is_planned_without_its_data(kernel):
    prepared = kernel().prepare(Request(inputs={"x": HostTensor(shape=(5,), dtype="float32")}), DEFAULT_DEVICE)
    assert prepared.uploads == {}
    assert prepared.plan.outputs["y"].shape == (5,)


def test_numpy_numbers_serve_as_shapes_arguments_and_attributes(kernel):
    planner = kernel({"args": {"n": {"kind": "u32"}}, "attributes": {"k": {}}}, {"when": ["attrs.k == 2"]})
    tensor = HostTensor(shape=(np.int64(3),), array=X.array)
    inputs: Any = {"x": tensor, "n": np.uint32(3)}
    attrs: Any = {"k": np.float32(2)}
    asked = Request(inputs=inputs, attrs=attrs)
    assert planner.prepare(asked, DEFAULT_DEVICE).plan.variant == "main"


def test_resident_tensors_are_handed_through_under_the_names_they_are_bound_to(kernel):
    tensor = ResidentTensor(buffer="b1", shape=(3,), dtype="float32", logical="float32")
    other = replace(tensor, buffer="b2")
    prepared = kernel().prepare(Request(inputs={"x": tensor}, outputs={"y": other}), DEFAULT_DEVICE)
    assert prepared.resident == {"x": tensor, "y": other}
    assert prepared.uploads == {}


def test_an_inout_given_as_resident_destination_does_not_upload_its_input(kernel):
    planner = kernel({"outputs": {"x": {"dtype": "float32"}}}, item={"bindings": ["x"]})
    tensor = ResidentTensor(buffer=1, shape=(3,), dtype="float32", logical="float32")
    prepared = planner.prepare(request(outputs={"x": tensor}), DEFAULT_DEVICE)
    assert prepared.uploads == {}
    assert prepared.resident == {"x": tensor}
    assert prepared.plan.inputs["x"] == prepared.plan.outputs["x"]


def test_data_that_a_destination_replaces_are_checked_all_the_same(kernel):
    planner = kernel({"outputs": {"x": {"dtype": "float32"}}}, item={"bindings": ["x"]})
    tensor = ResidentTensor(buffer=1, shape=(3,), dtype="float32", logical="float32")
    asked = Request(inputs={"x": HostTensor(shape=[4], array=X.array)}, outputs={"x": tensor})
    assert refusal(planner, asked).rule == "host-length"


def test_an_expression_that_fails_is_shown_with_variant_pass_and_path(kernel):
    planner = kernel(item={"derive": {"n": "numel(shapes.x) + oops"}})
    problem = refusal(planner)
    assert "variant `main`, pass `p`, derive `n`" in problem.message
    assert "numel(shapes.x) + oops" in problem.message
    assert problem.rule == "expression-name"
    assert problem.path.endswith(".passes[0].derive.n")
    assert problem.stage == "call"


def test_a_template_that_fails_is_shown_with_file_and_line(kernel):
    problem = refusal(kernel(shader="line one\n{{ 1 + none }}\n"))
    assert (problem.file, problem.line) == ("s.wgsl", 2)
    assert problem.rule == "template-value"


def test_an_unknown_name_is_met_with_the_nearest_one(kernel):
    planner = kernel({"attributes": {"reverse": {"default": 0}}})
    assert refusal(planner, request(attrs={"revrse": 1})).hint == "did you mean `reverse`?"
    assert "`x`" in refusal(planner, request(inputs={"xx": X})).hint
    assert "`y`" in refusal(planner, request(outputs={"yy": Destination(shape=[1])})).hint


def test_a_call_that_no_variant_takes_is_told_why_by_each(kernel):
    passes = [{"id": "p", "shader": "s.wgsl", "bindings": ["x", "y"], "dispatch": {"x": 1}}]
    variants = [
        {"id": "a", "passes": passes, "when": ["shapes.x[0] > 100"]},
        {"id": "b", "passes": passes, "requires": {"features": ["shader-f16"]}},
        {"id": "c", "passes": passes, "requires": {"limits": {"maxBufferSize": 1e12}}},
        {"id": "d", "passes": passes, "when": ["missing"]},
    ]
    message = refusal(kernel({"variants": variants})).message
    for reason in ("`shapes.x[0] > 100` is false", "`shader-f16`", "`maxBufferSize`", "`missing` fails"):
        assert reason in message


def test_explain_gives_a_verdict_on_every_variant(kernel):
    passes = [{"id": "p", "shader": "s.wgsl", "bindings": ["x", "y"], "dispatch": {"x": 1}}]
    variants = [
        {"id": "low", "passes": passes},
        {"id": "high", "passes": passes, "priority": 5, "demoteWhen": ["shapes.x[0] == 3"]},
        {"id": "old", "passes": passes, "priority": -1, "supersededBy": ["low"]},
    ]
    planner = kernel({"variants": variants})
    verdicts = explain(planner.package, request(), DEFAULT_DEVICE)
    assert [(item.id, item.accepted, item.demoted) for item in verdicts] == [
        ("high", True, True),
        ("low", True, False),
        ("old", False, False),
    ]
    assert "superseded by `low`" in verdicts[2].reason
    assert prepare(planner.package, request(), DEFAULT_DEVICE).plan.variant == "low"


def test_a_named_variant_is_planned_in_place_of_the_selected_one(kernel):
    one = {"id": "p", "shader": "s.wgsl", "bindings": ["x", "y"], "dispatch": {"x": 1}}
    variants = [
        {"id": "main", "priority": 2, "passes": [one]},
        {"id": "later", "passes": [one], "demoteWhen": ["true"], "supersededBy": ["main"]},
        {"id": "picky", "passes": [one], "when": ["shapes.x[0] == 4"]},
    ]
    planner = kernel({"variants": variants})
    assert planner.prepare(request(), DEFAULT_DEVICE).plan.variant == "main"
    assert planner.prepare(request(), DEFAULT_DEVICE, "later").plan.variant == "later"
    with pytest.raises(CallError, match=r"variant `picky` does not take this request: `shapes.x\[0\] == 4` is false"):
        planner.prepare(request(), DEFAULT_DEVICE, "picky")
    with pytest.raises(CallError, match=r"no variant `latter`.*did you mean `later`"):
        planner.prepare(request(), DEFAULT_DEVICE, "latter")


def test_a_variant_that_the_device_cannot_compile_is_passed_over(kernel):
    one = {"id": "p", "shader": "s.wgsl", "bindings": ["x", "y"], "dispatch": {"x": 1}}
    variants = [{"id": "fast", "passes": [{**one, "shader": "f.wgsl"}]}, {"id": "slow", "passes": [one]}]
    files = {
        "f.wgsl": "fn f() { atomicCompareExchangeWeak(&a, 0u, 1u); }\n@compute @workgroup_size(1) fn main() {}",
    }
    planner = kernel({"variants": variants}, **files)
    broken = replace(DEFAULT_DEVICE, wgsl_compile_failures=frozenset({"atomicCompareExchangeWeak"}))
    assert planner.prepare(request(), DEFAULT_DEVICE).plan.variant == "fast"
    assert planner.prepare(request(), broken).plan.variant == "slow"
    assert "cannot compile" in planner.explain(request(), broken)[0].reason


def test_one_rendered_text_serves_all_requests_that_read_alike(kernel):
    planner = kernel(shader="// {{ shapes.x[0] }}\n@compute @workgroup_size(1) fn main() {}")
    for size in (3, 3, 4):
        planner.prepare(Request(inputs={"x": HostTensor(shape=[size], dtype="float32")}), DEFAULT_DEVICE)
    assert len(planner.renderers["main"].texts._entries) == 2


def test_the_cache_of_texts_has_an_end(kernel):
    planner = kernel(shader="// {{ shapes.x[0] }}\n@compute @workgroup_size(1) fn main() {}")
    for size in range(CACHE_ENTRIES + 5):
        planner.prepare(Request(inputs={"x": HostTensor(shape=[size + 1], dtype="float32")}), DEFAULT_DEVICE)
    assert len(planner.renderers["main"].texts._entries) == CACHE_ENTRIES


def test_cache_keys_tell_apart_what_templates_can():
    values = [0, -0.0, False, None, "0", "", [], {}, [0], {"a": 0}, {"a": 0, "b": 0}, {"b": 0, "a": 0}, float("nan")]
    keys = [frozen(value) for value in values]
    assert len(set(keys)) == len(values)
    assert frozen(1) == frozen(1.0)
    assert frozen(float("nan")) == frozen(float("nan"))


def test_a_pass_that_ignores_the_repetition_is_planned_once_for_all_rounds(kernel):
    one = {"id": "p", "shader": "s.wgsl", "bindings": ["x", "y"], "dispatch": {"x": 1}}
    group = {"id": "g", "repeat": {"index": "i", "count": 65535}, "passes": [one]}
    plan = kernel(variant={"passes": [group]}).prepare(request(), DEFAULT_DEVICE).plan
    assert [item.id for item in plan.passes[:2]] == ["g[0].p", "g[1].p"]
    assert len(plan.passes) == 65535


def test_rounds_that_differ_are_planned_each(kernel):
    one = {"id": "p", "shader": "s.wgsl", "bindings": ["x", "y"], "dispatch": {"x": "repeat.i"}}
    group = {"id": "g", "repeat": {"index": "i", "count": 3}, "passes": [one]}
    plan = kernel(variant={"passes": [group]}).prepare(request(), DEFAULT_DEVICE).plan
    assert [item.grid[0] for item in plan.passes] == [1, 2]
    assert plan.skipped == ("g[0].p",)


def test_a_template_that_reads_the_round_is_rendered_for_each(kernel):
    shader = "// {{ repeat.i }}\n@compute @workgroup_size(1) fn main() {}"
    one = {"id": "p", "shader": "s.wgsl", "bindings": ["x", "y"], "dispatch": {"x": 1}}
    group = {"id": "g", "repeat": {"index": "i", "count": 2}, "passes": [one]}
    plan = kernel(variant={"passes": [group]}, shader=shader).prepare(request(), DEFAULT_DEVICE).plan
    assert [item.wgsl.splitlines()[0] for item in plan.passes] == ["// 0", "// 1"]


def test_groups_of_nothing_cannot_go_on_for_hours(kernel, monkeypatch):
    monkeypatch.setattr("scanbuild.planning.expansion.MAX_IDLE_ROUNDS", 10_000)
    one = {"id": "p", "shader": "s.wgsl", "bindings": ["x", "y"], "dispatch": {"x": 1}}
    inner = {"repeat": {"index": "j", "count": 0}, "passes": [one]}
    middle = {"repeat": {"index": "k", "count": 65535}, "passes": [inner]}
    outer = {"repeat": {"index": "i", "count": 65535}, "passes": [middle]}
    assert refusal(kernel(variant={"passes": [outer]})).rule == "group-count"


def test_bytes_moved_come_from_the_profile(kernel):
    planner = kernel(item={"profile": {"bytesMoved": "8 * numel(shapes.x)", "note": "1 + 1"}})
    assert planner.prepare(request(), DEFAULT_DEVICE).plan.passes[0].bytes_moved == 24
    assert kernel().prepare(request(), DEFAULT_DEVICE).plan.passes[0].bytes_moved is None


def test_programs_are_to_be_had_of_any_variant(kernel):
    one = {"id": "p", "shader": "s.wgsl", "bindings": ["x", "y"], "dispatch": {"x": 0}}
    variants = [{"id": "a", "passes": [one]}, {"id": "b", "passes": [one], "when": ["false"]}]
    planner = kernel({"variants": variants})
    assert "fn main" in planner.programs(request(), DEFAULT_DEVICE)[0].wgsl
    assert "fn main" in planner.programs(request(), DEFAULT_DEVICE, "b")[0].wgsl


def test_numbers_too_large_for_a_double_are_infinite(kernel):
    planner = kernel({"args": {"n": {"kind": "f32"}}})
    assert "finite" in refusal(planner, request(args={"n": 10**400})).message


@pytest.mark.parametrize("dtype", [[], {}, 5, "float64"])
def test_a_dtype_that_is_none_is_refused_in_words(kernel, dtype):
    asked: Any = Request(inputs={"x": HostTensor(shape=[3], array=X.array, dtype=dtype)})
    assert refusal(kernel(), asked).rule == "host-dtype"
    wish: Any = Destination(shape=[3], dtype=dtype)
    assert refusal(kernel(), request(outputs={"y": wish})).rule == "destination-dtype"


def test_rounds_with_passes_are_not_limited_by_their_nesting(kernel, monkeypatch):
    monkeypatch.setattr("scanbuild.planning.expansion.MAX_IDLE_ROUNDS", 10)
    made: dict[str, Any] = {"id": "p", "shader": "s.wgsl", "bindings": ["x", "y"], "dispatch": {"x": 0}}
    for depth in range(8):
        made = {"id": f"g{depth}", "repeat": {"index": f"i{depth}", "count": 1}, "passes": [made]}
    outer = {"repeat": {"index": "i", "count": 20}, "passes": [made]}
    plan = kernel(variant={"passes": [outer]}).prepare(request(), DEFAULT_DEVICE).plan
    assert len(plan.skipped) == 20
