"""A device for the tests of this folder, opened once; those that need it are skipped where there is none."""

from collections.abc import Iterator

import pytest

from scanbuild.bench.sampling import Settings
from scanbuild.gpu import Engine
from tests.engines import open_for_test

FAST = Settings(precision=0.5, least=3, most=8, few=2, budget_s=0.2, warm_up_s=0.0)


@pytest.fixture(scope="session")
def engine() -> Iterator[Engine]:
    with open_for_test("wgpu") as opened:
        yield opened
