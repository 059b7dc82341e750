"""Which source folder a built package came from, as this user's own builds remember it.

A source package's ``reference.py`` is code, and verifying somebody else's package must never run code that came with
it. So where a build came from is not read from the package: it is remembered outside of it, in the user's state
folder, under the digest of the ``metadata.json`` that the build wrote (which covers every file). A package that
nobody built here has no entry, whatever it contains; a copy of one that was built here has one, wherever it lies.

The entry also has the digests of the files that the build was made from, so that a build can be told to be older than
its source: whoever edits a shader and forgets ``render`` would otherwise look at what the old one gives.
"""

import hashlib
import json
import os
from pathlib import Path

from scanbuild.package.source import JSON_FILES, SHARED_FOLDER
from scanbuild.resources import data_folder

METADATA = "metadata.json"
TESTS = "test.json"
REFERENCE = "reference.py"
_FILES = (*JSON_FILES, "publish.json")
_RESULTS = ("build", "dist")


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
        told = {"source": str(source.resolve()), "files": _digests(source.resolve())}
        note.write_text(json.dumps(told) + "\n", encoding="utf-8")
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


def edited_since(built: Path, state: Path) -> tuple[Path, list[str]] | None:
    """The source folder of a build made here, and its files that were edited or removed since, by name; None if none
    were, or it is not known."""
    source = remembered_source(built, state)
    if source is None or not source.is_dir():
        return None
    try:
        then = json.loads((state / f"{_key(built)}.json").read_text(encoding="utf-8")).get("files", {})
        now = _digests(source)
        names = [name for name, digest in then.items() if now.get(name) != digest]
    except (OSError, ValueError, AttributeError):
        return None
    return (source, names) if names else None


def _digests(source: Path) -> dict[str, str]:
    """The digests of the files that a package is rendered from, by their paths from the folder; of what lies in results
    that were put into it, none."""
    own = [*(source / name for name in _FILES), *source.glob("**/*.jinja")]
    files = {file.relative_to(source).as_posix(): file for file in own}
    beside = source.parent
    files |= {file.relative_to(beside).as_posix(): file for file in beside.glob(f"{SHARED_FOLDER}/**/*.jinja")}
    return {
        name: _digest(file)
        for name, file in sorted(files.items())
        if name.partition("/")[0] not in _RESULTS and file.is_file()
    }


def _digest(file: Path) -> str:
    with file.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()


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
