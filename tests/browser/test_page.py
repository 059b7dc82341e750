"""The page in a headless browser: it runs jobs, says what the browser refuses, and survives what shaders do to it."""

import re
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from scanbuild.errors import CallError
from scanbuild.gpu.browser.engine import BrowserEngine
from scanbuild.gpu.browser.hub import Hub
from scanbuild.gpu.browser.messages import LARGEST_FRAME
from scanbuild.gpu.browser.settings import HubSettings
from scanbuild.gpu.interface import BindingJob, BufferJob, DispatchJob, Fill, Job, ReadJob, Write
from scanbuild.gpu.layout import Damage, Setup, lay_out
from scanbuild.planning.plan import ScratchSpec
from tests.gpu.plans import DECLARATIONS, DOUBLE, bound, doubling, one_pass, plan, uniform

X = np.arange(5, dtype=np.float32)
MAIN = "@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>)"
ENDLESS = f"""{DECLARATIONS}{MAIN} {{
  var seen = x[0];
  loop {{ seen = seen * 1.5 + x[id.x % 5u]; if (seen < -1.0) {{ break; }} }}
  y[id.x] = seen;
}}"""


def run(engine: BrowserEngine, wgsl: str, setup: Setup | None = None, count: int = 5) -> tuple[Any, list[Damage]]:
    x = np.arange(count, dtype=np.float32)
    laid = lay_out(doubling(wgsl, count=count), {"x": x}, engine.record.limits, setup or Setup())
    result = engine.run(laid.job)
    return np.frombuffer(laid.outputs(result)["y"], np.float32), laid.damage(result)


def problem(engine: BrowserEngine, wgsl: str) -> Any:
    with pytest.raises(CallError) as raised:
        run(engine, wgsl)
    return raised.value.problems[0]


def text(hub: Hub, place: str) -> str:
    return hub.browser.do(lambda page: page.inner_text(place))  # type: ignore[no-any-return]


def test_the_device_record_is_that_of_the_browser(engine: BrowserEngine):
    record = engine.record
    assert {"subgroups", "core-features-and-limits"} <= record.features
    assert "float32-filterable" not in record.features
    assert record.adapter_info["isFallbackAdapter"] is True
    assert record.adapter_info["architecture"] == "swiftshader"
    assert (
        record.adapter_info["subgroupMinSize"] <= (engine.subgroup_size or 0) <= record.adapter_info["subgroupMaxSize"]
    )
    assert record.limits["maxComputeWorkgroupSizeY"] == 256
    assert record.limits["maxTextureDimension2D"] == 8192
    assert "packed_4x8_integer_dot_product" in record.wgsl_language_features
    assert record.wgsl_compile_failures == frozenset()
    assert re.fullmatch(r"google swiftshader \(Chrome \d+ on Linux, software\) through browser", engine.describe())
    assert engine.software


@pytest.mark.parametrize("setup", [Setup(), Setup(poison=True, room=True), Setup(guards=False)], ids=repr)
def test_a_kernel_gives_the_same_however_it_is_laid_out(engine: BrowserEngine, setup: Setup):
    got, damage = run(engine, DOUBLE, setup)
    assert (got.tolist(), damage) == ([0, 2, 4, 6, 8], [])


def test_writing_past_the_end_shows_where_there_is_room(engine: BrowserEngine):
    wgsl = f"{DECLARATIONS}{MAIN} {{ if (id.x <= 5u) {{ y[id.x] = 1.0; }} }}"
    assert run(engine, wgsl, Setup(room=True))[1] == [Damage(kind="room", name="y", at=0, count=4)]


def test_tensors_larger_than_a_frame_come_and_go_whole(engine: BrowserEngine):
    count = LARGEST_FRAME // 4 * 3 + 7
    wgsl = f"{DECLARATIONS}{MAIN} {{ for (var i = id.x; i < arrayLength(&y); i += 64u) {{ y[i] = 2.0 * x[i]; }} }}"
    got, damage = run(engine, wgsl, count=count)
    assert np.array_equal(got, 2 * np.arange(count, dtype=np.float32))
    assert damage == []


def test_fills_come_before_writes_and_everything_else_is_zero(engine: BrowserEngine):
    buffer = BufferJob(
        name="bytes",
        size=32,
        fills=(Fill(offset=4, size=12, word=0x01020304), Fill(offset=24, size=4, word=0xFFFFFFFF)),
        writes=(Write(offset=8, data=b"abcd"),),
    )
    reads = (ReadJob(buffer=0, offset=0, size=32), ReadJob(buffer=0, offset=8, size=4))
    result = engine.run(Job(buffers=(buffer,), dispatches=(), reads=reads))
    word = bytes([4, 3, 2, 1])
    assert result.data == (bytes(4) + word + b"abcd" + word + bytes(8) + b"\xff" * 4 + bytes(4), b"abcd")


def test_dispatches_run_in_order_also_over_several_submissions(engine: BrowserEngine):
    """Each adds a uniform's word to a scratch, and the last one writes it out."""
    add = (
        "@group(0) @binding(0) var<storage, read_write> s: array<u32>;\n@group(0) @binding(1) var<uniform> n: vec4u;\n"
    )
    first = add + "@compute @workgroup_size(1) fn main() { s[0] = s[0] * 10u + n.x; }"
    last = "@group(0) @binding(0) var<storage, read_write> s: array<u32>;\n"
    last += "@group(0) @binding(1) var<storage, read_write> y: array<u32>;\n"
    last += "@compute @workgroup_size(1) fn main() { y[0] = s[0]; }"
    scratch = bound("s", "read_write", 1, "scratch")
    passes = [one_pass(first, (scratch, uniform(digit, 0, 0, 0)), submit_after=digit % 2 == 0) for digit in range(1, 8)]
    made = plan(
        *passes,
        one_pass(last, (scratch, bound("y", "read_write", 1))),
        count=1,
        inputs=(),
        scratches=(ScratchSpec(id="s", dtype="uint32", shape=(1,), size=4),),
    )
    laid = lay_out(made, {}, engine.record.limits, Setup())
    assert np.frombuffer(laid.outputs(engine.run(laid.job))["y"], np.uint32).tolist() == [1234567]


def test_a_text_that_does_not_compile_is_refused_at_its_place(engine: BrowserEngine):
    wgsl = f"{DECLARATIONS}{MAIN} {{\n  y[id.x] = nothing;\n}}"
    found = problem(engine, wgsl)
    assert (found.rule, found.line, found.column, found.file) == ("shader-compilation", 4, 13, "k.wgsl.jinja")
    assert "unresolved value 'nothing'" in found.message
    assert "line 4 of the rendered text: y[id.x] = nothing;" in found.message


@pytest.mark.parametrize(
    ("wgsl", "words"),
    [
        ("fn main( {", "expected ')'"),
        ("@compute @workgroup_size(64) fn other() {}", "main"),
        (DOUBLE.replace("y[id.x] =", "x[id.x] ="), "cannot store into a read-only"),
        (DOUBLE.replace("workgroup_size(64)", "workgroup_size(9999)"), "exceeds the maximum allowed"),
        (f"{DECLARATIONS}{MAIN} {{ if (x[id.x] > 0) {{ workgroupBarrier(); }} }}", "uniform control flow"),
        ("enable f16;\n" + DOUBLE, "f16"),
        ("", "main"),
    ],
    ids=["syntax", "no main", "writes an input", "workgroup", "divergent barrier", "feature", "empty"],
)
def test_whatever_the_browser_does_not_compile_is_told_and_the_next_job_runs(
    engine: BrowserEngine, wgsl: str, words: str
):
    found = problem(engine, wgsl)
    assert found.rule == "shader-compilation"
    assert words in found.message
    assert not engine.lost
    assert run(engine, DOUBLE)[0].tolist() == [0, 2, 4, 6, 8]


def test_a_compiler_with_very_much_to_say_is_cut_short(engine: BrowserEngine):
    """It quotes the name, which makes more than the page may send in a frame."""
    found = problem(engine, f"{DECLARATIONS}{MAIN} {{ y[id.x] = nothing_{'0' * LARGEST_FRAME}; }}")
    assert found.rule == "shader-compilation"
    assert "unresolved value 'nothing_000" in found.message
    assert len(found.message) < 6_000
    assert run(engine, DOUBLE)[0].tolist() == [0, 2, 4, 6, 8]


def test_a_text_by_itself_is_no_wgsl_or_beyond_the_device_or_fine(engine: BrowserEngine):
    engine.compile(DOUBLE)
    with pytest.raises(CallError) as raised:
        engine.compile("fn main( {")
    assert raised.value.problems[0].rule == "shader-compilation"
    assert raised.value.problems[0].line == 1
    with pytest.raises(CallError) as raised:
        engine.compile(DOUBLE.replace("workgroup_size(64)", "workgroup_size(1024)"))
    assert raised.value.problems[0].rule == "pipeline-limits"


def test_a_binding_that_does_not_fit_is_refused(engine: BrowserEngine):
    job = lay_out(doubling(), {"x": X}, engine.record.limits, Setup()).job
    wrong = BindingJob(buffer=0, offset=4, size=16, access="read")
    dispatch = DispatchJob(
        id="main", label="", wgsl=DOUBLE, bindings=(wrong, job.dispatches[0].bindings[1]), grid=(1, 1, 1)
    )
    with pytest.raises(CallError, match=r"the browser refused: .*256") as raised:
        engine.run(Job(buffers=job.buffers, dispatches=(dispatch,), reads=job.reads))
    assert raised.value.problems[0].rule == "engine-validation"
    assert run(engine, DOUBLE)[0].tolist() == [0, 2, 4, 6, 8]


def test_reading_back_more_than_a_buffer_holds_is_refused(engine: BrowserEngine):
    most = int(engine.record.limits["maxBufferSize"])
    reads = (ReadJob(buffer=0, offset=0, size=most),) * 2
    with pytest.raises(CallError, match="reading back needs a buffer of") as raised:
        engine.run(Job(buffers=(BufferJob(name="large", size=most),), dispatches=(), reads=reads))
    assert raised.value.problems[0].rule == "buffer-size"


def test_a_device_that_is_lost_is_told_and_made_anew(hub: Hub, engine: BrowserEngine):
    """The page's own device is destroyed under its feet, which is how a browser ends one, too."""
    hub.browser.do(
        lambda page: page.evaluate(
            """async () => {
              const make = GPUAdapter.prototype.requestDevice;
              GPUAdapter.prototype.requestDevice = async function (wanted) {
                window.made = await make.call(this, wanted);
                return window.made;
              };
            }"""
        )
    )
    engine.reopen(20.0)
    hub.browser.do(lambda page: page.evaluate("window.made.destroy()"))
    found = problem(engine, DOUBLE)
    assert (found.rule, found.message.partition(":")[0]) == ("device-lost", "the device was lost")
    with pytest.raises(CallError, match="the device cannot be used: the device was lost"):
        run(engine, DOUBLE)
    hub.revive(engine)
    assert run(engine, DOUBLE)[0].tolist() == [0, 2, 4, 6, 8]


def test_a_shader_that_never_ends_costs_one_job_only(hub: Hub, engine: BrowserEngine):
    engine.call_limit_s, before = 1.0, engine.call_limit_s
    try:
        with pytest.raises(CallError) as raised:
            run(engine, ENDLESS)
        assert raised.value.problems[0].rule == "time-limit"
    finally:
        engine.call_limit_s = before
    start = time.monotonic()
    hub.revive(engine)
    assert run(engine, DOUBLE)[0].tolist() == [0, 2, 4, 6, 8]
    assert time.monotonic() - start < 15


def test_a_page_that_is_loaded_anew_goes_on(hub: Hub, engine: BrowserEngine):
    engine.show("begin", {"title": "Toys", "total": 3})
    engine.show("verdict", {"name": "one", "verdict": "passed", "good": True, "variant": "main", "seconds": 0.001})
    hub.browser.do(lambda page: page.reload())
    with pytest.raises(CallError, match="the page went away"):
        run(engine, DOUBLE)
    engine.reopen(20.0)
    assert run(engine, DOUBLE)[0].tolist() == [0, 2, 4, 6, 8]
    assert "one" in text(hub, "#cases")
    assert text(hub, "#count") == "1 of 3 done"


def test_names_and_messages_are_only_ever_text(hub: Hub, engine: BrowserEngine):
    hostile = "<img src=x onerror=\"document.title='taken'\"><script>document.title='taken'</script>"
    engine.show("begin", {"title": hostile, "total": 1})
    engine.show("verdict", {"name": hostile, "verdict": hostile, "good": False, "message": hostile})
    hub.browser.do(lambda page: page.wait_for_selector("#cases li"))
    assert hostile in text(hub, "#cases pre")
    assert hub.browser.do(lambda page: page.locator("#cases img, #cases script, h1 img").count()) == 0
    assert hub.browser.do(lambda page: page.title()) == f"{hostile}: scanbuild"


LEGIBLE = (Path(__file__).parent / "legible.js").read_text(encoding="utf-8").strip().rstrip(";")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [320, 1280])
def test_the_page_is_legible_on_a_phone_and_a_desk_by_day_and_night(
    hub: Hub, engine: BrowserEngine, width: int, scheme: str
):
    engine.show("begin", {"title": "ai.onnx.Scan" * 5, "total": 4})
    for name, verdict, good in (("a" * 90, "passed", True), ("b_" * 60, "failed", False), ("c", "skipped", None)):
        shown = {"name": name, "verdict": verdict, "variant": "v" * 60, "seconds": 0.1, "message": "m" * 300}
        engine.show("verdict", shown if good is None else {**shown, "good": good})

    def look(page: Any) -> tuple[Any, str, int, list[str]]:
        page.set_viewport_size({"width": width, "height": 800})
        page.emulate_media(color_scheme=scheme)
        page.wait_for_selector("#cases li:nth-child(3)")
        page.eval_on_selector_all("details", "all => all.forEach((one) => { one.open = true; })")
        seen = page.evaluate("[document.scrollingElement.scrollWidth, getComputedStyle(document.body).backgroundColor]")
        return (*seen, *page.evaluate(LEGIBLE))

    wide, ground, texts, illegible = hub.browser.do(look)
    assert wide <= width
    assert ground == {"light": "rgb(244, 245, 248)", "dark": "rgb(18, 20, 26)"}[scheme]
    assert texts > 100
    assert illegible == []


def test_a_browser_without_webgpu_is_told_in_plain_words(hub: Hub, engine: BrowserEngine):
    def visit(page: Any) -> tuple[str, str]:
        other = page.context.new_page()
        other.add_init_script("Object.defineProperty(Navigator.prototype, 'gpu', { value: undefined })")
        other.goto(hub.url)
        other.wait_for_selector('#status[data-mood="bad"]')
        said = other.inner_text("#headline"), other.inner_text("#detail")
        other.close()
        return said

    headline, detail = hub.browser.do(visit)
    assert headline == "This browser cannot run WebGPU here"
    assert detail.startswith("This browser has no WebGPU, or it is switched off.")


def test_nothing_is_loaded_or_run_that_the_policy_forbids(hub: Hub, engine: BrowserEngine):
    def visit(page: Any) -> list[str]:
        other, asked = page.context.new_page(), []
        other.on("request", lambda request: asked.append(request.url))
        other.on("console", lambda message: asked.append(message.text))
        other.goto(hub.url)
        other.wait_for_selector('#status[data-mood="busy"]')
        other.evaluate(
            "() => { const s = document.createElement('script'); s.text = 'window.ran = 1'; document.body.append(s); }"
        )
        ran = other.evaluate("window.ran")
        other.close()
        return [*asked, str(ran)]

    *asked, ran = hub.browser.do(visit)
    assert ran == "None"
    urls = [entry for entry in asked if "Content Security Policy" not in entry]
    assert urls
    assert all(entry.startswith(hub.url) for entry in urls), urls


def test_many_jobs_one_after_another_give_each_its_own_result(engine: BrowserEngine):
    for index in range(20):
        laid = lay_out(doubling(), {"x": X + index}, engine.record.limits, Setup(poison=True))
        got = np.frombuffer(laid.outputs(engine.run(laid.job))["y"], np.float32)
        assert got.tolist() == (2 * (X + index)).tolist()


def test_a_device_on_the_network_is_reached_over_https(engine: BrowserEngine):
    """A browser offers WebGPU at an address of the network only because the server speaks https there."""
    with Hub(HubSettings(host="0.0.0.0", launch="chromium")) as other:
        assert other.url.startswith("https://")
        assert run(other.next_engine(60.0), DOUBLE)[0].tolist() == [0, 2, 4, 6, 8]
