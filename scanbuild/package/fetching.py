"""What a loader fetches files with."""

import errno
from collections.abc import Callable
from pathlib import Path
from typing import Final

Fetch = Callable[[str], bytes]
"""From a URL or path to the bytes found there; raises FetchError."""

MAX_BYTES: Final = 16 * 2**20
"""A file of a package may be this large. Published files stay below a hundredth of it."""


class FetchError(Exception):
    """A file could not be fetched; the text says why."""


def read_named(file: Path, most: int = MAX_BYTES) -> bytes:
    """The bytes of a file, or a pipe, that a user named: ``most`` of them, however long it is. OSError for more."""
    with file.open("rb") as stream:
        data = stream.read(most + 1)
    if len(data) > most:
        raise OSError(errno.EFBIG, f"it is longer than {most:,} bytes", str(file))
    return data
