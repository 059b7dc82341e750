"""ONNX Runtime on the CPU, running a ``Scan`` alone: where the expected values of a lowered package come from.

It is no oracle for everything. It refuses a scan of no steps, ends the process over some operators on empty tensors,
and lacks others for small integer types. The interpreter stands in for it there.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from scanbuild.errors import InputError, Problem
from scanbuild.lowering.graph import Scan

Array = npt.NDArray[Any]

INSTALL = "pip install 'scanbuild[onnx]'"


class NoAnswerError(Exception):
    """ONNX Runtime does not compute the model; the text says why."""


class Oracle:
    """A session of ONNX Runtime over an isolated model (``onnx.ModelProto``) whose inputs are the ports of ``scan``."""

    def __init__(self, scan: Scan, isolated: Any) -> None:
        """InputError if ONNX Runtime is not installed; NoAnswerError if it does not take the model."""
        self._scan = scan
        try:
            import onnxruntime
        except ImportError:
            message = "ONNX Runtime is not installed; it computes the values that test cases expect"
            raise InputError(Problem(message=message, hint=INSTALL)) from None
        if any(size.number == 0 for node in scan.nodes for size in node.shape):
            raise NoAnswerError("it is not asked about bodies with empty tensors")
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 4
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        # Optimisers reorder sums, and some take x * 0 for 0, which is wrong for NaN and infinity.
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
        try:
            data = isolated.SerializeToString()
            self._session = onnxruntime.InferenceSession(data, options, providers=["CPUExecutionProvider"])
        except Exception as error:
            raise NoAnswerError(_first_line(error)) from None

    def run(self, inputs: Mapping[str, Array]) -> dict[str, Array]:
        """The results by the ports' names, for inputs by the ports' names. NoAnswerError for empty inputs too."""
        if any(inputs[port.name].size == 0 for port in self._scan.inputs):
            raise NoAnswerError("it is not asked about empty tensors")
        feeds = {port.onnx: np.asarray(inputs[port.name], order="C") for port in self._scan.inputs}
        try:
            values = self._session.run([port.onnx for port in self._scan.results], feeds)
        except Exception as error:
            raise NoAnswerError(_first_line(error)) from None
        return {port.name: np.asarray(value) for port, value in zip(self._scan.results, values, strict=True)}


def _first_line(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    return lines[0][:300] if lines else type(error).__name__
