"""Host data to the form they have on the GPU (7.2): by the class of the array and the dtype, as JavaScript converts.

NumPy arrays stand for JavaScript typed arrays. uint16 stands for raw float16 bits, as a ``Uint16Array`` does. A
NumPy bool array is a ``Uint8Array`` with an explicit dtype ``bool``: no JavaScript class says as much, but
``np.bool_`` leaves no doubt about what is meant.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from scanbuild.planning.dtypes import DTYPES, is_dtype
from scanbuild.planning.failures import fail
from scanbuild.planning.request import HostTensor

CLASS_DTYPES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "Float32Array": "float32",
        "Int8Array": "int8",
        "Int16Array": "int16",
        "Int32Array": "int32",
        "Uint8Array": "uint8",
        "Uint8ClampedArray": "uint8",
        "Uint16Array": "float16",
        "Uint32Array": "uint32",
        "Float16Array": "float16",
        "BigInt64Array": "int64",
    }
)
"""The dtype that a class stands for where none is given. No other class is accepted."""

NUMPY_CLASSES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "float32": "Float32Array",
        "float16": "Float16Array",
        "int8": "Int8Array",
        "int16": "Int16Array",
        "int32": "Int32Array",
        "int64": "BigInt64Array",
        "uint8": "Uint8Array",
        "uint16": "Uint16Array",
        "uint32": "Uint32Array",
        "bool": "Uint8Array",
    }
)

_HINTS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "float64": "convert it with .astype(np.float32)",
        "uint64": "convert it with .astype(np.int64) or .astype(np.uint32)",
    }
)

_INT64_BOUNDS: Final = {"int32": (-(2**31), 2**31 - 1), "uint32": (0, 2**32 - 1)}


@dataclass(frozen=True, kw_only=True, slots=True)
class HostType:
    """What host data count as: the class of their array and their dtype."""

    array_class: str
    dtype: str


def host_type(name: str, tensor: HostTensor) -> HostType:
    """The class and dtype of the host data given for tensor ``name``; CallError where there is no such pair."""
    dtype = tensor.dtype
    if dtype is not None and not is_dtype(dtype):
        raise fail(f"input `{name}`: unknown dtype `{dtype}`", hint=f"one of {', '.join(DTYPES)}", rule="host-dtype")
    array_class = _class_of(name, tensor)
    if dtype is None:
        is_bool = tensor.array is not None and tensor.array_class is None and tensor.array.dtype == np.bool_
        dtype = "bool" if is_bool else CLASS_DTYPES[array_class]
    if (array_class == "BigInt64Array") != (dtype == "int64"):
        raise fail(f"input `{name}`: a {array_class} cannot be passed as {dtype}", rule="host-int64")
    if array_class == "Float16Array" and dtype != "float16":
        raise fail(f"input `{name}`: a {array_class} can be passed as float16 only, not as {dtype}", rule="host-dtype")
    return HostType(array_class=array_class, dtype=dtype)


def _class_of(name: str, tensor: HostTensor) -> str:
    array_class = tensor.array_class
    if array_class is None and tensor.array is not None:
        kind = tensor.array.dtype.name
        if kind not in NUMPY_CLASSES:
            hint = _HINTS.get(kind, f"one of {', '.join(NUMPY_CLASSES)}")
            raise fail(f"input `{name}`: an array of {kind} is no kernel input", hint=hint, rule="host-class")
        array_class = NUMPY_CLASSES[kind]
    elif array_class is None:
        if tensor.dtype is None:
            raise fail(f"input `{name}`: without data the dtype has to be given", rule="host-class")
        array_class = "Uint8Array" if tensor.dtype == "bool" else NUMPY_CLASSES[tensor.dtype]
    if array_class not in CLASS_DTYPES:
        hint = f"one of {', '.join(CLASS_DTYPES)}"
        raise fail(f"input `{name}`: a {array_class} is no kernel input", hint=hint, rule="host-class")
    return array_class


def to_storage(array: npt.NDArray[Any], kind: HostType) -> npt.NDArray[Any]:
    """The data in the storage form of their dtype, flat, little-endian, converted as typed arrays convert."""
    flat = np.ascontiguousarray(array).reshape(-1)
    target = DTYPES[kind.dtype].storage
    if kind.dtype == "float16":
        return _half_bits(flat, kind.array_class)
    if flat.dtype.kind == "f" and target.kind in "iu":
        return _wrap_floats(flat).astype(target, casting="unsafe")
    return flat.astype(target, casting="unsafe")


def _half_bits(flat: npt.NDArray[Any], array_class: str) -> npt.NDArray[Any]:
    target = np.dtype("<f2")
    if array_class == "Float16Array":
        return flat.astype(target)
    # Every other class holds numbers that are taken as the bits of a half.
    bits = _wrap_floats(flat) if flat.dtype.kind == "f" else flat
    return bits.astype(np.dtype("<u2"), casting="unsafe").view(target)


def _wrap_floats(flat: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    """Floats as integers modulo 2 to the 32nd: truncated, NaN and infinities as 0."""
    wide = flat.astype(np.float64)
    finite = np.where(np.isfinite(wide), np.trunc(wide), 0.0)
    return np.fmod(finite, 2.0**32).astype(np.int64)


def narrow(name: str, words: npt.NDArray[Any], target: str, saturating: bool) -> npt.NDArray[Any]:
    """int64 data as ``target`` (int32 or uint32): clamped, or checked to be in range (CallError)."""
    low, high = _INT64_BOUNDS[target]
    if not saturating:
        bad = np.flatnonzero((words < low) | (words > high))
        if bad.size:
            index = int(bad[0])
            message = f"input `{name}`: element {index} is {int(words[index])}, outside the range of {target}"
            raise fail(message, hint=f"{low} to {high}", rule="host-narrow")
    narrowed: npt.NDArray[Any] = np.clip(words, low, high).astype(DTYPES[target].storage)
    return narrowed


def pack_bytes(name: str, words: npt.NDArray[Any]) -> npt.NDArray[np.uint8]:
    """uint8 words (uint32) packed four to a word, the last one filled up with zeros; CallError beyond 255."""
    bad = np.flatnonzero(words > 255)
    if bad.size:
        index = int(bad[0])
        message = f"input `{name}`: element {index} is {int(words[index])}, packed bytes are 0 to 255"
        raise fail(message, rule="host-packed")
    packed = np.zeros(-(-words.size // 4) * 4, dtype=np.uint8)
    packed[: words.size] = words
    return packed
