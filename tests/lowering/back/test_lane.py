"""Lane-serial: states in registers, one invocation a lane."""

import itertools

import numpy as np
import pytest

from scanbuild.lowering import lane
from scanbuild.lowering.draft import Refusal, Variant
from scanbuild.lowering.sizes import Size
from tests.lowering.back.running import assert_like_numpy, inputs_for, without_halves
from tests.lowering.build import Body


def running_sum(sizes, dtype="float32", axis=0, reverse=False, out=0, prepend=False, steps="steps"):
    body = Body(steps)
    state, term = body.state("s", sizes, dtype), body.element("x", sizes, dtype, axis=axis, reverse=reverse)
    total = body.add("add", state, term, name="y")
    body.update(total)
    body.output("ys", total, axis=out, prepend=prepend)
    return body.scan()


@pytest.mark.parametrize(
    ("axis", "out", "reverse", "prepend"), list(itertools.product([0, 1, 2], [0, 1, 2], [0, 1], [0, 1]))
)
def test_a_running_sum_along_any_axis_in_any_direction(engine, axis, out, reverse, prepend):
    scan = running_sum(["n", 3], "int32", axis, bool(reverse), out, bool(prepend))
    assert_like_numpy(scan, lane.draft(scan), engine, inputs_for(scan, n=4, steps=5))


@pytest.mark.parametrize("steps", [0, 1, 17])
@pytest.mark.parametrize("count", [0, 1, 130])
def test_any_length_and_width_will_do(engine, steps, count):
    scan = running_sum(["n"])
    assert_like_numpy(scan, lane.draft(scan), engine, inputs_for(scan, n=count, steps=steps))


@pytest.mark.parametrize("dtype", ["float16", "float32", "int8", "int16", "int32", "int64", "uint8", "uint32"])
def test_every_dtype_adds_as_numpy_does(engine, dtype):
    scan = running_sum([5], dtype)
    inputs = inputs_for(scan, low=-100, high=101, steps=9)
    for record in (engine.record, without_halves(engine.record)):
        assert_like_numpy(scan, lane.draft(scan), engine, inputs, record=record)


def test_a_scalar_is_one_lane(engine):
    scan = running_sum([], steps=6)
    assert_like_numpy(scan, lane.draft(scan), engine, inputs_for(scan))


def test_states_that_feed_each_other_are_replaced_together(engine):
    body = Body()
    a, b = body.state("a", ["n"], "int32"), body.state("b", ["n"], "int32")
    body.element("x", ["n"], "int32")
    following = body.add("add", a, b)
    body.update(b, following)
    body.output("ys", following)
    scan = body.scan()
    assert_like_numpy(scan, lane.draft(scan), engine, inputs_for(scan, n=3, steps=12))


def test_a_state_of_size_one_is_shared_by_its_lanes(engine):
    body = Body()
    wide, narrow = body.state("wide", ["n", 4]), body.state("narrow", ["n", 1])
    x, gate = body.element("x", ["n", 4]), body.element("gate", ["n", 1])
    new = body.add("mul", narrow, gate)
    body.update(body.add("add", body.add("mul", wide, narrow), x), new)
    body.output("gates", new, axis=1)
    body.output("doubled", body.add("add", wide, wide), axis=2, prepend=True)
    scan = body.scan()
    assert_like_numpy(scan, lane.draft(scan), engine, inputs_for(scan, n=3, steps=5))


def test_states_with_nothing_in_common_get_passes_of_their_own(engine):
    body = Body()
    a, b = body.state("a", [2]), body.state("b", [3, 2])
    x, z = body.element("x", [2]), body.element("z", [3, 2])
    body.update(body.add("add", a, x), body.add("max", b, z))
    body.output("xs", body.add("mul", x, x))
    body.output("bs", b, axis=1)
    scan = body.scan()
    draft = lane.draft(scan)
    assert isinstance(draft, Variant)
    assert [len(item["bindings"]) for item in draft.entry["passes"]] == [4, 5, 3]
    assert_like_numpy(scan, draft, engine, inputs_for(scan, steps=4))


def test_outputs_may_be_views_and_outer_products_of_states(engine):
    body = Body()
    s, x, w = body.state("s", [4, 3]), body.element("x", [4, 3]), body.capture("w", [2])
    new = body.add("add", s, x)
    body.update(new)
    body.output("turned", body.add("transpose", new, shape=[3, 4], perm=(1, 0)), axis=1)
    starts = (Size.of(1), Size.of(0))
    body.output("part", body.add("slice", new, shape=[2, 3], starts=starts, steps=(1, 1)))
    column = body.add("reshape", new, shape=[4, 3, 1])
    body.output("outer", body.add("mul", column, w), axis=3)
    scan = body.scan()
    assert_like_numpy(scan, lane.draft(scan), engine, inputs_for(scan, steps=4))


def test_reductions_over_inputs_are_computed_in_the_lane(engine):
    body = Body()
    s, x, w = body.state("s", ["n"]), body.element("x", ["n", "k"]), body.capture("w", ["k"])
    dot = body.add("contract", x, w, shape=["n"], left="nk", right="k", out="n")
    body.update(body.add("add", s, dot))
    norm = body.add("reduce", w, shape=[1], kind="max", axes=(0,))
    body.output("ys", body.add("mul", s, norm))
    scan = body.scan()
    for k in (1, 4, 7):
        assert_like_numpy(scan, lane.draft(scan), engine, inputs_for(scan, n=5, k=k, steps=3))


def test_elements_may_be_chosen_by_a_state(engine):
    body = Body()
    position, row = body.state("position", ["n"], "int32"), body.element("row", [4], "int32")
    chosen = body.add("gather", row, position, dtype="int32", shape=["n"], axis=0)
    body.update(chosen)
    body.output("chosen", chosen)
    scan = body.scan()
    assert_like_numpy(scan, lane.draft(scan), engine, inputs_for(scan, low=0, high=4, n=5, steps=11))


def test_large_constants_lie_in_a_buffer_that_a_pass_fills(engine):
    body = Body()
    s, position = body.state("s", []), body.element("position", [], "int32")
    table = body.constant(np.arange(20, dtype=np.float32) * np.float32(1.5) - 9)
    whole = body.constant(np.arange(10) * 2**35 - 7, "int64")
    flags = body.constant(np.arange(11) % 3 == 0, "bool")
    picked = body.add("gather", table, position, dtype="float32", shape=[], axis=0)
    body.update(body.add("add", s, picked))
    body.output("wide", body.add("gather", whole, position, dtype="int64", shape=[], axis=0))
    body.output("truth", body.add("gather", flags, position, dtype="bool", shape=[], axis=0))
    scan = body.scan()
    assert_like_numpy(scan, lane.draft(scan), engine, inputs_for(scan, low=0, high=10, steps=9))


def test_states_that_mix_lanes_are_refused_with_the_operation_that_mixes():
    body = Body()
    s, x = body.state("s", ["n"]), body.element("x", ["n"])
    total = body.add("reduce", s, shape=[1], kind="add", axes=(0,), name="total")
    body.update(body.add("add", x, total))
    refusal = lane.draft(body.scan())
    assert isinstance(refusal, Refusal)
    assert refusal.origin.name == "total" and "other elements of the state s" in refusal.reason


def test_states_without_common_lanes_are_refused():
    body = Body()
    a, b = body.state("a", [2]), body.state("b", [3])
    body.element("x", [2])
    mixed = body.add("reduce", b, shape=[1], kind="add", axes=(0,))
    body.update(body.add("add", a, mixed), body.add("add", b, b))
    refusal = lane.draft(body.scan())
    assert isinstance(refusal, Refusal) and "no common lanes" in refusal.reason


def test_zero_dimensions_beside_others_do_no_harm(engine):
    scan = running_sum(["n", 0, 2])
    inputs = inputs_for(scan, n=3, steps=2)
    assert inputs["x"].shape == (2, 3, 0, 2)
    assert_like_numpy(scan, lane.draft(scan), engine, inputs)
    assert np.prod(inputs["x"].shape) == 0


def test_a_state_without_the_size_of_the_lanes_needs_a_lane():
    body = Body()
    total, mean = body.state("total", []), body.state("mean", ["d"])
    x = body.element("x", ["d"])
    following = body.add("add", mean, body.add("mul", x, total))
    body.update(body.add("add", total, total), following)
    draft = lane.draft(body.scan())
    assert isinstance(draft, Variant)
    assert draft.entry["when"] == ["d >= 1"]
