"""``scanbuild check``: what it prints, writes and returns."""

import json

import click
import pytest
from click.testing import CliRunner

from scanbuild.cases.schema import schema_problems
from scanbuild.checking.check import check_path
from scanbuild.commands import main
from scanbuild.commands.check import folded_lines
from tests.checking.packages import GOOD, copy_good, edit, replace_in


def check(*arguments):
    return CliRunner().invoke(main, ["check", *map(str, arguments)])


@pytest.fixture
def package(tmp_path):
    return copy_good(tmp_path)


def test_a_good_package_passes_in_one_line():
    result = check(GOOD)
    assert result.exit_code == 0
    assert result.output == "com.example.RowSum: nothing to complain about\n"


def test_an_error_fails_the_check_with_place_rule_path_and_suggestion(package):
    line, column = replace_in(package, "manifest.json", "ceilDiv(columns", "ceildiv(columns")
    result = check(package)
    assert result.exit_code == 1
    assert f"{package}/manifest.json:{line}:{column}: error[expression-name] " in result.output
    assert "$.variants[0].derive.parts" in result.output
    assert 'suggestion: did you mean "ceilDiv"?' in result.output
    assert result.output.endswith("com.example.RowSum: 1 error\n")


def test_a_warning_passes_unless_the_check_is_strict(package):
    edit(package, lambda m: m["derive"].update(idle=1))
    assert check(package).exit_code == 0
    assert check(package, "--strict").exit_code == 1


def test_quiet_shows_what_fails_the_check_and_nothing_else(package):
    edit(package, lambda m: m["derive"].update(idle=1))
    assert check(package, "-q").output == ""
    assert "unused-derive" in check(package, "-q", "--strict").output
    assert "1 warning" not in check(package, "-q", "--strict").output


def test_the_report_fits_its_schema(package, tmp_path):
    edit(package, lambda m: m["derive"].update(idle=1, worse="1 +"))
    report = tmp_path / "report.json"
    assert check(package, "--json", report).exit_code == 1
    content = json.loads(report.read_text(encoding="utf-8"))
    assert schema_problems(content, "check-report") == []
    assert content["passed"] is False
    assert content["summary"]["errors"] == 1
    assert [problem["stage"] for problem in content["problems"] if problem["severity"] == "error"] == ["call"]


def test_the_report_of_a_package_that_does_not_load_fits_too(package, tmp_path):
    (package / "manifest.json").write_text("{", encoding="utf-8")
    report = tmp_path / "report.json"
    assert check(package, "--json", report).exit_code == 1
    content = json.loads(report.read_text(encoding="utf-8"))
    assert schema_problems(content, "check-report") == []
    assert content["package"] is None


def test_a_path_without_a_package_is_a_wrong_input(tmp_path):
    result = check(tmp_path)
    assert result.exit_code == 2
    assert "no package here" in result.output


def test_what_a_package_says_cannot_steer_the_terminal(package):
    edit(package, lambda m: m["derive"].update(idle="\x1b[2J"))
    assert "\x1b" not in check(package).output


def test_help_explains_suppression_and_exit_statuses():
    output = check("--help").output
    assert "scanbuild: allow RULE - REASON" in output
    assert "Exit status:" in output


def test_on_a_terminal_a_finding_is_folded_to_its_width(package):
    line, column = replace_in(package, "manifest.json", "columns >= 1024", "colums >= 1024")
    (problem,) = check_path(package).problems
    lines = [click.unstyle(item) for item in folded_lines(problem, 60)]
    assert lines[0] == f"  {line}:{column}  error[expression-name]"
    assert all(len(item) <= 60 for item in lines)
    assert " ".join(" ".join(lines).split()).endswith('suggestion: did you mean "columns"?')


def test_a_report_that_cannot_be_written_is_told_before_the_check(package, tmp_path):
    result = check(package, "--json", tmp_path / "nowhere" / "report.json")
    assert result.exit_code == 2
    assert "no such folder" in result.output
