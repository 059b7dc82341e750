"""Timing plans: which memory they run on, and what is in the time."""

from dataclasses import replace

import numpy as np
import pytest

from scanbuild.errors import CallError
from scanbuild.gpu import Engine
from scanbuild.gpu.clock import Run
from scanbuild.gpu.engine import read_buffers
from scanbuild.gpu.timing import Load, Memory, Timer, is_alive
from scanbuild.planning.plan import Plan, ScratchSpec
from tests.gpu.plans import DOUBLE, bound, doubling, one_pass, plan, tensor

# Adds to the output, and counts in a scratch how often it ran since the scratch was cleared.
COUNTING = """@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read_write> y: array<f32>;
@group(0) @binding(2) var<storage, read_write> count: array<u32>;
@compute @workgroup_size(1) fn main() { count[0] += 1u; y[0] += x[0] + 100.0 * f32(count[0]); }
"""


def counting(**more: object) -> Plan:
    """y[0] += x[0] + 100 n, n being 1 if the scratch is cleared before each call."""
    bindings = (bound("x", "read", 5), bound("y", "read_write", 5), bound("count", "read_write", 1, "scratch"))
    scratch = ScratchSpec(id="count", dtype="uint32", shape=(1,), size=4)
    return plan(one_pass(COUNTING, bindings, **more), scratches=(scratch,))


def contents(engine: Engine, memory: Memory, name: str, count: int = 5) -> list[list[float]]:
    """What stands in every place of a tensor."""
    spec = tensor(name, count)
    places = memory.tensor(spec)
    size = places.stride * (memory.slices - 1) + spec.size
    data = read_buffers(engine, [places.handle], [size])[0]
    return [
        np.frombuffer(data, np.float32, count, offset=index * places.stride).tolist() for index in range(memory.slices)
    ]


@pytest.fixture
def memory(engine: Engine):
    made = Memory(engine, slices=3)
    yield made
    made.release()
    assert engine.live_buffers == 0


def test_a_block_fills_every_place_of_a_tensor(engine: Engine, memory: Memory):
    spec = tensor("x", 5)
    assert not memory.is_filled(spec)
    memory.fill(spec, np.array([1, 2], np.float32).tobytes())
    assert contents(engine, memory, "x") == [[1, 2, 1, 2, 1]] * 3
    assert memory.is_filled(spec)


def test_a_tensor_larger_than_one_submission_of_copies_is_filled_to_the_end(wgpu_engine: Engine):
    memory, spec = Memory(wgpu_engine), tensor("x", (1 << 24) + (1 << 20) + 1)
    memory.fill(spec, np.arange(1 << 20, dtype=np.float32).tobytes())
    (values,) = contents(wgpu_engine, memory, "x", spec.shape[0])
    memory.release()
    assert values[-2:] == [(1 << 20) - 1, 0]
    assert values[1 << 20 : (1 << 20) + 3] == [0, 1, 2]


def test_calls_take_one_place_after_another_and_compute_there(engine: Engine, memory: Memory):
    made = doubling()
    memory.fill(tensor("x", 5), np.array([1, 2, 3, 4, 5], np.float32).tobytes())
    load = Load(engine, memory, made)
    Timer(engine).measure([Run(load=load, times=2)])
    assert contents(engine, memory, "y") == [[2, 4, 6, 8, 10]] * 2 + [[0] * 5]


def test_loads_that_share_memory_take_turns_on_its_places(engine: Engine, memory: Memory):
    one, other = Load(engine, memory, doubling()), Load(engine, memory, doubling())
    fixed = Load(engine, memory, doubling(), rotates=False)
    Timer(engine).measure([Run(load=one), Run(load=fixed, times=5), Run(load=other, times=3)])
    assert memory.turn == 4


@pytest.mark.parametrize("timestamps", [True, False])
def test_scratches_are_cleared_before_every_call(engine: Engine, memory: Memory, timestamps: bool):
    memory.fill(tensor("x", 5), np.array([1, 0], np.float32).tobytes())
    load = Load(engine, memory, counting(), rotates=False)
    Timer(engine, timestamps=timestamps).measure([Run(load=load, times=4, lead_in=2)])
    assert contents(engine, memory, "y")[0][0] == 6 * 101


def test_passes_that_are_submitted_apart_run_in_their_order(engine: Engine, memory: Memory):
    add = DOUBLE.replace("= 2.0 * x[id.x]", "= y[id.x] + x[id.x]")
    bindings = (bound("x", "read", 5), bound("y", "read_write", 5))
    made = plan(one_pass(DOUBLE, bindings, id="a", submit_after=True), one_pass(add, bindings, id="b"))
    memory.fill(tensor("x", 5), np.ones(5, np.float32).tobytes())
    load = Load(engine, memory, made, rotates=False)
    assert not load.is_plain
    seconds = Timer(engine).measure([Run(load=load, times=2)])
    assert contents(engine, memory, "y")[0] == [3] * 5
    assert len(seconds) == 1


@pytest.mark.parametrize("timestamps", [True, False])
def test_more_calls_take_more_time_and_the_clock_is_told(engine: Engine, memory: Memory, timestamps: bool):
    timer = Timer(engine, timestamps=timestamps)
    assert timer.source == ("timestamps" if timestamps else "host")
    assert 0 < timer.tick_s < 0.01
    load = Load(engine, memory, counting())
    timer.measure([Run(load=load, times=50)])
    rounds = [timer.measure([Run(load=load, times=100), Run(load=load, times=600)]) for _ in range(5)]
    few, many = map(min, zip(*rounds, strict=True))  # the best of some: others may have had the processor meanwhile
    assert few < many < 60


def test_a_device_without_timestamps_is_timed_by_the_host(wgpu_engine: Engine, monkeypatch: pytest.MonkeyPatch):
    without = replace(wgpu_engine.record, features=wgpu_engine.record.features - {"timestamp-query"})
    monkeypatch.setattr(wgpu_engine, "record", without)
    assert Timer(wgpu_engine).source == "host"


def test_a_shader_that_does_not_compile_is_told_and_the_device_lives_on(engine: Engine, memory: Memory):
    with pytest.raises(CallError, match="does not compile"):
        Load(engine, memory, doubling(DOUBLE.replace("2.0", "two")))
    assert is_alive(engine)


def test_memory_beyond_the_device_is_refused(wgpu_engine: Engine):
    memory = Memory(wgpu_engine)
    with pytest.raises(CallError, match="maxBufferSize"):
        memory.tensor(tensor("x", int(wgpu_engine.record.limits["maxBufferSize"])))
    memory.release()
