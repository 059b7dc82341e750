"""``test.json`` and ``bench.json`` as plain data, checked as a whole: every problem of a file with its place."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from scanbuild.cases.fixtures import (
    FLOATS,
    Constant,
    Data,
    Iota,
    Random,
    TensorFixture,
    Values,
    Wave,
)
from scanbuild.cases.schema import check_schema
from scanbuild.errors import Problem, raise_if_any
from scanbuild.package.jsonfile import Path, parse_json
from scanbuild.package.model import Json, Manifest
from scanbuild.package.report import Report, nearest, shown

MAX_ELEMENTS: Final = 2**28
"""A tensor of a case may have so many elements (1 GiB of float32)."""

MAX_RANK: Final = 64
"""A tensor of a case may have so many dimensions. Published kernels go up to eight."""

_REFERENCE: Final = "#/fixtureArrays/"


@dataclass(frozen=True, kw_only=True, slots=True)
class Expected:
    """An output a case must give. ``fixture.data`` is None where a reference has to tell the values.

    ``tolerances`` has those of variants that need another one than the variant that the case is meant for.
    """

    fixture: TensorFixture
    tolerance: float | None = None
    tolerances: Mapping[str, float] = field(default_factory=dict)
    allow_nan: bool = True


@dataclass(frozen=True, kw_only=True, slots=True)
class Skip:
    """Why a case is not run on any GPU."""

    category: Literal["permanent", "todo"]
    reason: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Case:
    """One call: a correctness case, or a benchmark case (``bytes_moved`` and ``group`` are the latter's)."""

    name: str
    inputs: Mapping[str, TensorFixture] = field(default_factory=dict)
    attrs: Mapping[str, Json] = field(default_factory=dict)
    args: Mapping[str, Json] = field(default_factory=dict)
    outputs: Mapping[str, Expected] = field(default_factory=dict)
    skip: Skip | None = None
    expect_variant: str | None = None
    bytes_moved: float | None = None
    group: str = ""
    index: int = 0


@dataclass(frozen=True, kw_only=True, slots=True)
class CaseFile:
    """The cases of a file. ``tune`` gives the values to try for each tunable; ``notes`` what is only odd."""

    cases: tuple[Case, ...] = ()
    tune: Mapping[str, tuple[Json, ...]] = field(default_factory=dict)
    notes: tuple[Problem, ...] = ()


def read_tests(text: str, file: str, *, manifest: Manifest | None = None, foreign: bool = False) -> CaseFile:
    """The cases of a ``test.json``.

    With a manifest, the names of ports, attributes, args and variants are checked too. In a ``foreign`` file unknown
    members are notes. InputError with all problems of the file, each at its line and column.
    """
    return _read(text, file, "test", manifest, foreign)


def read_benches(text: str, file: str, *, manifest: Manifest | None = None, foreign: bool = False) -> CaseFile:
    """The cases of a ``bench.json``; see :func:`read_tests`."""
    return _read(text, file, "bench", manifest, foreign)


def _read(text: str, file: str, schema: str, manifest: Manifest | None, foreign: bool) -> CaseFile:
    value, report = _uncommented(parse_json(text, file)), Report()
    check_schema(value, schema, report, foreign=foreign)
    if report.failed or not isinstance(value, dict):
        raise_if_any(report.located(text, file))
        raise AssertionError("a schema lets only objects through")
    arrays = value.get("fixtureArrays", {})
    cases = tuple(_Reader(report, arrays, index).case(member) for index, member in enumerate(value["cases"]))
    _check_unique(cases, report)
    if manifest is not None:
        for case in cases:
            _check_names(case, manifest, report)
        _check_tunables(value.get("tune", {}), manifest, report)
    problems = report.located(text, file)
    raise_if_any(problems)
    tune = {name: tuple(choices) for name, choices in value.get("tune", {}).items()}
    return CaseFile(cases=cases, tune=tune, notes=tuple(problems))


class _Reader:
    """Reads one case. The value has passed the schema, so only what a schema cannot say is looked at."""

    def __init__(self, report: Report, arrays: Mapping[str, list[Any]], index: int) -> None:
        self.report = report
        self.arrays = arrays
        self.index = index
        self.path: Path = ("cases", index)

    def case(self, value: Mapping[str, Any]) -> Case:
        skip = value.get("skipGpu")
        outputs = {
            name: Expected(
                fixture=self.tensor(member, "outputs", name),
                tolerance=member.get("tolerance"),
                tolerances=member.get("tolerances", {}),
                allow_nan=member.get("allowNaN", True),
            )
            for name, member in value.get("outputs", {}).items()
        }
        return Case(
            name=value["name"],
            inputs={name: self.tensor(member, "inputs", name) for name, member in value["inputs"].items()},
            attrs=value.get("attrs", {}),
            args=value.get("args", {}),
            outputs=outputs,
            skip=Skip(category=skip["category"], reason=skip["reason"]) if skip else None,
            expect_variant=value.get("expectVariant"),
            bytes_moved=value.get("bytesMoved"),
            group=value.get("group", ""),
            index=self.index,
        )

    def tensor(self, value: Mapping[str, Any], kind: str, name: str) -> TensorFixture:
        path = (*self.path, kind, name)
        dtype, shape = value["dtype"], tuple(int(size) for size in value["shape"])
        if len(shape) > MAX_RANK:
            message = f"a shape of {len(shape)} dimensions; {MAX_RANK} are the limit"
            self.report.add((*path, "shape"), "case-size", message)
            shape = shape[:MAX_RANK]
        count = math.prod(shape)
        if count > MAX_ELEMENTS:
            self.report.add((*path, "shape"), "case-size", f"{count} elements; {MAX_ELEMENTS} are the limit")
        data = self.data(value["data"], dtype, count, (*path, "data")) if "data" in value else None
        return TensorFixture(dtype=dtype, shape=shape, data=data)

    def data(self, value: Mapping[str, Any], dtype: str, count: int, path: Path) -> Data:
        match value["kind"]:
            case "values":
                return self.values(value["values"], dtype, count, (*path, "values"))
            case "fillFloat32":
                return Wave(sin_step=value["sinStep"], cos_step=value["cosStep"], scale=value.get("scale", 1.0))
            case "random":
                return self.random(value, dtype, path)
            case "iota":
                return Iota(start=value.get("start", 0), step=value.get("step", 1))
            case _:
                self.check_numbers([value["value"]], dtype, (*path, "value"))
                return Constant(value=value["value"])

    def values(self, value: Any, dtype: str, count: int, path: Path) -> Values:
        if isinstance(value, dict):
            name = value["$ref"].removeprefix(_REFERENCE)
            if name not in self.arrays:
                hint = nearest(name, self.arrays)
                self.report.add((*path, "$ref"), "case-reference", f"no fixture array {shown(name)}", hint=hint)
                return Values(values=())
            value = self.arrays[name]
        if len(value) != count:
            self.report.add(path, "case-values", f"{len(value)} values for a shape of {count} elements")
        self.check_numbers(value, dtype, path)
        return Values(values=value)

    def random(self, value: Mapping[str, Any], dtype: str, path: Path) -> Random:
        whole = value.get("integers", dtype not in FLOATS)
        low, high = value["low"], value["high"]
        if not (math.isfinite(low) and math.isfinite(high) and low < high):
            self.report.add(path, "case-random", f"low {low} must be less than high {high}, and both finite")
        elif whole and not (low >= -(2**62) and math.ceil(low) < math.ceil(high) <= 2**62):
            self.report.add(
                path, "case-random", f"there are no whole numbers in [{low}, {high}), or they are too large"
            )
        return Random(seed=value["seed"], low=low, high=high, integers=whole)

    def check_numbers(self, values: Iterable[Any], dtype: str, path: Path) -> None:
        if dtype in FLOATS:
            return
        for value in values:
            words = ("NaN", "Infinity", "-Infinity")
            whole = value not in words if isinstance(value, str) else math.isfinite(value) and value == int(value)
            if not whole:
                self.report.add(path, "case-values", f"{value} is no {dtype}")
                return


def _check_unique(cases: Iterable[Case], report: Report) -> None:
    seen: set[str] = set()
    for case in cases:
        if case.name in seen:
            report.add(("cases", case.index, "name"), "case-name", f"another case is called {shown(case.name)}, too")
        seen.add(case.name)


def _check_names(case: Case, manifest: Manifest, report: Report) -> None:
    path: Path = ("cases", case.index)
    tensors = [*manifest.inputs, *manifest.outputs]
    _check_supplied(case, manifest, report)
    _check_known(case.inputs, tensors, (*path, "inputs"), "tensor", report)
    _check_known(case.outputs, list(manifest.outputs), (*path, "outputs"), "output", report)
    _check_known(case.attrs, list(manifest.attributes), (*path, "attrs"), "attribute", report)
    _check_known(case.args, list(manifest.args), (*path, "args"), "argument", report)
    variants = [variant.id for variant in manifest.variants]
    for name, expected in case.outputs.items():
        _check_known(expected.tolerances, variants, (*path, "outputs", name, "tolerances"), "variant", report)
    if case.expect_variant is not None and case.expect_variant not in variants:
        hint = nearest(case.expect_variant, variants)
        message = f"the manifest has no variant {shown(case.expect_variant)}"
        report.add((*path, "expectVariant"), "case-variant", message, hint=hint)


def _check_supplied(case: Case, manifest: Manifest, report: Report) -> None:
    """Inputs that are not optional have to be there. Nothing is said where a misspelt name may be the reason."""
    missing = [name for name, port in manifest.inputs.items() if not port.optional and name not in case.inputs]
    if missing and all(name in manifest.inputs or name in manifest.outputs for name in case.inputs):
        names = " and ".join(map(shown, missing))
        report.add(
            ("cases", case.index, "inputs"),
            "case-input",
            f"the case lacks {names}; only optional inputs may be left out",
        )


def _check_tunables(tune: Mapping[str, Any], manifest: Manifest, report: Report) -> None:
    known = [*manifest.tunables, *(name for variant in manifest.variants for name in variant.tunables)]
    _check_known(tune, known, ("tune",), "tunable", report)


def _check_known(names: Iterable[str], known: list[str], path: Path, what: str, report: Report) -> None:
    for name in names:
        if name not in known:
            hint = nearest(name, known)
            message = f"the manifest has no {what} {shown(name)}"
            report.add((*path, name), "case-name", message, hint=hint, key=True)


def _uncommented(value: Json) -> Json:
    """The value without the members called ``$comment``, as the loader reads a manifest."""
    if isinstance(value, dict):
        return {name: _uncommented(member) for name, member in value.items() if name != "$comment"}
    if isinstance(value, list):
        return [_uncommented(item) if isinstance(item, dict | list) else item for item in value]
    return value
