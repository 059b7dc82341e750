"""A kernel that doubles, on a device that the tests share."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from scanbuild.errors import NoAdapterError
from scanbuild.gpu import Engine, open_engine
from scanbuild.kernel import Kernel, load_kernel
from tests.cases.packages import manifest, write_package


@pytest.fixture(scope="package")
def engine() -> Iterator[Engine]:
    try:
        opened = open_engine("wgpu")
    except NoAdapterError as error:
        pytest.skip(str(error))
    with opened:
        yield opened


@pytest.fixture(scope="package")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("double")
    write_package(folder, manifest(), None)
    return folder


@pytest.fixture
def kernel(engine: Engine, root: Path) -> Kernel:
    return load_kernel(root, device=engine.device)
