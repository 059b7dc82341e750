"""The one error of this room."""

from collections.abc import Iterable
from difflib import get_close_matches
from itertools import islice
from typing import Final, Literal

MAX_COMPARED: Final = 64
MAX_NAMES: Final = 300

Kind = Literal["syntax", "name", "value", "limit", "include", "names", "empty"]


class DialectError(Exception):
    """An expression or a template cannot be parsed or evaluated.

    ``line`` and ``column`` count from 1 in the text that was given (for templates with includes: in ``file``); they are
    None where no place is known. ``offset`` is the place in the text after pre-processing, before it is translated.
    """

    def __init__(self, kind: Kind, message: str, *, offset: int | None = None, file: str | None = None) -> None:
        super().__init__(message)
        self.kind: Kind = kind
        self.message = message
        self.offset = offset
        self.line: int | None = None
        self.column: int | None = None
        self.file = file

    def __str__(self) -> str:
        place = ":".join(str(part) for part in (self.file, self.line, self.column) if part is not None)
        return f"{place}: {self.message}" if place else self.message


def nearest(word: str, names: Iterable[str], cutoff: float = 0.6) -> str | None:
    """The name most like a word, looked for among a few hundred of a usual length: comparing takes long."""
    if len(word) > MAX_COMPARED:
        return None
    usual = (name for name in names if len(name) <= MAX_COMPARED)
    return next(iter(get_close_matches(word, islice(usual, MAX_NAMES), 1, cutoff)), None)


def value_error(message: str) -> DialectError:
    """An error of evaluation, its place to be filled in by whoever knows the node."""
    return DialectError("value", message)


def limit_error(message: str) -> DialectError:
    """A bound of :mod:`scanbuild.dialect.limits` was met."""
    return DialectError("limit", message)
