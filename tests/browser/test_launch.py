"""Finding and starting a browser of this machine, and the code that a phone's camera reads."""

import os
import sys
from pathlib import Path

import pytest
import segno

from scanbuild.errors import NoAdapterError
from scanbuild.gpu.browser import launch
from scanbuild.gpu.browser.code import terminal_code
from scanbuild.gpu.browser.hub import Hub
from scanbuild.gpu.browser.settings import HubSettings


def test_a_browser_that_is_not_there_is_named_with_what_to_install():
    with pytest.raises(NoAdapterError) as raised:
        launch.find_browser("/nowhere/chromium")
    assert "there is no browser '/nowhere/chromium'" in str(raised.value)
    assert "apt-get install chromium" in raised.value.problems[0].hint


def test_a_browser_is_found_by_its_names_and_by_its_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    program = tmp_path / "chromium-browser"
    program.write_text("")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert launch.find_browser("chromium") == program
    assert launch.find_browser(str(program)) == program
    program.chmod(0o644)
    with pytest.raises(NoAdapterError):
        launch.find_browser(str(program))


def test_a_program_that_is_no_browser_is_no_adapter(tmp_path: Path):
    program = tmp_path / "chromium"
    program.write_text("#!/bin/sh\nexit 3\n")
    program.chmod(0o755)
    with Hub(HubSettings(launch=str(program))) as hub, pytest.raises(NoAdapterError, match="cannot be driven"):
        hub.next_engine(5.0)


def test_without_playwright_the_extra_is_named(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "playwright.sync_api", None)
    monkeypatch.setattr(launch, "find_browser", Path)
    with Hub(HubSettings(launch="chromium")) as hub, pytest.raises(NoAdapterError) as raised:
        hub.next_engine(5.0)
    assert "pip install 'scanbuild[browser]'" in raised.value.problems[0].hint


@pytest.mark.parametrize(("user", "sandbox"), [(0, False), (1000, True)])
def test_the_sandbox_is_given_up_only_for_root(monkeypatch: pytest.MonkeyPatch, user: int, sandbox: bool):
    monkeypatch.setattr(os, "geteuid", lambda: user, raising=False)
    assert launch.may_sandbox() is sandbox


def test_a_launched_browser_computes_on_the_cpu_unless_asked_otherwise():
    flag = "--use-webgpu-adapter=swiftshader"
    assert flag in launch.browser_flags(software=True)
    assert flag not in launch.browser_flags(software=False)


def test_no_browser_comes_and_the_address_is_named():
    with Hub(HubSettings()) as hub:
        with pytest.raises(NoAdapterError, match=r"no browser came within 0\.1 s") as raised:
            hub.next_engine(0.1)
        assert hub.url in raised.value.problems[0].hint


@pytest.mark.parametrize("dark_on_light", [True, False])
@pytest.mark.parametrize("address", ["http://127.0.0.1:44597/ZfZ9S-3Y1khNLTIUqPo0Dg/", "http://[::1]:9/a/", "x" * 120])
def test_the_code_in_the_terminal_is_the_code_of_the_address(address: str, dark_on_light: bool):
    lines = terminal_code(address, dark_on_light=dark_on_light)
    halves = {" ": (0, 0), "▀": (1, 0), "▄": (0, 1), "█": (1, 1)}
    rows = [[halves[character][half] for character in line] for line in lines for half in (0, 1)]
    code = [list(row) for row in segno.make(address, error="l", micro=False).matrix_iter(border=2)]
    expected = [[int(bool(module)) ^ (not dark_on_light) for module in row] for row in code]
    assert rows[: len(expected)] == expected
    assert len({len(line) for line in lines}) == 1
    assert max(map(len, lines)) <= 61
