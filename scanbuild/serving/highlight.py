"""Files of a package in colours. Pygments names what a word is, the page's style says how that looks."""

import re
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Any, Final

from markupsafe import Markup, escape

from scanbuild.serving.prose import visible

MOST_COLOURED: Final = 200_000
"""A longer text is shown without colours, which take their time."""

MOST_SHOWN: Final = 1_000_000
"""Of a longer text, the beginning is shown."""

# What Pygments calls a kind of word, and the class for it: the most particular name wins.
_CLASSES: Final = {
    "Comment.Preproc": "tag",
    "Comment": "comment",
    "Keyword.Type": "type",
    "Keyword": "keyword",
    "Name.Attribute": "attribute",
    "Name.Builtin": "type",
    "Name.Decorator": "attribute",
    "Name.Function": "function",
    "Name.Tag": "attribute",
    "Number": "number",
    "Literal.Number": "number",
    "Literal.String": "string",
    "Literal": "number",
    "Operator.Word": "keyword",
}
_Words = Iterable[tuple[str, str]]


def code_lines(path: str, text: str) -> list[Markup]:
    """The lines of a file, escaped, with a class on every word of a known kind."""
    shown = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")[:MOST_SHOWN]
    words = _words(path, shown) if len(shown) <= MOST_COLOURED else [("", shown)]
    return [Markup("").join(line) for line in _lines(words)]


def _words(path: str, text: str) -> _Words:
    """The text in pieces, each with the class of what it is."""
    lexer = _lexer(path)
    if lexer is None:
        return [("", text)]
    pieces = ((_class(str(kind)), value) for kind, value in lexer.get_tokens(text))
    return ((name, "".join(value for _, value in group)) for name, group in groupby(pieces, key=lambda item: item[0]))


def _lexer(path: str) -> Any:
    from pygments.lexer import DelegatingLexer
    from pygments.lexers.data import JsonLexer
    from pygments.lexers.templates import DjangoLexer
    from pygments.lexers.wgsl import WgslLexer

    options = {"stripnl": False, "ensurenl": False}
    if path.endswith(".wgsl.jinja"):
        return DelegatingLexer(WgslLexer, DjangoLexer, **options)
    if path.endswith(".wgsl"):
        return WgslLexer(**options)
    return JsonLexer(**options) if path.endswith(".json") else None


def _class(kind: str) -> str:
    """The class for ``Token.Keyword.Type`` and the like, or ""."""
    name = kind.removeprefix("Token.")
    while name:
        found = _CLASSES.get(name)
        if found is not None:
            return found
        name = name.rpartition(".")[0]
    return ""


def _lines(words: _Words) -> Iterator[list[Markup]]:
    line: list[Markup] = []
    for name, text in words:
        for index, part in enumerate(re.split("\n", text)):
            if index:
                yield line
                line = []
            if part:
                seen = visible(part)
                line.append(Markup('<span class="{}">{}</span>').format(name, seen) if name else escape(seen))
    if line:
        yield line
