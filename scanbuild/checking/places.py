"""Where in a JSON file a finding belongs: the place of a value, of a key, or of a character within a text."""

import re
from dataclasses import dataclass, field, replace
from functools import cached_property

from scanbuild.errors import Problem, Severity, Stage
from scanbuild.package.jsonfile import Path, Place, Places, json_path, parse_path, value_at
from scanbuild.package.model import Json

_LINE_END = re.compile("\r\n|\n|\r")
_CHARACTER = re.compile(
    r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\.|[^\\]", re.DOTALL
)


@dataclass(frozen=True, kw_only=True)
class JsonText:
    """A JSON file as read: ``file`` is its name for people, ``text`` what it holds, ``value`` the parsed value."""

    file: str
    text: str = field(repr=False)
    value: Json = field(repr=False)

    @cached_property
    def _places(self) -> Places:
        return Places(self.text)

    def get(self, path: Path) -> Json:
        """The value at a path; None where there is none."""
        try:
            return value_at(self.value, path)
        except (KeyError, IndexError, TypeError):
            return None

    def has(self, path: Path) -> bool:
        """Whether a path leads anywhere."""
        try:
            value_at(self.value, path)
        except (KeyError, IndexError, TypeError):
            return False
        return True

    def place(self, path: Path, *, key: bool = False) -> Place:
        """Line and column of a value, or of its key; of what encloses it where the path leads nowhere."""
        return self._places.place(path, key=key)

    def place_within(self, path: Path, written: str, offset: int) -> Place:
        """Line and column of a character of the text at a path.

        ``written`` is the text that ``offset`` counts in; where the file holds another one there (a placeholder of a
        family was replaced in it), the place is that of the text as a whole.
        """
        line, column = self.place(path)
        if self.get(path) != written:
            return line, column
        start = self._offset(line, column)
        if "\\" not in self.text[start + 1 : start + 1 + offset]:
            return line, column + 1 + offset
        raw = self.text[start + 1 : start + 1 + 12 * offset]
        width = 0
        for count, found in enumerate(_CHARACTER.finditer(raw), start=1):
            if count > offset:
                break
            width += found.end() - found.start()
        return line, column + 1 + width

    def problem(
        self,
        path: Path,
        rule: str,
        message: str,
        *,
        hint: str = "",
        key: bool = False,
        severity: Severity = "error",
        stage: Stage = "call",
        within: tuple[str, int] | None = None,
    ) -> Problem:
        """A problem with the value at a path; ``within`` is the text there and the offset of what is wrong in it."""
        place = self.place(path, key=key) if within is None else self.place_within(path, *within)
        problem = Problem(message=message, rule=rule, path=json_path(path), hint=hint, severity=severity, stage=stage)
        return problem.at(self.file, *place)

    def placed(self, problem: Problem) -> Problem:
        """A problem that names a JSON path of this file, with file, line and column."""
        return problem.at(self.file, *self.place(parse_path(problem.path)))

    def _offset(self, line: int, column: int) -> int:
        start = 0
        for number, found in enumerate(_LINE_END.finditer(self.text), start=1):
            if number == line:
                break
            start = found.end()
        return start + column - 1


def as_stage(problem: Problem, severity: Severity, stage: Stage) -> Problem:
    """The same problem with another weight."""
    return replace(problem, severity=severity, stage=stage)


def shortened(text: str, limit: int = 80) -> str:
    """A text for a message."""
    return text if len(text) <= limit else f"{text[: limit - 1]}…"
