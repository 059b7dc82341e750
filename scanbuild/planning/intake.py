"""Reading a request: which tensors, scalars and destinations it names, and host data made ready (section 8, 1 to 3)."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from scanbuild.package.model import Json, Manifest, Port
from scanbuild.planning.attributes import is_number, nearest
from scanbuild.planning.dtypes import element_count
from scanbuild.planning.failures import charge, fail
from scanbuild.planning.host import HostType, host_type, narrow, pack_bytes, to_storage
from scanbuild.planning.inference import Wishes, dimensions
from scanbuild.planning.request import Destination, HostTensor, Request, ResidentTensor
from scanbuild.planning.scope import Place
from scanbuild.planning.types import BoundTensor, port_type
from scanbuild.planning.uniforms import describe

_EXACT = 2**53
_DEPTH = 100

DIMENSION_WORK = 1 << 7
"""What looking at one dimension of a tensor counts for, in the units of an evaluation's work."""

DECLARATION_WORK = 1 << 8
"""What one port, attribute or argument counts for that a request is held against, whether it gives it or not."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Call:
    """A request, read: tensors, destinations and scalar arguments."""

    wishes: Wishes
    args: Mapping[str, Json]
    attrs: Mapping[str, Json]


def read_request(manifest: Manifest, request: Request) -> Call:
    """The request with its names told apart and its host data converted; CallError for what cannot be."""
    bound: dict[str, BoundTensor] = {}
    args = {name: _json(f"argument `{name}`", value) for name, value in request.args.items()}
    for name, value in request.inputs.items():
        port = port_of(manifest, name)
        if port is None:
            args[name] = _scalar(manifest, name, value)
        elif isinstance(value, ResidentTensor):
            bound[name] = resident(name, value)
        elif isinstance(value, HostTensor):
            bound[name] = _host_tensor(manifest, name, port, value)
        else:
            hint = "leave an optional input out" if value is None else ""
            raise fail(f"input `{name}` is a tensor, found {describe(plain(value))}", hint=hint, rule="input-kind")
    return Call(
        wishes=Wishes(bound=bound, **_destinations(manifest, request)),
        args=args,
        attrs={name: _json(f"attribute `{name}`", value) for name, value in request.attrs.items()},
    )


def port_of(manifest: Manifest, name: str) -> Port | None:
    """The declaration that says how a tensor is stored: the input side of an inout."""
    return manifest.inputs.get(name) or manifest.outputs.get(name)


def resident(name: str, tensor: ResidentTensor) -> BoundTensor:
    """A tensor that an earlier call left on the GPU, bound under a name."""
    return BoundTensor(
        name=name,
        shape=tensor.shape,
        storage=tensor.dtype,
        logical=tensor.logical,
        buffer=("resident", tensor.buffer),
        packed=tensor.packed,
        resident=True,
    )


def declarations(manifest: Manifest) -> int:
    """How much a manifest declares that every request is held against."""
    return len(manifest.inputs) + len(manifest.outputs) + len(manifest.attributes) + len(manifest.args)


def _scalar(manifest: Manifest, name: str, value: Any) -> Json:
    scalar = plain(value)
    if isinstance(scalar, bool | str) or is_number(scalar):
        return scalar
    known = [*manifest.inputs, *manifest.outputs]
    if name in manifest.args:
        raise fail(f"argument `{name}` is a scalar, found {describe(value)}", rule="input-kind")
    raise fail(f"unknown input `{name}`", hint=nearest(name, known), rule="input-name")


def _destinations(manifest: Manifest, request: Request) -> dict[str, Any]:
    destinations: dict[str, Destination] = {}
    residents: dict[str, BoundTensor] = {}
    for name, value in request.outputs.items():
        if not isinstance(value, ResidentTensor | Destination):
            raise fail(
                f"destination `{name}`: expected a tensor or a shape, found {describe(value)}", rule="destination"
            )
        if isinstance(value, Destination) and not isinstance(value.shape, list | tuple):
            continue
        if name in manifest.args:
            continue
        if port_of(manifest, name) is None:
            raise fail(f"unknown output `{name}`", hint=nearest(name, manifest.outputs), rule="output-name")
        if isinstance(value, ResidentTensor):
            residents[name] = resident(name, value)
        else:
            destinations[name] = replace(
                value, shape=[_json(f"destination `{name}`: shape", item) for item in value.shape]
            )
    return {"destinations": destinations, "residents": residents}


def _host_tensor(manifest: Manifest, name: str, port: Port, tensor: HostTensor) -> BoundTensor:
    if not isinstance(tensor.shape, list | tuple):
        raise fail(f"input `{name}` needs a shape, found {describe(tensor.shape)}", rule="host-shape")
    charge(len(tensor.shape) * DIMENSION_WORK, f"input `{name}`")
    kind = host_type(name, tensor)
    data = None if tensor.array is None else to_storage(tensor.array, kind)
    storage = kind.dtype
    if kind.dtype == "int64":
        storage = _int64_storage(manifest, name, port)
        if storage != "int64" and data is not None:
            data = narrow(name, data, storage, saturating=port.narrowing == "saturating")
    return BoundTensor(
        name=name,
        shape=tuple(_json(f"input `{name}`: shape", item) for item in tensor.shape),
        storage=storage,
        logical=_known_logical(manifest, port, kind, storage),
        buffer=("host", name),
        packed=port.packed,
        data=data,
    )


def _int64_storage(manifest: Manifest, name: str, port: Port) -> str:
    kind = port_type(manifest, port)
    if kind is None or kind.admitted is None or "int64" not in kind.admitted:
        raise fail(
            f"input `{name}`: the port does not admit int64 data",
            hint="only a port of dtype int64, or of a declared variable that lists it, does",
            rule="host-int64",
        )
    return port.storage or "int64"


def _known_logical(manifest: Manifest, port: Port, kind: HostType, storage: str) -> str | None:
    """int64 for a projected port, which takes data of its storage dtype as they are; else the data's own dtype."""
    of_port = port_type(manifest, port)
    if of_port is not None and of_port.is_int64 and storage == port.storage:
        return "int64"
    return kind.dtype


def upload_form(tensor: BoundTensor) -> BoundTensor:
    """A host tensor with checked dimensions and length, and its data in the bytes of its buffer."""
    place = Place(words=f"input `{tensor.name}`")
    shape = dimensions(tensor.shape, place)
    data: npt.NDArray[Any] | None = tensor.data
    if data is not None:
        count = element_count(shape)
        if data.size != count:
            message = f"{place.words} has {data.size} values, its shape {list(shape)} holds {count}"
            raise fail(message, rule="host-length")
        data = pack_bytes(tensor.name, data) if tensor.packed else data
    return replace(tensor, shape=shape, data=data)


def _json(words: str, value: Any, depth: int = 0) -> Any:
    """An attribute or argument as JSON has it; CallError for what JSON has no form of."""
    if depth > _DEPTH:
        raise fail(f"{words} is nested more than {_DEPTH} deep", rule="json")
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, list | tuple):
        return [_json(words, item, depth + 1) for item in value]
    if isinstance(value, Mapping):
        if not all(isinstance(key, str) for key in value):
            raise fail(f"{words}: the names in an object are texts", rule="json")
        return {key: _json(words, item, depth + 1) for key, item in value.items()}
    scalar = plain(value)
    if scalar is not None and not isinstance(scalar, bool | int | float | str):
        hint = "a number, a text, true, false, null, or lists and objects of them"
        raise fail(f"{words}: a {type(value).__name__} is no JSON value", hint=hint, rule="json")
    return scalar


def plain(value: Any) -> Any:
    """A value as JSON has it: NumPy scalars as Python's, integers that are no exact double rounded to one."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) > _EXACT:
        try:
            return float(value)
        except OverflowError:
            return float("inf") if value > 0 else float("-inf")
    return value
