"""The loader's lexical rules, producing the tokens of Jinja2.

A token's ``lineno``, and with it that of every node made from it, is the offset of the token in the pre-processed text:
places are worked out only when there is an error to report.
"""

import re
from typing import Final, NoReturn

from jinja2.lexer import (
    TOKEN_BLOCK_BEGIN,
    TOKEN_BLOCK_END,
    TOKEN_DATA,
    TOKEN_DOT,
    TOKEN_FLOAT,
    TOKEN_INTEGER,
    TOKEN_LBRACE,
    TOKEN_NAME,
    TOKEN_RBRACE,
    TOKEN_RBRACKET,
    TOKEN_RPAREN,
    TOKEN_STRING,
    TOKEN_VARIABLE_BEGIN,
    TOKEN_VARIABLE_END,
    Token,
    operators,
)

from .errors import DialectError
from .limits import MAX_TOKENS
from .text import SPACE_CLASS, WHITE_SPACE, skip_space, well_formed
from .values import whole

TOKEN_SIGN: Final = "sign"
"""A ``+`` or ``-`` that can only be a prefix. (One that may stand between operands is ``add`` or ``sub``.)"""

_OPENING = re.compile(r"\{[%{#]")
_CODE = re.compile(
    rf"""{SPACE_CLASS}*(?:
        (?P<name>[A-Za-z_][A-Za-z0-9_]*)
      | (?P<number>[0-9]+(?:\.[0-9]+)?)
      | (?P<string>"[^"\\]*+(?:\\.[^"\\]*+)*+"|'[^'\\]*+(?:\\.[^'\\]*+)*+')
      | (?P<end>-?%\}}|-\}}\}})
      | (?P<operator>\*\*|//|<=|>=|==|!=|[-+~*/%<>=(){{}}\[\],.:|])
    )""",
    re.VERBOSE | re.DOTALL,
)
_DIGITS = re.compile(r"[0-9]+")
_NUMBER = re.compile(r"[0-9]+(?:\.[0-9]+)?")
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "v": "\v", "'": "'", '"': '"', "\\": "\\"}
_OPERANDS = frozenset({TOKEN_NAME, TOKEN_INTEGER, TOKEN_FLOAT, TOKEN_STRING, TOKEN_RPAREN, TOKEN_RBRACKET})


def tokenize(text: str) -> list[Token]:
    """The tokens of a pre-processed template; comments leave none.

    :raises DialectError: kind ``syntax``.
    """
    tokens: list[Token] = []
    position = 0
    after_tag = False
    while position < len(text):
        found = _OPENING.search(text, position)
        end = found.start() if found else len(text)
        strip = text.startswith("-", end + 2)
        piece = text[position:end]
        if found and strip:
            piece = piece.rstrip(WHITE_SPACE)
        if piece:
            tokens.append(Token(position, TOKEN_DATA, piece))
        if not found:
            break
        inside = end + 3 if strip else end + 2
        if found.group() == "{#":
            position, after_tag = _comment(text, end, inside)
        else:
            position, after_tag = _Tag(text, tokens).read(end, inside, found.group() == "{{")
        if after_tag:
            position = skip_space(text, position)
    return tokens


def _comment(text: str, start: int, inside: int) -> tuple[int, bool]:
    """Skip a comment: where it ends, and whether a dash trims what follows."""
    end = text.find("#}", inside)
    if end < 0:
        raise DialectError("syntax", "this comment has no end: expected '#}'", offset=start)
    return end + 2, end > inside and text[end - 1] == "-"


class _Tag:
    """Reads the tokens between ``{{`` and ``}}`` or ``{%`` and ``%}``."""

    def __init__(self, text: str, tokens: list[Token]) -> None:
        self.text = text
        self.tokens = tokens
        self.depth = 0

    def read(self, start: int, position: int, expression: bool) -> tuple[int, bool]:
        """Append the tag's tokens: where it ends, and whether a dash trims what follows."""
        text, tokens = self.text, self.tokens
        tokens.append(Token(start, TOKEN_VARIABLE_BEGIN if expression else TOKEN_BLOCK_BEGIN, text[start : start + 2]))
        match = _CODE.match
        while True:
            found = match(text, position)
            if len(tokens) > MAX_TOKENS:
                raise DialectError("limit", f"a text of more than {MAX_TOKENS} tokens", offset=position)
            if found is None:
                self._fail(start, position, expression)
            group = found.lastgroup
            value = found[group]  # type: ignore[index]
            begin, position = found.start(group), found.end()  # type: ignore[arg-type]
            if group == "name":
                tokens.append(Token(begin, TOKEN_NAME, value))
            elif group == "operator":
                if value == "}" and self.depth <= 0 and text.startswith("}", position):
                    return self._end(begin, "}}")
                position = self._operator(begin, value)
            elif group == "number":
                position = self._number(begin, value)
            elif group == "string":
                tokens.append(Token(begin, TOKEN_STRING, self._string(begin, value)))
            else:
                return self._end(begin, value)

    def _end(self, begin: int, value: str) -> tuple[int, bool]:
        kind = TOKEN_BLOCK_END if value.endswith("%}") else TOKEN_VARIABLE_END
        self.tokens.append(Token(begin, kind, value))
        return begin + len(value), value[0] == "-"

    def _operator(self, begin: int, value: str) -> int:
        kind = operators[value]
        end = begin + len(value)
        if value in "+-" and self.tokens[-1].type not in _OPERANDS:
            number = _NUMBER.match(self.text, end)
            if number:
                self._append_number(begin, value + number.group())
                return number.end()
            kind = TOKEN_SIGN
        elif kind == TOKEN_LBRACE:
            if self.text.startswith(("{", "%", "#"), end):
                raise DialectError("syntax", f"{self.text[begin : end + 1]!r} starts a tag inside a tag", offset=begin)
            self.depth += 1
        elif kind == TOKEN_RBRACE:
            self.depth -= 1
        self.tokens.append(Token(begin, kind, value))
        return end

    def _number(self, begin: int, value: str) -> int:
        if self.tokens[-1].type == TOKEN_DOT:
            value = _DIGITS.match(value).group()  # type: ignore[union-attr]
        self._append_number(begin, value)
        return begin + len(value)

    def _append_number(self, begin: int, value: str) -> None:
        # The value of a number token is a number, as Jinja2's own lexer has it after ``wrap``.
        if "." in value:
            token = Token(begin, TOKEN_FLOAT, float(value))  # type: ignore[arg-type]
        else:
            token = Token(begin, TOKEN_INTEGER, whole(float(value)))  # type: ignore[arg-type]
        self.tokens.append(token)

    def _string(self, begin: int, value: str) -> str:
        content = value[1:-1]
        if "\\" in content:
            content = _ESCAPE.sub(lambda found: self._escape(begin, found), content)
        return content if content.isascii() else well_formed(content)

    def _escape(self, begin: int, found: re.Match[str]) -> str:
        character = _ESCAPES.get(found[1])
        if character is None:
            known = " ".join(f"\\{key}" for key in _ESCAPES)
            message = f"unknown escape {found[0]!r} in a string; the loader knows {known}"
            raise DialectError("syntax", message, offset=begin + 1 + found.start())
        return character

    def _fail(self, start: int, position: int, expression: bool) -> NoReturn:
        text = self.text
        rest = text[position:].lstrip(WHITE_SPACE)
        if not rest:
            end = "}}" if expression else "%}"
            raise DialectError("syntax", f"this tag has no end: expected {end!r}", offset=start)
        offset = len(text) - len(rest)
        if rest[0] in "\"'":
            raise DialectError("syntax", f"this string has no closing {rest[0]}", offset=offset)
        raise DialectError("syntax", f"unexpected character {rest[0]!r}", offset=offset)
