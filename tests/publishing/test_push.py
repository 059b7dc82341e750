"""``publish --push`` against a Hub on this machine: what it does, and what it refuses before it sends anything."""

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from jsonschema import Draft202012Validator

import scanbuild
from scanbuild.publishing.build import metadata_bytes
from scanbuild.resources import data_folder
from tests.engines import open_for_test
from tests.publishing.local_hub import LocalHub
from tests.publishing.packages import bench, case, manifest
from tests.publishing.pushing import (
    REPOSITORY,
    built,
    content,
    good_push,
    push,
    run,
    sources,
    verified,
)

V2 = "v2"


def rebuilt(tmp_path: Path, changes: Mapping[str, Any]) -> Path:
    """The package built again from changed sources, committed and verified."""
    folder = built(sources(tmp_path / "sources", changes))
    verified(folder)
    return folder


def test_a_rendered_and_verified_package_is_pushed_and_loads_by_name_and_version(tmp_path, hub):
    open_for_test("wgpu").close()
    source = sources(tmp_path / "sources")
    for step in (("render", source), ("verify",)):
        done = run(*step)
        assert done.exit_code == 0, done.output
    said = good_push()
    assert f"created {REPOSITORY}" in said and "every digest holds" in said
    kernel = scanbuild.load_kernel(REPOSITORY, version=1, trust_remote_code=True)
    assert kernel({"x": np.array([1, 2, 4], np.float32)})["y"].tolist() == [2, 4, 8]
    assert hub.kernel(REPOSITORY).files("v1")["README.md"].startswith(b"---\nlibrary_name: kernels\n")


def test_all_files_come_with_one_commit_on_the_branch_of_the_contract_version(package, hub):
    good_push()
    repository = hub.kernel(REPOSITORY)
    head = repository.at("v1")
    assert head is not None and head.parent == repository.branches["main"]
    assert head.files == {".gitattributes": b"*.bin filter=lfs\n", **content(Path("dist/org.example.Twice"))}
    assert {name.removeprefix("build/webgpu/") for name in head.files} >= content(package).keys()
    assert hub.writes() == [
        "POST /api/repos/create",
        f"POST /api/kernels/{REPOSITORY}/branch/v1",
        f"POST /api/kernels/{REPOSITORY}/commit/v1",
    ]
    assert list(repository.branches) == ["main", "v1"]


def test_the_version_of_publish_json_names_the_branch(tmp_path, hub):
    rebuilt(tmp_path, {"Twice/publish.json": {"version": 7}})
    good_push()
    assert set(hub.kernel(REPOSITORY).branches) == {"main", "v7"}
    assert scanbuild.load_kernel(REPOSITORY, version=7, trust_remote_code=True).op_id == "org.example.Twice"


def test_the_card_shows_how_to_load_from_the_repository(package, hub):
    good_push()
    card = hub.kernel(REPOSITORY).files("v1")["README.md"].decode()
    assert f'getKernel("{REPOSITORY}", {{ version: 1, trustRemoteCode: true }})' in card


def test_pushing_the_same_bytes_again_does_nothing_but_read_back(package, hub):
    good_push()
    before, head = len(hub.writes()), hub.kernel(REPOSITORY).branches["v1"]
    hub.journal.clear()
    said = good_push()
    assert "nothing to do: these very bytes are on" in said
    assert (hub.writes(), hub.kernel(REPOSITORY).branches["v1"]) == ([], head)
    assert sum("/resolve/v1/" in entry for entry in hub.journal) == len(content(Path("dist/org.example.Twice")))
    assert before == 3


def test_large_files_are_known_by_their_own_digest(package, hub):
    good_push()
    hub.large = ".json"
    assert "nothing to do" in good_push()


def test_a_repository_that_is_there_gets_a_branch(package, hub):
    hub.create("kernel", REPOSITORY)
    assert "created" not in good_push()
    assert hub.writes()[0].endswith("/branch/v1")


def test_other_bytes_of_the_same_contract_replace_the_package_and_leave_what_is_the_owners(tmp_path, hub, package):
    good_push()
    there = {**hub.kernel(REPOSITORY).files("v1"), "LICENSE": b"mine", "build/webgpu/stale.wgsl": b"old"}
    hub.kernel(REPOSITORY).add("v1", there)
    folder = rebuilt(tmp_path, {"Twice/bench.json": {"cases": [bench("larger", 200_000)]}})
    good_push()
    now = hub.kernel(REPOSITORY).files("v1")
    assert now["LICENSE"] == b"mine" and "build/webgpu/stale.wgsl" not in now
    assert now["build/webgpu/bench.json"] == (folder / "bench.json").read_bytes()


def test_a_contract_that_breaks_callers_is_refused_with_the_list_and_the_way_out(tmp_path, hub, package):
    good_push()
    before = hub.kernel(REPOSITORY).branches["v1"]
    other = manifest(typeConstraints={"T": ["float32"]})
    folder = rebuilt(tmp_path, {"Twice/manifest.json": other, "Twice/test.json": {"cases": [case("small", 3)]}})
    for arguments in ([], ["--force"]):
        result = push(*arguments)
        assert result.exit_code == 1
        assert (
            "v1 is published with another contract, whose callers this breaks" in result.stderr
            and "int32" in result.stderr
        )
        assert 'raise "version" to 2 in publish.json' in result.stderr
        assert hub.kernel(REPOSITORY).branches["v1"] == before
    rebuilt(tmp_path, {"Twice/manifest.json": other, "Twice/publish.json": {"version": 2}})
    sources(tmp_path / "sources", {"Twice/test.json": {"cases": [case("small", 3)]}}, commit=False)
    folder = built(tmp_path / "sources" / "Twice")
    verified(folder)
    good_push("--force")
    assert hub.kernel(REPOSITORY).branches["v1"] == before
    assert V2 in hub.kernel(REPOSITORY).branches


def test_a_change_of_the_contract_that_callers_may_notice_is_warned_of(tmp_path, hub, package):
    good_push()
    rebuilt(tmp_path, {"Twice/manifest.json": manifest(sinceVersion=7)})
    result = push()
    assert (result.exit_code, "callers of what is published as v1 may notice" in result.stderr) == (0, True)


def test_what_no_loader_takes_is_replaced_with_a_warning(package, hub):
    hub.create("kernel", REPOSITORY).add(
        "v1", {"build/webgpu/metadata.json": b"{}", "build/webgpu/manifest.json": b"no"}
    )
    result = push()
    assert result.exit_code == 0
    assert "warning: the loader does not take the package that is on v1" in result.stderr


def test_a_dry_run_needs_no_token_and_writes_nothing(tmp_path, hub, package, monkeypatch):
    good_push()
    monkeypatch.delenv("HF_TOKEN")
    rebuilt(tmp_path, {"Twice/bench.json": {"cases": [bench("larger", 200_000)]}})
    dist, writes = content(Path("dist")), hub.writes()
    said = good_push("--dry-run")
    assert f"would push org.example.Twice to {REPOSITORY}, branch v1" in said
    lines = {line.split()[-1]: line.split()[:2] for line in said.splitlines() if line.startswith("  ")}
    size = len((Path("build/webgpu/bench.json")).read_bytes())
    assert lines["build/webgpu/bench.json"] == ["changed", f"{size:,}"]
    assert lines["build/webgpu/test.json"][0] == "same"
    assert "All in one commit on top of" in said
    assert (content(Path("dist")), hub.writes()) == (dist, writes)


def test_a_dry_run_tells_what_is_there_or_why_that_is_not_known(package, hub, monkeypatch):
    assert "it would be created, of type kernel" in good_push("--dry-run")
    hub.create("kernel", REPOSITORY)
    assert "the branch v1 is not: it would be created" in good_push("--dry-run")
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:1")
    assert "What is there now is not known: cannot look at" in good_push("--dry-run")
    assert hub.writes() == [] and not Path("dist").exists()


def test_a_dry_run_tells_what_a_push_would_be_refused_for(package, hub):
    package.parent.joinpath("verify-report.json").unlink()
    result = push("--dry-run")
    assert (result.exit_code, "was not verified" in result.stderr) == (1, True)
    assert "would push" in result.stdout


def test_a_report_tells_what_was_done_or_would_be(package, hub, tmp_path):
    validator = Draft202012Validator(json.loads((data_folder("schemas") / "publish-report.schema.json").read_text()))
    reports = []
    for arguments in (["--dry-run"], [], [], ["--dry-run"]):
        good_push("--json", tmp_path / "report.json", *arguments)
        reports.append(json.loads((tmp_path / "report.json").read_text()))
        validator.validate(reports[-1])
    rehearsed, pushed, nothing, again = reports
    assert rehearsed["push"]["changes"] == pushed["push"]["changes"] == dict.fromkeys(pushed["files"], "new")
    assert (rehearsed["dryRun"], rehearsed["folder"], rehearsed["push"]["commit"]) == (True, None, None)
    assert pushed["push"]["createsRepository"] and pushed["push"]["createsBranch"]
    assert pushed["push"]["commit"] == nothing["push"]["commit"] == hub.kernel(REPOSITORY).branches["v1"]
    assert (pushed["push"]["didNothing"], nothing["push"]["didNothing"]) == (False, True)
    assert again["push"]["changes"] == {} and not again["push"]["createsRepository"]
    assert pushed["digest"] == json.loads(Path("build/verify-report.json").read_text())["runs"][0]["digest"]


@pytest.mark.parametrize("arguments", [[], ["--dry-run"]])
def test_a_report_is_written_without_a_push_too(package, arguments):
    assert run("publish", "--json", "report.json", *arguments).exit_code == 0
    report = json.loads(Path("report.json").read_text())
    assert (report["push"], report["folder"]) == (None, None if arguments else "dist/org.example.Twice")


def test_a_dry_run_reports_what_a_push_would_be_refused_for(package, hub):
    package.parent.joinpath("verify-report.json").unlink()
    assert push("--dry-run", "--json", "report.json").exit_code == 1
    assert json.loads(Path("report.json").read_text())["refusals"] == [
        "the package was not verified: there is no report of it"
    ]
    assert push("--json", "no/such/report.json").exit_code == 2


def test_a_dry_run_without_push_lists_the_folder(package):
    result = run("publish", "--dry-run")
    assert result.exit_code == 0 and "build/webgpu/manifest.json" in result.stdout
    assert not Path("dist").exists()


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("acme/Twice", "has to be called like the kernel, 'org.example.Twice', not 'Twice'"),
        ("acme/org.example.twice", "has to be called like the kernel"),
        ("org.example.Twice", "is no repository"),
        ("a/b/org.example.Twice", "is no repository"),
        ("ac me/org.example.Twice", "is no repository"),
        ("-acme/org.example.Twice", "may not begin or end with"),
        ("ac--me/org.example.Twice", "are not allowed"),
        (f"{'a' * 97}/org.example.Twice", "longer than 96"),
    ],
)
def test_a_repository_that_the_loader_or_the_hub_would_refuse_is_refused_before_anything_is_sent(
    package, hub, name, said
):
    result = push(to=name)
    assert (result.exit_code, said in result.stderr) == (2, True), result.output
    assert hub.journal == [] and not Path("dist").exists()


def test_everything_that_is_wrong_is_told_at_once(tmp_path, hub, package, monkeypatch):
    monkeypatch.delenv("HF_TOKEN")
    package.parent.joinpath("verify-report.json").unlink()
    (tmp_path / "sources" / "Twice" / "new.txt").write_text("x")
    result = push(to="acme/Twice")
    assert result.exit_code == 2
    for said in ("no token", "called like the kernel", "was not verified", "not committed"):
        assert said in result.stderr
    assert hub.journal == []


def test_a_package_that_does_not_load_is_told_together_with_the_rest(package, hub, monkeypatch):
    monkeypatch.delenv("HF_TOKEN")
    (package / "manifest.json").write_text("{}")
    result = push(to="acme")
    assert result.exit_code == 2
    for said in ("no token", "is no repository", "manifest.json: the file's digest"):
        assert said in result.stderr


def test_sources_with_changes_are_refused_unless_forced(tmp_path, hub, package):
    (tmp_path / "sources" / "Twice" / "reference.py").write_text("changed = 1\n")
    result = push()
    assert (result.exit_code, hub.journal) == (1, [])
    assert "the sources of the package have changes that are not committed" in result.stderr
    assert push("--force").exit_code == 0


def test_a_package_built_from_uncommitted_sources_is_refused_though_they_are_committed_now(tmp_path, hub, package):
    source = sources(tmp_path / "sources", {"Twice/bench.json": {"cases": [bench("other", 9)]}}, commit=False)
    verified(built(source))
    sources(tmp_path / "sources", {"Twice/bench.json": {"cases": [bench("other", 9)]}})
    result = push()
    assert (result.exit_code, "was built from sources that were not committed" in result.stderr) == (1, True)


def test_a_package_that_names_no_commit_is_pushed_with_a_note(tmp_path, hub):
    verified(built(sources(tmp_path / "sources", commit=False)))
    result = push()
    assert (result.exit_code, "does not say which commit" in result.stderr) == (0, True)


def test_force_pushes_what_was_not_verified_and_warns(package, hub):
    package.parent.joinpath("verify-report.json").unlink()
    result = push("--force")
    assert (result.exit_code, "warning: " in result.stderr) == (0, True)
    assert "v1" in hub.kernel(REPOSITORY).branches


def test_a_version_that_is_no_number_has_no_branch(package, hub):
    path = package / "metadata.json"
    path.write_bytes(metadata_bytes({**json.loads(path.read_text()), "version": "1"}))
    verified(package)
    result = push()
    assert (result.exit_code, "a whole number from 0" in result.stderr) == (2, True)


def test_without_the_library_the_way_to_get_it_is_named(package, hub, monkeypatch):
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    result = push()
    assert (result.exit_code, "pip install 'scanbuild[hub]'" in result.stderr) == (2, True)
    assert run("publish").exit_code == 0


@pytest.mark.parametrize("option", [["--force"], ["--verified", "build/webgpu/manifest.json"]])
def test_what_is_about_pushing_asks_for_a_push(package, option):
    result = run("publish", *option)
    assert (result.exit_code, "which is not given" in result.stderr) == (2, True)


def test_a_verification_without_a_push_leaves_published_folders_as_they_are(package, hub):
    good_push()
    folder = Path("dist/org.example.Twice")
    verified(folder / "build" / "webgpu")
    good_push(folder)
    assert (folder / "build" / "verify-report.json").is_file()


def test_the_hub_fixture_is_the_only_one_asked(package, hub: LocalHub):
    good_push()
    assert all(agent.startswith("scanbuild") for agent in hub.agents)
    assert not any("torch" in agent or "agent/" in agent for agent in hub.agents)
