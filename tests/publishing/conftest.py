"""A local Hub, and a working folder with a package that may be pushed to it."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from scanbuild.cases.origin import remember_build, state_folder
from tests.publishing.local_hub import LocalHub, serving
from tests.publishing.pushing import SECRET, built, settle, sources, verified


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[LocalHub]:
    """A Hub on which the token may write for ``acme``, with the environment that leads there."""
    with serving(LocalHub(tokens={SECRET: {"acme"}})) as local:
        settle(tmp_path, monkeypatch, local)
        yield local


@pytest.fixture(scope="session")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Committed sources, and what was built from them and verified; to be copied."""
    place = tmp_path_factory.mktemp("prepared")
    verified(built(sources(place / "sources"), place / "work", state=place / "state"))
    return place


@pytest.fixture
def package(tmp_path: Path, hub: LocalHub, prepared: Path) -> Path:
    """A built package, its sources committed, with a report of its verification; it lies in build/webgpu."""
    shutil.copytree(prepared / "sources", tmp_path / "sources")
    shutil.copytree(prepared / "work", tmp_path / "work", dirs_exist_ok=True)
    folder = Path("build/webgpu")
    assert remember_build(folder, tmp_path / "sources" / "Twice", state_folder())
    return folder


@pytest.fixture
def forgotten(package: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """For tests that are not about the sources: nobody knows them, so git is not asked about them each time."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "nothing"))
