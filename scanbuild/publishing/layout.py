"""What ``publish`` lays out: a package that keeps its word, and the kernel card beside it."""

import re
from collections.abc import Mapping
from pathlib import Path

from scanbuild.errors import CheckFailedError, InputError, LoadError, Problem, ScanbuildError, raise_if_any
from scanbuild.package.digest import folder_files
from scanbuild.package.folder import digest_problems, open_folder, package_folder
from scanbuild.package.jsonfile import parse_json
from scanbuild.package.load import FOLDER, prefetch
from scanbuild.package.loaded import Package
from scanbuild.package.metadata import MANIFEST_FILE, METADATA_FILE
from scanbuild.package.model import Json
from scanbuild.package.text import decode
from scanbuild.publishing.card import kernel_card

CARD_FILE = "README.md"
TARGET_MARKS = (f"{FOLDER}/{METADATA_FILE}",)

_HUB_NAME = re.compile(r"[A-Za-z0-9._-]+")


def sound_package(root: Path) -> tuple[Package, dict[str, bytes]]:
    """The package in a folder with all its files; CheckFailedError with what keeps the loader or the Hub from it.

    InputError if there is no package.
    """
    folder = package_folder(root)
    try:
        package = prefetch(open_folder(folder))
    except LoadError as error:
        raise CheckFailedError(*error.problems) from None
    raise_if_any([*digest_problems(package, folder), *_hub_name(package, folder)], CheckFailedError)
    return package, {name: (folder / name).read_bytes() for name in (METADATA_FILE, *folder_files(folder))}


def published_files(package: Package, files: Mapping[str, bytes]) -> dict[str, bytes]:
    """Every file to publish, by its path in the repository: the package as it is, and the card."""
    card = kernel_card(package.manifest, package.metadata.raw, sorted(files), _test_cases(files))
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


def _hub_name(package: Package, folder: Path) -> list[Problem]:
    """The repository is called like the kernel (1.6), so the kernel's name must do for a repository (1.7)."""
    op_id = package.manifest.op_id
    if _HUB_NAME.fullmatch(op_id):
        return []
    message = f"the op id {op_id!r} cannot be the name of a repository: only letters, digits, '.', '_' and '-' can"
    return [Problem(message=message, rule="op-id", file=str(folder / MANIFEST_FILE), path="$.name", stage="own")]


def _test_cases(files: Mapping[str, bytes]) -> Json:
    """The parsed ``test.json``, which the card only takes an example from; None if there is none to be read."""
    try:
        return parse_json(decode(files["test.json"]), "test.json")
    except (KeyError, ScanbuildError):
        return None
