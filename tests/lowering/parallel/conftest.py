"""The engines of the tests of kernels: one for most, since compiling takes long; both where that is the point."""

from collections.abc import Iterator

import pytest

from scanbuild.gpu import Engine
from tests.engines import open_for_test


@pytest.fixture(scope="session")
def engine() -> Iterator[Engine]:
    with open_for_test("wgpu") as opened:
        yield opened


@pytest.fixture(scope="session", params=["wgpu", "dawn"])
def every_engine(request: pytest.FixtureRequest) -> Iterator[Engine]:
    with open_for_test(request.param) as opened:
        yield opened
