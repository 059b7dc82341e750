"""What the tests of pushing share: a small kernel that really runs, built, and reports of its verification."""

import json
import os
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from scanbuild.cases.origin import remember_build, state_folder
from scanbuild.cases.report import RunReport, VerifyReport, left_report
from scanbuild.cases.run import CaseResult
from scanbuild.commands import main
from scanbuild.package.digest import digest_bytes
from scanbuild.package.folder import open_folder
from scanbuild.publishing.build import build, check_source
from scanbuild.publishing.provenance import provenance_of
from scanbuild.publishing.writer import write_folder
from tests.publishing.local_hub import LocalHub
from tests.publishing.packages import write_source

SECRET = "hf_SecretOfTheTestsThatNobodyMaySee"
REPOSITORY = "acme/org.example.Twice"
WGSL = """{{ env.wgsl.resourceDeclarations }}

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  if (id.x < {{ n }}u) { y[id.x] = x[id.x] * {{ factor }}; }
}
"""
ADAPTER = {
    "name": "Toy",
    "vendor": "",
    "architecture": "",
    "driver": "",
    "backend": "Vulkan",
    "kind": "CPU",
    "software": True,
}


def run(*arguments: object, **environment: str | None) -> Result:
    """The command line, in this process."""
    return CliRunner().invoke(main, [str(argument) for argument in arguments], env=environment)


def push(*arguments: object, to: str = REPOSITORY) -> Result:
    """``scanbuild publish --push``; what the command promises of every end is looked at."""
    result = run("publish", "--push", to, "--timeout", "20", *arguments)
    assert result.exit_code in (0, 1, 2), result.output + repr(result.exception)
    assert "Traceback" not in result.output
    assert SECRET not in result.output
    return result


def good_push(*arguments: object) -> str:
    """What a push that ends well says on standard output."""
    result = push(*arguments)
    assert result.exit_code == 0, result.output
    return result.stdout


def git(folder: Path, *arguments: str) -> str:
    """Run git as somebody."""
    identity = ["-c", "user.name=A", "-c", "user.email=a@example.org"]
    done = subprocess.run(["git", "-C", folder, *identity, *arguments], check=True, capture_output=True, text=True)
    return done.stdout.strip()


def sources(folder: Path, changes: Mapping[str, Any] | None = None, *, commit: bool = True) -> Path:
    """Write the source package, and commit it."""
    source = write_source(folder, **{"Twice/twice.wgsl.jinja": WGSL, **(changes or {})})
    if commit:
        if not (folder / ".git").is_dir():
            git(folder, "init", "-q")
        git(folder, "add", ".")
        git(folder, "commit", "-qm", "x")
    return source


def built(source: Path, root: Path = Path(), state: Path | None = None) -> Path:
    """Build the source, without what profiles would make of it; the package's folder."""
    folder = root / "build" / "webgpu"
    shared = source.parent / "_shared"
    made = build(check_source(source), {}, provenance_of(source, shared))
    write_folder(folder, made.files, ("metadata.json",))
    assert remember_build(folder, source, state or state_folder())
    return folder


def verified(folder: Path, **changes: Any) -> dict[str, Any]:
    """Leave the report of a verification in which all was well, with changes of its first run; the report."""
    manifest = open_folder(folder).manifest
    names = [case["name"] for case in json.loads((folder / "test.json").read_text())["cases"]]
    results = tuple(CaseResult(name=name, status="passed", variant=manifest.variants[0].id) for name in names)
    members: dict[str, Any] = {
        "manifest": manifest,
        "folder": str(folder),
        "engine": "wgpu",
        "adapter": ADAPTER,
        "results": results,
        "digest": digest_bytes((folder / "metadata.json").read_bytes()),
    }
    report = VerifyReport(runs=(RunReport(**{**members, **changes}),)).to_json()
    leave(folder, report)
    return report


def leave(folder: Path, report: Mapping[str, Any]) -> Path:
    """Put a report where ``verify`` leaves one."""
    file = left_report(folder)
    assert file is not None
    file.write_text(json.dumps(report))
    return file


def settle(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, hub: LocalHub) -> None:
    """A working folder, a home and a state folder of its own, and an environment that leads to the local Hub."""
    from huggingface_hub import constants

    for name in [name for name in os.environ if name.startswith(("HF_", "HUGGING", "GITHUB_"))]:
        monkeypatch.delenv(name)
    monkeypatch.setattr(constants, "HF_TOKEN_PATH", str(tmp_path / "home" / "token"))
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    # Certificates take longer to read than all the rest of a push, and nobody shows one here.
    monkeypatch.setattr("ssl.SSLContext.load_verify_locations", lambda *_, **__: None)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("HF_ENDPOINT", hub.address)
    monkeypatch.setenv("HF_TOKEN", SECRET)
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")


def content(folder: Path) -> dict[str, bytes]:
    """Every file under a folder."""
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
