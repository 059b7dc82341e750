"""Updates are recognised by what they compute, with coefficients that give the same numbers; others are refused."""

import numpy as np
import pytest

from scanbuild.lowering.algebra import LARGEST_KNOT, Recurrence, Unrecognised
from scanbuild.lowering.analysis import analyse
from tests.lowering.build import Body


def analysed(update, dtype="float32", sizes=("n",), states=1):
    """The knots of a body; ``update`` gets the body, the states, and two elements x and a, all alike."""
    body = Body()
    before = [body.state(f"s{index}", sizes, dtype) for index in range(states)]
    x, a = body.element("x", sizes, dtype), body.element("a", sizes, dtype)
    after = update(body, *before, x, a)
    body.update(*([after] if isinstance(after, str) else after))
    return analyse(body.scan())


def kinds(analysis):
    """The kinds of all knots, layer by layer."""
    return [[getattr(knot, "kind", "unrecognised") for knot in layer] for layer in analysis.layers]


def one(update, dtype="float32", sizes=("n",), states=1):
    (knot,) = analysed(update, dtype, sizes, states).knots
    return knot


SUMS = {
    "s + x": lambda b, s, x, a: b.add("add", s, x),
    "x + s": lambda b, s, x, a: b.add("add", x, s),
    "s - (-x)": lambda b, s, x, a: b.add("sub", s, b.add("neg", x)),
    "-(-s - x)": lambda b, s, x, a: b.add("neg", b.add("sub", b.add("neg", s), x)),
    "s * 2 - (s - x)": lambda b, s, x, a: b.add("sub", b.add("mul", s, b.constant(2.0)), b.add("sub", s, x)),
    "s / 2 + s / 2 + x": lambda b, s, x, a: b.add(
        "add", b.add("add", b.add("div", s, b.constant(2.0)), b.add("mul", s, b.constant(0.5))), x
    ),
    "(s + x) where a, else s": lambda b, s, x, a: b.add("where", b.add("lt", x, a), b.add("add", s, x), s),
    "s + (x clipped)": lambda b, s, x, a: b.add("add", s, b.add("min", b.add("max", x, b.constant(0.0)), a)),
    "s reshaped and back, + x": lambda b, s, x, a: b.add(
        "add", b.add("reshape", b.add("reshape", s, shape=[1, "n", 1]), shape=["n"]), x
    ),
    "s transposed and back, + x": lambda b, s, x, a: b.add(
        "add",
        b.add(
            "reshape",
            b.add(
                "transpose",
                b.add("transpose", b.add("reshape", s, shape=["n", 1]), shape=[1, "n"], perm=(1, 0)),
                shape=["n", 1],
                perm=(1, 0),
            ),
            shape=["n"],
        ),
        x,
    ),
}


@pytest.mark.parametrize("update", SUMS.values(), ids=SUMS)
def test_a_sum_is_a_sum_however_it_is_written(update):
    knot = one(update)
    assert isinstance(knot, Recurrence)
    assert (knot.kind, knot.cut) == ("add", False)


KINDS = {
    "product": (lambda b, s, x, a: b.add("mul", x, b.add("mul", s, a)), "float32", "mul"),
    "quotient by the input": (lambda b, s, x, a: b.add("div", s, x), "float32", "mul"),
    "average": (
        lambda b, s, x, a: b.add("add", b.add("mul", a, s), b.add("mul", b.add("sub", b.constant(1.0), a), x)),
        "float32",
        "linear",
    ),
    "lerp": (lambda b, s, x, a: b.add("add", s, b.add("mul", a, b.add("sub", x, s))), "float32", "linear"),
    "integers": (lambda b, s, x, a: b.add("add", b.add("mul", a, s), x), "int32", "linear"),
    "narrow integers": (lambda b, s, x, a: b.add("sub", b.add("mul", a, s), x), "int8", "linear"),
    "maximum": (lambda b, s, x, a: b.add("max", b.add("max", x, s), a), "float32", "max"),
    "maximum of integers": (lambda b, s, x, a: b.add("max", s, x), "uint32", "max"),
    "maximum as a minimum of negatives": (
        lambda b, s, x, a: b.add("neg", b.add("min", b.add("neg", s), x)),
        "float32",
        "max",
    ),
    "a maximum of sums": (lambda b, s, x, a: b.add("max", b.add("add", a, s), x), "float32", "max_plus"),
    "a minimum of differences": (lambda b, s, x, a: b.add("min", b.add("sub", s, a), x), "float32", "min_plus"),
    "or": (lambda b, s, x, a: b.add("or", x, s), "bool", "or"),
    "and": (lambda b, s, x, a: b.add("and", b.add("not", x), s), "bool", "and"),
    "or by de Morgan": (
        lambda b, s, x, a: b.add("not", b.add("and", b.add("not", s), b.add("not", x))),
        "bool",
        "or",
    ),
    "parity": (lambda b, s, x, a: b.add("xor", s, x), "bool", "xor"),
    "parity as unequal": (lambda b, s, x, a: b.add("ne", x, s), "bool", "xor"),
    "a choice by the state": (lambda b, s, x, a: b.add("where", s, x, a), "bool", "bits"),
    "set and reset bits": (
        lambda b, s, x, a: b.add("bit_or", b.add("bit_and", s, b.add("bit_not", a)), x),
        "int32",
        "bits",
    ),
    "the last element": (lambda b, s, x, a: x, "float32", "last"),
    "a state handed on": (lambda b, s, x, a: s, "float32", "add"),
}


@pytest.mark.parametrize(("update", "dtype", "kind"), KINDS.values(), ids=KINDS)
def test_the_narrowest_kind_is_found(update, dtype, kind):
    knot = one(update, dtype)
    assert isinstance(knot, Recurrence), knot
    assert (knot.kind, knot.cut) == (kind, False)


CUTS = {
    "a sum that restarts": (lambda b, s, x, a: b.add("where", b.add("gt", x, a), x, b.add("add", s, x)), "add"),
    "a maximum that restarts": (lambda b, s, x, a: b.add("where", b.add("gt", x, a), x, b.add("max", s, a)), "max"),
    "a recurrence that restarts": (
        lambda b, s, x, a: b.add("where", b.add("gt", x, a), b.add("add", b.add("mul", s, a), x), a),
        "linear",
    ),
}


@pytest.mark.parametrize(("update", "kind"), CUTS.values(), ids=CUTS)
def test_a_restart_is_not_a_factor_of_zero(update, kind):
    knot = one(update)
    assert isinstance(knot, Recurrence), knot
    assert (knot.kind, knot.cut) == (kind, True)


REFUSED = {
    "tanh": (lambda b, s, x, a: b.add("tanh", b.add("add", s, x)), "float32", "tanh of a state"),
    "square": (lambda b, s, x, a: b.add("mul", s, s), "float32", "product of two values"),
    "reciprocal": (lambda b, s, x, a: b.add("div", x, s), "float32", "div of a state"),
    "clip": (
        lambda b, s, x, a: b.add("min", b.add("max", b.add("add", s, x), a), x),
        "float32",
        "maximum of a minimum",
    ),
    "rounding": (lambda b, s, x, a: b.add("round", b.add("add", s, x)), "float32", "round of a state"),
    "modulus": (lambda b, s, x, a: b.add("mod", b.add("add", s, x), a), "int32", "mod of a state"),
    "quotient of integers": (lambda b, s, x, a: b.add("div", s, x), "int32", "quotient of integers"),
    "maximum of sums of integers": (
        lambda b, s, x, a: b.add("max", b.add("add", s, a), x),
        "int32",
        "a sum of integers wraps",
    ),
    "choice by the state": (
        lambda b, s, x, a: b.add("where", b.add("gt", s, x), s, x),
        "float32",
        "gt of a state",
    ),
    "absolute value": (lambda b, s, x, a: b.add("add", b.add("abs", s), x), "float32", "abs of a state"),
    "reversal": (
        lambda b, s, x, a: b.add("add", b.add("slice", s, shape=["n"], starts=(0,), steps=(-1,)), x),
        "float32",
        "a slice mixes the lanes",
    ),
    "mean over lanes": (
        lambda b, s, x, a: b.add("add", b.add("reduce", s, shape=[1], kind="add", axes=(0,)), x),
        "float32",
        "mixes the lanes",
    ),
    "maximum of a state and its negative": (
        lambda b, s, x, a: b.add("max", s, b.add("neg", b.add("add", s, x))),
        "float32",
        "own negative",
    ),
    "the negative maximum": (lambda b, s, x, a: b.add("neg", b.add("max", s, x)), "float32", "negated states"),
    "truncation": (
        lambda b, s, x, a: b.add(
            "cast", b.add("add", b.add("cast", s, dtype="int32"), b.add("cast", x, dtype="int32")), dtype="float32"
        ),
        "float32",
        "cast of a state",
    ),
}


@pytest.mark.parametrize(("update", "dtype", "reason"), REFUSED.values(), ids=REFUSED)
def test_what_is_not_provably_associative_is_refused_with_the_reason(update, dtype, reason):
    knot = one(update, dtype)
    assert isinstance(knot, Unrecognised), knot
    assert reason in f"{knot.reason} {knot.attempts}"
    assert knot.origin.operator


def test_lanes_that_change_places_are_refused():
    def swapped(b, s, x, a):
        return b.add("add", b.add("transpose", s, shape=["n", "n"], perm=(1, 0)), x)

    knot = one(swapped, sizes=("n", "n"))
    assert isinstance(knot, Unrecognised)
    assert "other lanes" in knot.reason


def test_a_rotation_is_a_matrix():
    def turned(b, s, t, x, a):
        real = b.add("sub", b.add("mul", s, x), b.add("mul", t, a))
        return real, b.add("add", b.add("mul", s, a), b.add("mul", t, x))

    knot = one(turned, states=2)
    assert isinstance(knot, Recurrence)
    assert (knot.kind, knot.states) == ("matrix", (0, 1))
    assert [sorted(row.terms) for row in knot.rows] == [[0, 1], [0, 1]]


def test_states_that_read_earlier_ones_need_no_matrix():
    def twice(b, s, t, x, a):
        first = b.add("add", s, x)
        return first, b.add("add", t, first)

    assert kinds(analysed(twice, states=2)) == [["add"], ["add"]]


def test_a_coefficient_may_be_any_function_of_an_earlier_state():
    def weighted(b, s, t, x, a):
        first = b.add("max", s, x)
        scale = b.add("exp", b.add("sub", s, first))
        return first, b.add("add", b.add("mul", t, scale), b.add("exp", b.add("sub", x, first)))

    assert kinds(analysed(weighted, states=2)) == [["max"], ["linear"]]


def test_too_many_states_in_a_circle_are_refused():
    count = LARGEST_KNOT + 1

    def ring(b, *values):
        states, x = values[:count], values[count]
        return [b.add("add", states[index - 1], x) for index in range(count)]

    knot = one(ring, states=count)
    assert isinstance(knot, Unrecognised)
    assert f"at most {LARGEST_KNOT}" in knot.reason


def test_a_scalar_state_is_broadcast_into_a_wider_one():
    body = Body()
    gain, s = body.state("gain", []), body.state("s", ["n", 3])
    x, g = body.element("x", ["n", 3]), body.element("g", [])
    body.update(body.add("mul", gain, g), body.add("add", body.add("mul", s, gain), x))
    assert kinds(analyse(body.scan())) == [["mul"], ["linear"]]


def test_uniform_constants_are_taken_for_what_they_are():
    def scaled(b, s, x, a):
        return b.add("add", b.add("mul", s, b.constant(np.ones((1, 1)))), b.add("mul", x, b.constant(np.full(1, 3.0))))

    knot = one(scaled, sizes=(2, 1))
    assert isinstance(knot, Recurrence)
    assert knot.kind == "add"
