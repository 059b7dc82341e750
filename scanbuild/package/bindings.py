"""Binding entries: handles, default entries of ports and scratches, inline entries, uniform structs (2.11)."""

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Final, Literal, cast

from scanbuild.package.contract import Contract
from scanbuild.package.model import ABSENT, Binding, BufferKind, Field, Intermediate
from scanbuild.package.report import Node, shown
from scanbuild.package.values import (
    boolean,
    expect_keys,
    expect_list,
    expect_object,
    identifier,
    is_natural,
    required,
    text,
    word,
)
from scanbuild.package.vocabulary import PROTOTYPE_NAMES, WGSL_SCALARS, is_identifier

BINDING_KEYS: Final = ("buffer", "name", "arg", "scratch", "elementType", "length", "structName", "struct")
FIELD_KEYS: Final = ("name", "type", "value", "default", "required", "internal")
BUFFER_KINDS: Final = ("read-only-storage", "storage", "uniform")
FIELD_TYPES: Final = ("u32", "i32", "f32")
OPAQUE_ELEMENT: Final = "vec2<u32>"

_BLANKS = re.compile("[\t-\r \xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff]+")
"""The white space of JavaScript, which is not quite Python's."""
_ADVICE: Final = {
    "type": "the members are called buffer (the kind) and elementType",
    "fields": "the member is called struct",
    "port": "the member is called arg",
    "use": "shared fragments have to be expanded before publishing",
}

Scratches = Mapping[str, Intermediate]


def parse_handles(node: Node | None, contract: Contract) -> dict[str, Binding | None]:
    """The manifest's binding handles; None for one that is wrong, and reported."""
    if node is None or expect_object(node, "bindings") is None:
        return {}
    handles: dict[str, Binding | None] = {}
    for name, item in node.members():
        identifier(item, name, "a binding handle")
        handles[name] = parse_entry(item, contract, None, handle=name)
    return handles


def resolve_member(
    node: Node, contract: Contract, scratches: Scratches, handles: Mapping[str, Binding | None]
) -> Binding | None:
    """One member of a pass's list: a handle, a port, an intermediate, or an inline entry."""
    if not isinstance(node.value, str):
        entry = parse_entry(node, contract, scratches)
        return _targeted(node, entry, contract, scratches)
    name = node.value
    if name in handles:
        return _targeted(node, handles[name], contract, scratches)
    if contract.port(name) is not None:
        return None if name in contract.broken else _default_of_port(node, name, contract)
    if name in scratches:
        if not identifier(node, name, "the WGSL name of a binding", key=False) or _is_prototype_name(node, name):
            return None
        dtype = scratches[name].dtype
        return Binding(name=name, buffer="storage", scratch=name, element_type=WGSL_SCALARS.get(dtype, "f32"))
    if contract.complete:
        known = [*handles, *contract.port_names(), *scratches]
        message = f"{shown(name)} is no binding handle, no port and no intermediate of this variant"
        node.fail("binding", message, hint=node.nearest(name, known))
    return None


def _default_of_port(node: Node, name: str, contract: Contract) -> Binding | None:
    port = contract.port(name)
    element = contract.element_type(port) if port is not None else None
    if element is None:
        hint = f'write {{"name": "{name}", "elementType": ...}}'
        node.fail("element-type", f"the port {name} has no dtype, so its binding needs an elementType", hint=hint)
        return None
    return Binding(name=name, buffer=_buffer_of_port(name, contract), element_type=element)


def _buffer_of_port(name: str, contract: Contract) -> BufferKind:
    return "storage" if name in contract.outputs else "read-only-storage"


def parse_entry(
    node: Node, contract: Contract, scratches: Scratches | None, *, handle: str | None = None
) -> Binding | None:
    """An entry with its defaults. ``scratches`` is None for a handle, which belongs to no variant."""
    if not isinstance(node.value, dict):
        node.fail("type", f"a binding has to be a name or an object, not {node.shown}")
        return None
    expect_keys(node, BINDING_KEYS, "a binding", _ADVICE)
    if node.has("use"):
        return None
    names = {key: _name(node.get(key), key) for key in ("name", "arg", "scratch")}
    if any(node.has(key) and not names[key] for key in names):
        return None
    name = names["name"] or handle or names["arg"] or names["scratch"]
    if not name:
        node.fail("binding", "a binding needs a name, an arg or a scratch")
        return None
    source = node.get("name") or node
    if name == handle and not is_identifier(handle):
        return None
    if not identifier(source, name, "the WGSL name of a binding", key=False):
        return None
    arg, scratch = names["arg"] or None, names["scratch"] or None
    is_scratch = scratch is not None or (scratches is not None and name in scratches)
    denoted = scratch or name if is_scratch else arg or name
    buffer = _buffer(node, denoted, contract, is_scratch=is_scratch, scratches=scratches)
    if buffer is None:
        return None
    draft = Binding(name=name, buffer=buffer, arg=arg, scratch=scratch)
    if buffer == "uniform":
        return _uniform(node, draft)
    return _storage(node, draft, denoted, contract, is_scratch=is_scratch, scratches=scratches)


def _name(node: Node | None, key: str) -> str:
    name = text(node, key)
    return "" if node is not None and name and _is_prototype_name(node, name) else name


def _is_prototype_name(node: Node, name: str) -> bool:
    if name in PROTOTYPE_NAMES:
        node.fail("prototype-name", f"{name} is a name every JavaScript object has; choose another")
        return True
    return False


def _buffer(
    node: Node, denoted: str, contract: Contract, *, is_scratch: bool, scratches: Scratches | None
) -> BufferKind | None:
    written = node.get_unless_null("buffer")
    if written is not None:
        return cast(BufferKind | None, word(written, "buffer", BUFFER_KINDS))
    if node.has("struct"):
        return "uniform"
    if is_scratch:
        return "storage"
    if contract.port(denoted) is not None:
        return _buffer_of_port(denoted, contract)
    if contract.complete:
        message = f"{shown(denoted)} is no port, so the binding needs a buffer ({', '.join(BUFFER_KINDS)})"
        hint = node.nearest(denoted, contract.port_names())
        if scratches and denoted in scratches:
            hint = "arg names a port; write scratch for an intermediate"
        node.fail("binding", message, hint=hint)
    return None


def _uniform(node: Node, draft: Binding) -> Binding | None:
    for key in ("elementType", "length"):
        member = node.get(key)
        if member is not None:
            member.fail("uniform", f"a uniform binding has no {key}; its struct says it all", key=True)
    struct_name = text(node.get("structName"), "structName", default="Params")
    struct = required(node, "struct", "a uniform binding")
    if struct is None or expect_list(struct, "struct") is None:
        return None
    fields: dict[str, Field] = {}
    for item in struct.elements():
        made = _parse_field(item)
        if made is not None and made.name in fields:
            item.fail("duplicate", f"the struct has two fields called {shown(made.name)}")
        elif made is not None:
            fields[made.name] = made
    return replace(draft, struct_name=struct_name, fields=tuple(fields.values()))


def _parse_field(node: Node) -> Field | None:
    if expect_object(node, "a struct field") is None:
        return None
    expect_keys(node, FIELD_KEYS, "a struct field", {"description": "write a member called $comment"})
    name_node = required(node, "name", "a struct field")
    name = text(name_node, "the name of a field")
    if name_node is not None and name:
        identifier(name_node, name, "the name of a field", key=False)
        _is_prototype_name(name_node, name)
    kind = word(required(node, "type", "a struct field"), "the type of a field", FIELD_TYPES)
    internal = boolean(node.get("internal"), "internal")
    needed = node.get_unless_null("required")
    value, default = node.get_unless_null("value"), node.get("default")
    return Field(
        name=name,
        type=cast(Literal["u32", "i32", "f32"], kind or "u32"),
        value=ABSENT if value is None else value.value,
        default=ABSENT if default is None else default.value,
        required=not internal if needed is None else _is_truthy(needed),
        internal=internal,
    )


def _is_truthy(node: Node) -> bool:
    """As JavaScript sees it: lists and objects are true, empty ones too."""
    return isinstance(node.value, list | dict) or bool(node.value)


def _storage(
    node: Node, draft: Binding, denoted: str, contract: Contract, *, is_scratch: bool, scratches: Scratches | None
) -> Binding | None:
    for key in ("struct", "structName"):
        member = node.get(key)
        if member is not None:
            member.fail("storage", f"a {draft.buffer} binding has no {key}; only a uniform has", key=True)
            return None
    length = _length(node.get("length"))
    element_node = node.get("elementType")
    if element_node is not None:
        element = text(element_node, "elementType")
        if not is_scratch:
            _check_opaque(element_node, element, denoted, contract)
        return replace(draft, element_type=element, length=length) if element else None
    default = _default_element(node, denoted, is_scratch, contract, scratches)
    return replace(draft, element_type=default, length=length) if default else None


def _default_element(
    node: Node, denoted: str, is_scratch: bool, contract: Contract, scratches: Scratches | None
) -> str | None:
    if is_scratch:
        known = (scratches or {}).get(denoted)
        if known is not None:
            return WGSL_SCALARS.get(known.dtype, "f32")
        if scratches is None:
            node.fail("element-type", "a handle for an intermediate needs an elementType; it belongs to no variant")
        elif contract.complete:
            hint = node.nearest(denoted, scratches)
            node.fail("scratch", f"the variant has no intermediate called {shown(denoted)}", hint=hint)
        return None
    if denoted in contract.broken:
        return None
    port = contract.port(denoted)
    if port is not None:
        element = contract.element_type(port)
        if element is None:
            node.fail("element-type", f"the port {denoted} has no dtype, so its binding needs an elementType")
        return element
    if contract.complete:
        message = f"{shown(denoted)} is no port, so the binding needs an elementType"
        node.fail("element-type", message, hint=node.nearest(denoted, contract.port_names()))
    return None


def _check_opaque(node: Node, element: str, denoted: str, contract: Contract) -> None:
    port = contract.port(denoted)
    if port is None or not element or element.startswith("$") or not contract.is_opaque_int64(port):
        return
    if _BLANKS.sub("", element) != OPAQUE_ELEMENT:
        message = f"{denoted} holds int64, which shaders see as {OPAQUE_ELEMENT}, not as {shown(element)}"
        node.fail("element-type", message, hint="declare a storage of int32 or uint32 to compute with it")


def _length(node: Node | None) -> int | str | None:
    if node is None:
        return None
    value = node.value
    if isinstance(value, str) and value.startswith("$") and len(value) > 1:
        return value
    if is_natural(value) and value:
        return int(cast(int, value))
    node.fail("length", f"a length is a positive whole number or the $name of a derive, not {node.shown}")
    return None


def _targeted(node: Node, entry: Binding | None, contract: Contract, scratches: Scratches) -> Binding | None:
    """The entry, if what it binds exists in this variant."""
    if entry is None or entry.buffer == "uniform":
        return entry
    if entry.scratch is not None and entry.scratch != entry.name:
        if entry.scratch in scratches or not contract.complete:
            return entry
        hint = node.nearest(entry.scratch, scratches)
        node.fail("scratch", f"the variant has no intermediate called {shown(entry.scratch)}", hint=hint)
        return None
    denoted = entry.arg or entry.name
    if entry.name in scratches or contract.port(denoted) is not None or not contract.complete:
        return entry
    if denoted in scratches:
        hint = "arg names a port; write scratch for an intermediate"
    else:
        hint = node.nearest(denoted, [*contract.port_names(), *scratches])
    node.fail("binding", f"{shown(denoted)} is neither a port nor an intermediate of this variant", hint=hint)
    return None
