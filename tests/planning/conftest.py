"""Small kernels to plan."""

from collections.abc import Callable
from typing import Any

import pytest

from scanbuild.planning.planner import Planner
from tests.corpus_files import make_package

SHADER = """{{ env.wgsl.resourceDeclarations }}
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) g: vec3<u32>) { }
"""

Kernel = Callable[..., Planner]


@pytest.fixture
def kernel() -> Kernel:
    """Makes a planner of a kernel with float32 ports `x` and `y`; members of manifest, variant and pass overlay."""

    def make(
        manifest: dict[str, Any] | None = None,
        variant: dict[str, Any] | None = None,
        item: dict[str, Any] | None = None,
        shader: str = SHADER,
        **files: str,
    ) -> Planner:
        one = {"id": "p", "shader": "s.wgsl", "bindings": ["x", "y"], "dispatch": {"x": 1}, **(item or {})}
        base = {
            "name": "Toy",
            "inputs": {"x": {"dtype": "float32"}},
            "outputs": {"y": {"dtype": "float32", "shape": "shapes.x"}},
            "variants": [{"id": "main", "passes": [one], **(variant or {})}],
        }
        return Planner(make_package({"manifest.json": {**base, **(manifest or {})}, "s.wgsl": shader, **files}))

    return make
