"""Packages with one fault each, of the kinds that authors make and that one machine's results do not show."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.cases.packages import case, manifest, variant, write_package

N = 64
HEAD = "{{ env.wgsl.resourceDeclarations }}\n"
MAIN = (
    "@compute @workgroup_size(64)\n"
    "fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(local_invocation_index) lane: u32,\n"
    "        @builtin(workgroup_id) group: vec3<u32>) {\n"
)
X = [float((7 * index) % 11) for index in range(N)]
REVERSED = X[::-1]


@dataclass(frozen=True, kw_only=True, slots=True)
class Fault:
    """A package that is wrong. ``shader`` doubles its input but for the fault, or does what ``cases`` expect."""

    shader: str
    cases: tuple[dict[str, Any], ...]
    made: Mapping[str, Any] = field(default_factory=dict)
    runs: int = 2

    def write(self, root: Path, shader: str | None = None) -> Path:
        """Write the built package under a root, perhaps with another shader, and return its folder."""
        made = dict(self.made) or manifest(variant("main", "faulty.wgsl.jinja"))
        return write_package(root, made, list(self.cases), {"faulty.wgsl.jinja": shader or self.shader})


def doubled(values: list[float]) -> list[float]:
    return [2 * value for value in values]


def _reversing() -> dict[str, Any]:
    """A manifest with the attribute `reverse`, which goes to the shader as a uniform."""
    bindings = [
        "x",
        "y",
        {
            "name": "params",
            "struct": [
                {"name": "n", "type": "u32", "value": "numel(shapes.x)"},
                {"name": "reverse", "type": "u32", "value": "1 if attrs.reverse else 0"},
            ],
        },
    ]
    one = variant("main", "faulty.wgsl.jinja")
    one["passes"][0]["bindings"] = bindings
    return manifest(one, attributes={"reverse": {"default": 0}})


FAULTS = {
    "missing barrier": Fault(
        shader=f"""{HEAD}
var<workgroup> row: array<f32, {N}>;
{MAIN}
  row[lane] = x[id.x];
  // A workgroupBarrier() belongs here.
  y[id.x] = row[{N - 1}u - lane];
}}""",
        cases=(case("reversed", X, REVERSED),),
    ),
    "barrier under a non-uniform branch": Fault(
        shader=f"""{HEAD}
var<workgroup> row: array<f32, {N}>;
{MAIN}
  row[lane] = x[id.x];
  if (lane < 32u) {{ workgroupBarrier(); }}
  y[id.x] = row[lane] + x[id.x];
}}""",
        cases=(case("doubled", X, doubled(X)),),
    ),
    "off-by-one bound": Fault(
        shader=f"{HEAD}{MAIN}  if (id.x <= params.n) {{ y[id.x] = 2.0 * x[min(id.x, params.n - 1u)]; }}\n}}",
        cases=(case("doubled", X[:9], doubled(X[:9])),),
    ),
    "output element never written": Fault(
        shader=f"{HEAD}{MAIN}  if (id.x < params.n && id.x != 5u) {{ y[id.x] = 2.0 * x[id.x]; }}\n}}",
        cases=(case("doubled", [*X[:5], 0.0, *X[6:9]], doubled([*X[:5], 0.0, *X[6:9]])),),
    ),
    "read past the end": Fault(
        # The sum of an element and the next one; the last has none. Robust access may well give 0 for it, or the last
        # element once more, which is 0.
        shader=f"{HEAD}{MAIN}  if (id.x < params.n) {{ y[id.x] = x[id.x] + x[id.x + 1u]; }}\n}}",
        cases=(case("pairs", [1.0, 2.0, 3.0, 0.0], [3.0, 5.0, 3.0, 0.0]),),
    ),
    "subgroup size": Fault(
        shader="{{ env.wgsl.resourceDeclarations }}\n"
        f"""
var<workgroup> sums: array<f32, 2>;
{MAIN}
  let sum = subgroupAdd(x[id.x]);
  if (lane % 32u == 0u) {{ sums[lane / 32u] = sum; }}
  workgroupBarrier();
  y[id.x] = sums[0] + sums[1];
}}""",
        cases=(case("summed", X, [sum(X)] * N),),
        made=manifest(variant("main", "faulty.wgsl.jinja", requires={"features": ["subgroups"]})),
    ),
    "race": Fault(
        # Every workgroup writes the same element. The one that is last to do so is nearly always the same.
        shader=f"{HEAD}{MAIN}  if (id.x < params.n) {{ y[id.x] = 0.0; }}\n  y[0] = f32(group.x);\n}}",
        cases=(case("last", [0.0] * 1024, None),),
        runs=20,
    ),
    "float16 overflow": Fault(
        shader=f"{HEAD}{MAIN}  if (id.x < params.n) {{ y[id.x] = x[id.x] * x[id.x] / x[id.x]; }}\n}}",
        cases=(case("same", [2.0, 300.0], [2.0, 300.0], "float16"),),
    ),
    "reverse ignored": Fault(
        shader=f"""{HEAD}{MAIN}
  if (id.x < params.n) {{ y[id.x] = x[id.x]; }}
}}""",
        cases=(case("forward", X, X), case("backward", X, REVERSED, attrs={"reverse": 1})),
        made=_reversing(),
    ),
}

MENDED = {
    "missing barrier": FAULTS["missing barrier"].shader.replace("  // A", "  workgroupBarrier(); // A"),
    "barrier under a non-uniform branch": FAULTS["barrier under a non-uniform branch"].shader.replace(
        "if (lane < 32u) { workgroupBarrier(); }", "workgroupBarrier();"
    ),
    "off-by-one bound": FAULTS["off-by-one bound"].shader.replace("<=", "<"),
    "output element never written": FAULTS["output element never written"].shader.replace(" && id.x != 5u", ""),
    "read past the end": FAULTS["read past the end"].shader.replace(
        "+ x[id.x + 1u]", "+ select(0.0, x[min(id.x + 1u, params.n - 1u)], id.x + 1u < params.n)"
    ),
    "race": FAULTS["race"].shader.replace("y[0] = f32(group.x);", ""),
    "reverse ignored": FAULTS["reverse ignored"].shader.replace(
        "= x[id.x]", "= x[select(id.x, params.n - 1u - id.x, params.reverse != 0u)]"
    ),
}
"""The shaders without their faults."""
