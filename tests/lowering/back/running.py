"""Drafts made into packages and run, every variant by itself."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scanbuild.gpu import Engine, execute
from scanbuild.lowering.draft import Draft, Variant
from scanbuild.lowering.graph import Scan
from scanbuild.lowering.interpreter import run_scan
from scanbuild.lowering.package import assemble
from scanbuild.package.manifest import check_manifest
from scanbuild.package.model import Manifest
from scanbuild.planning.device import DeviceRecord
from scanbuild.planning.planner import Planner
from scanbuild.planning.request import HostTensor, Request
from scanbuild.planning.results import to_array
from scanbuild.resources import data_folder

Arrays = dict[str, NDArray[Any]]


@dataclass(frozen=True, kw_only=True)
class SourcePackage:
    """A manifest with the shader files beside it and the shared fragments they include."""

    manifest: Manifest
    files: Mapping[str, str]

    def templates(self, variant_id: str) -> Mapping[str, str]:
        return self.files


def package_of(scan: Scan, *drafts: Draft) -> SourcePackage:
    variants = [draft for draft in drafts if isinstance(draft, Variant)]
    assert len(variants) == len(drafts), drafts
    files = assemble(scan, variants, "test.lowered.Scan")
    manifest, report = check_manifest(json.loads(files["manifest.json"]))
    assert manifest is not None, report.problems()
    shared = sorted((data_folder("templates") / "_shared").glob("*.wgsl.jinja"))
    return SourcePackage(
        manifest=manifest, files={**files, **{f"_shared/{path.name}": path.read_text("utf-8") for path in shared}}
    )


def write(scan: Scan, folder: Path, *drafts: Draft) -> Path:
    """The package's files in a folder."""
    variants = [draft for draft in drafts if isinstance(draft, Variant)]
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in assemble(scan, variants, "test.lowered.Scan").items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def without_halves(record: DeviceRecord) -> DeviceRecord:
    return replace(record, features=record.features - {"shader-f16"})


def run(scan: Scan, draft: Draft, engine: Engine, inputs: Arrays, record: DeviceRecord | None = None) -> Arrays:
    """The results of the draft's variant by name."""
    planner = Planner(package_of(scan, draft))
    request = Request(inputs={name: HostTensor.of(value) for name, value in inputs.items()})
    prepared = planner.prepare(request, record or engine.record)
    result = execute(engine, prepared.plan, prepared.uploads)
    found = {}
    for name, made in result.outputs.items():
        assert isinstance(made, bytes)
        spec = prepared.plan.outputs[name]
        array = to_array(spec, made)
        wanted = next(port.dtype for port in scan.results if port.name == name)
        found[name] = array.astype(np.bool_) if wanted == "bool" else array
    return found


def inputs_for(scan: Scan, seed: int = 0, low: int = -4, high: int = 5, **sizes: int) -> Arrays:
    """Random inputs: whole numbers for integers, normal ones for floats."""
    generator = np.random.default_rng(seed)
    found = {}
    for port in scan.inputs:
        shape = tuple(size.at(sizes).number or 0 for size in port.shape)
        if port.dtype.startswith("float"):
            found[port.name] = generator.normal(size=shape).astype(port.dtype)
        elif port.dtype == "bool":
            found[port.name] = generator.integers(0, 2, shape).astype(np.bool_)
        else:
            first = max(low, 0) if port.dtype.startswith("u") else low
            found[port.name] = generator.integers(first, high, shape).astype(port.dtype)
    return found


def assert_like_numpy(
    scan: Scan,
    draft: Draft,
    engine: Engine,
    inputs: Arrays,
    tolerance: float = 2e-5,
    record: DeviceRecord | None = None,
) -> None:
    wanted = run_scan(scan, inputs)
    got = run(scan, draft, engine, inputs, record)
    assert set(got) == set(wanted)
    for name, want in wanted.items():
        assert got[name].dtype == want.dtype and got[name].shape == want.shape, name
        if want.dtype.kind == "f":
            loose = 4e-3 if want.dtype == np.float16 else tolerance
            np.testing.assert_allclose(got[name], want, rtol=loose, atol=loose, err_msg=name)
        else:
            np.testing.assert_array_equal(got[name], want, err_msg=name)
