"""Engines for the tests of this folder, opened once; the tests are skipped where there is none."""

from collections.abc import Iterator

import pytest

from scanbuild.errors import NoAdapterError
from scanbuild.gpu import Engine, EngineName, open_engine


def _opened(name: EngineName) -> Engine:
    try:
        return open_engine(name)
    except NoAdapterError as error:
        pytest.skip(str(error))


@pytest.fixture(scope="session")
def wgpu() -> Iterator[Engine]:
    with _opened("wgpu") as engine:
        yield engine


@pytest.fixture(scope="session")
def dawn() -> Iterator[Engine]:
    with _opened("dawn") as engine:
        yield engine


@pytest.fixture(params=["wgpu", "dawn"])
def engine(request: pytest.FixtureRequest) -> Engine:
    opened: Engine = request.getfixturevalue(request.param)
    return opened
