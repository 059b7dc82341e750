"""Values as expressions of elements: what is computed where, and what is not computed at all."""

import numpy as np

from scanbuild.lowering import lane, wgsl
from scanbuild.lowering.draft import Variant
from tests.lowering.build import Body, shape_of


def template_of(body):
    draft = lane.draft(body.scan())
    assert isinstance(draft, Variant), draft
    (text,) = draft.templates.values()
    return text[text.index("fn main") :]


def test_views_are_arithmetic_of_indices():
    body = Body(5)
    s, x = body.state("s", [6]), body.element("x", [2, 3])
    turned = body.add("transpose", x, shape=[3, 2], perm=(1, 0))
    back = body.add("transpose", turned, shape=[2, 3], perm=(1, 0))
    flat = body.add("reshape", back, shape=[6])
    body.update(body.add("add", s, flat, name="y"))
    text = template_of(body)
    assert "let y = s + x[" in text and "array<" not in text
    assert text.count("x[") == 1


def test_splitting_and_joining_axes_again_leaves_no_division():
    body = Body()
    s, x = body.state("s", ["n", 4]), body.element("x", ["n", 4])
    joined = body.add("reshape", body.add("neg", x), shape=[body.nodes[x].shape[0] * 4])
    split = body.add("reshape", joined, shape=["n", 4])
    body.update(body.add("add", s, split))
    text = template_of(body)
    assert "/" not in text.split("for (", 1)[1]


def test_what_does_not_vary_is_computed_before_the_walk():
    body = Body()
    s, x, w = body.state("s", ["n"]), body.element("x", ["n"]), body.capture("w", ["n"])
    gate = body.add("sigmoid", w, name="gate")
    body.update(body.add("add", body.add("mul", s, gate), x))
    text = template_of(body)
    assert "sigmoid_f32(" in text.split("for (", 1)[0]
    assert "sigmoid" not in text.split("for (", 1)[1]


def test_a_value_that_is_read_twice_is_computed_once():
    body = Body(3)
    s, x = body.state("s", []), body.element("x", [])
    e = body.add("exp", body.add("add", s, x), name="e")
    body.update(e)
    body.output("squares", body.add("mul", e, e))
    assert template_of(body).count("exp_f32(") == 1


def test_elements_of_a_concatenation_that_are_known_are_read_from_their_part():
    body = Body(3)
    s, x = body.state("s", []), body.element("x", [2])
    both = body.add("concat", x, x, shape=[4], axis=0)
    third = body.add("slice", both, shape=[1], starts=shape_of([3]), steps=(1,))
    body.update(body.add("add", s, body.add("reshape", third, shape=[])))
    text = template_of(body)
    assert "if (" not in text.split("for (", 1)[1] and "+ 1u]" in text


def test_values_that_compilers_mistake_are_made_from_their_bits():
    for value, bits in ((np.inf, "7f800000"), (-np.inf, "ff800000"), (np.nan, "7fc00000"), (-0.0, "80000000")):
        assert wgsl.literal(value, "float32") == f"from_bits(0x{bits}u)"
    assert wgsl.literal(0.1, "float32") == "0.1f"
    assert wgsl.literal(-2, "float32") == "(-2.0f)"
    assert wgsl.literal(-(2**31), "int32") == "i32(-2147483648)"
    assert wgsl.literal(-1, "int64") == "vec2<u32>(4294967295u, 4294967295u)"


def test_a_shader_takes_the_functions_that_it_calls_and_those_that_they_call():
    text = wgsl.library("let a = tanh_f32(b);")
    assert "fn tanh_f32(" in text and "fn exp_f32(" in text and "fn erf_f32(" not in text
    assert wgsl.library("let a = min(b, c);") == ""
