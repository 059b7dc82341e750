"""From the description of a tensor to its elements.

A description is small however large the tensor: elements are only made when a case runs.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt

from scanbuild.planning.dtypes import DTYPES

Array: TypeAlias = npt.NDArray[Any]
Number: TypeAlias = bool | int | float | str

FLOATS: Final = frozenset({"float32", "float16"})
_WORDS: Final[Mapping[str, float]] = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf, "-0": -0.0}


@dataclass(frozen=True, kw_only=True, slots=True)
class Values:
    """All elements, row-major. Text stands for what JSON has no number for, or for a long integer."""

    values: Sequence[Number]


@dataclass(frozen=True, kw_only=True, slots=True)
class Wave:
    """Element i is scale * (sin(i * sin_step) + cos(i * cos_step)): ``fillFloat32``."""

    sin_step: float
    cos_step: float
    scale: float = 1.0


@dataclass(frozen=True, kw_only=True, slots=True)
class Random:
    """NumPy's ``default_rng(seed)``: uniform in [low, high), or whole numbers from low to high - 1."""

    seed: int
    low: float
    high: float
    integers: bool | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Iota:
    """Element i is start + i * step."""

    start: float = 0
    step: float = 1


@dataclass(frozen=True, kw_only=True, slots=True)
class Constant:
    """Every element is the value."""

    value: Number


Data: TypeAlias = Values | Wave | Random | Iota | Constant


@dataclass(frozen=True, kw_only=True, slots=True)
class TensorFixture:
    """A described tensor. ``data`` None means that nothing is known of its elements."""

    dtype: str
    shape: tuple[int, ...]
    data: Data | None

    @property
    def count(self) -> int:
        """The number of elements."""
        return math.prod(self.shape)


def make_array(fixture: TensorFixture) -> Array:
    """The elements in the dtype's natural form, rounded or wrapped to it. ``data`` must be there."""
    wide = _elements(fixture)
    natural = DTYPES[fixture.dtype].natural
    with np.errstate(over="ignore", invalid="ignore"):
        return wide.astype(natural).reshape(fixture.shape)


def expected_array(fixture: TensorFixture) -> Array:
    """The elements as expected values: float64 for floats, not rounded to the dtype; the natural form else."""
    if fixture.dtype not in FLOATS:
        return make_array(fixture)
    return _elements(fixture).astype(np.float64).reshape(fixture.shape)


def whole_number(value: Number) -> int:
    """A number of a case file as an integer: toward zero, true as 1, decimal text exactly. Not for NaN, infinity."""
    return int(value)


def _elements(fixture: TensorFixture) -> Array:
    """A flat array: float64 for floats, int64 (wrapped) else."""
    data, count = fixture.data, fixture.count
    floats = fixture.dtype in FLOATS
    match data:
        case Values():
            return _float_array(data.values) if floats else _integer_array(data.values)
        case Constant():
            one = _float_array([data.value]) if floats else _integer_array([data.value])
            return np.repeat(one, count)
        case Wave():
            index = np.arange(count, dtype=np.float64)
            wide: Array = data.scale * (np.sin(index * data.sin_step) + np.cos(index * data.cos_step))
        case Random():
            wide = _random(data, count, whole=not floats if data.integers is None else data.integers)
        case Iota():
            wide = data.start + np.arange(count) * data.step
        case None:
            raise ValueError("a tensor without data has no elements")
    return wide if floats else _wrapped(wide)


def _random(data: Random, count: int, *, whole: bool) -> Array:
    generator = np.random.default_rng(data.seed)
    if whole:
        return generator.integers(math.ceil(data.low), math.ceil(data.high), size=count)
    return generator.uniform(data.low, data.high, size=count)


def _wrapped(wide: Array) -> Array:
    return wide if wide.dtype == np.int64 else np.trunc(wide).astype(np.int64)


def _float_array(values: Sequence[Number]) -> Array:
    return np.array([float(_WORDS.get(item, item)) if isinstance(item, str) else item for item in values], np.float64)


def _integer_array(values: Sequence[Number]) -> Array:
    mask, sign = (1 << 64) - 1, 1 << 63
    return np.array([((whole_number(item) & mask) ^ sign) - sign for item in values], np.int64)
