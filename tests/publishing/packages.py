"""Small source packages for tests, written into a folder."""

import json
from pathlib import Path
from typing import Any

SHADER = """{{ env.wgsl.resourceDeclarations }}
{% include "_shared/index.wgsl.jinja" %}

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  let i = flat_index(id);
  if (i < {{ n }}u) { y[i] = x[i] * {{ factor }}; }
}
"""
SHARED = "// {# a shared fragment #}\nfn flat_index(id: vec3<u32>) -> u32 {\n  return id.x;\n}\n"


def manifest(**changes: Any) -> dict[str, Any]:
    """A kernel that doubles a tensor."""
    content: dict[str, Any] = {
        "domain": "org.example",
        "name": "Twice",
        "description": "Doubles | every `element|`.",
        "inputs": {"x": {"dtype": "T", "rank": 1, "description": "What to double."}},
        "outputs": {"y": {"dtype": "T", "shape": "shapes.x", "description": "The double."}},
        "typeConstraints": {"T": ["float32", "int32"]},
        "derive": {"n": "numel(shapes.x)"},
        "variants": [
            {
                "id": "plain",
                "derive": {"factor": "2"},
                "passes": [
                    {
                        "id": "double",
                        "shader": "twice.wgsl.jinja",
                        "bindings": ["x", "y"],
                        "dispatch": {"threads": "n", "workgroupSize": 64},
                    }
                ],
            }
        ],
    }
    return content | changes


def bench(name: str, size: int, dtype: str = "float32", **changes: Any) -> dict[str, Any]:
    """A benchmark that doubles so many elements."""
    return {"name": name, "inputs": {"x": {"dtype": dtype, "shape": [size], "data": {"kind": "iota"}}}} | changes


def case(name: str, size: int, dtype: str = "float32", **changes: Any) -> dict[str, Any]:
    """A test case that doubles so many elements."""
    return bench(name, size, dtype) | {"outputs": {"y": {"dtype": dtype, "shape": [size]}}} | changes


def write_source(folder: Path, **changes: Any) -> Path:
    """Write the package into ``folder/Twice``, with ``folder/_shared``; changes replace whole files, None drops one."""
    files: dict[str, Any] = {
        "Twice/manifest.json": manifest(),
        "Twice/test.json": {"cases": [case("small", 3), case("empty", 0), case("whole", 5, "int32")]},
        "Twice/bench.json": {"cases": [bench("large", 100_000)]},
        "Twice/twice.wgsl.jinja": SHADER,
        "Twice/reference.py": "def reference(inputs, attrs, args):\n    return {'y': inputs['x'] * 2}\n",
        "_shared/index.wgsl.jinja": SHARED,
    }
    for name, content in (files | changes).items():
        if content is None:
            continue
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content if isinstance(content, str) else json.dumps(content, indent=2) + "\n")
    return folder / "Twice"
