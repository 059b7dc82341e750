"""What verification can find wrong with a case, each kind with a name that stays."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from scanbuild.errors import ScanbuildError

KINDS: Final[Mapping[str, str]] = {
    "wrong-value": "an output is not what the oracle expects",
    "wrong-output": "an output has another dtype or shape than expected, or is not returned",
    "overflow": "a value left the range of float16 where the result lies within it",
    "ignored-attribute": "an attribute makes no difference where it should",
    "missing-barrier": "invocations of a workgroup do not wait for one another where they have to",
    "loop-limit": "a loop goes on for longer than this adapter lets any loop go on, which is no fault of the package",
    "subgroup-size": "the result relies on a size of subgroups that the device does not have",
    "not-written": "elements of an output are never written",
    "zero-fill": "the result relies on the zeros that a new output starts with",
    "not-reproducible": "the same call gives other bits another time",
    "workgroup-order": "the result depends on the order in which workgroups run",
    "writes-past-end": "the shader writes past the end of a tensor, which robust access hides",
    "reads-past-end": "the result depends on what lies past the end of a tensor, which robust access hides",
    "outside-binding": "memory outside of the bindings was changed",
    "input-changed": "an input was changed by the call",
    "wrong-variant": "another variant ran than the case is meant to reach",
    "non-uniform-barrier": "a barrier stands in control flow that is not uniform, which browsers refuse",
    "compile": "the engine's compiler does not take a shader",
    "refused": "the call is refused before anything runs",
    "engine": "the engine refuses something while it runs the call",
    "out-of-memory": "the device has not enough memory",
    "time-limit": "the call does not end within the time limit",
    "device-lost": "the device was lost",
    "crash": "the process that runs the engine ended or did not answer",
    "reference": "the reference failed",
    "no-oracle": "nothing tells the expected values",
}
"""Kind -> what it means. The names stand in reports and are the values of ``--allow``."""

_OF_RULE: Final[Mapping[str, str]] = {
    "shader-compilation": "compile",
    "pipeline-limits": "compile",
    "engine-validation": "engine",
    "out-of-memory": "out-of-memory",
    "device-lost": "device-lost",
    "device": "device-lost",
    "time-limit": "time-limit",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Finding:
    """One thing that is wrong. ``kind`` is a name of KINDS."""

    kind: str
    message: str

    def to_json(self) -> dict[str, str]:
        """The finding, as reports show it."""
        return {"kind": self.kind, "message": self.message}


def error_finding(error: ScanbuildError) -> Finding:
    """The finding that an error amounts to."""
    rules = [problem.rule for problem in error.problems]
    kind = next((_OF_RULE[rule] for rule in rules if rule in _OF_RULE), "refused")
    message = str(error)
    if kind == "compile" and is_non_uniform(message):
        kind = "non-uniform-barrier"
    return Finding(kind=kind, message=message)


def is_non_uniform(words: str) -> bool:
    """Whether a compiler complains of a barrier, or another collective operation, in non-uniform control flow."""
    return "uniform control flow" in words


def joined(findings: Iterable[Finding]) -> str:
    """All messages, a line each at least."""
    return "\n".join(item.message for item in findings)
