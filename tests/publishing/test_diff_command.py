"""scanbuild diff as a user meets it."""

import copy
import json
import os
import pty
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from scanbuild.cases.schema import schema_problems
from scanbuild.commands import main
from tests.bench.test_between import saved
from tests.publishing.contracts import Edit, drop, put
from tests.publishing.packages import SHADER, manifest, write_source

REPOSITORY = Path(__file__).resolve().parents[2]


def run(*arguments: object, **environment: str) -> Result:
    return CliRunner().invoke(main, ["diff", *(str(argument) for argument in arguments)], env=environment)


@pytest.fixture
def sources(tmp_path):
    """Two sources; the manifest of the second one is edited, and files of it are replaced."""

    def write(*edits: Edit, **files: Any) -> tuple[Path, Path]:
        value = copy.deepcopy(manifest())
        for edit in edits:
            edit(value)
        old = write_source(tmp_path / "old")
        new = write_source(tmp_path / "new", **{"Twice/manifest.json": value, **files})
        return old, new

    return write


BREAKING = put("attributes.scale", {}), put("attributeConstraints.scale", {"required": True})
COMPATIBLE = (put("attributes.scale", {"default": 1}),)
UNKNOWN = (put("sinceVersion", 7),)


def test_equal_packages_are_the_same(sources):
    old, new = sources()
    result = run(old, new)
    assert result.exit_code == 0
    assert "The packages are the same." in result.output and "Contract" not in result.output


@pytest.mark.parametrize(
    ("edits", "options", "status", "words"),
    [
        (BREAKING, (), 1, "1 breaking. Callers break: raise the version"),
        (COMPATIBLE, ("--strict",), 0, "1 compatible. No caller breaks."),
        (UNKNOWN, (), 0, "1 unknown. Callers keep working, as far as is known."),
        (UNKNOWN, ("--strict",), 1, "1 unknown. Callers may break"),
        ((drop("description"),), ("--strict",), 0, "The contract is the same."),
    ],
)
def test_the_exit_status_tells_whether_callers_break(sources, edits, options, status, words):
    result = run(*sources(*edits), *options)
    assert (result.exit_code, words in result.output) == (status, True), result.output


def test_a_raised_version_lets_callers_choose_and_a_lowered_one_does_not(sources):
    old, new = sources(*BREAKING, **{"Twice/publish.json": {"version": 2}})
    result = run(old, new, "--strict")
    assert result.exit_code == 0 and "The version was raised from 1 to 2" in result.output
    result = run(new, old)
    assert result.exit_code == 1 and "attribute `scale` is gone" in result.output


def test_a_change_is_shown_with_its_kind_place_and_reason(sources):
    output = run(*sources(*BREAKING)).output
    assert re.search(r"breaking +attribute `scale` is new: required\n +a call without it is refused", output)
    assert "at $.attributes.scale" in output


def test_nothing_but_plain_text_goes_to_a_pipe(sources):
    output = run(*sources(*BREAKING, **{"Twice/twice.wgsl.jinja": SHADER + "// more\n"})).output
    assert "\x1b" not in output and all(line == line.rstrip() for line in output.splitlines())


def test_with_patch_the_changed_lines_are_shown_as_other_tools_read_them(sources):
    line = "// " + "x" * 200
    old, new = sources(**{"Twice/twice.wgsl.jinja": f"{SHADER}{line}\n"})
    assert f"+{line}" not in run(old, new).output
    output = run(old, new, "--patch").output.splitlines()
    assert "+++ new/twice.wgsl.jinja" in output and "+++ new/plain/double.wgsl" in output
    assert output.count(f"+{line}") == 2


def test_names_in_a_package_cannot_steer_the_terminal(sources):
    old, new = sources(**{"Twice/twice.wgsl.jinja": SHADER + "// \x1b[2J\x9b\n"})
    output = run(old, new, "--patch").output
    assert "\x1b" not in output and "\x9b" not in output and r"\x1b[2J" in output


def test_cases_that_another_variant_takes_are_named_all_with_v(sources):
    base = manifest()["variants"][0]
    more = {**base, "id": "more", "priority": 1, "when": ["n >= 0"]}
    old, new = sources(lambda value: value["variants"].append(more))
    output = run(old, new).output
    assert "plain -> more: 4 cases" in output and "and 1 more (-v names them)" in output
    assert "large on all device profiles" in run(old, new, "-v").output


def test_quiet_leaves_the_exit_status(sources):
    result = run(*sources(*BREAKING), "-q")
    assert (result.exit_code, result.output) == (1, "")


@pytest.mark.parametrize("edits", [(), BREAKING, COMPATIBLE, (put("when", ["n < 4"]),)])
def test_the_report_follows_its_schema(sources, tmp_path, edits):
    old, new = sources(*edits, **{"Twice/twice.wgsl.jinja": SHADER + "// more\n"})
    result = run(old, new, "--json", tmp_path / "report.json")
    report = json.loads((tmp_path / "report.json").read_text())
    assert schema_problems(report, "diff-report") == []
    assert report["passed"] == (result.exit_code == 0)
    assert report["summary"] == {
        kind: sum(item["kind"] == kind for item in report["contract"]) for kind in report["summary"]
    }
    assert report["old"]["package"] == "org.example.Twice" and report["performance"] is None


def test_the_report_may_take_standard_output(sources):
    old, new = sources(*BREAKING)
    result = run(old, new, "--json", "-")
    report = json.loads(result.stdout)
    assert result.exit_code == 1 and report["contract"][0]["subject"] == "attribute `scale`"


def test_a_report_on_standard_output_steers_no_terminal(sources):
    old, new = sources(put("attributes.scale", {"default": "\x9b2J\u202e"}))
    result = run(old, new, "--json", "-")
    assert result.stdout.isascii()
    assert json.loads(result.stdout)["contract"][0]["after"] == 'default "\x9b2J\u202e"'


def test_two_reports_of_bench_are_compared(sources, tmp_path):
    old, new = sources(*COMPATIBLE)
    for name, seconds in (("old", 1e-3), ("new", 5e-4)):
        (tmp_path / f"{name}.json").write_text(json.dumps(saved(("large", seconds), ("small", 1e-5))))
    result = run(old, new, "--bench", tmp_path / "old.json", tmp_path / "new.json", "--json", tmp_path / "r.json")
    assert result.exit_code == 0
    assert re.search(r"large +1 ms +500 us +0\.500 +0\.490 - 0\.510 +faster", result.output)
    assert re.search(r"small .* within noise", result.output)
    report = json.loads((tmp_path / "r.json").read_text())
    assert schema_problems(report, "diff-report") == []
    assert [item["verdict"] for item in report["performance"]["cases"]] == ["faster", "noise"]


def test_reports_beside_both_packages_are_compared(sources):
    old, new = sources()
    for folder, seconds in ((old, 1e-3), (new, 2e-3)):
        (folder / "build").mkdir()
        (folder / "build/bench-report.json").write_text(json.dumps(saved(("large", seconds))))
    assert re.search(r"large .* 2\.000 .* slower", run(old, new).output)
    (new / "build/bench-report.json").unlink()
    assert "Performance" not in run(old, new).output


def test_a_report_that_a_link_puts_beside_a_package_is_not_read(sources, tmp_path):
    old, new = sources()
    (tmp_path / "mine.json").write_text(json.dumps(saved(("mine", 1e-3))))
    for folder in (old, new):
        (folder / "build").mkdir()
        (folder / "build/bench-report.json").symlink_to(tmp_path / "mine.json")
    result = run(old, new)
    assert result.exit_code == 0
    assert "Performance" not in result.output
    assert "outside of the package's folder" in result.output and "--bench" in result.output


def test_what_is_wrong_with_either_report_is_said_at_once(sources, tmp_path):
    (tmp_path / "odd.json").write_text("{}")
    with (tmp_path / "long.json").open("wb") as file:
        file.truncate(2**40)
    result = run(*sources(), "--bench", tmp_path / "odd.json", tmp_path / "long.json")
    assert result.exit_code == 2
    assert "must be given" in result.output and "longer than 16,777,216 bytes" in result.output


def test_a_report_that_is_none_is_refused(sources, tmp_path):
    (tmp_path / "odd.json").write_text("{}")
    result = run(*sources(), "--bench", tmp_path / "odd.json", tmp_path / "odd.json")
    assert result.exit_code == 2 and "odd.json" in result.output


def test_what_is_wrong_with_either_package_is_said_at_once(sources, tmp_path):
    _, new = sources(put("inputs.x.dtype", 7))
    result = run(tmp_path / "nowhere", new)
    assert result.exit_code == 2
    assert "nowhere" in result.output and "$.inputs.x.dtype" in result.output and "Traceback" not in result.output


def test_a_report_that_cannot_be_written_is_refused_before_the_work(sources, tmp_path):
    result = run(*sources(), "--json", tmp_path / "no" / "report.json")
    assert result.exit_code == 2 and "no such folder" in result.output


def test_the_output_fits_a_narrow_terminal(sources):
    """On a terminal of 80 columns, made by a pseudo-terminal."""
    old, new = sources(put("typeConstraints.T", ["float32"]), put("derive.m", " + ".join(["n"] * 60)))
    reader, writer = pty.openpty()
    command = [sys.executable, "-m", "scanbuild", "diff", str(old), str(new)]
    environment = {**os.environ, "COLUMNS": "80", "TERM": "xterm"}
    process = subprocess.Popen(command, stdout=writer, stderr=writer, env=environment, cwd=REPOSITORY)
    os.close(writer)
    output = b""
    while True:
        try:
            chunk = os.read(reader, 4096)
        except OSError:
            break
        if not chunk:
            break
        output += chunk
    os.close(reader)
    assert process.wait() == 1
    plain = re.sub(r"\x1b\[[0-9;]*m", "", output.decode())
    assert "type `T`: float16, float32" not in plain and "type `T`: float32, int32 -> float32" in plain
    assert max(len(line.rstrip()) for line in plain.splitlines()) <= 80
    assert "\x1b[1;31mbreaking" in output.decode()
