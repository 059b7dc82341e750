"""The engines of the tests of kernels."""

from tests.lowering.back.conftest import engine

__all__ = ["engine"]
