"""Packages made of drafts: their manifest, and which requests they take on which devices."""

import json

import numpy as np
import pytest

from scanbuild.errors import CallError
from scanbuild.lowering import lane, steps, workgroup
from scanbuild.lowering.draft import Variant
from scanbuild.lowering.package import assemble, pretty
from scanbuild.planning.planner import Planner
from scanbuild.planning.profiles import profiles
from scanbuild.planning.request import HostTensor, Request
from tests.lowering.back.bodies import BODIES
from tests.lowering.back.running import inputs_for, package_of
from tests.lowering.back.test_steps import made_inputs
from tests.lowering.build import Body


def request(inputs):
    return Request(inputs={name: HostTensor.of(value) for name, value in inputs.items()})


def halves():
    body = Body()
    s, x = body.state("s", ["n"], "float16"), body.element("x", ["n"], "float16")
    y = body.add("add", s, x)
    body.update(y)
    body.output("ys", y)
    return body.scan()


def drafts(scan):
    made = (strategy(scan) for strategy in (lane.draft, workgroup.draft, steps.draft))
    return [draft for draft in made if isinstance(draft, Variant)]


@pytest.mark.parametrize("name", [*BODIES, "halves"])
def test_a_package_finds_a_variant_on_every_built_in_profile(name):
    scan = halves() if name == "halves" else BODIES[name]()
    planner = Planner(package_of(scan, *drafts(scan)))
    inputs = made_inputs(scan, 3)
    for device in profiles().values():
        chosen = planner.prepare(request(inputs), device).plan.variant
        many = max(len(item["bindings"]) for item in drafts(scan)[0].entry["passes"]) > 9
        assert chosen == (
            "step_passes" if many and device.limits["maxStorageBuffersPerShaderStage"] < 10 else drafts(scan)[0].id
        )


def test_the_same_scan_gives_the_same_files():
    scan = BODIES["gru"]()
    first, second = (assemble(scan, drafts(scan), "my.models.Gru") for _ in range(2))
    assert first == second
    assert set(first) == {"manifest.json", *(name for draft in drafts(scan) for name in draft.templates)}


def test_variants_come_in_the_order_of_their_priorities():
    scan = halves()
    made = json.loads(assemble(scan, drafts(scan)[::-1], "my.models.Halves")["manifest.json"])
    assert [item["id"] for item in made["variants"]] == ["lane_serial", "workgroup_serial", "step_passes"]
    assert (made["domain"], made["name"]) == ("my.models", "Halves")


def test_shapes_that_contradict_the_ports_are_refused():
    scan = BODIES["gru"]()
    planner = Planner(package_of(scan, *drafts(scan)))
    device = profiles()["webgpu-defaults"]
    right = inputs_for(scan, batch=2, steps=3)
    planner.prepare(request(right), device)
    for name, shape in (("x", (3, 4, 5)), ("h_initial", (2, 7)), ("w_z", (6, 4)), ("x", (3, 2))):
        wrong = {**right, name: np.zeros(shape, np.float32)}
        with pytest.raises(CallError):
            planner.prepare(request(wrong), device)


def test_two_templates_of_one_name_are_not_mixed_up():
    scan = halves()
    draft = lane.draft(scan)
    assert isinstance(draft, Variant)
    other = Variant(entry={**draft.entry, "id": "other"}, templates=dict.fromkeys(draft.templates, "// another\n"))
    with pytest.raises(ValueError, match="different templates"):
        assemble(scan, [draft, other], "my.models.Halves")


def test_without_steps_int64_states_are_handed_on():
    body = Body()
    s, x = body.state("s", ["n"], "int64"), body.element("x", ["n"], "int64")
    y = body.add("add", s, x)
    body.update(y)
    body.output("ys", y)
    scan = body.scan()
    planner = Planner(package_of(scan, lane.draft(scan)))
    device = profiles()["webgpu-defaults"]
    taken = {count: planner.prepare(request(inputs_for(scan, n=2, steps=count)), device).plan for count in (0, 3)}
    assert {count: plan.variant for count, plan in taken.items()} == {0: "no_steps", 3: "lane_serial"}


def test_json_is_written_as_people_write_it():
    value = {"short": [1, {"a": 2}], "long": ["x" * 50, "y" * 50, "z" * 50], "empty": {}}
    text = pretty(value)
    assert json.loads(text) == value
    lines = text.splitlines()
    assert '  "short": [1, { "a": 2 }],' in lines
    assert f'    "{"x" * 50}",' in lines
    assert '  "empty": {}' in lines


@pytest.mark.parametrize("name", BODIES)
def test_lines_of_templates_stay_short(name):
    scan = BODIES[name]()
    for draft in drafts(scan):
        for text in draft.templates.values():
            assert max(map(len, text.splitlines())) <= 160
