"""Putting a folder of files in place at one stroke, and telling how a folder differs from what it should be."""

import os
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from scanbuild.errors import InputError, Problem


def write_folder(folder: Path, files: Mapping[str, bytes], marks: Sequence[str]) -> None:
    """Make ``folder`` hold exactly these files.

    They are written beside it and moved into place, so that a reader sees the old files or the new ones and a
    failure leaves the old ones. ``marks`` are files of which one at least shows that an earlier run wrote the folder.
    Raises InputError where something else stands in the way, which is not ours to remove, and where nothing can be
    written.
    """
    try:
        _write_folder(folder, files, marks)
    except OSError as error:
        message = f"the folder cannot be written: {_words(error)}"
        hint = "what was there before is left as it was"
        raise InputError(Problem(message=message, file=str(folder), hint=hint)) from None


def _words(error: OSError) -> str:
    if isinstance(error, FileExistsError | NotADirectoryError):
        return f"a file stands where a folder is needed, {error.filename}"
    return (error.strerror or str(error)).lower()


def _write_folder(folder: Path, files: Mapping[str, bytes], marks: Sequence[str]) -> None:
    folder.parent.mkdir(parents=True, exist_ok=True)
    with _locked(folder.parent):
        if os.path.lexists(folder) and not _is_ours(folder, marks):
            message = "this has to be replaced, and does not look like something that scanbuild wrote"
            raise InputError(Problem(message=message, file=str(folder), hint="move it away, or choose another folder"))
        _remove_leftovers(folder)
        fresh = Path(tempfile.mkdtemp(prefix=_prefix(folder), dir=folder.parent))
        try:
            fresh.chmod(0o777 & ~_umask())
            for name, data in files.items():
                path = fresh / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(data)
            _swap(fresh, folder)
        finally:
            _remove(fresh)


def remove_folder(folder: Path, marks: Sequence[str]) -> None:
    """Remove a folder that ``write_folder`` wrote, if it is there."""
    if folder.is_dir() and _is_ours(folder, marks):
        with _locked(folder.parent):
            _remove(folder)


def differences(folder: Path, files: Mapping[str, bytes]) -> list[Problem]:
    """What keeps ``folder`` from holding exactly these files; a problem a file, sorted by path."""
    there = _files_under(folder)
    problems = []
    for name in sorted({*there, *files}):
        if name not in files:
            message = "the file does not belong here"
        elif name not in there:
            message = "the file is missing"
        elif not (folder / name).is_file():
            message = "this is no file"
        elif (folder / name).stat().st_size != len(files[name]) or (folder / name).read_bytes() != files[name]:
            message = "the file is stale or was edited: the sources give another content"
        else:
            continue
        problems.append(Problem(message=message, rule="stale", file=str(folder / name), stage="own"))
    return problems


def _is_ours(folder: Path, marks: Sequence[str]) -> bool:
    """Whether a folder is empty or was written here, as far as that can be seen."""
    return folder.is_dir() and (any((folder / mark).is_file() for mark in marks) or not any(folder.iterdir()))


def _swap(fresh: Path, folder: Path) -> None:
    """Rename ``fresh`` to ``folder``; what was there before is removed, or put back if the renaming fails."""
    if not os.path.lexists(folder):
        fresh.rename(folder)
        return
    old = Path(tempfile.mkdtemp(prefix=_prefix(folder), dir=folder.parent)) / "old"
    try:
        folder.rename(old)
        try:
            fresh.rename(folder)
        except OSError:
            old.rename(folder)
            raise
    finally:
        _remove(old.parent)


def _remove_leftovers(folder: Path) -> None:
    """Remove what an interrupted run left. Only the holder of the lock may: nobody else is writing then."""
    for path in folder.parent.iterdir():
        if path.name.startswith(_prefix(folder)) and path.is_dir() and not path.is_symlink():
            _remove(path)


def _prefix(folder: Path) -> str:
    """How the names of folders that are only there while one is written begin; nothing else is called so."""
    return f".{folder.name}.scanbuild-"


def _remove(path: Path) -> None:
    if path.is_symlink() or path.is_file():
        path.unlink()
    elif path.is_dir():
        shutil.rmtree(path)


def _files_under(folder: Path) -> set[str]:
    """All files and links under a folder, links not followed, as paths relative to it."""
    found = set()
    for where, folders, names in os.walk(folder):
        links = [name for name in folders if Path(where, name).is_symlink()]
        found |= {Path(where, name).relative_to(folder).as_posix() for name in (*names, *links)}
    return found


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Hold the folder for this process, waiting for another that writes into it, where the system can lock."""
    if sys.platform == "win32":
        yield
        return
    import fcntl

    handle = os.open(folder, os.O_RDONLY)
    try:
        with suppress(OSError):  # some network file systems have no locks
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def _umask() -> int:
    """The process's mask, which can only be read by setting it. ``mkdtemp`` makes folders private otherwise."""
    mask = os.umask(0o022)
    os.umask(mask)
    return mask
