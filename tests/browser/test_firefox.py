"""The page in a headless Firefox: another browser, and another compiler."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from scanbuild.errors import CallError, NoAdapterError
from scanbuild.gpu.browser import firefox, open_hub
from scanbuild.gpu.browser.engine import BrowserEngine
from scanbuild.gpu.browser.firefox import is_firefox
from scanbuild.gpu.browser.hub import Hub
from scanbuild.gpu.browser.launch import find_browser
from scanbuild.gpu.browser.settings import HubSettings
from scanbuild.gpu.layout import Setup, lay_out
from tests.gpu.plans import DECLARATIONS, DOUBLE, doubling

X = np.arange(5, dtype=np.float32)
DIVERGENT = f"""{DECLARATIONS}@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) {{
  if (x[id.x] > 1.0) {{ workgroupBarrier(); }}
  if (id.x < 5u) {{ y[id.x] = 2.0 * x[id.x]; }}
}}"""


@pytest.fixture(scope="module")
def hub() -> Iterator[Hub]:
    try:
        find_browser("firefox")
    except NoAdapterError as error:
        pytest.skip(str(error))
    with open_hub(HubSettings(launch="firefox")) as opened:
        yield opened


@pytest.fixture(scope="module")
def engine(hub: Hub) -> BrowserEngine:
    return hub.next_engine(60.0)


def double(engine: BrowserEngine, wgsl: str = DOUBLE) -> list[float]:
    laid = lay_out(doubling(wgsl), {"x": X}, engine.record.limits, Setup(poison=True, room=True))
    result = engine.run(laid.job)
    assert laid.damage(result) == []
    got: list[float] = np.frombuffer(laid.outputs(result)["y"], np.float32).tolist()
    return got


def test_firefox_runs_a_kernel_on_the_cpu(engine: BrowserEngine):
    assert double(engine) == [0, 2, 4, 6, 8]
    assert "Firefox" in engine.describe()
    assert engine.software


def test_its_compiler_has_words_and_gaps_of_its_own(engine: BrowserEngine):
    with pytest.raises(CallError) as raised:
        double(engine, DOUBLE.replace("2.0", "nothing"))
    found = raised.value.problems[0]
    assert (found.rule, found.line) == ("shader-compilation", 5)
    assert double(engine, DIVERGENT) == [0, 2, 4, 6, 8]


def test_it_is_started_anew_when_it_is_lost(hub: Hub, engine: BrowserEngine):
    hub.revive(engine)
    assert double(engine) == [0, 2, 4, 6, 8]


def test_only_what_is_called_so_is_firefox():
    assert [is_firefox(name) for name in ("firefox", "/usr/bin/firefox-esr", "chromium", "/opt/firefox/chrome")] == [
        True,
        True,
        False,
        False,
    ]


def test_a_program_that_cannot_be_run_is_no_adapter(tmp_path: Path):
    program = tmp_path / "firefox"
    program.write_bytes(b"\x7fELF nothing")
    program.chmod(0o755)
    with pytest.raises(NoAdapterError, match="cannot be started"):
        firefox.Firefox(program, "http://127.0.0.1/").start()
