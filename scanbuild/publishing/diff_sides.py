"""The two packages of a comparison: a source, a built or published folder, a URL, or a version on the Hub.

Nothing of a package is run, so that no trust in its publisher is asked for; digests are verified where there are any.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from scanbuild.cases.casefile import read_benches, read_tests
from scanbuild.errors import CheckFailedError, InputError, LoadError, Problem
from scanbuild.package.digest import digest_text
from scanbuild.package.fetching import Fetch, FetchError
from scanbuild.package.folder import FolderFetch, digest_problems, open_folder, package_folder, require_folder
from scanbuild.package.load import LoadOptions, assemble, is_repository, load_package, package_url, prefetch
from scanbuild.package.loaded import Package
from scanbuild.package.metadata import MANIFEST_FILE, METADATA_FILE
from scanbuild.package.model import Json, Manifest
from scanbuild.package.source import BENCH_FILE, JSON_FILES, TEST_FILE
from scanbuild.package.text import decode
from scanbuild.planning.planner import PackageLike
from scanbuild.publishing.build import check_source
from scanbuild.publishing.folding import fold
from scanbuild.publishing.metadata import CONTRACT_VERSION
from scanbuild.publishing.rendering import SourceCase

BENCH_REPORT: Final = "build/bench-report.json"
"""Where a saved report of ``scanbuild bench`` is looked for, in the folder of a package."""

_URL: Final = re.compile(r"https?:", re.IGNORECASE)


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

    @property
    def digests(self) -> dict[str, str]:
        """The digest of every text, as ``metadata.json`` lists it."""
        return {name: digest_text(text) for name, text in self.files.items()}


@dataclass(frozen=True, kw_only=True, slots=True)
class _Folded:
    """A source as its build would be."""

    manifest: Manifest
    texts: Mapping[str, str]

    def templates(self, variant_id: str) -> Mapping[str, str]:
        """All templates, whichever the variant."""
        del variant_id
        return self.texts


def open_side(location: str, *, fetch: Fetch | None = None) -> Side:
    """The package at a location. Raises InputError, or CheckFailedError where digests do not hold.

    ``fetch`` replaces the network.
    """
    name, _, revision = location.rpartition("@")
    if _URL.match(location):
        return _fetched(location, "url", _url_package(location, _network(fetch)), _url_file(location, "", fetch))
    if revision and is_repository(name) and not Path(location).exists():
        options = LoadOptions(revision=revision, trust_remote_code=True, templates="all")
        package = load_package(name, options, _network(fetch))
        return _fetched(location, "hub", package, _url_file(name, revision, fetch))
    folder = Path(location)
    if not folder.exists() and is_repository(location) and not location.startswith("."):
        hint = f"a repository of the Hub needs a version: {location}@v1"
        raise InputError(Problem(message="there is no such folder", rule="folder", file=location, hint=hint))
    require_folder(folder)
    return _source(folder) if _is_source(folder) else _built(folder)


def _is_source(folder: Path) -> bool:
    """Whether a folder holds a source package rather than a built one."""
    if not (folder / MANIFEST_FILE).is_file() or (folder / METADATA_FILE).is_file():
        return False
    try:
        package_folder(folder)
    except InputError:
        return True
    return False


def _source(folder: Path) -> Side:
    checked = check_source(folder)
    templates = fold(checked.source, checked.manifest).templates
    version = checked.options.get("version", CONTRACT_VERSION)
    return Side(
        location=str(folder),
        kind="source",
        manifest=checked.manifest,
        package=_Folded(manifest=checked.manifest, texts=templates),
        files={**{name: checked.source.files[name].text for name in JSON_FILES}, **templates},
        cases=checked.cases,
        version=version if isinstance(version, int) else None,
        folder=folder,
    )


def _built(folder: Path) -> Side:
    inner = package_folder(folder)
    package = prefetch(open_folder(inner))
    problems = digest_problems(package, inner)
    if problems:
        raise CheckFailedError(*problems)
    root = inner.parent.parent if inner.parts[-2:] == ("build", "webgpu") else inner
    return _side(str(folder), "built", package, FolderFetch(inner), root)


def _url_package(location: str, fetch: Fetch) -> Package:
    return prefetch(assemble(location, lambda path: fetch(package_url(location, "", path)), verify=True))


def _fetched(location: str, kind: str, package: Package, fetch: Fetch) -> Side:
    return _side(location, kind, package, fetch, None)


def _network(fetch: Fetch | None) -> Fetch:
    if fetch is not None:
        return fetch
    from scanbuild.package.remote import UrlFetch

    return UrlFetch()


def _url_file(location: str, revision: str, fetch: Fetch | None) -> Callable[[str], bytes]:
    """Fetches files of a package by their paths in it."""
    network = _network(fetch)
    return lambda path: network(package_url(location, revision, path))


def _side(location: str, kind: str, package: Package, fetch: Fetch, folder: Path | None) -> Side:
    """A built package, with the case files that its metadata lists."""
    metadata = package.metadata
    notes: list[Problem] = []
    files = {MANIFEST_FILE: package.manifest_text}
    cases: list[SourceCase] = []
    for name, read in ((TEST_FILE, read_tests), (BENCH_FILE, read_benches)):
        if name not in metadata.files:
            continue
        try:
            files[name] = _listed_text(fetch, name, metadata.files)
            found = read(files[name], name, manifest=package.manifest, foreign=True)
            cases += [SourceCase(file=name, case=case) for case in found.cases]
        except InputError as error:
            notes += [
                Problem(message=f"{location}: {problem}", rule="cases", severity="warning", stage="own")
                for problem in error.problems
            ]
    version: Json = metadata.raw.get("version")
    identity: Json = metadata.raw.get("id")
    return Side(
        location=location,
        kind=kind,
        manifest=package.manifest,
        package=package,
        files={**files, **package.store.fetched()},
        cases=tuple(cases),
        version=version if isinstance(version, int) and not isinstance(version, bool) else None,
        id=identity if isinstance(identity, str) else "",
        folder=folder,
        notes=tuple(notes),
    )


def _listed_text(fetch: Fetch, name: str, digests: Mapping[str, str]) -> str:
    """The text of a file that has the digest that is listed for it; LoadError if not."""
    try:
        text = decode(fetch(name))
    except FetchError as error:
        raise LoadError(Problem(message=f"cannot read the file: {error}", rule="fetch", file=name)) from None
    if digest_text(text) != digests[name]:
        raise LoadError(Problem(message="the file does not have the digest that is listed", rule="digest", file=name))
    return text
