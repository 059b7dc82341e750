"""What verification asks of an engine, here or elsewhere: run a job, compile a text, say what device it is.

A :class:`Job` is a plan laid out in memory: buffers with what they start with, dispatches that bind parts of them, and
the parts to read back. It is plain data, so that a remote engine runs it as a local one does, and everything that
``verify`` looks at (poisoned outputs, guard areas, room past the end of a binding, changed inputs) is in how the job is
laid out and in what is read back: an engine knows nothing of it. ``scanbuild.gpu.layout`` makes jobs of plans;
``scanbuild.gpu.jobs`` runs them on a local device. All sizes and offsets are in bytes and multiples of 4.
"""

from dataclasses import dataclass
from typing import Any, Protocol

from scanbuild.planning.device import DeviceRecord
from scanbuild.planning.plan import Access


@dataclass(frozen=True, kw_only=True, slots=True)
class Fill:
    """``size`` bytes from ``offset`` on start as a 32-bit word repeated (little-endian)."""

    offset: int
    size: int
    word: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Write:
    """Bytes that a buffer starts with at an offset. ``data`` is a multiple of 4 bytes long."""

    offset: int
    data: bytes


@dataclass(frozen=True, kw_only=True, slots=True)
class BufferJob:
    """A buffer, zero but for its fills and then its writes, in that order; none overlaps another of its kind.

    ``name`` is for messages. A buffer is used as a uniform or as storage, never both. Storage needs COPY_SRC if it
    is read back, and COPY_DST.
    """

    name: str
    size: int
    uniform: bool = False
    fills: tuple[Fill, ...] = ()
    writes: tuple[Write, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class BindingJob:
    """An entry of bind group 0: its place in the list is the binding index. ``buffer`` is an index of the job's."""

    buffer: int
    offset: int
    size: int
    access: Access


@dataclass(frozen=True, kw_only=True, slots=True)
class DispatchJob:
    """One dispatch of a text's entry point ``main``. ``id``, ``label`` and ``template`` are for messages.

    ``submit_after`` asks that the dispatches so far are submitted before the next one.
    """

    id: str
    label: str
    wgsl: str
    bindings: tuple[BindingJob, ...]
    grid: tuple[int, int, int]
    submit_after: bool = False
    template: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class ReadJob:
    """A part of a buffer to read back after all dispatches."""

    buffer: int
    offset: int
    size: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Job:
    """A call laid out in memory. The dispatches run in order, each seeing what those before it wrote."""

    buffers: tuple[BufferJob, ...]
    dispatches: tuple[DispatchJob, ...]
    reads: tuple[ReadJob, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class JobResult:
    """``data`` has the bytes of every read, in order; ``seconds`` is from the first submission until they are there."""

    data: tuple[bytes, ...]
    seconds: float = 0.0


class Executor(Protocol):
    """A device that runs jobs. :class:`scanbuild.gpu.engine.Engine` is one."""

    @property
    def record(self) -> DeviceRecord:
        """What planning sees of the device."""

    @property
    def lost(self) -> str:
        """Why the device cannot be used any more, in words; "" while it can."""

    @property
    def software(self) -> bool:
        """Whether the device computes on the CPU."""

    def describe(self) -> str:
        """Engine and adapter in a line, for people."""

    def adapter_json(self) -> dict[str, Any]:
        """The adapter, as the report's schema has it: name, vendor, architecture, driver, backend, kind, software."""

    def run(self, job: Job) -> JobResult:
        """Run a job and release what it made. CallError, with the engine's words, for whatever the engine refuses.

        The rule of its problem tells what went wrong: ``shader-compilation``, ``buffer-size`` (beyond the device's
        limits), ``out-of-memory``, ``time-limit`` (then the device is lost), ``device`` (it is lost already),
        ``engine-validation`` for the rest. Texts that were compiled before are not compiled again.
        """

    def compile(self, wgsl: str) -> None:
        """Compile a text with the entry point ``main``, without running it; CallError as :meth:`run` raises it.

        The rule is ``shader-compilation`` if the text is no valid WGSL for this engine's compiler and
        ``pipeline-limits`` if it is, and the device refuses the pipeline: a workgroup too large for it, for one.
        """

    def close(self) -> None:
        """Release the device. A second call does nothing."""
