"""What to tell of a file that is no JSON: the slip behind the place where the parser stumbles, and the way out."""

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from scanbuild.errors import Problem

_WORD: Final = re.compile(r"[A-Za-z_][\w.]*(?:\[[^\[\]\s]*\])*")
_CONSTANTS: Final = {"True": "true", "False": "false", "None": "null", "nil": "null", "undefined": "null"}
_TOKEN: Final = re.compile(r'"(?:[^"\\\n]|\\.)*"?|[{}\[\]]|\n')
_CLOSING: Final = {"{": "}", "[": "]"}


def explain_json(problem: Problem, text: str) -> Problem:
    """The same problem with a hint, and at the bracket that is not closed where the text ends too early."""
    if problem.rule != "json" or problem.hint or problem.line is None or problem.column is None:
        return problem
    if "ends too early" in problem.message:
        return _unclosed(problem, text)
    lines = text.split("\n")
    line = lines[problem.line - 1] if problem.line <= len(lines) else ""
    before, rest = line[: problem.column - 1], line[problem.column - 1 :]
    if problem.message.startswith("a control character") and not rest.strip():
        message = "a text is not closed in its line"
        return replace(problem, message=message, hint="a double quote is missing; a line break within is `\\n`")
    return replace(problem, hint=_hint(problem.message, before, rest))


def _hint(message: str, before: str, rest: str) -> str:
    word = _WORD.match(rest)
    if message.startswith("a value was expected"):
        if rest.startswith(","):
            return "there is a comma too many"
        if word is not None:
            return f"write {_CONSTANTS[word[0]]}" if word[0] in _CONSTANTS else f'a text needs quotes: "{word[0]}"'
        return "an expression is a text, in double quotes" if rest[:1] in ("(", "`", "$") else ""
    if message.startswith("a key in double quotes"):
        return f'write "{word[0]}"' if word is not None else "there is a comma too many" if rest.startswith(",") else ""
    if message.startswith("a colon was expected"):
        return f"write {before.strip().split(',')[-1].strip()}: and its value"
    if message.startswith("a comma or a closing bracket"):
        if before.endswith('"') and word is not None:
            return 'a quote within a text is written `\\"`, or as a single quote in an expression'
        if rest[:1] in ('"', "{", "["):
            return "a comma is missing before it"
        return "an expression is a text, in double quotes" if rest[:1] in ("+", "-", "*", "/", "(") else ""
    if message.startswith("there is text after the end"):
        return "there is a closing bracket too many before it"
    return ""


def _unclosed(problem: Problem, text: str) -> Problem:
    place = unclosed_bracket(text)
    if place is None:
        return problem
    sign, line, column = place
    message = f"the text ends too early: this `{sign}` is not closed"
    return replace(problem, message=message, hint=f"a `{_CLOSING[sign]}` is missing").at(problem.file, line, column)


def unclosed_bracket(text: str) -> tuple[str, int, int] | None:
    """The bracket that most probably lacks its end, with line and column: where the indentation first disagrees.

    A bracket that begins a line closes one that was opened in a line as far indented; if it does not, the opened one
    is what was left open. Without such a sign it is the innermost bracket that the end of the text leaves open.
    """
    opened: list[tuple[str, int, int, int]] = []
    for sign, line, column, indent in _brackets(text):
        if sign in _CLOSING:
            opened.append((sign, line, column, indent))
        elif opened:
            last, at_line, at_column, outer = opened[-1]
            if _CLOSING[last] != sign or (column - 1 == indent and line != at_line and outer != indent):
                return last, at_line, at_column
            opened.pop()
    return opened[-1][:3] if opened else None


def _brackets(text: str) -> Iterator[tuple[str, int, int, int]]:
    """Every bracket outside of texts: the sign, line, column, and how far its line is indented."""
    line, start = 1, 0
    for found in _TOKEN.finditer(text):
        if found[0] == "\n":
            line, start = line + 1, found.end()
        elif not found[0].startswith('"'):
            rest = text[start : found.end()]
            yield found[0], line, found.start() - start + 1, len(rest) - len(rest.lstrip())
