"""Cells of networks and models of sequences: bodies that mix lanes."""

from typing import Any

import numpy as np

from tests.lowering.building import scan

_GENERATOR = np.random.default_rng(7)


def _weights(*shape: int) -> Any:
    return (_GENERATOR.uniform(-1, 1, shape) / np.sqrt(shape[0])).astype(np.float32)


_ROOM: dict[str, Any] = {"tolerance": 1e-5}
_B: dict[str, Any] = {"sizes": [{"t": 4, "b": 2}, {"t": 1, "b": 1}, {"t": 0, "b": 2}]}
_ONE = "one = Constant <value = float {1}> () "

_GRU = (
    _ONE
    + "xw = MatMul(x, w) hu = MatMul(h, u) xz, xr, xn = Split <axis = 1, num_outputs = 3> (xw) "
    + "hz, hr, hn = Split <axis = 1, num_outputs = 3> (hu) az = Add(xz, hz) z = Sigmoid(az) ar = Add(xr, hr) "
    + "r = Sigmoid(ar) rn = Mul(r, hn) an = Add(xn, rn) n = Tanh(an) i = Sub(one, z) new = Mul(i, n) old = Mul(z, h) "
    + "h2 = Add(new, old) y = Identity(h2)"
)
_LSTM = (
    "xw = Gemm(x, w, bias) hu = MatMul(h, u) a = Add(xw, hu) ai, ao, af, ac = Split <axis = 1, num_outputs = 4> (a) "
    "i = Sigmoid(ai) o = Sigmoid(ao) f = Sigmoid(af) g = Tanh(ac) fc = Mul(f, c) ig = Mul(i, g) c2 = Add(fc, ig) "
    "tc = Tanh(c2) "
)

NETWORKS = [
    scan(
        "simple_rnn",
        "a = MatMul(x, w) r = MatMul(h, u) s = Add(a, r) q = Add(s, bias) h2 = Tanh(q) y = Identity(h2)",
        states="float[b, 4] h",
        elements="float[b, 3] x",
        after="h2",
        outputs="float[b, 4] y",
        weights={"w": _weights(3, 4), "u": _weights(4, 4), "bias": _weights(4)},
        **_B,
        **_ROOM,
    ),
    scan(
        "gru",
        _GRU,
        states="float[b, 5] h",
        elements="float[b, 3] x",
        after="h2",
        outputs="float[b, 5] y",
        weights={"w": _weights(3, 15), "u": _weights(5, 15)},
        **_B,
        **_ROOM,
    ),
    scan(
        "gru_with_weights_of_the_caller",
        _GRU,
        states="float[b, 5] h",
        elements="float[b, 3] x",
        after="h2",
        outputs="float[b, 5] y",
        captures="float[3, 15] w; float[5, 15] u",
        **_B,
        **_ROOM,
    ),
    scan(
        "gru_backwards",
        _GRU,
        states="float[b, 5] h",
        elements="float[b, 3] x",
        after="h2",
        outputs="float[b, 5] y",
        in_directions=[1],
        out_directions=[1],
        weights={"w": _weights(3, 15), "u": _weights(5, 15)},
        **_B,
        **_ROOM,
    ),
    scan(
        "both_directions_at_once",
        "f2 = Add(f, x) g = Tanh(f2) r2 = Add(r, v) k = Tanh(r2)",
        states="float[b] f; float[b] r",
        elements="float[b] x; float[b] v",
        after="f2 r2",
        outputs="float[b] g; float[b] k",
        in_directions=[0, 1],
        out_directions=[0, 1],
        **_B,
    ),
    scan(
        "lstm",
        _LSTM + "h2 = Mul(o, tc) y = Identity(h2)",
        states="float[b, 4] h; float[b, 4] c",
        elements="float[b, 3] x",
        after="h2 c2",
        outputs="float[b, 4] y",
        weights={"w": _weights(3, 16), "u": _weights(4, 16), "bias": _weights(16)},
        **_B,
        **_ROOM,
    ),
    scan(
        "lstm_with_projection",
        _LSTM + "m = Mul(o, tc) h2 = MatMul(m, proj) y = Identity(h2)",
        states="float[b, 2] h; float[b, 4] c",
        elements="float[b, 3] x",
        after="h2 c2",
        outputs="float[b, 2] y",
        weights={"w": _weights(3, 16), "u": _weights(2, 16), "bias": _weights(16), "proj": _weights(4, 2)},
        **_B,
        **_ROOM,
    ),
    scan(
        "lstm_with_layer_normalization",
        "xw = MatMul(x, w) hu = MatMul(h, u) a = Add(xw, hu) n = LayerNormalization <axis = -1> (a, scale, bias) "
        "ai, ao, af, ac = Split <axis = 1, num_outputs = 4> (n) i = Sigmoid(ai) o = Sigmoid(ao) f = Sigmoid(af) "
        "g = Tanh(ac) fc = Mul(f, c) ig = Mul(i, g) c2 = Add(fc, ig) tc = Tanh(c2) h2 = Mul(o, tc) y = Identity(h2)",
        states="float[b, 4] h; float[b, 4] c",
        elements="float[b, 3] x",
        after="h2 c2",
        outputs="float[b, 4] y",
        weights={"w": _weights(3, 16), "u": _weights(4, 16), "scale": _weights(16), "bias": _weights(16)},
        **_B,
        **_ROOM,
    ),
    scan(
        "minimal_gated_unit",
        _ONE
        + "a = MatMul(h, u) b1 = Add(a, x) f = Sigmoid(b1) fh = Mul(f, h) c = MatMul(fh, v) d = Add(c, x) n = Tanh(d) "
        + "k = Sub(one, f) old = Mul(k, h) new = Mul(f, n) h2 = Add(old, new) y = Identity(h2)",
        states="float[b, 4] h",
        elements="float[b, 4] x",
        after="h2",
        outputs="float[b, 4] y",
        weights={"u": _weights(4, 4), "v": _weights(4, 4)},
        **_B,
        **_ROOM,
    ),
    scan(
        "linear_state_space_model",
        "a = MatMul(am, s) b1 = MatMul(bm, x) s2 = Add(a, b1) y = MatMul(cm, s2)",
        states="float[n] s",
        elements="float[m] x",
        after="s2",
        outputs="float[o] y",
        captures="float[n, n] am; float[n, m] bm; float[o, n] cm",
        ranges={"am": (-0.4, 0.4)},
        sizes=[{"t": 6, "n": 4, "m": 2, "o": 3}, {"t": 3, "n": 1, "m": 1, "o": 1}],
        **_ROOM,
    ),
    scan(
        "kalman_filter",
        "pm = MatMul(f, m) fp = MatMul(f, p) ft = Transpose <perm = [1, 0]> (f) fpf = MatMul(fp, ft) pp = Add(fpf, q) "
        "ht = Transpose <perm = [1, 0]> (hm) hp = MatMul(hm, pp) hph = MatMul(hp, ht) s = Add(hph, r) pht = "
        "MatMul(pp, ht) "
        "k = Div(pht, s) hx = MatMul(hm, pm) e = Sub(x, hx) ke = MatMul(k, e) m2 = Add(pm, ke) khp = MatMul(k, hp) "
        "p2 = Sub(pp, khp) y = Identity(m2)",
        states="float[2, 1] m; float[2, 2] p",
        elements="float[1, 1] x",
        after="m2 p2",
        outputs="float[2, 1] y",
        weights={
            "f": np.array([[1, 0.5], [0, 1]], np.float32),
            "q": np.array([[0.01, 0], [0, 0.01]], np.float32),
            "hm": np.array([[1, 0]], np.float32),
            "r": np.array([[0.2]], np.float32),
        },
        values={"p": [1, 0, 0, 1]},
        sizes={"t": 8},
        tolerance=2e-5,
    ),
    scan(
        "viterbi",
        "axis = Constant <value = int64[1] {1}> () col = Unsqueeze(s, axis) all = Add(col, trans) "
        "zero = Constant <value = int64[1] {0}> () best = ReduceMax <keepdims = 0> (all, zero) "
        "back = ArgMax <axis = 0, keepdims = 0> (all) s2 = Add(best, x)",
        states="float[k] s",
        elements="float[k] x",
        after="s2",
        outputs="int64[k] back",
        captures="float[k, k] trans",
        sizes=[{"t": 6, "k": 4}, {"t": 2, "k": 1}],
    ),
    scan(
        "forward_algorithm_in_log_space",
        "axis = Constant <value = int64[1] {1}> () col = Unsqueeze(s, axis) all = Add(col, trans) "
        "zero = Constant <value = int64[1] {0}> () l = ReduceLogSumExp <keepdims = 0> (all, zero) s2 = Add(l, x) "
        "z = Identity(s2)",
        states="float[k] s",
        elements="float[k] x",
        after="s2",
        outputs="float[k] z",
        captures="float[k, k] trans",
        sizes={"t": 6, "k": 4},
        **_ROOM,
    ),
    scan(
        "attention_over_a_memory",
        "tr = Transpose <perm = [1, 0]> (keys) score = MatMul(q, tr) p = Softmax <axis = -1> (score) ctx = "
        "MatMul(p, keys) "
        "a = Add(ctx, x) q2 = Tanh(a) y = Identity(p)",
        states="float[b, 4] q",
        elements="float[b, 4] x",
        after="q2",
        outputs="float[b, m] y",
        captures="float[m, 4] keys",
        sizes={"t": 4, "b": 2, "m": 5},
        **_ROOM,
    ),
    scan(
        "linear_attention",
        'kv = Einsum <equation = "bi,bj->bij"> (k, v) s2 = Add(s, kv) y = Einsum <equation = "bi,bij->bj"> (q, s2)',
        states="float[b, n, m] s",
        elements="float[b, n] q; float[b, n] k; float[b, m] v",
        after="s2",
        outputs="float[b, m] y",
        sizes={"t": 5, "b": 2, "n": 3, "m": 4},
        **_ROOM,
    ),
    scan(
        "online_softmax",
        "m2 = Max(m, x) d = Sub(m, m2) e = Exp(d) f = Sub(x, m2) g = Exp(f) le = Mul(l, e) l2 = Add(le, g) z = Log(l2) "
        "w = Add(z, m2)",
        states="float[d] m; float[d] l",
        elements="float[d] x",
        after="m2 l2",
        outputs="float[d] w",
        ranges={"l": (0.5, 1.0)},
        sizes={"t": 6, "d": 3},
        **_ROOM,
    ),
    scan(
        "log_softmax_of_the_running_sum",
        "s2 = Add(s, x) y = LogSoftmax <axis = -1> (s2)",
        states="float[b, k] s",
        elements="float[b, k] x",
        after="s2",
        outputs="float[b, k] y",
        sizes={"t": 4, "b": 2, "k": 5},
        **_ROOM,
    ),
    scan(
        "delta_rule",
        'p = Einsum <equation = "ij,j->i"> (w, x) e = Sub(target, p) o = Einsum <equation = "i,j->ij"> (e, x) '
        "rate = Constant <value = float {0.1}> () g = Mul(rate, o) w2 = Add(w, g)",
        states="float[n, m] w",
        elements="float[m] x; float[n] target",
        after="w2",
        outputs="float[n] e",
        sizes={"t": 5, "n": 3, "m": 2},
        **_ROOM,
    ),
    scan(
        "power_iteration",
        "av = MatMul(a, v) sq = Mul(av, av) n2 = ReduceSum <keepdims = 1> (sq) n = Sqrt(n2) v2 = Div(av, n) "
        "z = Add(n, x)",
        states="float[n] v",
        elements="float[1] x",
        after="v2",
        outputs="float[1] z",
        captures="float[n, n] a",
        sizes={"t": 4, "n": 4},
        ranges={"v": (0.5, 1.0), "a": (0.1, 1.0)},
        **_ROOM,
    ),
    scan(
        "momentum",
        "mu = Constant <value = float {0.9}> () rate = Constant <value = float {0.05}> () k = Mul(mu, v) v2 "
        "= Add(k, g) "
        "d = Mul(rate, v2) w2 = Sub(w, d) z = ReduceL2 <keepdims = 0> (w2)",
        states="float[n] w; float[n] v",
        elements="float[n] g",
        after="w2 v2",
        outputs="float z",
        sizes={"t": 5, "n": 6},
        **_ROOM,
    ),
]
