"""Runs ``scanbuild show`` and picks what it says apart."""

import json

from click.testing import CliRunner

from scanbuild.commands import main
from scanbuild.resources import data_folder

SCAN = data_folder("templates") / "ai.onnx.Scan"
TWO_ROWS = ("--case", "two_rows")


def show(*arguments):
    return CliRunner().invoke(main, ["show", *map(str, arguments)])


def shown(*arguments, status=0):
    result = show(*arguments)
    assert result.exit_code == status, result.output
    return result.stdout


def report(*arguments, status=0):
    result = show(*arguments, "--json", "-")
    assert result.exit_code == status, result.output
    return json.loads(result.stdout)


def refused(*arguments):
    """What is said of wrong options."""
    result = show(*arguments)
    assert result.exit_code == 2, result.output
    assert result.stdout == ""
    return result.stderr


def section(text, title):
    """The lines below a heading that begins so."""
    lines = text.splitlines()
    start = next(index for index, line in enumerate(lines) if line.startswith(title)) + 1
    end = next((index for index in range(start, len(lines)) if not lines[index]), len(lines))
    return [line.strip() for line in lines[start:end]]
