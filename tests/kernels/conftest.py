"""Engines for the tests of the kernels, opened once; the tests are skipped where there is none."""

from collections.abc import Iterator

import pytest

from scanbuild.errors import NoAdapterError
from scanbuild.gpu import Engine, open_engine


@pytest.fixture(scope="session", params=["wgpu", "dawn"])
def engine(request: pytest.FixtureRequest) -> Iterator[Engine]:
    try:
        opened = open_engine(request.param)
    except NoAdapterError as error:
        pytest.skip(str(error))
    with opened:
        yield opened
