"""What ``publish`` lays out: a package that keeps its word, and the kernel card beside it."""

import re
from collections.abc import Mapping
from pathlib import Path

from scanbuild.cases.report import left_report
from scanbuild.errors import CheckFailedError, InputError, LoadError, Problem, ScanbuildError, raise_if_any
from scanbuild.package.digest import compare_digests, digest_bytes, folder_files
from scanbuild.package.fetching import FetchError
from scanbuild.package.folder import FolderFetch, open_folder, package_folder
from scanbuild.package.jsonfile import parse_json
from scanbuild.package.load import FOLDER, prefetch
from scanbuild.package.loaded import Package
from scanbuild.package.metadata import MANIFEST_FILE, METADATA_FILE, read_metadata
from scanbuild.package.model import Json
from scanbuild.package.text import decode
from scanbuild.publishing.card import OWNER, kernel_card
from scanbuild.publishing.writer import differences, write_folder

CARD_FILE = "README.md"
TARGET_MARKS = (f"{FOLDER}/{METADATA_FILE}",)

_HUB_NAME = re.compile(r"[A-Za-z0-9._-]+")


def sound_package(root: Path) -> tuple[Package, dict[str, bytes]]:
    """The package in a folder with all its files. The faults are those of ``verify``, with the same exit statuses.

    LoadError for metadata that cannot be read and for all else that the loader would refuse, CheckFailedError for
    files that are not those that the metadata lists, and InputError without a package, or for one whose name no
    repository can have.
    """
    folder = package_folder(root)
    raw = _content(folder, METADATA_FILE)
    metadata = read_metadata(decode(raw), str(folder / METADATA_FILE))
    files = {METADATA_FILE: raw, **{name: _content(folder, name) for name in folder_files(folder)}}
    actual = {name: digest_bytes(data) for name, data in files.items()}
    raise_if_any(compare_digests(metadata.files, actual, str(folder)), CheckFailedError)
    package = prefetch(open_folder(folder))
    raise_if_any(_hub_name(package, folder))
    return package, files


def published_files(package: Package, files: Mapping[str, bytes], owner: str = OWNER) -> dict[str, bytes]:
    """Every file to publish, by its path in the repository: the package as it is, and the card for an owner's."""
    card = kernel_card(package.manifest, package.metadata.raw, sorted(files), _test_cases(files), owner)
    return {CARD_FILE: card.encode(), **{f"{FOLDER}/{name}": data for name, data in files.items()}}


def check_target(target: Path, root: Path) -> None:
    """InputError if the folder to publish into holds more than publishing writes, which would be lost, or lies in the
    package that is published."""
    if target.resolve().is_relative_to(package_folder(root).resolve()):
        message = "the folder lies in the package itself"
        raise InputError(Problem(message=message, file=str(target), hint="choose another folder with --out"))
    ours = {CARD_FILE, *FOLDER.split("/")[:1]}
    foreign = sorted(path.name for path in target.iterdir() if path.name not in ours) if target.is_dir() else []
    if foreign:
        message = f"the folder has to be replaced, and holds what publish did not write: {', '.join(foreign[:5])}"
        raise InputError(Problem(message=message, file=str(target), hint="choose another folder with --out"))


def lay_out(target: Path, published: Mapping[str, bytes]) -> None:
    """Make the folder hold these files. One that does, but for the report of a verification there, stays as it is."""
    report = str(left_report(target / FOLDER))
    if target.is_dir() and all(item.file == report for item in differences(target, published)):
        return
    write_folder(target, published, TARGET_MARKS)


def _hub_name(package: Package, folder: Path) -> list[Problem]:
    """The repository is called like the kernel (1.6), so the kernel's name must do for a repository (1.7)."""
    op_id = package.manifest.op_id
    if _HUB_NAME.fullmatch(op_id):
        return []
    message = f"the op id {op_id!r} cannot be the name of a repository: only letters, digits, '.', '_' and '-' can"
    return [Problem(message=message, rule="op-id", file=str(folder / MANIFEST_FILE), path="$.name", stage="own")]


def _content(folder: Path, name: str) -> bytes:
    try:
        return FolderFetch(folder)(name)
    except FetchError as error:
        message = f"cannot read the file: {error}"
        raise LoadError(Problem(message=message, rule="fetch", file=str(folder / name))) from None


def _test_cases(files: Mapping[str, bytes]) -> Json:
    """The parsed ``test.json``, which the card only takes an example from; None if there is none to be read."""
    try:
        return parse_json(decode(files["test.json"]), "test.json")
    except (KeyError, ScanbuildError):
        return None
