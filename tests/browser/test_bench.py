"""``scanbuild bench --engine browser``: the command, and what becomes of a page that goes away."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

from scanbuild.bench.browsing import BrowserSession
from scanbuild.bench.report import Outcome
from scanbuild.bench.sampling import Settings
from scanbuild.bench.session import outcomes
from scanbuild.bench.worker import Job, WorkerSettings
from scanbuild.cases.schema import schema_problems
from scanbuild.commands.bench import bench
from scanbuild.errors import NoAdapterError
from scanbuild.gpu.browser import open_hub
from scanbuild.gpu.browser.hub import Hub
from scanbuild.gpu.browser.launch import find_browser
from scanbuild.gpu.browser.messages import LARGEST_FRAME, Message
from scanbuild.gpu.browser.settings import HubSettings
from tests.bench.packages import bench_case, write_bench
from tests.browser.timing_page import TIMING_DEVICE, TimingPage
from tests.cases.packages import DOUBLE, manifest, variant

ROOT = Path(__file__).resolve().parent.parent.parent
CASES = [bench_case(name, [64]) for name in ("first", "second", "third")]
JOBS = [(Job(index=index), name) for index, name in enumerate(("first", "second", "third"))]
FEW = Settings(least=3, most=3, few=3, warm_up_s=0.0)


def session(folder: Path, hub: Hub) -> BrowserSession:
    settings = WorkerSettings(folders=(folder,), sampling=FEW, limit_s=5.0)
    return BrowserSession(settings, lambda: (hub, hub.next_engine(5.0)), title="toys", total=3, return_s=0.5)


def at_job(number: int) -> Callable[[Message], bool]:
    """Whether a message times the job of this number, counted from 1."""
    seen = 0

    def is_there(message: Message) -> bool:
        nonlocal seen
        seen += message.kind == "case"
        return seen == number and message.kind == "time"

    return is_there


def statuses(found: list[Outcome]) -> list[tuple[str, str]]:
    return [(item.name, item.status) for item in found]


def test_a_launched_browser_times_a_package(tmp_path: Path):
    try:
        find_browser("chromium")
    except NoAdapterError as error:
        pytest.skip(str(error))
    shaders = {"broken.wgsl.jinja": DOUBLE.replace("x[id.x] + x[id.x]", "nothing")}
    broken = variant("broken", "broken.wgsl.jinja", priority=1, when=["shapes.x[0] == 3"])
    write_bench(
        tmp_path, manifest(broken, variant("main")), [bench_case("good", [64]), bench_case("bad", [3])], shaders
    )
    arguments = ("--engine", "browser", "--launch", "chromium", "--seconds", "0.1", "--json", "report.json")
    done = subprocess.run(
        [sys.executable, "-m", "scanbuild", "bench", *arguments],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT), "XDG_STATE_HOME": str(tmp_path), "NO_COLOR": "1"},
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert done.returncode == 1, done.stderr
    assert "1 case measured on google swiftshader (Chrome" in done.stdout
    assert "Timed by timestamp queries of the device" in done.stdout
    assert "unresolved value 'nothing'" in done.stderr
    report = json.loads((tmp_path / "report.json").read_text())
    assert schema_problems(report, "bench-report") == []
    assert (report["engine"], report["clock"]["source"]) == ("browser", "timestamps")
    (good,) = report["cases"]
    assert (good["name"], good["variant"]) == ("good", "main")
    assert 0 < good["p10Us"] <= good["medianUs"] <= good["p90Us"] < 1e6
    assert 0 < good["copyUs"] < 1e6
    assert 0 < good["emptyUs"] < 1e6
    assert [(item["name"], item["status"]) for item in report["notMeasured"]] == [("bad", "failed")]


def test_a_page_that_goes_away_for_good_leaves_what_was_measured(tmp_path: Path):
    folder = write_bench(tmp_path, manifest(), CASES)
    with (
        open_hub(HubSettings()) as hub,
        session(folder, hub) as measuring,
        TimingPage(hub.server, leaves_at=at_job(2)),
    ):
        measuring.start()
        found = list(outcomes(measuring, JOBS))
    assert statuses(found) == [("first", "measured"), ("second", "failed"), ("third", "missing")]
    assert found[0].entries[0].figures.time.median == pytest.approx(1e-3, rel=0.1)
    assert "the page went away" in found[1].message
    assert "did not come back within 0.5 s" in found[2].message


def test_a_page_that_comes_back_goes_on_with_the_next_case(tmp_path: Path):
    folder = write_bench(tmp_path, manifest(), CASES)
    with open_hub(HubSettings()) as hub, session(folder, hub) as measuring:
        with TimingPage(hub.server, leaves_at=at_job(1)) as first:
            measuring.start()
            lost = measuring.run(*JOBS[0])
        with TimingPage(hub.server) as second:
            found = [lost, *outcomes(measuring, JOBS[1:])]
    assert statuses(found) == [("first", "failed"), ("second", "measured"), ("third", "measured")]
    # It is brought up to date, and asked for its clock again: nothing of the old device is used.
    assert [message.kind for message in second.heard][:4] == ["open", "begin", "case", "verdict"]
    assert "clock" in [message.kind for message in first.heard]
    assert "clock" in [message.kind for message in second.heard]


def test_another_device_is_not_measured_in_the_place_of_the_first(tmp_path: Path):
    folder = write_bench(tmp_path, manifest(), CASES)
    other = {**TIMING_DEVICE, "features": ["timestamp-query"]}
    with open_hub(HubSettings()) as hub, session(folder, hub) as measuring:
        with TimingPage(hub.server, leaves_at=at_job(1)):
            measuring.start()
            measuring.run(*JOBS[0])
        with TimingPage(hub.server, device=other):
            found = [*outcomes(measuring, JOBS[1:2]), *outcomes(measuring, JOBS[2:])]
    assert statuses(found) == [("second", "missing"), ("third", "missing")]
    assert all("came back with another device" in item.message for item in found)


def test_a_large_tensor_is_never_sent(tmp_path: Path):
    folder = write_bench(tmp_path, manifest(), [bench_case("large", [3 << 20])])
    with (
        open_hub(HubSettings()) as hub,
        session(folder, hub) as measuring,
        TimingPage(hub.server) as told,
    ):
        measuring.start()
        outcome = measuring.run(Job(index=0), "large")
    assert outcome.bytes_moved == 2 * 4 * (3 << 20)
    sent = sum(len(content) for message in told.heard for content in message.contents)
    assert 0 < sent <= 5 * LARGEST_FRAME
    (fill,) = [message for message in told.heard if message.kind == "fill"]
    assert fill.body["size"] == 4 * (3 << 20)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--launch", "chromium"], "--launch starts a browser for --engine browser"),
        (["--engine", "browser", "--launch", "chromium", "--host", "0.0.0.0"], "needs no --host"),
        (["--engine", "browser", "--adapter", "x"], "a browser chooses its adapter itself"),
        (["--engine", "browser", "--devices", "2"], "No such option"),
    ],
)
def test_options_that_do_not_go_together_are_refused(arguments: list[str], words: str):
    result = CliRunner().invoke(bench, arguments)
    assert result.exit_code == 2
    assert words in result.output
