"""Sections 3.7, 9 and 10: what is visible where, variant selection, and execution."""

from dataclasses import replace
from typing import Any

from tests.planning.sentences import Call, Rule, cases, device, judge, resident, tensor

ONE = {"shader": "s.wgsl", "bindings": ["x", "y"], "dispatch": {"x": 1}}
TWO_INPUTS = {"inputs": {"x": {"dtype": "float32"}, "w": {"dtype": "float32", "optional": True}}}
TYPED = {"typeConstraints": {"T": ["float32"]}, "inputs": {"x": {"dtype": "T"}}}
SKIPPED = {"dispatch": {"x": 0}}


def when(*clauses: str, **more: Any) -> Call:
    return Call(variant={"when": list(clauses)}, **more)


def requires(needs: dict[str, Any], *features: str, info: dict[str, Any] | None = None) -> Call:
    return Call(variant={"requires": needs}, device=device(*features, info=info))


def budget(storage: int, uniforms: int, **limits: Any) -> Call:
    names = [{"name": f"x{index}", "arg": "x"} for index in range(storage - 1)]
    structs = [{"name": f"u{index}", "struct": [{"name": "v", "type": "u32", "value": 0}]} for index in range(uniforms)]
    return Call(item={"bindings": [*names, "y", *structs], **SKIPPED}, device=device(**limits))


def dispatch(device_limit: float = 65535, /, **sizes: Any) -> Call:
    return Call(item={"dispatch": sizes}, device=device(maxComputeWorkgroupsPerDimension=device_limit))


def repeat(count: Any, /, *passes: dict[str, Any], derive: dict[str, Any] | None = None) -> Call:
    group = {"id": "g", "repeat": {"index": "i", "count": count}, "passes": list(passes) or [ONE]}
    return Call(variant={"passes": [group, {**ONE, "id": "last"}], "derive": derive or {}}, manifest=TYPED)


def passes(*items: dict[str, Any]) -> Call:
    return Call(variant={"passes": list(items)})


def group(name: str, count: int, *items: dict[str, Any], index: str = "i") -> dict[str, Any]:
    return {"id": name, "repeat": {"index": index, "count": count}, "passes": list(items)}


def named(name: str) -> dict[str, Any]:
    return {**ONE, "id": name}


def scratch(shape: Any, item: dict[str, Any] | None = None, **more: Any) -> Call:
    missing = {} if shape is ... else {"shape": shape}
    return Call(variant={"intermediates": [{"id": "t", "dtype": "float32", **missing}]}, item=item or {}, **more)


def bindings(*names: Any, **more: Any) -> Call:
    return Call(manifest=TWO_INPUTS, item={"bindings": list(names), **more.pop("item", {})}, **more)


SHARED = resident(3)

RULES = [
    Rule(
        "3.7",
        "a derive sees those before it",
        [
            Call(manifest={"derive": {"a": "1", "b": "a + derive.a"}}),
            Call(manifest={"derive": {"a": "1"}}, variant={"derive": {"a": "a + 1"}}, item={"derive": {"a": "a + 1"}}),
        ],
        [
            ("expression-name", Call(manifest={"derive": {"a": "b", "b": "1"}})),
            ("expression-name", Call(manifest={"derive": {"a": "a"}})),
            ("expression-name", Call(variant={"derive": {"a": "b", "b": "1"}})),
            ("expression-name", Call(item={"derive": {"a": "b", "b": "1"}})),
        ],
    ),
    Rule(
        "3.7",
        "bare type variables are visible from the pass on",
        [
            Call(manifest=TYPED, item={"derive": {"t": "T"}}),
            Call(manifest=TYPED, item={"dispatch": {"x": "1 if T == 'f32' else 0"}}),
            Call(item={"derive": {"t": "float32"}}),
            when("dtypes.T == 'f32'", manifest=TYPED),
        ],
        [
            ("expression-name", Call(manifest={**TYPED, "derive": {"t": "T"}})),
            ("expression-name", Call(manifest=TYPED, variant={"derive": {"t": "T"}})),
            ("expression-name", scratch("1 if T else 2", manifest=TYPED)),
            ("expression-name", repeat("1 if T else 2")),
            ("no-variant", when("T == 'f32'", manifest=TYPED)),
        ],
    ),
    Rule(
        "3.7",
        "derives of a variant are not visible in its conditions, those of a pass in no other place",
        [
            when("n == 3", manifest={"derive": {"n": "3"}}),
            repeat("n", derive={"n": "3"}),
            Call(variant={"derive": {"n": "3"}, "intermediates": [{"id": "t", "dtype": "int8", "shape": "n"}]}),
        ],
        [
            ("no-variant", Call(variant={"derive": {"n": "3"}, "when": ["n == 3"]})),
            ("expression-name", repeat("n", {**ONE, "derive": {"n": "3"}})),
            ("expression-name", scratch("n", item={"derive": {"n": "3"}})),
            ("expression-name", passes({**named("a"), "derive": {"n": "1"}}, {**named("b"), "dispatch": {"x": "n"}})),
        ],
    ),
    Rule(
        "3.7",
        "conditions see the tunables of the manifest, passes those of the variant as well",
        [
            when("tunables.t == 1", manifest={"tunables": {"t": {"default": 1}}}),
            Call(variant={"tunables": {"t": {"default": 1}}}, item={"dispatch": {"x": "tunables.t"}}),
        ],
        [("no-variant", Call(variant={"tunables": {"t": {"default": 1}}, "when": ["tunables.t == 1"]}))],
    ),
    Rule(
        "3.7",
        "a failing derive of manifest or variant refuses the call, used or not",
        [
            Call(manifest={**TWO_INPUTS, "derive": {"n": "(shapes.w[0] if present.w else 0)"}}),
            Call(variant={"when": ["true"], "derive": {"n": "1"}}),
        ],
        [
            ("expression-value", Call(manifest={**TWO_INPUTS, "derive": {"n": "shapes.w[0]"}})),
            ("expression-name", Call(variant={"derive": {"n": "nope"}})),
        ],
    ),
    Rule(
        "3.7",
        "shapes are inferred with derives reached by bare name, on the default device",
        [
            Call(manifest={"derive": {"n": "3", "m": "n"}, "outputs": {"y": {"dtype": "float32", "shape": ["m"]}}}),
            Call(
                manifest={
                    "derive": {"m": "device.limits.maxBufferSize // device.limits.maxBufferSize"},
                    "outputs": {"y": {"dtype": "float32", "shape": ["m"]}},
                }
            ),
        ],
        [
            (
                "shape-dimension",
                Call(
                    manifest={"derive": {"n": "3"}, "outputs": {"y": {"dtype": "float32", "shape": ["derive.n"]}}},
                ),
            ),
            (
                "expression-value",
                Call(
                    manifest={"outputs": {"y": {"dtype": "float32", "shape": ["device.limits.own + 1"]}}},
                    device=device(own=1),
                ),
            ),
            (
                "expression-name",
                Call(
                    manifest={
                        "derive": {"n": "nope"},
                        "outputs": {"y": {"dtype": "float32", "shape": ["n"]}},
                    },
                ),
            ),
            (
                "expression-name",
                Call(
                    manifest={"outputs": {"y": {"dtype": "float32", "shape": ["float32"]}}},
                ),
            ),
        ],
    ),
    Rule(
        "9.2.1",
        "the device meets every requirement",
        [
            requires({}),
            requires({"features": ["shader-f16"]}, "shader-f16"),
            requires({"limits": {"maxBindGroups": 4, "maxImmediateSize": -1}}),
            requires({"subgroupMinSize": 4}, info={"subgroupMinSize": 4}),
            requires({"subgroupMatrixConfigs": [{"M": 8}]}),
            requires(
                {"subgroupMatrixConfigs": [{"M": 9}, {"K": 8}]}, info={"subgroupMatrixConfigs": [{"M": 8, "K": 8}]}
            ),
        ],
        [
            ("no-variant", requires({"features": ["shader-f16", "subgroups"]}, "shader-f16")),
            ("no-variant", requires({"limits": {"maxBindGroups": 4.5}})),
            ("no-variant", requires({"limits": {"minUniformBufferOffsetAlignment": 257}})),
            ("no-variant", requires({"limits": {"maxStorageBuffersInVertexStage": 0}})),
            ("no-variant", requires({"subgroupMinSize": 4})),
            ("no-variant", requires({"subgroupMinSize": 8}, info={"subgroupMinSize": 4})),
            ("no-variant", requires({"subgroupMatrixConfigs": [{"M": 8}]}, info={"subgroupMatrixConfigs": []})),
            (
                "no-variant",
                requires(
                    {"subgroupMatrixConfigs": [{"M": 8, "K": 4}]}, info={"subgroupMatrixConfigs": [{"M": 8, "K": 8}]}
                ),
            ),
        ],
    ),
    Rule(
        "9.2.2",
        "no pass has more bindings than the device allows, skipped or not",
        [budget(10, 12), budget(3, 0, maxStorageBuffersPerShaderStage=3)],
        [
            ("no-variant", budget(11, 0)),
            ("no-variant", budget(2, 13)),
            ("no-variant", budget(4, 0, maxStorageBuffersPerShaderStage=3)),
        ],
    ),
    Rule(
        "9.2.3",
        "every condition is exactly true",
        [when("true"), when("shapes.x[0] == 3", "present.x"), when("shapes.y[0] == 3")],
        [
            ("no-variant", when(clause))
            for clause in (
                "false",
                "1",
                "'true'",
                "[true]",
                "none",
                "attrs.q",
                "nope",
                "(",
                "present.n is defined or q",
            )
        ]
        + [("no-variant", when("true", "1"))],
    ),
    Rule(
        "9.2.6",
        "a clause of demotion may be anything but an error",
        [Call(variant={"demoteWhen": [clause]}) for clause in ("true", "1", "none", "false")],
        [
            ("no-variant", Call(variant={"demoteWhen": ["nope"]})),
            ("no-variant", Call(variant={"demoteWhen": ["true", "nope"]})),
        ],
    ),
    Rule(
        "10.1",
        "a count is an integer from 0 to 65535",
        [repeat(0), repeat("0"), repeat(2.0), repeat("4 / 2"), repeat(65535), repeat("0 * -1")],
        [("repeat-count", repeat(count)) for count in (-1, "2.5", True, "true", "'2'", 65536, "none", None, [2], {})]
        + [("expression-syntax", repeat(""))],
    ),
    Rule(
        "10.1",
        "there is a pass, and there are no more than 131072",
        [
            passes(group("g", 0, ONE), ONE),
            passes(group("g", 65535, named("a"), named("b")), named("c"), named("d")),
        ],
        [
            ("no-pass", passes(group("g", 0, ONE))),
            ("no-pass", passes(group("g", 3, group("h", 0, ONE, index="j")))),
            ("pass-count", passes(group("g", 65535, named("a"), named("b")), named("c"), named("d"), named("e"))),
        ],
    ),
    Rule(
        "10.1",
        "no two instances have one id",
        [
            passes(ONE, ONE),
            passes(group("g", 2, named("a")), named("a")),
            passes(group("g", 0, named("a")), group("g", 1, named("a"))),
            passes(group("g", 1, named("a")), group("g", 1, named("b"))),
            passes(group("g", 1, named("a")), named("g[1].a")),
        ],
        [
            ("pass-id", passes(named("a"), named("a"))),
            ("pass-id", passes(named("pass_1"), ONE)),
            ("pass-id", passes(group("g", 1, named("a")), group("g", 2, named("a")))),
            ("pass-id", passes(group("g", 1, named("a")), named("g[0].a"))),
        ],
    ),
    Rule(
        "10.2",
        "every scratch has a shape, used or not",
        [scratch(shape) for shape in (3, 0, "4", "[2, 3]", ["numel(shapes.x)", 2], "6 / 2", [3.0])],
        [("scratch-shape", scratch(shape)) for shape in (..., [], "[]", None, True, {}, "'3'", "none")]
        + [("shape-dimension", scratch(shape)) for shape in (-1, [-1], 1.5, [True], ["true"], ["[2]"])]
        + [("expression-syntax", scratch("")), ("expression-name", scratch("nope", item=SKIPPED))],
    ),
    Rule(
        "10.2",
        "an axis is a count of workgroups that the device allows",
        [
            dispatch(x=65535, y="65535", z=1),
            dispatch(x="4 / 2"),
            dispatch(100, x=100),
            dispatch(x=0, y=0),
            dispatch(threads="100.5", workgroupSize="2.5"),
            dispatch(threads=0, workgroupSize=64),
            dispatch(threads="-63", workgroupSize=64),
            dispatch(workgroups=65536),
        ],
        [
            ("dispatch", dispatch(x="-1")),
            ("dispatch", dispatch(x="1.5")),
            ("dispatch", dispatch(x="true")),
            ("dispatch", dispatch(x="'1'")),
            ("dispatch", dispatch(x="[1]")),
            ("dispatch", dispatch(x=0, z="-1")),
            ("dispatch", dispatch(threads=5, workgroupSize=0)),
            ("dispatch", dispatch(threads="-64", workgroupSize=64)),
            ("dispatch", dispatch(workgroups="1.5")),
            ("dispatch-limit", dispatch(x=65536)),
            ("dispatch-limit", dispatch(1_000_000, x=65536)),
            ("dispatch-limit", dispatch(x=0, y=65536)),
            ("dispatch-limit", dispatch(100, x=101)),
            ("dispatch-limit", dispatch(100, workgroups=101)),
            ("dispatch-limit", dispatch(workgroups="65535 * 65535 + 1")),
            ("expression-syntax", dispatch(x="")),
        ],
    ),
    Rule(
        "10.2",
        "of a skipped pass everything is evaluated but nothing bound",
        [
            bindings("x", "w", "y", item=SKIPPED),
            bindings("x", "y", {"name": "z", "arg": "y"}, item=SKIPPED),
            bindings({"name": "x", "length": 9}, "y", item=SKIPPED),
        ],
        [
            ("expression-name", Call(item={**SKIPPED, "derive": {"n": "nope"}})),
            ("expression-name", Call(item={**SKIPPED, "profile": {"n": ["nope"]}})),
            ("expression-name", Call(item={"dispatch": {"x": 0, "y": "nope"}})),
            ("template-value", Call(item=SKIPPED, shader="{{ 1 + none }}")),
            (
                "expression-name",
                bindings("x", {"name": "u", "struct": [{"name": "v", "type": "u32", "value": "nope"}]}, item=SKIPPED),
            ),
        ],
    ),
    Rule(
        "10.3",
        "a binding of an executed pass stands for something",
        [
            bindings("x", "w", "y", inputs={"w": tensor(1)}),
            bindings({"name": "x", "arg": "w", "elementType": "f32"}, "y"),
            bindings("x", "y"),
        ],
        [("binding-absent", bindings("x", "w", "y")), ("binding-absent", bindings({"name": "z", "arg": "w"}, "y"))],
    ),
    Rule(
        "10.3",
        "a buffer that a pass writes is bound once",
        [
            bindings("x", {"name": "z", "arg": "x"}, "y"),
            bindings("x", "w", "y", x=SHARED, inputs={"w": SHARED}),
            bindings("y", x=SHARED, outputs={"y": SHARED}),
        ],
        [
            ("alias", bindings("x", "y", {"name": "z", "arg": "y"})),
            ("alias", bindings("x", "y", {"name": "z", "arg": "y", "buffer": "read-only-storage"})),
            ("alias", bindings("x", {"name": "z", "arg": "x", "buffer": "storage"}, "y")),
            ("alias", bindings("x", "y", x=SHARED, outputs={"y": SHARED})),
            ("alias", bindings("x", {"name": "w", "buffer": "storage"}, "y", x=SHARED, inputs={"w": SHARED})),
            ("alias", scratch(3, item={"bindings": ["t", {"name": "u", "scratch": "t"}, "y"]})),
        ],
    ),
    Rule(
        "10.3",
        "a view alias of one buffer is skipped, and only if all its pairs are",
        [
            bindings("x", "y", x=SHARED, outputs={"y": SHARED}, item={"viewAlias": [{"input": "x", "output": "y"}]}),
        ],
        [
            (
                "alias",
                bindings(
                    "x",
                    "w",
                    "y",
                    x=SHARED,
                    inputs={"w": tensor(3)},
                    outputs={"y": SHARED},
                    item={"viewAlias": [{"input": "x", "output": "y"}, {"input": "w", "output": "y"}]},
                ),
            )
        ],
    ),
    Rule(
        "10.4",
        "a scratch that is used is not larger than the device allows",
        [
            scratch(1024, item={"bindings": ["y", "t"]}, device=device(maxBufferSize=4096)),
            scratch(10**9, device=device(maxBufferSize=4096)),
        ],
        [("buffer-limit", scratch(1025, item={"bindings": ["y", "t"]}, device=device(maxBufferSize=4096)))],
    ),
]


@cases(RULES)
def test_run(call: Call, why: str | None):
    judge(call, why)


def test_a_variant_that_the_device_cannot_compile_is_rejected_and_one_that_does_not_render_is_not():
    broken = replace(device(), wgsl_compile_failures=frozenset({"atomicCompareExchangeWeak"}))
    main = "@compute @workgroup_size(1) fn main() { /* atomicCompareExchangeWeak */ }"
    judge(Call(shader=main, device=broken), None)
    judge(Call(shader=f"{main} fn f() {{ atomicCompareExchangeWeak(); }}", device=broken), "no-variant")
    judge(Call(shader=f"{main} fn f() {{ atomicCompareExchangeWeakly(); }}", device=broken), None)
    judge(Call(shader="{{ 1 + none }} atomicCompareExchangeWeak", device=broken), "template-value")
