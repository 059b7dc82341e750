"""The digests of a package: base64 SHA-256 over decoded text (1.5), and over the files of a folder."""

import base64
import hashlib
import os
from collections.abc import Mapping
from pathlib import Path

from scanbuild.errors import InputError, Problem
from scanbuild.package.report import shown
from scanbuild.package.text import encode

METADATA = "metadata.json"


def digest_bytes(data: bytes) -> str:
    """Standard base64, with padding, of the SHA-256 of the bytes."""
    return base64.b64encode(hashlib.sha256(data).digest()).decode("ascii")


def digest_text(text: str) -> str:
    """The digest the loader compares: that of the decoded text, encoded as UTF-8 again."""
    return digest_bytes(encode(text))


def folder_digests(folder: Path) -> dict[str, str]:
    """Path within the folder -> digest of the file's bytes, for every file but ``metadata.json``, sorted by path.

    Raises InputError for a symbolic link that leads out of the folder.
    """
    return {name: digest_bytes((folder / name).read_bytes()) for name in folder_files(folder)}


def folder_files(folder: Path) -> list[str]:
    """The paths of all files under a folder but the ``metadata.json`` of the folder itself, sorted."""
    root = folder.resolve()
    found: list[str] = []
    for where, _, names in os.walk(folder):
        for name in names:
            path = Path(where, name)
            inner = path.relative_to(folder).as_posix()
            if not path.resolve().is_relative_to(root):
                raise InputError(Problem(message="the link leads out of the package", rule="path", file=str(path)))
            if not path.is_file():
                raise InputError(Problem(message="this is no regular file", rule="path", file=str(path)))
            if inner != METADATA:
                found.append(inner)
    return sorted(found)


def compare_digests(listed: Mapping[str, str], actual: Mapping[str, str], folder: str = "") -> list[Problem]:
    """What differs between the digests that ``metadata.json`` lists and those of the files that are there."""
    prefix = f"{folder}/" if folder else ""
    problems = []
    for name in sorted({*listed, *actual} - {METADATA}):
        if name not in actual:
            message = "the file is listed in metadata.json and missing in the folder"
        elif name not in listed:
            message = "the file is not listed in metadata.json"
        elif listed[name] != actual[name]:
            message = f"the file's digest is {actual[name]}; metadata.json lists {shown(listed[name])}"
        else:
            continue
        problems.append(Problem(message=message, rule="digest", file=prefix + name, stage="own"))
    return problems
