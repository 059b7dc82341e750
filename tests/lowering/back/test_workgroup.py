"""Workgroup-serial: states in workgroup memory, a batch over workgroups."""

import pytest

from scanbuild.lowering import steps, workgroup
from scanbuild.lowering.batch import find_batch
from scanbuild.lowering.draft import Refusal, Variant
from scanbuild.lowering.schedule import schedule
from tests.lowering.back.bodies import BODIES, gru
from tests.lowering.back.running import assert_like_numpy
from tests.lowering.back.test_steps import made_inputs
from tests.lowering.build import Body


@pytest.mark.parametrize("name", BODIES)
def test_a_body_gives_what_numpy_gives(engine, name):
    scan = BODIES[name]()
    draft = workgroup.draft(scan)
    for length in (0, 1, 4):
        assert_like_numpy(scan, draft, engine, made_inputs(scan, length))


@pytest.mark.parametrize(("name", "batch"), [("simple_rnn", "batch"), ("gru", "batch"), ("shift_register", "n")])
def test_a_batch_is_spread_over_workgroups(name, batch):
    scan = BODIES[name]()
    found = find_batch(scan, schedule(scan))
    assert found is not None and str(found.size) == batch
    draft = workgroup.draft(scan)
    assert isinstance(draft, Variant) and draft.entry["passes"][0]["dispatch"] == {"workgroups": batch}


@pytest.mark.parametrize("name", ["softmax_attention", "viterbi", "invariant_weights", "running_totals", "swapped"])
def test_axes_that_are_mixed_are_no_batch(name):
    scan = BODIES[name]()
    assert find_batch(scan, schedule(scan)) is None


def test_an_operand_of_a_product_is_stored_once_and_what_is_the_same_in_every_step_before_the_first():
    plan = schedule(gru())
    assert [group.nodes for group in plan.stages[0]] == [("kept",)]
    assert "kept" in plan.stored
    plan = schedule(BODIES["invariant_weights"]())
    assert [group.nodes for stage in plan.fixed for group in stage] != []


def test_states_that_do_not_fit_are_refused_or_left_to_devices_with_more_memory(engine):
    def wide(size):
        body = Body()
        h, x = body.state("h", [size]), body.element("x", [size])
        total = body.add("reduce", h, shape=[1], kind="max", axes=(0,))
        body.update(body.add("add", x, total))
        return body.scan()

    assert isinstance(workgroup.draft(wide(3000)), Refusal)
    large = workgroup.draft_large(wide(3000))
    assert isinstance(large, Variant)
    assert large.entry["requires"]["limits"] == {"maxComputeWorkgroupStorageSize": 32768}
    assert_like_numpy(wide(3000), large, engine, made_inputs(wide(3000), 3))
    refusal = workgroup.draft_large(wide(5000))
    assert isinstance(refusal, Refusal) and "bytes" in refusal.reason


def test_a_wide_cell_uses_every_invocation(engine):
    scan = gru(70, 33)
    assert_like_numpy(scan, workgroup.draft(scan), engine, made_inputs(scan, 3), tolerance=1e-4)


def test_a_few_workgroups_with_much_to_do_are_left_to_passes_over_the_whole_device():
    small, large = workgroup.draft(gru(64, 64)), workgroup.draft(gru(1024, 512))
    assert isinstance(small, Variant) and isinstance(large, Variant)
    assert "when" not in small.entry
    (clause,) = large.entry["when"]
    assert clause.startswith("batch >= 16 or not (steps <= 65535)")


def test_more_steps_than_passes_are_refused():
    body = Body(70000)
    h, x = body.state("h", ["n"]), body.element("x", [])
    total = body.add("reduce", h, shape=[1], kind="max", axes=(0,))
    body.update(body.add("add", total, x))
    refusal = steps.draft(body.scan())
    assert isinstance(refusal, Refusal) and "70000 steps" in refusal.reason
