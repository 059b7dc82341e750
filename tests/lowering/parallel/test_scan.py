"""The parallel scan as kernels, against NumPy: every kind of recurrence, shapes, directions, layers, stalled tiles."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from scanbuild.lowering import parallel
from scanbuild.lowering.draft import Refusal, Variant
from scanbuild.lowering.graph import Scan
from scanbuild.lowering.interpreter import run_scan
from tests.lowering.back.running import inputs_for, run, without_halves
from tests.lowering.build import Body

FLOATS = {"float32": 2e-5, "float16": 4e-3}


def drafted(scan: Scan, *, whole: bool = False, **tunables: int) -> Variant:
    """The variant, for calls of any size, with other tunables.

    Unless it is wanted ``whole``, invocations hold few steps: software adapters compile that in a fraction of the time.
    """
    draft = parallel.draft(scan)
    assert isinstance(draft, Variant), draft
    entry: dict[str, Any] = {**draft.entry, "when": [f"{scan.steps} >= 1"]}
    if not whole:
        short = {"tileSteps": 2, "tileRun": "1 if scanLanes < 64 else 2"}
        passes = range(1, len(draft.entry["passes"]) + 1)
        entry["derive"] = entry["derive"] | {f"{key}{number}": short[key] for key in short for number in passes}
    entry["tunables"] = {
        name: {**tunable, "default": tunables.get(name, tunable["default"])}
        for name, tunable in entry["tunables"].items()
    }
    return replace(draft, entry=entry)


def check(scan, engine, inputs, record=None, tolerance=1.0, **options):
    """The variant gives what the interpreter does: integers exactly, floats within some roundings of the largest."""
    got = run(scan, drafted(scan, **options), engine, inputs, record)
    for name, want in run_scan(scan, inputs).items():
        if want.dtype.name not in FLOATS:
            np.testing.assert_array_equal(got[name], want, err_msg=name)
            continue
        finite = np.isfinite(want)
        size = float(np.max(np.abs(want), where=finite, initial=1.0))
        error = FLOATS[want.dtype.name] * size * tolerance
        np.testing.assert_allclose(got[name], want, rtol=0, atol=error, err_msg=name)


def body_of(update, dtype="float32", sizes=("n",), states=1, **element):
    """A body with states s0, s1, ..., elements x and a, and the last value that ``update`` gives as its output."""
    body = Body()
    before = [body.state(f"s{index}", sizes, dtype) for index in range(states)]
    x, a = (body.element(name, sizes, dtype, **element) for name in "xa")
    after = update(body, *before, x, a)
    values = [after] if isinstance(after, str) else list(after)
    body.update(*values[:states])
    body.output("ys", values[-1])
    return body.scan()


def side_by_side(updates, dtype="float32"):
    """A body with a state, and an output, for each of several updates, so that one kernel tries them all."""
    body = Body()
    states = [body.state(f"s{index}", ["n"], dtype) for index in range(len(updates))]
    x, a = body.element("x", ["n"], dtype), body.element("a", ["n"], dtype)
    found = [update(body, state, x, a) for update, state in zip(updates, states, strict=True)]
    values = [[item] if isinstance(item, str) else list(item) for item in found]
    body.update(*(item[0] for item in values))
    for index, item in enumerate(values):
        body.output(f"ys{index}", item[-1])
    return body.scan()


def total(b, s, x, a):
    return b.add("add", s, x)


def gated(b, s, x, a):
    return b.add("add", b.add("mul", s, b.add("sigmoid", a)), x)


def restarting(b, s, x, a):
    return b.add("where", b.add("gt", x, a), x, b.add("add", b.add("mul", s, a), x))


FLOATING = {
    "sum": total,
    "gated": gated,
    "restarting": restarting,
    "restarting sum": lambda b, s, x, a: b.add("where", b.add("gt", x, a), x, b.add("add", s, x)),
    "restarting maximum": lambda b, s, x, a: b.add("where", b.add("gt", x, a), a, b.add("max", s, x)),
    "held": lambda b, s, x, a: b.add("where", b.add("gt", x, a), s, b.add("add", b.add("mul", s, b.constant(0.5)), x)),
    "maximum": lambda b, s, x, a: b.add("max", s, x),
    "minimum of sums": lambda b, s, x, a: b.add("min", b.add("add", s, a), x),
    "last": lambda b, s, x, a: (x, b.add("sub", x, s)),
}
WHOLE = {
    "sum": total,
    "recurrence": lambda b, s, x, a: b.add("sub", b.add("mul", s, a), x),
    "product": lambda b, s, x, a: b.add("mul", s, b.add("bit_or", x, b.constant(1, b.nodes[s].dtype))),
    "maximum": lambda b, s, x, a: b.add("max", s, x),
    "bits": lambda b, s, x, a: b.add("bit_or", b.add("bit_and", s, a), x),
    "parity": lambda b, s, x, a: b.add("bit_xor", s, x),
    "last": lambda b, s, x, a: (x, b.add("bit_xor", x, s)),
}
LOGIC = {
    "or": lambda b, s, x, a: b.add("or", s, b.add("and", x, a)),
    "and": lambda b, s, x, a: b.add("and", s, b.add("or", x, a)),
    "parity": lambda b, s, x, a: b.add("xor", s, x),
    "choice": lambda b, s, x, a: b.add("where", s, x, a),
}


@pytest.mark.parametrize("update", FLOATING.values(), ids=FLOATING)
def test_recurrences_of_floats(engine, update):
    scan = body_of(update)
    check(scan, engine, inputs_for(scan, n=3, steps=200))


def test_independent_states_are_scanned_together(engine):
    scan = side_by_side([total, FLOATING["maximum"]])
    assert len(drafted(scan).entry["passes"]) == 1
    check(scan, engine, inputs_for(scan, n=70, steps=90))


@pytest.mark.parametrize(("lanes", "steps"), [(1, 1), (1, 5000), (63, 129), (64, 300), (130, 70)])
def test_any_number_of_lanes_and_steps(engine, lanes, steps):
    scan = body_of(gated)
    check(scan, engine, inputs_for(scan, n=lanes, steps=steps), whole=True)


@pytest.mark.parametrize("update", WHOLE.values(), ids=WHOLE)
def test_recurrences_of_integers_are_exact(engine, update):
    scan = body_of(update, "int32")
    check(scan, engine, inputs_for(scan, low=-9, high=10, n=2, steps=90))


@pytest.mark.parametrize("dtype", ["int8", "int64", "uint8", "uint32"])
def test_integers_of_any_width_wrap_as_in_numpy(engine, dtype):
    scan = body_of(WHOLE["recurrence"], dtype)
    check(scan, engine, inputs_for(scan, low=-9, high=10, n=2, steps=90))


@pytest.mark.parametrize("update", LOGIC.values(), ids=LOGIC)
def test_logic(every_engine, update):
    scan = body_of(update, "bool")
    check(scan, every_engine, inputs_for(scan, n=3, steps=150))


@pytest.mark.parametrize("halves", [False, True], ids=["f16", "packed"])
def test_halves_are_carried_in_single_precision(engine, halves):
    scan = body_of(gated, "float16")
    record = without_halves(engine.record) if halves else engine.record
    check(scan, engine, inputs_for(scan, n=3, steps=150), record)


@pytest.mark.parametrize(("axis", "reverse"), [(0, True), (1, False), (2, True)])
def test_axes_and_directions_are_arithmetic(engine, axis, reverse):
    body = Body()
    s, x = body.state("s", ["n", 3], "int32"), body.element("x", ["n", 3], "int32", axis=axis, reverse=reverse)
    after = body.add("add", s, x)
    body.update(after)
    body.output("ys", after, axis=2 - axis, prepend=not reverse)
    scan = body.scan()
    check(scan, engine, inputs_for(scan, n=5, steps=80))


def test_a_scalar_is_one_lane(engine):
    scan = body_of(gated, sizes=())
    check(scan, engine, inputs_for(scan, steps=700))


@pytest.mark.parametrize("tunables", [{"scanPatience": 2, "scanWithhold": 3}], ids=["stalls"])
@pytest.mark.parametrize("lanes", [2, 70])
def test_tiles_that_never_come_are_made_anew(engine, lanes, tunables):
    scan = body_of(WHOLE["recurrence"], "int32")
    check(scan, engine, inputs_for(scan, n=lanes, steps=3000), **tunables)


def test_states_that_build_on_others_are_scanned_after_them(engine):
    """Welford: the mean needs the count, the sum of squares the mean before and after the step."""
    body = Body()
    count, mean, squares = body.state("count", []), body.state("mean", ["n"]), body.state("squares", ["n"])
    x = body.element("x", ["n"])
    more = body.add("add", count, body.constant(1.0))
    off = body.add("sub", x, mean)
    closer = body.add("add", mean, body.add("div", off, more))
    wider = body.add("add", squares, body.add("mul", off, body.add("sub", x, closer)))
    body.update(more, closer, wider)
    body.output("variance", body.add("div", wider, more))
    scan = body.scan()
    draft = drafted(scan)
    assert len(draft.entry["passes"]) == 3
    inputs = inputs_for(scan, n=3, steps=400) | {"count_initial": np.float32(0), "squares_initial": np.zeros(3, "f4")}
    check(scan, engine, inputs, tolerance=10)


@pytest.mark.parametrize("dtype", ["bool", "int64"])
def test_earlier_states_of_any_dtype_are_read_again(engine, dtype):
    body = Body()
    first, second = body.state("first", ["n"], dtype), body.state("second", ["n"])
    x, y = body.element("x", ["n"], dtype), body.element("y", ["n"])
    new = body.add("xor" if dtype == "bool" else "max", first, x)
    before, after = (body.add("cast", item, dtype="float32") for item in (first, new))
    body.update(new, body.add("add", second, body.add("mul", y, body.add("sub", after, before))))
    body.output("ys", second)
    scan = body.scan()
    check(scan, engine, inputs_for(scan, n=3, steps=150), tolerance=10)


@pytest.mark.long
def test_a_circle_of_states_is_a_matrix(engine):
    """Fibonacci, with something added."""
    scan = body_of(lambda b, s, t, x, a: (t, b.add("add", b.add("add", s, t), x)), "int32", states=2)
    check(scan, engine, inputs_for(scan, n=3, steps=130))


def test_a_damped_rotation(engine):
    def turned(b, s, t, x, a):
        real = b.add("sub", b.add("mul", s, b.constant(0.6)), b.add("mul", t, b.constant(0.75)))
        return b.add("add", real, x), b.add("add", b.add("mul", s, b.constant(0.75)), b.add("mul", t, b.constant(0.6)))

    scan = body_of(turned, states=2)
    check(scan, engine, inputs_for(scan, n=3, steps=300), tolerance=10)


@pytest.mark.long
def test_a_circle_of_maxima(engine):
    def crossed(b, s, t, x, a):
        return b.add("max", b.add("add", t, x), a), b.add("max", b.add("sub", s, x), b.add("add", t, a))

    scan = body_of(crossed, states=2)
    check(scan, engine, inputs_for(scan, n=2, steps=200), tolerance=10)


def test_factors_whose_products_leave_the_range_do_not_make_nan_of_a_zero(engine):
    scan = body_of(lambda b, s, x, a: b.add("add", b.add("mul", s, b.add("add", a, b.constant(40.0))), x))
    inputs = inputs_for(scan, n=2, steps=300)
    inputs["s0_initial"][:] = 0
    inputs["x"][:290] = 0
    inputs["a"][:] = np.abs(inputs["a"])
    want = run_scan(scan, inputs)["ys"]
    assert np.isfinite(want).all()
    check(scan, engine, inputs)


def test_infinities_and_nan_go_on_as_in_a_walk_until_a_restart(every_engine):
    scan = body_of(restarting)
    inputs = inputs_for(scan, n=4, steps=200)
    inputs["a"][:] = 0.5
    inputs["x"][:] = np.clip(inputs["x"], -0.5, 0.4)
    inputs["x"][20, 0], inputs["x"][30, 1], inputs["x"][40, 2] = -np.inf, np.nan, -np.inf
    inputs["x"][120] = 1.0
    want = run_scan(scan, inputs)["ys"]
    assert np.isinf(want[100, 0]) and np.isnan(want[100, 1]) and np.isfinite(want[120:]).all()
    check(scan, every_engine, inputs)


def test_nan_goes_through_maxima_as_in_a_walk(engine):
    scan = body_of(FLOATING["maximum"])
    inputs = inputs_for(scan, n=2, steps=150)
    inputs["x"][60, 0] = np.nan
    assert np.isnan(run_scan(scan, inputs)["ys"][140, 0])
    check(scan, engine, inputs)


def test_wide_and_narrow_states_share_lanes(engine):
    body = Body()
    wide, narrow = body.state("wide", ["n", 4]), body.state("narrow", ["n", 1])
    x, gate = body.element("x", ["n", 4]), body.element("gate", ["n", 1])
    slower = body.add("mul", narrow, body.add("sigmoid", gate))
    body.update(body.add("add", body.add("mul", wide, body.constant(0.5)), x), slower)
    body.output("gates", slower)
    body.output("both", body.add("add", wide, slower))
    scan = body.scan()
    check(scan, engine, inputs_for(scan, n=3, steps=100))


def test_lanes_that_meet_in_an_output_are_refused_with_the_place():
    body = Body()
    s, x = body.state("s", ["n"]), body.element("x", ["n"])
    after = body.add("add", s, x)
    body.update(after)
    body.output("ys", body.add("reduce", after, shape=[1], kind="add", axes=(0,)))
    draft = parallel.draft(body.scan())
    assert isinstance(draft, Refusal)
    assert "other lanes" in draft.reason


def test_what_cannot_be_regrouped_is_refused_with_state_and_operation():
    draft = parallel.draft(body_of(lambda b, s, x, a: b.add("tanh", b.add("add", s, x), name="squashed")))
    assert isinstance(draft, Refusal)
    assert "s0" in draft.reason
    assert draft.origin.name == "squashed"


def test_elements_of_too_many_words_are_refused():
    def ring(b, *values):
        return [b.add("add", values[index - 1] if index else values[3], values[4]) for index in range(4)]

    draft = parallel.draft(body_of(ring, states=4))
    assert isinstance(draft, Refusal)
    assert f"at most {parallel.MOST_WORDS}" in draft.reason


def test_without_states_there_is_nothing_to_scan():
    body = Body()
    body.output("ys", body.element("x", ["n"]))
    draft = parallel.draft(body.scan())
    assert isinstance(draft, Refusal)
    assert "no states" in draft.reason
