"""Built packages with benchmark cases, small enough to read."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.cases.packages import BINDINGS, DOUBLE, manifest, sign, variant, write_package

HALVES = [
    *BINDINGS[:2],
    {
        "name": "params",
        "struct": [{"name": "n", "type": "u32", "value": "numel(shapes.x)"}],
    },
]

TUNED = DOUBLE.replace("workgroup_size(64)", "workgroup_size({{ tunables.width }})")
"""The width of a workgroup is a tunable."""

SLOW = """{{ env.wgsl.resourceDeclarations }}
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  var value = u32(x[0]) + id.x;
  for (var i = 0u; i < 60000u; i++) { value = value * 1664525u + (value >> 3u) + 1013904223u; }
  if (id.x < params.n) { y[id.x] = {{ T }}(value); }
}
"""


def bench_case(name: str, shape: list[int], dtype: str = "float32", **more: Any) -> dict[str, Any]:
    data = {"kind": "random", "seed": 1, "low": -4, "high": 4}
    return {"name": name, "inputs": {"x": {"dtype": dtype, "shape": shape, "data": data}}, **more}


def write_bench(
    root: Path,
    made: dict[str, Any],
    cases: list[dict[str, Any]],
    shaders: Mapping[str, str] | None = None,
    tune: Mapping[str, list[Any]] | None = None,
) -> Path:
    """Write ``root/build/webgpu`` with a ``bench.json``, and return that folder."""
    folder = write_package(root, made, None, shaders)
    (folder / "bench.json").write_text(json.dumps({"cases": cases, **({"tune": tune} if tune else {})}))
    sign(folder)
    return folder


def write_source(
    root: Path,
    made: dict[str, Any],
    cases: list[dict[str, Any]],
    shaders: Mapping[str, str],
    tune: Mapping[str, list[Any]] | None = None,
) -> Path:
    """Write a source package, its manifest indented, and return its folder."""
    root.mkdir(parents=True, exist_ok=True)
    (root / "manifest.json").write_text(json.dumps(made, indent=2) + "\n")
    (root / "bench.json").write_text(json.dumps({"cases": cases, **({"tune": tune} if tune else {})}))
    (root / "test.json").write_text('{"cases": []}')
    for name, text in shaders.items():
        (root / name).write_text(text)
    return root


def tuned_manifest(default: int = 64, **more: Any) -> dict[str, Any]:
    """One variant whose workgroup has a tunable width, and which refuses widths that are no multiple of 8."""
    only = variant("main", "tuned.wgsl.jinja", when=["tunables.width % 8 == 0"])
    only["passes"][0]["dispatch"] = {"threads": "numel(shapes.x)", "workgroupSize": "tunables.width"}
    return manifest(only, tunables={"width": {"default": default}}, **more)
