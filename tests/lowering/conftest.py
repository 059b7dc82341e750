"""One engine for all that lowered packages are run on."""

from collections.abc import Iterator

import pytest

from scanbuild.errors import NoAdapterError
from scanbuild.gpu import Engine, open_engine


@pytest.fixture(scope="session")
def engine() -> Iterator[Engine]:
    try:
        opened = open_engine("wgpu")
    except NoAdapterError as error:
        pytest.skip(str(error))
    with opened:
        yield opened


@pytest.fixture
def patient_engine(engine: Engine) -> Iterator[Engine]:
    """The engine, for a long run beside others: it is not given up as long as a compiler may still be at work."""
    before, engine.call_limit_s = engine.call_limit_s, 900.0
    yield engine
    engine.call_limit_s = before
