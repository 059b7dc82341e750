"""Random manifests that load, calls that one of them takes, and what a call comes to, told by planning alone."""

import copy
import random
from dataclasses import dataclass
from typing import Any

import numpy as np

from scanbuild.errors import CallError
from scanbuild.package.model import Json, Manifest
from scanbuild.planning.device import DeviceRecord
from scanbuild.planning.planner import Planner
from scanbuild.planning.request import Destination, HostTensor, Request, ResidentTensor
from scanbuild.publishing.contract_types import accepted
from tests.publishing.contracts import made

_NUMPY = {"bool": "uint8"}
_SHAPES: list[Json] = [None, "shapes.x", ["n"], [1, "n"], [2, 2]]
_LABELS = [None, "T", "B", "V", "undeclared", "float32", "int32", "bool", "int64", "float16"]
_CLAUSES = ["ranks.x == 2", "n > 0", "n < 1000"]
_FEATURES = ["shader-f16", "subgroups"]
DEVICES = tuple(DeviceRecord(features=frozenset(_FEATURES[:count])) for count in range(3))


@dataclass(frozen=True)
class Answer:
    """What a call comes to: storage, logical dtype and shape by output, the attributes, and where it is taken."""

    op_id: str
    outputs: dict[str, tuple[str, str | None, tuple[int, ...]]]
    attrs: dict[str, Json]
    devices: tuple[bool, ...]
    in_place: frozenset[str]


class _Package:
    def __init__(self, manifest: Manifest) -> None:
        self.manifest = manifest

    def templates(self, variant_id: str) -> dict[str, str]:
        return {}


class RandomContracts:
    """Everything follows from the seed."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def pair(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Two manifests that load and differ in a few places."""
        while True:
            old = self._manifest()
            new = self._edited(old)
            try:
                made(old), made(new)
            except AssertionError:
                continue
            if old != new:
                return old, new

    def calls(self, manifest: Manifest, count: int) -> list[Request]:
        """Calls that the manifest's ports, attributes and arguments admit, for the most part."""
        return [self._call(manifest) for _ in range(count)]

    def _some(self, items: list[Any], *counts: int) -> list[Any]:
        return self.random.sample(items, self.random.choice(counts))

    def _often(self, share: float = 0.5) -> bool:
        return self.random.random() < share

    def _manifest(self) -> dict[str, Any]:
        value: dict[str, Any] = {
            "name": "Any",
            "typeConstraints": {
                name: self._some(["float32", "float16", "int32", "bool", "uint8", "int64"], 1, 2, 3) for name in "TBV"
            },
            "derive": {"n": "numel(shapes.x)"},
            "inputs": {"x": {"dtype": self.random.choice(["T", "float32", "V"])}},
            "outputs": {name: self._output() for name in "yzw" if self._often(0.6)},
            "args": {name: self._argument() for name in "pq" if self._often()},
            "attributes": {name: self._attribute() for name in ("a", "b", "to") if self._often()},
            "requires": {"features": self._some(_FEATURES, 0, 0, 1, 2)},
            "variants": [self._variant(index) for index in range(self.random.choice([1, 2]))],
        }
        value["inputs"] |= {name: self._input() for name in "ijk" if self._often(0.6)}
        if "k" in value["inputs"] and self._often(0.3):
            same = {key: item for key, item in value["inputs"]["k"].items() if key in ("dtype", "storage")}
            value["outputs"]["k"] = {"shape": "shapes.x", **same}
        constraints = {name: self._constraint(item) for name, item in value["attributes"].items()}
        value["attributeConstraints"] = {name: item for name, item in constraints.items() if item}
        return value

    def _input(self) -> dict[str, Any]:
        port = self._port()
        if port.get("dtype") == "int64" and self._often():
            port |= {"storage": "int32", "narrowing": self.random.choice(["checked", "saturating"])}
        return port

    def _output(self) -> dict[str, Any]:
        shape = self.random.choice(_SHAPES)
        return self._port() | ({} if shape is None else {"shape": shape})

    def _port(self) -> dict[str, Any]:
        label = self.random.choice(_LABELS)
        return {**({} if label is None else {"dtype": label}), **({"optional": True} if self._often() else {})}

    def _argument(self) -> dict[str, Any]:
        kind = self.random.choice(["u32", "i32", "f32", "bool", "string"])
        choice = {"oneOf": self._some(["up", "down", "left"], 2)} if kind == "string" else {}
        return {"kind": kind, "required": self._often(), **choice}

    def _attribute(self) -> dict[str, Any]:
        return dict(self.random.choice([{}, {"default": 0}, {"default": 1}, {"default": "a"}]))

    def _constraint(self, attribute: dict[str, Any]) -> dict[str, Any]:
        found: dict[str, Any] = {"required": True} if "default" not in attribute and self._often(0.4) else {}
        if self._often():
            values = self._some([2, "b", None], 1, 2)
            found["values"] = [*values, attribute["default"]] if "default" in attribute else values
        return found

    def _variant(self, index: int) -> dict[str, Any]:
        only = {"shader": "a.wgsl", "bindings": ["x"], "dispatch": {"x": 1}}
        when = self._some(_CLAUSES, 0, 0, 1, 2)
        features = {"features": self._some(_FEATURES, 0, 0, 1, 2)}
        return {"id": f"v{index}", "passes": [only], "requires": features, **({"when": when} if when else {})}

    def _edited(self, old: dict[str, Any]) -> dict[str, Any]:
        other, new = self._manifest(), copy.deepcopy(old)
        for _ in range(self.random.choice([1, 1, 2])):
            part = self.random.choice(["inputs", "outputs", "args", "typeConstraints", "variants", "requires"])
            names = sorted({*new[part], *other[part]}) if isinstance(new[part], dict) else []
            if part in ("inputs", "outputs", "args", "typeConstraints") and names:
                name = self.random.choice(names)
                if name in other[part]:
                    new[part][name] = other[part][name]
                else:
                    new[part].pop(name)
            else:
                new[part] = other[part]
        if self._often(0.3):
            new["attributes"], new["attributeConstraints"] = other["attributes"], other["attributeConstraints"]
        return new

    def _call(self, manifest: Manifest) -> Request:
        shape = self.random.choice([(2, 3), (2, 3), (4,), (0, 3), (30, 40)])
        solved: dict[str, str] = {}
        inputs: dict[str, HostTensor | ResidentTensor | Any] = {}
        for name, port in manifest.inputs.items():
            if port.optional and self._often():
                continue
            dtype = self.random.choice(sorted(accepted(manifest, port)))
            dtype = solved.setdefault(port.dtype or name, dtype)
            kept = port.storage or dtype
            if dtype != "int64" or port.storage is not None:
                if self._often(0.2):
                    inputs[name] = ResidentTensor(buffer=name, shape=shape, dtype=kept, logical=dtype)
                    continue
                dtype = kept if self._often() else dtype
            array = np.full(shape, 2**40 if dtype == "int64" and self._often(0.3) else 1, _NUMPY.get(dtype, dtype))
            inputs[name] = HostTensor(shape=shape, array=array, dtype=dtype)
        return Request(
            inputs=inputs,
            attrs={
                name: self.random.choice(item.values or (0, 1, "b", None, 7))
                for name, item in manifest.attributes.items()
                if item.required or self._often()
            },
            args={
                name: self.random.choice(self._values(item.kind, item.one_of))
                for name, item in manifest.args.items()
                if item.required or self._often()
            },
            outputs={
                name: Destination(
                    shape=list(shape), dtype=self.random.choice([None, *sorted(accepted(manifest, port))])
                )
                for name, port in manifest.outputs.items()
                if self._often()
            },
        )

    def _values(self, kind: str, one_of: tuple[Json, ...] | None) -> list[Json]:
        words: list[Json] = list(one_of or ("up", "other"))
        values: dict[str, list[Json]] = {"u32": [0, 2**32 - 1], "i32": [-1, 2], "f32": [0.5, 1e9], "bool": [True]}
        return {**values, "string": words}[kind]


def answers(manifest: Manifest, calls: list[Request]) -> list[Answer | None]:
    """What calls come to; None for one that is refused on every device."""
    planner = Planner(_Package(manifest))
    return [_answer(planner, call) for call in calls]


def _answer(planner: Planner, call: Request) -> Answer | None:
    manifest = planner.package.manifest
    try:
        read = planner.read(call)
    except CallError:
        return None
    return Answer(
        op_id=manifest.op_id,
        outputs={name: (item.storage, item.logical, item.shape) for name, item in read.outputs.items()},
        attrs=dict(read.scalars.attrs),
        devices=tuple(_is_taken(planner, call, device) for device in DEVICES),
        in_place=frozenset(name for name in call.inputs if name in manifest.inputs and name in manifest.outputs),
    )


def _is_taken(planner: Planner, call: Request, device: DeviceRecord) -> bool:
    try:
        planner.choose(call, device)
    except CallError:
        return False
    return True


def what_breaks(old: Answer | None, new: Answer | None) -> str:
    """What a caller loses who gets the new answer in place of the old one; "" for nothing."""
    if old is None or not any(old.devices):
        return ""
    if new is None:
        return "the call is refused"
    lost = [name for name, output in old.outputs.items() if new.outputs.get(name) != output]
    if lost:
        return f"outputs {lost}: {old.outputs} -> {new.outputs}"
    if any(name not in new.attrs or repr(new.attrs[name]) != repr(value) for name, value in old.attrs.items()):
        return f"attributes: {old.attrs} -> {new.attrs}"
    if any(before and not after for before, after in zip(old.devices, new.devices, strict=True)):
        return f"devices: {old.devices} -> {new.devices}"
    return "" if old.in_place == new.in_place and old.op_id == new.op_id else "it is computed in another place"
