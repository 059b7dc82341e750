"""The scan that refuses arithmetic on opaque int64 elements (5.4).

An opaque element is two words that a shader may copy and nothing else. The scan is textual, as the loader's is: it
knows neither scopes nor types. Elements and copies of them are reduced to one mark, and what stands beside a mark
decides.
"""

import re
from collections.abc import Iterable
from typing import Final

from scanbuild.dialect import WHITE_SPACE
from scanbuild.planning.wgsl import BLANK

_MARK: Final = "\x00"
_OPERATOR: Final = r"[-+*/%&|^<>]|[=!]="
_AFTER: Final = re.compile(rf"{_MARK}{BLANK}*(\.|\[|{_OPERATOR})")
_BEFORE: Final = re.compile(rf"([-+*/%&|^<>!~]|[-+*/%&|^<>!=]=){BLANK}*{_MARK}")
_FIRST_ARGUMENT: Final = re.compile(
    rf"\b(min|max|abs|clamp|bitcast|f32|i32|u32){BLANK}*(?:<[^<>()]*>{BLANK}*)?\({BLANK}*{_MARK}{BLANK}*,", re.ASCII
)
# A type annotation longer than this is taken for none, so that a text full of them is scanned once.
_COPY: Final = re.compile(
    rf"\b(?:let|var){BLANK}+([A-Za-z_]\w*){BLANK}*(?::[^=;]{{0,400}})?={BLANK}*({_MARK}|[A-Za-z_]\w*){BLANK}*;",
    re.ASCII,
)
_NAME: Final = re.compile(r"\b[A-Za-z_]\w*\b", re.ASCII)
_TOKEN: Final = re.compile(rf"[(){_MARK}]|{BLANK}+|[^(){_MARK}{BLANK[1:-1]}]+")


def opaque_problem(bare: str, names: Iterable[str]) -> str:
    """What a text without comments does to elements of the opaque bindings ``names`` that it must not; "" if nothing.

    ``names`` are the WGSL names of the bindings whose tensor is stored as int64.
    """
    text = bare.replace(_MARK, " ")
    for name in sorted(set(names)):
        text = _mark_elements(text, name)
    text = _drop_lone_parentheses(_mark_copies(text))
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
    pattern = re.compile(rf"\b{re.escape(name)}{BLANK}*\[", re.ASCII)
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
    """Every occurrence of a name that is initialised with a mark, or with such a name, becomes a mark."""
    copies_of: dict[str, list[str]] = {}
    for name, source in _COPY.findall(text):
        copies_of.setdefault(source, []).append(name)
    names: set[str] = set()
    pending = copies_of.get(_MARK, [])
    while pending:
        name = pending.pop()
        if name not in names:
            names.add(name)
            pending.extend(copies_of.get(name, ()))
    return _NAME.sub(lambda match: _MARK if match[0] in names else match[0], text) if names else text


def _drop_lone_parentheses(text: str) -> str:
    """Parentheses that hold a mark and blanks become the mark, from the inside out."""
    kept: list[str] = []
    # For each open parenthesis: where it stands in ``kept``, and whether it holds nothing, a mark, or more.
    frames: list[tuple[int, int]] = []
    holds = 2
    for token in _TOKEN.findall(text):
        if token[0] in WHITE_SPACE:
            kept.append(token)
        elif token == "(":
            frames.append((len(kept), holds))
            kept.append(token)
            holds = 0
        elif token == ")" and frames:
            start, outside = frames.pop()
            if holds == 1:
                del kept[start:]
                kept.append(_MARK)
                holds = outside + 1
            else:
                kept.append(token)
                holds = 2
        else:
            kept.append(token)
            holds = holds + 1 if token == _MARK else 2
    return "".join(kept)
