"""Rules of the format as data: for each sentence, calls that the rule lets through and calls that it refuses."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from scanbuild.errors import CallError
from scanbuild.planning.device import DEFAULT_DEVICE, DEFAULT_LIMITS, DeviceRecord
from scanbuild.planning.planner import Planner, PreparedCall
from scanbuild.planning.request import HostTensor, Request, ResidentTensor
from tests.corpus_files import make_package

MAIN = "@compute @workgroup_size(1) fn main() {}"
DECLARED = "{{ env.wgsl.resourceDeclarations }}\n" + MAIN


def tensor(*shape: int, dtype: str = "float32") -> HostTensor:
    return HostTensor(shape=list(shape), dtype=dtype)


def data(*values: float, dtype: str = "float32", **more: Any) -> HostTensor:
    return HostTensor(array=np.array(values, dtype=dtype), shape=[len(values)], **more)


def resident(
    *shape: int, dtype: str = "float32", logical: str = "", buffer: str = "b", packed: bool = False
) -> ResidentTensor:
    return ResidentTensor(buffer=buffer, shape=shape, dtype=dtype, logical=logical or dtype, packed=packed)


def device(*features: str, info: dict[str, Any] | None = None, **limits: Any) -> DeviceRecord:
    return DeviceRecord(
        features=frozenset(features),
        limits={**DEFAULT_LIMITS, **limits},
        adapter_info={**DEFAULT_DEVICE.adapter_info, **(info or {})},
    )


@dataclass(frozen=True, kw_only=True)
class Call:
    """A kernel with ports `x` and `y`, one variant and one pass, overlaid; and a request for it with `x` of [3]."""

    manifest: dict[str, Any] = field(default_factory=dict)
    variant: dict[str, Any] = field(default_factory=dict)
    item: dict[str, Any] = field(default_factory=dict)
    shader: str = MAIN
    files: dict[str, str] = field(default_factory=dict)
    x: Any = field(default_factory=lambda: tensor(3))
    inputs: dict[str, Any] = field(default_factory=dict)
    attrs: dict[str, Any] = field(default_factory=dict)
    args: dict[str, Any] = field(default_factory=dict)
    outputs: dict[str, Any] = field(default_factory=dict)
    device: DeviceRecord = DEFAULT_DEVICE

    def prepare(self) -> PreparedCall:
        one = {"id": "p", "shader": "s.wgsl", "bindings": ["x", "y"], "dispatch": {"x": 1}, **self.item}
        manifest = {
            "name": "Toy",
            "inputs": {"x": {"dtype": "float32"}},
            "outputs": {"y": {"dtype": "float32", "shape": "shapes.x"}},
            "variants": [{"id": "main", "passes": [one], **self.variant}],
            **self.manifest,
        }
        planner = Planner(make_package({"manifest.json": manifest, "s.wgsl": self.shader, **self.files}))
        inputs = {**({} if self.x is None else {"x": self.x}), **self.inputs}
        request = Request(inputs=inputs, attrs=self.attrs, args=self.args, outputs=self.outputs)
        return planner.prepare(request, self.device)


@dataclass(frozen=True)
class Rule:
    """A sentence of a section. ``refused`` has calls by the name that planning gives to what is wrong with them."""

    section: str
    words: str
    taken: list[Call]
    refused: list[tuple[str, Call]]


def cases(rules: Iterable[Rule]) -> Any:
    """A decorator: one test for every call of every rule."""
    made = []
    for rule in rules:
        assert rule.taken, rule
        assert rule.refused, rule
        for number, call in enumerate(rule.taken):
            made.append(pytest.param(call, None, id=f"{rule.section} {rule.words}: takes {number}"))
        for number, (why, call) in enumerate(rule.refused):
            made.append(pytest.param(call, why, id=f"{rule.section} {rule.words}: refuses {number}"))
    return pytest.mark.parametrize(("call", "why"), made)


def judge(call: Call, why: str | None) -> None:
    """The call is planned, or refused for that reason."""
    if why is None:
        call.prepare()
        return
    with pytest.raises(CallError) as caught:
        call.prepare()
    assert caught.value.problems[0].rule == why
