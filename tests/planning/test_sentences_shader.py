"""Section 5: from template to shader module."""

from typing import Any

from tests.planning.sentences import DECLARED, MAIN, Call, Rule, cases, device, judge, resident, tensor

SKIPPED = {"dispatch": {"x": 0}}
INT64 = {"inputs": {"x": {"dtype": "int64"}}, "outputs": {"y": {"dtype": "int64", "shape": "shapes.x"}}}
WORDS = tensor(3, dtype="int64")
PACKED = {"inputs": {"x": {"dtype": "uint8", "layout": "packed"}}}


def uniforms(*structs: dict[str, Any], **item: Any) -> Call:
    entries = [{"name": f"u{index}", **struct} for index, struct in enumerate(structs)]
    return Call(item={"bindings": ["x", "y", *entries], **item}, shader=DECLARED)


def field(kind: str = "u32", /, *, item: dict[str, Any] | None = None, args: Any = None, **members: Any) -> Call:
    made = {"name": "v", "type": kind, **members}
    declared = {"v": {"kind": args[0], "required": False}} if args else {}
    return Call(
        item={"bindings": ["x", "y", {"name": "u", "struct": [made]}], **(item or {})},
        manifest={"args": declared, "attributes": {"q": {}}},
        args={"v": args[1]} if args and len(args) > 1 else {},
    )


def bound(*, item: dict[str, Any] | None = None, x: Any = None, manifest: dict[str, Any] | None = None, **entry: Any):
    more = {} if x is None else {"x": x}
    return Call(
        item={"bindings": [{"name": "x", **entry}, "y"], **(item or {})},
        manifest=manifest or {},
        shader=DECLARED,
        **more,
    )


def opaque(text: str, item: dict[str, Any] | None = None) -> Call:
    return Call(manifest=INT64, x=WORDS, item=item or {}, shader=f"fn f() {{ {text} }}\n{MAIN}")


ONE = {"name": "v", "type": "u32", "value": 1}

RULES = [
    Rule(
        "5.1",
        "one struct name in a pass is one schema",
        [
            uniforms({"struct": [ONE]}, {"struct": [{**ONE, "value": 2}]}),
            uniforms({"struct": [ONE]}, {"struct": [{**ONE, "required": True}]}),
            uniforms({"struct": [ONE]}, {"struct": [{**ONE, "internal": False}]}),
            uniforms({"struct": [{**ONE, "default": 1}]}, {"struct": [{**ONE, "default": 1.0}]}),
            uniforms({"struct": [ONE]}, {"struct": [{**ONE, "type": "i32"}], "structName": "Other"}),
            uniforms(
                {"struct": [{**ONE, "internal": True, "required": False}]}, {"struct": [{**ONE, "internal": True}]}
            ),
        ],
        [
            ("struct-clash", uniforms({"struct": [ONE]}, {"struct": [{**ONE, "type": "i32"}]})),
            ("struct-clash", uniforms({"struct": [ONE]}, {"struct": [{**ONE, "name": "w"}]})),
            ("struct-clash", uniforms({"struct": [ONE]}, {"struct": [ONE, {**ONE, "name": "w"}]})),
            ("struct-clash", uniforms({"struct": [ONE]}, {"struct": [{**ONE, "required": False}]})),
            ("struct-clash", uniforms({"struct": [ONE]}, {"struct": [{**ONE, "internal": True}]})),
            ("struct-clash", uniforms({"struct": [{**ONE, "default": 1}]}, {"struct": [{**ONE, "default": "1"}]})),
            ("struct-clash", uniforms({"struct": [ONE]}, {"struct": [{**ONE, "type": "i32"}]}, **SKIPPED)),
        ],
    ),
    Rule(
        "5.1",
        "a struct name is an identifier",
        [uniforms({"struct": [ONE], "structName": "_P1"})],
        [
            ("struct-name", uniforms({"struct": [ONE], "structName": "my params"})),
            ("struct-name", uniforms({"struct": [ONE], "structName": "1P"}, **SKIPPED)),
        ],
    ),
    Rule(
        "5.2",
        "an executed pass has a text with an entry point main",
        [
            Call(),
            Call(shader="", item=SKIPPED),
            Call(shader="fn other() {}", item=SKIPPED),
            Call(shader="@compute @workgroup_size(1) fn other() {}\n" + MAIN),
        ],
        [
            ("template-empty", Call(shader="")),
            ("template-empty", Call(shader="{# nothing #}")),
            ("wgsl", Call(shader=" ")),
            ("wgsl", Call(shader="@compute @workgroup_size(1) fn other() {}")),
        ],
    ),
    Rule(
        "5.2",
        "the device is not asked before a line is injected",
        [
            Call(shader=MAIN + "\n// f16"),
            Call(shader=f"alias H = f16;\n{MAIN}", device=device("shader-f16")),
            Call(shader=f"alias H = f16;\n{MAIN}", item=SKIPPED),
        ],
        [("wgsl", Call(shader=f"alias H = f16;\n{MAIN}")), ("wgsl", Call(shader=f"enable subgroups;\n{MAIN}"))],
    ),
    Rule(
        "5.3",
        "a dollar name is a derive or a label",
        [
            bound(elementType="$float32"),
            bound(elementType="$k", manifest={"derive": {"k": "'u32'"}}),
            bound(elementType="$k", item={"derive": {"k": "'u32'"}}),
        ],
        [
            ("dollar-name", bound(elementType="$nope")),
            ("dollar-name", bound(elementType="$a.b")),
            ("dollar-name", bound(elementType="$k", manifest={"attributes": {"k": {"default": "u32"}}})),
            ("dollar-name", bound(elementType="$k", manifest={"tunables": {"k": {"default": "u32"}}})),
            ("dollar-name", bound(elementType="$DISPATCH_FOLD_WIDTH")),
            ("dollar-name", bound(elementType="$k", manifest={"derive": {"k": None}}, item=SKIPPED)),
            ("dollar-name", bound(length="$nope", item=SKIPPED)),
        ],
    ),
    Rule(
        "5.3",
        "a sized binding has elements of a few types",
        [
            bound(elementType=kind, length=1, x=tensor(4))
            for kind in ("f32", "u32", "i32", "atomic<u32>", "atomic<i32>", "vec2<f32>", "vec3<u32>", "vec4< i32 >")
        ]
        + [bound(elementType="Own", item=SKIPPED)],
        [
            ("sized-type", bound(elementType=kind, length=1, x=tensor(4), item=item))
            for kind in ("vec4f", "bool", "mat2x2<f32>", "Own", "array<f32, 2>", "float32", " f32", "vec2 <f32>")
            for item in ({}, SKIPPED)
        ],
    ),
    Rule(
        "5.3",
        "the buffer of an executed pass holds the length",
        [
            bound(length=3),
            bound(length=99, item=SKIPPED),
            bound(elementType="vec3<f32>", length=1, x=tensor(4)),
            bound(length=1, x=resident(0), manifest={"outputs": {}}, item={"bindings": [{"name": "x", "length": 1}]}),
            bound(length=2, x=tensor(5, dtype="uint8"), manifest=PACKED),
            bound(length=3, x=WORDS, manifest={"inputs": {"x": {"dtype": "int64"}}}),
        ],
        [
            ("sized-length", bound(length=4)),
            ("sized-length", bound(elementType="vec2<f32>", length=2)),
            ("sized-length", bound(elementType="vec3<f32>", length=1)),
            ("sized-length", bound(length=3, x=tensor(5, dtype="uint8"), manifest=PACKED)),
            ("sized-length", bound(length=4, x=WORDS, manifest={"inputs": {"x": {"dtype": "int64"}}})),
        ],
    ),
    Rule(
        "5.4",
        "a tensor stored as int64 is bound as pairs of words",
        [
            Call(manifest=INT64, x=WORDS, shader=DECLARED),
            Call(
                manifest={**INT64, "derive": {"k": "'vec2< u32 >'"}},
                x=WORDS,
                item={"bindings": [{"name": "x", "elementType": "$k"}, "y"]},
            ),
        ],
        [
            (
                "int64-type",
                Call(
                    manifest={**INT64, "derive": {"k": "'u32'"}},
                    x=WORDS,
                    item={"bindings": [{"name": "x", "elementType": "$k"}, "y"], **item},
                ),
            )
            for item in ({}, SKIPPED)
        ],
    ),
    Rule(
        "5.4",
        "opaque elements are copied and nothing else",
        [
            opaque("y[0] = x[1];"),
            opaque("let v = x[i + 1u * 2u]; y[0] = v;"),
            opaque("y[0] = select(x[0], x[1], c);"),
            opaque("// x[0] + x[1]\n"),
            opaque("y[0] + y[1]", SKIPPED),
        ],
        [
            ("int64-arithmetic", opaque("x[0] + x[1]")),
            ("int64-arithmetic", opaque("let v = x[0]; let u = v; u.x")),
            ("int64-arithmetic", opaque("min((x[0]), a)")),
            ("int64-arithmetic", opaque("x/**/[0] == a")),
        ],
    ),
    Rule(
        "5.5",
        "a field without value takes the argument, then the default, then zero if it is not required",
        [
            field(value=1),
            field(value=None, default=2),
            field(args=("u32", 3)),
            field(args=("u32",), default=4),
            field(args=("string", "1 + 1")),
            field(required=False),
            field(required=0),
            field(required=""),
            field(internal=True),
            field(internal=True, required=None),
            field(item=SKIPPED),
        ],
        [
            ("uniform-missing", field()),
            ("uniform-missing", field(args=("u32",))),
            ("uniform-missing", field(required=True, internal=True)),
            ("uniform-missing", field(required="false")),
            ("uniform-missing", field(required=[])),
            ("uniform-number", field(value="attrs.q", default=1)),
            ("uniform-number", field(value="none", default=1)),
            ("uniform-number", field(default=None)),
            ("uniform-number", field(default=None, required=False, item=SKIPPED)),
            ("uniform-number", field(args=("string", "'a'"))),
            ("uniform-number", field(args=("bool", True))),
        ],
    ),
    Rule(
        "5.5",
        "a value is a number, in skipped passes too",
        [field("f32", value="1 / 0"), field("f32", value=-1.5), field(value="6 / 2")],
        [
            ("uniform-number", field(kind, value=value, item=item))
            for kind, value in (
                ("u32", "true"),
                ("u32", "'1'"),
                ("u32", "[1]"),
                ("f32", "0 / 0"),
                ("u32", "1 / 0"),
                ("i32", "-1 / 0"),
                ("f32", True),
                ("f32", {}),
            )
            for item in ({}, SKIPPED)
        ],
    ),
    Rule(
        "5.5",
        "an integer field of an executed pass is whole and in range",
        [
            field(value=4294967295),
            field(value="0 * -1"),
            field("i32", value=-2147483648),
            field(value="2.0"),
            field(value=-1, item=SKIPPED),
            field(value=0.5, item=SKIPPED),
            field("f32", value=1e300),
        ],
        [
            ("uniform-range", field(value=4294967296)),
            ("uniform-range", field(value=-1)),
            ("uniform-range", field(value="0.5")),
            ("uniform-range", field("i32", value=2147483648)),
            ("uniform-range", field("i32", value=-2147483649)),
        ],
    ),
]


@cases(RULES)
def test_shader(call: Call, why: str | None):
    judge(call, why)
