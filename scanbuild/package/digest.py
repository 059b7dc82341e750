"""The digests of a package: base64 SHA-256 over decoded text (1.5), and over the files of a folder."""

import base64
import hashlib
import os
from collections.abc import Mapping
from pathlib import Path

from scanbuild.errors import Problem, raise_if_any
from scanbuild.package.fetching import MAX_BYTES
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

    Raises InputError as ``folder_files`` does.
    """
    return {name: _digest_file(folder / name) for name in folder_files(folder)}


def _digest_file(path: Path) -> str:
    """The digest of a file, which is not read into memory as a whole."""
    with path.open("rb") as file:
        return base64.b64encode(hashlib.file_digest(file, "sha256").digest()).decode("ascii")


def folder_files(folder: Path) -> list[str]:
    """The paths of all files under a folder but the ``metadata.json`` of the folder itself, sorted.

    Raises InputError with everything that no package holds: pipes and the like, huge files, links to folders, and
    links that lead nowhere, in circles or out of the package.
    """
    root = folder.resolve()
    found: list[str] = []
    problems: list[Problem] = []
    for where, folders, names in os.walk(folder):
        for path in sorted(Path(where, name) for name in (*folders, *names)):
            wrong = _unfit(path, root)
            if wrong:
                problems.append(Problem(message=wrong, rule="path", file=str(path), stage="own"))
            elif path.is_file() and path != folder / METADATA:
                found.append(path.relative_to(folder).as_posix())
    raise_if_any(problems)
    return sorted(found)


def _unfit(path: Path, root: Path) -> str:
    """Why something under a package's folder cannot belong to it, or "" if it can."""
    if path.is_symlink():
        if not path.exists():
            return "the link leads nowhere"
        if not path.resolve().is_relative_to(root):
            return "the link leads out of the package"
        if path.is_dir():
            return "this is a link to a folder; a package holds files and folders of its own"
    if path.is_file():
        return f"the file is larger than {MAX_BYTES} bytes" if path.stat().st_size > MAX_BYTES else ""
    return "" if path.is_dir() else "this is no regular file"


def compare_digests(listed: Mapping[str, str], actual: Mapping[str, str], folder: str = "") -> list[Problem]:
    """What differs between the digests that ``metadata.json`` lists and those of the files that are there."""
    prefix = f"{folder}/" if folder else ""
    problems = []
    for name in sorted({*listed, *actual} - {METADATA}):
        hint = "build the package again with scanbuild render"
        if name not in actual:
            message = "the file is listed in metadata.json and missing in the folder"
        elif name not in listed:
            message, hint = "the file is not listed in metadata.json", "remove it, or build the package again"
        elif listed[name] != actual[name]:
            message = f"the file's digest is {actual[name]}; metadata.json lists {shown(listed[name])}"
            hint = f"was it edited after the build? {hint}"
        else:
            continue
        problems.append(Problem(message=message, rule="digest", file=prefix + name, stage="own", hint=hint))
    return problems
