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
