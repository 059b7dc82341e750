"""What goes wrong around a case, from a hanging shader to a full disk, ends that case only, or is told in words."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from scanbuild.cases.casefile import Case, read_tests
from scanbuild.cases.run import CaseResult
from scanbuild.cases.session import Session
from scanbuild.cases.worker import OpenPackage, RunTask, WorkerSettings
from scanbuild.commands.console import write_report
from scanbuild.errors import NoAdapterError
from scanbuild.gpu import EngineName, choose_adapter
from tests.cases.packages import DOUBLE, case, manifest, sign, variant, write_package
from tests.test_verify_command import GOOD, SLOW, read_report, verify

ROOT = Path(__file__).resolve().parents[2]

ENDLESS = """{{ env.wgsl.resourceDeclarations }}
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  var value = x[0];
  loop { loop { if (value < -1.0) { break; } value = value + 1.0; } if (value < -2.0) { break; } }
  if (id.x < params.n) { y[id.x] = value; }
}
"""


def open_session(root: Path, engine: EngineName, limit_s: float = 30.0, reference: str = "") -> Session:
    """A session with a package open whose cases of three elements run slow.wgsl.jinja, others of two double."""
    try:
        choose_adapter(engine)
    except NoAdapterError as error:
        pytest.skip(str(error))
    source = None
    if reference:
        source = root / "source"
        source.mkdir()
        (source / "reference.py").write_text(reference)
    session = Session(WorkerSettings(engine=engine, limit_s=limit_s))
    session.start()
    session.open(OpenPackage(folder=root / "build" / "webgpu", source=source))
    return session


def cases_of(*cases: dict[str, Any]) -> Iterator[Case]:
    yield from read_tests(json.dumps({"cases": cases}), "test.json").cases


def run(session: Session, item: Case) -> CaseResult:
    result = session.run(RunTask(case=item))
    assert isinstance(result, CaseResult)
    return result


def slow_package(root: Path, shader: str = SLOW) -> None:
    slow = variant("slow", "slow.wgsl.jinja", priority=1, when=["shapes.x[0] == 3"])
    slow["passes"][0]["dispatch"] = {"x": 65535, "y": 65535}
    write_package(root, manifest(slow, variant("main")), None, {"slow.wgsl.jinja": shader})


@pytest.mark.parametrize("engine", ["wgpu", "dawn"])
def test_an_endless_loop_ends_its_case_only(tmp_path: Path, engine: EngineName):
    slow_package(tmp_path, ENDLESS)
    hangs, small = cases_of(case("hangs", [1, 2, 3], [2, 4, 6]), GOOD[0])
    with open_session(tmp_path, engine, limit_s=1) as session:
        result = run(session, hangs)
        assert [item.kind for item in result.findings] == ["time-limit"]
        assert "did not end its work within 1 s and was given up" in result.message
        assert run(session, small).status == "passed"


def test_a_worker_that_is_killed_costs_the_case_it_ran(tmp_path: Path):
    slow_package(tmp_path)
    slow, small = cases_of(case("slow", [1, 2, 3], [2, 4, 6]), GOOD[0])
    with open_session(tmp_path, "wgpu") as session:
        assert session.pid is not None
        threading.Timer(0.5, os.kill, (session.pid, signal.SIGKILL)).start()
        result = run(session, slow)
        assert [item.kind for item in result.findings] == ["crash"]
        assert "the engine ended unexpectedly while it ran this case" in result.message
        assert run(session, small).status == "passed"


LOSING = """
import gc
from scanbuild.gpu.engine import Engine

def reference(inputs, attrs, args):
    if inputs["x"][0] == 7:
        for item in gc.get_objects():
            if isinstance(item, Engine):
                item.device.destroy()
    return {"y": 2.0 * inputs["x"]}
"""


@pytest.mark.parametrize("engine", ["wgpu", "dawn"])
def test_a_lost_device_costs_a_case_and_is_replaced(tmp_path: Path, engine: EngineName):
    write_package(tmp_path, manifest(), None)
    losing, victim, small = cases_of(case("losing", [7], None), case("victim", [1], [2]), GOOD[0])
    with open_session(tmp_path, engine, reference=LOSING) as session:
        assert run(session, losing).status == "passed"
        result = run(session, victim)
        assert [item.kind for item in result.findings] == ["device-lost"]
        assert run(session, small).status == "passed"


LIMITING = """
import resource

def reference(inputs, attrs, args):
    if inputs["x"][0] == 7:
        pages = int(open("/proc/self/statm").read().split()[0])
        limit = pages * resource.getpagesize() + (100 << 20)
        resource.setrlimit(resource.RLIMIT_AS, (limit, resource.RLIM_INFINITY))
    return {"y": 2.0 * inputs["x"]}
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells and bounds the memory of a process like this")
@pytest.mark.parametrize("engine", ["wgpu", "dawn"])
def test_running_out_of_memory_ends_its_case_only(tmp_path: Path, engine: EngineName):
    write_package(tmp_path, manifest(), None)
    large = case("large", [], [])
    for kind, name in (("inputs", "x"), ("outputs", "y")):
        large[kind][name].update(shape=[1 << 24], data={"kind": "constant", "value": 1})
    limiting, huge, small = cases_of(case("limiting", [7], None), large, GOOD[0])
    with open_session(tmp_path, engine, reference=LIMITING) as session:
        assert run(session, limiting).status == "passed"
        result = run(session, huge)
        assert [item.kind for item in result.findings] == ["out-of-memory"], result.message
        assert run(session, small).status == "passed"


def test_a_shader_too_large_for_the_device_ends_its_case_only(tmp_path: Path):
    """On Dawn: wgpu does not look at the size of workgroup memory."""
    wide = DOUBLE.replace("@compute", "var<workgroup> wide: array<f32, 100000>;\n@compute")
    wide = wide.replace("y[id.x] =", "wide[id.x] = x[id.x]; y[id.x] = wide[id.x] +")
    first = variant("large", "large.wgsl.jinja", priority=1, when=["shapes.x[0] == 3"])
    write_package(tmp_path, manifest(first, variant("main")), None, {"large.wgsl.jinja": wide})
    large, small = cases_of(case("large", [1, 2, 3], [2, 4, 6]), GOOD[0])
    with open_session(tmp_path, "dawn") as session:
        result = run(session, large)
        assert [item.kind for item in result.findings] == ["compile"], result.message
        assert run(session, small).status == "passed"


def test_without_any_adapter_the_status_says_so(tmp_path: Path):
    write_package(tmp_path, manifest(), GOOD)
    nowhere = {
        "VK_DRIVER_FILES": os.devnull,
        "VK_ICD_FILENAMES": os.devnull,
        "VK_ADD_DRIVER_FILES": os.devnull,
        "LIBGL_DRIVERS_PATH": "/nonexistent",
        "__EGL_VENDOR_LIBRARY_FILENAMES": os.devnull,
    }
    ran = verify("--engine", "all", "--json", "report.json", cwd=tmp_path, **nowhere)
    assert ran.returncode == 3
    assert "there is no WebGPU adapter for wgpu" in ran.stderr
    report = read_report(tmp_path / "report.json")
    assert (report["runs"], [item["engine"] for item in report["missing"]]) == ([], ["wgpu", "dawn"])


NO_DEVICE = """
import wgpu.backends.wgpu_native as native

def refuse(*args, **kwargs):
    raise RuntimeError("the driver says no")

native.GPUAdapter.request_device_sync = refuse
"""


def test_an_adapter_that_gives_no_device_is_named_and_the_other_engines_go_on(tmp_path: Path):
    write_package(tmp_path, manifest(), GOOD)
    (tmp_path / "driver").mkdir()
    (tmp_path / "driver" / "sitecustomize.py").write_text(NO_DEVICE)
    ran = verify("--engine", "all", "--json", "report.json", cwd=tmp_path, PYTHONPATH=str(tmp_path / "driver"))
    assert (ran.returncode, ran.stderr) == (0, "")
    assert "gives no device: the driver says no" in ran.stdout
    assert "Traceback" not in ran.stderr + ran.stdout
    report = read_report(tmp_path / "report.json")
    assert [item["engine"] for item in report["missing"]] == ["wgpu"]
    (run_of_dawn,) = report["runs"]
    assert run_of_dawn["engine"] == "dawn"
    assert {item["status"] for item in run_of_dawn["cases"]} == {"passed"}


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no device that is always full")
def test_a_full_disk_costs_the_report_and_not_the_verdicts(tmp_path: Path):
    write_package(tmp_path, manifest(), GOOD)
    ran = verify("--json", "/dev/full", "--junit", "report.xml", cwd=tmp_path)
    assert ran.returncode == 2
    assert "2 passed" in ran.stdout
    assert "/dev/full: no space left on device" in ran.stderr
    assert 'tests="2" failures="0"' in (tmp_path / "report.xml").read_text()


def test_a_report_is_written_whole_or_not_at_all(tmp_path: Path):
    """A file may not grow beyond so many bytes here, as if the disk were full."""
    report = tmp_path / "report.json"
    write_report(report, "an earlier one")
    code = (
        "import resource, signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))\n"
        "from pathlib import Path; from scanbuild.commands.console import write_report\n"
        "write_report(Path('report.json'), 'x' * 100000)\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    ran = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 1
    assert "File too large: 'report.json'" in ran.stderr
    assert [(item.name, item.read_text()) for item in tmp_path.iterdir()] == [("report.json", "an earlier one")]


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_an_interrupt_leaves_a_valid_report_of_what_was_done(tmp_path: Path, jobs: str):
    slow_package(tmp_path)
    cases = [GOOD[0], case("slow", [1, 2, 3], [2, 4, 6]), GOOD[1]]
    folder = tmp_path / "build" / "webgpu"
    (folder / "test.json").write_text(json.dumps({"cases": cases}))
    sign(folder)
    log = tmp_path / "out.txt"
    with log.open("w") as out:
        process = subprocess.Popen(
            [sys.executable, "-m", "scanbuild", "verify", "-j", jobs, "--json", "report.json"],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(ROOT), "XDG_STATE_HOME": str(tmp_path)},
            stdout=out,
            stderr=subprocess.PIPE,
            text=True,
        )
        wait_for(log, "3 cases on")
        time.sleep(4)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=30)
    assert process.returncode == 130, errors
    assert "interrupted" in errors
    report = read_report(tmp_path / "report.json")
    assert (report["complete"], report["passed"]) == (False, False)
    (one,) = report["runs"]
    names = [item["name"] for item in one["cases"]]
    assert (one["complete"], "slow" in names) == (False, False)
    # A second worker may still have been starting when the first was about to run.
    assert names == ["small"] or jobs == "2"


def wait_for(log: Path, words: str) -> None:
    for _ in range(600):
        if words in log.read_text():
            return
        time.sleep(0.1)
    raise AssertionError(f"{words!r} was not said: {log.read_text()}")
