"""Keeping the words of drivers from the user."""

import os
from pathlib import Path

import pytest

from scanbuild.gpu.quiet import runtime_folder


def test_a_session_without_a_runtime_folder_gets_one_for_the_time(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("XDG_RUNTIME_DIR", raising=False)
    with runtime_folder():
        folder = Path(os.environ["XDG_RUNTIME_DIR"])
        assert folder.stat().st_mode & 0o777 == 0o700
    assert "XDG_RUNTIME_DIR" not in os.environ
    assert not folder.exists()


def test_a_runtime_folder_that_is_there_is_left_alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    with runtime_folder():
        assert os.environ["XDG_RUNTIME_DIR"] == str(tmp_path)


def test_a_runtime_folder_that_is_gone_is_replaced_for_the_time_even_if_that_fails(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    gone = str(tmp_path / "gone")
    monkeypatch.setenv("XDG_RUNTIME_DIR", gone)
    with pytest.raises(ValueError, match="driver"), runtime_folder():
        assert Path(os.environ["XDG_RUNTIME_DIR"]).is_dir()
        raise ValueError("driver")
    assert os.environ["XDG_RUNTIME_DIR"] == gone
