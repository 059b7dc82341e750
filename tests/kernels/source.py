"""The source package `ai.onnx.Scan`, whole or cut down to one variant, planned and run."""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import util
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scanbuild.cases.casefile import Case, read_tests
from scanbuild.cases.fixtures import make_array
from scanbuild.gpu import Engine, execute
from scanbuild.package.manifest import check_manifest
from scanbuild.package.model import Json, Manifest
from scanbuild.planning.device import DeviceRecord
from scanbuild.planning.plan import Plan
from scanbuild.planning.planner import Planner, PreparedCall
from scanbuild.planning.request import HostTensor, Request
from scanbuild.resources import data_folder

FOLDER = data_folder("templates") / "ai.onnx.Scan"

Arrays = dict[str, NDArray[Any]]


@dataclass(frozen=True, kw_only=True)
class SourcePackage:
    """A manifest with the shader files beside it and the shared fragments they include."""

    manifest: Manifest
    files: Mapping[str, str]

    def templates(self, variant_id: str) -> Mapping[str, str]:
        """Every file: what a variant does not include is not looked at."""
        return self.files


def manifest_json() -> dict[str, Any]:
    """A fresh copy of the manifest as written."""
    value: dict[str, Any] = json.loads((FOLDER / "manifest.json").read_text(encoding="utf-8"))
    return value


def package_of(value: Json) -> SourcePackage:
    """The package with another manifest."""
    manifest, report = check_manifest(value)
    assert manifest is not None, report.problems()
    shared = sorted((FOLDER.parent / "_shared").glob("*.wgsl.jinja"))
    files = {f"_shared/{path.name}": path.read_text(encoding="utf-8") for path in shared}
    files |= {path.name: path.read_text(encoding="utf-8") for path in sorted(FOLDER.glob("*.wgsl.jinja"))}
    return SourcePackage(manifest=manifest, files=files)


@cache
def planner() -> Planner:
    """A planner of the package as it is."""
    return Planner(package_of(manifest_json()))


@cache
def planner_of(variant: str, **tunables: int) -> Planner:
    """A planner that knows one variant, without the clauses that are about speed, and with other tunables."""
    value = manifest_json()
    chosen = next(item for item in value["variants"] if item["id"] == variant)
    chosen["when"] = [LAYOUT_LIMIT[variant]]
    for name, number in tunables.items():
        chosen.setdefault("tunables", {})[name] = {"default": number}
    return Planner(package_of({**value, "variants": [chosen]}))


LAYOUT_LIMIT = {
    "serial": "channels >= 0",
    "flat_walk": "channels >= 1 and channels <= 256 and steps >= 1",
    "flat_spans": "channels >= 1 and channels <= 256 and steps >= 1",
    "lane_walk": "channels >= 1 and steps >= 1",
    "lane_spans": "channels >= 1 and steps >= 1",
    "wide_walk": "channels >= 1 and steps >= 1",
    "run_tiles": "channels == 1 and steps >= 4 and steps % 4 == 0",
    "quad_tiles": "channels % 4 == 0 and channels >= 4 and steps >= 1",
    "lane_tiles": "channels >= 1 and steps >= 1",
}
"""What the algorithm of a variant needs of the shape, as its template states it."""


def fit(variant: str, steps: int, dim: int) -> tuple[int, int]:
    """A shape of about the size that the layout of a variant takes."""
    if variant == "run_tiles":
        return -(-steps * dim // 4) * 4, 1
    if variant == "quad_tiles":
        return steps, -(-dim // 4) * 4
    return steps, dim


@cache
def cases() -> tuple[Case, ...]:
    """The cases of test.json."""
    manifest = planner().package.manifest
    return read_tests((FOLDER / "test.json").read_text(encoding="utf-8"), "test.json", manifest=manifest).cases


@cache
def _reference_module() -> ModuleType:
    spec = util.spec_from_file_location("scan_reference", FOLDER / "reference.py")
    assert spec is not None and spec.loader is not None
    module = util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def reference(inputs: Arrays, attrs: Mapping[str, Any]) -> Arrays:
    """The expected outputs."""
    outputs: Arrays = _reference_module().reference(inputs, attrs, {})
    return outputs


def case_inputs(case: Case) -> Arrays:
    """The inputs of a case, in the natural form of their dtypes."""
    return {name: make_array(fixture) for name, fixture in case.inputs.items()}


def shape_request(
    steps: int,
    dim: int,
    dtype: str = "float32",
    attrs: Mapping[str, Json] | None = None,
    state: list[int] | None = None,
) -> Request:
    """A call of that shape without data."""
    inputs = {
        "initial_state": HostTensor(shape=[dim] if state is None else state, dtype=dtype),
        "scan_input": HostTensor(shape=[steps, dim], dtype=dtype),
    }
    return Request(inputs=inputs, attrs=attrs or {})


def run(planner: Planner, engine: Engine, inputs: Arrays, attrs: Mapping[str, Json], device: DeviceRecord) -> Arrays:
    """Plan a call for a device record and run it; the outputs in the dtype of the inputs."""
    tensors = {name: HostTensor.of(array) for name, array in inputs.items()}
    call = planner.prepare(Request(inputs=tensors, attrs=attrs), device)
    return outputs_of(engine, call)


def outputs_of(engine: Engine, call: PreparedCall) -> Arrays:
    """Run a planned call."""
    result = execute(engine, call.plan, call.uploads)
    return {name: _array(call.plan, name, result.outputs[name]) for name in call.plan.returned}


def _array(plan: Plan, name: str, data: Any) -> NDArray[Any]:
    spec = plan.outputs[name]
    return np.frombuffer(data, np.dtype(spec.dtype), count=math.prod(spec.shape)).reshape(spec.shape)
