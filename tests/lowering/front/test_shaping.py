"""Operators that move elements, against ONNX Runtime."""

import pytest

from .models import compare
from .operators import Case, case, fixed, floats, truths, whole

X = floats(2, 3, 4)
ROW = floats(6)

CASES = [
    case("Reshape", X, fixed([6, 4]), symbolic=False),
    case("Reshape", X, fixed([0, -1])),
    case("Reshape", X, fixed([-1])),
    case("Reshape", X, fixed([2, -1, 4]), symbolic=False),
    case("Reshape", X, fixed([0, 0, 2, 2])),
    case("Reshape", floats(0, 3), fixed([3, 0]), allowzero=1, symbolic=False),
    case("Transpose", X),
    case("Transpose", X, perm=[1, 2, 0]),
    case("Transpose", floats(2, 1, 3), perm=[1, 0, 2]),
    case("Squeeze", floats(2, 1, 3, 1), fixed([1, -1])),
    case("Squeeze", floats(2, 1, 3, 1)),
    case("Squeeze", floats(2, 1, 3), axes=[1], opset=11),
    case("Unsqueeze", X, fixed([0, -1])),
    case("Unsqueeze", X, axes=[1, 3], opset=11),
    *(case("Flatten", X, axis=axis) for axis in (0, 1, 2, 3, -1)),
    case("Expand", floats(3, 1), fixed([2, 3, 4])),
    case("Expand", floats(3, 4), fixed([2, 1, 1])),
    case("Tile", floats(2, 3), fixed([2, 3])),
    case("Tile", floats(2, 1), fixed([1, 3])),
    case("Concat", floats(2, 3), floats(2, 1), floats(2, 2), axis=1),
    case("Concat", floats(2, 3), fixed([[1, 2, 3]], "float32"), axis=-2),
    case("Shape", X),
    case("Shape", X, start=-2),
    case("Shape", X, start=1, end=2),
    case("Size", X),
    case("EyeLike", floats(3, 4), k=1),
    case("EyeLike", floats(3, 3), dtype=7),
    *(case("Trilu", floats(2, 3, 4), fixed(k), upper=upper) for k in (-1, 0, 2) for upper in (0, 1)),
    case("Trilu", whole(3, 3)),
    case("OneHot", whole(4, low=-3, high=5, dtype="int64"), fixed(3), fixed([0.5, 2], "float32")),
    case("OneHot", whole(2, 3, low=0, high=3, dtype="int64"), fixed([3]), fixed([0, 1]), axis=1),
    case("Slice", ROW, fixed([1]), fixed([4])),
    case("Slice", ROW, fixed([1]), fixed([100]), symbolic=False),
    case("Slice", ROW, fixed([1]), fixed([2**63 - 1])),
    case("Slice", ROW, fixed([-3]), fixed([-1])),
    case("Slice", ROW, fixed([-1]), fixed([-100]), fixed([0]), fixed([-1]), symbolic=False),
    case("Slice", ROW, fixed([-1]), fixed([-(2**63)]), fixed([0]), fixed([-1])),
    case("Slice", ROW, fixed([0]), fixed([6]), fixed([0]), fixed([4]), symbolic=False),
    case("Slice", ROW, fixed([4]), fixed([0]), fixed([0]), fixed([-3])),
    case("Slice", ROW, fixed([4]), fixed([2])),
    case("Slice", X, fixed([0, 1]), fixed([1, 3]), fixed([-1, 1])),
    case("Slice", X, starts=[1], ends=[3], axes=[2], opset=9),
    case("Split", X, outputs=3, axis=1, num_outputs=3, symbolic=False),
    case("Split", floats(2, 5), outputs=3, axis=-1, num_outputs=3, symbolic=False),
    case("Split", floats(2, 5), fixed([1, 4]), outputs=2, axis=1),
    case("Split", X, outputs=2, axis=2, opset=11, symbolic=False),
    case("Split", X, outputs=2, axis=2, opset=11, split=[1, 3]),
    case("Split", X, fixed([2, 1]), outputs=2, axis=1, opset=13),
    case("Gather", X, fixed(1), axis=1),
    case("Gather", X, fixed(-1), axis=1),
    case("Gather", X, fixed([0, 2]), axis=1),
    case("Gather", X, fixed([2, 1, 0]), axis=1),
    case("Gather", X, fixed([0, 0, 2, 1]), axis=1),
    case("Gather", X, fixed([[0, 1], [2, -1]]), axis=2),
    case("Gather", X, whole(2, 2, low=-3, high=3), axis=1),
    case("Gather", whole(5, dtype="int64"), whole(low=0, high=5, dtype="int64")),
    case("GatherElements", X, whole(2, 3, 2, low=-4, high=4), axis=2),
    case("GatherElements", X, whole(1, 3, 4, low=0, high=2, dtype="int64")),
    case("GatherElements", X, whole(2, 1, 4, low=0, high=3, dtype="int64"), axis=1),
    case("Pad", floats(2, 3), fixed([1, 0, 2, 1])),
    case("Pad", floats(2, 3), fixed([1, 0, 2, 1]), fixed(7, "float32")),
    case("Pad", floats(2, 3), fixed([1, -1, 2, 0])),
    *(case("Pad", floats(3, 4), fixed([1, 2, 2, 1]), mode=mode) for mode in ("edge", "reflect", "wrap")),
    case("Pad", floats(2, 3), fixed([1, 2]), None, fixed([-1])),
    case("Pad", floats(2, 3), opset=9, pads=[0, 1, 1, 0], value=2.0),
    case("Pad", whole(3), fixed([1, 1]), fixed(5, "int32")),
    case("Where", truths(3), fixed(1, "int64"), whole(3, dtype="int64")),
]


@pytest.mark.parametrize("item", CASES, ids=[item.id for item in CASES])
def test_an_operator_moves_elements_as_in_onnx_runtime(item: Case):
    compare(item.model(symbolic=False), item.feeds())


@pytest.mark.parametrize("item", [item for item in CASES if item.symbolic], ids=lambda item: item.id)
def test_it_does_so_where_sizes_are_names(item: Case):
    compare(item.model(symbolic=True), item.feeds())
