"""What a caller sees of a kernel: ports (2.3), type constraints (2.2) and scalar arguments (2.4)."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal, cast

from scanbuild.package.model import ABSENT, Port, ScalarArg
from scanbuild.package.report import Node, listed, shown
from scanbuild.package.values import (
    boolean,
    description,
    expect_keys,
    expect_list,
    expect_object,
    identifier,
    required,
    text,
    word,
)
from scanbuild.package.vocabulary import LOGICAL_DTYPES, WGSL_SCALARS

INPUT_KEYS: Final = (
    "description",
    "onnx",
    "dtype",
    "rank",
    "optional",
    "shape",
    "storage",
    "narrowing",
    "layout",
)
OUTPUT_KEYS: Final = INPUT_KEYS[:-2]
ARG_KEYS: Final = ("kind", "description", "onnx", "required", "oneOf")
ARG_KINDS: Final = ("u32", "i32", "f32", "bool", "string")
INT64_STORAGES: Final = ("int32", "uint32", "int64")

_PORT_ADVICE: Final = {
    "type": "the member is called dtype",
    "default": "a port has no default; declare an attribute or a scalar argument",
}
_OUTPUT_ADVICE: Final = {
    "narrowing": "narrowing belongs to the input side",
    "layout": "a packed layout belongs to the input side",
}


@dataclass(frozen=True, slots=True)
class Contract:
    """The ports and type variables that bindings and derives refer to.

    ``broken`` are ports whose dtype is unknown because their declaration is wrong, and ``complete`` is false where
    the port maps themselves are wrong, or the intermediates beside them: what refers to those is not reported a
    second time.
    """

    inputs: Mapping[str, Port] = field(default_factory=dict)
    outputs: Mapping[str, Port] = field(default_factory=dict)
    type_constraints: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    broken: frozenset[str] = frozenset()
    complete: bool = True

    def port(self, name: str) -> Port | None:
        """The port of that name; of an inout, its input side."""
        return self.inputs.get(name) or self.outputs.get(name)

    def port_names(self) -> list[str]:
        """Every port's name once, inputs first."""
        return list(dict.fromkeys([*self.inputs, *self.outputs]))

    def element_type(self, port: Port) -> str | None:
        """The element type a binding of the port has unless it is written; None if it has to be (2.11)."""
        if port.storage is not None:
            return WGSL_SCALARS[port.storage]
        if port.dtype is None:
            return None
        return WGSL_SCALARS.get(port.dtype, f"${port.dtype}")

    def is_opaque_int64(self, port: Port) -> bool:
        """Whether the port holds int64 elements that shaders may only copy."""
        return admitted(port.dtype, self.type_constraints) == ("int64",) and port.storage in (None, "int64")


def admitted(dtype: str | None, constraints: Mapping[str, tuple[str, ...]]) -> tuple[str, ...] | None:
    """The logical dtypes a port's ``dtype`` stands for; None where it is absent or an unconstrained variable."""
    if dtype is None:
        return None
    return (dtype,) if dtype in LOGICAL_DTYPES else constraints.get(dtype)


def parse_type_constraints(node: Node | None) -> dict[str, tuple[str, ...]]:
    """The type variables. A list is a map with the names "0", "1", ..., as the loader reads it."""
    if node is None or _counts_as_empty(node):
        return {}
    if isinstance(node.value, str):
        node.fail("type", f"typeConstraints has to be an object, not {node.shown}")
        return {}
    entries = [*node.members(), *((str(index), item) for index, item in enumerate(node.elements()))]
    return {name: _dtypes(item) for name, item in entries}


def _dtypes(node: Node) -> tuple[str, ...]:
    if expect_list(node, "a type constraint") is None:
        return ()
    return tuple(dtype for item in node.elements() if (dtype := word(item, "a dtype", LOGICAL_DTYPES)))


def _counts_as_empty(node: Node) -> bool:
    """The loader takes null, numbers, booleans, "" and [] for an empty map of args or type constraints."""
    return not isinstance(node.value, dict | list | str) or not node.value


def parse_contract(manifest: Node) -> Contract:
    """Ports and type constraints of a manifest."""
    constraints = parse_type_constraints(manifest.get("typeConstraints"))
    broken: set[str] = set()
    maps: dict[str, dict[str, Port]] = {}
    complete = True
    for side in ("inputs", "outputs"):
        node = required(manifest, side, "a manifest")
        maps[side] = {}
        if node is None or expect_object(node, side) is None:
            complete = False
            continue
        for name, item in node.members():
            identifier(item, name, "the name of a port")
            port = _parse_port(item, name, side == "inputs", constraints)
            if port is None:
                broken.add(name)
            maps[side][name] = port or Port(name=name)
        if side == "outputs":
            for name in maps["inputs"].keys() & maps["outputs"].keys() - broken:
                _check_inout(node, maps["inputs"][name], maps["outputs"][name])
    return Contract(maps["inputs"], maps["outputs"], constraints, frozenset(broken), complete)


def _parse_port(node: Node, name: str, is_input: bool, constraints: Mapping[str, tuple[str, ...]]) -> Port | None:
    """The port, or None if its type is not known because of a mistake."""
    if expect_object(node, "a port") is None:
        return None
    what = "an input" if is_input else "an output"
    keys = INPUT_KEYS if is_input else OUTPUT_KEYS
    expect_keys(node, keys, what, _PORT_ADVICE if is_input else {**_PORT_ADVICE, **_OUTPUT_ADVICE})
    dtype_node, storage_node, shape, rank = (node.get(key) for key in ("dtype", "storage", "shape", "rank"))
    if (node.path, "dtype") in node.report.misspelt:
        return None
    dtype = None
    if dtype_node is not None:
        if not isinstance(dtype_node.value, str):
            dtype_node.fail("type", f"a dtype has to be a text, not {dtype_node.shown}")
            return None
        dtype = dtype_node.value
    storage = _storage(storage_node, dtype, constraints)
    narrowing = _narrowing(node, dtype, storage, constraints) if is_input else None
    port = Port(
        name=name,
        dtype=dtype,
        optional=boolean(node.get("optional"), "optional"),
        shape=ABSENT if shape is None else shape.value,
        storage=storage,
        narrowing=narrowing,
        packed=is_input and _packed(node, dtype, constraints),
        rank=ABSENT if rank is None else rank.value,
        description=description(node),
        onnx=text(node.get("onnx"), "onnx") or None,
    )
    return None if storage_node is not None and storage is None else port


def _storage(node: Node | None, dtype: str | None, constraints: Mapping[str, tuple[str, ...]]) -> str | None:
    if node is None:
        return None
    storage = word(node, "storage", LOGICAL_DTYPES)
    if storage is None:
        return None
    dtypes = admitted(dtype, constraints)
    if dtypes is None:
        node.fail("storage", "storage needs a dtype that is a logical dtype or a declared type variable")
    elif dtypes == ("int64",):
        if storage in INT64_STORAGES:
            return storage
        node.fail("storage", f"int64 is stored as {listed(INT64_STORAGES)}, not as {storage}")
    elif len(dtypes) != 1:
        node.fail("storage", f"storage needs a single dtype, and {shown(dtype)} stands for {len(dtypes)}")
    elif dtypes[0] != storage:
        node.fail("storage", f"{dtypes[0]} is stored as {dtypes[0]}, not as {storage}", hint="leave storage out")
    else:
        return storage
    return None


def _narrowing(
    port: Node, dtype: str | None, storage: str | None, constraints: Mapping[str, tuple[str, ...]]
) -> Literal["checked", "saturating"] | None:
    node = port.get("narrowing")
    narrowed = admitted(dtype, constraints) == ("int64",) and storage in ("int32", "uint32")
    if node is None:
        if narrowed:
            port.fail("narrowing", f"an int64 input stored as {storage} needs narrowing", hint="checked or saturating")
        return None
    value = word(node, "narrowing", ("checked", "saturating"))
    storage_is_wrong = storage is None and port.has("storage")
    if value is not None and not narrowed and not storage_is_wrong:
        node.fail("narrowing", "narrowing is for an int64 input whose storage is int32 or uint32", hint="leave it out")
    return cast(Literal["checked", "saturating"] | None, value)


def _packed(port: Node, dtype: str | None, constraints: Mapping[str, tuple[str, ...]]) -> bool:
    node = port.get("layout")
    if node is None or word(node, "layout", ("packed",)) is None:
        return False
    dtypes = admitted(dtype, constraints)
    if dtypes is None or any(item != "uint8" for item in dtypes):
        node.fail("layout", "a packed layout is for ports that take uint8 only")
    return True


def _check_inout(outputs: Node, source: Port, target: Port) -> None:
    item = outputs.get(source.name)
    if item is None:
        return
    for what, one, other in (("dtype", source.dtype, target.dtype), ("storage", source.storage, target.storage)):
        if one != other:
            item.fail(
                "inout",
                f"{source.name} is an input and an output, so both need the same {what}: "
                f"the input has {shown(one) if one is not None else 'none'}, "
                f"the output {shown(other) if other is not None else 'none'}",
            )


def parse_args(node: Node | None, contract: Contract) -> dict[str, ScalarArg]:
    """The scalar arguments."""
    if node is None or _counts_as_empty(node):
        return {}
    if expect_object(node, "args") is None:
        return {}
    return {name: _parse_arg(item, name, contract) for name, item in node.members()}


def _parse_arg(node: Node, name: str, contract: Contract) -> ScalarArg:
    identifier(node, name, "the name of a scalar argument")
    if contract.port(name) is not None:
        node.fail("name-taken", f"{name} is a port already; a scalar argument needs a name of its own", key=True)
    if expect_object(node, "a scalar argument") is None:
        return ScalarArg(name=name, kind="u32")
    expect_keys(node, ARG_KEYS, "a scalar argument", {"default": "an argument has no default; declare an attribute"})
    kind_node = required(node, "kind", "a scalar argument")
    kind = word(kind_node, "kind", ARG_KINDS)
    one_of = node.get("oneOf")
    if one_of is not None and expect_list(one_of, "oneOf", optional=True) is not None and kind not in ("string", None):
        one_of.fail("one-of", f"oneOf is for arguments of kind string, and this one is {kind}")
    needed = node.get("required")
    return ScalarArg(
        name=name,
        kind=cast(Literal["u32", "i32", "f32", "bool", "string"], kind or "u32"),
        required=needed is None or needed.value is not False,
        one_of=tuple(one_of.value) if one_of is not None and isinstance(one_of.value, list) else None,
        description=description(node),
    )
