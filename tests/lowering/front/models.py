"""Models with a ``Scan``, built from a body's nodes, and what ONNX Runtime makes of them."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import onnxruntime
from onnx import GraphProto, ModelProto, NodeProto, TensorProto, helper, numpy_helper

from scanbuild.lowering import interpreter
from scanbuild.lowering import model as models
from scanbuild.lowering.graph import Scan
from scanbuild.lowering.read import read_scan

Shape = Sequence[int | str | None] | None
Typed = tuple[str, str, Any]
"""Name, dtype and shape of a value."""

_TYPES = {
    "float32": TensorProto.FLOAT,
    "float16": TensorProto.FLOAT16,
    "float64": TensorProto.DOUBLE,
    "int8": TensorProto.INT8,
    "int16": TensorProto.INT16,
    "int32": TensorProto.INT32,
    "int64": TensorProto.INT64,
    "uint8": TensorProto.UINT8,
    "uint16": TensorProto.UINT16,
    "uint32": TensorProto.UINT32,
    "bool": TensorProto.BOOL,
    "string": TensorProto.STRING,
    "": TensorProto.UNDEFINED,
}


def typed(name: str, dtype: str = "float32", shape: Shape = None) -> Any:
    return helper.make_tensor_value_info(name, _TYPES[dtype], shape)


def tensor(name: str, array: Any, dtype: str = "float32") -> Any:
    return numpy_helper.from_array(np.asarray(array, dtype), name)


def node(operator: str, inputs: str, outputs: str, domain: str = "", **attributes: Any) -> NodeProto:
    """A node; names are separated by spaces, ``-`` stands for one left out."""
    reads, makes = (["" if word == "-" else word for word in text.split()] for text in (inputs, outputs))
    return helper.make_node(operator, reads, makes, domain=domain, **attributes)


def graph(nodes: Sequence[NodeProto], inputs: Sequence[Any], outputs: Sequence[str], initializers=()) -> GraphProto:
    values = [helper.make_empty_tensor_value_info(name) for name in outputs]
    return helper.make_graph(list(nodes), "graph", list(inputs), values, list(initializers))


def scan_model(
    body: GraphProto,
    inputs: Sequence[Typed],
    scan_inputs: int,
    *,
    opset: int = 21,
    captures: Sequence[Typed] = (),
    initializers: Sequence[Any] = (),
    functions: Sequence[Any] = (),
    name: str = "scan",
    imports: Mapping[str, int] | None = None,
    **attributes: Any,
) -> ModelProto:
    """A model of one ``Scan``, whose inputs are the model's."""
    results = [f"out_{item.name}" for item in body.output]
    given = [item[0] for item in inputs]
    scan = helper.make_node("Scan", given, results, name=name, num_scan_inputs=scan_inputs, body=body, **attributes)
    if opset == 8:
        scan.input.insert(0, "")
    outer = graph([scan], [typed(*item) for item in (*inputs, *captures)], results, initializers)
    opsets = [helper.make_opsetid(domain, version) for domain, version in {"": opset, **(imports or {})}.items()]
    return helper.make_model(outer, opset_imports=opsets, ir_version=10, functions=list(functions))


def running_sum(
    state: Shape = (2,), element: Shape = (3, 2), *, dtype: str = "float32", opset: int = 21, **attributes: Any
) -> ModelProto:
    """The seed's example: the running sum of the elements, as state and as output."""
    body = graph(
        [node("Add", "s x", "t"), node("Identity", "t", "z")],
        [typed("s", dtype), typed("x", dtype)],
        ["t", "z"],
    )
    return scan_model(body, [("initial", dtype, state), ("xs", dtype, element)], 1, opset=opset, **attributes)


def read(proto: ModelProto, name: str | None = None) -> Scan:
    model = models.read_model(proto.SerializeToString(), "model.onnx", None)
    return read_scan(model, models.find(model, name))


def onnx_runtime(proto: ModelProto, feeds: Mapping[str, Any]) -> dict[str, Any]:
    """The model's outputs on ONNX Runtime's CPU, without optimizations across nodes."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(proto.SerializeToString(), options, providers=["CPUExecutionProvider"])
    names = [item.name for item in session.get_outputs()]
    return dict(zip(names, session.run(names, dict(feeds)), strict=True))


def compare(proto: ModelProto, feeds: Mapping[str, Any], *, name: str | None = None, rtol=1e-5, atol=1e-6) -> Scan:
    """Hold the normal form, computed with NumPy, against ONNX Runtime, which runs the ``Scan`` cut out of the model."""
    model = models.read_model(proto.SerializeToString(), "model.onnx", None)
    candidate = models.find(model, name)
    scan = read_scan(model, candidate)
    wanted = onnx_runtime(models.isolated(model, candidate), {port.onnx: feeds[port.onnx] for port in scan.inputs})
    found = interpreter.run_scan(scan, {port.name: feeds[port.onnx] for port in scan.inputs})
    for port in scan.results:
        expected = wanted[port.onnx]
        assert found[port.name].dtype == expected.dtype == np.dtype(port.dtype), port.name
        assert found[port.name].shape == expected.shape, port.name
        np.testing.assert_allclose(found[port.name], expected, rtol=rtol, atol=atol, err_msg=port.name)
    return scan
