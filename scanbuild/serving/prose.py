"""A package's texts on a page: escaped, since their author may be anybody, and none of their characters unseen."""

import re
from typing import Final

from markupsafe import Markup, escape

from scanbuild.publishing.markdown import CODE_SPAN, PARAGRAPHS

# Controls, lone surrogates, and the marks that reverse the reading direction.
_UNSEEN: Final = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)
_BREAKS: Final = re.compile(r"(?<=[_/.\-])|(?<=[a-z0-9])(?=[A-Z])")


def visible(text: str) -> str:
    """A text whose every character is seen: those that a reader would miss, or be misled by, are spelled out."""
    return _UNSEEN.sub(lambda found: f"\\u{ord(found.group()):04x}", text)


def words(text: str) -> Markup:
    """One line, in which code spans are code."""
    parts: list[Markup] = []
    end = 0
    for span in CODE_SPAN.finditer(text):
        parts += [escape(visible(text[end : span.start()])), Markup("<code>{}</code>").format(visible(span[2].strip()))]
        end = span.end()
    return Markup("").join([*parts, escape(visible(text[end:]))])


def paragraphs(text: str) -> Markup:
    """Paragraphs of such lines."""
    parts = PARAGRAPHS.split(text.replace("\r\n", "\n").strip())
    return Markup("").join(Markup("<p>{}</p>").format(words(part)) for part in parts if part)


def breakable(text: str) -> Markup:
    """A long name that may be broken where its words begin."""
    return Markup("<wbr>").join(visible(part) for part in _BREAKS.split(text))


def anchor(path: str) -> str:
    """The id of a package's card."""
    return f"package-{path}"
