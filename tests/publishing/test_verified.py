"""A push asks for a report of verify on these very bytes; one that does not do is refused in words of its own."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.publishing.local_hub import LocalHub
from tests.publishing.pushing import built, git, good_push, leave, push, run, sources, verified

pytestmark = pytest.mark.usefixtures("forgotten")

REPORT = Path("build/verify-report.json")


def changed(change: Callable[[dict[str, Any]], object]) -> None:
    """Change the report that lies beside the package."""
    report = json.loads(REPORT.read_text())
    change(report)
    REPORT.write_text(json.dumps(report))


def fail(report: dict[str, Any]) -> None:
    report["passed"] = False
    report["runs"][0]["cases"][1]["status"] = "failed"


def interrupt(report: dict[str, Any]) -> None:
    report["passed"] = report["complete"] = report["runs"][0]["complete"] = False
    del report["runs"][0]["cases"][1:]


def leave_out(report: dict[str, Any]) -> None:
    del report["runs"][0]["cases"][1:]


def skip(report: dict[str, Any]) -> None:
    for case in report["runs"][0]["cases"]:
        case["status"] = "skipped"


def run_nothing(report: dict[str, Any]) -> None:
    report["runs"] = []


def forget_digest(report: dict[str, Any]) -> None:
    del report["runs"][0]["digest"]


def fail_compiling(report: dict[str, Any]) -> None:
    report["passed"] = False
    report["runs"][0]["shaders"] = [{"name": "plain/double.wgsl", "status": "failed", "message": "no"}]


def fail_fuzzing(report: dict[str, Any]) -> None:
    report["passed"] = False
    result = {**report["runs"][0]["cases"][0], "name": "generated", "status": "failed"}
    report["runs"][0]["generated"] = {
        "seed": 0,
        "count": 1,
        "unjudged": 0,
        "failures": [{"case": {}, "result": result}],
    }


def miss_a_variant(report: dict[str, Any]) -> None:
    report["passed"] = False
    report["coverage"] = [{"package": "org.example.Twice", "unreached": ["no case reaches plain"]}]


def fail_another_package(report: dict[str, Any]) -> None:
    report["passed"] = False
    other = json.loads(json.dumps(report["runs"][0]))
    other["digest"], other["cases"][0]["status"] = "another", "failed"
    report["runs"].append(other)


def fail_unknowably(report: dict[str, Any]) -> None:
    report["passed"] = False


def lack_an_oracle(report: dict[str, Any]) -> None:
    report["passed"] = False
    report["runs"][0]["cases"][0]["status"] = "noOracle"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (fail, "the verification failed: empty"),
        (lack_an_oracle, "the verification failed: small"),
        (interrupt, "the verification was interrupted"),
        (leave_out, "only a part was verified: 1 of 3 cases"),
        (skip, "no case passed"),
        (run_nothing, "nothing was verified: the report holds no run"),
        (forget_digest, "the report does not say which bytes were verified"),
        (fail_compiling, "the verification failed: plain/double.wgsl"),
        (fail_fuzzing, "the verification failed: generated"),
        (miss_a_variant, "the verification failed: no case reaches plain"),
        (fail_unknowably, "the verification failed"),
    ],
)
def test_a_report_that_does_not_speak_for_the_package_is_refused_in_its_own_words(
    package, hub: LocalHub, change: Callable[[dict[str, Any]], object], said: str
):
    changed(change)
    result = push()
    assert result.exit_code == 1
    assert f"error: build/verify-report.json: {said}" in result.stderr
    assert result.stderr.count("error:") == 1 and "scanbuild verify build/webgpu, or give --force" in result.stderr
    assert hub.journal == []


def test_force_makes_a_warning_of_a_report_that_does_not_speak_for_the_package(package, hub: LocalHub):
    changed(fail)
    result = push("--force")
    said = "warning: build/verify-report.json: the verification failed: empty"
    assert (result.exit_code, said in result.stderr) == (0, True)


def test_no_report_is_told_with_the_command_that_makes_one(package, hub: LocalHub):
    REPORT.unlink()
    result = push()
    assert (result.exit_code, "was not verified: there is no report" in result.stderr) == (1, True)
    assert "run scanbuild verify build/webgpu" in result.stderr


def test_bytes_that_were_not_verified_are_refused_though_others_of_the_kernel_were(tmp_path, package, hub: LocalHub):
    git(tmp_path / "sources", "commit", "--allow-empty", "-qm", "another commit, the same sources")
    built(tmp_path / "sources" / "Twice")
    result = push()
    assert (result.exit_code, "the report is of other bytes" in result.stderr) == (1, True)


def test_a_package_that_was_edited_after_it_was_verified_is_refused(package, hub: LocalHub):
    (package / "bench.json").write_text("{}")
    result = push()
    assert (result.exit_code, "bench.json: the file's digest is" in result.stderr) == (1, True)


def test_a_report_elsewhere_can_be_named(tmp_path, package, hub: LocalHub):
    elsewhere = REPORT.rename(tmp_path / "report.json")
    assert push().exit_code == 1
    good_push("--verified", elsewhere)


def test_a_report_of_several_packages_and_engines_does(package, hub: LocalHub):
    def change(report: dict[str, Any]) -> None:
        run_of_it = report["runs"][0]
        report["runs"] += [{**run_of_it, "digest": "of another", "cases": []}, {**run_of_it, "cases": []}]

    changed(change)
    good_push()


def test_a_report_in_which_another_package_failed_does(package, hub: LocalHub):
    changed(fail_another_package)
    good_push()


def test_findings_that_were_allowed_are_told(package, hub: LocalHub):
    changed(
        lambda report: report["runs"][0]["cases"][0].update(findings=[{"kind": "zero-fill", "message": "it is needed"}])
    )
    result = push()
    assert (result.exit_code, "passed over findings: zero-fill" in result.stderr) == (0, True)


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", "{}", '{"version": 1}', '{"version": 2, "complete": true, "passed": true, "runs": [{}]}', "\0"],
)
def test_a_file_that_is_no_report_is_wrong_input(package, hub: LocalHub, text: str):
    REPORT.write_text(text)
    result = push()
    assert result.exit_code == 2 and "build/verify-report.json" in result.stderr
    assert hub.journal == []


@pytest.mark.parametrize("broken", [{"cases": [{}]}, {"cases": 1}, {"complete": "no"}, {"cases": ["x"]}])
def test_a_report_too_long_for_its_schema_is_not_trusted_either(package, hub: LocalHub, broken: dict[str, Any]):
    def change(report: dict[str, Any]) -> None:
        report["padding"] = list(range(20_000))
        report["runs"][0].update(broken)

    changed(change)
    result = push()
    assert result.exit_code in (1, 2) and "build/verify-report.json" in result.stderr


def test_a_report_that_is_not_there_is_wrong_usage(package, hub: LocalHub):
    assert push("--verified", "nowhere.json").exit_code == 2


def test_a_copy_of_a_package_goes_by_the_report_in_build(package, hub: LocalHub):
    assert run("publish").exit_code == 0
    good_push("dist/org.example.Twice")


def test_a_package_elsewhere_has_no_report_of_its_own(tmp_path, package, hub: LocalHub):
    elsewhere, report = package.rename(tmp_path / "bare"), REPORT.rename(tmp_path / "report.json")
    result = push(elsewhere)
    assert (result.exit_code, f"run scanbuild verify {elsewhere}" in result.stderr) == (1, True)
    good_push(elsewhere, "--verified", report)


def test_a_package_without_cases_was_not_verified(tmp_path, hub: LocalHub):
    folder = built(sources(tmp_path / "sources", {"Twice/test.json": {"cases": []}}))
    leave(folder, verified(folder))
    result = push()
    assert (result.exit_code, "no case passed" in result.stderr) == (1, True)


def test_a_report_without_end_is_refused_and_not_read_to_it(tmp_path, package, hub: LocalHub):
    long = tmp_path / "long.json"
    with long.open("wb") as file:
        file.truncate(2**40)
    result = push("--verified", long)
    assert result.exit_code == 2
    assert "longer than" in result.output
    assert not hub.repositories
