"""Text-level includes: ``{% include "path" %}`` is replaced before anything is parsed."""

import posixpath
import re
from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass, field

from .errors import DialectError, nearest
from .limits import MAX_INCLUDES, MAX_TEMPLATE_LENGTH
from .text import SPACE_CLASS

_TAG = re.compile(rf"""\{{%{SPACE_CLASS}*include{SPACE_CLASS}+["']([^"']+)["']{SPACE_CLASS}*%\}}""")
"""An include tag. The quotes need not match; a path holds neither kind."""


@dataclass(frozen=True, slots=True)
class Expanded:
    """A template with its includes replaced."""

    text: str
    files: tuple[str, ...]
    """The files reached, each once, in the order in which they were."""
    starts: tuple[int, ...] = field(repr=False)
    """Offsets at which a piece of one file begins."""
    pieces: tuple[tuple[str, int, int], ...] = field(repr=False)
    """File, line and column, from 1, at which each piece begins."""

    def place(self, offset: int) -> tuple[str, int, int]:
        """File, line and column of a character of the text."""
        index = max(bisect_right(self.starts, offset) - 1, 0)
        file, line, column = self.pieces[index]
        before = self.text[self.starts[index] : offset]
        newlines = before.count("\n")
        if not newlines:
            return file, line, column + len(before)
        return file, line + newlines, len(before) - before.rfind("\n")

    def origin(self, line: int) -> tuple[str, int]:
        """File and line of the beginning of a line (from 1) of the text."""
        offset = 0
        for _ in range(line - 1):
            newline = self.text.find("\n", offset)
            if newline < 0:
                break
            offset = newline + 1
        return self.place(offset)[:2]


class _Expansion:
    def __init__(self, files: Mapping[str, str]) -> None:
        self.files = files
        self.reached: dict[str, None] = {}
        self.parts: list[str] = []
        self.starts: list[int] = []
        self.pieces: list[tuple[str, int, int]] = []
        self.length = 0
        self.tags = 0

    def add(self, name: str, open_files: tuple[str, ...]) -> None:
        """Append a file's text."""
        self.reached[name] = None
        text = self.files[name]
        position = 0
        for tag in _TAG.finditer(text):
            start, end = _extent(text, tag)
            self._piece(name, text, position, start)
            position = end
            self._included(name, text, tag, (*open_files, name))
        self._piece(name, text, position, len(text))

    def _piece(self, name: str, text: str, start: int, end: int) -> None:
        if start >= end:
            return
        self.starts.append(self.length)
        self.pieces.append((name, *_place(text, start)))
        self.parts.append(text[start:end])
        self.length += end - start
        if self.length > MAX_TEMPLATE_LENGTH:
            raise DialectError("limit", f"the template has more than {MAX_TEMPLATE_LENGTH} characters", file=name)

    def _included(self, name: str, text: str, tag: re.Match[str], open_files: tuple[str, ...]) -> None:
        written = tag[1]
        self.tags += 1
        target = normalise(name, written)
        if target is None:
            raise _refused(name, text, tag, f"the path {written!r} leads out of the package")
        if target in open_files:
            chain = " -> ".join((*open_files[open_files.index(target) :], target))
            raise _refused(name, text, tag, f"a file includes itself: {chain}")
        if target not in self.files:
            raise _refused(name, text, tag, f"there is no file {target!r}{_nearest(target, self.files)}")
        if self.tags > MAX_INCLUDES or len(open_files) > 100:
            error = _refused(name, text, tag, f"more than {MAX_INCLUDES} includes, or 100 inside each other")
            error.kind = "limit"
            raise error
        self.add(target, open_files)


def _refused(name: str, text: str, tag: re.Match[str], message: str) -> DialectError:
    error = DialectError("include", message, file=name)
    error.line, error.column = _place(text, tag.start())
    return error


def _place(text: str, offset: int) -> tuple[int, int]:
    return text.count("\n", 0, offset) + 1, offset - (text.rfind("\n", 0, offset) + 1) + 1


def _nearest(name: str, files: Mapping[str, str]) -> str:
    near = nearest(name, files)
    return f" among the files listed for the variant; did you mean {near!r}?" if near else ""


def _extent(text: str, tag: re.Match[str]) -> tuple[int, int]:
    """What a tag replaces: its whole line if it stands alone there, else itself."""
    start, end = tag.span()
    line_start = start
    while line_start > 0 and text[line_start - 1] in " \t":
        line_start -= 1
    line_end = end
    while line_end < len(text) and text[line_end] in " \t":
        line_end += 1
    if text.startswith("\r\n", line_end):
        line_end += 1
    alone = (line_start == 0 or text[line_start - 1] == "\n") and text.startswith("\n", line_end)
    return (line_start, line_end + 1) if alone else (start, end)


def normalise(including: str, path: str) -> str | None:
    """The file that a path written in ``including`` names; None if it leads out of the package."""
    path = path.replace("\\", "/")
    base = posixpath.dirname(including) if path.startswith(".") else ""
    parts: list[str] = []
    for part in f"{base}/{path}".split("/"):
        if part == "..":
            if not parts:
                return None
            parts.pop()
        elif part not in ("", "."):
            parts.append(part)
    return "/".join(parts)


def expand_includes(name: str, files: Mapping[str, str]) -> Expanded:
    """The text of ``files[name]`` with its includes replaced, recursively.

    :raises DialectError: kind ``include`` for a missing file, a cycle or a path out of the package; ``limit``.
    """
    if name not in files:
        raise DialectError("include", f"there is no file {name!r}{_nearest(name, files)}", file=name)
    expansion = _Expansion(files)
    expansion.add(name, ())
    if not expansion.pieces:
        expansion.starts, expansion.pieces = [0], [(name, 1, 1)]
    return Expanded(
        "".join(expansion.parts), tuple(expansion.reached), tuple(expansion.starts), tuple(expansion.pieces)
    )
