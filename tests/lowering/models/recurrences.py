"""Sums, averages, filters and counters: bodies that stay within a lane."""

from typing import Any

import numpy as np

from tests.lowering.building import scan

_D: dict[str, Any] = {"sizes": [{"t": 7, "d": 3}, {"t": 0, "d": 3}, {"t": 1, "d": 1}]}
_F: dict[str, Any] = {"states": "float[d] s", "elements": "float[d] x", "after": "y", "outputs": "float[d] z"}
_OUT = " z = Identity(y)"

RECURRENCES = [
    scan("cumulative_sum", "y = Add(s, x)" + _OUT, **_F, **_D),
    scan("sum_the_other_way_round", "y = Add(x, s)" + _OUT, **_F, **_D),
    scan("sum_by_the_operator_sum", "y = Sum(s, x)" + _OUT, **_F, **_D),
    scan("sum_by_subtracting_the_negative", "n = Neg(x) y = Sub(s, n)" + _OUT, **_F, **_D),
    scan("sum_behind_identities", "a = Identity(s) b = Add(a, x) y = Identity(b)" + _OUT, **_F, **_D),
    scan("cumulative_product", "y = Mul(s, x)" + _OUT, **_F, **_D, ranges={"x": (0.5, 1.5)}),
    scan("cumulative_max", "y = Max(s, x)" + _OUT, **_F, **_D),
    scan("cumulative_min_of_squares", "q = Mul(x, x) y = Min(s, q)" + _OUT, **_F, **_D),
    scan("cumulative_max_with_nan", "y = Max(s, x)" + _OUT, **_F, sizes={"t": 9, "d": 4}, awkward=True),
    scan("sum_with_infinities", "y = Add(s, x)" + _OUT, **_F, sizes={"t": 9, "d": 4}, awkward=True),
    scan(
        "masked_sum",
        "zero = Constant <value = float {0}> () m = Where(keep, x, zero) y = Add(s, m)" + _OUT,
        states="float[d] s",
        elements="float[d] x; bool[d] keep",
        after="y",
        outputs="float[d] z",
        **_D,
    ),
    scan(
        "sum_of_clipped",
        "low = Constant <value = float {-1}> () high = Constant <value = float {1}> () "
        "c = Clip(x, low, high) y = Add(s, c)" + _OUT,
        **_F,
        **_D,
    ),
    scan(
        "exponential_average",
        "keep = Constant <value = float {0.9}> () take = Constant <value = float {0.1}> () "
        "a = Mul(keep, s) b = Mul(take, x) y = Add(a, b)" + _OUT,
        **_F,
        **_D,
    ),
    scan(
        "exponential_average_with_a_given_rate",
        "one = Constant <value = float {1}> () rest = Sub(one, alpha) a = Mul(alpha, s) b = Mul(rest, x) y = Add(a, b)"
        + _OUT,
        **_F,
        captures="float alpha",
        ranges={"alpha": (0.1, 0.9)},
        **_D,
    ),
    scan(
        "lerp_towards_the_input",
        "rate = Constant <value = float {0.25}> () d = Sub(x, s) r = Mul(rate, d) y = Add(s, r)" + _OUT,
        **_F,
        **_D,
    ),
    scan(
        "gated_recurrence",
        "m = Mul(a, s) y = Add(m, b)" + _OUT,
        states="float[d] s",
        elements="float[d] a; float[d] b",
        after="y",
        outputs="float[d] z",
        ranges={"a": (-1, 1)},
        **_D,
    ),
    scan(
        "gated_recurrence_with_a_sigmoid",
        "one = Constant <value = float {1}> () g = Sigmoid(a) h = Sub(one, g) k = Mul(g, s) i = Mul(h, b) y = Add(k, i)"
        + _OUT,
        states="float[d] s",
        elements="float[d] a; float[d] b",
        after="y",
        outputs="float[d] z",
        **_D,
    ),
    scan(
        "max_plus_recurrence",
        "m = Add(a, s) y = Max(m, b)" + _OUT,
        states="float[d] s",
        elements="float[d] a; float[d] b",
        after="y",
        outputs="float[d] z",
        **_D,
    ),
    scan(
        "running_mean_and_variance",
        "one = Constant <value = float {1}> () n2 = Add(n, one) d = Sub(x, mean) q = Div(d, n2) mean2 = Add(mean, q) "
        "e = Sub(x, mean2) p = Mul(d, e) m2b = Add(m2, p) variance = Div(m2b, n2)",
        states="float n; float[d] mean; float[d] m2",
        elements="float[d] x",
        after="n2 mean2 m2b",
        outputs="float[d] variance",
        values={"n": 0},
        **_D,
    ),
    scan(
        "leaky_integrator",
        "leak = Constant <value = float {0.95}> () k = Mul(leak, s) y = Add(k, x) z = Tanh(y)",
        **_F,
        **_D,
    ),
    scan(
        "fibonacci",
        "n = Add(p, q) p2 = Identity(q) u = Mul(x, x) z = Identity(n)",
        states="int32 p; int32 q",
        elements="int32 x",
        after="p2 n",
        outputs="int32 z; int32 u",
        values={"p": 0, "q": 1},
        sizes=[{"t": 40}, {"t": 0}],
    ),
    scan(
        "counter_with_reset",
        "one = Constant <value = int32 {1}> () zero = Constant <value = int32 {0}> () more = Add(s, one) "
        "y = Where(reset, zero, more)" + _OUT,
        states="int32[d] s",
        elements="bool[d] reset",
        after="y",
        outputs="int32[d] z",
        **_D,
    ),
    scan(
        "state_kept_where_masked",
        "n = Add(s, x) y = Where(keep, n, s)" + _OUT,
        states="float[d] s",
        elements="float[d] x; bool keep",
        after="y",
        outputs="float[d] z",
        **_D,
    ),
    scan(
        "filter_of_order_1",
        "b0 = Constant <value = float {0.3}> () a1 = Constant <value = float {0.7}> () f = Mul(b0, x) g = Mul(a1, s) "
        "y = Add(f, g)" + _OUT,
        **_F,
        **_D,
    ),
    scan(
        "filter_of_order_2",
        "b0 = Constant <value = float {0.2}> () b1 = Constant <value = float {0.4}> () "
        "a1 = Constant <value = float {-0.5}> () a2 = Constant <value = float {0.3}> () "
        "p = Mul(b0, x) y = Add(p, v1) q = Mul(b1, x) r = Mul(a1, y) u = Sub(q, r) w1 = Add(u, v2) "
        "h = Mul(b0, x) i = Mul(a2, y) w2 = Sub(h, i)" + _OUT,
        states="float[d] v1; float[d] v2",
        elements="float[d] x",
        after="w1 w2",
        outputs="float[d] z",
        **_D,
    ),
    scan(
        "filter_of_order_3_as_a_delay_line",
        "a = Mul(c1, d1) b = Mul(c2, d2) c = Mul(c3, d3) e = Sum(x, a, b, c) f1 = Identity(e) f2 = Identity(d1) "
        "f3 = Identity(d2) z = Identity(e)",
        states="float[d] d1; float[d] d2; float[d] d3",
        elements="float[d] x",
        after="f1 f2 f3",
        outputs="float[d] z",
        weights={"c1": np.float32(0.4), "c2": np.float32(-0.3), "c3": np.float32(0.1)},
        **_D,
    ),
    scan(
        "filter_of_order_4_in_cascade",
        "k = Constant <value = float {0.5}> () a = Sub(x, s1) b = Mul(k, a) t1 = Add(s1, b) c = Sub(t1, s2) "
        "e = Mul(k, c) t2 = Add(s2, e) f = Sub(t2, s3) g = Mul(k, f) t3 = Add(s3, g) h = Sub(t3, s4) i = Mul(k, h) "
        "t4 = Add(s4, i) z = Identity(t4)",
        states="float[d] s1; float[d] s2; float[d] s3; float[d] s4",
        elements="float[d] x",
        after="t1 t2 t3 t4",
        outputs="float[d] z",
        **_D,
    ),
    scan(
        "kalman_filter_of_one_dimension",
        "q = Constant <value = float {0.01}> () r = Constant <value = float {0.5}> () "
        "one = Constant <value = float {1}> () p1 = Add(p, q) n = Add(p1, r) k = Div(p1, n) e = Sub(x, m) "
        "c = Mul(k, e) m2 = Add(m, c) l = Sub(one, k) p2 = Mul(l, p1) z = Identity(m2)",
        states="float[d] m; float[d] p",
        elements="float[d] x",
        after="m2 p2",
        outputs="float[d] z",
        ranges={"p": (0.5, 1.5)},
        **_D,
    ),
    scan(
        "complex_pair_of_states",
        "a = Mul(cr, re) b = Mul(ci, im) c = Sub(a, b) re2 = Add(c, x) d = Mul(cr, im) e = Mul(ci, re) "
        "im2 = Add(d, e) z = Identity(re2)",
        states="float[d] re; float[d] im",
        elements="float[d] x",
        after="re2 im2",
        outputs="float[d] z",
        weights={"cr": np.float32(0.6), "ci": np.float32(0.7)},
        **_D,
    ),
    scan(
        "diagonal_state_space_model",
        "m = Mul(lam, s) u = Mul(gain, x) y = Add(m, u) w = Mul(look, y) z = Relu(w)",
        **_F,
        captures="float[d] lam; float[d] gain; float[d] look",
        ranges={"lam": (-0.9, 0.9)},
        **_D,
    ),
    scan(
        "selective_state_space_model",
        "a = Mul(delta, rate) b = Exp(a) c = Mul(b, s) e = Mul(delta, x) y = Add(c, e) z = Mul(y, gain)",
        states="float[d, n] s",
        elements="float[d, 1] delta; float[d, n] x; float[1, n] gain",
        after="y",
        outputs="float[d, n] z",
        captures="float[d, n] rate",
        ranges={"delta": (0.01, 0.5), "rate": (-1.0, -0.1)},
        sizes={"t": 6, "d": 3, "n": 4},
    ),
    scan(
        "sum_that_restarts",
        "zero = Constant <value = float {0}> () k = Where(start, zero, s) y = Add(k, x)" + _OUT,
        states="float[d] s",
        elements="float[d] x; bool[d] start",
        after="y",
        outputs="float[d] z",
        **_D,
    ),
    scan(
        "integer_sum_that_wraps",
        "y = Add(s, x)" + _OUT,
        states="int32[d] s",
        elements="int32[d] x",
        after="y",
        outputs="int32[d] z",
        ranges={"s": (2**31 - 9, 2**31 - 1), "x": (2**30, 2**31 - 1)},
        **_D,
    ),
    scan(
        "unsigned_xor_and_shifts",
        'one = Constant <value = uint32 {1}> () d = BitShift <direction = "LEFT"> (s, one) y = BitwiseXor(d, x)' + _OUT,
        states="uint32[d] s",
        elements="uint32[d] x",
        after="y",
        outputs="uint32[d] z",
        ranges={"s": (0, 2**32 - 1), "x": (0, 2**32 - 1)},
        **_D,
    ),
    scan(
        "parity_of_bools",
        "y = Xor(s, x)" + _OUT,
        states="bool[d] s",
        elements="bool[d] x",
        after="y",
        outputs="bool[d] z",
        **_D,
    ),
    scan(
        "any_so_far",
        "y = Or(s, x)" + _OUT,
        states="bool[d] s",
        elements="bool[d] x",
        after="y",
        outputs="bool[d] z",
        **_D,
    ),
    scan(
        "logistic_map",
        "r = Constant <value = float {3.2}> () one = Constant <value = float {1}> () a = Sub(one, s) b = Mul(s, a) "
        "c = Mul(r, b) y = Add(c, x)" + _OUT,
        **_F,
        ranges={"s": (0.2, 0.8), "x": (0, 0.01)},
        tolerance=2e-5,
        **_D,
    ),
]
