"""``scanbuild verify --engine browser``, from the command line to the report."""

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from jsonschema import Draft202012Validator

from scanbuild.commands import verifying
from scanbuild.commands.browser_options import BrowserOptions
from scanbuild.commands.browsing import Devices
from scanbuild.commands.console import Console
from scanbuild.commands.verify import verify
from scanbuild.commands.verifying import VerifyOptions
from scanbuild.errors import NoAdapterError
from scanbuild.gpu.browser.code import terminal_code
from scanbuild.gpu.browser.launch import Browser, find_browser
from scanbuild.resources import data_folder
from tests.cases.packages import case, manifest, write_package

ROOT = Path(__file__).resolve().parent.parent.parent
CASES = [case("small", [1, 2], [2, 4]), case("whole", [5, -6], [10, -12], "int32")]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_package(tmp_path, manifest(), CASES)
    return tmp_path


@pytest.fixture
def chromium() -> None:
    try:
        find_browser("chromium")
    except NoAdapterError as error:
        pytest.skip(str(error))


@contextmanager
def running(folder: Path, *arguments: str) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-u", "-m", "scanbuild", "verify", *arguments]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "XDG_STATE_HOME": str(folder), "NO_COLOR": "1"}
    process = subprocess.Popen(
        command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def address(process: subprocess.Popen[str]) -> str:
    """The address that the command prints."""
    assert process.stdout is not None
    for line in process.stdout:
        found = re.search(r"https?://\S+/", line)
        if found:
            return found[0]
    raise AssertionError("it prints no address")


def report_in(folder: Path) -> Any:
    report = json.loads((folder / "report.json").read_text())
    schema = json.loads((data_folder("schemas") / "verify-report.schema.json").read_text())
    Draft202012Validator(schema).validate(report)
    return report


def test_a_launched_browser_verifies_a_package(folder: Path, chromium: None):
    arguments = ("--engine", "browser", "--launch", "chromium", "--json", "report.json")
    with running(folder, *arguments) as process:
        said, complaints = process.communicate(timeout=60)
    assert process.returncode == 0, complaints
    assert "2 passed on google swiftshader (Chrome" in said
    (run,) = report_in(folder)["runs"]
    assert (run["engine"], run["summary"]["passed"]) == ("browser", 2)
    assert run["adapter"]["backend"].startswith("Chrome")
    assert complaints == ""


def test_browsers_are_launched_one_after_another_and_those_missing_passed_over(folder: Path, chromium: None):
    options = VerifyOptions(
        roots=(folder,),
        engines=("browser",),
        every=True,
        browser=BrowserOptions(launch=("chromium", "/nowhere/chromium", str(find_browser("chromium")))),
        json_file=folder / "report.json",
    )
    assert verifying.run_verify(Console(), options) == 0
    report = report_in(folder)
    assert [run["summary"]["passed"] for run in report["runs"]] == [2, 2]
    assert len(report["missing"]) == 1


def test_devices_come_one_after_another_to_the_address_that_is_printed(folder: Path, chromium: None):
    with running(folder, "--engine", "browser", "--devices", "2", "--json", "report.json") as process:
        url = address(process)
        for _ in range(2):
            with Browser(find_browser("chromium"), url) as browser:
                browser.do(lambda page: page.wait_for_selector('#status[data-mood="good"]', timeout=30_000))
                assert browser.do(lambda page: page.inner_text("#headline")) == "All is well"
                assert browser.do(lambda page: page.inner_text("#detail")) == "2 passed"
        said, complaints = process.communicate(timeout=30)
    assert process.returncode == 0, complaints
    assert "Waiting for browser 2 of 2" in said
    assert [run["summary"]["passed"] for run in report_in(folder)["runs"]] == [2, 2]


def test_nobody_comes_and_the_command_says_so(folder: Path):
    with running(folder, "--engine", "browser", "--wait", "0.2") as process:
        said, complaints = process.communicate(timeout=30)
    assert process.returncode == 3
    assert "no browser came within 0.2 s" in complaints
    assert "Only this machine can open it" in said


def test_ctrl_c_while_it_waits_leaves_a_report(folder: Path):
    with running(folder, "--engine", "browser", "--json", "report.json") as process:
        address(process)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=30)
    assert process.returncode == 130
    report = report_in(folder)
    assert (report["complete"], report["runs"]) == (False, [])


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--launch", "chromium"], "--launch starts a browser for --engine browser"),
        (["--engine", "browser", "--launch", "chromium", "--devices", "2"], "--launch brings its devices"),
        (["--engine", "browser", "--launch", "chromium", "--host", "0.0.0.0"], "needs no --host"),
        (["--engine", "browser", "--adapter", "llvmpipe"], "a browser chooses its adapter itself"),
        (["--engine", "browser", "--wait", "nan"], "nan is no number of seconds"),
        (["--engine", "browser", "--certificate", "nowhere.pem"], "does not exist"),
        (["--engine", "browser", "--port", "70000"], "70000 is not in the range"),
    ],
)
def test_options_that_do_not_fit_are_refused(arguments: list[str], words: str):
    result = CliRunner().invoke(verify, arguments, obj=Console())
    assert result.exit_code == 2
    assert words in result.output


@pytest.mark.parametrize(
    ("arguments", "engines"),
    [
        (["--engine", "all"], ("wgpu", "dawn")),
        (["--engine", "all", "--launch", "chromium"], ("wgpu", "dawn", "browser")),
        (["--engine", "browser"], ("browser",)),
        (["--engine", "dawn"], ("dawn",)),
    ],
)
def test_all_engines_include_the_browser_only_where_one_is_launched(
    monkeypatch: pytest.MonkeyPatch, arguments: list[str], engines: tuple[str, ...]
):
    asked: list[VerifyOptions] = []
    monkeypatch.setattr(verifying, "run_verify", lambda console, options: asked.append(options))
    assert CliRunner().invoke(verify, arguments, obj=Console()).exit_code == 0
    assert asked[0].engines == engines


def test_a_browser_that_is_missing_is_noted_where_every_engine_is_tried(
    folder: Path, capsys: pytest.CaptureFixture[str]
):
    options = VerifyOptions(
        roots=(folder,),
        engines=("browser",),
        every=True,
        browser=BrowserOptions(launch=("/nowhere/chromium",)),
        json_file=folder / "report.json",
    )
    with pytest.raises(NoAdapterError, match="there is no browser '/nowhere/chromium'"):
        verifying.run_verify(Console(), options)
    assert report_in(folder)["missing"][0]["engine"] == "browser"
    assert "browser is not used: there is no browser" in capsys.readouterr().out


@pytest.mark.parametrize("package", ["aiohttp", "cryptography"])
def test_without_the_extra_the_engine_says_what_to_install(folder: Path, package: str):
    code = f"import sys; sys.modules[{package!r}] = None; import runpy; sys.argv[0] = 'scanbuild'; "
    code += "runpy.run_module('scanbuild', run_name='__main__')"
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "XDG_STATE_HOME": str(folder)}
    command = [sys.executable, "-c", code, "verify", "--engine", "browser", "--host", "0.0.0.0"]
    ran = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=60, check=False)
    assert ran.returncode == 3, ran.stderr
    assert f"the engine browser needs the Python package {package}, which is not installed" in ran.stderr
    assert "pip install 'scanbuild[browser]'" in ran.stderr


def test_browsers_adapters_are_not_listed():
    result = CliRunner().invoke(verify, ["--engine", "browser", "--list-adapters"], obj=Console())
    assert result.exit_code != 0
    assert "cannot be listed from here" in str(result.exception)


@pytest.mark.parametrize("host", ["127.0.0.1", "0.0.0.0"])
def test_in_a_terminal_the_address_is_a_code_too(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], host: str
):
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.delenv("NO_COLOR", raising=False)
    with (
        Devices(Console(), BrowserOptions(host=host, wait=0.1)) as devices,
        pytest.raises(NoAdapterError),
    ):
        next(devices.summons())()
    said = capsys.readouterr().out
    found = re.search(r"https?://\S+/", said)
    assert found is not None
    for line in terminal_code(found[0]):
        assert line in said
    assert ("SHA-256" in said) is (host == "0.0.0.0")
