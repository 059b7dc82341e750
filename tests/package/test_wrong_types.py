"""Every member of a manifest with a value of every JSON type: which of them load?"""

import json
from typing import Any

import pytest

from scanbuild.errors import LoadError
from scanbuild.package.manifest import read_manifest
from tests.package.building import BASE, PASS, VARIANT, edited

HERE = "@@"
VALUES = ("null", "false", "true", "0", "7", '""', '"x"', "[]", "{}")

VARIANT_PATH = "variants.0"
PASS_PATH = "variants.0.passes.0"
ALL = set(VALUES)
TEXTS = {'""', '"x"'}
EMPTY_OBJECT = {"{}"}
SIZES = {"0", "7", *TEXTS}


def binding(**members: Any) -> dict[str, Any]:
    return {f"{PASS_PATH}.bindings": [{"name": "x", **members}, "y"]}


def uniform(**members: Any) -> dict[str, Any]:
    entry = {"name": "p", "struct": [{"name": "a", "type": "u32"}], **members}
    return {f"{PASS_PATH}.bindings": ["x", "y", entry]}


def field(**members: Any) -> dict[str, Any]:
    return uniform(struct=[{"name": "a", "type": "u32", **members}])


def group(**members: Any) -> dict[str, Any]:
    return {f"{VARIANT_PATH}.passes": [{"repeat": {"index": "i", "count": 1}, "passes": [PASS], **members}]}


def scratch(**members: Any) -> dict[str, Any]:
    return {f"{VARIANT_PATH}.intermediates": [{"id": "t", "dtype": "bool", **members}]}


def pattern(**members: Any) -> dict[str, Any]:
    return {"requires": {"subgroupMatrixConfigs": [{"M": 8, **members}]}}


def family(**members: Any) -> dict[str, Any]:
    return {"variants": [{"cases": [{"a": 1}], "variants": [VARIANT], **members}]}


def grid(**members: Any) -> dict[str, Any]:
    axes = {"p": [{"$key": "k"}], "q": [{"$key": "k"}]}
    return {"variants": [{"axes": axes, "variants": [VARIANT], **members}]}


def constraint(**members: Any) -> dict[str, Any]:
    return {"attributes": {"a": {}}, "attributeConstraints": {"a": members}}


PLACES: list[tuple[str, dict[str, Any], set[str]]] = [
    ("an unknown member", {"zzz": HERE}, set()),
    ("name", {"name": HERE}, {'"x"'}),
    ("domain", {"domain": HERE}, {"null", '"x"'}),
    ("description", {"description": HERE}, TEXTS),
    ("conformance", {"conformance": HERE}, set()),
    ("sinceVersion", {"sinceVersion": HERE}, ALL),
    ("onnx", {"onnx": HERE}, ALL),
    ("$schema", {"$schema": HERE}, ALL),
    ("args", {"args": HERE}, ALL - {'"x"'}),
    ("typeConstraints", {"typeConstraints": HERE}, ALL - {'"x"'}),
    ("attributes", {"attributes": HERE}, EMPTY_OBJECT),
    ("attributeConstraints", {"attributeConstraints": HERE}, EMPTY_OBJECT),
    ("tunables", {"tunables": HERE}, EMPTY_OBJECT),
    ("derive", {"derive": HERE}, EMPTY_OBJECT),
    ("requires", {"requires": HERE}, EMPTY_OBJECT),
    ("bindings", {"bindings": HERE}, EMPTY_OBJECT),
    ("when", {"when": HERE}, set()),
    ("a clause", {"when": [HERE]}, {'"x"'}),
    ("variants", {"variants": HERE}, set()),
    ("an input", {"inputs.z": HERE}, EMPTY_OBJECT),
    ("an input's dtype", {"inputs.z": {"dtype": HERE}}, TEXTS),
    ("an input's onnx", {"inputs.z": {"onnx": HERE}}, {'"x"'}),
    ("an input's rank", {"inputs.z": {"rank": HERE}}, ALL),
    ("an input's shape", {"inputs.z": {"shape": HERE}}, ALL),
    ("an input's optional", {"inputs.z": {"optional": HERE}}, {"false", "true"}),
    ("an input's storage", {"inputs.z": {"dtype": "int64", "storage": HERE}}, set()),
    ("an output's shape", {"outputs.y.shape": HERE}, ALL),
    ("an arg", {"args": {"a": HERE}}, set()),
    ("an arg's kind", {"args": {"a": {"kind": HERE}}}, set()),
    ("an arg's required", {"args": {"a": {"kind": "u32", "required": HERE}}}, ALL),
    ("an arg's onnx", {"args": {"a": {"kind": "u32", "onnx": HERE}}}, ALL),
    ("an arg's oneOf", {"args": {"a": {"kind": "string", "oneOf": HERE}}}, set()),
    ("a member of oneOf", {"args": {"a": {"kind": "string", "oneOf": [HERE]}}}, ALL),
    ("an attribute", {"attributes": {"a": HERE}}, EMPTY_OBJECT),
    ("an attribute's default", {"attributes": {"a": {"default": HERE}}}, ALL),
    ("a constraint's required", constraint(required=HERE), {"true"}),
    ("a constraint's required beside values", constraint(required=HERE, values=[1]), {"null", "false", "true"}),
    ("a constraint's values", constraint(values=HERE), set()),
    ("a constraint's value", constraint(values=[HERE]), ALL - {"[]", "{}"}),
    ("a tunable", {"tunables": {"a": HERE}}, set()),
    ("a tunable's default", {"tunables": {"a": {"default": HERE}}}, ALL - {"null", "[]", "{}"}),
    ("a derive", {"derive": {"a": HERE}}, ALL),
    ("a type variable", {"typeConstraints": {"T": HERE}}, set()),
    ("a variant", {"variants": [VARIANT, HERE]}, set()),
    ("a variant's id", {f"{VARIANT_PATH}.id": HERE}, {"null", '"x"'}),
    ("a variant's priority", {f"{VARIANT_PATH}.priority": HERE}, {"null", "0", "7"}),
    ("a variant's demoteWhen", {f"{VARIANT_PATH}.demoteWhen": HERE}, set()),
    ("a variant's supersededBy", {f"{VARIANT_PATH}.supersededBy": HERE}, set()),
    ("a variant's requires", {f"{VARIANT_PATH}.requires": HERE}, EMPTY_OBJECT),
    ("a variant's intermediates", {f"{VARIANT_PATH}.intermediates": HERE}, {"[]"}),
    ("a variant's use", {f"{VARIANT_PATH}.use": HERE}, set()),
    ("passes", {f"{VARIANT_PATH}.passes": HERE}, set()),
    ("a pass", {f"{VARIANT_PATH}.passes": [HERE]}, set()),
    ("a pass's id", {f"{PASS_PATH}.id": HERE}, {"null", '"x"'}),
    ("a pass's name", {f"{PASS_PATH}.name": HERE}, {'"x"'}),
    ("a pass's shader", {f"{PASS_PATH}.shader": HERE}, {'"x"'}),
    ("a pass's bindings", {f"{PASS_PATH}.bindings": HERE}, set()),
    ("a pass's binding", {f"{PASS_PATH}.bindings": [HERE]}, {'"x"'}),
    ("a pass's derive", {f"{PASS_PATH}.derive": HERE}, EMPTY_OBJECT),
    ("a pass's profile", {f"{PASS_PATH}.profile": HERE}, ALL),
    ("a pass's submitAfter", {f"{PASS_PATH}.submitAfter": HERE}, {"false", "true"}),
    ("a pass's collectives width", {f"{PASS_PATH}.subgroupCollectivesWidth": HERE}, set()),
    ("a pass's viewAlias", {f"{PASS_PATH}.viewAlias": HERE}, {"null"}),
    ("a dispatch", {f"{PASS_PATH}.dispatch": HERE}, set()),
    ("dispatch x", {f"{PASS_PATH}.dispatch": {"x": HERE}}, SIZES),
    ("dispatch y", {f"{PASS_PATH}.dispatch": {"x": 1, "y": HERE}}, SIZES),
    ("workgroups", {f"{PASS_PATH}.dispatch": {"workgroups": HERE}}, SIZES),
    ("threads", {f"{PASS_PATH}.dispatch": {"threads": HERE, "workgroupSize": 1}}, SIZES),
    ("workgroupSize", {f"{PASS_PATH}.dispatch": {"threads": 1, "workgroupSize": HERE}}, SIZES),
    ("gridStride", {f"{PASS_PATH}.dispatch": {"x": 1, "gridStride": HERE}}, set()),
    ("a group's id", group(id=HERE), {"null", '"x"'}),
    ("a group's passes", group(passes=HERE), set()),
    ("a group's shader, which it ignores", group(shader=HERE), ALL),
    ("repeat", group(repeat=HERE), set()),
    ("a repeat index", group(repeat={"index": HERE, "count": 1}), {'"x"'}),
    ("a repeat count", group(repeat={"index": "i", "count": HERE}), ALL),
    ("an intermediate", {f"{VARIANT_PATH}.intermediates": [HERE]}, set()),
    ("an intermediate's id, a port's name", scratch(id=HERE), set()),
    ("an intermediate's dtype", scratch(dtype=HERE), set()),
    ("an intermediate's shape", scratch(shape=HERE), ALL),
    ("an intermediate's zeroInit", scratch(zeroInit=HERE), {"true"}),
    ("a binding's buffer", binding(buffer=HERE), {"null"}),
    ("a binding's arg", binding(arg=HERE), {'"x"'}),
    ("a binding's elementType", binding(elementType=HERE), {'"x"'}),
    ("a binding's length", binding(length=HERE), {"7"}),
    ("a storage binding's struct", binding(struct=HERE), set()),
    ("a storage binding's structName", binding(structName=HERE), set()),
    ("a uniform's buffer", uniform(buffer=HERE), {"null"}),
    ("a uniform's arg", uniform(arg=HERE), {'"x"'}),
    ("a uniform's scratch", uniform(scratch=HERE), {'"x"'}),
    ("a uniform's structName", uniform(structName=HERE), {'"x"'}),
    ("a uniform's struct", uniform(struct=HERE), set()),
    ("a uniform's elementType", uniform(elementType=HERE), set()),
    ("a uniform's length", uniform(length=HERE), set()),
    ("a field's name", field(name=HERE), {'"x"'}),
    ("a field's type", field(type=HERE), set()),
    ("a field's value", field(value=HERE), ALL),
    ("a field's default", field(default=HERE), ALL),
    ("a field's required", field(required=HERE), ALL),
    ("a field's internal", field(internal=HERE), {"false", "true"}),
    ("a field's description", field(description=HERE), set()),
    ("features", {"requires": {"features": HERE}}, {"[]"}),
    ("limits", {"requires": {"limits": HERE}}, EMPTY_OBJECT),
    ("a limit", {"requires": {"limits": {"maxBindGroups": HERE}}}, {"0", "7"}),
    ("subgroupMinSize", {"requires": {"subgroupMinSize": HERE}}, {"7"}),
    ("subgroupMatrixConfigs", {"requires": {"subgroupMatrixConfigs": HERE}}, set()),
    ("a matrix size", pattern(N=HERE), {"7"}),
    ("a matrix component", pattern(componentType=HERE), set()),
    ("a family's description", family(description=HERE), TEXTS),
    ("a family's cases", family(cases=HERE), set()),
    ("a family's case", family(cases=[HERE]), set()),
    ("a family's templates", family(variants=HERE), set()),
    ("a plain family's exclude", family(exclude=HERE), set()),
    ("a grid's axes", grid(axes=HERE), set()),
    ("a grid's exclude", grid(exclude=HERE), {"[]"}),
    ("a grid's cases", grid(cases=HERE), {"[]"}),
    ("a grid's axis key", grid(axes={"p": [{"$key": HERE}], "q": [{"$key": "k"}]}), {'"x"'}),
]


@pytest.mark.parametrize(("edits", "taken"), [place[1:] for place in PLACES], ids=[place[0] for place in PLACES])
def test_a_member_takes_these_values_and_no_others(edits: dict[str, Any], taken: set[str]) -> None:
    assert {value for value in VALUES if loads(edits, value)} == taken


def loads(edits: dict[str, Any], value: str) -> bool:
    """Whether the base manifest loads with the edits, the value standing where they say so."""
    try:
        read_manifest(json.dumps(edited(BASE, edits)).replace(f'"{HERE}"', value))
    except LoadError:
        return False
    return True
