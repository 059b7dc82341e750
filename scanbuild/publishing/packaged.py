"""The cases that come with a package that somebody else may have built."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from scanbuild.cases.casefile import read_benches, read_tests
from scanbuild.errors import InputError, LoadError, Problem
from scanbuild.package.loaded import Package
from scanbuild.package.source import BENCH_FILE, TEST_FILE
from scanbuild.publishing.rendering import SourceCase


@dataclass(frozen=True, kw_only=True, slots=True)
class PackagedCases:
    """The case files of a package: their texts by name, and their cases.

    ``unread`` tells in warnings which of them cannot be read, and are left out; ``notes`` what is only odd.
    """

    texts: Mapping[str, str]
    cases: tuple[SourceCase, ...]
    unread: tuple[Problem, ...]
    notes: tuple[Problem, ...]


def packaged_cases(package: Package, place: str = "") -> PackagedCases:
    """The cases in the files that the package lists. Problems name a file by ``place`` and its name."""
    texts: dict[str, str] = {}
    cases: list[SourceCase] = []
    unread: list[Problem] = []
    notes: list[Problem] = []
    for name, read in ((TEST_FILE, read_tests), (BENCH_FILE, read_benches)):
        if name not in package.metadata.files:
            continue
        try:
            texts |= package.store.texts([name], LoadError)
            found = read(texts[name], f"{place}{name}", manifest=package.manifest, foreign=True)
        except InputError as error:
            unread += [replace(problem, severity="warning") for problem in error.problems]
            continue
        cases += [SourceCase(file=name, case=case) for case in found.cases]
        notes += found.notes
    return PackagedCases(texts=texts, cases=tuple(cases), unread=tuple(unread), notes=tuple(notes))
