"""How long `scanbuild lower` takes, from the start of the process to its end. Run it with ``make bench-lower``.

Every model is lowered a few times, and the best time counts. The aim is 2 s for each on a machine that has nothing else
to do; beside the time stands that of the processor, which is about the same there, and what to look at elsewhere.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from onnx import ModelProto, numpy_helper, parser

AIM_S = 2.0
HIDDEN, FEATURES = 256, 64

HEAD = '<ir_version: 10, opset_import: ["" : 21]>'
SUM = f"""{HEAD}
sum (float[d] start, float[t, d] x) => (float[d] last, float[t, d] all) {{
  [loop] last, all = Scan <num_scan_inputs = 1, body = step (float[d] s, float[d] e) => (float[d] n, float[d] o) {{
    n = Add(s, e) o = Identity(n)
  }}> (start, x)
}}"""
AVERAGE = f"""{HEAD}
average (float[d] start, float[t, d] x) => (float[d] last, float[t, d] all) {{
  [loop] last, all = Scan <num_scan_inputs = 1, body = step (float[d] s, float[d] e) => (float[d] n, float[d] o) {{
    keep = Constant <value = float {{0.9}}> () take = Constant <value = float {{0.1}}> ()
    a = Mul(keep, s) b = Mul(take, e) n = Add(a, b) o = Identity(n)
  }}> (start, x)
}}"""
VITERBI = f"""{HEAD}
viterbi (float[k] start, float[t, k] x, float[k, k] moves) => (float[k] last, int64[t, k] back) {{
  [loop] last, back = Scan <num_scan_inputs = 1, body = step (float[k] s, float[k] e) => (float[k] n, int64[k] o) {{
    axis = Constant <value = int64[1] {{1}}> () first = Constant <value = int64[1] {{0}}> ()
    column = Unsqueeze(s, axis) paths = Add(column, moves) best = ReduceMax <keepdims = 0> (paths, first)
    o = ArgMax <axis = 0, keepdims = 0> (paths) n = Add(best, e)
  }}> (start, x)
}}"""
GRU = f"""{HEAD}
gru (float[b, {HIDDEN}] start, float[t, b, {FEATURES}] x) => (float[b, {HIDDEN}] last, float[t, b, {HIDDEN}] all) {{
  [loop] last, all = Scan <num_scan_inputs = 1, body = step (float[b, {HIDDEN}] h, float[b, {FEATURES}] e)
      => (float[b, {HIDDEN}] n, float[b, {HIDDEN}] o) {{
    one = Constant <value = float {{1}}> () xw = MatMul(e, w) hu = MatMul(h, u)
    xz, xr, xn = Split <axis = 1, num_outputs = 3> (xw) hz, hr, hn = Split <axis = 1, num_outputs = 3> (hu)
    az = Add(xz, hz) z = Sigmoid(az) ar = Add(xr, hr) r = Sigmoid(ar) rn = Mul(r, hn) an = Add(xn, rn) c = Tanh(an)
    i = Sub(one, z) new = Mul(i, c) old = Mul(z, h) n = Add(new, old) o = Identity(n)
  }}> (start, x)
}}"""


def models() -> dict[str, ModelProto]:
    """The models by name; the GRU with random weights."""
    made: dict[str, ModelProto] = {
        name: parser.parse_model(text)
        for name, text in {"sum": SUM, "average": AVERAGE, "viterbi": VITERBI, "gru": GRU}.items()
    }
    generator = np.random.default_rng(1)
    for name, rows in (("w", FEATURES), ("u", HIDDEN)):
        weights = generator.uniform(-0.1, 0.1, (rows, 3 * HIDDEN)).astype(np.float32)
        made["gru"].graph.initializer.append(numpy_helper.from_array(weights, name))
    return made


def seconds(folder: Path, name: str) -> tuple[float, float]:
    """The time of one run, and that of the processor."""
    command = [sys.executable, "-m", "scanbuild", "lower", "-q", str(folder / f"{name}.onnx"), "--op-id", f"my.{name}"]
    start, before = time.perf_counter(), os.times()
    subprocess.run([*command, "--out", str(folder / f"my.{name}")], check=True)
    after = os.times()
    used = after.children_user + after.children_system - before.children_user - before.children_system
    return time.perf_counter() - start, used


def main() -> int:
    """Print a line a model; 1 if one takes longer than the aim."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--runs", type=int, default=3)
    runs = arguments.parse_args().runs
    slow = False
    with tempfile.TemporaryDirectory() as place:
        for name, model in models().items():
            Path(place, f"{name}.onnx").write_bytes(model.SerializeToString())
            best, used = min(seconds(Path(place), name) for _ in range(runs))
            slow |= best > AIM_S
            print(f"{name:<10}{best:6.2f} s, of the processor {used:.2f} s  (aim: under {AIM_S:g} s)")
    return int(slow)


if __name__ == "__main__":
    sys.exit(main())
