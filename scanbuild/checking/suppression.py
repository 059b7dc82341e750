"""Suppressing a warning where it is meant: in a ``$comment`` of the manifest, or in a comment of a template.

``"$comment": "scanbuild: allow unused-derive - kept for callers of v1"`` holds for the object it stands in and all
below it, ``{# scanbuild: allow crlf - generated on Windows #}`` for its template. Several rules are separated by
commas. Errors cannot be suppressed.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from scanbuild.checking.places import JsonText
from scanbuild.errors import Problem
from scanbuild.package.jsonfile import Path, parse_path
from scanbuild.package.model import Json

_RULE: Final = r"[a-z][a-z0-9-]*"
_ALLOW: Final = re.compile(
    rf"scanbuild:\s*allow\b\s*({_RULE}(?:\s*,\s*{_RULE})*)?(?:\s+-+\s+|\s*--+\s*|\s*[:\u2013\u2014]\s*)?(.*)", re.DOTALL
)


@dataclass(frozen=True, slots=True)
class Allowance:
    """One comment: the file and, in JSON, the object that it is for; its rules and reason; where it stands."""

    file: str
    scope: Path | None
    rules: tuple[str, ...]
    reason: str
    line: int
    column: int
    path: str = ""

    def covers(self, problem: Problem) -> bool:
        """Whether a problem is one that the comment is about."""
        if problem.severity == "error" or problem.file != self.file or problem.rule not in self.rules:
            return False
        if self.scope is None:
            return True
        return parse_path(problem.path)[: len(self.scope)] == self.scope


def suppress(
    problems: Sequence[Problem], texts: Iterable[JsonText], templates: Mapping[str, str]
) -> tuple[list[Problem], int]:
    """The problems that are left, with those of the comments themselves; and how many were suppressed."""
    allowances = [*_in_json(texts), *_in_templates(templates)]
    active = [item for item in allowances if item.rules and item.reason]
    used: set[Allowance] = set()
    left: list[Problem] = []
    for problem in problems:
        covering = [item for item in active if item.covers(problem)]
        used.update(covering)
        if not covering:
            left.append(problem)
    suppressed = len(problems) - len(left)
    left += [_idle(item, problems) for item in active if item not in used]
    left += [_incomplete(item) for item in allowances if item not in active]
    return left, suppressed


def _in_json(texts: Iterable[JsonText]) -> Iterator[Allowance]:
    for text in texts:
        if "scanbuild:" not in text.text:
            continue
        pending: list[tuple[Json, Path]] = [(text.value, ())]
        while pending:
            value, path = pending.pop()
            if isinstance(value, list):
                pending.extend((item, (*path, index)) for index, item in enumerate(value))
            if not isinstance(value, dict):
                continue
            pending.extend((item, (*path, name)) for name, item in value.items())
            comment = value.get("$comment")
            found = _ALLOW.search(comment) if isinstance(comment, str) else None
            if found is not None:
                place = text.place((*path, "$comment"))
                yield Allowance(text.file, path, _rules(found[1]), (found[2] or "").strip(), *place)


def _in_templates(templates: Mapping[str, str]) -> Iterator[Allowance]:
    for file, text in templates.items():
        for start, comment in _comments(text) if "scanbuild:" in text else ():
            found = _ALLOW.search(comment)
            if found is not None:
                line = text.count("\n", 0, start) + 1
                column = start - text.rfind("\n", 0, start)
                yield Allowance(file, None, _rules(found[1]), (found[2] or "").strip(), line, column)


def _comments(text: str) -> Iterator[tuple[int, str]]:
    """Offset and text of every comment of a template."""
    start = text.find("{#")
    while start >= 0:
        end = text.find("#}", start + 2)
        if end < 0:
            return
        yield start, text[start + 2 : end].strip("-")
        start = text.find("{#", end + 2)


def _rules(written: str | None) -> tuple[str, ...]:
    return tuple(rule.strip() for rule in (written or "").split(",") if rule.strip())


def _idle(item: Allowance, problems: Sequence[Problem]) -> Problem:
    names = ", ".join(item.rules)
    errors = any(problem.severity == "error" and problem.rule in item.rules for problem in problems)
    return Problem(
        message=f"this suppresses nothing: there is no warning of {names} here",
        rule="idle-suppression",
        hint="errors cannot be suppressed" if errors else "remove it",
        severity="note",
        stage="own",
    ).at(item.file, item.line, item.column)


def _incomplete(item: Allowance) -> Problem:
    lacking = "a reason" if item.rules else "a rule"
    return Problem(
        message=f"a suppression needs {lacking}, so this one does not count",
        rule="suppression",
        hint='write "scanbuild: allow RULE - REASON"',
        severity="warning",
        stage="own",
    ).at(item.file, item.line, item.column)
