"""Engines for the tests of this folder, opened once; the tests are skipped where there is none."""

from collections.abc import Iterator

import pytest

from scanbuild.gpu import Engine
from tests.engines import open_for_test


@pytest.fixture(scope="session")
def wgpu() -> Iterator[Engine]:
    with open_for_test("wgpu") as engine:
        yield engine


@pytest.fixture(scope="session")
def dawn() -> Iterator[Engine]:
    with open_for_test("dawn") as engine:
        yield engine


@pytest.fixture(params=["wgpu", "dawn"])
def engine(request: pytest.FixtureRequest) -> Engine:
    opened: Engine = request.getfixturevalue(request.param)
    return opened
