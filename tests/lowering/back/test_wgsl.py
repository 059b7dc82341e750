"""Every elementwise operation and conversion on values where something is special, against NumPy."""

import itertools

import numpy as np
import pytest

from scanbuild.lowering import lane
from scanbuild.lowering.interpreter import run_scan
from scanbuild.lowering.operations import ANY, FLOATS, MAPS
from tests.lowering.back.running import run, without_halves
from tests.lowering.build import Body

INFINITY, NAN = float("inf"), float("nan")
FLOATING = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.5,
    -0.5,
    1.5,
    2.5,
    -2.5,
    3.0,
    0.1,
    1e-4,
    -1e-3,
    7.25,
    -31.0,
    100.0,
    INFINITY,
    -INFINITY,
    NAN,
]
WIDE = [*FLOATING, 3e4, -5e4, 1e30, -1e-30, 88.5, -95.0, 0.999, -0.9999]
WHOLE = {
    "int8": [0, 1, -1, 2, -3, 7, 100, 127, -128],
    "int16": [0, 1, -1, 5, -300, 32767, -32768],
    "int32": [0, 1, -1, 3, -7, 12, 65537, 2**31 - 1, -(2**31)],
    "int64": [0, 1, -1, 3, -7, 12, 2**32 + 5, -(2**40), 2**63 - 1, -(2**63), 2**31],
    "uint8": [0, 1, 2, 7, 8, 31, 200, 255],
    "uint32": [0, 1, 2, 31, 32, 33, 77, 2**31, 2**32 - 1],
    "bool": [False, True],
}
# Where NumPy itself is not exact, or ONNX leaves it open.
LOOSE = {"tan": 1e-4, "pow": 3e-5, "sinh": 1e-5, "cosh": 1e-5, "sin": 3e-5, "cos": 3e-5}


def values_of(dtype):
    chosen = FLOATING if dtype == "float16" else WIDE if dtype == "float32" else WHOLE[dtype]
    return np.array(chosen, dtype)


def operations(dtype):
    return [name for name, operation in MAPS.items() if dtype in operation.dtypes and name != "where"]


def scan_of_all(dtype):
    """A scan of every pair of values, an output for each operation."""
    values = values_of(dtype)
    pairs = np.array(list(itertools.product(values, values)), dtype)
    body = Body(len(pairs))
    a, b = body.element("a", [], dtype), body.element("b", [], dtype)
    flag = body.element("flag", [], "bool")
    for name in operations(dtype):
        operands = (a, b)[: MAPS[name].arity]
        body.output(f"{name}_out", body.add(name, *operands, name=f"{name}_node"))
    body.output("where_out", body.add("where", flag, a, b))
    return body.scan(), {"a": pairs[:, 0], "b": pairs[:, 1], "flag": np.arange(len(pairs)) % 3 == 0}


@pytest.mark.parametrize(("dtype", "halves"), [*((dtype, False) for dtype in sorted(ANY)), ("float16", True)])
def test_operations_give_what_numpy_gives(engine, dtype, halves):
    scan, inputs = scan_of_all(dtype)
    want = run_scan(scan, inputs)
    got = run(scan, lane.draft(scan), engine, inputs, without_halves(engine.record) if halves else engine.record)
    wrong = []
    for name in want:
        wrong += differences(name, inputs, got[name], want[name])
    assert not wrong, "\n".join(wrong[:40])


def differences(name, inputs, got, want):
    operation = name.removesuffix("_out")
    tiny = (np.abs(want.astype(np.float64)) < 1.2e-38) & (want.dtype.kind == "f")
    with np.errstate(all="ignore"):
        if want.dtype.kind != "f":
            bad = got != want
        else:
            tolerance = 2e-3 if want.dtype == np.float16 else LOOSE.get(operation, 2e-6)
            bad = ~np.isclose(got.astype(np.float64), want.astype(np.float64), tolerance, 1e-7, equal_nan=True)
            bad &= ~tiny
            if operation in ("sin", "cos", "tan"):
                bad &= np.abs(inputs["a"]) < 1e5  # beyond, the functions are only bounded
            if operation == "pow":
                bad &= ~(np.isneginf(inputs["a"]) & (inputs["b"] == 0.5))  # NumPy takes the square root
            if operation in ("pow", "fmod", "mod", "exp", "div"):
                # Just above the subnormal numbers and just below infinity a device may lose everything.
                bad &= ~((np.abs(want) > 3e38) & (np.abs(got) > 3e38))
    rows = np.flatnonzero(bad)
    places = [f"{inputs['a'][row]!r}, {inputs['b'][row]!r}" for row in rows]
    return [f"{operation}({place}): {got[row]!r}, not {want[row]!r}" for place, row in zip(places, rows, strict=True)]


@pytest.mark.parametrize("source", sorted(ANY))
def test_conversions_give_what_numpy_gives(engine, source):
    values = values_of(source)
    if source in FLOATS:
        with np.errstate(over="ignore"):
            values = np.array([*values.tolist(), 127.9, -128.9, 255.5, 300.0, -40000.0, 70000.0], source)
    body = Body(len(values))
    x = body.element("x", [], source)
    for target in sorted(ANY):
        body.output(f"{target}_out", body.add("cast", x, dtype=target, name=f"to_{target}"))
    scan, inputs = body.scan(), {"x": values}
    want = run_scan(scan, inputs)
    got = run(scan, lane.draft(scan), engine, inputs)
    for name, expected in want.items():
        np.testing.assert_array_equal(got[name], expected, err_msg=f"{name} of {values!r}")


@pytest.mark.parametrize(
    "operation", ["exp", "log", "tanh", "sigmoid", "softplus", "erf", "sin", "cos", "atan", "asinh", "log", "sqrt"]
)
def test_functions_are_accurate_over_their_range(engine, operation):
    generator = np.random.default_rng(5)
    values = np.concatenate([generator.normal(size=3000) * scale for scale in (1e-3, 0.3, 2, 20)]).astype(np.float32)
    if operation in ("log", "sqrt"):
        values = np.abs(values)
    body = Body(len(values))
    body.output("y", body.add(operation, body.element("x", []), name="f"))
    scan = body.scan()
    got = run(scan, lane.draft(scan), engine, {"x": values})["y"]
    want = run_scan(scan, {"x": values})["y"].astype(np.float64)
    np.testing.assert_allclose(got, want, rtol=1.5e-6, atol=2e-7)
