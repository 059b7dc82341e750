"""Engines for tests, which are skipped where there is none."""

import pytest

from scanbuild.errors import NoAdapterError
from scanbuild.gpu import Engine, EngineName, open_engine


def open_for_test(name: EngineName) -> Engine:
    """An engine, open; its test is skipped, with the reason, where it has no adapter."""
    try:
        return open_engine(name)
    except NoAdapterError as error:
        pytest.skip(str(error))
