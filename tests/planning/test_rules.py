"""Rules of a call that the corpora show little of."""

from typing import Any

import numpy as np
import pytest

from scanbuild.errors import CallError
from scanbuild.planning.attributes import same_attribute_value
from scanbuild.planning.device import DEFAULT_DEVICE
from scanbuild.planning.request import Destination, HostTensor, Request, ResidentTensor

MAIN = "@compute @workgroup_size(1) fn main() {}"
PARAMS = {"name": "params", "struct": [{"name": "v", "type": "u32", "value": "7"}]}


def tensor(*shape, dtype="float32"):
    return HostTensor(shape=list(shape), dtype=dtype)


def plan(planner, outputs=None, **inputs):
    asked: Any = {"x": tensor(3), **inputs}
    return planner.prepare(Request(inputs=asked, outputs=outputs or {}), DEFAULT_DEVICE).plan


def rule(planner, outputs=None, **inputs):
    with pytest.raises(CallError) as caught:
        plan(planner, outputs, **inputs)
    return caught.value.problems[0].rule


@pytest.mark.parametrize("value", ["'2'", "' 0x2 '", "[2]", "4 / 2", "true + 0 if false else 2"])
def test_a_dollar_length_is_converted_as_javascript_does(kernel, value):
    planner = kernel({"derive": {"n": value}}, item={"bindings": ["x", {"name": "y", "length": "$n"}]})
    assert "array<f32, 2u>" in plan(planner).passes[0].wgsl


@pytest.mark.parametrize("value", ["'two'", "[2, 3]", "0", "2.5", "none", "attrs.none", "-1", "1 / 0"])
def test_a_dollar_length_is_a_positive_integer(kernel, value):
    planner = kernel({"derive": {"n": value}}, item={"bindings": ["x", {"name": "y", "length": "$n"}]})
    assert rule(planner) in ("dollar-length", "dollar-name")


def test_true_is_a_length_of_one(kernel):
    planner = kernel({"derive": {"n": "true"}}, item={"bindings": ["x", {"name": "y", "length": "$n"}]})
    assert "array<f32, 1u>" in plan(planner).passes[0].wgsl


def test_the_value_a_dollar_name_gives_is_not_looked_up_again(kernel):
    planner = kernel(
        {"derive": {"a": "'$b'", "b": "'u32'"}},
        item={"bindings": ["x", {"name": "y", "elementType": "$a"}]},
        shader="{{ env.wgsl.resourceDeclarations }}",
    )
    programs = planner.programs(Request(inputs={"x": tensor(3)}), DEFAULT_DEVICE)
    assert "array<$b>" in programs[0].wgsl


def test_a_scratch_called_like_the_wgsl_name_goes_before_the_arg(kernel):
    scratch = {"id": "t", "dtype": "float32", "shape": [5]}
    planner = kernel(variant={"intermediates": [scratch]}, item={"bindings": ["y", {"name": "t", "arg": "x"}]})
    binding = plan(planner).passes[0].bindings[1]
    assert (binding.source, binding.ref, binding.size) == ("scratch", "t", 20)


def test_a_uniform_named_like_a_scratch_has_no_values(kernel):
    scratch = {"id": "params", "dtype": "float32", "shape": [5]}
    planner = kernel(variant={"intermediates": [scratch]}, item={"bindings": ["x", "y", PARAMS]})
    assert rule(planner) == "uniform-missing"
    optional = {**PARAMS, "struct": [{**PARAMS["struct"][0], "required": False}]}  # type: ignore[dict-item]
    planner = kernel(variant={"intermediates": [scratch]}, item={"bindings": ["x", "y", optional]})
    assert plan(planner).passes[0].bindings[2].data == bytes(16)


def test_a_null_argument_of_a_fields_name_is_no_number(kernel):
    field = {"name": "v", "type": "u32", "default": 3}
    planner = kernel(
        {"args": {"v": {"kind": "u32", "required": False}}},
        item={"bindings": ["x", "y", {"name": "params", "struct": [field]}]},
    )
    assert plan(planner).passes[0].bindings[2].data[:4] == b"\x03\0\0\0"
    asked = Request(inputs={"x": tensor(3)}, args={"v": None})
    with pytest.raises(CallError, match="null"):
        planner.prepare(asked, DEFAULT_DEVICE)


@pytest.mark.parametrize(
    ("dispatch", "grid"),
    [
        ({"threads": "-5", "workgroupSize": 64}, None),
        ({"threads": 0, "workgroupSize": 64}, None),
        ({"threads": 65535 * 64 + 1, "workgroupSize": 64}, (65535, 2, 1)),
        ({"workgroups": "3 if true else 4"}, (3, 1, 1)),
        ({"workgroups": 65536}, (65535, 2, 1)),
        ({"x": "4 / 2", "y": 3}, (2, 3, 1)),
        ({"x": 1, "z": 0}, None),
    ],
)
def test_grids_fold_in_the_shorthands_only(kernel, dispatch, grid):
    passes = plan(kernel(item={"dispatch": dispatch})).passes
    assert (passes[0].grid if passes else None) == grid


@pytest.mark.parametrize(
    "dispatch",
    [
        {"x": 65536},
        {"x": "true"},
        {"x": "'1'"},
        {"x": ""},
        {"threads": "-64", "workgroupSize": 64},
        {"threads": 5, "workgroupSize": 0},
        {"threads": "", "workgroupSize": 64},
        {"workgroups": "1.5"},
        {"workgroups": ""},
        {"x": 0, "y": "0 / 0"},
    ],
)
def test_axes_that_are_no_count_of_workgroups_are_refused(kernel, dispatch):
    assert rule(kernel(item={"dispatch": dispatch})).startswith(("dispatch", "expression"))


@pytest.mark.parametrize("profile", [None, 5, True, {}, {"bytesMoved": "'many'"}])
def test_a_profile_that_says_nothing_changes_nothing(kernel, profile):
    assert plan(kernel(item={"profile": profile})).passes[0].bytes_moved is None


def test_a_wish_named_like_a_pure_input_is_what_inference_sees(kernel):
    outputs = plan(kernel(), {"x": Destination(shape=[8])}).outputs
    assert outputs["y"].shape == (8,)
    assert rule(kernel(), {"x": Destination(shape=[3], dtype="int32")}) == "type"


def test_a_resident_tensor_named_like_a_pure_input_is_ignored(kernel):
    other = ResidentTensor(buffer=1, shape=(9,), dtype="float32", logical="float32")
    made = plan(kernel(), {"x": other})
    assert made.outputs["y"].shape == (3,)
    assert made.inputs["x"].shape == (3,)


def test_a_destination_named_like_a_scalar_argument_is_ignored(kernel):
    planner = kernel({"args": {"n": {"kind": "u32", "required": False}}})
    assert plan(planner, {"n": Destination(shape=[1])}).returned == ("y",)


def test_a_destination_that_is_no_object_is_refused(kernel):
    wrong: Any = {"y": [3]}
    assert rule(kernel(), wrong) == "destination"


def test_type_variables_hide_namespaces_at_pass_stage_only(kernel):
    planner = kernel(
        {
            "typeConstraints": {"shapes": ["float32"]},
            "inputs": {"x": {"dtype": "shapes"}},
            "derive": {"n": "shapes.x[0]"},
        },
        item={"derive": {"t": "shapes"}, "bindings": ["x", {"name": "y", "elementType": "$t"}]},
    )
    assert "array<f32>" in plan(planner).passes[0].wgsl


def test_a_derive_called_like_a_concrete_dtype_wins_over_the_label(kernel):
    planner = kernel({"derive": {"float32": "'own'"}}, shader="// {{ float32 }}\n" + MAIN)
    assert plan(planner).passes[0].wgsl.startswith("// own\n")


def test_the_device_of_env_is_the_device_even_where_its_name_is_hidden(kernel):
    planner = kernel(
        {"typeConstraints": {"device": ["float32"]}, "inputs": {"x": {"dtype": "device"}}},
        shader="// {{ device }} {{ env.device.limits.maxBindGroups }}\n" + MAIN,
    )
    assert plan(planner).passes[0].wgsl.startswith("// f32 4\n")


def test_a_resident_result_carries_its_logical_dtype(kernel):
    projected = ResidentTensor(buffer=1, shape=(2,), dtype="int32", logical="int64")
    plain = ResidentTensor(buffer=1, shape=(2,), dtype="int32", logical="int32")
    narrow = {"dtype": "int64", "storage": "int32", "narrowing": "checked"}
    wide = kernel({"inputs": {"x": narrow}})
    assert plan(wide, x=projected).inputs["x"].logical == "int64"
    assert rule(wide, x=plain) == "type-tag"
    assert rule(kernel({"inputs": {"x": {"dtype": "int32"}}}), x=projected) == "type-tag"


def test_host_data_of_the_storage_dtype_go_up_as_they_are(kernel):
    planner = kernel({"inputs": {"x": {"dtype": "int64", "storage": "uint32", "narrowing": "checked"}}})
    data = HostTensor.of(np.array([5, 2**32 - 1], dtype=np.uint32))
    prepared = planner.prepare(Request(inputs={"x": data}), DEFAULT_DEVICE)
    assert prepared.uploads["x"].tolist() == [5, 2**32 - 1]
    assert prepared.plan.inputs["x"].logical == "int64"
    assert rule(planner, x=HostTensor.of(np.array([5], dtype=np.int32))) == "type-storage"


def test_one_buffer_is_one_tensor_whatever_it_is_bound_as(kernel):
    one = ResidentTensor(buffer="b", shape=(3,), dtype="float32", logical="float32")
    assert rule(kernel(), {"y": one}, x=one) == "alias"
    skipped = kernel(item={"dispatch": {"x": 0}})
    assert plan(skipped, {"y": one}, x=one).skipped == ("p",)
    viewed = kernel(item={"viewAlias": [{"input": "x", "output": "y"}]})
    assert plan(viewed, {"y": one}, x=one).skipped == ("p",)
    assert plan(viewed, x=one).skipped == ()


def test_scratches_are_allocated_for_executed_passes_only(kernel):
    scratch = {"id": "t", "dtype": "int16", "shape": "[2, 3]"}
    used = {"id": "a", "shader": "s.wgsl", "bindings": ["y", "t"], "dispatch": {"x": 1}}
    planner = kernel(variant={"intermediates": [scratch], "passes": [used]})
    assert {name: spec.size for name, spec in plan(planner).scratches.items()} == {"t": 24}
    idle = {**used, "dispatch": {"x": 0}}
    huge = {**scratch, "shape": "[10 ** 12]"}
    assert plan(kernel(variant={"intermediates": [huge], "passes": [idle]})).scratches == {}
    assert rule(kernel(variant={"intermediates": [huge], "passes": [used]})) == "buffer-limit"


def test_an_empty_call_plans_no_pass_and_renders_every_template(kernel):
    empty = kernel(item={"dispatch": {"x": "1 / none"}, "profile": {"a": "oops"}})
    made = plan(empty, x=tensor(0))
    assert (made.passes, made.skipped) == ((), ("p",))
    assert rule(kernel(shader="{{ raise_exception('no') }}"), x=tensor(0)) == "template-value"


@pytest.mark.parametrize(
    ("one", "other", "equal"),
    [
        (1, 1.0, True),
        (0.1, 0.10000000149011612, True),
        (1e300, 1e200, True),
        (1e300, -1e300, False),
        (1e-60, -1e-60, True),
        (1, True, False),
        (1, "1", False),
        (None, None, True),
        (None, False, False),
        ("a", "a", True),
        ([1], [1], False),
        (float("nan"), float("nan"), False),
    ],
)
def test_constrained_values_are_compared_as_float32_or_strictly(one, other, equal):
    assert same_attribute_value(one, other) is equal


def test_a_projected_opaque_pair_needs_two_labels(kernel):
    narrow = {"dtype": "K", "storage": "int32", "narrowing": "checked"}
    ports = {"x": narrow, "w": {"dtype": "int64"}}
    planner = kernel({"typeConstraints": {"K": ["int64"]}, "inputs": ports})
    made = plan(planner, x=tensor(2, dtype="int64"), w=tensor(2, dtype="int64"))
    assert (made.inputs["x"].dtype, made.inputs["w"].dtype) == ("int32", "int64")
    assert (made.inputs["x"].size, made.inputs["w"].size) == (8, 16)
    same = {"x": {**narrow, "dtype": "int64"}, "w": {"dtype": "int64"}}
    assert rule(kernel({"inputs": same}), x=tensor(2, dtype="int64"), w=tensor(2, dtype="int64")) == "type-label"
