"""Bodies that mix lanes: each kind of operation once, and a few things that people write."""

from collections.abc import Callable

import numpy as np

from scanbuild.lowering.graph import Scan
from scanbuild.lowering.sizes import Size
from tests.lowering.build import Body, shape_of


def simple_rnn() -> Scan:
    body = Body()
    h, x = body.state("h", ["batch", 8]), body.element("x", ["batch", 3])
    w, u, bias = body.capture("w", [3, 8]), body.capture("u", [8, 8]), body.capture("bias", [8])
    drive = body.add("contract", x, w, shape=["batch", 8], left="bi", right="ij", out="bj", name="drive")
    echo = body.add("contract", h, u, shape=["batch", 8], left="bi", right="ij", out="bj", name="echo")
    new = body.add("tanh", body.add("add", body.add("add", drive, echo), bias), name="h_new")
    body.update(new)
    body.output("hs", new, axis=1)
    return body.scan()


def gru(hidden: int | str = 6, inputs: int | str = 5) -> Scan:
    """With the weights transposed, as PyTorch stores them, and the reset before the product."""
    body = Body()
    h, x = body.state("h", ["batch", hidden]), body.element("x", ["batch", inputs])
    one = body.constant(1.0)
    gates = []
    for name in ("z", "r"):
        w, u = body.capture(f"w_{name}", [hidden, inputs]), body.capture(f"u_{name}", [hidden, hidden])
        drive = body.add("contract", x, w, shape=["batch", hidden], left="bi", right="ji", out="bj")
        echo = body.add("contract", h, u, shape=["batch", hidden], left="bi", right="ji", out="bj")
        gates.append(body.add("sigmoid", body.add("add", drive, echo), name=name))
    z, r = gates
    w, u = body.capture("w_n", [hidden, inputs]), body.capture("u_n", [hidden, hidden])
    drive = body.add("contract", x, w, shape=["batch", hidden], left="bi", right="ji", out="bj")
    kept = body.add("mul", r, h, name="kept")
    echo = body.add("contract", kept, u, shape=["batch", hidden], left="bi", right="ji", out="bj")
    new = body.add("tanh", body.add("add", drive, echo), name="candidate")
    mixed = body.add("mul", body.add("sub", one, z), new)
    after = body.add("add", mixed, body.add("mul", z, h), name="h_new")
    body.update(after)
    body.output("hs", after)
    return body.scan()


def softmax_attention() -> Scan:
    body = Body()
    s, x = body.state("s", ["n"]), body.element("x", ["n"])
    y = body.add("add", s, x, name="y")
    top = body.add("reduce", y, shape=[1], kind="max", axes=(0,), name="top")
    e = body.add("exp", body.add("sub", y, top), name="e")
    total = body.add("reduce", e, shape=[1], kind="add", axes=(0,), name="total")
    share = body.add("div", e, total, name="share")
    body.update(body.add("mul", share, y))
    body.output("shares", share, prepend=True)
    body.output("squares", body.add("mul", x, x), axis=1)
    return body.scan()


def viterbi() -> Scan:
    body = Body()
    score, emission = body.state("score", ["k"]), body.element("emission", ["k"])
    moves = body.capture("moves", ["k", "k"])
    column = body.add("reshape", score, shape=["k", 1])
    paths = body.add("add", column, moves, name="paths")
    best = body.add("reduce", paths, shape=[1, "k"], kind="max", axes=(0,), name="best")
    origin = body.add("arg", paths, dtype="int64", shape=[1, "k"], kind="max", axis=0, last=0, name="origin")
    body.update(body.add("add", body.add("reshape", best, shape=["k"]), emission))
    body.output("origins", body.add("reshape", origin, shape=["k"]))
    return body.scan()


def shift_register() -> Scan:
    """A window over the last values: drop the first, append the new one."""
    body = Body()
    window, x = body.state("window", [4, "n"]), body.element("x", ["n"], reverse=True)
    starts, steps = shape_of([1, 0]), (1, 1)
    rest = body.add("slice", window, shape=[3, "n"], starts=starts, steps=steps)
    new = body.add("concat", rest, body.add("reshape", x, shape=[1, "n"]), shape=[4, "n"], axis=0, name="moved")
    body.update(new)
    mean = body.add("reduce", new, shape=[1, "n"], kind="add", axes=(0,))
    body.output("sums", body.add("reshape", mean, shape=["n"]))
    return body.scan()


def movements() -> Scan:
    """Transpositions, a reversal, padding of every mode, gathers, reshapes that need divisions."""
    body = Body()
    s, x = body.state("s", [4, 6], "int32"), body.element("x", [4, 6], "int32")
    places = body.capture("places", [6], "int64")
    y = body.add("add", s, x, name="y")
    turned = body.add("transpose", y, shape=[6, 4], perm=(1, 0))
    folded = body.add("reshape", turned, shape=[4, 6], name="folded")
    flipped = body.add("slice", folded, shape=[4, 6], starts=shape_of([3, 5]), steps=(-1, -1))
    picked = body.add("gather", flipped, places, dtype="int32", shape=[4, 6], axis=1)
    body.update(body.add("sub", picked, x))
    zero = body.constant(7, "int32")
    before, after = shape_of([1, -1]), shape_of([0, 2])
    body.output(
        "padded", body.add("pad", y, zero, shape=[5, 7], before=before, after=after, mode="constant", dtype="int32")
    )
    above, below = shape_of([2, 1]), shape_of([1, 3])
    for mode in ("edge", "reflect", "wrap"):
        body.output(f"{mode}_out", body.add("pad", y, shape=[7, 10], mode=mode, before=above, after=below), axis=2)
    return body.scan()


def running_totals() -> Scan:
    body = Body()
    s, x = body.state("s", [5, 3]), body.element("x", [5, 3])
    y = body.add("add", s, x, name="y")
    body.update(body.add("cumulate", y, axis=0, exclusive=0, reverse=0))
    body.output("a", body.add("cumulate", y, axis=0, exclusive=1, reverse=0))
    body.output("b", body.add("cumulate", y, axis=1, exclusive=0, reverse=1))
    body.output("c", body.add("cumulate", y, axis=1, exclusive=1, reverse=1))
    return body.scan()


def several_dtypes() -> Scan:
    body = Body()
    flags, count = body.state("flags", ["n"], "bool"), body.state("count", [], "int64")
    half = body.state("half", ["n"], "float16")
    x = body.element("x", ["n"], "float16")
    table = body.constant([[1.5, -2.0], [np.inf, 0.25], [3.0, -0.0]])
    position = body.element("position", [], "uint8")
    row = body.add("gather", table, position, dtype="float32", shape=[2], axis=0, name="row")
    seen = body.add("gt", x, half, name="seen")
    whole = body.add("cast", seen, dtype="int64")
    found = body.add("reduce", whole, shape=[1], kind="add", axes=(0,))
    fresh = body.add("max", half, x)
    both = body.add("add", count, body.add("reshape", found, shape=[]))
    body.update(body.add("or", flags, seen), both, body.add("reduce", fresh, shape=["n"], kind="add", axes=()))
    body.output("rows", row)
    body.output("counts", both)
    body.output("every", body.add("reduce", seen, shape=[1], kind="min", axes=(0,)))
    return body.scan()


def invariant_weights() -> Scan:
    """A product of weights that is the same in every step."""
    body = Body()
    h = body.state("h", ["n"])
    body.element("x", [])
    a, b = body.capture("a", ["n", "n"]), body.capture("b", ["n", "n"])
    both = body.add("contract", a, b, shape=["n", "n"], left="ij", right="jk", out="ik", name="both")
    scaled = body.add("mul", both, body.constant(0.1))
    body.update(body.add("contract", h, scaled, shape=["n"], left="i", right="ik", out="k", name="moved"))
    body.output("hs", h)
    return body.scan()


def swapped() -> Scan:
    """States that only change places, beside one that mixes its lanes."""
    body = Body()
    a, b, c = body.state("a", [3]), body.state("b", [3]), body.state("c", [3])
    body.element("x", [])
    total = body.add("reduce", a, shape=[1], kind="add", axes=(0,))
    body.update(b, a, body.add("add", c, total))
    body.output("first", a)
    return body.scan()


def gathered_elements() -> Scan:
    body = Body()
    s, indices = body.state("s", [4, 3]), body.element("indices", [2, 3], "int32")
    picked = body.add("gather_elements", s, indices, dtype="float32", shape=[2, 3], axis=0)
    twice = body.add("concat", picked, picked, shape=[4, 3], axis=0)
    body.update(twice)
    body.output("picks", picked, axis=1, prepend=True)
    return body.scan()


def turned_ten_times() -> Scan:
    """A ring that is turned step by step: joins of joins, which would double the text each time."""
    body = Body()
    s, x = body.state("s", [5]), body.element("x", [5])
    ring = body.add("add", s, x)
    for _ in range(10):
        first = body.add("slice", ring, shape=[1], starts=shape_of([0]), steps=(1,))
        rest = body.add("slice", ring, shape=[4], starts=shape_of([1]), steps=(1,))
        ring = body.add("mul", body.add("concat", rest, first, shape=[5], axis=0), body.constant(0.5))
    body.update(ring)
    body.output("rings", ring)
    return body.scan()


BODIES: dict[str, Callable[[], Scan]] = {
    make.__name__: make
    for make in (
        simple_rnn,
        gru,
        softmax_attention,
        viterbi,
        shift_register,
        movements,
        running_totals,
        several_dtypes,
        invariant_weights,
        swapped,
        gathered_elements,
        turned_ten_times,
    )
}
SIZES = {"batch": 3, "n": 5, "k": 4}
LIMITS = {"places": (-6, 6), "indices": (-4, 4), "position": (0, 3)}
ZERO = Size()
