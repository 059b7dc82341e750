"""Running a :class:`~scanbuild.planning.plan.Plan` on a real WebGPU adapter.

The room knows plans and device records, and nothing of manifests::

    from scanbuild.gpu import execute, list_adapters, open_engine

    engine = open_engine("wgpu")                    # or "dawn"; adapter="text" to choose; NoAdapterError without one
    engine.record                                   # DeviceRecord: give it to the planner
    result = execute(engine, plan, uploads, resident, keep=False)
    result.outputs["y"]                             # bytes of the buffer of every output in plan.returned
    result.seconds                                  # of the submission, without uploads, compilation and reading back
    engine.live_buffers                             # buffers made through this engine and not yet destroyed
    engine.close()

``uploads`` maps names of ``plan.inputs`` to NumPy arrays in *storage* form (what the buffer shall hold); ``resident``
maps names of inputs or outputs to a :class:`GpuBuffer` of an earlier call. With ``keep=True`` the outputs are such
buffers, which belong to the caller: ``.spec`` (the TensorSpec), ``.read()`` -> bytes, ``.destroy()``. A resident
buffer that is also an output is returned itself. Everything else a call makes is destroyed before it returns, on
errors too. Errors of the engine (compilation, validation, a lost device, a time limit) are a CallError with the
engine's own words, the line of the rendered text and the template.

Importing this package imports no engine: that happens in ``list_adapters`` and ``open_engine``.
"""

from scanbuild.gpu.adapters import Adapter, EngineName, choose_adapter, list_adapters
from scanbuild.gpu.engine import Engine, GpuBuffer, open_engine
from scanbuild.gpu.executor import ExecutionResult, execute
from scanbuild.gpu.quiet import quiet_drivers

__all__ = [
    "Adapter",
    "Engine",
    "EngineName",
    "ExecutionResult",
    "GpuBuffer",
    "choose_adapter",
    "execute",
    "list_adapters",
    "open_engine",
    "quiet_drivers",
]
