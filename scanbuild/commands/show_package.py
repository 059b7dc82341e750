"""The package that ``scanbuild show`` is asked about, whatever form it has, with the cases that came with it."""

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, Literal

from scanbuild.cases.casefile import read_benches, read_tests
from scanbuild.errors import InputError, LoadError, Problem
from scanbuild.package.folder import is_source
from scanbuild.package.load import LoadOptions
from scanbuild.package.loaded import Package
from scanbuild.package.model import ABSENT, Manifest
from scanbuild.package.opening import open_package
from scanbuild.package.source import BENCH_FILE, TEST_FILE
from scanbuild.planning.planner import PackageLike
from scanbuild.publishing.build import check_source
from scanbuild.publishing.rendering import SourceCase

_URL: Final = re.compile(r"https?:", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True, slots=True)
class Location:
    """Where a package is, with what the loader has to be told of one that is no folder."""

    name: str
    version: int | None = None
    revision: str | None = None
    expected_op_id: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Subject:
    """A package with its cases. ``notes`` are complaints about its case files that hinder nothing."""

    location: str
    kind: Literal["source", "built"]
    package: PackageLike
    cases: tuple[SourceCase, ...]
    notes: tuple[Problem, ...] = ()

    @property
    def manifest(self) -> Manifest:
        """The normalised manifest."""
        return self.package.manifest


def open_subject(location: Location) -> Subject:
    """The package at a location: a source folder, a built one, or what the loader takes.

    Nothing of it is run. InputError with every problem of a source, LoadError for what the loader refuses.
    """
    folder = Path(location.name)
    if is_source(folder):
        checked = check_source(folder)
        return Subject(location=location.name, kind="source", package=checked.as_written, cases=checked.cases)
    loaded = open_package(location.name, _options(location))
    notes: list[Problem] = []
    cases = tuple(_cases(loaded, notes))
    return Subject(location=location.name, kind="built", package=loaded, cases=cases, notes=tuple(notes))


def _options(location: Location) -> LoadOptions:
    """Every publisher is trusted: a package is only read here.

    An address tells the op id that it is expected to hold by the name it ends in, and needs no revision.
    """
    is_url = _URL.match(location.name) is not None
    named = location.expected_op_id or (_name_in(location.name) if is_url else None)
    return LoadOptions(
        version=ABSENT if location.version is None else location.version,
        revision=location.revision or ("main" if is_url else None),
        token=os.environ.get("HF_TOKEN") or None,
        expected_op_id=ABSENT if named is None else named,
        trust_remote_code=True,
    )


def _name_in(url: str) -> str:
    return url.partition("/resolve/")[0].rstrip("/").rpartition("/")[2]


def _cases(package: Package, notes: list[Problem]) -> Iterator[SourceCase]:
    """The cases in the files that the package lists; a file that cannot be read is a note."""
    for name, read in ((TEST_FILE, read_tests), (BENCH_FILE, read_benches)):
        if name not in package.metadata.files:
            continue
        try:
            text = package.store.texts([name], LoadError)[name]
            found = read(text, name, manifest=package.manifest, foreign=True)
        except InputError as error:
            notes += [replace(problem, severity="warning") for problem in error.problems]
            continue
        notes += found.notes
        yield from (SourceCase(file=name, case=case) for case in found.cases)
