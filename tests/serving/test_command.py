"""``scanbuild serve`` as it is run."""

import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.request import urlopen

import pytest
from click.testing import CliRunner

from scanbuild.commands import main
from scanbuild.commands import serve as command
from scanbuild.commands.console import Console
from scanbuild.serving.settings import ServeSettings
from scanbuild.serving.shelf import fill_shelf
from tests.cases.packages import manifest, write_package
from tests.serving.conftest import CASES

ROOT = Path(__file__).resolve().parent.parent.parent


@contextmanager
def running(folder: Path, *arguments: str) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        [sys.executable, "-u", "-m", "scanbuild", "serve", *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT), "XDG_STATE_HOME": str(folder), "NO_COLOR": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def address(process: subprocess.Popen[str]) -> str:
    """The address of the page."""
    assert process.stdout is not None
    for line in process.stdout:
        found = re.fullmatch(r"    (https?://\S+/)\n", line)
        if found:
            return found[1]
    raise AssertionError("it prints no address")


@pytest.fixture
def taken() -> Iterator[int]:
    """A port that another program listens on."""
    with socket.create_server(("127.0.0.1", 0)) as other:
        yield other.getsockname()[1]


def test_the_packages_in_dist_are_served_until_ctrl_c(tmp_path: Path):
    write_package(tmp_path / "dist" / "double", manifest(), CASES)
    with running(tmp_path, "--port", "0", "-v") as process:
        url = address(process)
        assert b"test.toys.Double" in urlopen(url).read()
        process.send_signal(signal.SIGINT)
        said, complaints = process.communicate(timeout=20)
    assert (process.returncode, complaints) == (0, "")
    assert "200 GET /\n" in said
    assert said.endswith("The server has ended.\n")


def test_a_port_that_is_taken_is_told(root: Path, taken: int):
    refused = CliRunner().invoke(main, ["serve", str(root), "--port", str(taken)])
    assert (refused.exit_code, refused.stdout) == (2, "")
    assert f"cannot listen on 127.0.0.1, port {taken}: another program listens there" in refused.stderr
    assert "choose another with --host and --port" in refused.stderr


def test_the_usual_port_gives_way_to_another_one(
    root: Path, taken: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    settings = ServeSettings(port=taken)
    with command._open(Console(), fill_shelf([root]), settings, may_move=True) as server:
        assert server.port not in (0, taken)
        assert urlopen(server.url).status == 200
    assert capsys.readouterr().out == f"Port {taken} is taken, so that another one is used.\n"


def test_everything_that_is_wrong_is_told_and_nothing_is_served(root: Path):
    (root / "build" / "webgpu" / "double.wgsl.jinja").write_text("edited")
    refused = CliRunner().invoke(main, ["serve", str(root), "nowhere"])
    assert (refused.exit_code, refused.stdout) == (2, "")
    assert "double.wgsl.jinja" in refused.stderr
    assert "nowhere: there is no such folder" in refused.stderr


def test_a_host_that_is_none_of_this_machine_is_told(root: Path):
    refused = CliRunner().invoke(main, ["serve", str(root), "--host", "192.0.2.1"])
    assert (refused.exit_code, refused.stdout) == (2, "")
    assert "cannot listen on 192.0.2.1, port 8000" in refused.stderr


def test_without_what_it_needs_the_extra_is_named(root: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "aiohttp", None)
    monkeypatch.delitem(sys.modules, "scanbuild.serving.server", raising=False)
    refused = CliRunner().invoke(main, ["serve", str(root)])
    assert (refused.exit_code, refused.stdout) == (2, "")
    assert "serving needs the Python package aiohttp, which is not installed" in refused.stderr
    assert "pip install 'scanbuild[browser]'" in refused.stderr
