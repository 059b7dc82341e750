"""Keeping the words of drivers from the user."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager


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
