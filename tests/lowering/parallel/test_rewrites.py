"""Random compositions of what keeps an update in its algebra: recognised, with the right numbers, and associative."""

import functools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scanbuild.lowering.algebra import Recurrence
from scanbuild.lowering.analysis import Analysis, analyse
from scanbuild.lowering.interpreter import evaluate, run_scan
from tests.lowering.build import Body

STEPS, LANES = 12, 4


class Writer:
    """Writes an update at random, by wrapping the state in operations of one algebra."""

    def __init__(self, data, dtype):
        self.data, self.dtype, self.body = data, dtype, Body(STEPS)
        self.state = self.body.state("s", [LANES], dtype)
        self.free = [self.body.element(name, [LANES], dtype) for name in "xyz"]
        self.flag = self.body.element("flag", [LANES], "bool")

    def pick(self, *choices):
        return self.data.draw(st.sampled_from(choices))

    def known(self, depth=2):
        """A value without a state."""
        if depth and self.pick(True, False):
            operation = self.pick("and", "or", "xor") if self.dtype == "bool" else self.pick("add", "sub", "max", "min")
            return self.body.add(operation, self.known(depth - 1), self.known(depth - 1))
        return self.pick(*self.free)

    def same(self, value):
        """The same value, written in another way."""
        match self.pick("as it is", "reshaped", "transposed", "chosen", "expanded"):
            case "reshaped":
                return self.body.add("reshape", self.body.add("reshape", value, shape=[2, 2]), shape=[LANES])
            case "transposed":
                tall = self.body.add("reshape", value, shape=[LANES, 1])
                return self.body.add(
                    "reshape", self.body.add("transpose", tall, shape=[1, LANES], perm=(1, 0)), shape=[LANES]
                )
            case "chosen":
                return self.body.add("where", self.flag, value, value)
            case "expanded":
                return self.body.add("reshape", self.body.add("expand", value, shape=[1, LANES]), shape=[LANES])
        return value

    def linear(self, depth):
        if not depth:
            return self.state
        inner, b = self.same(self.linear(depth - 1)), self.body
        match self.pick("add", "add", "sub", "from", "neg", "mul", "where", "twice", "hold"):
            case "sub":
                return b.add("sub", inner, self.known())
            case "from":
                return b.add("sub", self.known(), inner)
            case "neg":
                return b.add("neg", inner)
            case "mul":
                return b.add("mul", *self.data.draw(st.permutations([inner, self.pick(*self.free)])))
            case "where":
                return b.add("where", self.flag, inner, self.known())
            case "twice" if depth > 1:
                return b.add("add", inner, self.linear(1)) if self.pick(True, False) else b.add("add", inner, inner)
            case "hold":
                return b.add("where", self.flag, self.state, self.known())
        return b.add("add", *self.data.draw(st.permutations([inner, self.known()])))

    def extreme(self, depth, kind, *, negated=False):
        if not depth:
            return self.body.add("neg", self.state) if negated else self.state
        other = "min" if kind == "max" else "max"
        match self.pick("extreme", "extreme", "shift", "flip"):
            case "shift" if self.dtype.startswith("float"):
                inner = self.same(self.extreme(depth - 1, kind, negated=negated))
                return self.body.add(self.pick("add", "sub"), inner, self.pick(*self.free))
            case "flip" if self.dtype.startswith("float"):
                return self.body.add("neg", self.extreme(depth - 1, other, negated=not negated))
        inner = self.same(self.extreme(depth - 1, kind, negated=negated))
        return self.body.add(kind, *self.data.draw(st.permutations([inner, self.known()])))

    def bits(self, depth):
        if not depth:
            return self.state
        inner = self.same(self.bits(depth - 1))
        prefix = "" if self.dtype == "bool" else "bit_"
        match self.pick("and", "or", "xor", "not", "self"):
            case "not":
                return self.body.add(f"{prefix}not", inner)
            case "self":
                return self.body.add(prefix + self.pick("and", "or", "xor"), inner, self.bits(depth - 1))
            case operation:
                return self.body.add(prefix + operation, *self.data.draw(st.permutations([inner, self.known()])))

    def analysed(self, after) -> Analysis:
        self.body.update(after)
        return analyse(self.body.scan())


def values(data, dtype, shape):
    generator = np.random.default_rng(data.draw(st.integers(0, 2**20)))
    if dtype == "bool":
        return generator.integers(0, 2, shape).astype(np.bool_)
    # Small whole numbers: sums and products of floats are exact, so nothing depends on the grouping.
    return generator.integers(0 if dtype.startswith("u") else -3, 4, shape).astype(dtype)


def inputs(data, dtype):
    found = {name: values(data, dtype, (STEPS, LANES)) for name in "xyz"}
    return {
        "s_initial": values(data, dtype, (LANES,)),
        "flag": values(data, "bool", (STEPS, LANES)),
        **found,
    }


def coefficients(analysis, knot, given, step):
    """(live, factor, offset) of a step; None where there is none."""
    taken = {element.node: given[element.port.name][step] for element in analysis.scan.elements}
    taken["s"] = given["s_initial"]
    known = evaluate((*analysis.scan.nodes, *analysis.grown), taken)
    (row,) = knot.rows
    term = row.terms.get(0)
    shape = (LANES,)
    live = np.zeros(shape, bool) if term is None else np.ones(shape, bool)
    if term is not None and term.live is not None:
        live = np.broadcast_to(known[term.live], shape)
    factor = None if term is None or term.factor is None else np.broadcast_to(known[term.factor], shape)
    offset = None if row.offset is None else np.broadcast_to(known[row.offset], shape)
    return live, factor, offset


PLUS = {"linear": np.add, "max": np.maximum, "min": np.minimum, "bits": np.bitwise_xor}
TIMES = {"linear": np.multiply, "max": np.add, "min": np.add, "bits": np.bitwise_and}


def apply(algebra, step, state):
    """What a step, or a run of steps, makes of a state."""
    live, factor, offset = step
    moved = state if factor is None else TIMES[algebra](factor, state)
    if offset is None:
        assert live.all()
        return moved
    return np.where(live, PLUS[algebra](moved, offset), offset)


def compose(algebra, left, right):
    """The run of steps ``left`` and then ``right`` as one step."""
    live = left[0] & right[0]
    factors = [item[1] for item in (left, right) if item[1] is not None]
    factor = functools.reduce(TIMES[algebra], factors) if factors else None
    offset = right[2] if left[2] is None else apply(algebra, right, left[2])
    return live, factor, offset


def grouped(data, algebra, steps):
    """The steps composed in a random grouping."""
    if len(steps) == 1:
        return steps[0]
    cut = data.draw(st.integers(1, len(steps) - 1))
    return compose(algebra, grouped(data, algebra, steps[:cut]), grouped(data, algebra, steps[cut:]))


def check(data, dtype, after, writer, algebras):
    analysis = writer.analysed(after)
    (knot,) = analysis.knots
    assert isinstance(knot, Recurrence), knot
    assert knot.kind == "last" or knot.algebra in algebras
    given_inputs = inputs(data, dtype)
    steps = [coefficients(analysis, knot, given_inputs, step) for step in range(STEPS)]
    state = given_inputs["s_initial"]
    with np.errstate(over="ignore"):
        serial = functools.reduce(lambda value, step: apply(knot.algebra, step, value), steps, state)
        whole = apply(knot.algebra, grouped(data, knot.algebra, steps), state)
    want = run_scan(analysis.scan, given_inputs)["s_final"]
    np.testing.assert_array_equal(serial, want)
    if dtype.startswith("float") and not np.all(np.abs(want) < 2**20):
        return  # products beyond 2^24 are rounded, each grouping in its own way
    np.testing.assert_allclose(whole, want, rtol=1e-4)


@settings(max_examples=60, deadline=None)
@given(st.data())
@pytest.mark.parametrize("dtype", ["float32", "int32", "uint8"])
def test_linear_rewrites_are_recognised_and_compose(dtype, data):
    writer = Writer(data, dtype)
    check(data, dtype, writer.linear(data.draw(st.integers(1, 4))), writer, {"linear"})


@settings(max_examples=60, deadline=None)
@given(st.data())
@pytest.mark.parametrize("dtype", ["float32", "int32", "uint32"])
@pytest.mark.parametrize("kind", ["max", "min"])
def test_extremes_are_recognised_and_compose(dtype, kind, data):
    writer = Writer(data, dtype)
    after = writer.extreme(data.draw(st.integers(1, 4)), kind)
    check(data, dtype, after, writer, {"linear", kind})


@settings(max_examples=60, deadline=None)
@given(st.data())
@pytest.mark.parametrize("dtype", ["bool", "int32", "uint8"])
def test_logic_of_one_state_is_recognised_and_composes(dtype, data):
    writer = Writer(data, dtype)
    check(data, dtype, writer.bits(data.draw(st.integers(1, 4))), writer, {"bits", "linear"})


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_what_leaves_the_algebra_at_any_place_is_refused(data):
    writer = Writer(data, "float32")
    inner = writer.linear(data.draw(st.integers(0, 2)))
    spoiled = writer.body.add(writer.pick("tanh", "abs", "floor", "exp", "sin"), inner)
    outer = writer.body.add("add", writer.same(spoiled), writer.known())
    analysis = writer.analysed(outer)
    (knot,) = analysis.knots
    depends = analysis.feeds[0]
    assert isinstance(knot, Recurrence) == (not depends)
