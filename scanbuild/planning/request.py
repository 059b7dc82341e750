"""What a caller passes to a kernel (section 8): tensors, scalars, attributes and destinations."""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy.typing as npt

from scanbuild.package.model import Json


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class HostTensor:
    """Data on the host. ``dtype`` None lets the class of the array decide.

    ``array`` None stands for data that are not at hand: the call is planned, but nothing can be uploaded.
    ``array_class`` is the name of the JavaScript array class the data count as; None takes it from the NumPy dtype
    (see :func:`array_class_of`). ``shape`` is checked when the call is planned, not here.
    """

    shape: Any
    array: npt.NDArray[Any] | None = None
    dtype: str | None = None
    array_class: str | None = None

    @classmethod
    def of(cls, array: npt.NDArray[Any], dtype: str | None = None) -> "HostTensor":
        """A NumPy array with its own shape. An ``np.bool_`` array counts as dtype ``bool``."""
        return cls(shape=tuple(array.shape), array=array, dtype=dtype)


@dataclass(frozen=True, kw_only=True, slots=True)
class ResidentTensor:
    """The result of an earlier call that stayed on the GPU. Two tensors of one ``buffer`` are one tensor.

    ``dtype`` is the storage dtype, ``logical`` the dtype the caller is told.
    """

    buffer: Hashable
    shape: tuple[int, ...]
    dtype: str
    logical: str
    packed: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Destination:
    """A wish for an output. One whose ``shape`` is no list or tuple is ignored, its ``dtype`` too."""

    shape: Any = None
    dtype: str | None = None


Tensor: TypeAlias = HostTensor | ResidentTensor
Scalar: TypeAlias = bool | int | float | str | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Request:
    """One call: ``inputs`` may hold scalar arguments beside tensors, which go before those of ``args``."""

    inputs: Mapping[str, Tensor | Scalar] = field(default_factory=dict)
    attrs: Mapping[str, Json] = field(default_factory=dict)
    args: Mapping[str, Json] = field(default_factory=dict)
    outputs: Mapping[str, ResidentTensor | Destination] = field(default_factory=dict)
