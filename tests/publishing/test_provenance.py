"""Where a package comes from, as far as git knows."""

import subprocess
from pathlib import Path

import pytest

from scanbuild.publishing.provenance import provenance_of


def git(folder: Path, *arguments: str) -> str:
    identity = ["-c", "user.name=A", "-c", "user.email=a@example.org"]
    done = subprocess.run(["git", "-C", folder, *identity, *arguments], check=True, capture_output=True, text=True)
    return done.stdout.strip()


@pytest.fixture
def checkout(tmp_path):
    """A checkout with one committed source folder."""
    (tmp_path / "source").mkdir()
    (tmp_path / "source" / "manifest.json").write_text("{}")
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-qm", "x")
    return tmp_path


def test_a_committed_source_has_the_commit_and_is_clean(checkout):
    found = provenance_of(checkout / "source", checkout / "_shared")
    assert found is not None
    assert found.as_json() == {"sha": git(checkout, "rev-parse", "HEAD"), "dirty": False}


def test_a_change_elsewhere_does_not_make_the_sources_dirty(checkout):
    (checkout / "other.txt").write_text("x")
    found = provenance_of(checkout / "source")
    assert found is not None and not found.dirty


@pytest.mark.parametrize("name", ["manifest.json", "new.json"])
def test_a_changed_or_unknown_file_makes_the_sources_dirty(checkout, name):
    (checkout / "source" / name).write_text("[]")
    found = provenance_of(checkout / "source")
    assert found is not None and found.dirty


def test_a_shared_folder_counts_too(checkout):
    (checkout / "_shared").mkdir()
    (checkout / "_shared" / "x.wgsl.jinja").write_text("x")
    found = provenance_of(checkout / "source", checkout / "_shared")
    assert found is not None and found.dirty


def test_an_ignored_source_is_dirty(checkout):
    (checkout / ".gitignore").write_text("/hidden/\n")
    (checkout / "hidden").mkdir()
    (checkout / "hidden" / "manifest.json").write_text("{}")
    found = provenance_of(checkout / "hidden")
    assert found is not None and found.dirty


def test_there_is_none_outside_of_git(tmp_path):
    assert provenance_of(tmp_path) is None


def test_there_is_none_before_the_first_commit(tmp_path):
    git(tmp_path, "init", "-q")
    assert provenance_of(tmp_path) is None


def test_there_is_none_without_a_git_program(checkout, monkeypatch):
    monkeypatch.setenv("PATH", "/nonexistent")
    assert provenance_of(checkout / "source") is None
