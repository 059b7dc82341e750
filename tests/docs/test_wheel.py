"""The wheel is the same to the byte, whenever and wherever it is built from the same files."""

import os
import zipfile
from pathlib import Path

import pytest

from tools.wheel import BACKEND, ROOT, build_wheel, copy_known_files, digest


def test_only_files_that_git_knows_are_packed(tmp_path: Path):
    copy_known_files(tmp_path)
    assert (tmp_path / "scanbuild" / "__init__.py").read_bytes() == (ROOT / "scanbuild" / "__init__.py").read_bytes()
    assert not [path for path in tmp_path.rglob("*") if path.name in ("__pycache__", ".venv", "node_modules", ".git")]


@pytest.mark.long
def test_two_builds_give_the_same_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    first = build_wheel(tmp_path / "first")
    monkeypatch.setenv("TZ", "Pacific/Apia")
    before = os.umask(0o077)
    try:
        second = build_wheel(tmp_path / "second")
    finally:
        os.umask(before)
    assert digest(first) == digest(second)
    with zipfile.ZipFile(first) as wheel:
        names = wheel.namelist()
        written = wheel.read(next(name for name in names if name.endswith("/WHEEL"))).decode()
    assert f"Generator: {BACKEND.replace('==', ' ')}" in written
    assert "scanbuild/_data/schemas/manifest.schema.json" in names
    assert not [name for name in names if name.startswith(("tests/", "tools/"))]


@pytest.mark.long
def test_the_time_of_the_build_comes_from_outside_where_it_is_given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    with zipfile.ZipFile(build_wheel(tmp_path)) as wheel:
        assert {entry.date_time[:3] for entry in wheel.infolist()} == {(2023, 11, 14)}
