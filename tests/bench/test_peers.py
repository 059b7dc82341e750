"""The script that measures a package beside its peers."""

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from scanbuild.cases.casefile import read_benches
from tests.bench.packages import bench_case, write_bench
from tests.cases.packages import manifest, variant

FOLDER = Path(__file__).resolve().parent.parent.parent / "benchmarks"


@pytest.fixture(scope="module")
def runners() -> ModuleType:
    spec = importlib.util.spec_from_file_location("peer_runners", FOLDER / "peer_runners.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["peer_runners"] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def peers(runners: ModuleType) -> ModuleType:
    spec = importlib.util.spec_from_file_location("peers", FOLDER / "peers.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["peers"] = module
    spec.loader.exec_module(module)
    return module


def test_a_table_is_written_and_absent_peers_are_named(engine, tmp_path: Path):
    cases = [bench_case("matrix", [64, 16]), bench_case("vector", [64]), bench_case("back", [8, 8], attrs={"k": 1})]
    made = manifest(attributes={"k": {"default": 0}})
    write_bench(tmp_path / "mine", made, cases)
    write_bench(tmp_path / "theirs", manifest(variant("other"), attributes={"k": {"default": 0}}), [])
    ran = subprocess.run(
        [sys.executable, FOLDER / "peers.py", "mine", "--other", "theirs", "--out", "results", "--seconds", "0.05"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(FOLDER.parent)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    (file,) = (tmp_path / "results").iterdir()
    text = file.read_text()
    assert "| matrix | main |" in text
    assert "| case | variant | copy | of the copy | this package | theirs |" in text
    assert "vector" not in text
    assert "back" not in text
    assert "ahead of theirs on" in text
    for title in ("PyTorch cumsum", "CuPy cumsum", "ONNX Runtime WebGPU CumSum"):
        assert title in text
    assert engine.adapter.name in text


def test_a_case_is_a_task_for_peers_if_it_walks_a_matrix_forward(peers: ModuleType):
    made = [
        bench_case(name, shape, attrs={"r": reverse})
        for name, reverse, shape in [("a", 0, [3, 2]), ("b", 1, [3, 2]), ("c", 0, [3]), ("d", 0, [4, 1])]
    ]
    text = json.dumps({"cases": made})
    shapes = [peers.shape_of(case) for case in read_benches(text, "bench.json").cases]
    assert [item and item.dims for item in shapes] == [(3, 2), None, None, (4,)]


def test_the_fastest_of_a_row_is_bold_and_gaps_are_dashes(peers: ModuleType):
    from tests.bench.reports import measured, outcome

    found = [outcome("a", measured(seconds=1e-3), moved=1e9), outcome("b", measured(seconds=1e-3), moved=1e6)]
    columns = [peers.Column(title="mine", seconds={"a": 1e-3, "b": 1e-3}), peers.Column(title="x", seconds={"a": 5e-4})]
    *_, first, second = peers.table(columns, found)
    assert first == "| a | main | 1,250 | 0.80 | 1,000 | **2,000** |"
    assert second == "| b | main | 1.25 | 0.80 | **1** | - |"


def test_calls_are_captured_once_for_each_number_of_them(runners: ModuleType):
    captured: list[int] = []
    calls: list[int] = []

    def capture(load, times):
        captured.append(times)
        return lambda: calls.extend([1] * times)

    def clock(action):
        action()
        return 1.0

    heated: list[int] = []
    meter = runners.EventMeter(clock, lambda: heated.append(1), capture)
    load = runners.rotating(calls.append, 3)
    assert meter.measure([(load, 5, 0), (load, 5, 0), (load, 1, 2)]) == [1.0] * 3
    assert captured == [5]
    assert len(heated) == 3
    assert calls == [1] * 10 + [0, 1, 2]


def test_a_peer_that_cannot_be_used_says_so_in_its_only_line(runners: ModuleType, tmp_path: Path, capsys, monkeypatch):
    def check() -> None:
        raise RuntimeError("no device\nat all")

    (tmp_path / "task.json").write_text('{"shapes": [], "settings": {}}')
    monkeypatch.setitem(runners.PEERS, "torch", (check, None))
    assert runners.serve("torch", tmp_path / "task.json") == 1
    assert capsys.readouterr().out == '{"unusable": "RuntimeError: no device"}\n'
