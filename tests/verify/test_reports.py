"""Reports of a verification, made of results that no device has to give."""

import json
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
from jsonschema import Draft202012Validator

from scanbuild.cases.compiling import CompileResult
from scanbuild.cases.findings import KINDS, Finding
from scanbuild.cases.junit import junit_xml
from scanbuild.cases.page import html_page
from scanbuild.cases.report import Coverage, Fuzzing, Generated, Missing, RunReport, VerifyReport
from scanbuild.cases.run import CaseResult, failed
from scanbuild.commands.verify_output import annotations
from scanbuild.package.folder import open_folder
from scanbuild.resources import data_folder
from tests.cases.packages import case, manifest, variant, write_package

ADAPTER = {
    "name": "Toy",
    "vendor": "toys",
    "architecture": "",
    "driver": "",
    "backend": "Vulkan",
    "kind": "CPU",
    "software": True,
}
HOSTILE = "<script>alert('x')</script>\n::error ::\x1b[31m\ud800"


@pytest.fixture
def report(tmp_path: Path) -> VerifyReport:
    """A report with one of everything."""
    folder = write_package(tmp_path, manifest(variant("main"), variant("other")), [case(HOSTILE, [1], [2])])
    wrong = Finding(kind="wrong-value", message="y: 1 of 1 elements differ, 100% of them")
    results = (
        CaseResult(name="good", status="passed", variant="main", max_abs_error=0.0, max_ulp=0, seconds=0.001),
        failed(HOSTILE, wrong, Finding(kind="not-written", message=HOSTILE), variant="main"),
        failed("again", wrong, variant="other", forced=True),
        CaseResult(name="left out", status="skipped", message="todo: later"),
        CaseResult(
            name="unknown", status="noOracle", findings=(Finding(kind="no-oracle", message="nobody"),), message="nobody"
        ),
    )
    run = RunReport(
        manifest=open_folder(folder).manifest,
        folder=str(folder),
        engine="wgpu",
        adapter=ADAPTER,
        described="Toy (Vulkan)",
        results=results,
        compiled=(
            CompileResult(name="main/a.wgsl", status="compiled"),
            CompileResult(name="main/b.wgsl", status="failed", kind="compile", message="no such type"),
            CompileResult(name="main/c.wgsl", status="lacking", message="the device lacks shader-f16"),
        ),
        fuzzing=Fuzzing(seed=1, count=9, failures=(Generated(case={"name": "g"}, result=failed("g", wrong)),)),
    )
    coverage = Coverage(package="test.toys.Double", unreached=(Finding(kind="unreached", message="nothing: other"),))
    return VerifyReport(runs=(run,), missing=(Missing(engine="dawn", message="not there"),), coverage=(coverage,))


def test_the_json_is_as_its_schema_says(report: VerifyReport):
    schema = json.loads((data_folder("schemas") / "verify-report.schema.json").read_text())
    made = json.loads(json.dumps(report.to_json(), allow_nan=False))
    Draft202012Validator(schema).validate(made)
    assert (made["passed"], made["runs"][0]["summary"]["failed"]) == (False, 2)
    assert made["runs"][0]["variants"] == {"main": {"cases": 2, "runs": 2}, "other": {"cases": 0, "runs": 1}}
    assert schema["$defs"]["kind"]["enum"] == list(KINDS)


def test_junit_counts_what_failed_and_holds_what_xml_can_hold(report: VerifyReport):
    root = ElementTree.fromstring(junit_xml(report).encode())
    suite, coverage = root.findall("testsuite")
    assert {name: suite.get(name) for name in ("name", "tests", "failures", "skipped")} == {
        "name": "test.toys.Double on wgpu",
        "tests": "9",
        "failures": "5",
        "skipped": "2",
    }
    assert [item.get("type") for item in suite.iter("failure")] == [
        "wrong-value",
        "wrong-value",
        "no-oracle",
        "compile",
        "wrong-value",
    ]
    assert "again [other]" in [item.get("name") for item in suite.iter("testcase")]
    assert coverage.get("failures") == "1"


def test_the_page_needs_nothing_else_and_runs_nothing_of_a_package(report: VerifyReport):
    page = html_page(report)
    assert "<script" not in page
    assert "&lt;script&gt;alert(" in page
    assert not re.search(r"""(src|href)=|url\(|@import""", page)
    for words in ("Something is wrong.", "The engine dawn was not used", "1 of 3 compile here", "nothing: other"):
        assert words in page


def test_a_page_of_a_run_that_was_cut_short_says_so(report: VerifyReport):
    assert "The run was interrupted" in html_page(VerifyReport(runs=(), complete=False))


def test_annotations_name_file_and_line_and_no_package_can_forge_one(report: VerifyReport):
    lines = list(annotations(report))
    assert len(lines) == 6
    assert all(line.startswith("::error ") and "\n" not in line for line in lines)
    folder = report.runs[0].folder
    assert lines[1] == (
        f"::error title=test.toys.Double on wgpu%3A again,file={folder}/test.json,line=1"
        "::y: 1 of 1 elements differ, 100%25 of them"
    )
    assert "%0A::error ::" in lines[0]
    assert lines[-1] == "::error title=test.toys.Double%3A coverage::nothing: other"
