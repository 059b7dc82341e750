"""Built packages for tests, small enough to read."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from scanbuild.package.digest import folder_digests

DOUBLE = """{{ env.wgsl.resourceDeclarations }}
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  if (id.x < params.n) { y[id.x] = x[id.x] + x[id.x]; }
}
"""

BINDINGS = ["x", "y", {"name": "params", "struct": [{"name": "n", "type": "u32", "value": "numel(shapes.x)"}]}]


def variant(name: str, shader: str = "double.wgsl.jinja", **more: Any) -> dict[str, Any]:
    one = {"shader": shader, "bindings": BINDINGS, "dispatch": {"threads": "numel(shapes.x)", "workgroupSize": 64}}
    return {"id": name, "passes": [one], **more}


def manifest(*variants: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {
        "domain": "test.toys",
        "name": "Double",
        "typeConstraints": {"T": ["float32", "float16", "int32"]},
        "inputs": {"x": {"dtype": "T"}},
        "outputs": {"y": {"dtype": "T", "shape": "shapes.x"}},
        "variants": list(variants) or [variant("main")],
        **more,
    }


def case(name: str, values: list[Any], want: list[Any] | None, dtype: str = "float32", **more: Any) -> dict[str, Any]:
    shape = [len(values)]
    output: dict[str, Any] = {"dtype": dtype, "shape": shape, "tolerance": 0}
    if want is not None:
        output["data"] = {"kind": "values", "values": want}
    return {
        "name": name,
        "inputs": {"x": {"dtype": dtype, "shape": shape, "data": {"kind": "values", "values": values}}},
        "outputs": {"y": output},
        **more,
    }


def write_package(
    root: Path, made: dict[str, Any], cases: list[dict[str, Any]] | None, shaders: Mapping[str, str] | None = None
) -> Path:
    """Write ``root/build/webgpu`` and return that folder."""
    folder = root / "build" / "webgpu"
    folder.mkdir(parents=True)
    (folder / "manifest.json").write_text(json.dumps(made))
    for name, text in {"double.wgsl.jinja": DOUBLE, **(shaders or {})}.items():
        (folder / name).write_text(text)
    if cases is not None:
        (folder / "test.json").write_text(json.dumps({"cases": cases}))
    sign(folder)
    return folder


def sign(folder: Path) -> None:
    """Write the ``metadata.json`` that fits what is in the folder."""
    made = json.loads((folder / "manifest.json").read_text())
    metadata = {
        "name": f"{made['domain']}.{made['name']}",
        "backend": {"type": "webgpu"},
        "webgpu": {
            "manifestSpec": "2.1",
            "variants": {item["id"]: [one["shader"] for one in item["passes"]] for item in made["variants"]},
        },
        "digest": {"algorithm": "sha256", "files": folder_digests(folder)},
    }
    (folder / "metadata.json").write_text(json.dumps(metadata))
