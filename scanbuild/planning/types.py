"""The tensors bound by a call, and what their dtypes say about the type variables (7.3)."""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy.typing as npt

from scanbuild.package.model import Manifest, Port
from scanbuild.package.vocabulary import PROTOTYPE_NAMES
from scanbuild.planning.dtypes import DTYPES, buffer_size
from scanbuild.planning.failures import fail


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class BoundTensor:
    """A tensor of the request. ``storage`` is its storage dtype, ``buffer`` tells which tensors are one:
    where it comes from (``host``, ``resident``, ``new``, or ``wish`` for none at all), and which one it is.

    ``logical`` is the logical dtype it is known to have, None where only its storage is known. ``data`` are the
    bytes to upload, None where the buffer exists, starts at zero, or the host data are not at hand.
    """

    name: str
    shape: tuple[int, ...]
    storage: str
    logical: str | None
    buffer: tuple[str, Hashable]
    packed: bool = False
    resident: bool = False
    data: npt.NDArray[Any] | None = None

    @property
    def size(self) -> int:
        """Bytes of its buffer."""
        return buffer_size(self.storage, self.shape, self.packed)


@dataclass(frozen=True, kw_only=True, slots=True)
class Types:
    """Per dtype label of a bound port, in the order of the ports: its logical dtype and its WGSL scalar."""

    logical: Mapping[str, str] = field(default_factory=dict)
    scalars: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class PortType:
    """What a port's ``dtype`` label stands for: one dtype, a declared variable, or anything."""

    label: str
    admitted: tuple[str, ...] | None

    @property
    def is_int64(self) -> bool:
        """Whether it is int64 and nothing else, be it by a variable with that one entry."""
        return self.admitted == ("int64",)


def port_type(manifest: Manifest, port: Port) -> PortType | None:
    """The type of a port; None for a port without dtype. A dtype's own name always means the dtype."""
    if port.dtype is None:
        return None
    if port.dtype in DTYPES:
        return PortType(port.dtype, (port.dtype,))
    return PortType(port.dtype, manifest.type_constraints.get(port.dtype))


def ports_of(manifest: Manifest) -> list[tuple[str, Port, str]]:
    """Every declaration of a port, inputs first, with its JSON path; an inout comes twice."""
    inputs = [(name, port, f"$.inputs.{name}") for name, port in manifest.inputs.items()]
    return inputs + [(name, port, f"$.outputs.{name}") for name, port in manifest.outputs.items()]


def solve_types(manifest: Manifest, tensors: Mapping[str, BoundTensor]) -> Types:
    """What each label stands for in this call; CallError where a tensor does not fit its port or two ports disagree."""
    solved: dict[str, tuple[str, str]] = {}
    owners: dict[str, str] = {}
    for name, port, path in ports_of(manifest):
        tensor = tensors.get(name)
        kind = port_type(manifest, port)
        if tensor is None or kind is None:
            continue
        logical = _logical_dtype(port, kind, tensor, path)
        if tensor.logical is not None and tensor.logical != logical:
            raise fail(
                f"tensor `{name}` is {tensor.logical} stored as {tensor.storage}, the port wants {logical}",
                rule="type-tag",
                path=path,
            )
        found = (logical, tensor.storage)
        before = solved.get(kind.label)
        if kind.admitted is not None and before is not None and before != found:
            raise fail(
                f"`{kind.label}` is {_words(before)} by tensor `{owners[kind.label]}` and {_words(found)} by `{name}`",
                hint="ports that share a dtype name must share dtype and storage",
                rule="type-label",
                path=path,
            )
        solved[kind.label] = found
        owners[kind.label] = name
    return Types(
        logical={label: logical for label, (logical, _) in solved.items()},
        scalars={label: DTYPES[storage].scalar for label, (_, storage) in solved.items()},
    )


def _logical_dtype(port: Port, kind: PortType, tensor: BoundTensor, path: str) -> str:
    name, storage = tensor.name, tensor.storage
    if port.storage is not None and storage != port.storage:
        message = f"tensor `{name}` is stored as {storage}, the port declares the storage {port.storage}"
        raise fail(message, rule="type-storage", path=path)
    if kind.admitted is None:
        if kind.label in PROTOTYPE_NAMES:
            raise fail(f"port `{name}`: `{kind.label}` cannot be the name of a type", rule="type-name", path=path)
        return storage
    if kind.is_int64 or kind.label in DTYPES:
        dtype = kind.admitted[0]
        wanted = port.storage or dtype
        if storage != wanted:
            raise fail(f"tensor `{name}` has the dtype {storage}, the port wants {wanted}", rule="type", path=path)
        return dtype
    if storage not in kind.admitted:
        hint = f"`{kind.label}` may be {', '.join(dict.fromkeys(kind.admitted))}"
        raise fail(
            f"tensor `{name}` has the dtype {storage}, which the port does not admit", hint=hint, rule="type", path=path
        )
    return storage


def _words(found: tuple[str, str]) -> str:
    logical, storage = found
    return logical if logical == storage else f"{logical} stored as {storage}"
