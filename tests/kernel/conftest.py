"""A kernel that doubles, on a device that the tests share."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from scanbuild.gpu import Engine
from scanbuild.kernel import Kernel, load_kernel
from tests.cases.packages import manifest, write_package
from tests.engines import open_for_test


@pytest.fixture(scope="package")
def engine() -> Iterator[Engine]:
    with open_for_test("wgpu") as opened:
        yield opened


@pytest.fixture(scope="package")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("double")
    write_package(folder, manifest(), None)
    return folder


@pytest.fixture
def kernel(engine: Engine, root: Path) -> Kernel:
    return load_kernel(root, device=engine.device)
