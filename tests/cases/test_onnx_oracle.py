"""Expected values from ONNX."""

import sys

import numpy as np
import pytest

from scanbuild.cases.onnx_oracle import NoOracleError, evaluate_node
from scanbuild.package.model import Attribute, Manifest, Port

pytest.importorskip("onnx")

A = np.array([[1, -2], [3, 4]], dtype=np.float32)


def manifest(name: str, inputs: tuple[Port, ...], outputs: tuple[str, ...] = ("y",), **more: object) -> Manifest:
    return Manifest(
        name=name,
        inputs={port.name: port for port in inputs},
        outputs={item: Port(name=item, onnx=item.upper() if len(item) == 1 else None) for item in outputs},
        **more,  # type: ignore[arg-type]
    )


def test_a_node_is_made_of_name_version_and_the_ports_onnx_names():
    subtract = manifest("Sub", (Port(name="right", onnx="B"), Port(name="left", onnx="A")), ("c",), since_version=14)
    made = evaluate_node(subtract, {"right": A, "left": 3 * A}, {}, ("c",))
    assert made["c"].tolist() == (2 * A).tolist()


def test_ports_without_an_onnx_name_go_by_their_own():
    softmax = manifest(
        "Softmax",
        (Port(name="input"),),
        ("output",),
        since_version=13,
        attributes={"axis": Attribute(name="axis", default=-1)},
    )
    made = evaluate_node(softmax, {"input": A}, {"axis": 0}, ("output",))["output"]
    assert made.sum(axis=0).tolist() == pytest.approx([1, 1])


def test_an_optional_input_that_is_absent_leaves_its_place_empty():
    clip = manifest("Clip", (Port(name="input"), Port(name="min"), Port(name="max")), ("output",), since_version=13)
    made = evaluate_node(clip, {"input": A, "max": np.array(2, np.float32)}, {}, ("output",))["output"]
    assert made.tolist() == [[1, -2], [2, 2]]


def test_the_domain_of_microsoft_goes_to_onnx_runtime():
    pytest.importorskip("onnxruntime")
    gelu = manifest("Gelu", (Port(name="X"),), ("y",), domain="com.microsoft", since_version=1)
    made = evaluate_node(gelu, {"X": A}, {}, ("y",))["y"]
    assert made[0, 0] == pytest.approx(0.8413447, abs=1e-4)


def test_a_type_that_onnx_runtime_lacks_goes_to_the_reference_evaluator():
    bitwise = manifest("BitShift", (Port(name="X"), Port(name="Y")), ("z",), since_version=11)
    values = np.array([1, 2, 3], dtype=np.uint16)
    made = evaluate_node(bitwise, {"X": values, "Y": values}, {"direction": "LEFT"}, ("z",))["z"]
    assert made.tolist() == [2, 8, 24]


@pytest.mark.parametrize(
    ("name", "attrs", "words"),
    [
        ("NoSuchOperator", {}, "no operator ai.onnx.NoSuchOperator"),
        ("Relu", {"mode": 2}, "no attribute mode"),
        ("Add", {}, "cannot compute"),
    ],
)
def test_what_onnx_cannot_tell_is_no_oracle(name: str, attrs: dict[str, int], words: str):
    port = Port(name="x", onnx="X" if name == "Relu" else "A")
    made = manifest(
        name, (port,), ("y",) if name == "Relu" else ("c",), attributes={"mode": Attribute(name="mode", default=1)}
    )
    with pytest.raises(NoOracleError, match=words):
        evaluate_node(made, {"x": A}, attrs, tuple(made.outputs))


def test_an_attribute_of_the_kernel_alone_does_not_matter_at_its_default():
    relu = manifest("Relu", (Port(name="x", onnx="X"),), attributes={"mode": Attribute(name="mode", default=1)})
    assert evaluate_node(relu, {"x": A}, {"mode": 1}, ("y",))["y"].min() == 0


def test_without_onnx_the_way_out_is_named(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(NoOracleError, match=r"scanbuild\[onnx\]"):
        evaluate_node(manifest("Relu", (Port(name="x", onnx="X"),)), {"x": A}, {}, ("y",))
