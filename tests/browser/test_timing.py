"""Timing plans in a page: what is asked of it, what it answers, and what is in the time."""

from typing import Any

import numpy as np
import pytest

from scanbuild.errors import CallError
from scanbuild.gpu.browser import open_hub
from scanbuild.gpu.browser.engine import BrowserEngine
from scanbuild.gpu.browser.jobjson import job_from_json
from scanbuild.gpu.browser.settings import HubSettings
from scanbuild.gpu.browser.timing import BrowserTimer
from scanbuild.gpu.clock import Run
from scanbuild.gpu.interface import BindingJob, BufferJob, Job, Write
from scanbuild.planning.plan import Plan, ScratchSpec
from tests.browser.jobs import FakePage
from tests.browser.timing_page import CALL_S, TIMING_DEVICE, TimingPage
from tests.gpu.plans import DECLARATIONS, DOUBLE, bound, doubling, one_pass, plan, tensor, uniform

# A call takes long if the last element of x says so, or if it finds what the call before left in its scratch.
LOOP = """
  let rounds = u32(x[arrayLength(&x) - 1u]) + seen[0];
  seen[0] = 1000000u;
  var value = rounds;
  for (var i = 0u; i < rounds; i++) { value = value * 1664525u + (value >> 3u) + 1013904223u; }
  y[0] = f32(value);
"""
WORK = DECLARATIONS + "@group(0) @binding(2) var<storage, read_write> seen: array<u32>;\n"
WORK += f"@compute @workgroup_size(1) fn main() {{ {LOOP} }}"
COUNT = 5000


def working() -> Plan:
    bindings = (bound("x", "read", COUNT), bound("y", "read_write", COUNT), bound("seen", "read_write", 1, "scratch"))
    scratch = ScratchSpec(id="seen", dtype="uint32", shape=(1,), size=4)
    return plan(one_pass(WORK, bindings), count=COUNT, scratches=(scratch,))


def job_in(message: Any) -> Job:
    return job_from_json(message.body["job"], message.contents)


def test_what_a_timer_asks_of_a_page_and_what_it_makes_of_the_answers():
    with open_hub(HubSettings()) as hub, TimingPage(hub.server) as told:
        timer = BrowserTimer(hub.next_engine(5.0))
        assert timer.source == "timestamps"
        assert timer.tick_s == pytest.approx(100e-6)
        memory = timer.memory(slices=3)
        bindings = (bound("x", "read", 5), bound("y", "read_write", 5), uniform(7, 8))
        first = memory.load(plan(one_pass(DOUBLE, bindings, submit_after=True)))
        memory.fill(tensor("x", 5), b"12345678")
        assert memory.is_filled(tensor("x", 5))
        assert not memory.is_filled(tensor("x", 6))
        second = memory.load(doubling(), rotates=False)
        before = Run(load=second, times=4)
        seconds = timer.measure([Run(load=first, times=3, lead_in=2), Run(load=second)], before)
        assert seconds == [pytest.approx(3 * CALL_S), pytest.approx(CALL_S)]
        memory.release()
        assert timer.is_alive()
    _, _, reserve, load, fill, again, time, release, _ = told.heard[1:]
    # Three places of 20 bytes, 256 bytes from one to the next.
    assert job_in(reserve).buffers == (
        BufferJob(name="tensor x", size=532),
        BufferJob(name="tensor y", size=532),
        BufferJob(name="a uniform", size=8, uniform=True, writes=(Write(offset=0, data=bindings[2].data),)),
    )
    (dispatch,) = job_in(load).dispatches
    assert (dispatch.wgsl, dispatch.grid, dispatch.submit_after) == (DOUBLE, (1, 1, 1), True)
    assert dispatch.bindings == (
        BindingJob(buffer=0, offset=0, size=20, access="read"),
        BindingJob(buffer=1, offset=0, size=20, access="read_write"),
        BindingJob(buffer=2, offset=0, size=8, access="uniform"),
    )
    assert (load.body["strides"], load.body["slices"], load.body["clears"]) == ([[256, 256, 0]], 3, [])
    assert (again.body["strides"], again.body["slices"]) == ([[256, 256]], 1)
    assert [fill.body[name] for name in ("buffer", "size", "stride", "slices")] == [0, 20, 256, 3]
    assert job_in(fill).buffers[0].writes == (Write(offset=0, data=b"12345678"),)
    assert time.body["runs"] == [[load.body["load"], 3, 2], [again.body["load"], 1, 0]]
    assert (time.body["before"], time.body["timestamps"]) == ([again.body["load"], 4], True)
    assert {message.body["memory"] for message in (reserve, load, fill, again, release)} == {release.body["memory"]}


@pytest.mark.parametrize(
    ("features", "step"), [(["subgroups"], 1), (["subgroups", "timestamp-query"], 0)], ids=["none", "one that stands"]
)
def test_without_a_clock_of_the_device_the_page_times_by_its_own(features: list[str], step: int):
    device = {**TIMING_DEVICE, "features": features}
    with (
        open_hub(HubSettings()) as hub,
        TimingPage(hub.server, device=device, step=step) as told,
    ):
        timer = BrowserTimer(hub.next_engine(5.0))
        assert (timer.source, timer.tick_s) == ("host", 5e-6)
        load = timer.memory().load(doubling())
        timer.measure([Run(load=load)], Run(load=load, times=9))
    time = told.heard[-1]
    assert (time.kind, time.body["timestamps"], "before" in time.body) == ("time", False, False)


@pytest.mark.parametrize("seconds", [[], [1.0, 2.0], [None], ["1"], [True], 1.0, [10**400]], ids=str)
def test_a_page_that_answers_something_else_is_given_up(seconds: Any, monkeypatch: pytest.MonkeyPatch):
    real = FakePage.send

    def send(self: FakePage, kind: str, body: Any = None, contents: tuple[bytes, ...] = ()) -> None:
        real(self, kind, {**body, "seconds": seconds} if kind == "timed" else body, contents)

    with open_hub(HubSettings()) as hub, TimingPage(hub.server):
        engine = hub.next_engine(5.0)
        timer = BrowserTimer(engine)
        load = timer.memory().load(doubling())
        monkeypatch.setattr(FakePage, "send", send)
        with pytest.raises(CallError, match="no seconds that it was asked for"):
            timer.measure([Run(load=load)])
        assert engine.lost
        assert not timer.is_alive()


@pytest.mark.parametrize("timestamps", [True, False])
def test_tensors_are_filled_to_their_ends_and_scratches_cleared_for_every_call(engine: BrowserEngine, timestamps: bool):
    timer = BrowserTimer(engine, timestamps=timestamps)
    assert timer.source == ("timestamps" if timestamps else "host")
    quick, slow = timer.memory(slices=2), timer.memory(slices=2)
    loads = [memory.load(working()) for memory in (quick, slow)]
    slow.fill(tensor("x", COUNT), np.full(512, 3e6, np.float32).tobytes())
    # The least of some: the device may be kept waiting by others.
    times = [min(timer.measure([Run(load=load, times=4, lead_in=1)] * 5)) for load in loads]
    # What the scratch would hold from the call before makes a third of the work.
    assert 0 < 10 * times[0] < times[1]
    quick.release()
    slow.release()
    with pytest.raises(CallError, match="no memory or plan of this number"):
        timer.measure([Run(load=loads[0])])
    assert timer.is_alive()


def test_a_shader_that_does_not_compile_is_refused_with_its_place(engine: BrowserEngine):
    timer = BrowserTimer(engine)
    memory = timer.memory()
    with pytest.raises(CallError, match=r"k\.wgsl\.jinja.*\n.*unresolved value 'two'"):
        memory.load(doubling(DOUBLE.replace("2.0", "two")))
    assert timer.measure([Run(load=memory.load(doubling()), times=3)])[0] >= 0
    memory.release()


def test_memory_beyond_the_device_is_refused_before_the_page_is_asked(engine: BrowserEngine):
    memory = BrowserTimer(engine).memory(slices=1 << 20)
    with pytest.raises(CallError, match="maxBufferSize"):
        memory.load(doubling(count=1 << 20))
