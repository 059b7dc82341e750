"""The printed reference: self-contained, readable, and to the bit what the interpreter computes."""

import ast
from typing import Any

import numpy as np
import pytest

from scanbuild.cases.oracle import load_reference
from scanbuild.lowering.interpreter import run_scan
from scanbuild.lowering.lower import read
from scanbuild.lowering.reference import print_reference
from tests.lowering.build import Body
from tests.lowering.building import arrays
from tests.lowering.models import EXAMPLES


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_reference_gives_what_the_interpreter_gives_to_the_bit(name, tmp_path):
    example = EXAMPLES[name]
    scan = read(example.data, "model.onnx", None).scan
    (tmp_path / "reference.py").write_text(print_reference(scan, "my.Op"), encoding="utf-8")
    reference = load_reference(tmp_path)
    assert reference is not None
    for sizes in example.sizes:
        given = arrays(example, sizes)
        inputs = {port.name: given[port.onnx] for port in scan.inputs}
        want, got = run_scan(scan, inputs), reference(inputs, {}, {})
        assert got.keys() == want.keys()
        for key, value in want.items():
            found = np.asarray(got[key])
            assert (found.dtype, found.shape) == (value.dtype, value.shape), key
            assert found.tobytes() == value.tobytes(), key


@pytest.mark.parametrize("name", ["gru", "rounding_and_remainders", "activations", "padded_state"])
def test_nothing_but_numpy_and_the_standard_library_is_imported(name):
    tree = ast.parse(print_reference(read(EXAMPLES[name].data, "model.onnx", None).scan, "my.Op"))
    imported = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    imported |= {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module}
    assert imported <= {"numpy", "math", "typing"}


def test_names_that_python_or_the_reference_needs_are_changed():
    body = Body("lambda")
    state = body.state("np", ["step"])
    value = body.element("math", ["step"])
    total = body.add("add", state, value, name="reference")
    body.update(total)
    body.output("inputs", total)
    scan = body.scan()
    names: dict[str, Any] = {}
    exec(compile(print_reference(scan, "my.Op"), "reference.py", "exec"), names)
    inputs = {
        port.name: np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
        for port, shape in zip(scan.inputs, ((2,), (3, 2)), strict=True)
    }
    want, got = run_scan(scan, inputs), names["reference"](inputs, {}, {})
    assert got.keys() == want.keys() == {"np_final", "inputs"}
    for key, array in want.items():
        np.testing.assert_array_equal(got[key], array)


def test_constants_are_written_exactly_and_briefly():
    body = Body()
    state = body.state("s", [2])
    value = body.element("x", [2])
    scaled = body.add("mul", value, body.constant(0.1))
    special = body.constant([np.inf, -0.0])
    body.update(body.add("add", body.add("add", state, scaled), special))
    text = print_reference(body.scan(), "my.Op")
    assert "np.float32(0.1)" in text
    assert "np.array([np.inf, -0.0], np.float32)" in text
