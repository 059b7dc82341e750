"""The two packages of a comparison: a source, a built or published folder, a URL, or a version on the Hub.

Nothing of a package is run, so that no trust in its publisher is asked for; digests are verified where there are any.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from scanbuild.errors import InputError, LoadError, Problem, raise_if_any
from scanbuild.package.fetching import Fetch
from scanbuild.package.folder import digest_problems, is_source, open_folder, package_folder, require_folder, root_of
from scanbuild.package.load import LoadOptions, assemble, is_repository, load_package, package_url
from scanbuild.package.loaded import Package
from scanbuild.package.metadata import MANIFEST_FILE
from scanbuild.package.model import Manifest
from scanbuild.package.opening import is_url
from scanbuild.package.source import JSON_FILES
from scanbuild.planning.planner import PackageLike, Templates
from scanbuild.publishing.build import check_source
from scanbuild.publishing.folding import fold
from scanbuild.publishing.metadata import CONTRACT_VERSION, contract_version
from scanbuild.publishing.packaged import packaged_cases
from scanbuild.publishing.rendering import SourceCase

BENCH_REPORT: Final = "build/bench-report.json"
"""Where a saved report of ``scanbuild bench`` is looked for, in the folder of a package."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Side:
    """One of the two packages.

    ``files`` are the texts of manifest, case files and templates as they are (or would be) published, by path.
    ``version`` is that of the contract, None if the package tells none. ``folder`` is where a report of ``bench`` may
    lie beside it. ``notes`` tell what could not be read and is left out.
    """

    location: str
    kind: str
    manifest: Manifest
    package: PackageLike = field(repr=False)
    files: Mapping[str, str] = field(repr=False)
    cases: tuple[SourceCase, ...] = field(default=(), repr=False)
    version: int | None = None
    id: str = ""
    folder: Path | None = None
    notes: tuple[Problem, ...] = ()


def open_side(location: str, *, token: str | None = None) -> Side:
    """The package at a location. Raises InputError for what is no package, or one whose digests do not hold.

    ``token`` is sent to the Hub alone.
    """
    name, _, revision = location.rpartition("@")
    if is_url(location):
        fetch = _network(token)
        package = assemble(location, lambda path: fetch(package_url(location, "", path)), verify=True)
        return _side(location, "url", package, None)
    if revision and is_repository(name) and not Path(location).exists():
        options = LoadOptions(revision=revision, trust_remote_code=True, token=token)
        return _side(location, "hub", load_package(name, options, _network(token)), None)
    folder = Path(location)
    if not folder.exists() and is_repository(location) and not location.startswith("."):
        hint = f"a repository of the Hub needs a version: {location}@v1"
        raise InputError(Problem(message="there is no such folder", rule="folder", file=location, hint=hint))
    require_folder(folder)
    return _source(folder) if is_source(folder) else _built(folder)


def _network(token: str | None) -> Fetch:
    from scanbuild.package.remote import UrlFetch, hub_address

    return UrlFetch(token, hub=hub_address())


def _source(folder: Path) -> Side:
    checked = check_source(folder)
    templates = fold(checked.source, checked.manifest).templates
    version = checked.options.get("version", CONTRACT_VERSION)
    return Side(
        location=str(folder),
        kind="source",
        manifest=checked.manifest,
        package=Templates(manifest=checked.manifest, files=templates),
        files={**{name: checked.source.files[name].text for name in JSON_FILES}, **templates},
        cases=checked.cases,
        version=version if isinstance(version, int) else None,
        folder=folder,
    )


def _built(folder: Path) -> Side:
    inner = package_folder(folder)
    package = open_folder(inner)
    raise_if_any(digest_problems(package, inner))
    return _side(str(folder), "built", package, root_of(inner) or inner)


def _side(location: str, kind: str, package: Package, folder: Path | None) -> Side:
    """A built package, with the case files that its metadata lists; one that cannot be read is a note."""
    metadata = package.metadata
    templates = (path for listed in metadata.variants.values() for path in listed)
    texts = {MANIFEST_FILE: package.manifest_text, **package.store.texts(templates, LoadError)}
    found = packaged_cases(package, f"{location}: ")
    identity = metadata.raw.get("id")
    return Side(
        location=location,
        kind=kind,
        manifest=package.manifest,
        package=package,
        files={**texts, **found.texts},
        cases=found.cases,
        version=contract_version(metadata.raw),
        id=identity if isinstance(identity, str) else "",
        folder=folder,
        notes=found.unread,
    )
