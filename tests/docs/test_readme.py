"""The README is short, and its two commands and its commands' names are so."""

import re
from pathlib import Path

from scanbuild.commands import COMMANDS

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")


def test_it_is_read_on_two_screens():
    assert len(README.splitlines()) <= 90


def test_its_two_commands_do_what_is_said_of_them():
    assert re.findall(r"^    (make \w+)", README, re.MULTILINE) == ["make run", "make test"]
    recipe = MAKEFILE.split("\nrun:", 1)[1].split("\n\n", 1)[0]
    assert re.findall(r"scanbuild (\w+)", recipe) == ["render", "verify", "publish"]
    assert re.search(r"^test: lint ", MAKEFILE, re.MULTILINE)


def test_it_names_every_command_once_in_its_tables():
    assert sorted(re.findall(r"^\|.*?`scanbuild (\w+)[^`]*`", README, re.MULTILINE)) == sorted(COMMANDS)


def test_it_names_every_extra():
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    extras = re.findall(r"^(\w+) = \[", project.split("[project.optional-dependencies]", 1)[1].split("\n[", 1)[0], re.M)
    assert set(extras) == set(re.findall(r"`(\w+)` for ", README))
