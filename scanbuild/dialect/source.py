"""The text pre-processing of templates, and the way back from its result to the text that was written.

It is textual: it knows neither strings nor comments, so it also happens inside them.
"""

import re
from bisect import bisect_right
from dataclasses import dataclass

from .text import SPACE_CLASS, WHITE_SPACE, skip_space

_BLANKS_BEFORE_TAG = re.compile(r"(?:\A|(?<=[\n\r\u2028\u2029]))[ \t]+(?=\{[#%\-])")
_NEWLINE_AFTER_TAG = re.compile(r"(?<=[#%\-]\})\n")
_GENERATION = re.compile(rf"\{{%(-?){SPACE_CLASS}*(?:end)?generation{SPACE_CLASS}*(-?)%\}}")

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Cuts:
    """Spans that one step removed: where each lay in its result, and how much was gone by then."""

    starts: tuple[int, ...]
    removed: tuple[int, ...]

    def before(self, offset: int) -> int:
        """The offset in the step's input of a character at ``offset`` in its result."""
        index = bisect_right(self.starts, offset)
        return offset + (self.removed[index - 1] if index else 0)


@dataclass(frozen=True, slots=True)
class Source:
    """A pre-processed text."""

    text: str
    original: str
    steps: tuple[Cuts, ...]

    def offset(self, offset: int) -> int:
        """The offset in the original text of one in the pre-processed text."""
        for step in reversed(self.steps):
            offset = step.before(offset)
        return min(max(offset, 0), len(self.original))

    def place(self, offset: int) -> tuple[int, int]:
        """Line and column, both from 1, in the original text of an offset in the pre-processed one."""
        offset = self.offset(offset)
        line = self.original.count("\n", 0, offset) + 1
        return line, offset - (self.original.rfind("\n", 0, offset) + 1) + 1


def preprocess(original: str) -> Source:
    """Drop the last newline, blanks before a tag at a line's start, newlines after a tag, and generation tags."""
    text = original.removesuffix("\n")
    steps: list[Cuts] = []
    for pattern in (_BLANKS_BEFORE_TAG, _NEWLINE_AFTER_TAG):
        text = _cut(text, [found.span() for found in pattern.finditer(text)], steps)
    if "generation" in text:
        text = _cut(text, _generation_spans(text), steps)
    return Source(text, original, tuple(steps))


def _generation_spans(text: str) -> list[Span]:
    """Generation tags, with the white space around them where they have dashes.

    White space after one tag is out of reach for the dash of the next one.
    """
    spans: list[Span] = []
    reach = 0
    for found in _GENERATION.finditer(text):
        start, end = found.span()
        after = skip_space(text, end)
        if found.group(1):
            start = reach + len(text[reach:start].rstrip(WHITE_SPACE))
        spans.append((start, after if found.group(2) else end))
        reach = after
    return spans


def _cut(text: str, spans: list[Span], steps: list[Cuts]) -> str:
    if not spans:
        return text
    pieces: list[str] = []
    starts: list[int] = []
    removed: list[int] = []
    kept = gone = position = 0
    for start, end in spans:
        pieces.append(text[position:start])
        kept += start - position
        gone += end - start
        starts.append(kept)
        removed.append(gone)
        position = end
    pieces.append(text[position:])
    steps.append(Cuts(tuple(starts), tuple(removed)))
    return "".join(pieces)
