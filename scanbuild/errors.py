"""What can go wrong, as data: a problem says where and what, an error carries problems and an exit status.

Every module reports a user's mistake by raising one of these errors; only ``scanbuild.commands`` prints them.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal

Severity = Literal["error", "warning", "note"]
Stage = Literal["load", "call", "own"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Problem:
    """One finding about one place.

    ``stage`` tells who refuses the input: the loader when it loads the package (``load``), the loader at a call
    (``call``), or scanbuild alone, where the loader does not look (``own``).
    """

    message: str
    rule: str = ""
    file: str = ""
    line: int | None = None
    column: int | None = None
    path: str = ""
    hint: str = ""
    severity: Severity = "error"
    stage: Stage = "load"

    def at(self, file: str, line: int | None = None, column: int | None = None) -> "Problem":
        """The same problem, placed in a file."""
        return replace(self, file=file, line=line, column=column)

    @property
    def place(self) -> str:
        """``file:line:column``, as far as it is known."""
        return ":".join(str(part) for part in (self.file, self.line, self.column) if part not in (None, ""))

    def __str__(self) -> str:
        head = ": ".join(part for part in (self.place, self.path) if part)
        text = f"{head}: {self.message}" if head else self.message
        return f"{text} ({self.hint})" if self.hint else text


class ScanbuildError(Exception):
    """A failure that is reported in words. ``exit_status`` is what the command line returns for it."""

    exit_status = 4

    def __init__(self, *problems: Problem | str) -> None:
        self.problems: tuple[Problem, ...] = tuple(
            problem if isinstance(problem, Problem) else Problem(message=problem) for problem in problems
        )
        super().__init__("\n".join(str(problem) for problem in self.problems))


class CheckFailedError(ScanbuildError):
    """A check was made and failed: a stale build, a wrong result, a digest that does not hold."""

    exit_status = 1


class InputError(ScanbuildError):
    """The input is wrong."""

    exit_status = 2


class LoadError(InputError):
    """The loader would refuse to load the package."""


class CallError(InputError):
    """The loader would load the package and refuse this call of it."""


class NoAdapterError(ScanbuildError):
    """There is no usable WebGPU adapter, or none that was asked for."""

    exit_status = 3


def raise_if_any(problems: Iterable[Problem], kind: type[ScanbuildError] = InputError) -> None:
    """Raise ``kind`` with every problem whose severity is ``error``, if there is one."""
    errors = [problem for problem in problems if problem.severity == "error"]
    if errors:
        raise kind(*errors)
