"""Scopes of the corpus, as far as expressions and templates need them: no device but a default one, no shape inference.

The stages that need a plan (``shape``, ``when``, ``dispatch`` ...) are left to the tests of planning.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from scanbuild.dialect import UNDEFINED, NameSet, f16_ok, parse_expression

CORPUS = Path(__file__).parent.parent / "corpus"

_LOGICAL = {"float32", "float16", "int8", "int16", "int32", "int64", "uint8", "uint32", "bool"}
_WGSL = {"float32": "f32", "float16": "f16", "int64": "vec2<u32>", "uint8": "u32", "uint32": "u32", "bool": "u32"}
_FLOATS = {"NaN": float("nan"), "Infinity": float("inf"), "-Infinity": float("-inf"), "-0": -0.0}


def corpus(name: str) -> dict[str, Any]:
    data: dict[str, Any] = json.loads((CORPUS / f"{name}.json").read_text("utf-8"))
    return data


def decoded(value: Any) -> Any:
    """A value of the corpus, with what JSON cannot write."""
    if isinstance(value, dict):
        if value.keys() == {"$float"}:
            return _FLOATS[value["$float"]]
        if value.keys() == {"$undefined"}:
            return UNDEFINED
        return {key: decoded(item) for key, item in value.items()}
    if isinstance(value, list):
        return [decoded(item) for item in value]
    return float(value) if type(value) is int and abs(value) > 2**53 else value


def written(value: Any) -> str:
    """A text that differs for values that differ, key order and the sign of zero included."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key!r}: {written(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(written, value)) + "]"
    return f"{type(value).__name__} {value!r}"


def evaluated(value: Any, scope: dict[str, Any]) -> Any:
    """The value of a derive: texts are expressions, lists and objects are evaluated member by member."""
    if isinstance(value, str):
        return parse_expression(value).evaluate(scope)
    if isinstance(value, dict):
        return {key: evaluated(item, scope) for key, item in value.items()}
    return [evaluated(item, scope) for item in value] if isinstance(value, list) else value


class CorpusScope:
    """What the loader puts in scope for a call of a corpus scope."""

    def __init__(self, data: dict[str, Any]) -> None:
        self.data = data
        manifest = data["manifest"]
        self.tensors = self._tensors(manifest, data["tensors"])
        args = data.get("args", {})
        defaults = {name: spec["default"] for name, spec in manifest.get("attributes", {}).items() if "default" in spec}
        ports = manifest["inputs"] | manifest["outputs"]
        self.tunables = {name: spec["default"] for name, spec in manifest.get("tunables", {}).items()}
        self.labels = self._labels(ports)
        self.base: dict[str, Any] = {
            "repeat": {},
            "DISPATCH_FOLD_WIDTH": 65535,
            "dtypes": {label: self._scalar(dtype) for label, (dtype, _) in self.labels.items()},
            "logicalDtypes": {label: logical for label, (_, logical) in self.labels.items()},
            "tensorDtypes": {name: tensor["storage"] for name, tensor in self.tensors.items()},
            "ranks": {name: len(tensor["shape"]) for name, tensor in self.tensors.items()},
            "shapes": {name: tensor["shape"] for name, tensor in self.tensors.items()},
            "present": {name: name in self.tensors for name in [*ports, *manifest.get("args", {})]},
            "args": args,
            "attrs": defaults | data.get("attrs", {}),
            "device": {
                "features": NameSet(frozenset()),
                "wgslLanguageFeatures": NameSet(frozenset()),
                "limits": {"maxBufferSize": 268435456},
                "adapterInfo": {"vendor": "", "architecture": ""},
            },
            "f16Ok": f16_ok(False),
        }

    @staticmethod
    def _scalar(dtype: str) -> str:
        return _WGSL.get(dtype, "i32")

    def _tensors(self, manifest: dict[str, Any], given: dict[str, Any]) -> dict[str, Any]:
        tensors = {}
        for name, tensor in given.items():
            storage = manifest["inputs"].get(name, {}).get("storage", tensor["dtype"])
            tensors[name] = {"shape": tensor["shape"], "storage": storage, "logical": tensor["dtype"]}
        for name, port in manifest["outputs"].items():
            if name not in tensors and not port.get("optional"):
                shape = tensors["x"]["shape"] if port.get("shape") == "shapes.x" else port.get("shape")
                tensors[name] = {"shape": shape, "storage": "float32", "logical": "float32"}
        return tensors

    def _labels(self, ports: dict[str, Any]) -> dict[str, tuple[str, str]]:
        labels: dict[str, tuple[str, str]] = {}
        for name, tensor in self.tensors.items():
            label = ports[name].get("dtype")
            if label is not None:
                labels.setdefault(label, (tensor["storage"], tensor["logical"]))
        return labels

    def derived(self, level: str) -> dict[str, Any]:
        """The scope of one more derive at the end of the manifest's, the variant's or the pass's."""
        scopes = dict(self._levels())
        return scopes[level]

    def _levels(self) -> Iterator[tuple[str, dict[str, Any]]]:
        derives: dict[str, Any] = {}
        tunables = self.tunables
        for level in ("manifest", "variant", "pass"):
            holder = self.data.get(level, {})
            if level == "variant":
                tunables = tunables | {name: spec["default"] for name, spec in holder.get("tunables", {}).items()}
            if level == "pass":
                derives = self.base["dtypes"] | derives
            for name, value in holder.get("derive", {}).items():
                derives = derives | {name: evaluated(value, self._scope(derives, tunables))}
            yield level, self._scope(derives, tunables)

    def _scope(self, derives: dict[str, Any], tunables: dict[str, Any]) -> dict[str, Any]:
        return {**self.base, "tunables": tunables, "derive": derives, **derives}

    def context(self, **derives: Any) -> dict[str, Any]:
        """The context of the pass's template, with further derives."""
        scope = self.derived("pass")
        scope = scope | derives | {"derive": scope["derive"] | derives}
        declarations = [
            f"@group(0) @binding({binding}) var<storage, {access}> {name}: array<f32>;"
            for binding, (name, access) in enumerate([("x", "read"), ("y", "read_write")])
        ]
        environment = {"device": scope["device"], "wgsl": {"resourceDeclarations": "\n".join(declarations)}}
        return scope | {"env": environment}
