"""Packages in a folder: a built root (with ``build/webgpu/`` in it), or that inner folder itself."""

import os
from pathlib import Path

from scanbuild.errors import InputError, Problem
from scanbuild.package.digest import compare_digests, folder_digests
from scanbuild.package.fetching import MAX_BYTES, FetchError
from scanbuild.package.load import FOLDER, assemble
from scanbuild.package.loaded import Package
from scanbuild.package.metadata import MANIFEST_FILE, METADATA_FILE

_NEARBY = 3
"""So many folders above are looked into."""


def open_folder(folder: Path, *, verify_hashes: bool = True) -> Package:
    """The package in a folder. Raises LoadError with the problems of metadata and manifest together.

    All rules of the loader hold but those on trust, revision and repository name, which a folder does not have.
    """
    inner = package_folder(folder)
    return assemble(str(folder), FolderFetch(inner), verify=verify_hashes, prefix=f"{inner}/", eager=True)


def package_folder(folder: Path) -> Path:
    """The folder that holds ``metadata.json``: the given one, or ``build/webgpu`` in it. Raises InputError."""
    for candidate in (folder / FOLDER, folder):
        if (candidate / METADATA_FILE).is_file():
            return candidate
    require_folder(folder)
    message = f"there is no built package here: neither {FOLDER}/{METADATA_FILE} nor {METADATA_FILE}"
    raise InputError(Problem(message=message, rule="folder", file=str(folder), hint=_way_out(folder)))


def _way_out(folder: Path) -> str:
    """Where a build is that was meant, if it is above the folder, as it is above that of its source."""
    here = folder.resolve()
    for above in list(here.parents)[:_NEARBY]:
        if (above / FOLDER / METADATA_FILE).is_file():
            if above == Path().resolve():
                return f"there is one in the current folder: {FOLDER}"
            return f"there is one in {os.path.relpath(above)}: work from there, or name it"
    return "build one with scanbuild render"


def root_of(inner: Path) -> Path | None:
    """The folder in which a package is as ``build/webgpu``; None for one that lies elsewhere."""
    for place in (inner, inner.resolve()):
        if place.as_posix().endswith(f"/{FOLDER}") or place.as_posix() == FOLDER:
            return place.parents[FOLDER.count("/")]
    return None


def is_source(folder: Path) -> bool:
    """Whether a folder holds a source package, rather than a built one or none."""
    built = any((candidate / METADATA_FILE).is_file() for candidate in (folder / FOLDER, folder))
    return not built and (folder / MANIFEST_FILE).is_file()


def require_folder(folder: Path) -> None:
    """Raise InputError if there is no folder at a path, saying what is there instead."""
    if folder.is_dir():
        return
    if not os.path.lexists(folder):
        message, hint = "there is no such folder", ""
    elif not folder.exists():
        message, hint = "this is a link that leads nowhere; the folder of a package was expected", ""
    else:
        message = "this is a file; the folder of a package was expected"
        hint = f"perhaps {folder.parent}"
    raise InputError(Problem(message=message, rule="folder", file=str(folder), hint=hint))


def digest_problems(package: Package, folder: Path) -> list[Problem]:
    """Every file of the package's folder that is not as ``metadata.json`` lists it: changed, missing or unlisted."""
    inner = package_folder(folder)
    return compare_digests(package.metadata.files, folder_digests(inner), str(inner))


class FolderFetch:
    """Reads files of a folder, and none outside it, not by a symbolic link either."""

    def __init__(self, folder: Path, *, max_bytes: int = MAX_BYTES) -> None:
        self._folder, self._max_bytes = folder, max_bytes
        self._root = folder.resolve()

    def __call__(self, path: str) -> bytes:
        """The bytes of the file at a path relative to the folder. Raises FetchError."""
        try:
            return self._read(path)
        except (OSError, ValueError, RuntimeError) as error:
            raise FetchError(getattr(error, "strerror", None) or str(error)) from None

    def _read(self, path: str) -> bytes:
        target = self._folder / path
        if not target.exists():
            raise FetchError("it is a link that leads nowhere" if target.is_symlink() else "there is no such file")
        if not target.resolve().is_relative_to(self._root):
            raise FetchError("it lies outside the package")
        if not target.is_file():
            raise FetchError("it is no regular file")
        if target.stat().st_size > self._max_bytes:
            raise FetchError(f"it is larger than {self._max_bytes} bytes")
        return target.read_bytes()
