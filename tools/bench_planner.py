"""How long loading, checking and planning take on a package of 60 KB of manifest and 30 variants.

Run it with ``make bench-planner``. The package is made up here: a matrix product with a family of tilings, whose
variants have two passes and a dozen derives each. The aims are 150 ms for loading, checking and planning a first
request together, and 5 ms for planning one further request.
"""

import argparse
import json
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

VARIANTS = 30
MANIFEST_BYTES = 60_000
AIM_ALL_MS = 150.0
AIM_FURTHER_MS = 5.0

SHADER = """{{ env.wgsl.resourceDeclarations }}
{% include "number.wgsl.jinja" %}
{% for k in range(tunables.depth) %}
const step{{ k }} = {{ k }}u;
{% endfor %}
@compute @workgroup_size({{ tunables.width }})
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let at = number(group, local);
  if (at >= params.total) {
    return;
  }
  var sum = {{ T }}(0);
  for (var k = 0u; k < params.inner; k += 1u) {
    sum += a[at / params.columns * params.inner + k] * b[k * params.columns + at % params.columns];
  }
  {{ target }}[at] = {% if scaled %}sum * {{ T }}({{ attrs.alpha }}){% else %}sum{% endif %};
}
"""
NUMBER = """fn number(group: vec3<u32>, local: u32) -> u32 {
  return (group.y * {{ DISPATCH_FOLD_WIDTH }}u + group.x) * {{ tunables.width }}u + local;
}
"""
COPY = """{{ env.wgsl.resourceDeclarations }}
{% include "number.wgsl.jinja" %}
@compute @workgroup_size({{ tunables.width }})
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let at = number(group, local);
  if (at < params.total) {
    c[at] = product[at];
  }
}
"""


def manifest() -> dict[str, Any]:
    """The manifest, filled up with descriptions to its size."""
    made: dict[str, Any] = {
        "domain": "com.example",
        "name": "Product",
        "typeConstraints": {"T": ["float32", "int32"]},
        "inputs": {"a": {"dtype": "T", "rank": 2}, "b": {"dtype": "T", "rank": 2}},
        "outputs": {"c": {"dtype": "T", "shape": ["shapes.a[0]", "shapes.b[1]"]}},
        "attributes": {"alpha": {"default": 1}},
        "tunables": {"width": {"default": 64}, "depth": {"default": 4}},
        "derive": {
            "lines": "shapes.a[0] if ranks.a == 2 else 0",
            "inner_": "shapes.a[1] if ranks.a == 2 else 0",
            "columns": "shapes.b[1] if ranks.b == 2 else 0",
            "total": "lines * columns",
        },
        "when": ["ranks.a == 2 and ranks.b == 2", "shapes.b[0] == inner_"],
        "bindings": {"params": {"struct": [_field(name) for name in ("total", "columns", "inner_")]}},
        "variants": [_variant(index) for index in range(VARIANTS)],
    }
    made["bindings"]["params"]["struct"][2]["name"] = "inner"
    lacking = MANIFEST_BYTES - len(json.dumps(made, indent=2))
    for variant in made["variants"]:
        variant["description"] = "x" * max(0, lacking // VARIANTS)
    return made


def _field(name: str) -> dict[str, Any]:
    return {"name": name, "type": "u32", "value": name}


def _variant(index: int) -> dict[str, Any]:
    derive = {f"tile{n}": f"ceilDiv(columns, {n + 1}) + max(lines, {index}) // (1 + {n})" for n in range(10)}
    size = "lines * columns + " + " + ".join(f"0 * tile{n}" for n in range(10))
    threads = {"threads": "size", "workgroupSize": "tunables.width"}
    return {
        "id": f"v{index}",
        "priority": VARIANTS - index,
        "when": [f"lines >= {1 << (20 - index // 2)} and columns % {index + 1} == 0"]
        if index < VARIANTS - 1
        else ["true"],
        "tunables": {"depth": {"default": index % 8 + 1}},
        "derive": {**derive, "size": size},
        "intermediates": [{"id": "product", "dtype": "float32", "shape": ["lines", "columns"]}],
        "passes": [
            {
                "id": "multiply",
                "shader": "multiply.wgsl.jinja",
                "derive": {"target": "'product'", "scaled": "attrs.alpha != 1"},
                "bindings": ["a", "b", {"scratch": "product", "elementType": "$T"}, "params"],
                "dispatch": threads,
            },
            {
                "id": "copy",
                "shader": "copy.wgsl.jinja",
                "bindings": [
                    {"scratch": "product", "buffer": "read-only-storage", "elementType": "$T"},
                    "c",
                    "params",
                ],
                "dispatch": threads,
            },
        ],
    }


def write_package(folder: Path) -> None:
    """The package as it is published."""
    from scanbuild.package.manifest import parse_manifest
    from scanbuild.package.metadata import synthesise_metadata

    content = manifest()
    texts = {
        "manifest.json": json.dumps(content, indent=2),
        "multiply.wgsl.jinja": SHADER,
        "number.wgsl.jinja": NUMBER,
        "copy.wgsl.jinja": COPY,
    }
    parsed, problems = parse_manifest(content)
    assert parsed is not None, problems
    metadata: Any = synthesise_metadata(parsed, texts)
    for listed in metadata["webgpu"]["variants"].values():
        listed.append("number.wgsl.jinja")
    for name, text in {**texts, "metadata.json": json.dumps(metadata)}.items():
        (folder / name).write_text(text, encoding="utf-8")


def forget() -> None:
    """Drop what the process remembers of earlier rounds, so that each is a first one."""
    from scanbuild.checking import syntax
    from scanbuild.dialect import expression

    syntax.expression_syntax.cache_clear()
    expression._parse.cache_clear()


def measure(folder: Path) -> dict[str, float]:
    """Milliseconds of each step."""
    from scanbuild.checking.check import STATIC_RULES, apply, check_path
    from scanbuild.checking.reading import read_package
    from scanbuild.package.folder import open_folder
    from scanbuild.planning.planner import Planner
    from scanbuild.planning.profiles import profile
    from scanbuild.planning.request import HostTensor, Request

    def request(lines: int) -> Request:
        tensors = {"a": (lines, 32), "b": (32, 48)}
        return Request(inputs={name: HostTensor(shape=shape, dtype="float32") for name, shape in tensors.items()})

    device = profile("webgpu-defaults")
    forget()
    times: dict[str, float] = {}
    package, times["load"] = timed(lambda: open_folder(folder))

    def check() -> None:
        subject = read_package(folder).subject
        assert subject is not None
        problems = apply(STATIC_RULES, subject)
        assert not [problem for problem in problems if problem.severity == "error"], problems

    _, times["check, without trying requests"] = timed(check)
    planner = Planner(package)
    _, times["plan a first request"] = timed(lambda: planner.prepare(request(64), device))
    times["all of these"] = sum(times.values())
    _, times["plan a further request"] = timed(lambda: planner.prepare(request(65), device))
    _, times["check, made-up requests included"] = timed(lambda: check_path(folder))
    return times


def timed(function: Callable[[], Any]) -> tuple[Any, float]:
    """What a function returns, and the milliseconds it takes."""
    start = time.perf_counter()
    result = function()
    return result, (time.perf_counter() - start) * 1000


def main() -> None:
    """Print the median of some rounds for each step."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=7, help="how often everything is measured (default: 7)")
    rounds: int = parser.parse_args().rounds
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_package(folder)
        size = (folder / "manifest.json").stat().st_size
        measure(folder)  # imports and caches of the interpreter
        results = [measure(folder) for _ in range(rounds)]
    print(f"{size / 1000:.0f} KB of manifest, {VARIANTS} variants; medians of {rounds} rounds")
    for step in results[0]:
        aims = {"all of these": AIM_ALL_MS, "plan a further request": AIM_FURTHER_MS}
        aim = f"  (aim: {aims[step]:.0f} ms)" if step in aims else ""
        print(f"{step:35} {statistics.median(result[step] for result in results):8.1f} ms{aim}")


if __name__ == "__main__":
    main()
