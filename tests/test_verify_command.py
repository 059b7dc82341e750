"""``scanbuild verify``, from the command line to the report."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from jsonschema import Draft202012Validator

from scanbuild.cases.origin import remember_build
from scanbuild.commands import main
from scanbuild.errors import NoAdapterError
from scanbuild.gpu import choose_adapter
from scanbuild.resources import data_folder
from tests.cases.packages import DOUBLE, case, manifest, sign, variant, write_package

GOOD = [case("small", [1, 2], [2, 4]), case("whole", [5, -6], [10, -12], "int32")]
REFERENCE = "def reference(inputs, attrs, args):\n    return {'y': 2.0 * inputs['x']}\n"


@pytest.fixture(scope="module", autouse=True)
def _adapter() -> None:
    try:
        choose_adapter()
    except NoAdapterError as error:
        pytest.skip(str(error))


def verify(*arguments: object, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run the command in a process of its own, as users do."""
    return subprocess.run(
        [sys.executable, "-m", "scanbuild", "verify", *map(str, arguments)],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parent.parent), "XDG_STATE_HOME": str(cwd), **environment},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def report_of(tmp_path: Path, *arguments: object) -> tuple[dict[str, Any], subprocess.CompletedProcess[str]]:
    """The one run of a report, and the process that wrote it."""
    ran = verify(*arguments, "--json", tmp_path / "report.json", cwd=tmp_path)
    file = tmp_path / "report.json"
    assert file.is_file(), ran.stderr
    (run,) = read_report(file)["runs"]
    return run, ran


def read_report(file: Path) -> dict[str, Any]:
    """A report, once it is found to be as its schema says."""
    report: dict[str, Any] = json.loads(file.read_text())
    schema = json.loads((data_folder("schemas") / "verify-report.schema.json").read_text())
    Draft202012Validator(schema).validate(report)
    return report


def test_a_good_package_passes_and_the_report_says_so(tmp_path: Path):
    write_package(tmp_path, manifest(), GOOD)
    report, ran = report_of(tmp_path)
    assert ran.returncode == 0, ran.stderr
    assert report["package"] == "test.toys.Double"
    assert report["summary"] == {"passed": 2, "failed": 0, "skipped": 0, "noOracle": 0}
    assert [(item["name"], item["variant"], item["maxAbsError"], item["maxUlp"]) for item in report["cases"]] == [
        ("small", "main", 0, 0),
        ("whole", "main", 0, None),
    ]
    assert report["variants"] == {"main": {"cases": 2, "runs": 2}}
    assert "2 passed on" in ran.stdout
    assert report["adapter"]["name"] in ran.stdout
    assert ("software" in ran.stdout) is report["adapter"]["software"]
    assert ran.stderr == ""


def test_a_wrong_value_fails_with_its_place(tmp_path: Path):
    write_package(tmp_path, manifest(), [case("off", [1, 2], [2, 5]), GOOD[0]])
    report, ran = report_of(tmp_path)
    assert ran.returncode == 1
    assert [item["status"] for item in report["cases"]] == ["failed", "passed"]
    assert report["cases"][0]["maxAbsError"] == 1
    assert "off: y: 1 of 2 elements differ; the first is element 1: got 4.0, expected 5.0" in ran.stderr
    assert "FAILED" in ran.stdout


def test_an_edited_file_is_found_before_anything_runs(tmp_path: Path):
    folder = write_package(tmp_path, manifest(), GOOD)
    (folder / "double.wgsl.jinja").write_text(DOUBLE + "\n")
    (folder / "more.txt").write_text("")
    ran = verify(cwd=tmp_path)
    assert ran.returncode == 1
    assert "double.wgsl.jinja" in ran.stderr
    assert "more.txt" in ran.stderr
    assert ran.stdout == ""


BROKEN = {
    "syntax": "fn main( {",
    "no_main": "@compute @workgroup_size(64) fn other() {}",
    "writes_an_input": DOUBLE.replace("y[id.x] =", "x[id.x] ="),
    "template": "{{ nothing.of.this }}",
    "workgroup": DOUBLE.replace("workgroup_size(64)", "workgroup_size(99999)"),
}


def test_cases_whose_shaders_are_refused_fail_and_the_others_run(tmp_path: Path):
    variants = [
        variant(name, f"{name}.wgsl.jinja", priority=1, when=[f"shapes.x[0] == {count}"])
        for count, name in enumerate(BROKEN, start=3)
    ]
    cases = [case(name, [1.0] * count, [2.0] * count) for count, name in enumerate(BROKEN, start=3)]
    shaders = {f"{name}.wgsl.jinja": text for name, text in BROKEN.items()}
    write_package(tmp_path, manifest(*variants, variant("main")), [GOOD[0], *cases, GOOD[1]], shaders)
    report, ran = report_of(tmp_path)
    assert ran.returncode == 1
    assert [item["status"] for item in report["cases"]] == ["passed", *["failed"] * len(BROKEN), "passed"]
    for item, name in zip(report["cases"][1:], BROKEN, strict=False):
        assert f"{name}.wgsl.jinja" in item["message"]


SLOW = """{{ env.wgsl.resourceDeclarations }}
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  var value = u32(x[0]) + id.x;
  for (var i = 0u; i < 60000u; i++) { value = value * 1664525u + (value >> 3u) + 1013904223u; }
  if (id.x < params.n) { y[id.x] = {{ T }}(value); }
}
"""


def test_a_case_that_does_not_end_fails_and_the_others_run(tmp_path: Path):
    slow = variant("slow", "slow.wgsl.jinja", priority=1, when=["shapes.x[0] == 3"])
    slow["passes"][0]["dispatch"] = {"x": 65535, "y": 65535}
    cases = [case("hangs", [1, 2, 3], [2, 4, 6]), *GOOD]
    write_package(tmp_path, manifest(slow, variant("main")), cases, {"slow.wgsl.jinja": SLOW})
    report, ran = report_of(tmp_path, "--timeout", 1)
    assert ran.returncode == 1
    assert [item["status"] for item in report["cases"]] == ["failed", "passed", "passed"]
    assert "did not end its work within 1 s" in report["cases"][0]["message"]


def test_a_variant_no_case_reached_is_named(tmp_path: Path):
    write_package(tmp_path, manifest(variant("main"), variant("never")), GOOD)
    report, ran = report_of(tmp_path)
    assert report["variants"]["never"] == {"cases": 0, "runs": 0}
    assert "No case reached on this device: never" in ran.stdout


def test_reaching_another_variant_than_expected_fails(tmp_path: Path):
    first, second = variant("first"), variant("second", when=["shapes.x[0] > 9"], priority=1)
    write_package(tmp_path, manifest(first, second), [case("aims", [1], [2], expectVariant="second")])
    report, ran = report_of(tmp_path)
    assert ran.returncode == 1
    assert "expected variant second, first ran: `shapes.x[0] > 9` is false" in report["cases"][0]["message"]


def test_a_variant_that_the_device_cannot_run_is_not_expected(tmp_path: Path):
    demanding = variant("second", priority=1, requires={"limits": {"maxComputeWorkgroupSizeZ": 1024}})
    write_package(tmp_path, manifest(variant("first"), demanding), [case("aims", [1], [2], expectVariant="second")])
    report, ran = report_of(tmp_path)
    assert (ran.returncode, report["cases"][0]["variant"]) == (0, "first")


def test_a_skipped_case_is_explained_and_does_not_count_as_failed(tmp_path: Path):
    skipped = case("later", [1], [3], skipGpu={"category": "todo", "reason": "not yet"})
    write_package(tmp_path, manifest(), [skipped, GOOD[0]])
    report, ran = report_of(tmp_path)
    assert ran.returncode == 0
    assert report["cases"][0] == {
        "name": "later",
        "variant": None,
        "status": "skipped",
        "maxAbsError": None,
        "maxUlp": None,
        "seconds": 0,
        "message": "todo: not yet",
    }


def test_without_a_reference_there_is_no_oracle_which_is_no_pass(tmp_path: Path):
    folder = write_package(tmp_path, manifest(), [case("open", [1], None)])
    (folder / "reference.py").write_text(REFERENCE)
    sign(folder)
    report, ran = report_of(tmp_path)
    assert (ran.returncode, report["summary"]["noOracle"]) == (1, 1)
    assert "--source" in ran.stdout
    assert "error: open: there is no oracle: y: no reference is known" in ran.stderr


def test_cases_that_fail_of_the_same_share_their_complaint(tmp_path: Path):
    write_package(tmp_path, manifest(), [case(f"open{index}", [1], None) for index in range(7)])
    _, ran = report_of(tmp_path)
    assert ran.stderr.count("error:") == 1
    assert "open0, open1, open2, open3, open4 and 2 other cases: there is no oracle" in ran.stderr


@pytest.mark.parametrize(
    ("name", "words"), [(".", "this is a folder"), ("none/report.json", "there is no such folder")]
)
def test_a_report_that_cannot_be_written_is_told_before_the_cases_run(tmp_path: Path, name: str, words: str):
    write_package(tmp_path, manifest(), GOOD)
    ran = verify("--json", name, cwd=tmp_path)
    assert (ran.returncode, ran.stdout) == (2, "")
    assert words in ran.stderr


def test_a_time_limit_is_a_number(tmp_path: Path):
    assert verify("--timeout", "nan", cwd=tmp_path).returncode == 2


def test_a_named_source_gives_the_reference(tmp_path: Path):
    write_package(tmp_path, manifest(), [case("open", [1, 2], None)])
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "reference.py").write_text(REFERENCE)
    report, ran = report_of(tmp_path, "--source", tmp_path / "mine")
    assert (ran.returncode, report["summary"]["passed"]) == (0, 1)


def test_a_reference_that_raises_fails_its_case(tmp_path: Path):
    write_package(tmp_path, manifest(), [case("open", [1, 2], None), GOOD[0]])
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "reference.py").write_text(REFERENCE.replace("2.0", "1 // 0"))
    report, _ = report_of(tmp_path, "--source", tmp_path / "mine")
    assert [item["status"] for item in report["cases"]] == ["failed", "passed"]
    assert "ZeroDivisionError" in report["cases"][0]["message"]


def test_a_worker_that_dies_costs_one_case(tmp_path: Path):
    write_package(tmp_path, manifest(), [case("open", [1, 2], None), GOOD[0]])
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "reference.py").write_text(f"import os\n{REFERENCE.replace('2.0', 'os.abort() or 2.0')}")
    report, _ = report_of(tmp_path, "--source", tmp_path / "mine")
    assert [item["status"] for item in report["cases"]] == ["failed", "passed"]
    assert "ended unexpectedly" in report["cases"][0]["message"]


def test_a_pattern_chooses_cases(tmp_path: Path):
    write_package(tmp_path, manifest(), GOOD)
    report, _ = report_of(tmp_path, "-k", "WHO")
    assert [item["name"] for item in report["cases"]] == ["whole"]
    none = verify("-k", "nothing", cwd=tmp_path)
    assert (none.returncode, "no case matches 'nothing'" in none.stderr) == (2, True)


def test_the_folder_itself_may_be_named(tmp_path: Path):
    folder = write_package(tmp_path, manifest(), GOOD)
    assert verify(folder, "-q", cwd=tmp_path).stdout == ""


@pytest.mark.parametrize(
    ("arguments", "status", "words"),
    [
        (["elsewhere"], 2, "there is no such folder"),
        (["."], 2, "there is no built package here"),
        (["root", "--adapter", "no such adapter"], 3, "no adapter of wgpu matches"),
        (["root", "--source", "root"], 2, "there is no reference.py"),
        (["root", "--engine", "metal"], 2, "metal"),
        (["root", "--json", "nowhere/report.json"], 2, "no such folder to write the report to"),
    ],
)
def test_what_cannot_be_verified_says_why(tmp_path: Path, arguments: list[str], status: int, words: str):
    write_package(tmp_path / "root", manifest(), GOOD)
    ran = verify(*arguments, cwd=tmp_path)
    assert ran.returncode == status
    assert words in ran.stderr
    assert "Traceback" not in ran.stderr


def test_a_package_without_cases_is_wrong_input(tmp_path: Path):
    write_package(tmp_path, manifest(), None)
    ran = verify(cwd=tmp_path)
    assert (ran.returncode, "no test cases" in ran.stderr) == (2, True)


def test_broken_cases_are_told_with_line_and_column(tmp_path: Path):
    folder = write_package(tmp_path, manifest(), GOOD)
    (folder / "test.json").write_text('{\n "cases": [\n  {"name": 3, "inputs": {}, "outputs": {}}\n ]\n}\n')
    sign(folder)
    ran = verify(cwd=tmp_path)
    assert ran.returncode == 2
    assert "test.json:3:12: $.cases[0].name" in ran.stderr
    assert "$.cases[0].outputs" in ran.stderr


def test_broken_metadata_is_told_with_its_whole_path(tmp_path: Path):
    folder = write_package(tmp_path, manifest(), GOOD)
    (folder / "metadata.json").write_text("{")
    ran = verify(folder, cwd=tmp_path)
    assert (ran.returncode, f"{folder / 'metadata.json'}:1:2" in ran.stderr) == (2, True)


def test_names_from_a_package_do_not_steer_the_terminal(tmp_path: Path):
    write_package(tmp_path, manifest(), [case("red \x1b[31m \ud800", [1], [3])])
    ran = verify(cwd=tmp_path)
    assert "\x1b" not in ran.stdout + ran.stderr
    assert "red \\x1b[31m \\ud800" in ran.stdout


def test_adapters_are_listed(tmp_path: Path):
    ran = verify("--list-adapters", cwd=tmp_path)
    assert ran.returncode == 0
    assert choose_adapter().describe() in ran.stdout.splitlines()
    assert ran.stderr == ""


def test_a_build_that_is_older_than_its_source_is_told_by_verify_and_publish(tmp_path: Path, monkeypatch):
    folder = write_package(tmp_path, manifest(), GOOD)
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "double.wgsl.jinja").write_text(DOUBLE)
    assert remember_build(folder, mine, tmp_path / "scanbuild" / "builds")
    assert verify(cwd=tmp_path).stderr == ""
    (mine / "double.wgsl.jinja").write_text(DOUBLE + "\n")
    told = (
        "warning: build/webgpu: the package is older than its source: double.wgsl.jinja was edited since it was "
        "rendered\n  hint: run scanbuild render mine\n"
    )
    ran = verify(cwd=tmp_path)
    assert (ran.returncode, ran.stderr) == (0, told)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    published = CliRunner().invoke(main, ["publish"])
    assert (published.exit_code, published.stderr) == (0, told)


def test_from_the_folder_of_the_source_the_build_above_is_named(tmp_path: Path):
    write_package(tmp_path, manifest(), GOOD)
    source = tmp_path / "templates" / "test.toys.Double"
    source.mkdir(parents=True)
    ran = verify(cwd=source)
    assert ran.returncode == 2
    assert ran.stderr.endswith("\n  hint: there is one in ../..: work from there, or name it\n")
    ran = verify("templates/test.toys.Double", cwd=tmp_path)
    assert ran.stderr.endswith("\n  hint: there is one in the current folder: build/webgpu\n")
