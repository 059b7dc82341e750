"""The packages that are measured, and packages with other values of their tunables."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from scanbuild.cases.casefile import Case, CaseFile, read_benches
from scanbuild.cases.report import matching
from scanbuild.errors import CheckFailedError, InputError, Problem
from scanbuild.package.fetching import FetchError
from scanbuild.package.folder import FolderFetch, digest_problems, is_source, open_folder, package_folder
from scanbuild.package.model import Json, Manifest
from scanbuild.package.source import BENCH_FILE, read_source
from scanbuild.package.text import decode
from scanbuild.planning.planner import PackageLike, Templates


@dataclass(frozen=True, kw_only=True, slots=True)
class Tuned:
    """A package in which tunables have other values."""

    manifest: Manifest
    package: PackageLike

    def templates(self, variant_id: str) -> Mapping[str, str]:
        """The templates of the package, whose texts the values do not change."""
        return self.package.templates(variant_id)


def tuned(package: PackageLike, values: Mapping[str, Json]) -> PackageLike:
    """The package with other defaults of its tunables, wherever they are declared; itself if there are none."""
    if not values:
        return package
    manifest = package.manifest
    variants = tuple(replace(item, tunables=_overlaid(item.tunables, values)) for item in manifest.variants)
    changed = replace(manifest, tunables=_overlaid(manifest.tunables, values), variants=variants)
    return Tuned(manifest=changed, package=package)


def open_subject(folder: Path) -> PackageLike:
    """The package in a folder, built or a source; its files are as their digests say.

    Raises InputError for what is no package, CheckFailedError for one that was edited after it was built.
    """
    if is_source(folder):
        source = read_source(folder)
        assert source.manifest is not None, "a source without errors has a manifest"
        return Templates(manifest=source.manifest, files={**source.templates, **source.shared})
    package = open_folder(package_folder(folder))
    problems = digest_problems(package, folder)
    if problems:
        raise CheckFailedError(*problems)
    return package


def read_cases(folder: Path, manifest: Manifest) -> CaseFile:
    """The benchmark cases in a package's folder. Raises InputError with all problems of the file."""
    inner = folder if is_source(folder) else package_folder(folder)
    file = inner / BENCH_FILE
    try:
        text = decode(FolderFetch(inner)(BENCH_FILE))
    except FetchError as error:
        hint = f"benchmark cases stand in {BENCH_FILE}, beside the manifest"
        raise InputError(
            Problem(message=f"there are no benchmark cases to read: {error}", file=str(file), hint=hint)
        ) from None
    return read_benches(text, str(file), manifest=manifest, foreign=not is_source(folder))


def matching_cases(cases: Sequence[Case], patterns: Sequence[str]) -> list[Case]:
    """The cases that some pattern asks for, all without patterns: by the whole name, else as ``verify -k`` has it."""
    names = [case.name for case in cases]
    wanted = {name for pattern in patterns for name in ([pattern] if pattern in names else matching(names, pattern))}
    return [case for case in cases if not patterns or case.name in wanted]


def _overlaid(tunables: Mapping[str, Json], values: Mapping[str, Json]) -> dict[str, Json]:
    return {name: values.get(name, value) for name, value in tunables.items()}
