"""Plans laid out in memory: what a call must leave alone shows if it does not."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from scanbuild.errors import CallError
from scanbuild.gpu import Engine
from scanbuild.gpu.layout import WRITTEN_PATTERN, Damage, Setup, lay_out
from scanbuild.planning.device import DEFAULT_LIMITS
from tests.gpu.plans import DECLARATIONS, DOUBLE, doubling

MAIN = "@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) "
X = np.arange(5, dtype=np.float32)


def run(engine: Engine, wgsl: str, setup: Setup) -> tuple[list[float], list[Damage]]:
    laid = lay_out(doubling(wgsl), {"x": X}, engine.record.limits, setup)
    result = engine.run(laid.job)
    assert engine.live_buffers == 0
    return np.frombuffer(laid.outputs(result)["y"], np.float32).tolist(), laid.damage(result)


@pytest.mark.parametrize("setup", [Setup(), Setup(poison=True, room=True), Setup(guards=False)], ids=repr)
def test_a_kernel_without_faults_gives_the_same_however_it_is_laid_out(engine: Engine, setup: Setup):
    assert run(engine, DOUBLE, setup) == ([0, 2, 4, 6, 8], [])


def test_writing_past_the_end_shows_where_there_is_room(engine: Engine):
    wgsl = f"{DECLARATIONS}{MAIN} {{ if (id.x <= 5u) {{ y[id.x] = 1.0; }} }}"
    assert run(engine, wgsl, Setup()) == ([1] * 5, [])
    assert run(engine, wgsl, Setup(room=True)) == ([1] * 5, [Damage(kind="room", name="y", at=0, count=4)])


def test_reading_past_the_end_finds_the_pattern_where_there_is_room(engine: Engine):
    wgsl = f"{DECLARATIONS}{MAIN} {{ if (id.x < 5u) {{ y[id.x] = x[id.x + 1u]; }} }}"
    got, damage = run(engine, wgsl, Setup(room=True))
    assert (got[:4], np.isnan(got[4]), damage) == ([1, 2, 3, 4], True, [])


def test_reading_before_the_start_finds_the_pattern_or_the_last_element(engine: Engine):
    wgsl = f"{DECLARATIONS}{MAIN} {{ if (id.x < 5u) {{ y[id.x] = x[id.x - 1u]; }} }}"
    got, _ = run(engine, wgsl, Setup(room=True))
    assert got[1:] == [0, 1, 2, 3]
    assert np.isnan(got[0]) or got[0] == 0


def test_an_element_that_is_not_written_keeps_the_pattern(engine: Engine):
    wgsl = f"{DECLARATIONS}{MAIN} {{ if (id.x < 4u) {{ y[id.x] = 1.0; }} }}"
    laid = lay_out(doubling(wgsl), {"x": X}, engine.record.limits, Setup(poison=True))
    words = np.frombuffer(laid.outputs(engine.run(laid.job))["y"], np.uint32)
    assert (words[4], words[3] == WRITTEN_PATTERN) == (WRITTEN_PATTERN, False)


@pytest.mark.parametrize(
    ("element", "given"),
    [("array<f32>", ("x", "y")), ("array<vec4<f32>>", ("x", "y")), ("array<array<f32, 1>>", ("y",))],
)
def test_what_a_shader_asks_of_the_length_stays_as_it_was(element: str, given: tuple[str, ...]):
    wgsl = DECLARATIONS.replace("x: array<f32>", f"x: {element}") + f"{MAIN} {{ y[0] = f32(arrayLength(&x)); }}"
    laid = lay_out(doubling(wgsl, count=8), {}, DEFAULT_LIMITS, Setup(room=True))
    assert laid.room_given == given
    length = {"array<f32>": "8u", "array<vec4<f32>>": "2u"}.get(element, "arrayLength(&x)")
    assert f"f32({length})" in laid.job.dispatches[0].wgsl


def test_a_length_asked_for_through_a_pointer_keeps_every_size_exact():
    wgsl = DECLARATIONS + "fn n(p: ptr<storage, array<f32>, read>) -> u32 { return arrayLength(p); }\n" + MAIN + "{}"
    laid = lay_out(doubling(wgsl), {}, DEFAULT_LIMITS, Setup(room=True))
    assert (laid.room_given, laid.job.dispatches[0].wgsl) == ((), wgsl)


def test_what_would_outgrow_the_device_has_no_guard_areas():
    limits: dict[str, Any] = {**DEFAULT_LIMITS, "maxBufferSize": 100}
    laid = lay_out(doubling(), {"x": X}, limits, Setup(room=True))
    assert [item.size for item in laid.job.buffers] == [20, 20]


def test_what_is_read_back_may_be_more_than_one_buffer_holds(engine: Engine, monkeypatch: pytest.MonkeyPatch):
    limits = {**engine.record.limits, "maxBufferSize": 800}
    monkeypatch.setattr(engine, "record", replace(engine.record, limits=limits))
    assert run(engine, DOUBLE, Setup()) == ([0, 2, 4, 6, 8], [])


def test_a_lost_device_is_known_as_lost():
    from scanbuild.gpu import open_engine

    try:
        engine = open_engine("wgpu")
    except Exception as error:
        pytest.skip(str(error))
    engine.device.destroy()
    laid = lay_out(doubling(), {"x": X}, engine.record.limits)
    with pytest.raises(CallError):
        engine.run(laid.job)
    assert engine.lost == "the device was lost"


def test_a_text_is_compiled_without_running(engine: Engine):
    engine.compile(DOUBLE)
    with pytest.raises(CallError) as caught:
        engine.compile("fn main( {")
    assert caught.value.problems[0].rule == "shader-compilation"
    with pytest.raises(CallError) as caught:
        engine.compile(DOUBLE.replace("workgroup_size(64)", "workgroup_size(4096)"))
    assert caught.value.problems[0].rule == "pipeline-limits"
