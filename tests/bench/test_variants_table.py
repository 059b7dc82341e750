"""The script that holds what selection picks against a report of all variants."""

import json
import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).resolve().parent.parent.parent / "benchmarks" / "variants.py"
ADAPTER = {"name": "Card", "vendor": "", "architecture": "", "driver": "1", "backend": "Vulkan", "kind": ""}
REPORT = {
    "package": "ai.onnx.Scan",
    "engine": "wgpu",
    "adapter": {**ADAPTER, "software": False},
    "clock": {"source": "timestamps", "resolutionUs": 0.1},
    "copyGBps": 1.0,
    "notMeasured": [],
}


def item(name, variant, median):
    times = dict.fromkeys(("medianUs", "p10Us", "p90Us", "medianLowUs", "medianHighUs"), median)
    counts = {"samples": 5, "callsPerSample": 1, "kernelLaunches": 1, "bytesMoved": 8.0, "GBps": 1.0}
    shares = {"fractionOfCopy": 2 / median, "copyUs": 2.0, "emptyUs": 1.0, "selected": False}
    return {"name": name, "variant": variant, "group": "", **times, **counts, **shares}


def ran(path):
    return subprocess.run([sys.executable, SCRIPT, path], capture_output=True, text=True, check=False)


def table(tmp_path, *items):
    path = tmp_path / "report.json"
    path.write_text(json.dumps({**REPORT, "cases": list(items)}))
    done = ran(path)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_case_whose_selected_variant_is_the_fastest_counts(tmp_path):
    text = table(tmp_path, item("1x1", "flat_walk", 20.0), item("1x1", "serial", 10.0))
    assert "in 1 of 1 cases" in text
    assert "| 1x1 | 2.0 | **serial** 10.0 (0.20) | flat_walk 20.0 (0.10) |  |  |" in text


def test_a_case_whose_selected_variant_is_slower_by_more_than_a_twentieth_is_named(tmp_path):
    text = table(tmp_path, item("1x1", "flat_walk", 10.0), item("1x1", "serial", 10.6))
    assert "in 0 of 1 cases" in text
    assert "* 1x1: 1.06 times the time of flat_walk" in text
    assert "in 1 of 1 cases" in table(tmp_path, item("1x1", "flat_walk", 10.0), item("1x1", "serial", 10.4))


def test_a_report_that_is_missing_or_none_is_an_error_in_words(tmp_path):
    path = tmp_path / "report.json"
    for text in (None, "{", json.dumps({"cases": []})):
        if text is not None:
            path.write_text(text)
        done = ran(path)
        assert done.returncode == 2
        assert str(path) in done.stderr
        assert "Traceback" not in done.stderr
