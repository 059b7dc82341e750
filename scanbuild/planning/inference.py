"""The outputs a call produces: which, of what shape and dtype (8.3).

Shapes are inferred on the default device, before the outputs exist: an output's shape sees the inputs, the
destinations that were given, and the manifest derives that it reaches by their bare names.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from scanbuild.errors import CallError
from scanbuild.package.model import Absent, Json, Manifest, Port
from scanbuild.planning.attributes import is_integer, is_number
from scanbuild.planning.device import DEFAULT_DEVICE
from scanbuild.planning.dtypes import DTYPES, ONNX_CODES, is_dtype
from scanbuild.planning.failures import fail
from scanbuild.planning.request import Destination
from scanbuild.planning.scope import Place, Scalars, Scope, names_in, request_names
from scanbuild.planning.types import BoundTensor, PortType, Types, port_type, ports_of, solve_types
from scanbuild.planning.uniforms import describe


@dataclass(frozen=True, kw_only=True, slots=True)
class Wishes:
    """The call as inference sees it: ``bound`` are the tensors among the inputs, ``destinations`` the wishes for
    outputs that have a shape, ``residents`` the resident destinations."""

    bound: Mapping[str, BoundTensor]
    destinations: Mapping[str, Destination]
    residents: Mapping[str, BoundTensor]


def infer_outputs(manifest: Manifest, wishes: Wishes, scalars: Scalars) -> dict[str, BoundTensor]:
    """The output tensors of the call in manifest order: those given, as they are, and those to be created."""
    seen = _tensors_in_scope(manifest, wishes)
    types = solve_types(manifest, seen)
    request = request_names(manifest, seen, types, scalars, device=DEFAULT_DEVICE, args_present=True)
    tunables = dict(manifest.tunables)
    outputs: dict[str, BoundTensor] = {}
    for name, port in manifest.outputs.items():
        given = wishes.residents.get(name) or wishes.bound.get(name)
        if port.optional and given is None and name not in wishes.destinations:
            continue
        place = Place(words=f"output `{name}`", path=f"$.outputs.{name}")
        shape = _output_shape(manifest, port, Scope(request=request, tunables=tunables), place)
        if shape is None:
            shape = _destination_shape(given, wishes.destinations.get(name), place)
        if given is None:
            logical, storage = _Output(manifest, port, place).dtype(types, wishes.bound, scalars.attrs)
            given = BoundTensor(name=name, shape=shape, storage=storage, logical=logical, buffer=("new", name))
        outputs[name] = given
    return outputs


def _tensors_in_scope(manifest: Manifest, wishes: Wishes) -> dict[str, BoundTensor]:
    seen = dict(wishes.bound)
    # A resident destination named like a pure input is ignored, a wish is not: it hides the input.
    seen.update({name: tensor for name, tensor in wishes.residents.items() if name in manifest.outputs})
    for name, port, path in ports_of(manifest):
        wish = wishes.destinations.get(name)
        if wish is None or path != f"$.{'outputs' if name in manifest.outputs else 'inputs'}.{name}":
            continue
        storage = _wished_dtype(manifest, port, wish, wishes.bound, Place(words=f"destination `{name}`", path=path))
        seen[name] = BoundTensor(
            name=name, shape=tuple(wish.shape), storage=storage, logical=None, buffer=("wish", name)
        )
    return seen


def _wished_dtype(
    manifest: Manifest, port: Port, wish: Destination, bound: Mapping[str, BoundTensor], place: Place
) -> str:
    """The storage dtype of the tensor that a destination stands for."""
    kind = port_type(manifest, port)
    if wish.dtype is not None:
        if not is_dtype(wish.dtype):
            message = f"{place.words}: unknown dtype `{wish.dtype}`"
            raise fail(message, hint=f"one of {', '.join(DTYPES)}", rule="destination-dtype", path=place.path)
        is_logical = wish.dtype == "int64" and kind is not None and kind.is_int64
        return port.storage if is_logical and port.storage is not None else wish.dtype
    if port.storage is not None:
        return port.storage
    if kind is None:
        return "float32"
    if kind.admitted is None:
        message = f"{place.words} needs a dtype: `{kind.label}` is declared nowhere"
        raise fail(message, rule="destination-dtype", path=place.path)
    if len(kind.admitted) == 1:
        return kind.admitted[0]
    same = (name for name, declared in manifest.inputs.items() if declared.dtype == port.dtype and name in bound)
    first = next(same, None)
    return "float32" if first is None else bound[first].storage


def _output_shape(manifest: Manifest, port: Port, scope: Scope, place: Place) -> tuple[int, ...] | None:
    """The shape that the manifest gives an output; None where it gives none."""
    shape = port.shape
    if isinstance(shape, Absent):
        return None
    place = place.member("shape", ".shape")
    if not isinstance(shape, str | list):
        raise fail(
            f"{place.words}: expected an expression or a list, found {describe(shape)}", rule="shape", path=place.path
        )
    _define_reached(manifest, shape, scope)
    if isinstance(shape, str):
        value = scope.evaluate(shape, place)
    else:
        value = [scope.evaluate(item, place) if isinstance(item, str) else item for item in shape]
    if not isinstance(value, list):
        raise fail(f"{place.words}: `{shape}` gives {describe(value)}, not a list", rule="shape", path=place.path)
    return dimensions(value, place)


def _define_reached(manifest: Manifest, shape: Json, scope: Scope) -> None:
    """Evaluate the manifest derives that a shape reaches by bare names; one that fails stays unknown."""
    reached: set[str] = set()
    pending = set(names_in(shape)) & manifest.derive.keys()
    while pending:
        name = pending.pop()
        reached.add(name)
        pending |= (names_in(manifest.derive[name]) & manifest.derive.keys()) - reached
    for name, value in manifest.derive.items():
        if name not in reached:
            continue
        try:
            scope.define(name, scope.evaluate(value, Place(words=f"derive `{name}`")))
        except CallError:
            continue


def dimensions(values: Sequence[Any], place: Place) -> tuple[int, ...]:
    """A list of dimensions as integers; CallError where one is no non-negative integer."""
    for index, value in enumerate(values):
        if not is_integer(value) or value < 0:
            found = "a fraction" if is_number(value) and value >= 0 else describe(value)
            raise fail(
                f"{place.words}: dimension {index} is {found}, expected a non-negative integer",
                rule="shape-dimension",
                path=place.path,
            )
    return tuple(int(value) for value in values)


def _destination_shape(given: BoundTensor | None, wish: Destination | None, place: Place) -> tuple[int, ...]:
    if given is not None:
        return given.shape
    if wish is None:
        raise fail(
            f"{place.words} has no shape in the manifest and no destination in the call",
            hint="pass a destination with a shape",
            rule="output-shape",
            path=place.path,
        )
    return dimensions(wish.shape, place.member("destination"))


@dataclass(frozen=True, slots=True)
class _Output:
    """An output whose dtype has to be found."""

    manifest: Manifest
    port: Port
    place: Place

    def dtype(self, types: Types, bound: Mapping[str, BoundTensor], attrs: Mapping[str, Json]) -> tuple[str, str]:
        """Its logical and its storage dtype."""
        kind = port_type(self.manifest, self.port)
        logical: str | None
        if kind is None:
            logical = "float32"
        elif kind.label in DTYPES:
            logical = kind.label
        else:
            logical = types.logical.get(kind.label) or self._variable(kind, bound, attrs)
        return logical, self.port.storage or logical

    def _variable(self, kind: PortType, bound: Mapping[str, BoundTensor], attrs: Mapping[str, Json]) -> str:
        """The dtype of a variable that no bound tensor has solved."""
        single = kind.admitted[0] if kind.admitted is not None and len(kind.admitted) == 1 else None
        if single is not None and self.port.storage is not None:
            return single
        attribute = self.manifest.attributes.get("to")
        if self.manifest.domain == "ai.onnx" and attribute is not None and attribute.required:
            return self._code(kind, attrs.get("to"))
        if single is not None:
            return single
        for name in self.manifest.inputs:
            if name in bound and (kind.admitted is None or bound[name].storage in kind.admitted):
                return bound[name].storage
        raise fail(
            f"{self.place.words}: nothing tells the dtype of `{kind.label}`",
            hint="pass a destination with a dtype",
            rule="output-dtype",
            path=self.place.path,
        )

    def _code(self, kind: PortType, code: Json) -> str:
        """The dtype whose ONNX code the required attribute ``to`` gives."""
        dtype = ONNX_CODES.get(int(code)) if is_integer(code) else None
        if dtype is None or kind.admitted is None or dtype not in kind.admitted:
            found = describe(code) if dtype is None else dtype
            message = f"{self.place.words}: attribute `to` picks {found}, which `{kind.label}` does not admit"
            raise fail(message, rule="output-to", path=self.place.path)
        return dtype
