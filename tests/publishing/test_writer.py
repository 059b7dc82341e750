"""Folders are written as a whole or not at all."""

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from scanbuild.errors import InputError
from scanbuild.publishing import writer
from scanbuild.publishing.writer import differences, remove_folder, write_folder

OLD = {"a.txt": b"old", "deep/b.txt": b"old"}
MARKS = ["a.txt"]
NEW = {"a.txt": b"new", "c/d.txt": b"new"}


def content(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_folder_holds_exactly_what_was_written(tmp_path):
    folder = tmp_path / "build" / "webgpu"
    write_folder(folder, OLD, MARKS)
    write_folder(folder, NEW, MARKS)
    assert content(folder) == NEW
    assert [path.name for path in folder.parent.iterdir()] == ["webgpu"]


def test_a_failure_while_writing_leaves_the_old_folder(tmp_path):
    folder = tmp_path / "webgpu"
    write_folder(folder, OLD, MARKS)
    with pytest.raises(InputError, match="a file stands where a folder is needed"):
        write_folder(folder, {"a.txt": b"new", "a.txt/b": b"cannot be"}, MARKS)
    assert content(folder) == OLD
    assert [path.name for path in tmp_path.iterdir()] == ["webgpu"]


def test_a_failure_while_moving_puts_the_old_folder_back(tmp_path, monkeypatch):
    folder = tmp_path / "webgpu"
    write_folder(folder, OLD, MARKS)
    rename = Path.rename

    def failing(self, target):
        if target == folder and not self.name == "old":
            raise PermissionError("no")
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", failing)
    with pytest.raises(InputError, match="cannot be written"):
        write_folder(folder, NEW, MARKS)
    assert content(folder) == OLD
    assert [path.name for path in tmp_path.iterdir()] == ["webgpu"]


def test_what_an_interrupted_run_left_is_cleared_away(tmp_path):
    (tmp_path / ".webgpu.scanbuild-abc" / "x").mkdir(parents=True)
    write_folder(tmp_path / "webgpu", NEW, MARKS)
    assert [path.name for path in tmp_path.iterdir()] == ["webgpu"]


@pytest.mark.parametrize("name", ["webgpu", "*", "**", "?", "[a-z]", "!", "\u00e9"])
def test_whatever_a_folder_is_called_its_neighbours_stay(tmp_path, name):
    neighbours = [".webgpu-old", ".webgpu-notes", f".{name}-old", ".git-x", ".x.scanbuild-abc", f"{name}-old"]
    for neighbour in neighbours:
        (tmp_path / neighbour).mkdir(exist_ok=True)
    write_folder(tmp_path / name, OLD, MARKS)
    write_folder(tmp_path / name, NEW, MARKS)
    assert content(tmp_path / name) == NEW
    assert {path.name for path in tmp_path.iterdir()} == {name, *neighbours}


def test_a_file_in_the_way_is_named(tmp_path):
    (tmp_path / "webgpu").write_text("mine")
    with pytest.raises(InputError, match="webgpu"):
        write_folder(tmp_path / "webgpu", NEW, MARKS)
    assert (tmp_path / "webgpu").read_text() == "mine"


def test_a_folder_that_somebody_else_made_is_left_alone(tmp_path):
    (tmp_path / "webgpu").mkdir()
    (tmp_path / "webgpu" / "mine").write_text("mine")
    with pytest.raises(InputError, match="move it away"):
        write_folder(tmp_path / "webgpu", NEW, MARKS)
    remove_folder(tmp_path / "webgpu", MARKS)
    assert content(tmp_path / "webgpu") == {"mine": b"mine"}


def test_writers_at_the_same_time_leave_one_whole_folder(tmp_path):
    folder = tmp_path / "webgpu"
    contents = [{f"{name}{index}": bytes([name]) for index in range(20)} | {"a.txt": b""} for name in range(6)]
    with ThreadPoolExecutor(len(contents)) as pool:
        list(pool.map(lambda files: write_folder(folder, files, MARKS), contents))
    assert content(folder) in contents
    assert [path.name for path in tmp_path.iterdir()] == ["webgpu"]


def test_differences_name_each_kind_of_file(tmp_path):
    write_folder(tmp_path / "webgpu", {"same": b"1", "edited": b"2", "extra/file": b"3"}, MARKS)
    found = differences(tmp_path / "webgpu", {"same": b"1", "edited": b"x", "gone": b"y"})
    assert [(Path(item.file).name, item.message.split(":")[0]) for item in found] == [
        ("edited", "the file is stale or was edited"),
        ("file", "the file does not belong here"),
        ("gone", "the file is missing"),
    ]


def test_there_is_no_difference_after_writing(tmp_path):
    write_folder(tmp_path / "webgpu", NEW, MARKS)
    assert differences(tmp_path / "webgpu", NEW) == []


def test_everything_is_missing_where_there_is_no_folder(tmp_path):
    assert len(differences(tmp_path / "webgpu", NEW)) == len(NEW)


def test_a_folder_made_is_readable_by_others_as_the_mask_allows(tmp_path):
    write_folder(tmp_path / "webgpu", NEW, MARKS)
    assert (tmp_path / "webgpu").stat().st_mode & 0o777 == 0o777 & ~writer._umask()


def test_removing_a_folder_that_is_not_there_is_no_error(tmp_path):
    remove_folder(tmp_path / "nowhere" / "webgpu", MARKS)
    write_folder(tmp_path / "webgpu", NEW, MARKS)
    remove_folder(tmp_path / "webgpu", MARKS)
    assert not (tmp_path / "webgpu").exists()


def test_what_is_no_file_differs_without_being_read(tmp_path):
    folder = tmp_path / "webgpu"
    write_folder(folder, {"a.txt": b"", "b.txt": b""}, MARKS)
    for name in ("a.txt", "b.txt"):
        (folder / name).unlink()
    os.mkfifo(folder / "a.txt")
    (folder / "b.txt").symlink_to("nowhere")
    assert [problem.message for problem in differences(folder, {"a.txt": b"", "b.txt": b""})] == ["this is no file"] * 2
