"""The peers of ``peers.py``, each run in a process of its own: shapes in, a line of JSON a shape out."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

from scanbuild.bench.inputs import slices_for
from scanbuild.bench.sampling import Entrant, Settings, sample
from scanbuild.bench.statistics import summarise

CACHE_BYTES = 128 << 20
HEAT_ELEMENTS = 1 << 25
HEAT_COPIES = 80
"""Copies of 128 MiB that are queued before each measurement: some 5 ms on a large GPU."""

MOST_BYTES = 4 << 30
INITIALIZER_BYTES = 256 << 20
"""ONNX Runtime gets the data as part of a model, and a model has to stay below 2 GiB; making a large one takes long."""


@dataclass(frozen=True, kw_only=True)
class Shape:
    """One benchmark: a prefix sum along the first axis."""

    name: str
    steps: int
    channels: int
    dtype: str

    @property
    def dims(self) -> tuple[int, ...]:
        """One channel is a plain vector, for which peers have their best code."""
        return (self.steps,) if self.channels == 1 else (self.steps, self.channels)

    @property
    def tensor_bytes(self) -> int:
        return self.steps * self.channels * (2 if self.dtype == "float16" else 4)


class EventMeter:
    """Times by a clock of CUDA: ``clock`` runs an action and gives its seconds.

    ``heat`` queues some milliseconds of work before each measurement, which keeps the device at its speed, as for
    packages, and lets launches run ahead of the device.
    """

    tick_s = 0.5e-6
    by_host = False

    def __init__(
        self, clock: Callable[[Callable[[], None]], float], heat: Callable[[], None], capture: Any = None
    ) -> None:
        self.clock = clock
        self.heat = heat
        self.capture = capture
        self.graphs: dict[tuple[int, int], Any] = {}

    def measure(self, runs: Sequence[tuple[Any, int, int]]) -> list[float]:
        return [self._one(*run) for run in runs]

    def _one(self, load: Any, times: int, lead_in: int) -> float:
        action = self._repeated(load, times)
        self.heat()
        for _ in range(lead_in):
            load()
        return self.clock(action)

    def _repeated(self, load: Any, times: int) -> Callable[[], None]:
        if times > 1 and self.capture is not None:
            key = (id(load), times)
            if key not in self.graphs:
                self.graphs[key] = self.capture(load, times)
            captured: Callable[[], None] = self.graphs[key]
            return captured

        def repeated() -> None:
            for _ in range(times):
                load()

        return repeated


def rotating(action: Callable[[int], None], count: int) -> Callable[[], None]:
    """Calls an action with 0, 1, ... count - 1, 0, ..."""
    turn = 0

    def call() -> None:
        nonlocal turn
        action(turn % count)
        turn += 1

    return call


def measure_both(meter: Any, scan: Any, copy: Any, settings: Settings) -> tuple[float, float]:
    """Median seconds of a scan and of a copy that moves as much, in the same rounds.

    A scan that takes longer than everything may is run once.
    """
    first = meter.measure([(scan, 1, 0)])[0]
    if first > settings.budget_s:
        return first, meter.measure([(copy, 1, 1)])[0]
    found = sample(meter, [Entrant(name="scan", load=scan), Entrant(name="copy", load=copy)], settings)
    return summarise(found.seconds["scan"]).median, summarise(found.seconds["copy"]).median


def run_torch(shape: Shape, settings: Settings) -> tuple[float, float]:
    """``torch.cumsum`` along the steps, into memory that is there."""
    import torch

    kind = getattr(torch, shape.dtype)
    count = slices_for(2 * shape.tensor_bytes, CACHE_BYTES, shape.tensor_bytes, MOST_BYTES)
    whole = torch.rand((count, *shape.dims), device="cuda").to(kind)
    result = torch.empty_like(whole)

    def clock(action: Callable[[], None]) -> float:
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        action()
        end.record()
        torch.cuda.synchronize()
        return float(begin.elapsed_time(end)) * 1e-3

    def capture(load: Callable[[], None], times: int) -> Callable[[], None]:
        load()
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            for _ in range(times):
                load()
        replay: Callable[[], None] = graph.replay
        return replay

    scan = rotating(lambda index: torch.cumsum(whole[index], 0, dtype=kind, out=result[index]), count)
    copy = rotating(lambda index: result[index].copy_(whole[index]), count)
    warm = torch.zeros(2, HEAT_ELEMENTS, device="cuda")

    def heat() -> None:
        for _ in range(HEAT_COPIES):
            warm[1].copy_(warm[0])

    return measure_both(EventMeter(clock, heat, capture), scan, copy, settings)


def run_cupy(shape: Shape, settings: Settings) -> tuple[float, float]:
    """``cupy.cumsum`` along the steps, by CUB where CuPy uses it."""
    import cupy

    kind = getattr(cupy, shape.dtype)
    count = slices_for(2 * shape.tensor_bytes, CACHE_BYTES, shape.tensor_bytes, MOST_BYTES)
    whole = cupy.random.random((count, *shape.dims), dtype=cupy.float32).astype(kind)
    result = cupy.empty_like(whole)

    def clock(action: Callable[[], None]) -> float:
        begin, end = cupy.cuda.Event(), cupy.cuda.Event()
        begin.record()
        action()
        end.record()
        end.synchronize()
        return float(cupy.cuda.get_elapsed_time(begin, end)) * 1e-3

    scan = rotating(lambda index: cupy.cumsum(whole[index], axis=0, dtype=kind, out=result[index]), count)
    copy = rotating(lambda index: cupy.copyto(result[index], whole[index]), count)
    warm = cupy.zeros((2, HEAT_ELEMENTS), dtype=cupy.float32)

    def heat() -> None:
        for _ in range(HEAT_COPIES):
            cupy.copyto(warm[1], warm[0])

    return measure_both(EventMeter(clock, heat), scan, copy, settings)


class HostMeter:
    """Times whole runs by the host."""

    tick_s = 1e-6
    by_host = True

    def measure(self, runs: Sequence[tuple[Any, int, int]]) -> list[float]:
        seconds = []
        for load, times, lead_in in runs:
            for _ in range(lead_in):
                load()
            begin = perf_counter()
            for _ in range(times):
                load()
            seconds.append(perf_counter() - begin)
        return seconds


def run_ort(shape: Shape, settings: Settings) -> tuple[float, float]:
    """``CumSum`` on the WebGPU execution provider; the data are part of the model, one row of the result is fetched."""
    import numpy as np
    import onnxruntime
    from onnx import helper, numpy_helper

    if shape.tensor_bytes > INITIALIZER_BYTES:
        raise ValueError("too large for a model")
    devices = webgpu_devices(onnxruntime)
    values = np.random.default_rng(1).uniform(-1, 1, shape.dims).astype(shape.dtype)
    kind = helper.np_dtype_to_tensor_dtype(np.dtype(shape.dtype))
    constants = {"zero": np.array(0, np.int64), "first": np.array([0], np.int64), "second": np.array([1], np.int64)}

    def session(operator: str, *extra: str) -> Callable[[], None]:
        nodes = [
            helper.make_node(operator, ["x", *extra], ["y"]),
            helper.make_node("Slice", ["y", "first", "second", "first"], ["row"]),
        ]
        row = helper.make_tensor_value_info("row", kind, [1, *shape.dims[1:]])
        tensors = [numpy_helper.from_array(values, "x")]
        tensors += [numpy_helper.from_array(value, name) for name, value in constants.items()]
        graph = helper.make_graph(nodes, "peer", [], [row], tensors)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
        options = onnxruntime.SessionOptions()
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
        options.add_provider_for_devices(devices, {})
        made = onnxruntime.InferenceSession(model.SerializeToString(), options)
        if "WebGpuExecutionProvider" not in made.get_providers():
            raise RuntimeError("ONNX Runtime did not take its WebGPU execution provider")
        return lambda: made.run(None, {})

    return measure_both(HostMeter(), session("CumSum", "zero"), session("Neg"), settings)


def webgpu_devices(onnxruntime: Any) -> list[Any]:
    """The devices of the WebGPU plugin, which is registered at the first call."""
    import onnxruntime_ep_webgpu

    name = onnxruntime_ep_webgpu.get_ep_name()
    if not any(item.ep_name == name for item in onnxruntime.get_ep_devices()):
        onnxruntime.register_execution_provider_library("webgpu", onnxruntime_ep_webgpu.get_library_path())
    devices = [item for item in onnxruntime.get_ep_devices() if item.ep_name == name]
    if not devices:
        raise RuntimeError("ONNX Runtime finds no device for WebGPU")
    return devices[:1]


def check_torch() -> None:
    """RuntimeError if PyTorch has no device."""
    import torch

    if not torch.cuda.is_available():
        raise RuntimeError("PyTorch finds no CUDA device")


def check_cupy() -> None:
    """An error of CUDA if CuPy has no device."""
    import cupy

    cupy.cuda.runtime.getDeviceCount()


def check_ort() -> None:
    """RuntimeError if ONNX Runtime has no device for WebGPU."""
    import onnxruntime

    webgpu_devices(onnxruntime)


PEERS = {"torch": (check_torch, run_torch), "cupy": (check_cupy, run_cupy), "ort": (check_ort, run_ort)}


def serve(peer: str, task: Path) -> int:
    """Measure the shapes of a task file with one peer. A peer that cannot be used says so in its only line."""
    content = json.loads(task.read_text())
    settings = Settings(**content["settings"])
    check, run = PEERS[peer]
    try:
        check()
    except Exception as error:
        print(json.dumps({"unusable": words(error)}), flush=True)
        return 1
    # Small ones first: a peer that takes too long for large ones has been measured until then.
    for shape in sorted((Shape(**members) for members in content["shapes"]), key=lambda item: item.tensor_bytes):
        try:
            scan, copy = run(shape, settings)
            line = {"name": shape.name, "seconds": scan, "copy": copy}
        except Exception as error:
            line = {"name": shape.name, "error": words(error)}
        print(json.dumps(line), flush=True)
    return 0


def words(error: Exception) -> str:
    """An error in a line."""
    return f"{type(error).__name__}: {error}".splitlines()[0][:200]
