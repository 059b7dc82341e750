"""Which source folder a built package came from, as this user's own builds remember it.

A source package's ``reference.py`` is code, and verifying somebody else's package must never run code that came with
it. So where a build came from is not read from the package: it is remembered outside of it, in the user's state
folder, under the digest of the ``metadata.json`` that the build wrote (which covers every file). A package that
nobody built here has no entry, whatever it contains; a copy of one that was built here has one, wherever it lies.
"""

import hashlib
import json
import os
from pathlib import Path

from scanbuild.resources import data_folder

METADATA = "metadata.json"
TESTS = "test.json"
REFERENCE = "reference.py"


def state_folder() -> Path:
    """Where builds are remembered: ``scanbuild/builds`` in the XDG state folder of the user.

    Where the user has no home, it is a folder that can neither be read nor written: what a shared one holds, others
    could have put there, and it decides whose code is run.
    """
    base = os.environ.get("XDG_STATE_HOME") or ""
    try:
        root = Path(base) if Path(base).is_absolute() else Path.home() / ".local" / "state"
    except RuntimeError:
        root = Path(os.devnull)
    return root / "scanbuild" / "builds"


def remember_build(built: Path, source: Path, state: Path) -> bool:
    """Note that the package folder ``built`` (the one with ``metadata.json``) was built from ``source``, here, now.

    False if the note cannot be written, which is no fault of the build: the source then has to be named.
    """
    note = state / f"{_key(built)}.json"
    try:
        note.parent.mkdir(parents=True, exist_ok=True)
        note.write_text(json.dumps({"source": str(source.resolve())}) + "\n", encoding="utf-8")
    except (OSError, RuntimeError):
        return False
    return True


def source_of_build(built: Path, op_id: str, state: Path) -> Path | None:
    """The source folder of a package that was built here, or that holds the test cases of scanbuild's own package of
    that op id; None for every other."""
    return _remembered(built, state) or _shipped(built, op_id)


def remembered_source(built: Path, state: Path) -> Path | None:
    """The source folder that a package was built from here, whatever is in it by now; None if nobody built it here."""
    try:
        note = json.loads((state / f"{_key(built)}.json").read_text(encoding="utf-8"))
        return Path(note["source"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _key(built: Path) -> str:
    return hashlib.sha256((built / METADATA).read_bytes()).hexdigest()


def _remembered(built: Path, state: Path) -> Path | None:
    source = remembered_source(built, state)
    return source if source is not None and (source / REFERENCE).is_file() else None


def _shipped(built: Path, op_id: str) -> Path | None:
    if Path(op_id).name != op_id:
        return None
    source = data_folder("templates") / op_id
    if not (source / REFERENCE).is_file():
        return None
    try:
        same = _tests(source) == _tests(built)
    except (OSError, ValueError):
        return None
    return source if same else None


def _tests(folder: Path) -> object:
    tests: object = json.loads((folder / TESTS).read_text(encoding="utf-8"))
    return tests
