"""Running a planned call several times, laid out in several ways, to see faults that its values alone do not show.

A call that has none gives the same bits whether its outputs start at zero or at a pattern, and whether its bindings end
where its tensors end or reach on over more of the pattern. So one exact run and one with both are enough for most; only
where the two differ are there more, one change at a time, to tell what is wrong.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from scanbuild.cases.findings import Finding
from scanbuild.cases.reordering import reordered
from scanbuild.errors import CallError
from scanbuild.gpu.interface import Executor, JobResult
from scanbuild.gpu.layout import WRITTEN_PATTERN, Damage, Layout, Setup, lay_out
from scanbuild.planning.dtypes import DTYPES, element_count
from scanbuild.planning.plan import Plan, TensorSpec

Uploads = Mapping[str, npt.NDArray[Any]]
Outputs = dict[str, bytes]

EXACT: Final = Setup()
HARSH: Final = Setup(poison=True, room=True)
_NAMED: Final = 3
_AGAIN: Final = 3
"""So often two runs that differ are made again: whether the difference is one of chance."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Depth:
    """How much is looked at. ``runs`` is how often a case runs at least: 1 is once, without looking for hidden faults.

    ``reorder`` asks for one more run with the workgroups in reverse order, ``diagnose`` for more runs of a case that
    fails, to find out of what.
    """

    runs: int = 2
    reorder: bool = False
    diagnose: bool = True


@dataclass(frozen=True, kw_only=True, slots=True)
class Probed:
    """What an exact call gave, and what the others showed to be wrong."""

    outputs: Outputs
    seconds: float
    findings: tuple[Finding, ...] = ()


@dataclass(frozen=True, slots=True)
class Prober:
    """Runs of one plan with one set of uploads."""

    executor: Executor
    plan: Plan
    uploads: Uploads

    def run(self, setup: Setup = EXACT) -> tuple[Outputs, float, list[Damage], Layout, JobResult]:
        """The elements of every output (without what fills up the last word), seconds, damage, layout and result."""
        laid = lay_out(self.plan, self.uploads, self.executor.record.limits, setup)
        result = self.executor.run(laid.job)
        outputs = {name: data[: _used(self.plan.outputs[name])] for name, data in laid.outputs(result).items()}
        return outputs, result.seconds, laid.damage(result), laid, result

    def probe(self, depth: Depth) -> Probed:
        """Run the call as the loader would, and then in ways that show hidden faults. CallError as the engine says."""
        outputs, seconds, damage, *_ = self.run()
        findings = _damage_findings(damage, self.plan)
        if depth.runs > 1 and not findings:
            findings = self._hidden_faults(outputs)
        if not any(item.kind == "not-reproducible" for item in findings):
            findings += self._repeated(outputs, depth.runs - 2)
            findings += self._turned_round(outputs) if depth.reorder else []
        return Probed(outputs=outputs, seconds=seconds, findings=tuple(findings))

    def _hidden_faults(self, outputs: Outputs) -> list[Finding]:
        harsh, _, damage, laid, _ = self.run(HARSH)
        if harsh == outputs and not damage:
            return []
        findings = _damage_findings(damage, self.plan)
        if harsh == outputs:
            return findings
        other = self._unstable(outputs, harsh)
        if other is not None:
            return [*findings, _not_reproducible(self.plan, outputs, other)]
        findings += self._poisoned(outputs)
        findings += self._past_the_end(outputs, laid.room_given, {item.name for item in damage})
        return findings or [_not_reproducible(self.plan, outputs, harsh)]

    def _unstable(self, outputs: Outputs, harsh: Outputs) -> Outputs | None:
        """Other bits of the same call, if it gives them when both are run again: then nothing else can be told."""
        for _ in range(_AGAIN):
            again = self.run()[0]
            if again != outputs:
                return again
            again = self.run(HARSH)[0]
            if again != harsh:
                return harsh
        return None

    def _poisoned(self, outputs: Outputs) -> list[Finding]:
        poisoned = self.run(Setup(poison=True))[0]
        found = []
        for name, data in outputs.items():
            spec = self.plan.outputs[name]
            zero, pattern = _words(spec, data), _words(spec, poisoned[name])
            differing = zero != pattern
            untouched = differing & (zero == 0) & (pattern == _pattern(spec, zero.size))
            found += _elements("not-written", name, spec, untouched, "is not written", "are not written")
            relying = differing & ~untouched
            words = "relies on zero-filled output"
            found += _elements("zero-fill", name, spec, relying, words, words.replace("relies", "rely"))
        return found

    def _past_the_end(self, outputs: Outputs, names: Sequence[str], written: set[str]) -> list[Finding]:
        if self.run(Setup(room=True))[0] == outputs:
            return []
        blamed = [name for name in names if self.run(Setup(room=True, narrow=name))[0] != outputs]
        read = [name for name in blamed if name not in written]
        if written and not read:
            return []
        what = " or ".join(read or names)
        message = f"reads past the end of {what}: the result depends on what lies there, which robust access hides"
        return [Finding(kind="reads-past-end", message=message)]

    def _turned_round(self, outputs: Outputs) -> list[Finding]:
        plan = reordered(self.plan)
        if plan is None:
            return []
        try:
            other = Prober(self.executor, plan, self.uploads).run()[0]
        except CallError as error:
            if not self.executor.lost:
                return []  # the changed text is none that the compiler takes
            message = f"with its workgroups in reverse order the call does not end: {error}"
            return [Finding(kind="workgroup-order", message=message)]
        if other == outputs:
            return []
        parts = "; ".join(_differences(self.plan, outputs, other))
        message = f"the result depends on the order in which workgroups run: in reverse order the bits differ ({parts})"
        return [Finding(kind="workgroup-order", message=message)]

    def _repeated(self, outputs: Outputs, times: int) -> list[Finding]:
        for _ in range(times):
            again = self.run()[0]
            if again != outputs:
                return [_not_reproducible(self.plan, outputs, again)]
        return []


def _used(spec: TensorSpec) -> int:
    """The bytes of a buffer that hold elements: the last word may be filled up with zeros."""
    return element_count(spec.shape) * (1 if spec.packed else DTYPES[spec.dtype].bytes)


def _words(spec: TensorSpec, data: bytes) -> npt.NDArray[Any]:
    """The elements as bit patterns."""
    return np.frombuffer(data, np.dtype(f"<u{1 if spec.packed else DTYPES[spec.dtype].bytes}"))


def _pattern(spec: TensorSpec, count: int) -> npt.NDArray[Any]:
    """What elements hold that nobody wrote."""
    size = 1 if spec.packed else DTYPES[spec.dtype].bytes
    words = np.full(-(-count * size // 4), WRITTEN_PATTERN, "<u4")
    return words.view(np.dtype(f"<u{size}"))[:count]


def _elements(
    kind: str, name: str, spec: TensorSpec, which: npt.NDArray[Any], single: str, several: str
) -> list[Finding]:
    found = np.flatnonzero(which)
    if not found.size:
        return []
    if found.size == which.size:
        message = f"{name}: all {which.size} elements {several}" if which.size > 1 else f"{name} {single}"
        return [Finding(kind=kind, message=message)]
    places = [str(_index(spec, int(item))) for item in found[:_NAMED]]
    more = "" if found.size <= _NAMED else f" and {found.size - _NAMED} more"
    word = "element" if found.size == 1 else "elements"
    return [
        Finding(kind=kind, message=f"{name}: {word} {', '.join(places)}{more} {single if found.size == 1 else several}")
    ]


def _index(spec: TensorSpec, flat: int) -> int | list[int]:
    if len(spec.shape) < 2:
        return flat
    return [int(item) for item in np.unravel_index(flat, spec.shape)]


def _not_reproducible(plan: Plan, first: Outputs, second: Outputs) -> Finding:
    parts = "; ".join(_differences(plan, first, second))
    message = f"not reproducible: a further run of the same call gives other bits than the first ({parts})"
    return Finding(kind="not-reproducible", message=message)


def _differences(plan: Plan, first: Outputs, second: Outputs) -> list[str]:
    """How each output differs between two runs, in words."""
    parts = []
    for name, data in first.items():
        spec = plan.outputs[name]
        before, after = _words(spec, data), _words(spec, second[name])
        differing = np.flatnonzero(before != after)
        if differing.size:
            at = int(differing[0])
            bits = f"{int(before[at]):#x} and {int(after[at]):#x}"
            count = "1 element differs" if differing.size == 1 else f"{differing.size} elements differ"
            parts.append(f"{name}: {count}; element {_index(spec, at)} has the bits {bits}")
    return parts


def _damage_findings(damage: Sequence[Damage], plan: Plan) -> list[Finding]:
    found = []
    for item in damage:
        spec = plan.outputs.get(item.name) or plan.inputs.get(item.name)
        what = item.name if spec is not None else f"scratch {item.name}"
        if item.kind == "input":
            message = f"{what} is an input, and the call changed {item.count} of its bytes, from byte {item.at} on"
            found.append(Finding(kind="input-changed", message=message))
        elif item.kind == "room":
            size = 4 if spec is None else 1 if spec.packed else DTYPES[spec.dtype].bytes
            first = (
                f"the first lies {item.at // size} elements behind the last" if item.at >= size else "right behind it"
            )
            message = f"writes past the end of {what}: {item.count} bytes, {first}, which robust access hides"
            found.append(Finding(kind="writes-past-end", message=message))
        else:
            where = "before the start" if item.at < 0 else "after the end"
            message = f"{item.count} bytes of the guard area {where} of {what} were changed"
            found.append(Finding(kind="outside-binding", message=message))
    return found
