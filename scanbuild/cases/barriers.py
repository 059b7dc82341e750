"""Where a WGSL text could have one more barrier, and the text with it."""

import re
from collections.abc import Iterator
from typing import Final

from scanbuild.cases.wgsltext import bodies, closing, plain_text

_SHARED: Final = re.compile(r"\bvar<workgroup>\s*(\w+)")
_LOOP: Final = re.compile(r"\b(?:for|while)\s*\([^{}]*$|\bloop\s*$")
_ENDING: Final = re.compile(r"\s*(?:return|break|continue|discard)\b|\s*\}|\s*else\b|\s*continuing\b")
_BARRIERS: Final = " storageBarrier(); workgroupBarrier(); "


def with_barriers(wgsl: str, *, one_at_a_time: bool = False, most: int = 1) -> Iterator[tuple[str, int]]:
    """Texts with further barriers, and the line (from 1) before which the first of them stands.

    Barriers go between the statements of functions that touch workgroup memory, or of ``main`` if none does, and of the
    loops that stand in them, not under a condition. All at once: first without and then with those in loops. Or up to
    ``most`` texts with one place each.
    """
    plain = plain_text(wgsl)
    outer, inner = _places(plain)
    if one_at_a_time:
        for place in sorted(outer + inner)[:most]:
            yield _inserted(wgsl, [place]), _line(plain, place)
        return
    for places in (outer, outer + inner) if inner else (outer,):
        if places:
            yield _inserted(wgsl, sorted(places)), _line(plain, min(places))


def _places(plain: str) -> tuple[list[int], list[int]]:
    """Offsets behind statements: those of functions, and those of loops in them."""
    shared = _SHARED.findall(plain)
    outer: list[int] = []
    inner: list[int] = []
    for start, end, name in bodies(plain):
        touches = any(re.search(rf"\b{re.escape(word)}\b", plain[start:end]) for word in shared)
        if touches or (name == "main" and not shared):
            _walk(plain, start, end, outer, inner)
    return outer, inner


def _walk(plain: str, start: int, end: int, here: list[int], in_loops: list[int]) -> None:
    """Add the offsets behind the statements between two offsets; those in loops to the second list."""
    offset = begin = start
    depth = 0
    while offset < end:
        char = plain[offset]
        if char in "([":
            depth += 1
        elif char in ")]":
            depth -= 1
        elif char == "{" and depth == 0:
            end_of_block = closing(plain, offset)
            if _LOOP.search(plain, begin, offset):
                _walk(plain, offset + 1, end_of_block, in_loops, in_loops)
            offset = end_of_block
        if depth == 0 and char in ";{":
            if not _ENDING.match(plain, offset + 1):
                here.append(offset + 1)
            begin = offset + 1
        offset += 1


def _inserted(wgsl: str, places: list[int]) -> str:
    parts, last = [], 0
    for place in places:
        parts += [wgsl[last:place], _BARRIERS]
        last = place
    return "".join([*parts, wgsl[last:]])


def _line(plain: str, place: int) -> int:
    """The line of what follows a place."""
    following = len(plain) - len(plain[place:].lstrip())
    return plain.count("\n", 0, following) + 1
