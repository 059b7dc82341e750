"""What a name of a body stands for while it is translated."""

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from scanbuild.lowering.graph import Shape
from scanbuild.lowering.sizes import Size

Array = npt.NDArray[Any]

DTYPES: Final = {
    1: "float32",
    2: "uint8",
    3: "int8",
    5: "int16",
    6: "int32",
    7: "int64",
    9: "bool",
    10: "float16",
    12: "uint32",
}
"""The dtypes that kernels know, by their numbers in ONNX."""

LONGEST_SHAPE: Final = 256
"""Elements up to which an integer tensor is followed as sizes."""


class RefusedError(Exception):
    """A node has no translation. Says why, and what would work."""

    def __init__(self, reason: str, hint: str = "") -> None:
        super().__init__(reason)
        self.reason = reason
        self.hint = hint


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Value:
    """A tensor: the node that computes it, or else its elements, as a constant or as sizes.

    ``sizes`` is an array of objects, each a :class:`Size` or a bool.
    """

    dtype: str
    shape: Shape
    node: str = ""
    array: Array | None = None
    sizes: Array | None = None

    @property
    def rank(self) -> int:
        return len(self.shape)

    @property
    def known(self) -> Array | None:
        """The elements as sizes and bools, if they are known and few."""
        if self.sizes is not None or self.array is None:
            return self.sizes
        if self.array.dtype.kind not in "iub" or self.array.size > LONGEST_SHAPE:
            return None
        return as_sizes(self.array)


def as_sizes(array: Array) -> Array:
    """An array of integers as one of sizes; bools stay what they are."""
    result = np.empty(array.shape, object)
    for index, item in np.ndenumerate(array):
        result[index] = bool(item) if array.dtype.kind == "b" else Size.of(int(item))
    return result


def shape_of(array: Array) -> Shape:
    return tuple(Size.of(size) for size in array.shape)


def dtype_name(number: int) -> str:
    """The name of a dtype of ONNX; RefusedError for one that kernels do not know."""
    if number in DTYPES:
        return DTYPES[number]
    from onnx import TensorProto

    known = ", ".join(DTYPES.values())
    name = TensorProto.DataType.Name(number).lower() if number in TensorProto.DataType.values() else str(number)
    raise RefusedError(f"the type {name} is not supported", f"the types of kernels are {known}")


def array_of(tensor: Any) -> Array:
    """The elements of a tensor of a model. Refused if it has others than it says, or has them elsewhere."""
    from onnx import numpy_helper

    dtype = dtype_name(tensor.data_type)
    if tensor.data_location == tensor.EXTERNAL:
        raise RefusedError(f"the elements of the constant `{tensor.name}` are in a file that was not read")
    try:
        return np.asarray(numpy_helper.to_array(tensor), dtype)
    except Exception as error:
        raise RefusedError(f"the constant cannot be read: {error}") from None


def written(shape: Shape) -> str:
    """A shape for messages."""
    return f"[{', '.join('?' if size.symbols else str(size) for size in shape)}]"
