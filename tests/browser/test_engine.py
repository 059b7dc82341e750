"""The engine's side of a conversation, with a page that says whatever the test wants."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

from scanbuild.errors import CallError, NoAdapterError
from scanbuild.gpu.browser import open_hub
from scanbuild.gpu.browser.engine import BrowserEngine
from scanbuild.gpu.browser.jobjson import job_from_json
from scanbuild.gpu.browser.server import Server
from scanbuild.gpu.browser.settings import HubSettings, ServerSettings
from scanbuild.gpu.interface import Job
from scanbuild.gpu.layout import Setup, lay_out
from tests.browser.jobs import ADAPTER, DEVICE, FakePage
from tests.gpu.plans import doubling

X = np.arange(5, dtype=np.float32)


@pytest.fixture
def server() -> Iterator[Server]:
    with Server(ServerSettings()) as running:
        yield running


@contextmanager
def doing(action: Callable[[], Any]) -> Iterator[list[Any]]:
    """Meanwhile, an action in a thread of its own; afterwards what it returned or raised."""
    outcome: list[Any] = []

    def work() -> None:
        try:
            outcome.append(action())
        except Exception as error:
            outcome.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    yield outcome
    thread.join(20)
    assert outcome, "it did not end"


def opened(server: Server, page: FakePage, device: dict[str, Any] | None = None, **hello: Any) -> BrowserEngine:
    """The engine over a page that gives a device."""
    page.hello(**hello)
    visitor = server.next_visitor(5.0)
    assert visitor is not None
    with doing(lambda: BrowserEngine(visitor, call_limit_s=5.0)) as outcome:
        page.receive("open")
        page.send("device", DEVICE if device is None else device)
    if isinstance(outcome[0], Exception):
        raise outcome[0]
    assert isinstance(outcome[0], BrowserEngine)
    return outcome[0]


def toy(engine: BrowserEngine) -> Job:
    return lay_out(doubling(), {"x": X}, engine.record.limits, Setup()).job


def problem_of(outcome: list[Any]) -> Any:
    assert isinstance(outcome[0], CallError), outcome[0]
    return outcome[0].problems[0]


def test_the_device_is_asked_for_and_recorded_as_the_loader_does(server: Server):
    with FakePage(server) as page:
        page.hello()
        visitor = server.next_visitor(5.0)
        assert visitor is not None
        with doing(lambda: BrowserEngine(visitor)) as outcome:
            asked = page.receive("open").body
            page.send("device", DEVICE)
        engine = outcome[0]
    assert asked == {"features": ["subgroups"], "limits": {"maxBufferSize": 4096}}
    assert engine.record.features == {"subgroups"}
    assert engine.record.limits["maxBufferSize"] == 4096
    assert engine.record.limits["maxComputeWorkgroupSizeX"] == 256
    assert engine.record.adapter_info == {"vendor": "acme", "architecture": "roadrunner", "isFallbackAdapter": False}
    assert engine.record.wgsl_language_features == {"subgroup_id"}
    assert engine.subgroup_size == 16
    assert engine.describe() == "Acme Roadrunner (Chrome 156 on Android) through browser"
    assert not engine.software


def test_a_job_arrives_as_it_was_and_its_results_come_back(server: Server):
    with FakePage(server) as page:
        engine = opened(server, page)
        job = toy(engine)
        answers = tuple(bytes([index]) * item.size for index, item in enumerate(job.reads))
        with doing(lambda: engine.run(job)) as outcome:
            message = page.receive("run")
            assert job_from_json(message.body["job"], message.contents) == job
            page.send("result", {"number": message.body["number"], "seconds": 0.25}, answers)
        assert (outcome[0].data, outcome[0].seconds) == (answers, 0.25)


def test_results_of_the_wrong_size_lose_the_device(server: Server):
    with FakePage(server) as page:
        engine = opened(server, page)
        with doing(lambda: engine.run(toy(engine))) as outcome:
            number = page.receive("run").body["number"]
            page.send("result", {"number": number, "seconds": 0.25}, (b"1234",))
        assert "other sizes" in problem_of(outcome).message
        assert engine.lost


def test_more_bytes_than_were_asked_for_are_not_taken(server: Server):
    with FakePage(server) as page:
        engine = opened(server, page)
        job = toy(engine)
        with doing(lambda: engine.run(job)) as outcome:
            number = page.receive("run").body["number"]
            page.send("result", {"number": number}, (bytes(sum(item.size for item in job.reads) + 4),))
        assert problem_of(outcome).rule == "device-lost"
        assert "are allowed here" in problem_of(outcome).message


@pytest.mark.parametrize(
    ("told", "rule", "words"),
    [
        ({"rule": "shader-compilation", "message": ":2:7 error: no", "dispatch": 0}, "shader-compilation", "line 2 of"),
        ({"rule": "out-of-memory", "message": "no room"}, "out-of-memory", "the browser refused: no room"),
        ({"rule": "of my own", "message": "odd"}, "engine-validation", "the browser refused: odd"),
        ({"rule": "shader-compilation", "message": "odd", "dispatch": 9}, "engine-validation", "odd"),
        ({"message": 7}, "engine-validation", "it gives no reason"),
        ({"rule": "device-lost", "message": "it fell"}, "device-lost", "the device was lost: it fell"),
    ],
)
def test_what_the_browser_refuses_is_told_in_its_words(server: Server, told: dict[str, Any], rule: str, words: str):
    with FakePage(server) as page:
        engine = opened(server, page)
        with doing(lambda: engine.run(toy(engine))) as outcome:
            page.send("failed", {**told, "number": page.receive("run").body["number"]})
        assert problem_of(outcome).rule == rule
        assert words in problem_of(outcome).message
        assert bool(engine.lost) is (rule == "device-lost")


def test_a_text_is_compiled_by_itself(server: Server):
    with FakePage(server) as page:
        engine = opened(server, page)
        with doing(lambda: engine.compile("fn main() {}")) as outcome:
            message = page.receive("compile")
            assert message.body["wgsl"] == "fn main() {}"
            page.send("compiled", {"number": message.body["number"]})
        assert outcome == [None]
        told = {"rule": "pipeline-limits", "message": "a workgroup too large", "dispatch": 0}
        with doing(lambda: engine.compile("fn main() {}")) as outcome:
            page.send("failed", {**told, "number": page.receive("compile").body["number"]})
        assert (problem_of(outcome).rule, problem_of(outcome).message) == ("pipeline-limits", "a workgroup too large")


def test_a_buffer_beyond_the_limits_is_not_even_sent(server: Server):
    with FakePage(server) as page:
        engine = opened(server, page)
        job = lay_out(doubling(count=2000), {}, engine.record.limits, Setup(guards=False)).job
        with pytest.raises(CallError, match="needs a buffer of 8000 bytes; the device allows 4096"):
            engine.run(job)


def test_a_page_that_goes_away_ends_the_run_and_goes_on_when_it_comes_back(server: Server):
    with FakePage(server) as page:
        engine = opened(server, page)
        engine.show("begin", {"title": "toys", "total": 2})
        with doing(lambda: engine.run(toy(engine))) as outcome:
            page.receive("run")
            page.close()
        assert (problem_of(outcome).rule, problem_of(outcome).message) == (
            "device-lost",
            "the page went away: the page was closed",
        )
    with pytest.raises(CallError, match="the device cannot be used: the page went away"):
        engine.run(toy(engine))
    with FakePage(server) as page:
        with doing(lambda: engine.reopen(10.0)) as outcome:
            page.hello(seen=0)
            page.receive("open")
            page.send("device", DEVICE)
            assert page.receive("begin").body["title"] == "toys"
        assert outcome == [None]
        with doing(lambda: engine.run(toy(engine))) as outcome:
            page.send("failed", {"number": page.receive("run").body["number"], "message": "here again"})
        assert "here again" in problem_of(outcome).message


def test_a_page_that_reconnects_is_told_only_what_it_missed(server: Server):
    with FakePage(server) as page:
        engine = opened(server, page)
        engine.show("begin", {"title": "toys", "total": 2})
        engine.show("case", {"name": "first"})
        page.receive("case")
    engine.show("verdict", {"name": "first"})
    with FakePage(server) as page, doing(lambda: engine.reopen(10.0)):
        page.hello(seen=2)
        page.receive("open")
        page.send("device", DEVICE)
        assert page.receive().kind == "verdict"


def test_a_page_that_does_not_come_back_is_given_up(server: Server):
    with FakePage(server) as page:
        engine = opened(server, page)
    with pytest.raises(NoAdapterError, match=r"did not come back within 0\.2 s"):
        engine.reopen(0.2)


def test_what_is_lost_while_nothing_runs_is_noticed_before_the_next_run(server: Server):
    with FakePage(server) as page:
        engine = opened(server, page)
        engine.refresh()
        assert engine.lost == ""
        page.send("lost", {"message": "it fell asleep"})
        noticed(engine)
        assert engine.lost == "the device was lost: it fell asleep"
        with doing(lambda: engine.reopen(10.0)):
            page.receive("open")
            page.send("device", DEVICE)
        assert engine.lost == ""
    noticed(engine)
    assert engine.lost == "the page went away: the page was closed"


def noticed(engine: BrowserEngine) -> None:
    """Look until something is lost: it takes a moment to get here."""
    end = time.monotonic() + 5
    while not engine.lost and time.monotonic() < end:
        engine.refresh()
        time.sleep(0.01)


@pytest.mark.parametrize(("sizes", "notes"), [((4, 64), 0), ((32, 32), 1), ((), 0)])
def test_a_subgroup_size_outside_of_what_the_browser_reports_is_told(sizes: tuple[int, ...], notes: int):
    told: list[str] = []
    info = {**ADAPTER["info"], **dict(zip(("subgroupMinSize", "subgroupMaxSize"), sizes, strict=False))}  # type: ignore[dict-item]
    with open_hub(HubSettings(notice=told.append)) as hub, FakePage(hub.server) as page:
        page.hello(adapter={**ADAPTER, "info": info})
        with doing(lambda: hub.next_engine(10.0)):
            page.receive("open")
            page.send("device", DEVICE)
    assert told == ["The browser reports subgroups of 32 to 32, which planning goes by, and a shader saw 16."] * notes


def test_a_page_that_does_not_answer_is_given_up_after_the_time_limit(server: Server):
    with FakePage(server) as page:
        engine = opened(server, page)
        engine.call_limit_s = 0.3
        start = time.monotonic()
        with pytest.raises(CallError, match=r"did not end its work within 0\.3 s") as raised:
            engine.run(toy(engine))
        assert raised.value.problems[0].rule == "time-limit"
        assert time.monotonic() - start < 3
        assert "0.3 s" in engine.lost


def test_the_answer_to_an_earlier_run_is_not_taken_for_the_present_one(server: Server):
    with FakePage(server) as page:
        engine = opened(server, page)
        with doing(lambda: engine.run(toy(engine))) as outcome:
            number = page.receive("run").body["number"]
            page.send("failed", {"number": number - 1, "message": "late"})
            page.send("failed", {"number": number, "message": "in time"})
        assert "in time" in problem_of(outcome).message


def test_a_page_opened_once_more_takes_over(server: Server):
    with FakePage(server) as first, FakePage(server) as second:
        engine = opened(server, first)
        with doing(lambda: engine.run(toy(engine))) as outcome:
            first.receive("run")
            second.hello()
        assert "opened once more" in problem_of(outcome).message
        assert first.closing_code() == 4001


def test_a_browser_that_gives_no_device_is_no_adapter(server: Server):
    with FakePage(server) as page:
        page.hello()
        visitor = server.next_visitor(5.0)
        assert visitor is not None
        with doing(lambda: BrowserEngine(visitor)) as outcome:
            page.receive("open")
            page.send("refused", {"message": "no more devices"})
        assert isinstance(outcome[0], NoAdapterError)
        assert "the browser gives no device: no more devices" in str(outcome[0])


def test_a_browser_that_gives_no_device_is_told_of_and_the_next_one_is_waited_for():
    notices: list[str] = []
    with open_hub(HubSettings(notice=notices.append)) as hub, FakePage(hub.server) as bad, FakePage(hub.server) as good:
        bad.hello(id="bad")
        bad.receive("wait")
        good.hello(id="good")
        with doing(lambda: hub.next_engine(10.0)) as outcome:
            bad.receive("open")
            bad.send("refused", {"message": "no more devices"})
            assert "no more devices" in bad.receive("end").body["detail"]
            good.receive("open")
            good.send("device", DEVICE)
        assert isinstance(outcome[0], BrowserEngine)
        assert outcome[0].visitor.identity == "good"
    assert notices[0].startswith("A browser came that is not used: the browser gives no device: no more devices")


@pytest.mark.parametrize(
    ("hello", "device", "words"),
    [
        ({"adapter": None}, DEVICE, "`adapter` is no object"),
        ({"adapter": {**ADAPTER, "info": []}}, DEVICE, "`info` is no object"),
        ({"adapter": {**ADAPTER, "features": [1]}}, DEVICE, "`features` is no list of names"),
        ({"userAgent": 1}, DEVICE, "`userAgent` is no text"),
        ({}, {**DEVICE, "limits": 3}, "`limits` is no object"),
        ({}, {**DEVICE, "compileFailures": "none"}, "`compileFailures` is no list"),
    ],
)
def test_a_page_that_tells_nonsense_is_no_adapter(
    server: Server, hello: dict[str, Any], device: dict[str, Any], words: str
):
    with FakePage(server) as page:
        page.hello(**hello)
        visitor = server.next_visitor(5.0)
        assert visitor is not None
        with doing(lambda: BrowserEngine(visitor, call_limit_s=2.0)) as outcome:
            if not hello:
                page.receive("open")
                page.send("device", device)
        assert isinstance(outcome[0], NoAdapterError)
        assert words in str(outcome[0])
