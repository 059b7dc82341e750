"""From a plan to the job that runs it, its tensors placed in memory so that faults can be seen afterwards.

Every tensor and scratch has a buffer of its own, and lies in it between guard areas that hold a pattern. A binding is
exactly as long as the loader makes it, unless ``room`` is asked for: then it reaches on over so many bytes of the
pattern, so that an access past the end, which robust access would hide, finds or changes them. What a shader asks of
``arrayLength`` stays as it was. Outputs start at zero, as in the loader, or at the pattern (``poison``).
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

import numpy as np
import numpy.typing as npt

from scanbuild.errors import CallError, Problem
from scanbuild.gpu.interface import BindingJob, BufferJob, DispatchJob, Fill, Job, JobResult, ReadJob, Write
from scanbuild.planning.plan import BindingPlan, PassPlan, Plan, TensorSpec

READ_PATTERN: Final = 0x7FD57FD5
WRITTEN_PATTERN: Final = 0xFFEBFFEB
"""Both are NaN as a 32-bit float and as each of two 16-bit floats, and an unlikely integer of any width. They differ,
so that what is copied from beyond an input to beyond an output shows."""

GUARD_BYTES: Final = 256
ROOM_BYTES: Final = 4096

Uploads = Mapping[str, npt.NDArray[Any]]

_LENGTH: Final = re.compile(r"\barrayLength\s*\(\s*(?:&\s*(\w+)\s*\))?")
_VECTOR: Final = re.compile(r"vec([234])(?:<(\w+)>|([fhiu]))")
_SCALARS: Final[Mapping[str, int]] = {"f32": 4, "u32": 4, "i32": 4, "f16": 2, "atomic<u32>": 4, "atomic<i32>": 4}
_LETTERS: Final[Mapping[str, str]] = {"f": "f32", "h": "f16", "i": "i32", "u": "u32"}


@dataclass(frozen=True, kw_only=True, slots=True)
class Setup:
    """How to lay a plan out. ``narrow`` gives room past the end to the buffer of that name only."""

    poison: bool = False
    room: bool = False
    guards: bool = True
    narrow: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Damage:
    """Bytes that are not as they were: past the end of ``name`` within its binding (``room``), around the binding
    (``guard``), or of an input (``input``). ``at`` is the first of them, counted from the end of the tensor; from its
    start for an input, and where it lies before it (then it is negative)."""

    kind: Literal["room", "guard", "input"]
    name: str
    at: int
    count: int


@dataclass(frozen=True, kw_only=True, slots=True)
class _Place:
    """Where a tensor or scratch lies: ``lead`` guard bytes, ``size`` of its own, ``room``, and guard bytes."""

    index: int
    lead: int
    size: int
    room: int
    total: int
    word: int
    before: bytes | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Layout:
    """A plan laid out. ``room_given`` says which buffers have room past their end, in every pass that binds them."""

    job: Job
    plan: Plan
    places: Mapping[str, _Place]
    scratches: Mapping[str, _Place]
    room_given: tuple[str, ...]

    def outputs(self, result: JobResult) -> dict[str, bytes]:
        """The bytes of every returned output, as an exact call would give them."""
        images = self._images(result)
        return {
            name: images[place.index][place.lead : place.lead + place.size]
            for name, place in self.places.items()
            if name in self.plan.returned
        }

    def scratch(self, result: JobResult, name: str) -> bytes:
        """The bytes of a scratch after the call."""
        place = self.scratches[name]
        return self._images(result)[place.index][place.lead : place.lead + place.size]

    def damage(self, result: JobResult) -> list[Damage]:
        """What changed that had to stay as it was."""
        images = self._images(result)
        found: list[Damage] = []
        for name, place in (*self.places.items(), *self.scratches.items()):
            image = images[place.index]
            end = place.lead + place.size
            found += _changed_word("guard", name, image[: place.lead], -place.lead, place.word)
            found += _changed_word("room", name, image[end : end + place.room], 0, place.word)
            found += _changed_word("guard", name, image[end + place.room :], place.room, place.word)
            if place.before is not None:
                found += _changed(name, image[place.lead : end], place.before)
        return found

    def _images(self, result: JobResult) -> dict[int, bytes]:
        return {read.buffer: data for read, data in zip(self.job.reads, result.data, strict=True)}


def lay_out(plan: Plan, uploads: Uploads, limits: Mapping[str, float], setup: Setup | None = None) -> Layout:
    """The job of a plan; ``limits`` are the device's. CallError for an upload that is larger than its tensor.

    Where a buffer would outgrow the device's limits, it has neither guard areas nor room.
    """
    return _Maker(plan, uploads, limits, setup or Setup()).layout()


class _Maker:
    """Places the buffers of one plan. Buffers are known by source ("tensor", "scratch") and name."""

    def __init__(self, plan: Plan, uploads: Uploads, limits: Mapping[str, float], setup: Setup) -> None:
        self.plan, self.uploads, self.limits, self.setup = plan, uploads, limits, setup
        self.buffers: list[BufferJob] = []
        self.uniforms: dict[bytes, int] = {}
        self.texts = {item.wgsl: _with_room(item) if setup.room else (item.wgsl, frozenset()) for item in plan.passes}
        self.roomy = self._roomy()

    def layout(self) -> Layout:
        specs = {**self.plan.inputs, **self.plan.outputs}
        places = {name: self._tensor(spec) for name, spec in specs.items()}
        scratches = {item.id: self._place("scratch", item.id, item.size) for item in self.plan.scratches.values()}
        found = {"tensor": places, "scratch": scratches}
        dispatches = tuple(self._dispatch(item, found) for item in self.plan.passes)
        placed = (*places.values(), *scratches.values())
        reads = tuple(ReadJob(buffer=place.index, offset=0, size=place.total) for place in placed)
        return Layout(
            job=Job(buffers=tuple(self.buffers), dispatches=dispatches, reads=reads),
            plan=self.plan,
            places=places,
            scratches=scratches,
            room_given=tuple(sorted(name for _, name in self.roomy)),
        )

    def _roomy(self) -> set[tuple[str, str]]:
        """The buffers that can have room past their end in every pass that binds them."""
        bound: dict[tuple[str, str], bool] = {}
        for item in self.plan.passes:
            for binding in item.bindings:
                key = (binding.source, binding.ref)
                bound[key] = bound.get(key, True) and self._may_grow(binding, self.texts[item.wgsl][1])
        return {key for key, grows in bound.items() if grows}

    def _may_grow(self, binding: BindingPlan, able: frozenset[str]) -> bool:
        most = self.limits.get("maxStorageBufferBindingSize", 0)
        wanted = self.setup.narrow is None or binding.ref == self.setup.narrow
        return wanted and binding.name in able and binding.size + ROOM_BYTES <= most

    def _tensor(self, spec: TensorSpec) -> _Place:
        data = padded(self.uploads[spec.name], spec) if spec.name in self.uploads else None
        written = spec.name in self.plan.outputs
        poison = self.setup.poison and data is None and written
        return self._place("tensor", spec.name, spec.size, data=data, poison=poison, kept=not written)

    def _place(
        self, source: str, name: str, size: int, *, data: bytes | None = None, poison: bool = False, kept: bool = False
    ) -> _Place:
        room = ROOM_BYTES if (source, name) in self.roomy else 0
        align = int(self.limits.get("minStorageBufferOffsetAlignment", GUARD_BYTES))
        guard = -(-GUARD_BYTES // align) * align if self.setup.guards else 0
        if guard + size + room + guard > self.limits.get("maxBufferSize", 0):
            room = guard = 0
            self.roomy.discard((source, name))
        total = guard + size + room + guard
        word = READ_PATTERN if kept else WRITTEN_PATTERN
        fills = [Fill(offset=0, size=guard, word=word)] if guard else []
        if poison:
            fills.append(Fill(offset=guard, size=size, word=word))
        if room or guard:
            fills.append(Fill(offset=guard + size, size=room + guard, word=word))
        writes = (Write(offset=guard, data=data),) if data is not None else ()
        self.buffers.append(BufferJob(name=f"{source} {name}", size=total, fills=tuple(fills), writes=writes))
        before = (data if data is not None else bytes(size)) if kept else None
        return _Place(
            index=len(self.buffers) - 1, lead=guard, size=size, room=room, total=total, word=word, before=before
        )

    def _dispatch(self, item: PassPlan, placed: Mapping[str, Mapping[str, _Place]]) -> DispatchJob:
        bindings = []
        for binding in item.bindings:
            if binding.source == "uniform":
                buffer = self._uniform(binding)
                bindings.append(BindingJob(buffer=buffer, offset=0, size=binding.size, access=binding.access))
                continue
            place = placed[binding.source][binding.ref]
            size = binding.size + place.room
            bindings.append(BindingJob(buffer=place.index, offset=place.lead, size=size, access=binding.access))
        return DispatchJob(
            id=item.id,
            label=item.label,
            wgsl=self.texts[item.wgsl][0],
            bindings=tuple(bindings),
            grid=item.grid,
            submit_after=item.submit_after,
            template=item.template,
        )

    def _uniform(self, binding: BindingPlan) -> int:
        if binding.data not in self.uniforms:
            writes = (Write(offset=0, data=binding.data),)
            job = BufferJob(name=f"uniform {binding.name}", size=binding.size, uniform=True, writes=writes)
            self.buffers.append(job)
            self.uniforms[binding.data] = len(self.buffers) - 1
        return self.uniforms[binding.data]


def padded(array: npt.NDArray[Any], spec: TensorSpec) -> bytes:
    """The bytes of an array in storage form, filled up with zeros to the size of its buffer."""
    data = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
    if data.nbytes > spec.size:
        raise CallError(
            Problem(message=f"tensor {spec.name}: {data.nbytes} bytes for a buffer of {spec.size}", stage="call")
        )
    return data.tobytes() + bytes(spec.size - data.nbytes)


def _with_room(item: PassPlan) -> tuple[str, frozenset[str]]:
    """A pass's text with the lengths of its arrays as they are written into it, and the bindings that may be longer.

    A length asked for through a pointer parameter, or of an array whose elements are not known, stays a question to the
    device, so what it may be asked of keeps its exact size.
    """
    storage = {binding.name: binding.size for binding in item.bindings if binding.source != "uniform"}
    lengths = {name: size // stride for name, size in storage.items() if (stride := _stride(item.wgsl, name))}
    asked = [found[1] for found in _LENGTH.finditer(item.wgsl)]
    if None in asked:
        return item.wgsl, frozenset()

    def written(found: re.Match[str]) -> str:
        return f"{lengths[found[1]]}u" if found[1] in lengths else found[0]

    text = _LENGTH.sub(written, item.wgsl) if asked else item.wgsl
    return text, frozenset(name for name in storage if name in lengths or name not in asked)


def _stride(wgsl: str, name: str) -> int:
    """Bytes from one element to the next of the array that a text declares under a name; 0 if it cannot be told."""
    declared = re.search(rf"\bvar<storage[^>]*>\s*{re.escape(name)}\s*:\s*array<([^;]*)>\s*;", wgsl)
    if declared is None:
        return 0
    element = declared[1].replace(" ", "")
    vector = _VECTOR.fullmatch(element)
    if vector is None:
        return _SCALARS.get(element, 0)
    scalar = _SCALARS.get(vector[2] or _LETTERS[vector[3]], 0)
    return scalar * (2 if vector[1] == "2" else 4)


def _changed_word(kind: Literal["room", "guard"], name: str, image: bytes, first: int, word: int) -> list[Damage]:
    if not image:
        return []
    changed = np.flatnonzero(np.frombuffer(image, "<u4") != word)
    if not changed.size:
        return []
    return [Damage(kind=kind, name=name, at=first + 4 * int(changed[0]), count=4 * int(changed.size))]


def _changed(name: str, image: bytes, before: bytes) -> list[Damage]:
    if image == before:
        return []
    changed = np.flatnonzero(np.frombuffer(image, np.uint8) != np.frombuffer(before, np.uint8))
    return [Damage(kind="input", name=name, at=int(changed[0]), count=int(changed.size))]
