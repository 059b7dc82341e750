"""WGSL read by its brackets alone: enough to put statements between the statements of functions.

Whatever does not come out as valid WGSL, the compiler refuses.
"""

import re
from collections.abc import Iterator
from typing import Final

_COMMENT: Final = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_FUNCTION: Final = re.compile(r"\bfn\s+(\w+)\s*\(")


def plain_text(wgsl: str) -> str:
    """The text with blanks in place of comments, every offset kept."""
    return _COMMENT.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), wgsl)


def bodies(plain: str) -> Iterator[tuple[int, int, str]]:
    """Where the body of every function begins and ends, within its braces, and the function's name."""
    for found in _FUNCTION.finditer(plain):
        start = plain.find("{", closing(plain, found.end() - 1, "()"))
        end = closing(plain, start) if start >= 0 else -1
        if end >= 0:
            yield start + 1, end, found[1]


def closing(plain: str, start: int, pair: str = "{}") -> int:
    """Where the bracket at an offset is closed; -1 if it is not."""
    depth = 0
    for offset in range(start, len(plain)):
        if plain[offset] == pair[0]:
            depth += 1
        elif plain[offset] == pair[1]:
            depth -= 1
            if depth == 0:
                return offset
    return -1
