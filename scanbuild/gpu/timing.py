"""How long plans take on a device: by the device's own clock, or by the host's where the device has none.

::

    memory = Memory(engine, slices=8)          # eight places for every tensor, all in use one after another
    load = Load(engine, memory, plan)          # the plan, bound to them and ready to run any number of times
    timer = Timer(engine)
    timer.measure([Run(load=load, times=20)])  # the seconds that 20 calls took together, for each run

What is measured is a call's work on the device as it is when the caller's data are there already: zeroing the
scratches, which every call gets anew, and all dispatches. Uploads, compilation and reading back are not in it.

All places of a tensor are slices of one buffer. Engines order accesses by buffer, so a call that writes a tensor waits
for the one before it although it writes elsewhere: what is measured are whole calls, one after another.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from scanbuild.errors import CallError
from scanbuild.gpu.clock import ALIGNMENT, MOST_RUNS, NANOSECOND, PROBES, ClockSource, Run, clock_step
from scanbuild.gpu.engine import Engine, read_buffers, wait
from scanbuild.gpu.failures import engine_error
from scanbuild.planning.plan import BindingPlan, PassPlan, Plan, TensorSpec

_COPY_BYTES: Final = 1 << 26
"""Bytes of copies in one submission while memory is filled: drivers dislike long queues of them."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _Slices:
    """A buffer with the same tensor many times over, ``stride`` bytes from one to the next."""

    handle: Any
    stride: int


class Memory:
    """Buffers for the calls that are compared with one another: tensors by name and size, scratches by size.

    ``turn`` counts the calls that were made on it: each takes the next slice, whichever plan makes it, so that the
    time between two uses of a slice is as long as it can be.
    """

    def __init__(self, engine: Engine, slices: int = 1) -> None:
        self.engine = engine
        self.slices = slices
        self.turn = 0
        self._tensors: dict[tuple[str, int], _Slices] = {}
        self._scratches: dict[tuple[int, int], Any] = {}
        self._own: list[Any] = []
        self._filled: set[tuple[str, int]] = set()

    def is_filled(self, spec: TensorSpec) -> bool:
        """Whether :meth:`fill` was called for a tensor of this name and size."""
        return (spec.name, spec.size) in self._filled

    def tensor(self, spec: TensorSpec) -> _Slices:
        """The places of a tensor, zeros at first. CallError if the device does not give them."""
        key = (spec.name, spec.size)
        if key not in self._tensors:
            stride = -(-spec.size // ALIGNMENT) * ALIGNMENT
            usage = self.engine.usage
            flags = usage.STORAGE | usage.COPY_SRC | usage.COPY_DST
            handle = self._make(stride * (self.slices - 1) + spec.size, flags, f"tensor {spec.name}")
            self._tensors[key] = _Slices(handle=handle, stride=stride)
        return self._tensors[key]

    def scratch(self, index: int, size: int) -> Any:
        """The buffer of a plan's scratch number ``index``."""
        if (index, size) not in self._scratches:
            usage = self.engine.usage
            self._scratches[index, size] = self._make(size, usage.STORAGE | usage.COPY_DST, f"scratch {index}")
        return self._scratches[index, size]

    def uniform(self, data: bytes) -> Any:
        """A new uniform buffer with this content."""
        usage = self.engine.usage
        handle = self._make(len(data), usage.UNIFORM | usage.COPY_DST, "a uniform")
        self._write(handle, data)
        return handle

    def fill(self, spec: TensorSpec, block: bytes) -> None:
        """Write a block of bytes, a multiple of 4, over and over into every place of a tensor.

        It is uploaded once, however large the tensor is.
        """
        slices, usage = self.tensor(spec), self.engine.usage
        source = self.engine.create_buffer(len(block), usage.COPY_SRC | usage.COPY_DST, f"filling tensor {spec.name}")
        try:
            self._write(source, block)
            self.engine.within_limit(lambda: self._copy_all(source, len(block), slices, spec.size))
            self._filled.add((spec.name, spec.size))
        finally:
            self.engine.destroy_buffer(source)

    def load(self, plan: Plan, *, rotates: bool = True) -> "Load":
        """A plan bound to this memory; see :class:`Load`."""
        return Load(self.engine, self, plan, rotates=rotates)

    def release(self) -> None:
        """Destroy all buffers."""
        for handle in self._own:
            self.engine.destroy_buffer(handle)
        self._own.clear()
        self._tensors.clear()
        self._scratches.clear()

    def _make(self, size: int, usage: int, doing: str) -> Any:
        handle = self.engine.create_buffer(size, usage, doing)
        self._own.append(handle)
        return handle

    def _write(self, handle: Any, data: bytes) -> None:
        try:
            self.engine.device.queue.write_buffer(handle, 0, data)
        except Exception as error:
            raise engine_error(error, "uploading") from error

    def _copy_all(self, source: Any, length: int, slices: _Slices, size: int) -> None:
        device, pending, encoder = self.engine.device, 0, None
        try:
            for start, part in _pieces(slices.stride, self.slices, size, length):
                encoder = encoder or device.create_command_encoder()
                encoder.copy_buffer_to_buffer(source, 0, slices.handle, start, part)
                pending += part
                if pending >= _COPY_BYTES:
                    device.queue.submit([encoder.finish()])
                    encoder, pending = None, 0
            if encoder is not None:
                device.queue.submit([encoder.finish()])
        except Exception as error:
            raise engine_error(error, "filling a tensor") from error
        wait(self.engine)


def _pieces(stride: int, slices: int, size: int, length: int) -> Iterator[tuple[int, int]]:
    """Where a block goes, and how much of it."""
    for index in range(slices):
        for offset in range(0, size, length):
            yield index * stride + offset, min(length, size - offset)


class Load:
    """A plan bound to memory. ``rotates`` lets every call take the next slice; else all take the first.

    CallError if a shader does not compile or the device lacks memory.
    """

    def __init__(self, engine: Engine, memory: Memory, plan: Plan, *, rotates: bool = True) -> None:
        self.engine = engine
        self.memory = memory
        self.plan = plan
        self.rotates = rotates and memory.slices > 1
        self._pipelines = engine.within_limit(lambda: [engine.pipeline(item) for item in plan.passes])
        self._sections = _sections(plan)
        self._specs = {**plan.inputs, **plan.outputs}
        numbers = {name: index for index, name in enumerate(plan.scratches)}
        self._scratches = {
            name: memory.scratch(numbers[name], scratch.size) for name, scratch in plan.scratches.items()
        }
        self._uniforms: dict[bytes, Any] = {}
        self._groups: dict[int, list[Any]] = {}
        self._entries = {id(item): [self._slices_of(binding) for binding in item.bindings] for item in plan.passes}

    @property
    def is_plain(self) -> bool:
        """Whether its dispatches can all stand in one compute pass: nothing is cleared or submitted between them."""
        return not self._scratches and len(self._sections) == 1

    def dispatch(self, compute: Any) -> None:
        """Encode one call into an open compute pass."""
        for item, (pipeline, _), group in zip(self.plan.passes, self._pipelines, self._next_groups(), strict=True):
            _dispatch(compute, item, pipeline, group)

    def encode(self, recorder: "_Recorder", last: dict[str, Any] | None = None) -> None:
        """Encode one call with its clears and submissions; ``last`` are members for the last compute pass."""
        for handle in self._scratches.values():
            recorder.encoder.clear_buffer(handle)
        groups = self._next_groups()
        for number, section in enumerate(self._sections):
            if number:
                recorder.cut()
            is_last = number == len(self._sections) - 1
            compute = recorder.encoder.begin_compute_pass(**(last if last and is_last else {}))
            for index in section:
                _dispatch(compute, self.plan.passes[index], self._pipelines[index][0], groups[index])
            compute.end()

    def _next_groups(self) -> list[Any]:
        number = self.memory.turn % self.memory.slices if self.rotates else 0
        self.memory.turn += self.rotates
        if number not in self._groups:
            self._groups[number] = [
                self._bind(item, layout, number)
                for item, (_, layout) in zip(self.plan.passes, self._pipelines, strict=True)
            ]
        return self._groups[number]

    def _slices_of(self, binding: BindingPlan) -> _Slices:
        if binding.source == "tensor":
            return self.memory.tensor(self._specs[binding.ref])
        if binding.source == "scratch":
            return _Slices(handle=self._scratches[binding.ref], stride=0)
        if binding.data not in self._uniforms:
            self._uniforms[binding.data] = self.memory.uniform(binding.data)
        return _Slices(handle=self._uniforms[binding.data], stride=0)

    def _bind(self, item: PassPlan, layout: Any, number: int) -> Any:
        entries = [
            {
                "binding": index,
                "resource": {"buffer": place.handle, "offset": number * place.stride, "size": binding.size},
            }
            for index, (binding, place) in enumerate(zip(item.bindings, self._entries[id(item)], strict=True))
        ]
        return self.engine.device.create_bind_group(layout=layout, entries=entries)


class Timer:
    """Measures runs; see :class:`scanbuild.gpu.clock.Timing`. ``tick_s`` is the resolution of the clock in seconds."""

    def __init__(self, engine: Engine, *, timestamps: bool = True) -> None:
        self.engine = engine
        self._period = _period(engine)
        self.source: ClockSource = "timestamps"
        self.tick_s = 0.0
        if timestamps and "timestamp-query" in engine.record.features:
            self.tick_s = self._resolution()
        if not self.tick_s:
            self.source = "host"
            self.tick_s = time.get_clock_info("perf_counter").resolution

    def memory(self, slices: int = 1) -> Memory:
        """New memory with so many places for every tensor."""
        return Memory(self.engine, slices)

    def is_alive(self) -> bool:
        """Whether the device still does what it is told."""
        return is_alive(self.engine)

    def measure(self, runs: Sequence[Run[Load]], before: Run[Load] | None = None) -> list[float]:
        """Seconds of each run. ``before`` is run first in the same submission, untimed, where the device has the clock.

        CallError if the engine refuses something or takes longer than its limit.
        """
        if self.source == "host":
            return [self.engine.within_limit(lambda run=run: self._by_host(run)) for run in runs]  # type: ignore[misc]
        seconds: list[float] = []
        for first in range(0, len(runs), MOST_RUNS):
            some = runs[first : first + MOST_RUNS]
            ticks = self.engine.within_limit(lambda some=some: self._by_device(some, before))  # type: ignore[misc]
            seconds += [float(end - start) * self._period * NANOSECOND for start, end in ticks.reshape(-1, 2)]
        return seconds

    def _by_device(self, runs: Sequence[Run[Load]], before: Run[Load] | None) -> npt.NDArray[np.int64]:
        """The clock before and after each run, in ticks."""

        def encode(recorder: "_Recorder", queries: Any) -> None:
            if before is not None:
                _encode_calls(recorder, before.load, before.times)
            _encode_runs(recorder, queries, runs)

        return self._stamped(len(runs), encode)

    def _stamped(self, count: int, encode: "Callable[[_Recorder, Any], None]") -> npt.NDArray[np.int64]:
        """What the clock showed at ``2 * count`` points that ``encode`` puts into queries."""
        device, usage, size = self.engine.device, self.engine.usage, 16 * count
        target = self.engine.create_buffer(size, usage.QUERY_RESOLVE | usage.COPY_SRC, "reading the clock")
        queries = None
        try:
            queries = device.create_query_set(type="timestamp", count=2 * count)
            recorder = _Recorder(device)
            encode(recorder, queries)
            recorder.encoder.resolve_query_set(queries, 0, 2 * count, target, 0)
            recorder.submit()
            stamps = read_buffers(self.engine, [target], [size])[0]
        except CallError:
            raise
        except Exception as error:
            raise engine_error(error, "measuring") from error
        finally:
            self.engine.destroy_buffer(target)
            if queries is not None and not self.engine.lost:
                queries.destroy()
        return np.frombuffer(stamps, np.uint64).astype(np.int64)

    def _resolution(self) -> float:
        """The step in which the clock advances, from many readings of it; 0 if it does not."""

        def encode(recorder: "_Recorder", queries: Any) -> None:
            for index in range(PROBES):
                writes = {
                    "query_set": queries,
                    "beginning_of_pass_write_index": 2 * index,
                    "end_of_pass_write_index": 2 * index + 1,
                }
                recorder.encoder.begin_compute_pass(timestamp_writes=writes).end()

        try:
            stamps = [self.engine.within_limit(lambda: self._stamped(PROBES, encode)) for _ in range(3)]
        except CallError:
            if self.engine.lost:
                raise
            return 0.0
        return clock_step(np.concatenate(stamps)) * self._period * NANOSECOND

    def _by_host(self, run: Run[Load]) -> float:
        """Everything is encoded beforehand: the clock runs from the submission until the device has ended."""
        try:
            lead, recorder = _Recorder(self.engine.device), _Recorder(self.engine.device)
            for _ in range(run.lead_in):
                run.load.encode(lead)
            lead.submit()
            wait(self.engine)
            for _ in range(run.times):
                run.load.encode(recorder)
            recorder.cut()
            start = time.perf_counter()
            recorder.submit()
            wait(self.engine)
            return time.perf_counter() - start
        except CallError:
            raise
        except Exception as error:
            raise engine_error(error, "measuring") from error


class _Recorder:
    """Commands on their way to the device, cut into submissions."""

    def __init__(self, device: Any) -> None:
        self._device = device
        self._open: Any = None
        self._done: list[Any] = []

    @property
    def encoder(self) -> Any:
        if self._open is None:
            self._open = self._device.create_command_encoder()
        return self._open

    def cut(self) -> None:
        """What follows is submitted by itself."""
        if self._open is not None:
            self._done.append(self._open.finish())
            self._open = None

    def submit(self) -> None:
        self.cut()
        for commands in self._done:
            self._device.queue.submit([commands])
        self._done.clear()


def _encode_runs(recorder: _Recorder, queries: Any, runs: Sequence[Run[Load]]) -> None:
    for index, run in enumerate(runs):
        _encode_calls(recorder, run.load, run.lead_in)
        start = {"query_set": queries, "beginning_of_pass_write_index": 2 * index}
        end = {"query_set": queries, "end_of_pass_write_index": 2 * index + 1}
        if run.load.is_plain:
            compute = recorder.encoder.begin_compute_pass(timestamp_writes={**start, **end})
            for _ in range(run.times):
                run.load.dispatch(compute)
            compute.end()
            continue
        # Only a pass can read the clock, and clearing a scratch stands outside of passes: so an empty one begins.
        recorder.encoder.begin_compute_pass(timestamp_writes=start).end()
        for number in range(run.times):
            run.load.encode(recorder, {"timestamp_writes": end} if number == run.times - 1 else None)


def _encode_calls(recorder: _Recorder, load: Load, times: int) -> None:
    """Encode calls that are not timed."""
    if load.is_plain and times:
        compute = recorder.encoder.begin_compute_pass()
        for _ in range(times):
            load.dispatch(compute)
        compute.end()
        return
    for _ in range(times):
        load.encode(recorder)


def _sections(plan: Plan) -> list[list[int]]:
    """The indices of the passes that are submitted together, one list a submission."""
    sections: list[list[int]] = [[]]
    for index, item in enumerate(plan.passes):
        sections[-1].append(index)
        if item.submit_after and index < len(plan.passes) - 1:
            sections.append([])
    return sections


def _dispatch(compute: Any, item: PassPlan, pipeline: Any, group: Any) -> None:
    compute.set_pipeline(pipeline)
    compute.set_bind_group(0, group)
    compute.dispatch_workgroups(*item.grid)


def is_alive(engine: Engine) -> bool:
    """Whether the device still does what it is told: after a failure this tells a lost device from a bad shader."""
    if engine.lost:
        return False
    try:
        engine.within_limit(lambda: wait(engine))
    except CallError:
        return False
    return True


def _period(engine: Engine) -> float:
    """Nanoseconds a tick. WebGPU's timestamps are nanoseconds; wgpu hands out the device's own ticks."""
    if engine.name != "wgpu":
        return 1.0
    try:
        from wgpu.backends.wgpu_native import _api

        return float(_api.libf.wgpuQueueGetTimestampPeriod(engine.device.queue._internal))
    except (ImportError, AttributeError):
        return 1.0
