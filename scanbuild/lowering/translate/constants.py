"""Operators whose value is known when a model is read."""

import numpy as np

from scanbuild.lowering.translate.registry import Call, operator
from scanbuild.lowering.translate.values import RefusedError, Value, dtype_name


@operator("Constant")
def constant(call: Call) -> Value:
    from onnx import numpy_helper

    if call.has("value"):
        tensor = call.attribute("value")
        return call.builder.constant(numpy_helper.to_array(tensor), dtype_name(tensor.data_type))
    for name, dtype in {"value_float": "float32", "value_int": "int64"}.items():
        for key in (name, f"{name}s"):
            if call.has(key):
                return call.builder.constant(np.asarray(call.attribute(key), dtype))
    raise RefusedError("its value is no dense tensor of numbers", "give it a dense tensor")
