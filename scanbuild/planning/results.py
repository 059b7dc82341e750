"""From the bytes of an output buffer to a NumPy array in natural form (8.4)."""

from typing import Any

import numpy as np
import numpy.typing as npt

from scanbuild.planning.dtypes import DTYPES, element_count
from scanbuild.planning.plan import TensorSpec
from scanbuild.planning.request import ResidentTensor


def to_array(spec: TensorSpec, data: bytes | memoryview) -> npt.NDArray[Any]:
    """The tensor that the bytes of its buffer hold, in its own shape.

    int8, int16, uint8 and bool wrap; bool comes as uint8, because a kernel may leave other values than 0 and 1. A
    projected int64 is extended to 64 bits, with its sign if it is stored as int32. Packed bytes are unpacked.
    """
    count = element_count(spec.shape)
    storage = np.dtype("<u1") if spec.packed else DTYPES[spec.dtype].storage
    words = np.frombuffer(data, dtype=storage, count=count)
    natural = DTYPES[spec.logical].natural
    return words.astype(natural, casting="unsafe").reshape(spec.shape)


def to_resident(spec: TensorSpec, buffer: Any) -> ResidentTensor:
    """The tensor handed to a caller who keeps the result on the GPU; ``buffer`` is the engine's own."""
    return ResidentTensor(buffer=buffer, shape=spec.shape, dtype=spec.dtype, logical=spec.logical, packed=spec.packed)
