"""Section 7: host data, and solving types at a call."""

from typing import Any

import numpy as np
import pytest

from scanbuild.planning.request import Destination, HostTensor
from tests.planning.sentences import Call, Rule, cases, data, judge, resident, tensor


def port(x: Any, /, types: dict[str, Any] | None = None, inputs: dict[str, Any] | None = None, **members: Any) -> Call:
    """A call that gives `x` to a port with these members."""
    manifest = {"typeConstraints": types or {}, "inputs": {"x": members, "w": {"dtype": "float32", "optional": True}}}
    return Call(manifest=manifest, x=x, item={"bindings": ["y"]}, inputs=inputs or {})


def pair(x: Any, w: Any, dtype: str, types: dict[str, Any] | None = None, **w_members: Any) -> Call:
    ports = {"x": {"dtype": dtype}, "w": {"dtype": dtype, **w_members}}
    return Call(
        manifest={"typeConstraints": types or {}, "inputs": ports}, x=x, inputs={"w": w}, item={"bindings": ["y"]}
    )


def tagged(numpy: str, dtype: str | None, as_class: str | None = None) -> HostTensor:
    return HostTensor(array=np.array([1, 2, 3], dtype=numpy), shape=[3], dtype=dtype, array_class=as_class)


NARROW: dict[str, Any] = {"dtype": "int64", "storage": "int32", "narrowing": "checked"}
BOTH = {"T": ["float32", "int32"]}

RULES = [
    Rule(
        "7.2",
        "without a dtype the class decides",
        [
            port(tagged(numpy, None), dtype=dtype)
            for numpy, dtype in (
                ("float32", "float32"),
                ("int8", "int8"),
                ("int16", "int16"),
                ("int32", "int32"),
                ("uint8", "uint8"),
                ("uint16", "float16"),
                ("uint32", "uint32"),
                ("float16", "float16"),
                ("int64", "int64"),
            )
        ]
        + [port(tagged("uint8", None, "Uint8ClampedArray"), dtype="uint8")],
        [
            ("type", port(tagged("uint8", None), dtype="bool")),
            ("type", port(tagged("uint16", None), dtype="uint32")),
            ("host-class", port(tagged("float64", None), dtype="float32")),
            ("host-class", port(tagged("float64", "float32"), dtype="float32")),
            ("host-class", port(tagged("uint64", None), dtype="int64")),
            ("host-class", port(tagged("float32", None, "Float64Array"), dtype="float32")),
            ("host-class", port(tagged("float32", None, "DataView"), dtype="float32")),
        ],
    ),
    Rule(
        "7.2",
        "an explicit dtype is one of nine",
        [port(tagged("uint8", "bool"), dtype="bool"), port(tagged("float32", "uint8"), dtype="uint8")],
        [
            ("host-dtype", port(tagged("uint8", "uint16"), dtype="bool")),
            ("host-dtype", port(tagged("float32", "f32"), dtype="float32")),
            ("host-dtype", port(tagged("float32", ""), dtype="float32")),
        ],
    ),
    Rule(
        "7.2",
        "halves in their own class serve float16 only",
        [port(tagged("float16", "float16"), dtype="float16"), port(tagged("uint16", "int32"), dtype="int32")],
        [("host-dtype", port(tagged("float16", "float32"), dtype="float32"))],
    ),
    Rule(
        "7.2",
        "int64 data come in their own class",
        [port(tagged("int64", "int64"), dtype="int64")],
        [
            ("host-int64", port(tagged("int32", "int64"), dtype="int64")),
            ("host-int64", port(tagged("int64", "int32"), dtype="int32")),
        ],
    ),
    Rule(
        "7.2",
        "int64 data go to a port that admits int64",
        [
            port(tagged("int64", None), dtype="int64"),
            port(tagged("int64", None), {"T": ["float32", "int64"]}, dtype="T"),
            port(tagged("int64", None), {"T": ["int64"]}, dtype="T"),
        ],
        [
            ("host-int64", port(tagged("int64", None), dtype="int32")),
            ("host-int64", port(tagged("int64", None), BOTH, dtype="T")),
            ("host-int64", port(tagged("int64", None), dtype="Undeclared")),
            ("host-int64", port(tagged("int64", None))),
        ],
    ),
    Rule(
        "7.2",
        "the shape is a list of non-negative integers",
        [port(HostTensor(shape=shape, dtype="float32"), dtype="float32") for shape in ([], [0, 5], [2.0], (1, 2))],
        [
            ("host-shape", port(HostTensor(shape=None, dtype="float32"), dtype="float32")),
            ("host-shape", port(HostTensor(shape=3, dtype="float32"), dtype="float32")),
            ("host-shape", port(HostTensor(shape="3", dtype="float32"), dtype="float32")),
        ],
    ),
    Rule(
        "7.2",
        "there are as many values as the shape holds",
        [
            port(HostTensor(array=np.zeros(6, np.float32), shape=[2, 3]), dtype="float32"),
            port(HostTensor(array=np.zeros(1, np.float32), shape=[]), dtype="float32"),
            port(HostTensor(array=np.zeros(0, np.float32), shape=[4, 0]), dtype="float32"),
        ],
        [
            ("host-length", port(HostTensor(array=np.zeros(5, np.float32), shape=[2, 3]), dtype="float32")),
            ("host-length", port(HostTensor(array=np.zeros(7, np.float32), shape=[2, 3]), dtype="float32")),
            ("host-length", port(HostTensor(array=np.zeros(0, np.float32), shape=[]), dtype="float32")),
        ],
    ),
    Rule(
        "7.2",
        "checked narrowing takes what fits, saturating everything",
        [
            port(data(2**31 - 1, dtype="int64"), **NARROW),
            port(data(2**40, dtype="int64"), **{**NARROW, "narrowing": "saturating"}),
            port(data(2**32 - 1, dtype="int64"), **{**NARROW, "storage": "uint32"}),
        ],
        [
            ("host-narrow", port(data(2**31, dtype="int64"), **NARROW)),
            ("host-narrow", port(data(-(2**31) - 1, dtype="int64"), **NARROW)),
            ("host-narrow", port(data(-1, dtype="int64"), **{**NARROW, "storage": "uint32"})),
        ],
    ),
    Rule(
        "7.2",
        "a projected port takes data of its storage dtype too",
        [port(tagged("int32", None), **NARROW), port(tagged("float32", "int32"), **NARROW)],
        [
            ("type-storage", port(tagged("uint32", None), **NARROW)),
            ("type-storage", port(tagged("float32", None), **NARROW)),
        ],
    ),
    Rule(
        "7.1",
        "packed values are bytes",
        [port(tagged("float32", "uint8"), dtype="uint8", layout="packed")],
        [
            (
                "host-packed",
                port(
                    HostTensor(array=np.array([value], dtype=np.float32), shape=[1], dtype="uint8"),
                    dtype="uint8",
                    layout="packed",
                ),
            )
            for value in (256, -1)
        ],
    ),
    Rule(
        "7.3.1",
        "a tensor has the declared storage",
        [
            port(resident(3, dtype="int32", logical="int64"), **NARROW),
            port(tensor(3), dtype="float32", storage="float32"),
        ],
        [("type-storage", port(resident(3, dtype="int64"), **NARROW))],
    ),
    Rule(
        "7.3.2",
        "a concrete dtype takes itself",
        [port(tensor(3, dtype="uint8"), dtype="uint8")],
        [
            ("type", port(tensor(3, dtype="uint8"), dtype="uint32")),
            ("type", port(tensor(3, dtype="int32"), {"float32": ["int32"]}, dtype="float32")),
        ],
    ),
    Rule(
        "7.3.3",
        "a declared variable takes what its list has",
        [port(tensor(3, dtype="int32"), BOTH, dtype="T"), port(tensor(3, dtype="int64"), {"T": ["int64"]}, dtype="T")],
        [
            ("type", port(tensor(3, dtype="int8"), BOTH, dtype="T")),
            ("type", port(tensor(3, dtype="int32"), {"T": ["int64"]}, dtype="T")),
        ],
    ),
    Rule(
        "7.3.4",
        "an undeclared variable takes anything, whatever other ports have, but no other tag",
        [
            pair(tensor(3), tensor(2, dtype="int8"), "U"),
            port(resident(3, dtype="int64"), dtype="U"),
            port(resident(3, dtype="int32", logical="int64")),
        ],
        [
            ("type-tag", port(resident(3, dtype="int32", logical="int64"), dtype="U")),
            ("type-name", port(tensor(3), dtype="toString")),
        ],
    ),
    Rule(
        "7.3.5",
        "a resident tensor carries the logical dtype of the port",
        [port(resident(3, dtype="int32"), dtype="int32"), port(resident(3, dtype="int32", logical="int64"), **NARROW)],
        [
            ("type-tag", port(resident(3, dtype="int32", logical="int64"), dtype="int32")),
            ("type-tag", port(resident(3, dtype="int32"), **NARROW)),
            ("type-tag", port(resident(3, dtype="int32", logical="int64"), BOTH, dtype="T")),
        ],
    ),
    Rule(
        "7.3.6",
        "ports of one label agree",
        [
            pair(tensor(3), tensor(2), "T", BOTH),
            pair(tensor(3, dtype="int64"), tensor(2, dtype="int64"), "int64"),
            Call(
                manifest={
                    "typeConstraints": {"K": ["int64"]},
                    "inputs": {"x": {**NARROW, "dtype": "K"}, "w": {"dtype": "int64"}},
                },
                x=tensor(3, dtype="int64"),
                inputs={"w": tensor(3, dtype="int64")},
                item={"bindings": ["y"]},
            ),
        ],
        [
            ("type-label", pair(tensor(3), tensor(2, dtype="int32"), "T", BOTH)),
            (
                "type-label",
                pair(tensor(3, dtype="int64"), tensor(2, dtype="int64"), "int64", storage="int32", narrowing="checked"),
            ),
            (
                "type-label",
                Call(
                    manifest={
                        "inputs": {"x": NARROW},
                        "outputs": {"y": {"dtype": "int64", "shape": "shapes.x"}},
                    },
                    x=tensor(3, dtype="int64"),
                ),
            ),
        ],
    ),
    Rule(
        "7.3",
        "a destination takes part like a tensor of its dtype",
        [
            Call(outputs={"y": Destination(shape=[3], dtype="float32")}),
            Call(
                manifest={
                    "typeConstraints": BOTH,
                    "outputs": {"y": {"dtype": "T", "shape": "[len]"}},
                    "derive": {"len": "4 if dtypes.T == 'i32' else 5"},
                },
                outputs={"y": Destination(shape=[3], dtype="int32")},
            ),
        ],
        [
            ("type", Call(outputs={"y": Destination(shape=[3], dtype="int32")})),
            (
                "type-label",
                Call(
                    manifest={
                        "typeConstraints": BOTH,
                        "inputs": {"x": {"dtype": "T"}},
                        "outputs": {"y": {"dtype": "T", "shape": "shapes.x"}},
                    },
                    outputs={"y": Destination(shape=[3], dtype="int32")},
                ),
            ),
        ],
    ),
]


@cases(RULES)
def test_types(call: Call, why: str | None):
    judge(call, why)


def test_a_destination_solves_a_variable_of_outputs_alone():
    call = Call(
        manifest={"typeConstraints": BOTH, "outputs": {"y": {"dtype": "T", "shape": [2]}}},
        outputs={"y": Destination(shape=[], dtype="int32")},
    )
    assert call.prepare().plan.outputs["y"].dtype == "int32"


@pytest.mark.parametrize("dimension", [-1, 1.5, "2", None, True, [1]])
def test_a_dimension_of_host_data_is_a_count(dimension: Any):
    judge(
        port(HostTensor(shape=[dimension], dtype="float32"), dtype="float32", inputs={"w": tensor(3)}),
        "shape-dimension",
    )
