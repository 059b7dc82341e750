"""One engine for all that lowered packages are run on."""

from collections.abc import Iterator

import pytest

from scanbuild.gpu import Engine
from tests.engines import open_for_test


@pytest.fixture(scope="session")
def engine() -> Iterator[Engine]:
    with open_for_test("wgpu") as opened:
        yield opened


@pytest.fixture
def patient_engine(engine: Engine) -> Iterator[Engine]:
    """The engine, for a long run beside others: it is not given up as long as a compiler may still be at work."""
    before, engine.call_limit_s = engine.call_limit_s, 900.0
    yield engine
    engine.call_limit_s = before
