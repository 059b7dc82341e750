"""Axes, directions and shapes of a ``Scan`` as they are in ONNX Runtime."""

import numpy as np
import pytest

from .models import compare, graph, node, running_sum, scan_model, tensor, typed

ROWS = np.array([[1, 2], [3, 4], [5, 6]], np.float32)
ZEROS = np.zeros(2, np.float32)


def test_a_running_sum_is_that_of_the_seed():
    scan = compare(running_sum(), {"initial": ZEROS, "xs": ROWS})
    assert [port.name for port in scan.inputs] == ["initial", "xs"]
    assert [port.name for port in scan.results] == ["out_t", "out_z"]
    assert [node.operation for node in scan.nodes] == ["input", "input", "add"]


@pytest.mark.parametrize("axis", [0, 1, 2, -1, -2, -3])
@pytest.mark.parametrize("reverse", [0, 1])
def test_scan_inputs_are_cut_along_their_axis_in_their_direction(axis, reverse):
    model = running_sum(None, (2, 3, 4), scan_input_axes=[axis], scan_input_directions=[reverse])
    model.graph.input[0].CopyFrom(typed("initial", "float32", np.delete([2, 3, 4], axis).tolist()))
    x = np.random.default_rng(0).normal(size=(2, 3, 4)).astype(np.float32)
    compare(model, {"initial": np.take(x, 0, axis=axis), "xs": x})


@pytest.mark.parametrize("axis", [0, 1, -1, -2])
@pytest.mark.parametrize("prepend", [0, 1])
def test_scan_outputs_are_collected_along_their_axis_in_their_direction(axis, prepend):
    model = running_sum(scan_output_axes=[axis], scan_output_directions=[prepend])
    compare(model, {"initial": ZEROS, "xs": ROWS})


@pytest.mark.parametrize("opset", [9, 11, 16, 19, 21, 23, 24, 25])
def test_every_version_of_the_operator_since_9_is_read(opset):
    compare(running_sum(opset=opset), {"initial": ZEROS, "xs": ROWS})


def test_constants_of_the_body_and_small_captured_ones_are_part_of_the_graph():
    body = graph(
        [
            node("Constant", "", "two", value_float=2.0),
            node("Mul", "s two", "a"),
            node("Add", "a x", "b"),
            node("Mul", "b w", "t"),
            node("Identity", "t", "z"),
        ],
        [typed("s"), typed("x")],
        ["t", "z"],
    )
    model = scan_model(
        body,
        [("initial", "float32", [2]), ("xs", "float32", ["seq", "lanes"])],
        1,
        initializers=[tensor("w", [0.5, 0.25])],
    )
    scan = compare(model, {"initial": ZEROS, "xs": ROWS})
    assert not scan.captures
    assert str(scan.steps) == "seq"
    assert scan.elements[0].port.shape[1].number == 2
