"""Text into GitHub-flavoured Markdown without letting it become markup.

A manifest's texts are its author's, and the card is read on a web page: they may use code spans and nothing else.
"""

import re

CODE_SPAN = re.compile(r"(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)")
# A closing bracket makes a link only before one of three signs, an underscore emphasis only at the edge of a word.
_SPECIAL = re.compile(r"[\\`*<>|~&$]|\](?=[(\[:])|(?<![^\W_])_|_(?![^\W_])")
# What starts a heading, a quotation, a list, a rule or a table if it stands at the start of a line.
_BLOCK_START = re.compile(r"^(\d+(?=[.)](?:\s|$))|(?=[#+=:-]))")
# Controls, lone surrogates, and the marks that reverse the reading direction.
_UNPRINTABLE = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]+")
PARAGRAPHS = re.compile(r"\n[ \t]*\n\s*")


def prose(text: str) -> str:
    """Paragraphs of plain text; code spans stay, all other markup is escaped."""
    paragraphs = [_escaped_line(part) for part in PARAGRAPHS.split(text.replace("\r\n", "\n").strip())]
    return "\n\n".join(_BLOCK_START.sub(r"\1\\", part) for part in paragraphs if part)


def cell(text: str) -> str:
    """One line of text for a cell of a table."""
    return _escaped_line(text)


def code(text: str) -> str:
    """A code span that shows the text as it is, in a cell of a table too."""
    flat = _one_line(text) or " "
    fence = "`" * (1 + max((len(run) for run in re.findall("`+", flat)), default=0))
    pad = " " if flat.startswith("`") or flat.endswith("`") else ""
    return f"{fence}{pad}{_in_table(flat)}{pad}{fence}"


def _escaped_line(text: str) -> str:
    line = _one_line(text)
    parts: list[str] = []
    end = 0
    for span in CODE_SPAN.finditer(line):
        parts += [_escaped(line[end : span.start()]), _in_table(span.group())]
        end = span.end()
    return "".join([*parts, _escaped(line[end:])])


def _one_line(text: str) -> str:
    return " ".join(_UNPRINTABLE.sub(" ", text).split())


def _escaped(text: str) -> str:
    """A backslash before what is special; HTML has entities instead, which hold even where a backslash does not."""
    entities = {"<": "&lt;", ">": "&gt;", "&": "&amp;"}
    return _SPECIAL.sub(lambda match: entities.get(match.group(), "\\" + match.group()), text)


def _in_table(text: str) -> str:
    """A bar ends a cell even inside a code span, unless a backslash stands before it."""
    return text.replace("|", "\\|")
