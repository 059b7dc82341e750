"""How long ``scanbuild verify`` takes for a package of 500 tiny cases, all told.

Run it with ``make bench-verify``. The package is made up here: it doubles vectors of a few elements, of three dtypes.
The time is that of the whole command, from its start to its end, on the adapter that it chooses. The aim is 40 ms a
case on a software adapter.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from scanbuild.package.digest import folder_digests

CASES = 500
AIM_MS = 40.0
DTYPES = ("float32", "int32", "uint32")

SHADER = """{{ env.wgsl.resourceDeclarations }}
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  if (id.x < params.n) { y[id.x] = x[id.x] + x[id.x]; }
}
"""


def manifest() -> dict[str, Any]:
    params = {"name": "params", "struct": [{"name": "n", "type": "u32", "value": "numel(shapes.x)"}]}
    one = {
        "shader": "double.wgsl.jinja",
        "bindings": ["x", "y", params],
        "dispatch": {"threads": "numel(shapes.x)", "workgroupSize": 64},
    }
    return {
        "domain": "com.example",
        "name": "Double",
        "typeConstraints": {"T": list(DTYPES)},
        "inputs": {"x": {"dtype": "T"}},
        "outputs": {"y": {"dtype": "T", "shape": "shapes.x"}},
        "variants": [{"id": "main", "passes": [one]}],
    }


def case(index: int) -> dict[str, Any]:
    dtype, values = DTYPES[index % len(DTYPES)], [(index * 7 + place) % 101 for place in range(1 + index % 60)]

    def tensor(numbers: list[int]) -> dict[str, Any]:
        return {"dtype": dtype, "shape": [len(numbers)], "data": {"kind": "values", "values": numbers}}

    doubled = tensor([2 * value for value in values])
    return {"name": f"case_{index}", "inputs": {"x": tensor(values)}, "outputs": {"y": doubled}}


def write_package(folder: Path, count: int) -> None:
    """Write the built package, its metadata with the digests of its files."""
    folder.mkdir(parents=True)
    files = {
        "manifest.json": json.dumps(manifest()),
        "double.wgsl.jinja": SHADER,
        "test.json": json.dumps({"cases": [case(index) for index in range(count)]}),
    }
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    metadata = {
        "name": "com.example.Double",
        "backend": {"type": "webgpu"},
        "webgpu": {"manifestSpec": "2.1", "variants": {"main": ["double.wgsl.jinja"]}},
        "digest": {"algorithm": "sha256", "files": folder_digests(folder)},
    }
    (folder / "metadata.json").write_text(json.dumps(metadata), encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--engine", default="wgpu")
    parser.add_argument("--cases", type=int, default=CASES)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="scanbuild-bench-") as folder:
        write_package(Path(folder) / "build" / "webgpu", options.cases)
        start = time.perf_counter()
        command = [sys.executable, "-m", "scanbuild", "verify", folder, "--engine", options.engine]
        ran = subprocess.run(command, capture_output=True, text=True, check=False)
        seconds = time.perf_counter() - start
    if ran.returncode:
        sys.exit(ran.stdout[-2000:] + ran.stderr)
    each = 1000 * seconds / options.cases
    print(f"{options.cases} cases in {seconds:.1f} s: {each:.1f} ms a case (aim: {AIM_MS:g} on a software adapter)")


if __name__ == "__main__":
    main()
