"""What a run of all cases amounts to, for people and as JSON (``schemas/verify-report.schema.json``)."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from scanbuild.cases.run import STATUSES, CaseResult
from scanbuild.package.model import Manifest


@dataclass(frozen=True, kw_only=True, slots=True)
class VerifyReport:
    """Results of the cases that ran, and the adapter they ran on."""

    manifest: Manifest
    engine: str
    adapter: dict[str, Any]
    results: tuple[CaseResult, ...]

    @property
    def counts(self) -> dict[str, int]:
        """How many cases have each status."""
        return {status: sum(item.status == status for item in self.results) for status in STATUSES}

    @property
    def reached(self) -> dict[str, int]:
        """How many cases selected each variant, in the order of the manifest."""
        return {
            variant.id: sum(item.variant == variant.id for item in self.results) for variant in self.manifest.variants
        }

    @property
    def unreached(self) -> list[str]:
        """The variants no case reached on this device."""
        return [name for name, count in self.reached.items() if not count]

    def to_json(self) -> dict[str, Any]:
        """The report as JSON."""
        return {
            "package": self.manifest.op_id,
            "engine": self.engine,
            "adapter": self.adapter,
            "summary": self.counts,
            "cases": [_case_json(item) for item in self.results],
            "variants": {name: {"cases": count} for name, count in self.reached.items()},
        }


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
    return {**members, "message": item.message} if item.message else members


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None
