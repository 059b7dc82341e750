"""The package that ``scanbuild show`` is asked about, whatever form it has, with the cases that came with it."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from scanbuild.errors import Problem
from scanbuild.package.folder import is_source
from scanbuild.package.load import LoadOptions
from scanbuild.package.model import ABSENT, Manifest
from scanbuild.package.opening import is_url, open_package
from scanbuild.planning.planner import PackageLike
from scanbuild.publishing.build import check_source
from scanbuild.publishing.packaged import packaged_cases
from scanbuild.publishing.rendering import SourceCase


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
    found = packaged_cases(loaded)
    return Subject(
        location=location.name,
        kind="built",
        package=loaded,
        cases=found.cases,
        notes=(*found.unread, *found.notes),
    )


def _options(location: Location) -> LoadOptions:
    """Every publisher is trusted: a package is only read here.

    An address tells the op id that it is expected to hold by the name it ends in, and needs no revision.
    """
    at_url = is_url(location.name)
    named = location.expected_op_id or (_name_in(location.name) if at_url else None)
    return LoadOptions(
        version=ABSENT if location.version is None else location.version,
        revision=location.revision or ("main" if at_url else None),
        token=os.environ.get("HF_TOKEN") or None,
        expected_op_id=ABSENT if named is None else named,
        trust_remote_code=True,
    )


def _name_in(url: str) -> str:
    return url.partition("/resolve/")[0].rstrip("/").rpartition("/")[2]
