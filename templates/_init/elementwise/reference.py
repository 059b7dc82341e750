"""The expected values of `<: op_id :>`. This file is run by `scanbuild verify` on your machine, and never published."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

Arrays = dict[str, NDArray[Any]]


def reference(inputs: Arrays, attrs: Mapping[str, Any], args: Mapping[str, Any]) -> Arrays:  # noqa: ARG001
    """The outputs by name. `inputs` are arrays by name; `attrs` has the defaults of the manifest filled in.

    Compute in float64, or in whole numbers, so that what differs is the kernel's error alone. The result is compared
    with the kernel's output at the tolerance that a case of test.json gives.
    """
    x = inputs["x"]
    exact = x.astype(np.float64 if x.dtype.kind == "f" else np.int64)
    y = exact * attrs["factor"]
    # Whole numbers wrap around on a GPU, as they do when NumPy makes them narrower.
    return {"y": y if x.dtype.kind == "f" else y.astype(x.dtype)}
