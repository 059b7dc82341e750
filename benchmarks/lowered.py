"""Measures what `scanbuild lower` makes of three models: a sum, a gated recurrence, and a GRU cell.

    python benchmarks/lowered.py [--small] [--seconds S]

Writes the models, lowers them, and runs `scanbuild bench --all-variants` on each: the sum beside `ai.onnx.Scan` on the
same shapes, the recurrence `s = a * s + b` as a fraction of a copy of the same bytes, and the GRU (hidden 256, batch
64, 512 steps) beside ONNX Runtime's `Scan` on the CPU. ``--small`` takes sizes that a software adapter can bear.
"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

MODELS = {
    "Sum": """<ir_version: 10, opset_import: ["" : 21]>
model (float[d] start, float[t, d] x) => (float[d] last, float[t, d] sums) {
  last, sums = Scan <num_scan_inputs = 1, body = step (float[d] s, float[d] x_now) => (float[d] next, float[d] out) {
    next = Add(s, x_now)  out = Identity(next)
  }> (start, x)
}""",
    "Gated": """<ir_version: 10, opset_import: ["" : 21]>
model (float[d] start, float[t, d] a, float[t, d] b) => (float[d] last, float[t, d] states) {
  last, states = Scan <num_scan_inputs = 2, body = step (float[d] s, float[d] a_now, float[d] b_now)
      => (float[d] next, float[d] out) {
    kept = Mul(a_now, s)  next = Add(kept, b_now)  out = Identity(next)
  }> (start, a, b)
}""",
    "Gru": """<ir_version: 10, opset_import: ["" : 21]>
model (float[n, H] start, float[t, n, H] x, float[H, G] W, float[H, G] R) => (float[n, H] last, float[t, n, H] hs) {
  last, hs = Scan <num_scan_inputs = 1, body = step (float[n, H] h, float[n, H] x_now)
      => (float[n, H] next, float[n, H] out) {
    xw = MatMul(x_now, W)  hr = MatMul(h, R)
    xz, xr, xn = Split <axis = 1, num_outputs = 3> (xw)  hz, hq, hn = Split <axis = 1, num_outputs = 3> (hr)
    z0 = Add(xz, hz)  z = Sigmoid(z0)  r0 = Add(xr, hq)  r = Sigmoid(r0)
    rn = Mul(r, hn)  n0 = Add(xn, rn)  fresh = Tanh(n0)
    gap = Sub(h, fresh)  kept = Mul(z, gap)  next = Add(fresh, kept)  out = Identity(next)
  }> (start, x)
}""",
}
SHAPES = [
    (2**24, 1),
    (2**18, 64),
    (2**16, 256),
    (2**14, 1024),
    (2**20, 256),
    (2**18, 1024),
    (2**16, 4096),
    (4096, 2**16),
]
GATED = [(4096, 1024), (2**16, 256), (2**20, 64), (2**18, 1024)]
SMALL = [(300, 64)]


def tensor(shape: list[int], seed: int, low: float = -1, high: float = 1) -> dict[str, Any]:
    return {"dtype": "float32", "shape": shape, "data": {"kind": "random", "seed": seed, "low": low, "high": high}}


def bench_cases(small: bool) -> dict[str, list[dict[str, Any]]]:
    """The cases of each package's bench.json."""
    sums, gated = (SMALL, SMALL) if small else (SHAPES, GATED)
    steps, batch, hidden = (8, 4, 16) if small else (512, 64, 256)
    pairs = {f"{t}x{d}": (t, d) for t, d in sums}
    return {
        "Sum": [
            {"name": n, "inputs": {"start": tensor([d], 1), "x": tensor([t, d], 2)}} for n, (t, d) in pairs.items()
        ],
        "ai.onnx.Scan": [
            {"name": name, "inputs": {"initial_state": tensor([d], 1), "scan_input": tensor([t, d], 2)}}
            for name, (t, d) in pairs.items()
        ],
        "Gated": [
            {"name": f"{t}x{d}", "inputs": {"start": tensor([d], 1), "a": tensor([t, d], 2, 0), "b": tensor([t, d], 3)}}
            for t, d in gated
        ],
        "Gru": [
            {
                "name": f"{steps}x{batch}x{hidden}",
                "inputs": {
                    "start": tensor([batch, hidden], 1),
                    "x": tensor([steps, batch, hidden], 2),
                    "W": tensor([hidden, 3 * hidden], 3, -0.1, 0.1),
                    "R": tensor([hidden, 3 * hidden], 4, -0.1, 0.1),
                },
            }
        ],
    }


def scanbuild(*arguments: str | Path) -> None:
    subprocess.run([sys.executable, "-m", "scanbuild", *map(str, arguments)], check=True)


def time_onnx_runtime(model: bytes, case: dict[str, Any]) -> float:
    """Median seconds of five runs on all cores of the CPU."""
    import onnxruntime

    session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
    chance = np.random.default_rng(0)
    feeds = {
        name: chance.uniform(item["data"]["low"], item["data"]["high"], item["shape"]).astype(np.float32)
        for name, item in case["inputs"].items()
    }
    session.run(None, feeds)
    times = []
    for _ in range(5):
        began = time.perf_counter()
        session.run(None, feeds)
        times.append(time.perf_counter() - began)
    return statistics.median(times)


def main() -> None:
    from onnx import parser

    options = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    options.add_argument("--small", action="store_true", help="sizes for a software adapter")
    options.add_argument("--seconds", default="1", help="at most so long for a case")
    given = options.parse_args()
    cases = bench_cases(given.small)
    templates = Path(__file__).resolve().parents[1] / "templates"
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        (folder / "_shared").symlink_to(templates / "_shared")
        scan = folder / "ai.onnx.Scan"
        scan.mkdir()
        for file in (templates / "ai.onnx.Scan").iterdir():
            (scan / file.name).write_bytes(file.read_bytes())
        hidden = cases["Gru"][0]["inputs"]["start"]["shape"][1]
        sized = {
            name: text.replace("H]", f"{hidden}]").replace("G]", f"{3 * hidden}]") for name, text in MODELS.items()
        }
        sized = {name: text.replace("[H,", f"[{hidden},") for name, text in sized.items()}
        models = {name: parser.parse_model(text).SerializeToString() for name, text in sized.items()}
        for name, model in models.items():
            (folder / f"{name}.onnx").write_bytes(model)
            scanbuild("lower", folder / f"{name}.onnx", "--op-id", f"bench.{name}", "--out", folder / name, "-q")
        for name, listed in cases.items():
            (folder / name / "bench.json").write_text(json.dumps({"cases": listed}))
            chosen = [] if name == "ai.onnx.Scan" else ["--all-variants"]
            scanbuild("bench", folder / name, "--seconds", given.seconds, *chosen)
        seconds = time_onnx_runtime(models["Gru"], cases["Gru"][0])
        print(f"ONNX Runtime's Scan on the CPU, the GRU of {cases['Gru'][0]['name']}: {1000 * seconds:.1f} ms")


if __name__ == "__main__":
    main()
