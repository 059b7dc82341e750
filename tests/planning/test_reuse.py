"""One planner for many requests gives each what a planner of its own would (9.4)."""

from dataclasses import replace
from itertools import permutations
from typing import Any

import pytest

from scanbuild.planning.device import DEFAULT_DEVICE, DEFAULT_LIMITS
from scanbuild.planning.request import HostTensor, Request

MAIN = "@compute @workgroup_size(1) fn main() {}"
PORTS = {
    "typeConstraints": {"T": ["float32", "int32", "int8"]},
    "inputs": {"x": {"dtype": "T"}, "w": {"dtype": "float32", "optional": True}},
    "outputs": {"y": {"dtype": "float32", "shape": "shapes.x"}},
    "args": {"n": {"kind": "f32", "required": False}},
    "attributes": {"a": {}, "10": {}, "2": {}},
    "derive": {"z": "shapes.x", "q": {"b": "ranks.x", "1": "2"}},
}


def tensor(*shape: int, dtype: str = "float32") -> HostTensor:
    return HostTensor(shape=list(shape), dtype=dtype)


def request(x: HostTensor | None = None, **more: Any) -> Request:
    return Request(inputs={"x": x or tensor(3), **more.pop("inputs", {})}, **more)


PLAIN = [request()]
ARGS = [request(args=args) for args in ({}, {"n": None}, {"n": 0}, {"n": -0.0}, {"n": 1}, {"n": 1.5})]
ATTRS = [
    request(attrs=attrs)
    for attrs in (
        {},
        *({"a": value} for value in (None, False, 0, -0.0, "", "0", [], [0], [[0]], {}, True, 1, "1", float("nan"))),
        {"a": {"x": 1, "y": 2}},
        {"a": {"y": 2, "x": 1}},
        {"a": 1, "10": 2},
        {"10": 2, "2": 1},
    )
]
TENSORS = [
    request(x, **more)
    for x in (tensor(3), tensor(1, 3), tensor(3, 1), tensor(4), tensor(3, dtype="int32"), tensor(3, dtype="int8"))
    for more in ({}, {"inputs": {"w": tensor(2)}})
]
INFO = {"vendor": "acme", "architecture": "", "isFallbackAdapter": False}
DEVICES = [
    DEFAULT_DEVICE,
    replace(DEFAULT_DEVICE, features=frozenset({"shader-f16"})),
    replace(DEFAULT_DEVICE, features=frozenset({"subgroups"})),
    replace(DEFAULT_DEVICE, limits={**DEFAULT_LIMITS, "maxBufferSize": 5e9}),
    replace(DEFAULT_DEVICE, adapter_info=INFO),
    replace(DEFAULT_DEVICE, adapter_info={**INFO, "subgroupMinSize": 4}),
    replace(DEFAULT_DEVICE, wgsl_language_features=frozenset({"z"})),
]


@pytest.mark.parametrize(
    ("text", "requests", "devices", "kinds"),
    [
        ("{{ args.n }}|{{ args.n is defined }}|{{ has(args, 'n') }}", ARGS, DEVICES[:1], 5),
        ("{{ 1 / args.n if args.n else 1 / (args.n | default(1, false) or 1) }}", ARGS[4:], DEVICES[:1], 2),
        ("{{ 1 / args.n }}", ARGS[2:4], DEVICES[:1], 2),
        ("{{ args | tojson }}", ARGS, DEVICES[:1], 5),
        ("{{ attrs.a | tojson }}|{{ attrs.a is defined }}|{{ attrs.a == 1 }}", ATTRS, DEVICES[:1], 15),
        ("{{ attrs | tojson }}", ATTRS, DEVICES[:1], 17),
        ("{{ attrs['a'] is defined }}|{% set b = attrs %}{{ b.a | tojson }}", ATTRS, DEVICES[:1], 15),
        ("{{ present.w }}|{{ shapes.w is defined }}", TENSORS, DEVICES[:1], 2),
        ("{{ ranks.x }}|{{ T }}|{{ logicalDtypes.T }}", TENSORS, DEVICES[:1], 4),
        ("{{ shapes | tojson }}|{{ tensorDtypes | tojson }}", TENSORS, DEVICES[:1], 12),
        ("{{ z }}|{{ derive | tojson }}", TENSORS, DEVICES[:1], 5),
        ("{% macro m() %}{{ z }}{{ T }}{% endmacro %}{{ m() }}", TENSORS, DEVICES[:1], 5),
        ("{{ device.features.has('shader-f16') }}|{{ device.features.size }}", PLAIN, DEVICES, 3),
        ("{{ f16Ok('f16') }}", PLAIN, DEVICES, 2),
        ("{% macro m(f) %}{{ f('f16') }}{% endmacro %}{{ m(f16Ok) }}", PLAIN, DEVICES, 2),
        ("{% set d = device %}{{ d.limits.maxBufferSize }}", PLAIN, DEVICES, 2),
        ("{{ env.device.adapterInfo | tojson }}", PLAIN, DEVICES, 3),
        ("{{ env['device'].wgslLanguageFeatures.has('z') }}", PLAIN, DEVICES, 2),
    ],
)
def test_no_request_gets_the_text_of_another(kernel, text, requests, devices, kinds):
    def rendered(planner, asked, device):
        return planner.prepare(asked, device).plan.passes[0].wgsl

    asked = [(one, device) for one in requests for device in devices]
    shader = f"// {text}\n{MAIN}"
    own = [rendered(kernel(PORTS, shader=shader), *each) for each in asked]
    shared = kernel(PORTS, shader=shader)
    for order in (range(len(asked)), reversed(range(len(asked)))):
        for index in order:
            assert rendered(shared, *asked[index]) == own[index]
    assert len(set(own)) == kinds, own


def test_members_named_like_numbers_come_first_wherever_they_are_printed(kernel):
    planner = kernel(PORTS, shader="// {{ attrs | tojson }} {{ derive.q | tojson }}\n" + MAIN)
    for names in permutations(["a", "10", "2"]):
        plan = planner.prepare(request(attrs=dict.fromkeys(names, 0)), DEFAULT_DEVICE).plan
        assert plan.passes[0].wgsl.startswith('// {"2": 0, "10": 0, "a": 0} {"1": 2, "b": 1}\n')
