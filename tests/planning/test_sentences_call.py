"""Section 8: calling a kernel."""

from typing import Any

from scanbuild.planning.request import Destination
from tests.planning.sentences import MAIN, Call, Rule, cases, device, judge, resident, tensor

FLOAT = {"dtype": "float32"}


def out(shape: Any, /, **more: Any) -> Call:
    """A call of a kernel whose output has this shape in the manifest."""
    manifest = {"outputs": {"y": {"dtype": "float32", "shape": shape}}, **more.pop("manifest", {})}
    return Call(manifest=manifest, **more)


def bare(**more: Any) -> Call:
    """A call of a kernel whose output has no shape in the manifest."""
    return Call(manifest={"outputs": {"y": FLOAT}}, **more)


def arg(kind: str, value: Any, /, **more: Any) -> Call:
    return Call(manifest={"args": {"n": {"kind": kind, "required": False, **more}}}, args={"n": value})


def attribute(constraint: dict[str, Any], attrs: dict[str, Any], **more: Any) -> Call:
    return Call(manifest={"attributes": {"a": more}, "attributeConstraints": {"a": constraint}}, attrs=attrs)


def inout(source: dict[str, Any], target: dict[str, Any], **more: Any) -> Call:
    """A call of a kernel whose one tensor is input and output."""
    manifest = {"inputs": {"y": {**FLOAT, **source}}, "outputs": {"y": {**FLOAT, **target}}}
    return Call(manifest=manifest, item={"bindings": [{"name": "y", "elementType": "f32"}]}, x=None, **more)


def unsolved(types: list[str] | None, /, domain: str = "ai.onnx", required: bool = True, **more: Any) -> Call:
    """A call of a kernel whose output has a variable of its own and whose attribute `to` tells its dtype."""
    manifest = {
        "domain": domain,
        "attributes": {"to": {}},
        "attributeConstraints": {"to": {"required": True} if required else {"values": [1, 6, 7]}},
        "typeConstraints": {} if types is None else {"U": types},
        "outputs": {"y": {"dtype": "U", "shape": [3]}},
    }
    return Call(manifest=manifest, item={"bindings": ["x"]}, **more)


TWO = {"inputs": {"x": FLOAT, "w": {**FLOAT, "optional": True}}, "args": {"n": {"kind": "u32", "required": False}}}

RULES = [
    Rule(
        "8.1",
        "an input that is no tensor is a scalar argument",
        [
            Call(manifest=TWO, inputs={"n": 3}),
            Call(manifest=TWO, inputs={"n": 3}, args={"n": -1}),
            Call(manifest=TWO),
            Call(inputs={"y": tensor(3)}),
        ],
        [
            ("input-kind", Call(manifest=TWO, inputs={"w": None})),
            ("input-kind", Call(manifest=TWO, inputs={"w": 3})),
            ("input-kind", Call(manifest=TWO, inputs={"n": None})),
            ("input-kind", Call(manifest=TWO, inputs={"n": tensor(3)})),
            ("input-name", Call(inputs={"q": tensor(3)})),
            ("arg", Call(inputs={"q": 3})),
        ],
    ),
    Rule(
        "8.3",
        "a destination is a tensor, or an object with a shape",
        [
            Call(outputs={"y": Destination(shape=[3])}),
            Call(outputs={"y": resident(3)}),
            Call(outputs={"y": Destination(shape=3, dtype="nonsense")}),
            Call(outputs={"y": Destination(dtype="nonsense")}),
            Call(manifest=TWO, outputs={"n": Destination(shape=[1])}),
        ],
        [
            ("destination", Call(outputs={"y": 3})),
            ("destination", Call(outputs={"y": None})),
            ("output-name", Call(outputs={"q": Destination(shape=[1])})),
            ("destination-dtype", Call(outputs={"y": Destination(shape=[3], dtype="nonsense")})),
        ],
    ),
    Rule(
        "8.1",
        "attributes are known",
        [Call(manifest={"attributes": {"a b": {}}}, attrs={"a b": [{}]})],
        [("attribute", Call(attrs={"a": 1}))],
    ),
    Rule(
        "8.1",
        "a required attribute is given, null or not",
        [attribute({"required": True}, {"a": None}), attribute({"required": False, "values": [1]}, {})],
        [("attribute-required", attribute({"required": True}, {}))],
    ),
    Rule(
        "8.1",
        "a constrained attribute that is present is one of its values",
        [attribute({"values": [1, "b", None, True]}, {"a": value}) for value in (1, 1.0, 1.00000001, "b", None, True)]
        + [attribute({"values": [1e300]}, {"a": 1e200}), attribute({"values": [0]}, {"a": -1e-60})],
        [
            ("attribute-value", attribute({"values": [1, "b"]}, {"a": value}))
            for value in (2, "1", True, None, "B", [1], {})
        ]
        + [("attribute-value", attribute({"values": [1]}, {"a": None}, default=1))],
    ),
    Rule(
        "8.2",
        "ports that are not optional are given",
        [Call(), Call(manifest=TWO)],
        [("input-required", Call(x=None)), ("input-required", out([3], x=None))],
    ),
    Rule(
        "8.2",
        "arguments are known, and given unless they are not required",
        [
            Call(manifest={"args": {"n": {"kind": "u32"}}}, args={"n": 0}),
            arg("u32", None),
            Call(manifest={"args": {"n": {"kind": "u32", "required": False}}}),
        ],
        [
            ("arg", Call(args={"n": 1})),
            ("arg", Call(args={"n": None})),
            ("arg-required", Call(manifest={"args": {"n": {"kind": "u32"}}})),
            ("arg-required", Call(manifest={"args": {"n": {"kind": "u32"}}}, args={"n": None})),
        ],
    ),
    Rule(
        "8.2",
        "an argument is of its kind",
        [
            arg(kind, value)
            for kind, value in (
                ("u32", 4294967295),
                ("u32", 2.0),
                ("i32", -2147483648),
                ("f32", 1e300),
                ("bool", False),
                ("string", ""),
            )
        ]
        + [arg("string", "a", oneOf=["a", 3])],
        [
            ("arg-kind", arg(kind, value))
            for kind, value in (
                ("u32", 4294967296),
                ("u32", -1),
                ("u32", 1.5),
                ("u32", "1"),
                ("u32", True),
                ("i32", 2147483648),
                ("f32", float("inf")),
                ("f32", float("nan")),
                ("f32", "1"),
                ("f32", True),
                ("bool", 1),
                ("string", 1),
            )
        ]
        + [("arg-kind", arg("string", value, oneOf=["a", 3])) for value in ("b", "A", "3", "")],
    ),
    Rule(
        "8.2",
        "a resident tensor lies as the port wants it",
        [
            inout(
                {"dtype": "uint8", "layout": "packed"},
                {"dtype": "uint8"},
                inputs={"y": resident(5, dtype="uint8", packed=True)},
            )
        ],
        [
            (
                "layout",
                inout(
                    {"dtype": "uint8", "layout": "packed"}, {"dtype": "uint8"}, inputs={"y": resident(5, dtype="uint8")}
                ),
            ),
            (
                "layout",
                inout({"dtype": "uint8"}, {"dtype": "uint8"}, inputs={"y": resident(5, dtype="uint8", packed=True)}),
            ),
            (
                "layout",
                inout({"dtype": "uint8", "layout": "packed", "optional": True}, {"dtype": "uint8", "shape": [3]}),
            ),
        ],
    ),
    Rule(
        "8.3",
        "an output without shape takes that of its destination",
        [
            bare(outputs={"y": Destination(shape=[3.0, 0])}),
            bare(outputs={"y": resident(7)}),
            bare(inputs={"y": tensor(2)}),
        ],
        [
            ("output-shape", bare()),
            ("output-shape", bare(outputs={"y": Destination(shape="3")})),
            ("shape-dimension", bare(outputs={"y": Destination(shape=[1.5])})),
            ("shape-dimension", bare(outputs={"y": Destination(shape=[True])})),
            ("shape-dimension", bare(outputs={"y": Destination(shape=[None])})),
        ],
    ),
    Rule(
        "8.3",
        "an output shape is an expression that gives a list, or a list",
        [out("[1, 2]"), out([]), out("shapes.x"), out(["numel(shapes.x)", 2, "4 / 2"]), out([0]), out("(1, 2)")],
        [
            ("shape", out("3")),
            ("shape", out("none")),
            ("shape", out("'34'")),
            ("expression-syntax", out("")),
            ("expression-name", out("nope")),
        ]
        + [("shape", out(shape, outputs={"y": Destination(shape=[3])})) for shape in (3, None, {}, True)],
    ),
    Rule(
        "8.3",
        "a dimension is a non-negative integer",
        [out([3.0]), out(["6 / 2"]), out(["0 * -1"])],
        [
            ("shape-dimension", out([dimension]))
            for dimension in (-1, 1.5, True, None, [3], {}, "-1", "true", "'3'", "[3]", "1 / 0", "none")
        ],
    ),
    Rule(
        "8.3",
        "a manifest shape goes before that of a destination, and is valid beside any tensor",
        [
            Call(outputs={"y": Destination(shape=["any", -1])}),
            Call(outputs={"y": resident(1)}),
            Call(inputs={"y": tensor(9)}),
        ],
        [
            ("expression-name", out("nope", outputs={"y": resident(3)})),
            ("shape-dimension", out([-1], inputs={"y": tensor(3)})),
        ],
    ),
    Rule(
        "8.3",
        "an optional output is produced when asked for",
        [
            out(
                "nope",
                manifest={"outputs": {"y": {**FLOAT, "shape": "nope", "optional": True}}},
                item={"bindings": ["x"]},
            ),
            Call(manifest={"outputs": {"y": {**FLOAT, "shape": [3], "optional": True}}}, outputs={"y": resident(3)}),
        ],
        [
            ("binding-absent", Call(manifest={"outputs": {"y": {**FLOAT, "shape": [3], "optional": True}}})),
            (
                "binding-absent",
                Call(
                    manifest={"outputs": {"y": {**FLOAT, "shape": [3], "optional": True}}},
                    outputs={"y": Destination(dtype="float32")},
                ),
            ),
        ],
    ),
    Rule(
        "8.3",
        "an absent inout is created like an output",
        [
            inout({}, {"shape": [4]}),
            inout({}, {}, outputs={"y": Destination(shape=[4])}),
            inout({}, {}, inputs={"y": tensor(4)}),
            inout({}, {"shape": [4], "optional": True}, outputs={"y": Destination(shape=[4])}),
        ],
        [
            ("output-shape", inout({}, {})),
            ("input-required", inout({}, {"shape": [4], "optional": True})),
            ("binding-absent", inout({"optional": True}, {"shape": [4], "optional": True})),
        ],
    ),
    Rule(
        "8.3",
        "the attribute to picks the dtype of an unsolved output",
        [
            unsolved(["float32", "int32"], attrs={"to": 6}),
            unsolved(["float32", "int32"], attrs={"to": 1.0}),
            unsolved(["float32", "int32"], attrs={"to": 99}, outputs={"y": Destination(shape=[3], dtype="int32")}),
            unsolved(["float32", "int32"], required=False),
            unsolved(["float32", "int32"], domain="com.example", attrs={"to": 99}),
            unsolved(["int32"], domain="com.example", attrs={"to": "any"}),
            unsolved(None, required=False),
        ],
        [
            ("output-to", unsolved(["float32", "int32"], attrs={"to": code}))
            for code in (7, 99, 0, -1, 1.5, "1", True, None, [1])
        ]
        + [("output-to", unsolved(["int32"], attrs={"to": 1})), ("output-to", unsolved(None, attrs={"to": 1}))],
    ),
    Rule(
        "8.3",
        "an unsolved output takes the first input of a dtype in its list",
        [
            unsolved(["float32", "int8"], required=False),
            unsolved(["int8"], required=False),
        ],
        [("output-dtype", unsolved(["int8", "uint8"], required=False))],
    ),
    Rule(
        "8.3",
        "a destination without dtype stands for what the port tells",
        [
            unsolved(["int8"], required=False, outputs={"y": Destination(shape=[3])}),
            unsolved(["float32", "int8"], required=False, outputs={"y": Destination(shape=[3])}),
        ],
        [
            ("type", unsolved(["int32", "int8"], required=False, outputs={"y": Destination(shape=[3])})),
            ("destination-dtype", unsolved(None, required=False, outputs={"y": Destination(shape=[3])})),
        ],
    ),
    Rule(
        "8.3",
        "a destination of a projected port names the logical or the storage dtype",
        [
            Call(
                manifest={"outputs": {"y": {"dtype": "int64", "storage": "int32", "shape": [3]}}},
                outputs={"y": Destination(shape=[3], dtype=dtype)},
            )
            for dtype in ("int64", "int32")
        ],
        [
            (
                "type-storage",
                Call(
                    manifest={"outputs": {"y": {"dtype": dtype, "storage": storage, "shape": [3]}}},
                    outputs={"y": Destination(shape=[3], dtype=wished)},
                ),
            )
            for dtype, storage, wished in (("int64", "int32", "uint32"), ("float32", "float32", "int64"))
        ],
    ),
    Rule(
        "8.5",
        "for empty outputs nothing that only the GPU needs is evaluated",
        [
            Call(x=tensor(0), item={"dispatch": {"x": "nope"}}),
            Call(x=tensor(0), item={"profile": {"a": "nope"}}),
            Call(x=tensor(0), variant={"intermediates": [{"id": "t", "dtype": "float32", "shape": "nope"}]}),
            Call(
                x=tensor(0),
                item={"bindings": [{"name": "u", "struct": [{"name": "v", "type": "u32", "value": "nope"}]}]},
            ),
            Call(x=tensor(0), manifest={"inputs": TWO["inputs"]}, item={"bindings": ["x", "w", "y"]}),
            Call(x=tensor(0), shader=""),
            Call(x=tensor(0), shader="no shader"),
        ],
        [
            ("expression-name", Call(x=tensor(0), manifest={"derive": {"n": "nope"}})),
            ("expression-name", Call(x=tensor(0), variant={"derive": {"n": "nope"}})),
            ("expression-name", Call(x=tensor(0), item={"derive": {"n": "nope"}})),
            ("no-variant", Call(x=tensor(0), variant={"when": ["false"]})),
            ("template-value", Call(x=tensor(0), shader="{{ raise_exception('no') }}")),
            ("dollar-name", Call(x=tensor(0), item={"bindings": ["x", {"name": "y", "length": "$nope"}]})),
            (
                "sized-type",
                Call(x=tensor(0), item={"bindings": ["x", {"name": "y", "elementType": "vec4f", "length": 1}]}),
            ),
            (
                "no-pass",
                Call(
                    x=tensor(0),
                    variant={
                        "passes": [
                            {
                                "repeat": {"index": "i", "count": 0},
                                "passes": [{"shader": "s.wgsl", "bindings": ["x"], "dispatch": {"x": 1}}],
                            }
                        ]
                    },
                ),
            ),
        ],
    ),
    Rule(
        "8.5",
        "a call is empty only if it has outputs and none has an element",
        [Call(x=tensor(0), outputs={"y": resident(0)}, item={"dispatch": {"x": "nope"}})],
        [
            ("expression-name", Call(x=tensor(0), outputs={"y": resident(2)}, item={"dispatch": {"x": "nope"}})),
            (
                "expression-name",
                Call(x=tensor(0), manifest={"outputs": {}}, item={"bindings": ["x"], "dispatch": {"x": "nope"}}),
            ),
        ],
    ),
    Rule(
        "10.4",
        "a new buffer is not larger than the device allows",
        [
            Call(x=tensor(1024), device=device(maxBufferSize=4096)),
            Call(x=resident(2048), outputs={"y": resident(2048, buffer="c")}, device=device(maxBufferSize=4096)),
            Call(shader=MAIN, x=tensor(1024), device=device(maxBufferSize=4096, maxStorageBufferBindingSize=1)),
        ],
        [
            ("buffer-limit", Call(x=tensor(1025), device=device(maxBufferSize=4096))),
            ("buffer-limit", out([1025], device=device(maxBufferSize=4096))),
        ],
    ),
]


@cases(RULES)
def test_call(call: Call, why: str | None):
    judge(call, why)
