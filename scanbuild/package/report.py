"""Collecting problems while a JSON value is read: nodes know their place, the report keeps what they complain about.

Every parser of this room takes a Node and returns plain data; it never raises for a mistake in the file, so that
all mistakes are found in one go. Whoever reads the file asks the report at the end.
"""

import difflib
import json
import math
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Final

from scanbuild.errors import Problem, Severity, Stage
from scanbuild.package.jsonfile import Path, json_path, locate_all
from scanbuild.package.model import Json
from scanbuild.package.text import printable

MAX_FINDINGS: Final = 500
"""So many problems of one file are listed; a file with more is beyond help by listing."""

_SHOWN_LENGTH: Final = 60
_MAX_SUGGESTIONS: Final = 100
_MAX_WORD: Final = 64
_MAX_CANDIDATES: Final = 200

Origin = Callable[[Path], Path]


@dataclass(slots=True)
class Finding:
    """A problem and the path of what it is about; ``on_key`` if the member's name is at fault, not its value."""

    path: Path
    on_key: bool
    problem: Problem
    cases: list[str] = field(default_factory=list)

    def finished(self) -> Problem:
        """The problem with the cases of a family in which it occurs."""
        if not self.cases:
            return self.problem
        others = f" and {len(self.cases) - 1} more" if len(self.cases) > 1 else ""
        return replace(self.problem, message=f"{self.problem.message} [in {self.cases[0]}{others}]")


class Report:
    """The problems of one file."""

    def __init__(self) -> None:
        self.findings: dict[tuple[Path, str, str], Finding] = {}
        self._suggestions = 0
        self.misspelt: set[tuple[Path, str]] = set()
        """Members that are there under a wrong name, which is reported: object and right name."""
        self._unlisted = 0
        self._variants: dict[str, tuple[Path, Origin | None]] = {}
        self._origin: Origin | None = None
        self._case = ""

    def add(
        self,
        path: Path,
        rule: str,
        message: str,
        *,
        hint: str = "",
        key: bool = False,
        severity: Severity = "error",
        stage: Stage = "load",
    ) -> None:
        """Note a problem. The same one about the same place, in another case of a family, is noted once."""
        written = self._origin(path) if self._origin else path
        known = self.findings.get((written, rule, message))
        if known is None:
            if len(self.findings) >= MAX_FINDINGS:
                self._unlisted += severity == "error"
                return
            problem = Problem(
                message=message, rule=rule, path=json_path(written), hint=hint, severity=severity, stage=stage
            )
            known = self.findings[written, rule, message] = Finding(written, key, problem)
        if self._case:
            known.cases.append(self._case)

    @contextmanager
    def within(self, origin: Origin | None, case: str) -> Iterator[None]:
        """While the context lasts, paths are those of an expanded variant: ``origin`` gives the path as written."""
        before = self._origin, self._case
        self._origin, self._case = origin, case
        try:
            yield
        finally:
            self._origin, self._case = before

    def note_variant(self, variant_id: str, path: Path, origin: Origin | None) -> None:
        """Remember where a variant stands, so that ``place_in_variant`` knows."""
        self._variants.setdefault(variant_id, (path, origin))

    def place_in_variant(self, variant_id: str, path: Path) -> Path:
        """Where in the file stands what is at a path within a variant, families and all.

        So ``("passes", 0, "dispatch", "x")`` of an expanded variant leads to the member in its template.
        """
        start, origin = self._variants[variant_id]
        return origin((*start, *path)) if origin else (*start, *path)

    def written(self, path: Path) -> Path:
        """The path in the file, of a path that may be that of an expanded variant."""
        return self._origin(path) if self._origin else path

    def nearest(self, word: str, candidates: Iterable[str]) -> str:
        """``did you mean X?`` for the candidate most like a word, or nothing."""
        close = self.closest(word, candidates)
        return f"did you mean {shown(close)}?" if close else ""

    def closest(self, word: str, candidates: Iterable[str]) -> str:
        """The candidate most like a word, or nothing; nothing after many questions, since each takes time."""
        if self._suggestions >= _MAX_SUGGESTIONS:
            return ""
        self._suggestions += 1
        return closest(word, candidates)

    @property
    def failed(self) -> bool:
        """Whether there is an error among the problems."""
        return any(finding.problem.severity == "error" for finding in self.findings.values())

    def problems(self) -> list[Problem]:
        """All problems, without places."""
        return [*(finding.finished() for finding in self.findings.values()), *self._rest()]

    def located(self, text: str, file: str) -> list[Problem]:
        """All problems with file, line and column, in the order of the text."""
        findings = list(self.findings.values())
        places = locate_all(text, [(finding.path, finding.on_key) for finding in findings])
        placed = [finding.finished().at(file, *places[finding.path, finding.on_key]) for finding in findings]
        placed.sort(key=lambda problem: (problem.line or 0, problem.column or 0))
        return placed + [problem.at(file) for problem in self._rest()]

    def _rest(self) -> list[Problem]:
        if not self._unlisted:
            return []
        return [Problem(message=f"{self._unlisted} further problems are not listed", rule="limit-problems")]


@dataclass(frozen=True, slots=True)
class Node:
    """A JSON value and where it stands."""

    value: Json
    path: Path
    report: Report

    def fail(self, rule: str, message: str, *, hint: str = "", key: bool = False) -> None:
        """Note a problem with this value, or with its key."""
        self.report.add(self.path, rule, message, hint=hint, key=key)

    def members(self) -> Iterator[tuple[str, "Node"]]:
        """The members of an object; none of anything else."""
        if isinstance(self.value, dict):
            for name, value in self.value.items():
                yield name, Node(value, (*self.path, name), self.report)

    def elements(self) -> Iterator["Node"]:
        """The elements of a list; none of anything else."""
        if isinstance(self.value, list):
            for index, value in enumerate(self.value):
                yield Node(value, (*self.path, index), self.report)

    def get(self, name: str) -> "Node | None":
        """The member of that name, if this is an object that has one."""
        if isinstance(self.value, dict) and name in self.value:
            return Node(self.value[name], (*self.path, name), self.report)
        return None

    def get_unless_null(self, name: str) -> "Node | None":
        """The same, where null counts as absent."""
        node = self.get(name)
        return None if node is None or node.value is None else node

    def has(self, name: str) -> bool:
        """Whether this is an object with a member of that name, whatever its value."""
        return isinstance(self.value, dict) and name in self.value

    @property
    def shown(self) -> str:
        """The value, short enough for a message."""
        return shown(self.value)

    def nearest(self, word: str, candidates: Iterable[str]) -> str:
        """See Report.nearest."""
        return self.report.nearest(word, candidates)


def shown(value: Json) -> str:
    """A value as it is written in JSON if it is short, else what kind of value it is."""
    if isinstance(value, dict):
        return "{}" if not value else f"an object of {len(value)} member{'s' if len(value) > 1 else ''}"
    if isinstance(value, list):
        return "[]" if not value else f"a list of {len(value)}"
    if isinstance(value, str):
        cut = value if len(value) <= _SHOWN_LENGTH else value[:_SHOWN_LENGTH] + "…"
        return printable(json.dumps(cut, ensure_ascii=False))
    if isinstance(value, float):
        return repr(value) if math.isfinite(value) else "a number beyond the range of a double"
    return json.dumps(value)


def nearest(word: str, candidates: Iterable[str]) -> str:
    """``did you mean X?`` for the candidate most like a word, or nothing."""
    close = closest(word, candidates)
    return f"did you mean {shown(close)}?" if close else ""


def closest(word: str, candidates: Iterable[str]) -> str:
    """The candidate most like a word; the empty text if none is like it, or the word is too long to ask."""
    if not word or len(word) > _MAX_WORD:
        return ""
    names = [name for name, _ in zip(candidates, range(_MAX_CANDIDATES), strict=False) if len(name) <= _MAX_WORD]
    lowered = {name.lower(): name for name in names}
    if word.lower() in lowered:
        return lowered[word.lower()]
    close = difflib.get_close_matches(word, names, n=1, cutoff=0.6)
    return close[0] if close else ""


def some(words: Iterable[str], most: int) -> str:
    """``a, b and 5 more``: so many of them, and how many are not named."""
    items = list(words)
    more = f" and {len(items) - most} more" if len(items) > most else ""
    return ", ".join(items[:most]) + more


def listed(words: Iterable[str]) -> str:
    """``a, b or c``."""
    items = list(words)
    return items[0] if len(items) == 1 else f"{', '.join(items[:-1])} or {items[-1]}"
