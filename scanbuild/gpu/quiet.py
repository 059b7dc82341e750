"""Keeping the words of drivers from the user."""

import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def quiet_drivers() -> Iterator[None]:
    """Drop what native code prints on standard error meanwhile: drivers complain of displays and of one another.

    It changes the process's standard error, so it is for a program that knows that nothing else prints.
    """
    try:
        sys.stderr.flush()
        saved = os.dup(2)
    except (OSError, ValueError, AttributeError):
        yield
        return
    sink = os.open(os.devnull, os.O_WRONLY)
    os.dup2(sink, 2)
    try:
        yield
    finally:
        os.dup2(saved, 2)
        os.close(saved)
        os.close(sink)


@contextmanager
def runtime_folder() -> Iterator[None]:
    """Give drivers a runtime folder meanwhile where the user's session has none.

    The interfaces of a display want ``XDG_RUNTIME_DIR``, and complain on standard error where it is not set, as in
    services and containers. Adapters are looked for through all interfaces, so they complain though nothing is shown.
    """
    given = os.environ.get("XDG_RUNTIME_DIR")
    if os.name != "posix" or (given and Path(given).is_dir()):
        yield
        return
    with tempfile.TemporaryDirectory(prefix="scanbuild-", ignore_cleanup_errors=True) as folder:
        os.environ["XDG_RUNTIME_DIR"] = folder
        try:
            yield
        finally:
            if given is None:
                os.environ.pop("XDG_RUNTIME_DIR", None)
            else:
                os.environ["XDG_RUNTIME_DIR"] = given
