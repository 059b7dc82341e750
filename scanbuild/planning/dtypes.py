"""The nine dtypes: their storage on the GPU, their natural form on the host, their WGSL scalars (7.1)."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final

import numpy as np


@dataclass(frozen=True, kw_only=True, slots=True)
class Dtype:
    """One dtype. ``storage`` is the NumPy type of its GPU form, ``natural`` of its host form; both little-endian.

    int64 is two words on the GPU, low word first, which is how a little-endian int64 lies in memory anyway.
    """

    name: str
    scalar: str
    storage: "np.dtype[Any]"
    natural: "np.dtype[Any]"
    onnx_code: int

    @property
    def bytes(self) -> int:
        """Bytes of one element on the GPU."""
        return self.storage.itemsize


def _dtype(name: str, scalar: str, storage: str, natural: str, onnx_code: int) -> Dtype:
    return Dtype(name=name, scalar=scalar, storage=np.dtype(storage), natural=np.dtype(natural), onnx_code=onnx_code)


DTYPES: Final[Mapping[str, Dtype]] = MappingProxyType(
    {
        item.name: item
        for item in (
            _dtype("float32", "f32", "<f4", "<f4", 1),
            _dtype("float16", "f16", "<f2", "<f2", 10),
            _dtype("int32", "i32", "<i4", "<i4", 6),
            _dtype("uint32", "u32", "<u4", "<u4", 12),
            _dtype("int8", "i32", "<i4", "<i1", 3),
            _dtype("int16", "i32", "<i4", "<i2", 5),
            _dtype("uint8", "u32", "<u4", "<u1", 2),
            _dtype("bool", "u32", "<u4", "<u1", 9),
            _dtype("int64", "vec2<u32>", "<i8", "<i8", 7),
        )
    }
)

ONNX_CODES: Final[Mapping[int, str]] = MappingProxyType({item.onnx_code: item.name for item in DTYPES.values()})


def is_dtype(name: object) -> bool:
    """Whether a caller's value names a dtype."""
    return isinstance(name, str) and name in DTYPES


def element_count(shape: Sequence[int]) -> int:
    """The number of elements of a shape: 1 for rank 0."""
    return math.prod(shape)


def buffer_size(dtype: str, shape: Sequence[int], packed: bool = False) -> int:
    """Bytes of the buffer of a tensor: its data rounded up to whole words, at least one word."""
    count = element_count(shape)
    length = count if packed else count * DTYPES[dtype].bytes
    return max(4, -(-length // 4) * 4)
