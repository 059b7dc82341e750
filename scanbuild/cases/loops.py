"""Loops that an adapter ends too early.

A software driver may end every loop after so many rounds (Mesa's llvmpipe does after 65535), whatever the shader says.
What such a loop leaves undone looks like a fault of the shader. So the limit is measured, and a failing call runs once
more with its rounds counted.
"""

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Final
from weakref import WeakKeyDictionary

import numpy as np

from scanbuild.cases.wgsltext import bodies, closing, plain_text
from scanbuild.errors import ScanbuildError
from scanbuild.gpu.interface import BindingJob, BufferJob, DispatchJob, Executor, Job, ReadJob, Write
from scanbuild.planning.plan import BindingPlan, Plan, ScratchSpec

_MANY: Final = 1 << 17
_COUNTER: Final = "scanbuild_rounds"
_LOOP: Final = re.compile(r"\b(?:for|while)\s*\(|\bloop\s*\{")
_PROBE: Final = """
@group(0) @binding(0) var<storage, read> asked: array<u32>;
@group(0) @binding(1) var<storage, read_write> rounds: array<u32>;
@compute @workgroup_size(1) fn main() {
  for (var i = 0u; i < asked[0]; i += asked[1]) { rounds[0] += asked[1]; }
}
"""

_LIMITS: "WeakKeyDictionary[Executor, int]" = WeakKeyDictionary()


def loop_limit(executor: Executor) -> int:
    """After how many rounds the device ends a loop; 0 if it ends none. Measured once a device."""
    if executor not in _LIMITS:
        try:
            _LIMITS[executor] = _measured(executor)
        except ScanbuildError:
            return 0
    return _LIMITS[executor]


def counted_plan(plan: Plan, index: int, limit: int) -> tuple[Plan, str] | None:
    """The plan with the loops of a pass counted, and the scratch whose first word is then 1 if one of them went on for
    ``limit`` rounds; None if the pass has no loops."""
    item = plan.passes[index]
    text = _counting(item.wgsl, len(item.bindings), limit)
    if text is None:
        return None
    binding = BindingPlan(name=_COUNTER, access="read_write", source="scratch", ref=_COUNTER, size=4)
    passes = list(plan.passes)
    passes[index] = replace(item, wgsl=text, bindings=(*item.bindings, binding))
    scratch = ScratchSpec(id=_COUNTER, dtype="uint32", shape=(1,), size=4)
    return replace(plan, passes=tuple(passes), scratches={**plan.scratches, _COUNTER: scratch}), _COUNTER


def _counting(wgsl: str, binding: int, limit: int) -> str | None:
    plain = plain_text(wgsl)
    edits: list[tuple[int, str]] = []
    counters = 0
    for keyword, body in _loops(plain):
        name = f"{_COUNTER}_{counters}"
        counters += 1
        step = f" {name} += 1u; if ({name} >= {limit}u) {{ atomicMax(&{_COUNTER}[0], 1u); }} "
        edits += [(keyword, f"{name} = 0u; "), (body, step)]
    if not counters:
        return None
    text, last = [], 0
    for place, words in sorted(edits):
        text += [wgsl[last:place], words]
        last = place
    declared = f"\n@group(0) @binding({binding}) var<storage, read_write> {_COUNTER}: array<atomic<u32>>;\n"
    declared += "".join(f"var<private> {_COUNTER}_{number}: u32;\n" for number in range(counters))
    return "".join([*text, wgsl[last:], declared])


def _loops(plain: str) -> Iterator[tuple[int, int]]:
    """Where every loop begins, and where its body does."""
    for start, end, _ in bodies(plain):
        for found in _LOOP.finditer(plain, start, end):
            brace = found.end() - 1
            if plain[brace] == "(":
                brace = plain.find("{", closing(plain, brace, "()"))
            if brace >= 0:
                yield found.start(), brace + 1


def _measured(executor: Executor) -> int:
    asked = np.array([_MANY, 1], "<u4").tobytes()
    job = Job(
        buffers=(
            BufferJob(name="asked", size=8, writes=(Write(offset=0, data=asked),)),
            BufferJob(name="rounds", size=4),
        ),
        dispatches=(
            DispatchJob(
                id="probe",
                label="loop limit",
                wgsl=_PROBE,
                bindings=(
                    BindingJob(buffer=0, offset=0, size=8, access="read"),
                    BindingJob(buffer=1, offset=0, size=4, access="read_write"),
                ),
                grid=(1, 1, 1),
            ),
        ),
        reads=(ReadJob(buffer=1, offset=0, size=4),),
    )
    rounds = int.from_bytes(executor.run(job).data[0], "little")
    return rounds if rounds < _MANY else 0
