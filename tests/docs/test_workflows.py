"""Files that forges and tools read: workflows, the action, issue forms, hooks. They parse, and keep what we promise."""

import re
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
GITHUB = ROOT / ".github"
WORKFLOWS = sorted((GITHUB / "workflows").glob("*.yml"))
FORMS = sorted(path for path in (GITHUB / "ISSUE_TEMPLATE").glob("*.yml") if path.name != "config.yml")
SCRIPTED = [*WORKFLOWS, ROOT / "action.yml"]
# Writing is for whoever proves an identity, and nowhere else.
ALLOWED = {("release.yml", "attest"): {"id-token", "attestations"}, ("release.yml", "publish"): {"id-token"}}


def named(path: Path) -> str:
    return path.name


def parsed(path: Path) -> Any:
    value = import_module("yaml").safe_load(path.read_text(encoding="utf-8"))
    return {("on" if key is True else key): item for key, item in value.items()}  # YAML 1.1 takes `on` for true


def steps(path: Path) -> list[dict[str, Any]]:
    value = parsed(path)
    if "runs" in value:
        return list(value["runs"]["steps"])
    return [step for job in value["jobs"].values() for step in job["steps"]]


@pytest.mark.parametrize("path", SCRIPTED, ids=named)
def test_no_input_becomes_part_of_a_script(path: Path):
    """An expression in a script is pasted into it; what comes from outside goes through the environment instead."""
    scripts = [step["run"] for step in steps(path) if "run" in step]
    assert scripts
    assert [script for script in scripts if "${{" in script] == []


@pytest.mark.parametrize("path", WORKFLOWS, ids=named)
def test_permissions_are_the_least(path: Path):
    value = parsed(path)
    assert value["permissions"] in ({}, {"contents": "read"})
    for name, job in value["jobs"].items():
        given = job.get("permissions", value["permissions"])
        assert isinstance(given, dict)
        writes = {what for what, how in given.items() if how != "read"}
        assert writes == ALLOWED.get((path.name, name), set())


@pytest.mark.parametrize("path", SCRIPTED, ids=named)
def test_every_action_has_a_fixed_version(path: Path):
    used = [step["uses"] for step in steps(path) if "uses" in step]
    assert used
    for action in used:
        assert re.fullmatch(r"(actions|pypa)/[\w-]+@(v\d+(\.\d+)*|[0-9a-f]{40})", action), action


@pytest.mark.parametrize("path", SCRIPTED, ids=named)
def test_there_is_no_secret_in_a_workflow(path: Path):
    assert "secrets." not in path.read_text(encoding="utf-8")


@pytest.mark.parametrize("path", WORKFLOWS, ids=named)
def test_no_workflow_runs_what_a_stranger_proposes_with_rights_of_ours(path: Path):
    assert {"pull_request_target", "workflow_run", "issue_comment"}.isdisjoint(parsed(path)["on"])
    kept = [step for step in steps(path) if step.get("uses", "").startswith("actions/checkout@")]
    assert all(step["with"]["persist-credentials"] is False for step in kept)


def test_the_suite_runs_for_every_change():
    value = parsed(GITHUB / "workflows" / "test.yml")
    assert {"push", "pull_request"} <= set(value["on"])
    assert any(re.match(r"make test\b", step.get("run", "")) for step in steps(GITHUB / "workflows" / "test.yml"))


def test_the_oldest_python_that_is_promised_is_tested():
    oldest = re.search(r'requires-python = ">=([\d.]+)"', (ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert oldest is not None
    assert oldest[1] in parsed(GITHUB / "workflows" / "test.yml")["jobs"]["test"]["strategy"]["matrix"]["python"]


def test_what_is_published_was_attested_and_built_twice():
    jobs = parsed(GITHUB / "workflows" / "release.yml")["jobs"]
    assert (jobs["publish"]["needs"], jobs["attest"]["needs"]) == ("attest", "build")
    scripts = [step.get("run", "") for step in jobs["build"]["steps"]]
    assert any(script.count("make wheel") == 2 and "cmp " in script for script in scripts)


def test_the_targets_that_workflows_make_are_there():
    made = {name for path in WORKFLOWS for name in re.findall(r"\bmake ([a-z-]+)", path.read_text(encoding="utf-8"))}
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    assert made
    assert made <= targets


@pytest.mark.parametrize("path", FORMS, ids=named)
def test_an_issue_form_has_what_a_forge_wants(path: Path):
    form = parsed(path)
    assert {"name", "description", "body"} <= set(form)
    fields = [field for field in form["body"] if field["type"] != "markdown"]
    assert len({field["id"] for field in fields}) == len(fields)
    assert any(field.get("validations", {}).get("required") for field in fields)
    assert all(field["attributes"]["label"] for field in fields)


def test_hooks_run_what_lint_runs_from_the_same_environment():
    """No version is pinned twice: the hooks are the tools that the extra `test` of pyproject.toml brings."""
    hooks = [hook for repo in parsed(ROOT / ".pre-commit-config.yaml")["repos"] for hook in repo["hooks"]]
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert hooks
    for hook in hooks:
        assert hook["language"] == "system"
        program, *rest = hook["entry"].split()
        tool = program.removeprefix(".venv/bin/")
        assert tool != program
        if tool == "python":
            assert (ROOT / rest[0]).is_file()
            continue
        assert f'"{tool}>=' in project
        words = " ".join([tool, *(word for word in rest if not word.startswith("-"))])
        assert f"$(BIN)/{words}" in makefile
