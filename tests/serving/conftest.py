"""A server of a small package, and a browser; tests of the latter are skipped where there is none."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from scanbuild.errors import NoAdapterError
from scanbuild.gpu.browser.launch import Browser, find_browser
from scanbuild.serving import open_server
from scanbuild.serving.server import PackageServer
from scanbuild.serving.settings import ServeSettings
from scanbuild.serving.shelf import fill_shelf
from tests.cases.packages import case, manifest, write_package

CASES = [case("small", [1, 2], [2, 4]), case("whole", [5, -6], [10, -12], "int32")]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    write_package(tmp_path / "double", manifest(), CASES)
    return tmp_path / "double"


@pytest.fixture
def server(root: Path) -> Iterator[PackageServer]:
    with open_server(fill_shelf([root]), ServeSettings(port=0)) as running:
        yield running


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    try:
        program = find_browser("chromium")
    except NoAdapterError as error:
        pytest.skip(str(error))
    with Browser(program, "about:blank") as started:
        yield started
