"""The Plan: everything an engine needs to run one call, as plain data.

A plan knows nothing of manifests, expressions or templates, and an engine needs nothing else. Sizes are in bytes,
shapes in elements, row-major. It is made by ``scanbuild.planning.planner`` and run by ``scanbuild.gpu``.
"""

from dataclasses import dataclass
from typing import Literal

Access = Literal["read", "read_write", "uniform"]


@dataclass(frozen=True, kw_only=True, slots=True)
class TensorSpec:
    """A tensor bound by the call.

    ``dtype`` is the storage dtype (what the buffer holds), ``logical`` what the caller is told; they differ only for a
    projected int64. ``size`` is the buffer's size: at least 4 and a multiple of 4. ``packed`` uint8 holds four
    elements a word.
    """

    name: str
    dtype: str
    logical: str
    shape: tuple[int, ...]
    size: int
    packed: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class ScratchSpec:
    """An intermediate buffer, zero-filled at the start of the call and released at its end."""

    id: str
    dtype: str
    shape: tuple[int, ...]
    size: int


@dataclass(frozen=True, kw_only=True, slots=True)
class BindingPlan:
    """One entry of the bind group: position is the binding index. ``source`` names where the buffer comes from."""

    name: str
    access: Access
    source: Literal["tensor", "scratch", "uniform"]
    ref: str = ""
    size: int
    data: bytes = b""


@dataclass(frozen=True, kw_only=True, slots=True)
class PassPlan:
    """One executed dispatch: final WGSL with entry point ``main``, its bind group 0, its grid.

    ``template`` is the shader file the text was rendered from, for error messages.
    """

    id: str
    label: str
    wgsl: str
    bindings: tuple[BindingPlan, ...]
    grid: tuple[int, int, int]
    submit_after: bool = False
    template: str = ""
    bytes_moved: float | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Plan:
    """What one call does.

    ``inputs`` and ``outputs`` give every bound tensor; a name in both is one buffer (inout). ``returned`` are the
    outputs handed back. ``scratches`` are those an executed pass uses. ``skipped`` names the passes with a zero grid.
    An empty ``passes`` means that no GPU work happens.
    """

    op_id: str
    variant: str
    inputs: dict[str, TensorSpec]
    outputs: dict[str, TensorSpec]
    returned: tuple[str, ...]
    passes: tuple[PassPlan, ...]
    scratches: dict[str, ScratchSpec]
    skipped: tuple[str, ...] = ()
