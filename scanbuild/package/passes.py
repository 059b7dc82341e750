"""Passes, repeat groups, dispatches (2.13) and intermediates (2.12) of a variant."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Final, cast

from scanbuild.package.bindings import Scratches, resolve_member
from scanbuild.package.contract import Contract
from scanbuild.package.jsonfile import json_path
from scanbuild.package.model import ABSENT, Binding, Dispatch, Intermediate, Json, Pass, RepeatGroup
from scanbuild.package.parameters import parse_derive
from scanbuild.package.report import Node, listed, shown
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
from scanbuild.package.vocabulary import LOGICAL_DTYPES, is_stable_id

PASS_KEYS: Final = (
    "id",
    "name",
    "shader",
    "bindings",
    "dispatch",
    "derive",
    "profile",
    "subgroupCollectivesWidth",
    "submitAfter",
    "viewAlias",
)
DISPATCH_FORMS: Final = (("x", "y", "z"), ("threads", "workgroupSize"), ("workgroups",))
COLLECTIVES_WIDTHS: Final = (4, 8, 16, 32, 64, 128)
MAX_LABEL: Final = 1024
"""So much of ``<op id>.<variant id>`` goes into a default name, a mere label: a manifest can have many passes."""

MAX_PASSES: Final = 1500
"""So many passes and groups may stand in one list. Published packages have a handful, and repeat what they do often."""

MAX_GROUP_DEPTH: Final = 32
"""Repeat groups may nest this deep here. The loader has no limit; more than three levels have not been seen."""

_PASS_ADVICE: Final = {
    "source": "the shader is a file: name it in shader",
    "constants": "use derive",
    "entryPoint": "the entry point is always main",
    "when": "conditions belong to the variant; a zero dispatch skips a pass",
    "requires": "requirements belong to the variant",
    "tunables": "tunables belong to the variant",
    "description": "write a member called $comment",
    "use": "shared fragments have to be expanded before publishing",
    "intermediates": "intermediates belong to the variant",
    "passes": "a group of passes needs a member called repeat",
}
_UNEXPANDED: Final = ("use", "passes")
"""With one of these and no shader, the unknown member is the mistake; what is missing follows from it."""

_DISPATCH_ADVICE: Final = {"gridStride": "the folded grid is implied by threads or workgroups"}


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What the passes of one variant may refer to."""

    contract: Contract
    handles: Mapping[str, Binding | None]
    scratches: Scratches
    label: str
    """``<op id>.<variant id>``, the beginning of a pass's default name."""


def parse_intermediates(node: Node | None, contract: Contract) -> dict[str, Intermediate] | None:
    """The scratch tensors by id, of equal ids the last one; None if mistakes hide which there are."""
    if node is None:
        return {}
    if expect_list(node, "intermediates", empty=True) is None:
        return None
    found = [_parse_intermediate(item, contract) for item in node.elements()]
    return None if None in found else {item.id: item for item in found if item is not None}


def _parse_intermediate(node: Node, contract: Contract) -> Intermediate | None:
    if expect_object(node, "an intermediate") is None:
        return None
    id_node = required(node, "id", "an intermediate")
    name = text(id_node, "the id of an intermediate")
    if id_node is not None and name and contract.port(name) is not None:
        id_node.fail("name-taken", f"{name} is a port already; an intermediate needs an id of its own")
    dtype_node = required(node, "dtype", "an intermediate")
    dtypes = tuple(dtype for dtype in LOGICAL_DTYPES if dtype != "int64")
    dtype = word(dtype_node, "the dtype of an intermediate", dtypes)
    zero = node.get("zeroInit")
    if zero is not None and zero.value is not True:
        zero.fail(
            "type", f"zeroInit is true or not there, not {zero.shown}", hint="intermediates start as zeros anyway"
        )
    shape = node.get("shape")
    if not name:
        return None
    return Intermediate(
        id=name,
        dtype=dtype or "float32",
        shape=ABSENT if shape is None else shape.value,
        zero_init=zero is not None,
    )


def parse_passes(node: Node, around: Surroundings, enclosing: tuple[str, ...] = ()) -> tuple[Pass | RepeatGroup, ...]:
    """A list of passes and repeat groups; ``enclosing`` are the index names of the groups around it."""
    if expect_list(node, "passes") is None:
        return ()
    if isinstance(node.value, list) and len(node.value) > MAX_PASSES:
        node.fail("limit-passes", f"{len(node.value)} passes in one list; {MAX_PASSES} are the limit")
        return ()
    parsed: list[Pass | RepeatGroup] = []
    for index, item in enumerate(node.elements()):
        group = item.has("repeat")
        made = _parse_group(item, index, around, enclosing) if group else _parse_pass(item, index, around)
        if made is not None:
            parsed.append(made)
    return tuple(parsed)


def _parse_group(node: Node, position: int, around: Surroundings, enclosing: tuple[str, ...]) -> RepeatGroup | None:
    id_node = node.get_unless_null("id")
    group_id = text(id_node, "the id of a repeat group", default=f"repeat_{position}")
    if id_node is not None and not is_stable_id(group_id):
        message = f"the id of a repeat group has letters, digits and underscores, not {shown(group_id)}"
        id_node.fail("id", message, hint="it may not begin with an underscore")
    repeat = cast(Node, node.get("repeat"))
    index, count = "", cast(Json, None)
    if expect_object(repeat, "repeat") is not None:
        index = _index_name(repeat, enclosing)
        count_node = required(repeat, "count", "repeat")
        count = count_node.value if count_node is not None else None
    passes = required(node, "passes", "a repeat group")
    if passes is None:
        return None
    if len(enclosing) >= MAX_GROUP_DEPTH:
        node.fail("limit-depth", f"repeat groups nest deeper than {MAX_GROUP_DEPTH} levels")
        return None
    inner = parse_passes(passes, around, (*enclosing, index))
    return RepeatGroup(id=group_id, index=index, count=count, passes=inner, path=_written(node))


def _index_name(repeat: Node, enclosing: Collection[str]) -> str:
    node = required(repeat, "index", "repeat")
    name = text(node, "the index of a repeat group")
    if node is None or not name or not identifier(node, name, "the index of a repeat group", key=False):
        return name
    if name in ("index", "count"):
        node.fail("reserved", f"repeat has a member called {name} already; choose another index name")
    elif name in enclosing:
        node.fail("duplicate", f"a repeat group around this one has the index {name} already")
    return name


def _parse_pass(node: Node, position: int, around: Surroundings) -> Pass | None:
    if expect_object(node, "a pass") is None:
        return None
    expect_keys(node, PASS_KEYS, "a pass", _PASS_ADVICE)
    if not node.has("shader") and any(node.has(key) for key in _UNEXPANDED):
        return None
    pass_id = text(node.get_unless_null("id"), "the id of a pass", default=f"pass_{position}")
    bindings = _parse_bindings(required(node, "bindings", "a pass"), around)
    derive = parse_derive(node.get("derive"), around.contract.type_constraints)
    profile = node.get("profile")
    return Pass(
        id=pass_id,
        name=text(node.get("name"), "the name of a pass", default=f"{around.label[:MAX_LABEL]}.{pass_id}"),
        shader=text(required(node, "shader", "a pass"), "shader"),
        bindings=tuple(binding for binding in bindings if binding is not None),
        dispatch=_parse_dispatch(required(node, "dispatch", "a pass")),
        derive=derive,
        profile=profile.value if profile is not None and isinstance(profile.value, dict | list | str) else {},
        subgroup_collectives_width=_collectives_width(node.get("subgroupCollectivesWidth")),
        submit_after=boolean(node.get("submitAfter"), "submitAfter"),
        view_alias=_parse_aliases(node.get_unless_null("viewAlias"), bindings),
        path=_written(node),
    )


def _written(node: Node) -> str:
    return json_path(node.report.written(node.path))


def _parse_bindings(node: Node | None, around: Surroundings) -> list[Binding | None]:
    """The list; None stands for a member that is wrong, and reported."""
    if node is None or expect_list(node, "bindings") is None:
        return []
    found: dict[str, Binding] = {}
    bindings: list[Binding | None] = []
    for item in node.elements():
        binding = resolve_member(item, around.contract, around.scratches, around.handles)
        bindings.append(binding)
        if binding is not None and binding.name in found:
            hint = "one tensor may be bound twice under two names"
            item.fail("duplicate", f"two bindings of the pass are called {binding.name}", hint=hint)
        elif binding is not None:
            found[binding.name] = binding
    return bindings


def _parse_dispatch(node: Node | None) -> Dispatch:
    if node is None or expect_object(node, "a dispatch") is None:
        return Dispatch(form="grid")
    keys = [key for form in DISPATCH_FORMS for key in form]
    expect_keys(node, keys, "a dispatch", _DISPATCH_ADVICE)
    forms = [form for form in DISPATCH_FORMS if any(node.has(key) for key in form)]
    if len(forms) != 1:
        if any(key in keys for key, _ in node.members()) or not node.value:
            found = " together with ".join(key for key, _ in node.members() if key in keys) or "nothing"
            ways = listed("{" + ", ".join(form) + "}" for form in DISPATCH_FORMS)
            node.fail("dispatch", f"a dispatch is one of {ways}; this one has {found}")
        return Dispatch(form="grid")
    sizes = {key: _size(node.get(key), key) for key in forms[0]}
    for key in ("x",) if forms[0][0] == "x" else forms[0]:
        required(node, key, "a dispatch" if key == "x" else f"a dispatch with {forms[0][0]}")
    if "x" in sizes:
        return Dispatch(form="grid", **sizes)
    if "threads" in sizes:
        return Dispatch(form="threads", threads=sizes["threads"], workgroup_size=sizes["workgroupSize"])
    return Dispatch(form="workgroups", workgroups=sizes["workgroups"])


def _size(node: Node | None, key: str) -> str | int:
    if node is None:
        return 1
    if isinstance(node.value, str):
        return node.value
    if is_natural(node.value):
        return int(cast(int, node.value))
    node.fail("dispatch", f"{key} has to be an expression or a whole number from 0, not {node.shown}")
    return 1


def _collectives_width(node: Node | None) -> str | int | None:
    if node is None:
        return None
    if node.value == "portable" or (node.value in COLLECTIVES_WIDTHS and not isinstance(node.value, bool)):
        return cast(str | int, node.value)
    hint = f"one of portable, {', '.join(map(str, COLLECTIVES_WIDTHS))}"
    node.fail("word", f"subgroupCollectivesWidth cannot be {node.shown}", hint=hint)
    return None


def _parse_aliases(node: Node | None, bindings: list[Binding | None]) -> tuple[tuple[str, str], ...]:
    if node is None or expect_list(node, "viewAlias", optional=True) is None:
        return ()
    buffers = {binding.name: binding.buffer for binding in bindings if binding is not None}
    certain = None not in bindings
    pairs = []
    for item in node.elements():
        if expect_object(item, "a viewAlias pair") is None:
            continue
        pair = []
        for key, buffer in (("input", "read-only-storage"), ("output", "storage")):
            member = required(item, key, "a viewAlias pair")
            name = text(member, key)
            pair.append(name)
            if member is None or not name:
                continue
            if name not in buffers and certain:
                hint = member.nearest(name, buffers)
                member.fail("view-alias", f"the pass has no binding called {shown(name)}", hint=hint)
            elif name in buffers and buffers[name] != buffer:
                member.fail("view-alias", f"{key} has to be a {buffer} binding; {name} is {buffers[name]}")
        pairs.append((pair[0], pair[1]))
    return tuple(pairs)
