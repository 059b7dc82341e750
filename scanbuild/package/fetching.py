"""What a loader fetches files with."""

from collections.abc import Callable
from typing import Final

Fetch = Callable[[str], bytes]
"""From a URL or path to the bytes found there; raises FetchError."""

MAX_BYTES: Final = 16 * 2**20
"""A file of a package may be this large. Published files stay below a hundredth of it."""


class FetchError(Exception):
    """A file could not be fetched; the text says why."""
