"""The cases of a lowered package: sizes around its conditions, data that the body is defined for, tolerances."""

import json
import math
from typing import Any

import numpy as np
import pytest

from scanbuild.cases.casefile import read_benches, read_tests
from scanbuild.cases.requests import case_inputs
from scanbuild.lowering import cases
from scanbuild.lowering.cases import MisreadError, bench_json
from scanbuild.lowering.interpreter import run_scan
from scanbuild.lowering.lower import package_files, read
from scanbuild.lowering.oracle import NoAnswerError
from scanbuild.lowering.precision import difference, rounded_up, tolerance
from scanbuild.lowering.reach import Reach
from scanbuild.lowering.recipes import Recipe, UndefinedError, find_recipe, make, refuse_undefined
from tests.lowering.build import Body
from tests.lowering.building import scan as model
from tests.lowering.building import with_fixed_sizes
from tests.lowering.harness import lowered
from tests.lowering.models import EXAMPLES


def a_sum(**more: Any):
    return model(
        "sum",
        "y = Add(s, x) z = Identity(y)",
        states="float[d] s",
        elements="float[d] x",
        after="y",
        outputs="float[d] z",
        **more,
    )


def manifest(*clauses: str) -> dict[str, Any]:
    """Variants with these conditions, and one without."""
    variants: list[dict[str, Any]] = [
        {"id": f"v{at}", "priority": 10 - at, "when": [clause]} for at, clause in enumerate(clauses)
    ]
    return {"derive": {"t": "shapes.x[0]", "d": "shapes.x[1]"}, "variants": [*variants, {"id": "rest"}]}


def reach(*clauses: str) -> Reach:
    return Reach(manifest(*clauses), read(a_sum().data, "model.onnx", None).scan)


def test_the_first_variant_whose_condition_holds_is_reached():
    found = reach("t >= 128 and d <= 64", "t >= 10")
    assert found.chosen({"t": 128, "d": 64}) == "v0"
    assert found.chosen({"t": 128, "d": 65}) == "v1"
    assert found.chosen({"t": 9, "d": 64}) == "rest"
    assert found.eligible({"t": 128, "d": 1}) == ("v0", "v1", "rest")


def test_a_condition_that_fails_does_not_hold():
    assert reach("nonsense > 3").eligible({"t": 1, "d": 1}) == ("rest",)


def test_sizes_are_found_that_reach_every_variant():
    found = reach("t * d >= 5000", "d == 64 and t < 5").smallest({"t": 3, "d": 2})
    assert found.keys() == {"v0", "v1", "rest"}
    assert found["v0"]["t"] * found["v0"]["d"] >= 5000
    assert found["v1"]["d"] == 64
    assert found["rest"] == {"t": 1, "d": 2} or found["rest"]["t"] <= 3


@pytest.mark.parametrize("threshold", [2, 77, 128, 1000])
def test_both_sides_of_an_edge_are_found(threshold):
    found = reach(f"t >= {threshold}")
    below, above = threshold - 1, threshold
    pairs = [(at["t"], beyond["t"]) for at, beyond in found.edges({"t": threshold + 5, "d": 2})]
    assert (above, below) in pairs
    assert (below, above) in [(at["t"], beyond["t"]) for at, beyond in found.edges({"t": 1, "d": 2})]


def test_the_cases_of_a_package_stand_on_both_sides_of_its_edges():
    package = lowered(EXAMPLES["exponential_average"])
    found = read_tests(package.files["test.json"].decode(), "test.json", manifest=package.manifest).cases
    steps = {(case.inputs["x"].shape[0], case.expect_variant) for case in found if 0 not in case.inputs["x"].shape[1:]}
    edge = min(count for count, variant in steps if variant == "parallel_scan")
    assert (edge - 1, "lane_serial") in steps
    assert {(0, "lane_serial"), (1, "lane_serial"), (37, "lane_serial")} <= steps
    assert any(0 in case.inputs["x"].shape[1:] for case in found)


@pytest.mark.parametrize("name", ["exponential_average", "viterbi", "mixed_dtypes", "half_precision", "no_states"])
def test_case_files_are_sound_and_few_values_are_stored(name):
    package = lowered(EXAMPLES[name])
    found = read_tests(package.files["test.json"].decode(), "test.json", manifest=package.manifest).cases
    assert len(found) >= 8
    for case in found:
        stored = sum(math.prod(item.fixture.shape) for item in case.outputs.values() if item.fixture.data is not None)
        assert stored <= cases.STORED
    benches = read_benches(package.files["bench.json"].decode(), "bench.json", manifest=package.manifest).cases
    assert benches


def test_the_data_of_a_case_are_what_the_lowering_had_computed_with():
    package = lowered(EXAMPLES["mixed_dtypes"])
    for case in read_tests(package.files["test.json"].decode(), "test.json").cases:
        if all(item.fixture.data is not None for item in case.outputs.values()) and "special" not in case.name:
            inputs = {port.name: case_inputs(case)[port.name].astype(port.dtype) for port in package.read.scan.inputs}
            got = run_scan(package.read.scan, inputs)
            for name, output in case.outputs.items():
                stored = np.array(output.fixture.data.values, np.float64).reshape(output.fixture.shape)  # type: ignore[union-attr]
                assert difference(got[name], stored) <= 1e-5, case.name


def test_a_division_by_zero_is_kept_out_of_the_data():
    example = model(
        "quotient",
        "y = Div(s, x) z = Identity(y)",
        states="int32[d] s",
        elements="int32[d] x",
        after="y",
        outputs="int32[d] z",
    )
    package = lowered(example)
    for case in read_tests(package.files["test.json"].decode(), "test.json").cases:
        assert (case_inputs(case)["x"] != 0).all(), case.name


def test_a_body_that_is_undefined_for_all_data_is_not_shown_to_onnx_runtime():
    example = model(
        "zero",
        "n = Sub(x, x) y = Div(s, n) z = Identity(y)",
        states="int32[d] s",
        elements="int32[d] x",
        after="y",
        outputs="int32[d] z",
    )
    found = read(example.data, "model.onnx", None)
    assert not find_recipe(found.scan, {"t": 3, "d": 2}).sound
    written = json.loads(package_files(found, "my.Zero")["test.json"])
    assert all(0 in case["inputs"]["x"]["shape"] for case in written["cases"])
    assert "small" in written["$comment"]


@pytest.mark.parametrize(
    ("operation", "operands"),
    [
        ("div", ([1, 2], [3, 0])),
        ("mod", ([1, 2], [0, 1])),
        ("div", ([-(2**31), 1], [-1, 1])),
        ("pow", ([2, 2], [1, -1])),
        ("shift_left", ([1, 1], [3, 32])),
    ],
)
def test_what_onnx_leaves_open_is_noticed(operation, operands):
    body = Body()
    dtype = "uint32" if operation.startswith("shift") else "int32"
    left, right = body.state("s", [2], dtype), body.element("x", [2], dtype)
    node = body.nodes[body.add(operation, left, right)]
    with pytest.raises(UndefinedError):
        refuse_undefined(node, [np.array(values, dtype) for values in operands])
    refuse_undefined(node, [np.array([4, 5], dtype), np.array([1, 2], dtype)])


@pytest.mark.parametrize("value", [2.0**31, np.nan, -np.inf])
def test_a_cast_beyond_the_range_is_noticed(value):
    body = Body()
    body.state("s", [2])
    node = body.nodes[body.add("cast", "s", dtype="int32", shape=[2])]
    with pytest.raises(UndefinedError):
        refuse_undefined(node, [np.array([1.0, value], np.float32)])
    refuse_undefined(node, [np.array([1.0, -5.5], np.float32)])


def test_data_are_those_of_the_case_files():
    data = {"kind": "random", "seed": 7, "low": -2, "high": 2}
    want = np.random.default_rng(7).uniform(-2, 2, 6).astype(np.float32).reshape(2, 3)
    np.testing.assert_array_equal(make(data, "float32", (2, 3)), want)
    whole = np.random.default_rng(7).integers(-2, 2, 6).astype(np.int8).reshape(6)
    np.testing.assert_array_equal(make(data, "int8", (6,)), whole)


def test_unsigned_data_are_not_negative():
    port = read(EXAMPLES["unsigned_xor_and_shifts"].data, "model.onnx", None).scan.inputs[0]
    assert Recipe().describe(port, {"d": 2}, 1)["low"] == 0


def test_a_tolerance_follows_from_how_far_float32_and_float64_are_apart():
    narrow = np.array([1.0, 2.0], np.float32)
    assert tolerance("float32", True, narrow, narrow.astype(np.float64)) == 1e-6
    assert tolerance("float32", False, narrow, narrow.astype(np.float64)) == 1e-5
    assert tolerance("float32", True, narrow, narrow + 1e-5) == pytest.approx(2e-4)
    assert tolerance("float32", True, narrow, narrow + 0.01) is None
    assert tolerance("int32", True, np.array([1]), np.array([1])) == 0
    assert tolerance("int32", True, np.array([1]), np.array([2])) is None
    assert tolerance("float32", True, np.array([np.nan], np.float32), np.array([1.0])) is None


@pytest.mark.parametrize(("value", "up"), [(0.0, 0.0), (1e-6, 1e-6), (1.2e-5, 2e-5), (0.0099, 0.01), (3.0, 3.0)])
def test_tolerances_have_one_digit_and_are_not_less(value, up):
    assert rounded_up(value) == pytest.approx(up)


def test_a_misreading_is_a_fault_that_names_the_output(monkeypatch):
    """Were the interpreter to add where the model multiplies, ONNX Runtime would not agree."""
    example = model(
        "product",
        "y = Mul(s, x) z = Identity(y)",
        states="float[d] s",
        elements="float[d] x",
        after="y",
        outputs="float[d] z",
    )
    found = read(example.data, "model.onnx", None)
    wrong = read(a_sum().data, "model.onnx", None).scan
    monkeypatch.setattr(cases, "compiled", lambda scan: lambda inputs, attrs, args: run_scan(wrong, inputs))
    with pytest.raises(MisreadError, match=r"another (all_z|final_s) than ONNX Runtime"):
        package_files(found, "my.Product")


def test_onnx_runtime_is_not_asked_about_empty_tensors():
    package = lowered(EXAMPLES["log_softmax_of_the_running_sum"])
    with pytest.raises(NoAnswerError):
        package.oracle.run({"init_s": np.zeros((2, 0), np.float32), "x": np.zeros((3, 2, 0), np.float32)})
    with pytest.raises(NoAnswerError):
        package.oracle.run({"init_s": np.zeros((2, 5), np.float32), "x": np.zeros((0, 2, 5), np.float32)})


def test_a_model_of_large_fixed_sizes_is_not_computed_while_it_is_lowered():
    """A gigabyte each: made for a moment, they would not fit many a machine."""
    example = with_fixed_sizes(a_sum(sizes={"t": 262144, "d": 1024}))
    files = package_files(read(example.data, "model.onnx", None), "my.Large")
    (case,) = json.loads(files["test.json"])["cases"]
    assert case["inputs"]["x"]["shape"] == [262144, 1024]
    assert all("data" not in output for output in case["outputs"].values())
    assert len(json.loads(files["bench.json"])["cases"]) == 1


def test_benchmarks_have_the_fixed_sizes_of_the_model():
    found = read(EXAMPLES["gru"].data, "model.onnx", None)
    package = json.loads(package_files(found, "my.Gru")["manifest.json"])
    shapes = [case["inputs"]["x"]["shape"] for case in bench_json(found.scan, package)["cases"]]
    assert all(shape[2] == 3 for shape in shapes)
    assert len({shape[0] for shape in shapes}) > 1


def a_mean() -> Any:
    """A count without any size beside means of d lanes."""
    return model(
        "mean",
        "one = Constant <value = float {1.0}> () m = Add(n, one) gap = Sub(x, s) part = Div(gap, m) y = Add(s, part)",
        states="float n; float[d] s",
        elements="float[d] x",
        after="m y",
        outputs="",
    )


def test_a_call_without_lanes_goes_where_a_count_is_kept_all_the_same():
    found = read(a_mean().data, "model.onnx", None)
    files = package_files(found, "my.models.Mean")
    over = Reach(json.loads(files["manifest.json"]), found.scan)
    assert over.chosen({"d": 5, "t": 7}) == "lane_serial"
    assert over.chosen({"d": 0, "t": 7}) == "workgroup_serial"


def test_a_variant_that_two_others_leave_nothing_to_is_left_out():
    found = read(a_mean().data, "model.onnx", None)
    assert [variant.id for variant in found.variants] == ["parallel_scan", "lane_serial", "workgroup_serial"]
    assert {"step_passes"} < {variant.id for variant in found.possible}
