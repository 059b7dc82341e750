"""The expected values of `ai.onnx.Scan`, and how far a correct kernel may be from them.

Floats are summed in float64, which is exact enough to serve as the truth beside float32 sums; integers are summed
exactly and wrapped at 32 bits.

Tolerances. Let u be the unit roundoff of the accumulator (2**-24: float16 is accumulated in float32, too) and let d be
the largest number of rounded additions that any term goes through on its way into a sum. Whatever the order of the
additions, a computed sum differs from the exact one by at most

    gamma(d) * S,   gamma(d) = d * u / (1 - d * u),   S = |initial_state| + |x[0]| + ... + |x[t]|

(Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed., section 4.2). A walk from the first step to the last
has d = steps, and no variant has more: they add groups of terms before they add the groups. Since the comparison allows
tolerance * max(1, |want|), a case with real-valued data states

    tolerance >= gamma(d) * max(S) / max(1, min|want|)

with its d in a `$comment`; for data of one sign S equals |want|, so that gamma(d) alone is enough. Rounding a float16
result adds 2**-11 relative to it. A tolerance of 0 stands beside integer-valued data whose partial sums all stay below
2**24 (2**11 for float16): they are exact in any order, so that any fault of indexing shows.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

Arrays = dict[str, NDArray[Any]]


def reference(inputs: Arrays, attrs: Mapping[str, Any], args: Mapping[str, Any]) -> Arrays:  # noqa: ARG001
    """Scan `scan_input` [steps, dim] from `initial_state` [dim]; float64 for floats, the dtype of the inputs else."""
    start, terms = inputs["initial_state"], inputs["scan_input"]
    exact = np.float64 if start.dtype.kind == "f" else np.int64
    rows = np.concatenate([start[np.newaxis], terms[::-1] if attrs.get("reverse") else terms]).astype(exact)
    with np.errstate(invalid="ignore", over="ignore"):
        sums = np.cumsum(rows, axis=0)
    if exact is np.int64:
        sums = (sums & 0xFFFFFFFF).astype(np.uint32).astype(start.dtype)
    walked = sums[1:]
    return {"final_state": sums[-1], "scan_output": walked[::-1] if attrs.get("reverse") else walked}
