"""What expressions see at each stage, and how values written in a manifest are evaluated (3.7).

A scope maps names to plain values. The dialect adds its helper functions behind it, so that every name here hides a
helper of the same spelling.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from scanbuild.dialect import DialectError, Expression, NameSet, f16_ok, parse_expression
from scanbuild.errors import CallError
from scanbuild.package.model import Json, Manifest, Port
from scanbuild.planning.device import DeviceRecord
from scanbuild.planning.failures import fail
from scanbuild.planning.types import BoundTensor, Types

DISPATCH_FOLD_WIDTH: Final = 65535


@dataclass(frozen=True, kw_only=True, slots=True)
class Place:
    """Where an expression stands: in words (``variant `main`, derive `n```) and as a JSON path."""

    words: str
    path: str = ""

    def member(self, words: str, path: str = "") -> "Place":
        """A place inside this one."""
        return Place(words=f"{self.words}, {words}" if self.words else words, path=f"{self.path}{path}")


def derive_place(owner: Place, name: str) -> Place:
    """The place of a derive of a manifest, a variant or a pass."""
    return owner.member(f"derive `{name}`", f".derive.{name}")


@dataclass(frozen=True, kw_only=True, slots=True)
class Scalars:
    """The attributes of a call, defaults included, and its scalar arguments."""

    attrs: Mapping[str, Json]
    args: Mapping[str, Json]


def device_names(device: DeviceRecord) -> dict[str, Any]:
    """What expressions see as ``device``."""
    return {
        "features": NameSet(device.features),
        "wgslLanguageFeatures": NameSet(device.wgsl_language_features),
        "limits": dict(device.limits),
        "adapterInfo": dict(device.adapter_info),
    }


def request_names(
    manifest: Manifest,
    tensors: Mapping[str, BoundTensor],
    types: Types,
    scalars: Scalars,
    *,
    device: DeviceRecord,
    args_present: bool,
) -> dict[str, Any]:
    """The namespaces that say what the request is.

    ``args_present`` tells whether supplied scalar arguments count as present: they do while shapes are inferred, and
    do not at the call.
    """
    bound = [tensors[name] for name in _port_names(manifest) if name in tensors]
    present = {name: name in tensors for name in _port_names(manifest)}
    present.update({name: args_present and name in scalars.args for name in manifest.args})
    return {
        "dtypes": dict(types.scalars),
        "logicalDtypes": dict(types.logical),
        "tensorDtypes": {tensor.name: tensor.storage for tensor in bound},
        "ranks": {tensor.name: len(tensor.shape) for tensor in bound},
        "shapes": {tensor.name: list(tensor.shape) for tensor in bound},
        "present": present,
        "args": dict(scalars.args),
        "attrs": dict(scalars.attrs),
        "device": device_names(device),
        "f16Ok": f16_ok("shader-f16" in device.features),
    }


def _port_names(manifest: Manifest) -> list[str]:
    ports: dict[str, Port] = {**manifest.inputs, **manifest.outputs}
    return list(ports)


@dataclass(slots=True)
class Scope:
    """The names of one stage; ``define`` adds a derive, which later expressions see.

    ``labels`` are the WGSL scalars of the dtype labels, visible from the pass stage on. Derives go before them, and
    they go before the namespaces.
    """

    request: Mapping[str, Any]
    tunables: Mapping[str, Any] = field(default_factory=dict)
    repeat: Mapping[str, Any] = field(default_factory=dict)
    labels: Mapping[str, str] = field(default_factory=dict)
    derives: dict[str, Any] = field(default_factory=dict)
    names: dict[str, Any] = field(init=False)

    def __post_init__(self) -> None:
        self.derives = {**self.labels, **self.derives}
        self.names = {
            **self.request,
            "repeat": self.repeat,
            "tunables": self.tunables,
            "derive": self.derives,
            "DISPATCH_FOLD_WIDTH": DISPATCH_FOLD_WIDTH,
            **self.derives,
        }

    def stage(
        self,
        *,
        tunables: Mapping[str, Any] | None = None,
        repeat: Mapping[str, Any] | None = None,
        labels: Mapping[str, str] | None = None,
    ) -> "Scope":
        """A scope that starts with the derives of this one."""
        return Scope(
            request=self.request,
            tunables=self.tunables if tunables is None else tunables,
            repeat=self.repeat if repeat is None else repeat,
            labels=self.labels if labels is None else labels,
            derives=dict(self.derives),
        )

    def define(self, name: str, value: Any) -> None:
        """Make a derive visible."""
        self.derives[name] = value
        self.names[name] = value

    def define_all(self, derives: Mapping[str, Json], place: Place) -> None:
        """Evaluate derives in their order, each seeing those before it."""
        for name, value in derives.items():
            self.define(name, self.evaluate(value, derive_place(place, name)))

    def evaluate(self, value: Json, place: Place) -> Any:
        """A JSON value whose strings are expressions, member by member; CallError where one fails."""
        return evaluate(value, self.names, place)


def evaluate(value: Json, names: Mapping[str, Any], place: Place) -> Any:
    """A JSON value whose strings are expressions of ``names``, lists and objects member by member."""
    if isinstance(value, str):
        try:
            return parse_expression(value).evaluate(names)
        except DialectError as error:
            raise expression_failure(value, error, place) from None
    if isinstance(value, list):
        return [evaluate(item, names, place.member("", f"[{index}]")) for index, item in enumerate(value)]
    if isinstance(value, dict):
        return {key: evaluate(item, names, place.member("", f".{key}")) for key, item in value.items()}
    return value


def expression_failure(text: str, error: DialectError, place: Place) -> CallError:
    """The error that says which expression failed, where and why."""
    shown = text if len(text) <= 120 else f"{text[:117]}..."
    return fail(f"{place.words}: `{shown}`: {error.message}", rule=f"expression-{error.kind}", path=place.path)


def names_in(value: Json) -> frozenset[str]:
    """Every name that the expressions in a JSON value need; none for those that do not parse."""
    return _names(value, lambda expression: expression.names)


def mentions_in(value: Json) -> frozenset[str]:
    """Those and the names that are only asked for with ``is defined``."""
    return _names(value, lambda expression: expression.mentions)


def _names(value: Json, of: Callable[[Expression], Iterable[str]]) -> frozenset[str]:
    if isinstance(value, str):
        try:
            return frozenset(of(parse_expression(value)))
        except DialectError:
            return frozenset()
    members = value if isinstance(value, list) else list(value.values()) if isinstance(value, dict) else []
    return frozenset().union(*(_names(item, of) for item in members))
