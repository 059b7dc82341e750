"""Step passes: a pass for each group of values, in every step."""

import numpy as np
import pytest

from scanbuild.lowering import steps
from scanbuild.lowering.draft import Variant
from tests.lowering.back.bodies import BODIES, LIMITS, SIZES
from tests.lowering.back.running import assert_like_numpy, inputs_for
from tests.lowering.build import Body


def made_inputs(scan, steps, seed=1):
    inputs = inputs_for(scan, seed, steps=steps, **SIZES)
    generator = np.random.default_rng(seed)
    for name, (low, high) in LIMITS.items():
        if name in inputs:
            inputs[name] = generator.integers(low, high, inputs[name].shape).astype(inputs[name].dtype)
    return inputs


@pytest.mark.parametrize("name", BODIES)
def test_a_body_gives_what_numpy_gives(engine, name):
    scan = BODIES[name]()
    draft = steps.draft(scan)
    for length in (0, 1, 4):
        assert_like_numpy(scan, draft, engine, made_inputs(scan, length))


def test_a_pass_binds_no_more_buffers_than_every_device_has(engine):
    body = Body()
    s = body.state("s", ["n"])
    total = s
    for number in range(12):
        factor = body.element(f"x{number}", ["n"])
        total = body.add("add", total, body.add("mul", factor, s))
    body.update(total)
    body.output("ys", total)
    scan = body.scan()
    draft = steps.draft(scan)
    assert isinstance(draft, Variant)
    for item in draft.entry["passes"]:
        for one in item.get("passes", [item]):
            assert sum("struct" not in str(binding) and binding != "sizes" for binding in one["bindings"]) <= 8
    assert_like_numpy(scan, draft, engine, made_inputs(scan, 3))


@pytest.mark.parametrize(("operation", "dtype"), [("neg", "float32"), ("bit_not", "int32")])
def test_what_is_read_only_behind_a_sign_is_bound(engine, operation, dtype):
    """``-s_kept[...]``: no blank and no bracket stands before the name."""
    body = Body()
    s, r = body.state("s", ["n"], dtype), body.state("r", [], dtype)
    turned = body.add(operation, r)
    body.update(body.add("add", s, turned), turned)
    body.output("ys", body.element("x", ["n"], dtype))
    scan = body.scan()
    assert_like_numpy(scan, steps.draft(scan), engine, made_inputs(scan, 3))
