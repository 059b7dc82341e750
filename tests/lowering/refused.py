"""Models that cannot be lowered, each with what the refusal has to name."""

from collections.abc import Callable
from typing import Any

from onnx import ModelProto, TensorProto, helper, parser

from tests.lowering.building import scan

_ONE: dict[str, Any] = {"states": "float[d] s", "elements": "float[d] x", "after": "y", "outputs": "float[d] z"}


def _typed(name: str, dtype: str, body: str = "y = Add(s, x) z = Identity(y)") -> bytes:
    return scan(name, body, states=f"{dtype}[d] s", elements=f"{dtype}[d] x", after="y", outputs=f"{dtype}[d] z").data


def _changed(change: Callable[[ModelProto], Any]) -> bytes:
    """A sound model with something done to it."""
    model = ModelProto()
    model.CopyFrom(scan("sum", "y = Add(s, x) z = Identity(y)", **_ONE).model)
    change(model)
    return bytes(model.SerializeToString())


def _without_ranks(model: ModelProto) -> None:
    for value in (*model.graph.input, *model.graph.node[0].attribute[1].g.input):
        value.type.tensor_type.ClearField("shape")


def _attribute(name: str, values: list[int]) -> Callable[[ModelProto], Any]:
    return lambda model: model.graph.node[0].attribute.append(helper.make_attribute(name, values))


def _without_body(model: ModelProto) -> None:
    node = model.graph.node[0]
    kept = [item for item in node.attribute if item.name != "body"]
    del node.attribute[:]
    node.attribute.extend(kept)


def _unequal_lengths() -> bytes:
    text = """<ir_version: 10, opset_import: ["" : 21]>
    g (float s, float[4] a, float[5] b) => (float last, float[t] all) {
      [loop] last, all = Scan <num_scan_inputs = 2, body = step (float s0, float p, float q) => (float y, float z) {
        u = Add(s0, p) y = Add(u, q) z = Identity(y)
      }> (s, a, b)
    }"""
    return bytes(parser.parse_model(text).SerializeToString())


def _lengths_given() -> bytes:
    text = """<ir_version: 4, opset_import: ["" : 8]>
    g (int64[b] lengths, float[b] s, float[b, t] x) => (float[b] last, float[b, t] all) {
      [loop] last, all = Scan <num_scan_inputs = 1, body = step (float s0, float p) => (float y, float z) {
        y = Add(s0, p) z = Identity(y)
      }> (lengths, s, x)
    }"""
    return bytes(parser.parse_model(text).SerializeToString())


def _complex(model: ModelProto) -> None:
    body = model.graph.node[0].attribute[1].g
    for value in (*model.graph.input, *model.graph.output, *body.input, *body.output):
        value.type.tensor_type.elem_type = TensorProto.COMPLEX64


_STRINGS = "y = Identity(s) z = Identity(x)"

REFUSED: dict[str, tuple[bytes, tuple[str, ...]]] = {
    "double": (_typed("doubles", "double"), ("loop", "double")),
    "complex": (_changed(_complex), ("loop", "complex64")),
    "string": (_typed("strings", "string", _STRINGS), ("loop", "string")),
    "double_in_the_body": (
        scan("inside", "d = Cast <to = 11> (x) e = Cast <to = 1> (d) y = Add(s, e) z = Identity(y)", **_ONE).data,
        ("loop", "`d`", "Cast", "double"),
    ),
    "dynamic_rank": (_changed(_without_ranks), ("loop", "rank")),
    "foreign_operator": (
        scan("foreign", "y = Add(s, x) z, i = Unique <axis = 0> (y)", **_ONE).data,
        ("loop", "`z`", "Unique"),
    ),
    "changed_state": (
        scan(
            "growing",
            "y = Concat <axis = 0> (s, x) z = Identity(x)",
            states="float[d] s",
            elements="float[d] x",
            after="y",
            outputs="float[d] z",
        ).data,
        ("loop", "`s`", "shape"),
    ),
    "axis_out_of_range": (_changed(_attribute("scan_input_axes", [2])), ("loop", "axis 2", "rank 2")),
    "output_axis_out_of_range": (_changed(_attribute("scan_output_axes", [-3])), ("loop", "axis -3", "rank 2")),
    "unequal_lengths": (_unequal_lengths(), ("loop", "4", "5")),
    "missing_body": (_changed(_without_body), ("loop", "body")),
    "sequence_lengths": (_lengths_given(), ("loop", "sequence_lens")),
    "truncated_file": (_typed("cut", "float")[:-40], ("model.onnx", "no ONNX model")),
    "no_model_at_all": (b"This is not a model.\n", ("model.onnx", "no ONNX model")),
    "nothing": (b"", ("model.onnx", "no ONNX model")),
}
