"""From the operators of ONNX to the operations of the normal form.

``walker`` goes through a body; for each node it calls the function that ``registry`` has for the operator, which lays
operations down with a ``builder``. What is known when a model is read (constants, and shapes, as tensors of sizes) is
computed at once and leaves no operation behind.
"""

from scanbuild.lowering.translate.builder import Builder
from scanbuild.lowering.translate.symbols import Symbols
from scanbuild.lowering.translate.values import RefusedError, Value
from scanbuild.lowering.translate.walker import Walker

__all__ = ["Builder", "RefusedError", "Symbols", "Value", "Walker"]
