"""The composite action: its last step is a script, which is run here as a runner would."""

import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from scanbuild.errors import NoAdapterError
from scanbuild.gpu import choose_adapter
from tests.cases.packages import DOUBLE, case, manifest
from tests.test_verify_command import read_report

ROOT = Path(__file__).resolve().parents[2]
ACTION = (ROOT / "action.yml").read_text()
SCRIPT = textwrap.dedent(ACTION.rpartition("      run: |\n")[2])


def run_action(folder: Path, **inputs: str) -> subprocess.CompletedProcess[str]:
    """Run the script in a folder, with scanbuild where the action's second step installs it."""
    commands = folder / "runner" / "scanbuild" / "bin"
    commands.mkdir(parents=True)
    (commands / "scanbuild").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m scanbuild "$@"\n')
    (commands / "scanbuild").chmod(0o755)
    environment = {
        "SOURCES": "kernels/*",
        "PACKAGES": "",
        "ENGINE": "wgpu",
        "ARGUMENTS": "--compile",
        "OUTPUT": "out",
        "RUNNER_TEMP": str(folder / "runner"),
        "GITHUB_OUTPUT": str(folder / "outputs"),
        "GITHUB_ACTIONS": "true",
        "PYTHONPATH": str(ROOT),
        "XDG_STATE_HOME": str(folder),
        **inputs,
    }
    return subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", SCRIPT],
        cwd=folder,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def write_source(folder: Path, want: float) -> None:
    folder.mkdir(parents=True)
    (folder / "manifest.json").write_text(json.dumps(manifest()))
    (folder / "test.json").write_text(json.dumps({"cases": [case("small", [1], [want])]}))
    (folder / "bench.json").write_text('{"cases": []}')
    (folder / "double.wgsl.jinja").write_text(DOUBLE)


def test_it_names_every_input_it_uses():
    for name in ("SOURCES", "PACKAGES", "ENGINE", "ARGUMENTS", "OUTPUT"):
        assert f"{name}: ${{{{ inputs.{name.lower()} }}}}" in ACTION
        assert f"${name}" in SCRIPT


def test_the_sources_of_a_repository_are_rendered_and_verified(tmp_path: Path):
    try:
        choose_adapter()
    except NoAdapterError as error:
        pytest.skip(str(error))
    write_source(tmp_path / "kernels" / "good", 2)
    write_source(tmp_path / "kernels" / "bad", 3)
    (tmp_path / "kernels" / "_shared").mkdir()
    ran = run_action(tmp_path)
    assert ran.returncode == 1, ran.stdout + ran.stderr
    assert (tmp_path / "outputs").read_text() == "report=out/verify.json\n"
    runs = read_report(tmp_path / "out" / "verify.json")["runs"]
    # Other engines that are present compile the shaders, and run nothing.
    assert [(item["folder"], item["summary"]["failed"]) for item in runs if item["engine"] == "wgpu"] == [
        ("out/bad/build/webgpu", 1),
        ("out/good/build/webgpu", 0),
    ]
    assert all(item["shaders"] for item in runs)
    assert "::error title=test.toys.Double on wgpu%3A small,file=out/bad/build/webgpu/test.json,line=" in ran.stdout
    assert (tmp_path / "out" / "verify.html").is_file()


def test_a_repository_without_packages_is_told_so(tmp_path: Path):
    ran = run_action(tmp_path)
    assert (ran.returncode, "::error::no package was found" in ran.stdout) == (2, True)
