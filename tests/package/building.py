"""Small packages for tests: a base that loads, and edits that change one thing in it."""

import copy
import json
from typing import Any

from scanbuild.package.digest import digest_text
from scanbuild.package.fetching import Fetch, FetchError
from scanbuild.package.text import encode

GONE = {"$gone": True}
SHADER = "{{ env.wgsl.resourceDeclarations }}\n@compute @workgroup_size(1) fn main() {}\n"

PASS: dict[str, Any] = {"shader": "s.wgsl", "bindings": ["x", "y"], "dispatch": {"x": 1}}
VARIANT: dict[str, Any] = {"id": "main", "passes": [PASS]}
BASE: dict[str, Any] = {
    "name": "Probe",
    "inputs": {"x": {"dtype": "float32"}},
    "outputs": {"y": {"dtype": "float32", "shape": "shapes.x"}},
    "variants": [VARIANT],
}


def edited(base: Any, edits: dict[str, Any]) -> Any:
    """A copy of a JSON value with members set by dotted path, or dropped where the new value is GONE."""
    made = copy.deepcopy(base)
    for path, value in edits.items():
        *steps, last = path.split(".")
        node = made
        for step in steps:
            node = node[int(step)] if isinstance(node, list) else node.setdefault(step, {})
        if value == GONE:
            del node[last]
        elif isinstance(node, list):
            node[int(last) : int(last) + 1] = [copy.deepcopy(value)]
        else:
            node[last] = copy.deepcopy(value)
    return made


def manifest(**edits: Any) -> dict[str, Any]:
    """The base manifest with members set; a double underscore stands for a dot."""
    made: dict[str, Any] = edited(BASE, {path.replace("__", "."): value for path, value in edits.items()})
    return made


def files_of(manifest_value: Any, metadata_edits: dict[str, Any] | None = None, **texts: str) -> dict[str, str]:
    """The files of a package with that manifest, metadata that fits it, and a shader ``s.wgsl``."""
    files = {"manifest.json": json.dumps(manifest_value), "s.wgsl": SHADER, **texts}
    domain = manifest_value.get("domain") or "ai.onnx"
    listed = {
        variant["id"]: [name for name in files if name != "manifest.json"] for variant in manifest_value["variants"]
    }
    metadata = {
        "name": f"{domain}.{manifest_value['name']}",
        "backend": {"type": "webgpu"},
        "digest": {"algorithm": "sha256", "files": {name: digest_text(text) for name, text in files.items()}},
        "webgpu": {"manifestSpec": "2.1", "variants": listed},
    }
    return {**files, "metadata.json": json.dumps(edited(metadata, metadata_edits or {}))}


class Server:
    """Serves the files of one package whatever the URL before ``build/webgpu/`` is, and counts requests."""

    def __init__(self, files: dict[str, str]) -> None:
        self.files, self.urls = files, list[str]()

    @property
    def names(self) -> list[str]:
        """The files asked for, in order."""
        return [url.partition("build/webgpu/")[2] for url in self.urls]

    def __call__(self, url: str) -> bytes:
        self.urls.append(url)
        name = url.partition("build/webgpu/")[2]
        if name not in self.files:
            raise FetchError("404")
        return encode(self.files[name])


def serving(server: Server) -> Fetch:
    """The server as what it is used for."""
    return server
