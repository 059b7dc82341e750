"""An engine: a device of one adapter, the buffers made on it, and its compiled pipelines."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import replace
from types import TracebackType
from typing import Any, Final, Self, TypeVar

from scanbuild.errors import CallError, NoAdapterError, Problem
from scanbuild.gpu.adapters import Adapter, EngineName, choose_adapter, describe_handle, engine_module
from scanbuild.gpu.dialects import (
    adapt_wgsl,
    engine_features,
    limits_to_request,
    webgpu_features,
    webgpu_limits,
)
from scanbuild.gpu.failures import compile_error, engine_error, loss, text_error
from scanbuild.gpu.interface import DispatchJob, Job, JobResult
from scanbuild.gpu.jobs import run_job
from scanbuild.gpu.probe import compile_failures, language_features, subgroup_sizes
from scanbuild.planning.device import DeviceRecord, normalise, required_features
from scanbuild.planning.plan import PassPlan, TensorSpec

PIPELINES_KEPT: Final = 256
CALL_LIMIT_S: Final = 60.0
OPEN_LIMIT_S: Final = 60.0

Result = TypeVar("Result")


class Engine:
    """A WebGPU device and what was made on it. ``name`` is "wgpu" or "dawn"; ``record`` is what planning sees.

    ``call_limit_s`` bounds the seconds one call may take on the device. A device that took longer is given up: it
    cannot be stopped, so ``lost`` says why and every later call is a CallError.
    """

    def __init__(self, name: EngineName, module: Any, adapter: Adapter, device: Any, *, owned: bool) -> None:
        self.name = name
        self.adapter = adapter
        self.device = device
        self.usage = module.BufferUsage
        self.map_read = module.MapMode.READ
        self.compute_stage = module.ShaderStage.COMPUTE
        self.call_limit_s = CALL_LIMIT_S
        self.lost = ""
        self.record = _record(name, module, adapter, device)
        self._owned = owned
        self._pipelines: OrderedDict[tuple[Any, ...], tuple[Any, Any]] = OrderedDict()
        self._compiled: set[str] = set()
        self._buffers: dict[int, Any] = {}
        self._lock = threading.Lock()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    @property
    def software(self) -> bool:
        """Whether the adapter computes on the CPU."""
        return self.adapter.software

    @property
    def live_buffers(self) -> int:
        """How many buffers made through this engine are not yet destroyed."""
        return len(self._buffers)

    def describe(self) -> str:
        """Engine and adapter in a line, for people."""
        return f"{self.adapter.describe()} through {self.name}"

    def close(self) -> None:
        """Destroy the buffers and, unless the caller brought it, the device. A second call does nothing."""
        if self.lost:
            # A device that hangs would hang this call, too.
            return
        self.lost = "the engine was closed"
        for buffer in list(self._buffers.values()):
            buffer.destroy()
        self._buffers.clear()
        self._pipelines.clear()
        if self._owned:
            self.device.destroy()

    def adapter_json(self) -> dict[str, Any]:
        """The adapter, for reports."""
        return self.adapter.to_json()

    def run(self, job: Job) -> JobResult:
        """Run a job; see :class:`scanbuild.gpu.interface.Executor`."""
        try:
            return self.within_limit(lambda: run_job(self, job))
        except CallError as error:
            self.lost = self.lost or loss(error)
            raise

    def compile(self, wgsl: str) -> None:
        """Compile a text without running it; see :class:`scanbuild.gpu.interface.Executor`."""
        self.within_limit(lambda: self._compile(wgsl))

    def create_buffer(self, size: int, usage: int, doing: str) -> Any:
        """A zero-filled buffer, counted until :meth:`destroy_buffer`. CallError beyond the device's limits."""
        most = self.record.limits["maxBufferSize"]
        if size > most:
            raise CallError(
                Problem(
                    message=f"{doing} needs a buffer of {size} bytes; the device allows {int(most)} (maxBufferSize)",
                    rule="buffer-size",
                    stage="call",
                )
            )
        try:
            buffer = self.device.create_buffer(size=size, usage=usage)
        except Exception as error:
            raise engine_error(error, f"making a buffer of {size} bytes for {doing}") from error
        self._buffers[id(buffer)] = buffer
        return buffer

    def destroy_buffer(self, buffer: Any) -> None:
        """Release a buffer; one that is already released is no error."""
        if self._buffers.pop(id(buffer), None) is not None and not self.lost:
            buffer.destroy()

    def pipeline(self, item: PassPlan | DispatchJob) -> tuple[Any, Any]:
        """Pipeline and bind-group layout of a pass; equal texts with equal binding types share them.

        CallError with the engine's words if the shader does not compile.
        """
        types = tuple(_buffer_type(binding.access) for binding in item.bindings)
        key = (item.wgsl, types)
        found = self._pipelines.get(key)
        if found is not None:
            self._pipelines.move_to_end(key)
            return found
        try:
            made = self._build(item, types)
        except Exception as error:
            raise compile_error(error, item) from error
        self._pipelines[key] = made
        if len(self._pipelines) > PIPELINES_KEPT:
            self._pipelines.popitem(last=False)
        return made

    def within_limit(self, action: Callable[[], Result], seconds: float | None = None) -> Result:
        """Run the device's part of a call, and give the device up if it takes longer than its limit.

        The engines offer no way to interrupt a compiler or a shader that does not end, and waiting for one holds
        the thread; so the work is done in a thread that can be left behind. One call at a time.
        """
        limit = self.call_limit_s if seconds is None else seconds
        with self._lock:
            if self.lost:
                raise CallError(Problem(message=f"the device cannot be used: {self.lost}", rule="device", stage="call"))
            try:
                return run_limited(action, limit)
            except TimeoutError:
                self.lost = f"an earlier call did not end within {limit:g} s"
                raise CallError(
                    Problem(
                        message=f"the device did not end its work within {limit:g} s and was given up",
                        rule="time-limit",
                        hint="a shader that never ends, or one too large for this adapter",
                        stage="call",
                    )
                ) from None

    def _compile(self, wgsl: str) -> None:
        if wgsl in self._compiled:
            return
        try:
            shader = self.device.create_shader_module(code=adapt_wgsl(self.name, wgsl))
        except Exception as error:
            raise text_error(error, "shader-compilation") from error
        try:
            stage = {"module": shader, "entry_point": "main"}
            self.device.create_compute_pipeline(layout="auto", compute=stage)
        except Exception as error:
            raise text_error(error, "pipeline-limits") from error
        self._compiled.add(wgsl)

    def _build(self, item: PassPlan | DispatchJob, types: tuple[str, ...]) -> tuple[Any, Any]:
        device = self.device
        entries = [
            {"binding": index, "visibility": self.compute_stage, "buffer": {"type": kind}}
            for index, kind in enumerate(types)
        ]
        layout = device.create_bind_group_layout(entries=entries)
        shader = device.create_shader_module(label=item.label, code=adapt_wgsl(self.name, item.wgsl))
        pipeline = device.create_compute_pipeline(
            label=item.label,
            layout=device.create_pipeline_layout(bind_group_layouts=[layout]),
            compute={"module": shader, "entry_point": "main"},
        )
        return pipeline, layout


class GpuBuffer:
    """A tensor that stays on the GPU. The caller owns it and ends it with :meth:`destroy`, or with ``with``."""

    def __init__(self, engine: Engine, spec: TensorSpec, handle: Any) -> None:
        self.engine = engine
        self.spec = spec
        self.handle = handle
        self.destroyed = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.destroy()

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape in elements."""
        return self.spec.shape

    @property
    def dtype(self) -> str:
        """The storage dtype."""
        return self.spec.dtype

    def read(self) -> bytes:
        """The contents of the whole buffer, padding included. CallError if it is destroyed or the device lost."""
        self.check(self.engine)
        return self.engine.within_limit(lambda: read_buffers(self.engine, [self.handle], [self.spec.size])[0])

    def destroy(self) -> None:
        """Release the memory. A second call does nothing."""
        if not self.destroyed:
            self.destroyed = True
            self.engine.destroy_buffer(self.handle)

    def check(self, engine: Engine) -> None:
        """CallError unless the buffer can be used on this engine."""
        if self.destroyed:
            reason = "was destroyed"
        elif self.engine.device is not engine.device:
            reason = "belongs to another device"
        else:
            return
        raise CallError(
            Problem(message=f"the resident tensor {self.spec.name} {reason}", rule="resident", stage="call")
        )


def open_engine(engine: EngineName = "wgpu", adapter: str | None = None, *, device: Any = None) -> Engine:
    """A device on the best adapter, or on the best one that matches the text ``adapter``.

    ``device`` is an existing device of wgpu or wgpudawn to use instead; it stays the caller's. NoAdapterError if
    there is no engine, no adapter, or none that gives a device.
    """
    if device is not None:
        return _adopt(device)
    module = engine_module(engine)
    chosen = choose_adapter(engine, adapter)
    handle = chosen.handle
    features = required_features({"features": webgpu_features(engine, handle.features)})
    try:
        made = run_limited(
            lambda: handle.request_device_sync(
                required_features=engine_features(engine, features),
                required_limits=limits_to_request(handle.limits),
            ),
            OPEN_LIMIT_S,
        )
        return run_limited(lambda: Engine(engine, module, chosen, made, owned=True), OPEN_LIMIT_S)
    except Exception as error:
        raise NoAdapterError(
            Problem(
                message=f"the adapter {chosen.describe()} gives no device: {error or type(error).__name__}",
                hint="choose another with --adapter",
            )
        ) from error


def read_buffers(engine: Engine, handles: list[Any], sizes: list[int]) -> list[bytes]:
    """Copies of whole buffers, after all work submitted so far."""
    copies: list[Any] = []
    try:
        encoder = engine.device.create_command_encoder()
        for handle, size in zip(handles, sizes, strict=True):
            copies.append(engine.create_buffer(size, engine.usage.COPY_DST | engine.usage.MAP_READ, "reading back"))
            encoder.copy_buffer_to_buffer(handle, 0, copies[-1], 0, size)
        engine.device.queue.submit([encoder.finish()])
        return [_mapped(engine, copy) for copy in copies]
    except CallError:
        raise
    except Exception as error:
        raise engine_error(error, "reading back") from error
    finally:
        for copy in copies:
            engine.destroy_buffer(copy)


def wait(engine: Engine) -> None:
    """Return when the device has ended all work. Mapping a buffer is the one way both engines offer."""
    fence = engine.create_buffer(4, engine.usage.COPY_DST | engine.usage.MAP_READ, "waiting")
    try:
        encoder = engine.device.create_command_encoder()
        encoder.clear_buffer(fence)
        engine.device.queue.submit([encoder.finish()])
        fence.map_async(engine.map_read).sync_wait()
    except Exception as error:
        raise engine_error(error, "waiting for the device") from error
    finally:
        engine.destroy_buffer(fence)


def run_limited(action: Callable[[], Result], seconds: float) -> Result:
    """What the action returns or raises, or TimeoutError after so many seconds; then it is left running."""
    results: list[Result] = []
    errors: list[BaseException] = []

    def work() -> None:
        try:
            results.append(action())
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=work, name="scanbuild-device", daemon=True)
    thread.start()
    thread.join(seconds)
    if thread.is_alive():
        raise TimeoutError
    if errors:
        raise errors[0]
    return results[0]


def _mapped(engine: Engine, copy: Any) -> bytes:
    copy.map_async(engine.map_read).sync_wait()
    return bytes(copy.read_mapped(copy=False))


def _adopt(device: Any) -> Engine:
    """The engine over a device that the caller made with wgpu-py or wgpudawn."""
    name: EngineName = "dawn" if type(device).__module__.partition(".")[0] == "wgpudawn" else "wgpu"
    module = engine_module(name)
    adapter = describe_handle(name, device.adapter)
    return Engine(name, module, adapter, device, owned=False)


def _record(name: EngineName, module: Any, adapter: Adapter, device: Any) -> DeviceRecord:
    features = webgpu_features(name, device.features)
    info: dict[str, Any] = {
        "vendor": adapter.vendor,
        "architecture": adapter.architecture,
        "isFallbackAdapter": adapter.software,
    }
    if "subgroups" in features:
        sizes = subgroup_sizes(module, device, adapter.vendor, adapter.software, lambda code: adapt_wgsl(name, code))
        if sizes is not None:
            info["subgroupMinSize"], info["subgroupMaxSize"] = sizes
    record = normalise(
        {"info": info},
        {"wgslLanguageFeatures": language_features(device)},
        {"features": features, "limits": webgpu_limits(device.limits)},
    )
    return replace(record, wgsl_compile_failures=compile_failures(device))


def _buffer_type(access: str) -> str:
    kinds: Mapping[str, str] = {"read": "read-only-storage", "read_write": "storage", "uniform": "uniform"}
    return kinds[access]
