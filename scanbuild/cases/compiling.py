"""Compiling what was rendered, without running it: is it valid WGSL for the compilers that are at hand?"""

import re
from dataclasses import dataclass
from typing import Final, Literal

from scanbuild.cases.findings import is_non_uniform
from scanbuild.errors import CallError
from scanbuild.gpu.interface import Executor

CompileStatus = Literal["compiled", "failed", "lacking"]

_ENABLE: Final = re.compile(r"^\s*enable\s+([^;]+);", re.MULTILINE)
_REQUIRES: Final = re.compile(r"^\s*requires\s+([^;]+);", re.MULTILINE)
_FEATURES: Final = {
    "f16": "shader-f16",
    "subgroups": "subgroups",
    "chromium_experimental_subgroup_matrix": "chromium-experimental-subgroup-matrix",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class CompileResult:
    """What became of a text. ``lacking`` says that the device cannot take it, whatever it is: ``message`` says why."""

    name: str
    status: CompileStatus
    kind: str = ""
    message: str = ""
    device_lost: bool = False


def compile_text(executor: Executor, name: str, wgsl: str) -> CompileResult:
    """Compile a text, unless it asks for what the device does not have."""
    missing = lacking(executor, wgsl)
    if missing:
        return CompileResult(name=name, status="lacking", message=f"the device lacks {', '.join(missing)}")
    try:
        executor.compile(wgsl)
    except CallError as error:
        rules = {problem.rule for problem in error.problems}
        message = str(error)
        if "pipeline-limits" in rules:
            words = f"the device does not take the pipeline: {message}"
            return CompileResult(name=name, status="lacking", message=words)
        kind = "compile" if "shader-compilation" in rules else "engine"
        kind = "time-limit" if "time-limit" in rules else kind
        kind = "non-uniform-barrier" if is_non_uniform(message) else kind
        return CompileResult(name=name, status="failed", kind=kind, message=message, device_lost=bool(executor.lost))
    return CompileResult(name=name, status="compiled")


def lacking(executor: Executor, wgsl: str) -> list[str]:
    """The features that a text enables or requires and the device does not have."""
    record = executor.record
    enabled = [_FEATURES.get(word, word) for word in _listed(_ENABLE, wgsl)]
    required = _listed(_REQUIRES, wgsl)
    return sorted(set(enabled) - record.features) + sorted(set(required) - record.wgsl_language_features)


def _listed(directive: re.Pattern[str], wgsl: str) -> list[str]:
    return [word.strip() for found in directive.findall(wgsl) for word in found.split(",") if word.strip()]
