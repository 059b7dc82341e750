"""What is served, and what is said of what cannot be."""

import json
import shutil
from pathlib import Path

import pytest

from scanbuild.errors import InputError
from scanbuild.serving.shelf import default_roots, fill_shelf
from tests.cases.packages import manifest, sign, write_package
from tests.serving.conftest import CASES


def versioned(root: Path, version: int) -> Path:
    """A package whose metadata tell a version."""
    folder = write_package(root, manifest(), CASES)
    metadata = json.loads((folder / "metadata.json").read_text())
    (folder / "metadata.json").write_text(json.dumps({**metadata, "version": version}))
    return root


def test_a_folder_and_its_inner_folder_are_the_same_package(root: Path):
    for given in (root, root / "build" / "webgpu"):
        (place,) = fill_shelf([given]).places
        assert (place.path, place.folder) == ("test.toys.Double", root / "build" / "webgpu")
        assert place.title().revision == "v1"


def test_the_packages_in_dist_go_before_the_one_of_the_folder(tmp_path: Path):
    write_package(tmp_path, manifest(name="Own"), CASES)
    told: list[str] = []
    (tmp_path / "dist" / "wheels").mkdir(parents=True)
    assert (default_roots(tmp_path, told.append), told) == ((tmp_path,), [])
    write_package(tmp_path / "dist" / "b", manifest(), CASES)
    assert default_roots(tmp_path, told.append) == (tmp_path / "dist" / "b",)
    assert told == [f"{tmp_path}/dist/wheels holds no package and is not served."]


def test_everything_that_is_wrong_with_any_of_them_is_told_at_once(root: Path, tmp_path: Path):
    write_package(tmp_path / "edited", manifest(name="Edited"), CASES)
    (tmp_path / "edited" / "build" / "webgpu" / "double.wgsl.jinja").write_text("other")
    write_package(tmp_path / "wrong", manifest(name="Wrong", inputs={"x y": {}}), CASES)
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError) as raised:
        fill_shelf([root, *(tmp_path / name for name in ("edited", "wrong", "file", "nowhere"))])
    places = [problem.file.removeprefix(f"{tmp_path}/").partition("/")[0] for problem in raised.value.problems]
    assert list(dict.fromkeys(places)) == ["edited", "wrong", "file", "nowhere"]


def test_a_folder_of_packages_is_told_how_to_name_them(root: Path):
    with pytest.raises(InputError) as raised:
        fill_shelf([root.parent])
    (problem,) = raised.value.problems
    assert '"double"' in problem.message
    assert problem.hint == f"scanbuild serve {root.parent}/*"


def test_two_versions_of_a_kernel_have_addresses_of_their_own(tmp_path: Path):
    shelf = fill_shelf([versioned(tmp_path / "old", 1), versioned(tmp_path / "new", 2)])
    assert [place.path for place in shelf.places] == ["test.toys.Double", "test.toys.Double-2"]
    assert [title.revision for _, title in shelf.named("test.toys.Double")] == ["v1", "v2"]
    assert shelf.named("test.toys.double") == ()


def test_two_of_a_name_and_version_are_refused(tmp_path: Path):
    with pytest.raises(InputError, match=r'"test.toys.Double" v1 is in .*old as well') as raised:
        fill_shelf([versioned(tmp_path / "old", 1), versioned(tmp_path / "new", 1)])
    assert raised.value.problems[0].file == str(tmp_path / "new")


def test_a_name_that_no_repository_has_gets_a_path_without_what_is_odd_in_it(tmp_path: Path):
    folder = write_package(tmp_path, manifest(name="a/b <c>"), CASES)
    (place,) = fill_shelf([tmp_path]).places
    assert place.path == "test.toys.a_b_c_"
    assert place.title().op_id == "test.toys.a/b <c>"
    assert folder == place.folder


def test_a_package_is_read_anew_each_time_and_keeps_its_name_while_it_is_broken(root: Path):
    (place,) = fill_shelf([root]).places
    folder = place.folder
    assert place.read().package is not None
    (folder / "metadata.json").write_text("{")
    broken = place.read()
    assert broken.package is None
    assert broken.title.op_id == "test.toys.Double"
    assert broken.problems[0].file == str(folder / "metadata.json")
    sign(folder)
    assert place.read().package is not None
    (folder / "new.txt").write_text("unlisted")
    assert "not listed in metadata.json" in place.read().problems[0].message
    shutil.rmtree(root)
    assert "there is no such folder" in place.read().problems[0].message
