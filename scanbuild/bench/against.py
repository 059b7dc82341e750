"""Comparing a run with a saved report of an earlier one, as fractions of the copy.

Absolute times do not carry from one machine to another, or from one driver to the next; how near a kernel comes to a
copy that ran beside it does.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scanbuild.bench.report import selected_entries
from scanbuild.cases.schema import check_schema
from scanbuild.errors import InputError, Problem, raise_if_any
from scanbuild.package.fetching import read_named
from scanbuild.package.jsonfile import parse_json
from scanbuild.package.report import Report
from scanbuild.package.text import decode


@dataclass(frozen=True, kw_only=True, slots=True)
class Compared:
    """One case then and now: fractions of the copy, and the variants that were selected."""

    name: str
    before: float
    after: float
    variant_before: str
    variant_after: str

    @property
    def loss(self) -> float:
        """By how much it is slower, as a fraction of what it was: 0.1 is a tenth of the speed lost."""
        return 1 - self.after / self.before if self.before > 0 else 0.0


@dataclass(frozen=True, kw_only=True, slots=True)
class Comparison:
    """All cases of both reports, and the names of those in one alone."""

    cases: tuple[Compared, ...]
    only_before: tuple[str, ...]
    only_now: tuple[str, ...]

    def regressions(self, most: float) -> list[Compared]:
        """The cases that lost more than a fraction of their speed, worst first."""
        return sorted((item for item in self.cases if item.loss > most), key=lambda item: -item.loss)


def read_baseline(file: Path) -> dict[str, Any]:
    """A report that ``scanbuild bench --json`` wrote. Raises InputError with all that is wrong with the file."""
    try:
        text = decode(read_named(file))
    except OSError as error:
        raise InputError(
            Problem(message=f"cannot read the baseline: {error.strerror or error}", file=str(file))
        ) from None
    value, report = parse_json(text, str(file)), Report()
    check_schema(value, "bench-report", report)
    raise_if_any(report.located(text, str(file)))
    assert isinstance(value, dict), "a schema lets only objects through"
    return value


def compare(now: Mapping[str, Any], before: Mapping[str, Any]) -> Comparison:
    """Compare two reports in JSON by the names of their cases: the selected variants, whichever they were."""
    new, old = selected_entries(now["cases"]), selected_entries(before["cases"])
    unreached = {item["name"] for item in now["notMeasured"]}
    return Comparison(
        cases=tuple(
            Compared(
                name=name,
                before=old[name]["fractionOfCopy"],
                after=item["fractionOfCopy"],
                variant_before=old[name]["variant"],
                variant_after=item["variant"],
            )
            for name, item in new.items()
            if name in old
        ),
        only_before=tuple(name for name in old if name not in new and name in unreached),
        only_now=tuple(name for name in new if name not in old),
    )


def parse_share(text: str) -> float:
    """``10%``, or ``10``, as a fraction; ValueError for what is no number from 0 to 100."""
    value = float(text.strip().removesuffix("%"))
    if not 0 <= value <= 100:
        raise ValueError(text)
    return value / 100
