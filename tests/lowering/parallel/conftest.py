"""The engines of the tests of kernels: one for most, since compiling takes long; both where that is the point."""

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
def engine() -> Iterator[Engine]:
    with _opened("wgpu") as opened:
        yield opened


@pytest.fixture(scope="session", params=["wgpu", "dawn"])
def every_engine(request: pytest.FixtureRequest) -> Iterator[Engine]:
    with _opened(request.param) as opened:
        yield opened
