"""Cases on devices that come to a hub: what the terminal hears of them, and what the page shows."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from scanbuild.cases.browsing import BrowserBackend
from scanbuild.cases.casefile import Case, read_tests
from scanbuild.cases.compiling import CompileResult
from scanbuild.cases.probing import Depth
from scanbuild.cases.run import CaseResult
from scanbuild.cases.worker import CompileTask, OpenPackage, RunTask, TaskResult, WorkerSettings
from scanbuild.gpu.browser import open_hub
from scanbuild.gpu.browser.engine import BrowserEngine
from scanbuild.gpu.browser.hub import Hub
from scanbuild.gpu.browser.settings import HubSettings
from tests.browser.jobs import ADAPTER, DEVICE, FakePage
from tests.browser.test_engine import doing
from tests.cases.packages import DOUBLE, case, manifest, variant, write_package

GOOD = case("good", [1, 2], [2, 4])
LOOP = "{ var seen = x[0]; loop { seen = seen * 1.5 + x[id.x % 5u]; if (seen < -1.0) { break; } } y[id.x] = seen; }"
SHADERS = {
    "broken.wgsl.jinja": DOUBLE.replace("x[id.x] + x[id.x]", "nothing"),
    "endless.wgsl.jinja": DOUBLE.replace("{ y[id.x] = x[id.x] + x[id.x]; }", LOOP),
}


@pytest.fixture
def package(tmp_path: Path) -> tuple[OpenPackage, dict[str, Case]]:
    """Cases of two elements are doubled, of three meet a broken shader, and of four one that never ends."""
    variants = [
        variant("broken", "broken.wgsl.jinja", priority=1, when=["shapes.x[0] == 3"]),
        variant("endless", "endless.wgsl.jinja", priority=1, when=["shapes.x[0] == 4"]),
        variant("main"),
    ]
    made = [
        GOOD,
        case("wrong", [1, 2], [2, 5]),
        case("broken", [1, 2, 3], [2, 4, 6]),
        case("endless", [1, 2, 3, 4], [2, 4, 6, 8]),
        case("half", [1, 2], [2, 4], "float16"),
        case("again", [3, 4], [6, 8]),
    ]
    folder = write_package(tmp_path, manifest(*variants), made, SHADERS)
    tests = read_tests((folder / "test.json").read_text(), "test.json", foreign=True)
    return OpenPackage(folder=folder, tasks=len(made)), {item.name: item for item in tests.cases}


def settings(**more: Any) -> WorkerSettings:
    return WorkerSettings(depth=Depth(diagnose=False), **more)


def kinds(result: TaskResult) -> list[str]:
    assert isinstance(result, CaseResult)
    return [finding.kind for finding in result.findings]


def test_whatever_a_case_does_the_others_run_and_both_ends_show_it(
    hub: Hub, engine: BrowserEngine, package: tuple[OpenPackage, dict[str, Case]]
):
    opened, cases = package
    before, parted = engine.call_limit_s, []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(hub, "part", lambda *said, **more: parted.append((said[1:], more)))
        with BrowserBackend(settings(limit_s=3.0), lambda: (hub, engine)) as backend:
            ready = backend.start()
            assert (ready.software, ready.record) == (True, engine.record)
            backend.open(opened)
            results = {name: backend.run(RunTask(case=item)) for name, item in cases.items()}
            compiled = backend.run(CompileTask(name="text", wgsl="fn main( {"))
            shown = hub.browser.do(
                lambda page: (page.wait_for_selector("#cases li:nth-child(7)"), page.inner_text("main"))[1]
            )
    engine.call_limit_s = before
    assert {name: (item.status, kinds(item)) for name, item in results.items()} == {
        "good": ("passed", []),
        "wrong": ("failed", ["wrong-value"]),
        "broken": ("failed", ["compile"]),
        "endless": ("failed", ["time-limit"]),
        "half": ("skipped", []),
        "again": ("passed", []),
    }
    assert isinstance(compiled, CompileResult)
    assert compiled.kind == "compile"
    for words in (
        "7 of 6 done",
        "got 4.0, expected 5.0",
        "unresolved value 'nothing'",
        "did not end its work within 3 s",
        "lacks shader-f16",
    ):
        assert words in shown
    assert parted == [(("There are failures", "2 passed, 4 failed, 1 skipped"), {"good": False})]


@pytest.fixture
def quiet_hub() -> Iterator[Hub]:
    with open_hub(HubSettings()) as opened:
        yield opened


def answering(page: FakePage, *, device: dict[str, Any] = DEVICE) -> None:
    """Give the device that is asked for."""
    page.receive("open")
    page.send("device", device)


def refusing(page: FakePage, words: str) -> Callable[[], None]:
    """Refuse the next job with these words."""

    def work() -> None:
        page.send("failed", {"number": page.receive("run").body["number"], "message": words})

    return work


def started(hub: Hub, page: FakePage, package: OpenPackage) -> BrowserBackend:
    page.hello()
    backend = BrowserBackend(settings(limit_s=5.0), lambda: (hub, hub.next_engine(5.0)), return_s=0.5)
    with doing(backend.start):
        answering(page)
    backend.open(package)
    return backend


def test_a_page_that_goes_away_costs_the_case_that_runs_and_no_other(
    quiet_hub: Hub, package: tuple[OpenPackage, dict[str, Case]]
):
    opened, cases = package
    with FakePage(quiet_hub.server) as page:
        backend = started(quiet_hub, page, opened)
        with doing(lambda: backend.run(RunTask(case=cases["good"]))) as outcome:
            page.receive("run")
            page.close()
        assert kinds(outcome[0]) == ["device-lost"]
        assert "the page went away" in outcome[0].message
    with FakePage(quiet_hub.server) as page:
        page.hello()
        with doing(lambda: backend.run(RunTask(case=cases["again"]))) as outcome:
            answering(page)
            refusing(page, "here again")()
        assert "here again" in outcome[0].message


def test_a_page_that_leaves_between_two_cases_costs_none(package: tuple[OpenPackage, dict[str, Case]], tmp_path: Path):
    opened, cases = package
    told: list[str] = []
    with open_hub(HubSettings(notice=told.append)) as hub:
        with FakePage(hub.server) as page:
            backend = started(hub, page, opened)
        with FakePage(hub.server) as page:
            page.hello()
            with doing(lambda: backend.run(RunTask(case=cases["good"]))) as outcome:
                answering(page)
                refusing(page, "it ran")()
        assert "it ran" in outcome[0].message
    assert told == ["Between two cases, the page went away: the page was closed. Going on when it is back."]


def test_a_page_that_stays_away_costs_the_rest_without_waiting_for_each(
    quiet_hub: Hub, package: tuple[OpenPackage, dict[str, Case]]
):
    opened, cases = package
    with FakePage(quiet_hub.server) as page:
        backend = started(quiet_hub, page, opened)
        with doing(lambda: backend.run(RunTask(case=cases["good"]))):
            page.receive("run")
            page.close()
    rest = [backend.run(RunTask(case=cases["again"])) for _ in range(50)]
    assert {item.message.partition("(")[0] for item in rest} == {
        "not run: the page went away and did not come back within 0.5 s "
    }
    assert kinds(rest[0]) == ["device-lost"]
    assert isinstance(backend.run(CompileTask(name="text", wgsl="")), CompileResult)


def test_a_page_that_comes_back_with_another_device_is_not_taken_for_the_first(
    quiet_hub: Hub, package: tuple[OpenPackage, dict[str, Case]]
):
    opened, cases = package
    with FakePage(quiet_hub.server) as page:
        backend = started(quiet_hub, page, opened)
        with doing(lambda: backend.run(RunTask(case=cases["good"]))):
            page.receive("run")
            page.close()
    with FakePage(quiet_hub.server) as page:
        page.hello(adapter={**ADAPTER, "info": {"vendor": "other"}})
        with doing(lambda: backend.run(RunTask(case=cases["again"]))) as outcome:
            answering(page)
    assert "came back with another device: other" in outcome[0].message


def test_the_page_is_told_how_it_ended_also_when_it_comes_again(
    quiet_hub: Hub, package: tuple[OpenPackage, dict[str, Case]]
):
    opened, cases = package
    with FakePage(quiet_hub.server) as page:
        with (
            started(quiet_hub, page, opened) as backend,
            doing(lambda: backend.run(RunTask(case=cases["good"]))),
        ):
            refusing(page, "no")()
        end = page.receive("end").body
        assert (end["headline"], end["good"]) == ("There are failures", False)
    with FakePage(quiet_hub.server) as page:
        page.hello()
        assert page.receive().kind == "end"


def test_an_interruption_is_told_to_the_page(quiet_hub: Hub, package: tuple[OpenPackage, dict[str, Case]]):
    opened, _ = package
    with FakePage(quiet_hub.server) as page:
        with pytest.raises(KeyboardInterrupt), started(quiet_hub, page, opened):
            raise KeyboardInterrupt
        assert page.receive("end").body["headline"] == "Interrupted"
