"""The frame of the command line: help, exit statuses, and how failures look."""

import os
import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from scanbuild import __version__, commands
from scanbuild.commands import main
from scanbuild.commands.console import write_report
from scanbuild.errors import CheckFailedError, InputError, NoAdapterError, Problem


def run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, **environment}
    return subprocess.run(
        [sys.executable, "-m", "scanbuild", *arguments], capture_output=True, text=True, env=env, check=False
    )


@pytest.fixture
def failing(monkeypatch):
    """A way to run a command that raises what it is told to."""

    def invoke(failure: BaseException, *arguments: str):
        def body() -> None:
            raise failure

        monkeypatch.setattr(commands.CommandGroup, "get_command", lambda *_: click.Command("verify", callback=body))
        return CliRunner().invoke(main, [*arguments, "verify"])

    return invoke


def test_help_names_every_command_and_exit_status():
    result = CliRunner().invoke(main, ["--help"])
    assert result.exit_code == 0
    for name in commands.COMMANDS:
        assert f"\n  {name} " in result.output
    for status in "01234":
        assert f"\n    {status}  " in result.output


def test_help_is_there_at_once():
    """Processor time, since the machine may be busy."""
    seconds = []
    for _ in range(3):
        before = os.times()
        assert run("--help").returncode == 0
        after = os.times()
        seconds.append(after.children_user + after.children_system - before.children_user - before.children_system)
    assert min(seconds) < 0.3


def test_help_imports_no_library_but_click():
    probe = "import sys; from scanbuild.commands import main\ntry: main(['--help'])\nexcept SystemExit: pass\n"
    heavy = ["numpy", "wgpu", "jinja2", "jsonschema", "rich"]
    done = subprocess.run(
        [sys.executable, "-c", probe + f"print('LOADED', [name for name in {heavy} if name in sys.modules])"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.splitlines()[-1] == "LOADED []"


@pytest.mark.parametrize("name", list(commands.COMMANDS))
def test_every_command_has_help_with_examples(name):
    result = CliRunner().invoke(main, [name, "--help"])
    assert result.exit_code == 0
    assert "xample" in result.output
    assert f"scanbuild {name}" in result.output


def test_the_version_is_told():
    result = CliRunner().invoke(main, ["--version"])
    assert (result.exit_code, result.output) == (0, f"scanbuild {__version__}\n")


def test_python_m_runs_the_same_commands():
    done = run("--version")
    assert (done.returncode, done.stdout) == (0, f"scanbuild {__version__}\n")


@pytest.mark.parametrize("arguments", [["rendr"], ["render", "--no-such-option"], ["--no-such-option"]], ids=" ".join)
def test_a_wrong_command_line_is_wrong_input(arguments):
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == 2
    assert "--help" in result.stderr


def test_a_misspelt_command_brings_the_nearest_one():
    assert "did you mean 'render'?" in CliRunner().invoke(main, ["rendr"]).stderr


@pytest.mark.parametrize(
    ("failure", "status"),
    [(CheckFailedError("x"), 1), (InputError("x"), 2), (NoAdapterError("x"), 3), (click.ClickException("x"), 2)],
)
def test_each_kind_of_failure_has_its_status(failing, failure, status):
    result = failing(failure)
    assert result.exit_code == status
    assert "Traceback" not in result.output


def test_every_problem_is_shown_with_its_place_and_hint(failing):
    problems = [
        Problem(
            message="no such key", file="manifest.json", line=3, column=7, path="$.inputs", hint="did you mean 'x'?"
        ),
        Problem(message="look here", file="test.json", severity="warning"),
    ]
    assert failing(InputError(*problems)).stderr == (
        "error: manifest.json:3:7: $.inputs: no such key\n  hint: did you mean 'x'?\nwarning: test.json: look here\n"
    )


def test_quiet_leaves_the_errors(failing):
    problems = [Problem(message="bad"), Problem(message="hm", severity="warning")]
    assert failing(InputError(*problems), "-q").stderr == "error: bad\n"


def test_a_package_cannot_steer_the_terminal(failing):
    shown = failing(InputError("\x1b]0;owned\x07 \ud800 \u202e")).stderr
    assert shown == "error: \\x1b]0;owned\\x07 \\ud800 \\u202e\n"


def test_a_file_that_cannot_be_written_is_no_internal_fault(failing):
    result = failing(PermissionError(13, "Permission denied", "/somewhere"))
    assert (result.exit_code, result.stderr) == (2, "error: /somewhere: permission denied\n")


def test_an_internal_fault_says_where_its_report_is(failing, tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    result = failing(KeyError("surprise"))
    assert result.exit_code == 4
    assert "internal fault: KeyError: 'surprise'" in result.stderr
    assert "Traceback" not in result.stderr
    (report,) = tmp_path.iterdir()
    assert str(report) in result.stderr
    assert "Traceback" in report.read_text()


def test_debug_shows_the_traceback_instead(failing, tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    result = failing(KeyError("surprise"), "--debug")
    assert result.exit_code == 4
    assert "Traceback" in result.stderr
    assert list(tmp_path.iterdir()) == []


def test_an_interruption_ends_with_the_status_of_its_signal(failing):
    result = failing(KeyboardInterrupt())
    assert (result.exit_code, result.stderr) == (130, "error: interrupted\n")


def test_a_reader_that_leaves_is_no_failure():
    """As with ``scanbuild COMMAND | head -0``: no message, and not the status of a failed check."""
    probe = (
        "import click; from scanbuild import commands\n"
        "def body():\n for _ in range(100000): click.echo('x' * 100)\n"
        "commands.CommandGroup.get_command = lambda *_: click.Command('verify', callback=body)\n"
        "commands.main(['verify'])"
    )
    with subprocess.Popen([sys.executable, "-c", probe], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None and process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 141


def test_colour_is_left_out_in_a_pipe():
    assert "\x1b" not in run("render", "/nonexistent").stderr


@pytest.mark.skipif(not Path("/dev/fd").exists(), reason="the system gives open files no names")
def test_a_report_goes_into_a_pipe_that_has_a_name(tmp_path):
    """As with ``--json >(jq .)``, which a shell turns into a name like this."""
    reading, writing = os.pipe()
    write_report(Path(f"/dev/fd/{writing}"), "{}\n")
    os.close(writing)
    with os.fdopen(reading) as pipe:
        assert pipe.read() == "{}\n"


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp1252"])
def test_characters_that_an_output_cannot_hold_are_spelled_out(tmp_path, encoding):
    words = ("my.kernels.Sum", "--yes", "--out", str(tmp_path / "sum"), "--description", "\u03a3 over rows")
    assert run("init", *words).returncode == 0
    shown = run("show", str(tmp_path / "sum"), PYTHONIOENCODING=encoding)
    assert (shown.returncode, shown.stderr) == (0, "")
    assert "\\u03a3 over rows" in shown.stdout
