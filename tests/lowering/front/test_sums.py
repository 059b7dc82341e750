"""Reductions, normalizations and products against ONNX Runtime."""

import numpy as np
import pytest

from .models import compare
from .operators import Case, case, fixed, floats, truths, whole

X = floats(2, 3, 4)
POSITIVE = floats(2, 3, 4, low=0.1)
ENDLESS = np.array([[-np.inf, -np.inf], [np.inf, 1], [1, 2], [np.nan, 1], [-np.inf, 3]], np.float32)
REDUCTIONS = ["Sum", "Mean", "Max", "Min", "Prod", "L1", "L2", "SumSquare", "LogSum", "LogSumExp"]

CASES = [
    *(case(f"Reduce{name}", POSITIVE, fixed([1])) for name in REDUCTIONS),
    *(case(f"Reduce{name}", POSITIVE, fixed([0, -1]), keepdims=0) for name in REDUCTIONS),
    *(case(f"Reduce{name}", POSITIVE) for name in REDUCTIONS),
    *(case(f"Reduce{name}", POSITIVE, axes=[1], opset=12) for name in REDUCTIONS),
    *(case(f"Reduce{name}", ENDLESS, fixed([1])) for name in ("Sum", "LogSumExp")),
    # Whether Max and Min see a NaN that is not in front depends on how ONNX Runtime cuts a row into vectors.
    *(case(f"Reduce{name}", np.delete(ENDLESS, 3, 0), fixed([1])) for name in ("Max", "Min")),
    *(case(f"Reduce{name}", whole(3, 4), fixed([1])) for name in ("Sum", "Mean", "Max", "Min", "Prod", "L1")),
    case("ReduceLogSumExp", floats(3, 4, low=80, high=120), fixed([1])),
    case("ReduceSum", X, fixed([], "int64"), noop_with_empty_axes=1),
    case("ReduceSum", X, noop_with_empty_axes=1),
    case("ReduceSum", X, fixed([-2]), opset=13),
    *(case(f"Reduce{name}", whole(3, 4, dtype="int8"), fixed([1])) for name in ("Max", "Min")),
    *(case(f"Reduce{name}", truths(3, 4), fixed([1]), opset=20) for name in ("Max", "Min")),
    case("ReduceSum", X.astype("float16"), fixed([1])),
    *(case(name, X, axis=1) for name in ("ArgMax", "ArgMin")),
    *(case(name, X, axis=-1, keepdims=0) for name in ("ArgMax", "ArgMin")),
    *(
        case(name, whole(3, 9, low=0, high=3), axis=1, select_last_index=last)
        for name in ("ArgMax", "ArgMin")
        for last in (0, 1)
    ),
    *(case("CumSum", X, fixed(1), exclusive=exclusive, reverse=way) for exclusive in (0, 1) for way in (0, 1)),
    case("CumSum", whole(5), fixed([-1], "int32")),
    *(case(name, X, axis=axis) for name in ("Softmax", "LogSoftmax", "Hardmax") for axis in (0, 1, -1)),
    *(case(name, X, axis=axis, opset=11) for name in ("Softmax", "LogSoftmax", "Hardmax") for axis in (0, 1, 2)),
    *(case(name, X, opset=11) for name in ("Softmax", "LogSoftmax", "Hardmax")),
    *(case(name, ENDLESS) for name in ("Softmax", "LogSoftmax")),
    case("Softmax", X.astype("float16")),
    case("LayerNormalization", X, floats(4), floats(4, seed=1)),
    case("LayerNormalization", X, floats(3, 4), axis=1, epsilon=0.1),
    case("LayerNormalization", X, floats(4), floats(4, seed=1), outputs=3),
    case("LayerNormalization", X.astype("float16"), floats(4).astype("float16"), outputs=3),
    case("RMSNormalization", X, floats(4), opset=23),
    case("RMSNormalization", X.astype("float16"), floats(4).astype("float16"), opset=23),
    case("RMSNormalization", X, floats(3, 4), opset=23, axis=-2, epsilon=0.1),
    *(case("LpNormalization", X, p=p, axis=1) for p in (1, 2)),
    case("BatchNormalization", X, floats(3), floats(3, seed=1), floats(3, seed=2), floats(3, seed=3, low=0.1)),
    case("TopK", X, fixed([1]), axis=1, outputs=2),
    case("TopK", X, fixed([1]), axis=1, largest=0, outputs=2),
    case("MatMul", floats(2, 3), floats(3, 4)),
    case("MatMul", floats(3), floats(3, 4)),
    case("MatMul", floats(2, 3), floats(3)),
    case("MatMul", floats(3), floats(3, seed=1)),
    case("MatMul", floats(5, 2, 3), floats(3, 4)),
    case("MatMul", floats(2, 3), floats(5, 3, 4)),
    case("MatMul", floats(5, 2, 3), floats(5, 3, 4)),
    case("MatMul", floats(5, 1, 2, 3), floats(6, 3, 4)),
    case("MatMul", floats(4, 5, 2, 3), floats(3)),
    case("MatMul", floats(2, 1), floats(1, 4)),
    case("MatMul", floats(1, 3), floats(3, 1)),
    case("MatMul", whole(2, 3), whole(3, 4)),
    case("MatMul", floats(2, 3).astype("float16"), floats(3, 4).astype("float16")),
    case("Gemm", floats(2, 3), floats(3, 4)),
    case("Gemm", floats(3, 2), floats(4, 3), floats(4), transA=1, transB=1, alpha=0.5, beta=2.0),
    case("Gemm", floats(2, 3), floats(3, 4), floats(2, 1)),
    case("Gemm", floats(2, 3), floats(3, 4), floats(), opset=11),
    case("Einsum", floats(2, 3), floats(3, 4), equation="ij,jk->ik"),
    case("Einsum", floats(2, 3), floats(3, 4), equation="ij,jk"),
    case("Einsum", floats(2, 3), equation="ij->ji"),
    case("Einsum", floats(2, 3), equation="ij->i"),
    case("Einsum", floats(2, 3), equation="ij->"),
    case("Einsum", floats(5, 2, 3), floats(5, 3, 4), equation="b i j, b j k -> b i k"),
    case("Einsum", floats(5, 2, 3), floats(3, 4), equation="...ij,jk->...ik"),
    case("Einsum", floats(2, 3), floats(2, 3, seed=1), equation="ij,ij->ij"),
    case("Einsum", floats(2, 3), floats(2, 3, seed=1), equation="ij,ij->"),
    case("Einsum", floats(2), floats(3), equation="i,j->ji"),
    case("Einsum", floats(2, 3), floats(3, 4), floats(4, 5), equation="ij,jk,kl->il"),
    case("MeanVarianceNormalization", floats(2, 3, 2, 2)),
    case("MeanVarianceNormalization", floats(2, 3, 2, 2), axes=[2, 3]),
    case("GroupNormalization", floats(1, 4, 2, 2), floats(4), floats(4, seed=1), num_groups=2, symbolic=False),
]


@pytest.mark.parametrize("item", CASES, ids=[item.id for item in CASES])
def test_an_operator_sums_as_in_onnx_runtime(item: Case):
    half = any(isinstance(value, np.ndarray) and value.dtype == np.float16 for value in item.inputs)
    compare(item.model(symbolic=False), item.feeds(), rtol=2e-3 if half else 2e-5, atol=1e-3 if half else 5e-6)


@pytest.mark.parametrize("item", [item for item in CASES if item.symbolic], ids=lambda item: item.id)
def test_it_does_so_where_sizes_are_names(item: Case):
    half = any(isinstance(value, np.ndarray) and value.dtype == np.float16 for value in item.inputs)
    compare(item.model(symbolic=True), item.feeds(), rtol=2e-3 if half else 2e-5, atol=1e-3 if half else 5e-6)
