"""Operators whose value is known when a model is read."""

import numpy as np

from scanbuild.lowering.translate.registry import Call, operator
from scanbuild.lowering.translate.values import RefusedError, Value, array_of


@operator("Constant")
def constant(call: Call) -> Value:
    if call.has("value"):
        return call.builder.constant(array_of(call.attribute("value")))
    for name, dtype in {"value_float": "float32", "value_int": "int64"}.items():
        for key in (name, f"{name}s"):
            if call.has(key):
                return call.builder.constant(np.asarray(call.attribute(key), dtype))
    raise RefusedError("its value is no dense tensor of numbers", "give it a dense tensor")
