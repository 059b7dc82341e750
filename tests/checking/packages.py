"""The good package of these tests, and ways to break it."""

import json
import shutil
from pathlib import Path
from typing import Any

from scanbuild.checking.check import CheckResult, check_path
from scanbuild.errors import Problem

GOOD = Path(__file__).resolve().parent / "good"


def copy_good(folder: Path) -> Path:
    """A copy of the good package, to be broken."""
    target = folder / "package"
    shutil.copytree(GOOD, target)
    return target


def replace_in(package: Path, file: str, old: str, new: str, count: int = 1) -> tuple[int, int]:
    """Replace a text that must be there; line and column of its first place."""
    path = package / file
    text = path.read_text(encoding="utf-8")
    assert old in text, f"{file} holds no {old!r}"
    at = text.index(old)
    path.write_text(text.replace(old, new, count), encoding="utf-8")
    return text.count("\n", 0, at) + 1, at - text.rfind("\n", 0, at)


def edit(package: Path, change: Any, file: str = "manifest.json") -> None:
    """Change the JSON value of a file in place."""
    path = package / file
    value = json.loads(path.read_text(encoding="utf-8"))
    change(value)
    path.write_text(json.dumps(value, indent=2) + "\n", encoding="utf-8")


def found(package: Path, rule: str) -> list[Problem]:
    """The problems of one rule that a check finds."""
    return [problem for problem in check_path(package).problems if problem.rule == rule]


def errors(result: CheckResult) -> list[Problem]:
    """The errors of a result."""
    return [problem for problem in result.problems if problem.severity == "error"]
