"""ONNX's own cases of the operators that are translated, each as the body of a ``Scan`` of one step."""

import warnings
from functools import cache
from typing import Any

import numpy as np
import pytest
from onnx import helper
from onnx.backend.test.case.node import collect_testcases

from scanbuild.errors import InputError
from scanbuild.lowering import interpreter
from scanbuild.lowering.translate.registry import TRANSLATIONS

from .models import graph, read, scan_model, tensor

SECOND = ["Reshape", "Pad", "Tile", "Expand", "Squeeze", "Unsqueeze", "Split", "TopK", "CumSum", "Trilu", "OneHot"]
SECOND += [name for _, name in TRANSLATIONS if name.startswith("Reduce")]
SHAPES = {
    **{name: {1} for name in SECOND},
    **{name: {1, 2, 3, 4} for name in ("Slice", "Pad", "Dropout")},
    "Range": {0, 1, 2},
    "ConstantOfShape": {0},
}
"""Inputs of operators that have to be constants."""
EXPECTED = (
    "the type",
    "ONNX does not accept",
    "training mode",
    "only k = 1",
    "is not supported for",
    "fmod = 1",
    "depth",
)
"""What refusals speak of: types that kernels do not have, forms of later versions, and training."""


@cache
def cases() -> dict[str, Any]:
    found = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        collected = collect_testcases(None)
    for case in collected:
        nodes = case.model.graph.node if case.model else []
        if len(nodes) == 1 and (nodes[0].domain, nodes[0].op_type) in TRANSLATIONS and case.data_sets:
            found[case.name] = case
    return found


def as_scan(case: Any) -> tuple[Any, dict[str, Any]]:
    """The case's node as a body; inputs that have to be constants are, and the others have one step."""
    node = case.model.graph.node[0]
    arrays = {
        item.name: np.asarray(array) for item, array in zip(case.model.graph.input, case.data_sets[0][0], strict=True)
    }
    fixed = {node.input[i] for i in SHAPES.get(node.op_type, ()) if i < len(node.input) and node.input[i]}
    taken = [name for name in dict.fromkeys(node.input) if name and name not in fixed]
    given = [(f"{name}_s", arrays[name]) for name in taken] or [("step", np.zeros((), np.float32))]
    types = {name: helper.np_dtype_to_tensor_dtype(array.dtype) for name, array in given}
    body = graph(
        [node],
        [helper.make_tensor_value_info(name.removesuffix("_s"), types[name], array.shape) for name, array in given],
        [name for name in node.output if name],
        [tensor(name, arrays[name], str(arrays[name].dtype)) for name in sorted(fixed)],
    )
    version = next(item.version for item in case.model.opset_import if not item.domain)
    model = scan_model(body, [], 1, opset=min(max(version, 9), 25))
    scan = model.graph.node[0]
    scan.input.extend(name for name, _ in given)
    next(item for item in scan.attribute if item.name == "num_scan_inputs").i = len(given)
    model.graph.input.extend(
        helper.make_tensor_value_info(name, types[name], (1, *array.shape)) for name, array in given
    )
    return model, {name: array[None] for name, array in given}


@pytest.mark.parametrize("name", sorted(cases()))
def test_a_case_of_onnx_has_the_values_it_expects(name):
    case = cases()[name]
    if any(np.asarray(array).dtype.kind not in "fiub" for array in case.data_sets[0][0]):
        with pytest.raises((InputError, TypeError)):
            read(as_scan(case)[0])
        return
    model, feeds = as_scan(case)
    try:
        scan = read(model)
    except InputError as error:
        assert any(word in str(error) for word in EXPECTED), error
        return
    found = interpreter.run_scan(scan, {port.name: feeds[port.onnx] for port in scan.inputs})
    for port, wanted in zip(scan.results, map(np.asarray, case.data_sets[0][1]), strict=False):
        assert found[port.name].shape == (1, *wanted.shape)
        assert found[port.name].dtype == wanted.dtype
        atol = 1e-3 if wanted.dtype == np.float16 else 1e-5
        np.testing.assert_allclose(
            found[port.name][0].astype(np.float64), wanted.astype(np.float64), rtol=1e-3, atol=atol
        )


def test_most_cases_of_onnx_are_read():
    refused = 0
    for case in cases().values():
        try:
            read(as_scan(case)[0])
        except (InputError, TypeError):
            refused += 1
    assert refused < len(cases()) * 0.4
