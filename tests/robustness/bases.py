"""The packages that mutations start from: as files of a source package, and a call of each.

A package's folder is a source package and, by its ``metadata.json``, a built one at once, so that every command takes
it. ``reference.py`` in it writes a file when it is imported, which nothing may do.
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from tests.corpus_files import compact, metadata_for

CORPUS = Path(__file__).resolve().parent.parent / "corpus"
TEMPLATES = Path(__file__).resolve().parents[2] / "templates"
MARKER = "imported-the-reference"
REFERENCE = f"from pathlib import Path\n\nPath(__file__).with_name({MARKER!r}).touch()\n"
SCAN_CASES = 4
CASE = "call"
"""The name of the test case that is made of a base's call."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Base:
    """A package before it is mutated. ``request`` is a call as the corpora write it."""

    name: str
    files: dict[str, str]
    request: dict[str, Any] = field(default_factory=dict)


@cache
def bases() -> tuple[Base, ...]:
    """All of them, in an order that never changes."""
    return (*_hand_written(), _scan(), *_corpus("load.json", "call"), *_corpus("calls.json", "request"))


def _package(name: str, files: dict[str, Any], request: dict[str, Any]) -> Base:
    texts = {path: compact(content) for path, content in files.items()}
    texts.setdefault("metadata.json", compact(metadata_for(files["manifest.json"], texts)))
    texts.setdefault("test.json", compact({"cases": [_case(request, files["manifest.json"])]}))
    texts.setdefault("bench.json", compact({"cases": []}))
    texts["reference.py"] = REFERENCE
    return Base(name=name, files=texts, request=request)


def _case(request: dict[str, Any], manifest: dict[str, Any]) -> dict[str, Any]:
    """A test case for a call of a corpus, its values left out. Most kernels of a corpus give
    what is like their first input."""
    tensors = {name: value for name, value in request.get("inputs", {}).items() if isinstance(value, dict)}
    inputs = {
        name: {"dtype": value.get("dtype") or "float32", "shape": value.get("shape"), "data": {"kind": "iota"}}
        for name, value in tensors.items()
    }
    like = next(iter(inputs.values()), {"dtype": "float32", "shape": [1]})
    outputs = [name for name in manifest.get("outputs") or {"y": 0} if name not in tensors][:1]
    scalars = {name: value for name, value in request.get("inputs", {}).items() if name not in tensors}
    return {
        "name": CASE,
        "inputs": inputs,
        "attrs": request.get("attrs") or {},
        "args": {**(request.get("args") or {}), **scalars},
        "outputs": {name: {"dtype": like["dtype"], "shape": like["shape"]} for name in outputs},
    }


def _corpus(file: str, call: str) -> Iterable[Base]:
    """The packages of a corpus that load."""
    text = (CORPUS / file).read_text(encoding="utf-8")
    entries = json.loads(text)
    for entry in entries if isinstance(entries, list) else entries["calls"]:
        if entry["expect"] != "load-error" and isinstance(entry["files"].get("manifest.json"), dict):
            yield _package(f"{file} {entry['name']}", entry["files"], entry.get(call) or {})


def _scan() -> Base:
    folder = TEMPLATES / "ai.onnx.Scan"
    texts = {path.name: path.read_text(encoding="utf-8") for path in sorted(folder.iterdir()) if path.suffix != ".py"}
    shared = TEMPLATES / "_shared"
    texts |= {f"../_shared/{path.name}": path.read_text(encoding="utf-8") for path in sorted(shared.iterdir())}
    for name in ("test.json", "bench.json"):
        content = json.loads(texts[name])
        content["cases"] = content["cases"][:SCAN_CASES]
        texts[name] = json.dumps(content, indent=1)
    manifest = json.loads(texts["manifest.json"])
    inside = {name: text for name, text in texts.items() if not name.startswith("..")}
    texts["metadata.json"] = compact(metadata_for(manifest, inside))
    texts["reference.py"] = REFERENCE
    tensors = {
        "initial_state": {"dtype": "float32", "shape": [3], "values": [1, 2, 3]},
        "scan_input": {"dtype": "float32", "shape": [2, 3], "values": [1, 2, 3, 4, 5, 6]},
    }
    return Base(name="templates/ai.onnx.Scan", files=texts, request={"inputs": tensors})


SHADER = """{# a shader of many features #}
{% include "part.wgsl.jinja" %}
{{ env.wgsl.resourceDeclarations }}
{% macro twice(value) %}({{ value }} * 2u){% endmacro %}
{% set steps = namespace(total=0) %}
@compute @workgroup_size({{ tunables.width }})
fn main(@builtin(global_invocation_id) g: vec3<u32>) {
  {% for index in range(unroll) %}
  {% if not loop.first %}// more{% endif %}
  {% set steps.total = steps.total + index %}
  {% endfor %}
  {% filter trim %} // {{ steps.total }} {{ [1, 2] | tojson }} {{ tag | upper }} {% endfilter %}
  let i = g.x + {{ DISPATCH_FOLD_WIDTH }}u * 0u;
  if (i < params.n) { y[i] = {{ T }}(x[i]) + {{ T }}({{ twice("params.n") }}) + {{ T }}(params.step); }
}
"""
PART = "fn helper(v: u32) -> u32 {\n  return v {{ '+' if attrs.mode == 'a' else '-' }} 1u;\n}\n"


def _everything() -> dict[str, Any]:
    """A manifest that uses every part of the format."""
    params = {
        "name": "params",
        "buffer": "uniform",
        "structName": "Params",
        "struct": [
            {"name": "n", "type": "u32", "value": "n"},
            {"name": "step", "type": "u32", "value": "repeat.index if has(repeat, 'index') else 0", "default": 0},
            {"name": "scale", "type": "f32", "required": False, "default": 0.5},
        ],
    }
    item = {
        "id": "run",
        "shader": "main.wgsl.jinja",
        "derive": {"unroll": "{unroll}", "tag": "'{tag}'"},
        "bindings": ["x", "y", "params"],
        "dispatch": {"threads": "n", "workgroupSize": "tunables.width"},
        "profile": {"bytesMoved": "n * 8", "note": ["n"]},
        "submitAfter": True,
    }
    scratch = {
        "id": "fold",
        "shader": "fold.wgsl",
        "bindings": [
            {"name": "source", "arg": "x", "buffer": "read-only-storage", "elementType": "$T"},
            {"name": "tmp", "scratch": "tmp", "buffer": "storage", "elementType": "f32", "length": 64},
        ],
        "dispatch": {"x": "ceilDiv(n, 64)", "y": 1, "z": 1},
    }
    inner = {"id": "inner", "repeat": {"index": "deeper", "count": 2}, "passes": [{**scratch, "id": "deep"}]}
    group = {
        "id": "again",
        "repeat": {"index": "round", "count": "min(n, 3)"},
        "passes": [scratch, inner],
    }
    variant = {
        "id": "v_{tag}",
        "priority": "{priority}",
        "when": ["n > 0", "f16Ok(dtypes.T)"],
        "demoteWhen": ["n > 1000000"],
        "requires": {"features": [], "limits": {"maxComputeInvocationsPerWorkgroup": 64}},
        "tunables": {"width": {"default": 64}},
        "derive": {"half": "n // 2"},
        "intermediates": [{"id": "tmp", "dtype": "float32", "shape": ["half + 64"], "zeroInit": True}],
        "passes": [item, group],
    }
    return {
        "domain": "org.example",
        "name": "Everything",
        "description": "Every part of the format.",
        "$comment": "A comment.",
        "inputs": {
            "x": {"dtype": "T", "rank": 1, "description": "In."},
            "more": {"dtype": "int64", "optional": True, "storage": "int32", "narrowing": "checked"},
        },
        "outputs": {"y": {"dtype": "T", "shape": "shapes.x"}, "extra": {"dtype": "uint32", "optional": True}},
        "args": {"alpha": {"kind": "f32", "required": False}},
        "attributes": {"mode": {"default": "a"}, "axis": {"default": 0}},
        "attributeConstraints": {"mode": {"values": ["a", "b"]}},
        "typeConstraints": {"T": ["float32", "float16", "int32", "uint32"]},
        "tunables": {"width": {"default": 64, "description": "Invocations."}},
        "derive": {"n": "numel(shapes.x)", "last": "dim(shapes.x, -1)"},
        "when": ["ranks.x == 1"],
        "requires": {"limits": {"maxStorageBuffersPerShaderStage": 2}},
        "bindings": {"params": params},
        "variants": [
            {
                "cases": [{"tag": "one", "unroll": 1, "priority": 2}, {"tag": "two", "unroll": 4, "priority": 1}],
                "variants": [variant],
            },
            {
                "axes": {
                    "a": [{"$key": "p", "tag": "grid_p"}, {"$key": "q", "tag": "grid_q"}],
                    "b": [{"$key": "r", "unroll": 2}, {"$key": "s", "unroll": 3}],
                },
                "exclude": [{"a": "p", "b": "s"}],
                "cases": [{"a": "q", "b": "r", "priority": -1}],
                "variants": [{**variant, "id": "{tag}_{unroll}", "priority": -2, "passes": [item]}],
            },
        ],
    }


def _hand_written() -> Iterable[Base]:
    request = {"inputs": {"x": {"dtype": "float32", "shape": [5], "values": [1, 2, 3, 4, 5]}}, "attrs": {"mode": "a"}}
    manifest = _everything()
    files = {
        "manifest.json": manifest,
        "main.wgsl.jinja": SHADER,
        "part.wgsl.jinja": PART,
        "fold.wgsl": FOLD,
        "metadata.json": _metadata_of_everything(),
    }
    for index in range(20):  # so often that a fair share of the mutations starts here
        yield _package(f"everything {index}", files, request)


FOLD = """{{ env.wgsl.resourceDeclarations }}
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) g: vec3<u32>) { tmp[g.x % 64u] = f32(source[0]); }
"""


def _metadata_of_everything() -> dict[str, Any]:
    shaders = ["main.wgsl.jinja", "part.wgsl.jinja", "fold.wgsl"]
    ids = ["v_one", "v_two", "grid_p_2", "grid_q_2", "grid_q_3"]
    return {
        "name": "org.example.Everything",
        "backend": {"type": "webgpu"},
        "webgpu": {"manifestSpec": "2.1", "variants": dict.fromkeys(ids, shaders)},
        "digest": {"algorithm": "sha256", "files": dict.fromkeys(["manifest.json", *shaders], "x")},
    }
