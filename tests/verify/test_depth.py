"""Variants, coverage, shaders of other devices, several packages and workers, from the command line."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from scanbuild.errors import NoAdapterError
from scanbuild.gpu import choose_adapter
from scanbuild.resources import data_folder
from tests.cases.packages import DOUBLE, manifest, sign, variant, write_package
from tests.test_verify_command import GOOD, read_report, verify

ROOT = Path(__file__).resolve().parents[2]
TRIPLE = DOUBLE.replace("x[id.x] + x[id.x]", "x[id.x] + x[id.x] + x[id.x]")
ADDING = DOUBLE.replace("y[id.x] =", "y[id.x] +=")


@pytest.fixture(autouse=True)
def _adapter() -> None:
    try:
        choose_adapter()
    except NoAdapterError as error:
        pytest.skip(str(error))


def test_a_wrong_variant_behind_a_right_one_is_found_and_called_by_name(tmp_path: Path):
    made = manifest(variant("first", priority=1), variant("second", "triple.wgsl.jinja"))
    write_package(tmp_path / "a", made, GOOD, {"triple.wgsl.jinja": TRIPLE})
    write_package(tmp_path / "b", manifest(variant("only")), GOOD)
    arguments = ["a", "b", "--all-variants", "--require-coverage", "-j", 2, "--json", "report.json"]
    ran = verify(*arguments, cwd=tmp_path)
    report = read_report(tmp_path / "report.json")
    first, second = report["runs"]
    assert ran.returncode == 1
    seen = [(item["name"], item["variant"], item.get("forced", False), item["status"]) for item in first["cases"]]
    assert seen == [
        ("small", "first", False, "passed"),
        ("small", "second", True, "failed"),
        ("whole", "first", False, "passed"),
        ("whole", "second", True, "failed"),
    ]
    assert "small [second]: y: 2 of 2 elements differ" in ran.stderr
    assert (second["package"], second["summary"]["passed"]) == ("test.toys.Double", 2)
    nothing = "nothing reaches the variant second: first (priority 1) goes before it in small and 1 other cases"
    assert report["coverage"] == [
        {"package": "test.toys.Double", "unreached": [nothing]},
        {"package": "test.toys.Double", "unreached": []},
    ]


def test_shaders_of_devices_that_are_not_here_are_compiled_and_what_is_lacking_is_said(tmp_path: Path):
    folder = write_package(tmp_path, manifest(), GOOD)
    (folder / "rendered" / "main").mkdir(parents=True)
    main = "@compute @workgroup_size({}) fn main() {{}}"
    texts = {
        "good": main.format(64),
        "broken": "fn main( {",
        "matrix": "enable chromium_experimental_subgroup_matrix;\n" + main.format(1),
        "wide": main.format(2048),
    }
    for name, text in texts.items():
        (folder / "rendered" / "main" / f"{name}.wgsl").write_text(text)
    sign(folder)
    ran = verify("--compile", "--json", "report.json", cwd=tmp_path)
    run, *others = read_report(tmp_path / "report.json")["runs"]
    found = {Path(item["name"]).stem: item for item in run["shaders"]}
    assert ran.returncode == 1
    assert {name: item["status"] for name, item in found.items()} == {
        "good": "compiled",
        "broken": "failed",
        "matrix": "lacking",
        "wide": "lacking",
    }
    assert found["matrix"]["message"] == "the device lacks chromium-experimental-subgroup-matrix"
    assert "error: main/broken.wgsl: " in ran.stderr
    assert "1 of 4 rendered shaders compile on wgpu" in ran.stdout
    # Other engines that are present compile them, too, without running a case.
    for other in others:
        assert (other["engine"], other["cases"]) == ("dawn", [])
        assert [item["status"] for item in other["shaders"]] == ["failed", "compiled", "lacking", "lacking"]


def test_a_kind_of_finding_can_be_allowed_and_is_told_all_the_same(tmp_path: Path):
    write_package(tmp_path, manifest(variant("main", "adding.wgsl.jinja")), GOOD, {"adding.wgsl.jinja": ADDING})
    ran = verify("--json", "report.json", cwd=tmp_path)
    assert ran.returncode == 1
    assert "y: all 2 elements rely on zero-filled output" in ran.stderr
    ran = verify("--allow", "zero-fill", "--json", "report.json", cwd=tmp_path)
    assert ran.returncode == 0
    (run,) = read_report(tmp_path / "report.json")["runs"]
    assert [[finding["kind"] for finding in item["findings"]] for item in run["cases"]] == [["zero-fill"]] * 2


def test_what_does_not_go_together_or_is_not_there_is_told(tmp_path: Path):
    write_package(tmp_path, manifest(), GOOD)
    ran = verify("--require-coverage", "-k", "small", cwd=tmp_path)
    assert (ran.returncode, "-k leaves some out" in ran.stderr) == (2, True)
    ran = verify(".", "nowhere", "tests", cwd=tmp_path)
    assert ran.returncode == 2
    assert all(f"{name}: there is no such folder" in ran.stderr for name in ("nowhere", "tests"))
    assert ran.stderr.count("error:") == 2
    ran = verify("--allow", "zero-fil", cwd=tmp_path)
    assert (ran.returncode, "zero-fill" in ran.stderr) == (2, True)


@pytest.mark.long
def test_the_scan_is_right_on_every_engine_and_variant(tmp_path: Path):
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "XDG_STATE_HOME": str(tmp_path)}
    command = [sys.executable, "-m", "scanbuild"]
    source = data_folder("templates") / "ai.onnx.Scan"
    subprocess.run([*command, "render", str(source)], cwd=tmp_path, env=environment, check=True)
    arguments = ["verify", "--engine", "all", "--all-variants", "--compile", "-q", "--json", "report.json"]
    ran = subprocess.run(
        [*command, *arguments], check=False, cwd=tmp_path, env=environment, capture_output=True, text=True
    )
    report = read_report(tmp_path / "report.json")
    assert ran.returncode == 0, ran.stderr
    assert "wgpu" in {run["engine"] for run in report["runs"]}
    for run in report["runs"]:
        assert run["summary"]["failed"] == run["summary"]["noOracle"] == 0
        assert run["summary"]["passed"] > 300
        assert all(item["status"] != "failed" for item in run["shaders"])
