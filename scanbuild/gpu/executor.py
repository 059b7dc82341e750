"""Running a plan: upload, dispatch in order, read back, and release whatever is not handed out (10.3, 10.4)."""

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from scanbuild.errors import CallError, Problem
from scanbuild.gpu.engine import Engine, GpuBuffer, read_buffers, wait
from scanbuild.gpu.failures import engine_error
from scanbuild.planning.plan import BindingPlan, PassPlan, Plan, TensorSpec

Uploads = Mapping[str, npt.NDArray[Any]]
Resident = Mapping[str, GpuBuffer]


@dataclass(frozen=True, kw_only=True, slots=True)
class ExecutionResult:
    """What a call gave: every returned output, as the bytes of its buffer or as a buffer that stays on the GPU.

    ``seconds`` is the time from the first submission to the end of the last one, as the host sees it.
    """

    outputs: dict[str, bytes | GpuBuffer] = field(default_factory=dict)
    seconds: float = 0.0


def execute(
    engine: Engine, plan: Plan, uploads: Uploads | None = None, resident: Resident | None = None, keep: bool = False
) -> ExecutionResult:
    """Run a plan; see the room's docstring. CallError if the engine refuses something or exceeds its time limit."""
    uploads, resident = uploads or {}, resident or {}
    for buffer in resident.values():
        buffer.check(engine)
    if not plan.passes and not keep and not resident:
        return ExecutionResult(outputs={name: _untouched(plan, uploads, name) for name in plan.returned})
    call = _Call(engine, plan, uploads, resident)
    return engine.within_limit(lambda: call.run(keep))


class _Call:
    """The buffers of one call, by name. ``own`` lists those to destroy unless they are handed out."""

    def __init__(self, engine: Engine, plan: Plan, uploads: Uploads, resident: Resident) -> None:
        self.engine = engine
        self.plan = plan
        self.uploads = uploads
        self.resident = resident
        self.own: list[Any] = []
        self.tensors: dict[str, Any] = {}
        self.scratches: dict[str, Any] = {}
        self.uniforms: dict[bytes, Any] = {}

    def run(self, keep: bool) -> ExecutionResult:
        kept: dict[str, GpuBuffer] = {}
        try:
            pipelines = [self.engine.pipeline(item) for item in self.plan.passes]
            if self.engine.lost:
                # Compilation took longer than the caller waited: nothing may be submitted any more.
                return ExecutionResult()
            self._make_buffers()
            seconds = self._submit(pipelines)
            if keep:
                kept = {name: self._handed_out(name) for name in self.plan.returned}
                return ExecutionResult(outputs=dict(kept), seconds=seconds)
            return ExecutionResult(outputs=self._read(), seconds=seconds)
        finally:
            handed_out = {id(buffer.handle) for buffer in kept.values()}
            for handle in self.own:
                if id(handle) not in handed_out:
                    self.engine.destroy_buffer(handle)

    def _make_buffers(self) -> None:
        usage = self.engine.usage
        tensor_usage = usage.STORAGE | usage.COPY_SRC | usage.COPY_DST
        for name, spec in {**self.plan.inputs, **self.plan.outputs}.items():
            if name in self.resident:
                self.tensors[name] = self.resident[name].handle
                continue
            self.tensors[name] = self._make(spec.size, tensor_usage, f"tensor {name}")
            if name in self.uploads:
                self._write(self.tensors[name], _padded(self.uploads[name], spec), f"tensor {name}")
        for scratch in self.plan.scratches.values():
            self.scratches[scratch.id] = self._make(scratch.size, usage.STORAGE, f"scratch {scratch.id}")

    def _make(self, size: int, usage: int, what: str) -> Any:
        handle = self.engine.create_buffer(size, usage, what)
        self.own.append(handle)
        return handle

    def _write(self, handle: Any, data: bytes | memoryview, what: str) -> None:
        try:
            self.engine.device.queue.write_buffer(handle, 0, data)
        except Exception as error:
            raise engine_error(error, f"uploading {what}") from error

    def _submit(self, pipelines: list[tuple[Any, Any]]) -> float:
        """Submit the passes, one command buffer up to each submit_after, and wait for the last; the seconds taken."""
        groups = [
            (item, pipeline, self._bind_group(item, layout))
            for item, (pipeline, layout) in zip(self.plan.passes, pipelines, strict=True)
        ]
        if not groups:
            return 0.0
        start, first = time.perf_counter(), 0
        for index, item in enumerate(self.plan.passes):
            if item.submit_after or index == len(groups) - 1:
                self._submit_some(groups[first : index + 1])
                first = index + 1
        return time.perf_counter() - start

    def _submit_some(self, groups: list[tuple[PassPlan, Any, Any]]) -> None:
        device, names = self.engine.device, ", ".join(dict.fromkeys(item.id for item, _, _ in groups))
        try:
            encoder = device.create_command_encoder()
            compute = encoder.begin_compute_pass()
            for item, pipeline, group in groups:
                compute.set_pipeline(pipeline)
                compute.set_bind_group(0, group)
                compute.dispatch_workgroups(*item.grid)
            compute.end()
            device.queue.submit([encoder.finish()])
        except Exception as error:
            raise engine_error(error, f"running {names[:200]}") from error
        wait(self.engine)

    def _bind_group(self, item: PassPlan, layout: Any) -> Any:
        entries = [
            {"binding": index, "resource": {"buffer": self._bound(binding), "offset": 0, "size": binding.size}}
            for index, binding in enumerate(item.bindings)
        ]
        try:
            return self.engine.device.create_bind_group(layout=layout, entries=entries)
        except Exception as error:
            raise engine_error(error, f"binding the buffers of pass {item.id}") from error

    def _bound(self, binding: BindingPlan) -> Any:
        if binding.source == "scratch":
            return self.scratches[binding.ref]
        if binding.source == "tensor":
            return self.tensors[binding.ref]
        if binding.data not in self.uniforms:
            # Uniforms are never written by a shader, so equal ones can be one buffer.
            usage = self.engine.usage
            handle = self._make(binding.size, usage.UNIFORM | usage.COPY_DST, f"uniform {binding.name}")
            self._write(handle, binding.data, f"uniform {binding.name}")
            self.uniforms[binding.data] = handle
        return self.uniforms[binding.data]

    def _handed_out(self, name: str) -> GpuBuffer:
        if name in self.resident:
            return self.resident[name]
        return GpuBuffer(self.engine, self.plan.outputs[name], self.tensors[name])

    def _read(self) -> dict[str, bytes | GpuBuffer]:
        names = list(self.plan.returned)
        if not names:
            return {}
        sizes = [_size(self.plan, self.resident, name) for name in names]
        data = read_buffers(self.engine, [self.tensors[name] for name in names], sizes)
        return dict(zip(names, data, strict=True))


def _size(plan: Plan, resident: Resident, name: str) -> int:
    return resident[name].spec.size if name in resident else plan.outputs[name].size


def _padded(array: npt.NDArray[Any], spec: TensorSpec) -> bytes | memoryview:
    """The bytes of an array in storage form, filled up with zeros to a multiple of 4."""
    data = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
    if data.nbytes > spec.size:
        raise CallError(
            Problem(message=f"tensor {spec.name}: {data.nbytes} bytes for a buffer of {spec.size}", stage="call")
        )
    return data.data if data.nbytes == spec.size else data.tobytes() + bytes(spec.size - data.nbytes)


def _untouched(plan: Plan, uploads: Uploads, name: str) -> bytes:
    """An output that no pass writes: what was uploaded, or zeros."""
    spec = plan.outputs[name]
    return bytes(_padded(uploads[name], spec)) if name in uploads else bytes(spec.size)
