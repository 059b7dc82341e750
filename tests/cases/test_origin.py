"""Whose reference.py may be run."""

import json
from pathlib import Path

import pytest

from scanbuild.cases import origin
from scanbuild.cases.origin import edited_since, remember_build, source_of_build, state_folder


@pytest.fixture
def built(tmp_path: Path) -> Path:
    folder = tmp_path / "root" / "build" / "webgpu"
    folder.mkdir(parents=True)
    (folder / "metadata.json").write_text('{"name": "ai.onnx.Toy"}')
    (folder / "test.json").write_text('{"cases": []}')
    return folder


@pytest.fixture
def source(tmp_path: Path) -> Path:
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "reference.py").write_text("def reference(inputs, attrs, args): return {}\n")
    return folder


def test_a_build_made_here_leads_to_its_source(built: Path, source: Path, tmp_path: Path):
    assert remember_build(built, source, tmp_path / "state")
    assert source_of_build(built, "ai.onnx.Toy", tmp_path / "state") == source


def test_a_foreign_package_leads_nowhere_even_if_it_brings_a_reference(built: Path, tmp_path: Path):
    (built / "reference.py").write_text("raise SystemExit('run')\n")
    (built.parent / "local").mkdir()
    (built.parent / "local" / "source.json").write_text(json.dumps({"source": str(built)}))
    assert source_of_build(built, "ai.onnx.Toy", tmp_path / "state") is None


def test_a_changed_package_is_no_longer_the_one_built_here(built: Path, source: Path, tmp_path: Path):
    remember_build(built, source, tmp_path / "state")
    (built / "metadata.json").write_text('{"name": "ai.onnx.Other"}')
    assert source_of_build(built, "ai.onnx.Toy", tmp_path / "state") is None


def test_a_source_that_is_gone_is_none(built: Path, source: Path, tmp_path: Path):
    remember_build(built, source, tmp_path / "state")
    (source / "reference.py").unlink()
    assert source_of_build(built, "ai.onnx.Toy", tmp_path / "state") is None


def test_a_state_folder_that_cannot_be_written_is_no_fault(built: Path, source: Path, tmp_path: Path):
    (tmp_path / "state").write_text("a file")
    assert remember_build(built, source, tmp_path / "state") is False
    assert source_of_build(built, "ai.onnx.Toy", tmp_path / "state") is None


def test_scanbuild_s_own_package_is_known_by_its_cases(
    built: Path, source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    own = tmp_path / "templates" / "ai.onnx.Toy"
    own.mkdir(parents=True)
    (own / "reference.py").write_text("")
    (own / "test.json").write_text('{ "cases": [] }')
    monkeypatch.setattr(origin, "data_folder", lambda name: tmp_path / name)
    assert source_of_build(built, "ai.onnx.Toy", tmp_path / "state") == own
    (own / "test.json").write_text('{"cases": [1]}')
    assert source_of_build(built, "ai.onnx.Toy", tmp_path / "state") is None
    assert source_of_build(built, "../templates/ai.onnx.Toy", tmp_path / "state") is None


def test_a_user_without_a_home_has_nothing_remembered(tmp_path, monkeypatch):
    def homeless() -> None:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("XDG_STATE_HOME", raising=False)
    monkeypatch.setattr(Path, "home", homeless)
    (tmp_path / "metadata.json").write_text("{}")
    assert not remember_build(tmp_path, tmp_path, state_folder())


def test_what_was_edited_since_a_build_is_named_until_it_is_built_or_undone(built: Path, source: Path, tmp_path: Path):
    state = tmp_path / "state"
    (source / "test.json").write_text("{}")
    (source / "main.wgsl.jinja").write_text("old")
    (tmp_path / "_shared").mkdir()
    (tmp_path / "_shared" / "part.wgsl.jinja").write_text("old")
    remember_build(built, source, state)
    (source / "reference.py").write_text("# read at each verification\n")
    (source / "fresh.wgsl.jinja").write_text("used by no manifest that was rendered")
    assert edited_since(built, state) is None
    (source / "main.wgsl.jinja").write_text("new")
    (tmp_path / "_shared" / "part.wgsl.jinja").write_text("new")
    (source / "test.json").unlink()
    assert edited_since(built, state) == (source, ["_shared/part.wgsl.jinja", "main.wgsl.jinja", "test.json"])
    remember_build(built, source, state)
    assert edited_since(built, state) is None


def test_a_build_that_another_scanbuild_remembered_without_digests_is_not_called_older(
    built: Path, source: Path, tmp_path: Path
):
    state = tmp_path / "state"
    remember_build(built, source, state)
    (note,) = state.glob("*.json")
    note.write_text(json.dumps({"source": str(source)}))
    (source / "manifest.json").write_text("{}")
    assert edited_since(built, state) is None
