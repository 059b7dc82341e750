"""Engines for the tests of this folder, opened once; the tests are skipped where there is none."""

from collections.abc import Iterator

import pytest

from scanbuild.gpu import Engine
from tests.engines import open_for_test


@pytest.fixture(scope="session")
def wgpu_engine() -> Iterator[Engine]:
    with open_for_test("wgpu") as engine:
        yield engine


@pytest.fixture(scope="session", params=["wgpu", "dawn"])
def engine(request: pytest.FixtureRequest) -> Iterator[Engine]:
    with open_for_test(request.param) as opened:
        yield opened
