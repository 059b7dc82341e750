"""The seven examples in ONNX's own description of ``Scan``."""

from typing import Any

import numpy as np

from tests.lowering.building import Example, scan

_SUM = "y = Add(s, x) z = Identity(y)"
_VECTOR: dict[str, Any] = {"states": "float[2] s", "elements": "float[2] x", "after": "y", "outputs": "float[2] z"}
_SCALAR: dict[str, Any] = {"states": "float s", "elements": "float x", "after": "y", "outputs": "float z"}
_ONE_TO_SIX: dict[str, Any] = {"s": [0, 0], "x": [1, 2, 3, 4, 5, 6]}
_ONE_TO_FIVE: dict[str, Any] = {"s": 0, "x": [1, 2, 3, 4, 5]}
_T3, _T5 = {"t": 3}, {"t": 5}

SEED: dict[str, tuple[Example, dict[str, Any]]] = {
    example.name: (example, expected)
    for example, expected in [
        (
            scan("scan9_sum", _SUM, **_VECTOR, sizes=_T3, values=_ONE_TO_SIX),
            {"final_s": [9, 12], "all_z": [[1, 2], [4, 6], [9, 12]]},
        ),
        (
            scan("scan9_scalar", _SUM, **_SCALAR, sizes=_T5, values=_ONE_TO_FIVE),
            {"final_s": 15, "all_z": [1, 3, 6, 10, 15]},
        ),
        (
            scan(
                "scan9_multi_state",
                "y = Add(s, x) q = Mul(p, x) z = Identity(y)",
                states="float[2] s; float[2] p",
                elements="float[2] x",
                after="y q",
                outputs="float[2] z",
                sizes=_T3,
                values={**_ONE_TO_SIX, "p": [1, 1]},
            ),
            {"final_s": [9, 12], "final_p": [15, 48], "all_z": [[1, 2], [4, 6], [9, 12]]},
        ),
        (
            scan("cc_scan9_input_axis_negative", _SUM, **_VECTOR, in_axes=[-1], sizes=_T3, values=_ONE_TO_SIX),
            {"final_s": [6, 15], "all_z": [[1, 4], [3, 9], [6, 15]]},
        ),
        (
            scan("cc_scan9_input_reverse", _SUM, **_SCALAR, in_directions=[1], sizes=_T5, values=_ONE_TO_FIVE),
            {"final_s": 15, "all_z": [5, 9, 12, 14, 15]},
        ),
        (
            scan("cc_scan9_output_axis1", _SUM, **_VECTOR, out_axes=[1], sizes=_T3, values=_ONE_TO_SIX),
            {"final_s": [9, 12], "all_z": [[1, 4, 9], [2, 6, 12]]},
        ),
        (
            scan("cc_scan9_output_reverse", _SUM, **_SCALAR, out_directions=[1], sizes=_T5, values=_ONE_TO_FIVE),
            {"final_s": 15, "all_z": [15, 10, 6, 3, 1]},
        ),
    ]
}


def expected(name: str) -> dict[str, np.ndarray]:
    """What the description says comes out."""
    return {key: np.array(value, np.float32) for key, value in SEED[name][1].items()}
