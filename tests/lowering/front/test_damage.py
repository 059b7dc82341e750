"""Damaged models are read or refused, and nothing else comes of them."""

import random

import pytest

from scanbuild.errors import InputError
from scanbuild.lowering import model as models
from scanbuild.lowering.read import read_scan

from .models import graph, node, running_sum, scan_model, tensor, typed
from .operators import floats


def rich():
    """A model with a branch, a constant, a capture and operators that look at shapes."""
    then = graph([node("Softmax", "h", "p", axis=-1)], [], ["p"])
    other = graph([node("Neg", "h", "q")], [], ["q"])
    nodes = [
        node("MatMul", "s w", "m"),
        node("Add", "m x", "h"),
        node("ReduceSum", "h", "total", keepdims=0),
        node("Greater", "total zero", "c"),
        node("If", "c", "t", then_branch=then, else_branch=other),
        node("Split", "t parts", "a b", axis=1),
        node("Concat", "b a", "z", axis=1),
    ]
    constants = [tensor("zero", 0), tensor("parts", [1, 2], "int64"), tensor("w", floats(3, 3))]
    body = graph(nodes, [typed("s"), typed("x")], ["t", "z"], constants)
    given = [("start", "float32", ["batch", 3]), ("xs", "float32", ["batch", "seq", 3])]
    return scan_model(body, given, 1, scan_input_axes=[1], scan_output_axes=[-1])


@pytest.mark.parametrize("seed", range(40))
def test_bytes_that_changed_make_no_other_failure(seed):
    rng = random.Random(seed)
    data = bytearray((rich() if seed % 4 else running_sum()).SerializeToString())
    for _ in range(rng.randrange(1, 4)):
        data[rng.randrange(len(data))] = rng.randrange(256)
    try:
        found = models.read_model(bytes(data), "m.onnx", None)
        for candidate in models.candidates(found):
            read_scan(found, candidate)
            models.isolated(found, candidate)
    except InputError as error:
        assert error.problems


def test_the_model_itself_is_read():
    found = models.read_model(rich().SerializeToString(), "m.onnx", None)
    assert read_scan(found, models.find(found, None)).outputs[0].axis == 2
