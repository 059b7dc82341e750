"""The good package of the checks, to be changed."""

import pytest

from tests.checking.packages import copy_good


@pytest.fixture
def package(tmp_path):
    return copy_good(tmp_path)
