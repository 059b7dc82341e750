"""The scan that refuses arithmetic on opaque int64 elements (5.4).

An opaque element is two words that a shader may copy and nothing else. The scan is textual, as the loader's is: it
knows neither scopes nor types. Elements and copies of them are reduced to one mark, and what stands beside a mark
decides.
"""

import re
from collections.abc import Iterable
from typing import Final

_MARK: Final = "\x00"
_OPERATOR: Final = r"[-+*/%&|^<>]|[=!]="
_AFTER: Final = re.compile(rf"{_MARK}\s*(\.|\[|{_OPERATOR})")
_BEFORE: Final = re.compile(rf"([-+*/%&|^<>!~]|[-+*/%&|^<>!=]=)\s*{_MARK}")
_FIRST_ARGUMENT: Final = re.compile(rf"\b(min|max|abs|clamp|bitcast|f32|i32|u32)\s*(?:<[^<>()]*>\s*)?\(\s*{_MARK}\s*,")
_LONE: Final = re.compile(rf"\(\s*{_MARK}\s*\)")
_COPY: Final = re.compile(rf"\b(?:let|var)\s+([A-Za-z_]\w*)\s*(?::[^=;]*)?=\s*{_MARK}\s*;", re.ASCII)
_COPY_OF_COPY_LIMIT: Final = 10_000


def opaque_problem(bare: str, names: Iterable[str]) -> str:
    """What a text without comments does to elements of the opaque bindings ``names`` that it must not; "" if nothing.

    ``names`` are the WGSL names of the bindings whose tensor is stored as int64.
    """
    text = bare.replace(_MARK, " ")
    for name in sorted(set(names)):
        text = _mark_elements(text, name)
    text = _mark_copies(text)
    while (shorter := _LONE.sub(_MARK, text)) != text:
        text = shorter
    for pattern, words in (
        (_AFTER, "an element is followed by `{}`"),
        (_BEFORE, "an element follows `{}`"),
        (_FIRST_ARGUMENT, "an element is the first argument of `{}`"),
    ):
        match = pattern.search(text)
        if match:
            return words.format(match[1])
    return ""


def _mark_elements(text: str, name: str) -> str:
    pattern = re.compile(rf"\b{re.escape(name)}\s*\[", re.ASCII)
    pieces: list[str] = []
    position = 0
    while (match := pattern.search(text, position)) is not None:
        end = _closing_bracket(text, match.end())
        if end is None:
            break
        pieces.extend((text[position : match.start()], _MARK))
        position = end
    pieces.append(text[position:])
    return "".join(pieces)


def _closing_bracket(text: str, position: int) -> int | None:
    """The position behind the bracket that closes the one before ``position``."""
    depth = 1
    for match in _BRACKET.finditer(text, position):
        depth += 1 if match[0] == "[" else -1
        if depth == 0:
            return match.end()
    return None


_BRACKET: Final = re.compile(r"[\[\]]")


def _mark_copies(text: str) -> str:
    """Every occurrence of a name that is initialised with a mark becomes one, until there is no such name left."""
    for _ in range(_COPY_OF_COPY_LIMIT):
        names = {match[1] for match in _COPY.finditer(text)}
        if not names:
            break
        text = re.sub(rf"\b(?:{'|'.join(sorted(names))})\b", _MARK, text, flags=re.ASCII)
    return text
