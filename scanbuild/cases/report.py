"""What a verification amounts to, for people and as JSON (``schemas/verify-report.schema.json``)."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from scanbuild.cases.compiling import CompileResult
from scanbuild.cases.findings import Finding
from scanbuild.cases.run import STATUSES, CaseResult
from scanbuild.package.folder import root_of
from scanbuild.package.model import Json, Manifest

FAILING: Final = ("failed", "noOracle")
REPORT_FILE: Final = "verify-report.json"


@dataclass(frozen=True, kw_only=True, slots=True)
class Generated:
    """A generated case that failed, as small as it could be made, ready for ``test.json``, and what became of it."""

    case: Mapping[str, Json]
    result: CaseResult


@dataclass(frozen=True, kw_only=True, slots=True)
class Fuzzing:
    """Generated cases: how many ran from which seed, how many of them could not be judged, and those that failed."""

    seed: int
    count: int
    unjudged: int = 0
    failures: tuple[Generated, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class RunReport:
    """What became of one package on one engine. ``complete`` is false if the run was cut short."""

    manifest: Manifest
    folder: str
    engine: str
    adapter: dict[str, Any]
    described: str = ""
    results: tuple[CaseResult, ...] = ()
    compiled: tuple[CompileResult, ...] = ()
    fuzzing: Fuzzing | None = None
    complete: bool = True
    digest: str = ""
    """That of the package's ``metadata.json``, which holds those of all its other files."""

    @property
    def counts(self) -> dict[str, int]:
        """How many cases have each status."""
        return {status: sum(item.status == status for item in self.results) for status in STATUSES}

    @property
    def reached(self) -> dict[str, int]:
        """How many cases selected each variant, in the order of the manifest; forced runs do not count."""
        chosen = [item.variant for item in self.results if not item.forced]
        return {variant.id: chosen.count(variant.id) for variant in self.manifest.variants}

    @property
    def ran(self) -> dict[str, int]:
        """How many runs each variant had, forced ones included."""
        variants = [item.variant for item in self.results]
        return {variant.id: variants.count(variant.id) for variant in self.manifest.variants}

    @property
    def unreached(self) -> list[str]:
        """The variants no case selected on this device."""
        return [name for name, count in self.reached.items() if not count]

    @property
    def failed(self) -> bool:
        """Whether anything is wrong."""
        return (
            any(item.status in FAILING for item in self.results)
            or any(item.status == "failed" for item in self.compiled)
            or (self.fuzzing is not None and bool(self.fuzzing.failures))
        )

    def to_json(self) -> dict[str, Any]:
        """The run as JSON."""
        ran = self.ran
        members: dict[str, Any] = {
            "package": self.manifest.op_id,
            "folder": self.folder,
            **({"digest": self.digest} if self.digest else {}),
            "engine": self.engine,
            "adapter": self.adapter,
            "complete": self.complete,
            "summary": self.counts,
            "cases": [_case_json(item) for item in self.results],
            "variants": {name: {"cases": count, "runs": ran[name]} for name, count in self.reached.items()},
        }
        if self.compiled:
            members["shaders"] = [_compile_json(item) for item in self.compiled]
        if self.fuzzing is not None:
            members["generated"] = _fuzzing_json(self.fuzzing)
        return members


@dataclass(frozen=True, kw_only=True, slots=True)
class Missing:
    """An engine that could not be used, and why."""

    engine: str
    message: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Coverage:
    """The variants of a package that no case reaches, on no engine and no profile, each with the reason."""

    package: str
    unreached: tuple[Finding, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class VerifyReport:
    """All runs of a call. ``complete`` is false if it was interrupted: then the runs hold what had been done."""

    runs: tuple[RunReport, ...]
    missing: tuple[Missing, ...] = ()
    coverage: tuple[Coverage, ...] = field(default=())
    complete: bool = True

    @property
    def failed(self) -> bool:
        """Whether anything is wrong."""
        return any(run.failed for run in self.runs) or any(item.unreached for item in self.coverage)

    def to_json(self) -> dict[str, Any]:
        """The report as JSON."""
        members: dict[str, Any] = {
            "version": 2,
            "complete": self.complete,
            "passed": self.complete and not self.failed,
            "runs": [run.to_json() for run in self.runs],
        }
        if self.missing:
            members["missing"] = [{"engine": item.engine, "message": item.message} for item in self.missing]
        if self.coverage:
            members["coverage"] = [
                {"package": item.package, "unreached": [finding.message for finding in item.unreached]}
                for item in self.coverage
            ]
        return members


def left_report(folder: Path) -> Path | None:
    """Where a verification of the package in ``.../build/webgpu`` leaves its report: ``build/verify-report.json``.

    None for a package elsewhere, beside which nothing is to be written.
    """
    root = root_of(folder)
    return None if root is None else root / "build" / REPORT_FILE


def matching(names: Sequence[str], pattern: str) -> list[str]:
    """The names that a pattern asks for: part of the name, whatever the case of its letters, or ``*`` and ``?``."""
    from fnmatch import fnmatchcase

    folded = pattern.casefold()
    wild = folded if any(char in folded for char in "*?[") else f"*{folded}*"
    return [name for name in names if fnmatchcase(name.casefold(), wild)]


def _case_json(item: CaseResult) -> dict[str, Any]:
    members: dict[str, Any] = {
        "name": item.name,
        "variant": item.variant,
        "status": item.status,
        "maxAbsError": _finite(item.max_abs_error),
        "maxUlp": item.max_ulp,
        "seconds": round(item.seconds, 6),
    }
    if item.forced:
        members["forced"] = True
    if item.findings:
        members["findings"] = [finding.to_json() for finding in item.findings]
    return {**members, "message": item.message} if item.message else members


def _compile_json(item: CompileResult) -> dict[str, Any]:
    members = {"name": item.name, "status": item.status}
    if item.kind:
        members["kind"] = item.kind
    return {**members, "message": item.message} if item.message else members


def _fuzzing_json(fuzzing: Fuzzing) -> dict[str, Any]:
    return {
        "seed": fuzzing.seed,
        "count": fuzzing.count,
        "unjudged": fuzzing.unjudged,
        "failures": [{"case": item.case, "result": _case_json(item.result)} for item in fuzzing.failures],
    }


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None
