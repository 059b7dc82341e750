"""Lowering an example, and running every variant of what comes out."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from scanbuild.gpu import Engine, execute
from scanbuild.lowering.interpreter import run_scan
from scanbuild.lowering.isolate import isolated
from scanbuild.lowering.lower import Read, assembled, package_files, read
from scanbuild.lowering.oracle import NoAnswerError, Oracle
from scanbuild.package.manifest import check_manifest
from scanbuild.package.model import Manifest
from scanbuild.planning.planner import Planner
from scanbuild.planning.request import HostTensor, Request
from scanbuild.planning.results import to_array
from tests.lowering.building import Array, Example, arrays

Arrays = dict[str, Array]
OP_ID = "my.tests.Lowered"


@dataclass(frozen=True, kw_only=True)
class Lowered:
    """A model that was read, and the source package that it became."""

    read: Read
    files: Mapping[str, bytes]

    @cached_property
    def manifest(self) -> Manifest:
        manifest, report = check_manifest(json.loads(self.files["manifest.json"]))
        assert manifest is not None, report.problems()
        return manifest

    def templates(self, variant_id: str) -> Mapping[str, str]:
        return {name: data.decode() for name, data in self.files.items() if ".wgsl" in name}

    @cached_property
    def planner(self) -> Planner:
        return Planner(self)

    @cached_property
    def oracle(self) -> Oracle:
        return Oracle(self.read.scan, isolated(self.read.model, self.read.candidate))

    def write(self, folder: Path) -> Path:
        """The package in a folder of its own."""
        package = folder / OP_ID
        package.mkdir()
        for name, data in self.files.items():
            (package / name).write_bytes(data)
        return package

    def inputs(self, example: Example, sizes: Mapping[str, int], seed: int = 0) -> Arrays:
        """The example's inputs by the names of the package's ports."""
        given = arrays(example, sizes, seed)
        return {port.name: given[port.onnx] for port in self.read.scan.inputs}

    def interpreted(self, inputs: Arrays) -> Arrays:
        return run_scan(self.read.scan, inputs)

    def eligible(self, engine: Engine, inputs: Arrays) -> list[str]:
        """The variants that the loader might run for such a call, the one that it does first."""
        verdicts = self.planner.explain(_request(inputs), engine.record)
        return [verdict.id for verdict in verdicts if verdict.accepted]

    def run(self, engine: Engine, inputs: Arrays, variant: str) -> Arrays:
        """The results of one variant."""
        prepared = self.planner.prepare(_request(inputs), engine.record, variant)
        assert prepared.plan.variant == variant
        outputs: dict[str, Any] = execute(engine, prepared.plan, prepared.uploads).outputs
        return {name: to_array(prepared.plan.outputs[name], data) for name, data in outputs.items()}


def lowered(example: Example) -> Lowered:
    """The package as it is written."""
    found = read(example.data, f"{example.name}.onnx", None)
    return Lowered(read=found, files=package_files(found, OP_ID))


def with_all_variants(found: Read) -> Lowered:
    """A package, without cases, of every variant that can be made, also those that a better one hides."""
    return Lowered(read=found, files=assembled(found, OP_ID, found.possible))


def _request(inputs: Arrays) -> Request:
    return Request(inputs={name: HostTensor.of(array, str(array.dtype)) for name, array in inputs.items()})


def answer(lowered: Lowered, inputs: Arrays) -> Arrays:
    """What ONNX Runtime gives; where it has no answer, the interpreter's."""
    try:
        return lowered.oracle.run(inputs)
    except NoAnswerError:
        return lowered.interpreted(inputs)


def distance(got: Arrays, want: Arrays) -> float:
    """How far results are apart at most, relative from 1 on; integers and truth values must be equal."""
    assert got.keys() == want.keys()
    apart = 0.0
    for name, expected in want.items():
        found = np.asarray(got[name])
        assert found.shape == expected.shape, (name, found.shape, expected.shape)
        if expected.dtype.kind != "f":
            assert found.dtype == expected.dtype or expected.dtype == np.bool_, (name, found.dtype, expected.dtype)
            np.testing.assert_array_equal(found.astype(expected.dtype), expected, err_msg=name)
            continue
        assert found.dtype == expected.dtype, (name, found.dtype, expected.dtype)
        apart = max(apart, _apart(found.astype(np.float64), expected.astype(np.float64)))
    return apart


def _apart(found: Array, expected: Array) -> float:
    with np.errstate(all="ignore"):
        error = np.abs(found - expected) / np.maximum(1.0, np.abs(expected))
    same = (found == expected) | (np.isnan(found) & np.isnan(expected))
    error = np.where(same, 0.0, np.where(np.isnan(error), np.inf, error))
    return float(error.max()) if error.size else 0.0
