"""The script that holds what selection picks against a report of all variants."""

import json
import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).resolve().parent.parent.parent / "benchmarks" / "variants.py"


def item(name, variant, median):
    return {"name": name, "variant": variant, "medianUs": median, "fractionOfCopy": 2 / median, "copyUs": 2.0}


def table(tmp_path, *items):
    report = {
        "package": "ai.onnx.Scan",
        "engine": "wgpu",
        "adapter": {"name": "Card", "backend": "Vulkan", "driver": "1"},
        "cases": list(items),
    }
    path = tmp_path / "report.json"
    path.write_text(json.dumps(report))
    done = subprocess.run([sys.executable, SCRIPT, path], capture_output=True, text=True, check=True)
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
