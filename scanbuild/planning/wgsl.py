"""From a rendered text to a shader module: binding declarations (5.1), enable lines (5.2), sized types (5.3)."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from scanbuild.dialect import WHITE_SPACE
from scanbuild.package.model import Binding, BufferKind, Field
from scanbuild.planning.failures import fail
from scanbuild.planning.uniforms import padded_fields

# What the loader's patterns take for blanks is JavaScript's white space, which is not Python's.
BLANK: Final = f"[{re.escape(WHITE_SPACE)}]"

IDENTIFIER: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")

_ACCESS: Final[dict[BufferKind, str]] = {
    "read-only-storage": "storage, read",
    "storage": "storage, read_write",
    "uniform": "uniform",
}

_SIZED: Final = re.compile(
    rf"(?:(?P<scalar>f32|u32|i32|f16)|atomic<{BLANK}*(?:u32|i32){BLANK}*>"
    rf"|vec(?P<width>[234])<{BLANK}*(?P<part>f32|u32|i32|f16){BLANK}*>)\Z"
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Declaration:
    """A binding with its ``$name`` references resolved: what its declaration line says."""

    binding: Binding
    element_type: str = ""
    length: int | None = None


def declarations(items: Sequence[Declaration]) -> str:
    """The text of ``env.wgsl.resourceDeclarations``: struct lines, then a line a binding; no trailing newline."""
    structs: dict[str, str] = {}
    lines = []
    for index, item in enumerate(items):
        binding = item.binding
        if binding.buffer == "uniform":
            structs.setdefault(binding.struct_name, _struct_line(binding))
            kind = binding.struct_name
        else:
            kind = f"array<{item.element_type}{'' if item.length is None else f', {item.length}u'}>"
        lines.append(f"@group(0) @binding({index}) var<{_ACCESS[binding.buffer]}> {binding.name}: {kind};")
    return "\n".join([*structs.values(), *lines])


def check_structs(bindings: Sequence[Binding], where: str, path: str) -> None:
    """CallError where a struct name is no identifier, or stands for two schemas in one pass."""
    schemas: dict[str, tuple[object, ...]] = {}
    for binding in bindings:
        if binding.buffer != "uniform":
            continue
        name = binding.struct_name
        if not IDENTIFIER.match(name):
            raise fail(
                f"{where}: binding `{binding.name}` has the struct name `{name}`, which is no identifier",
                rule="struct-name",
                path=path,
            )
        schema = tuple(_schema(field) for field in binding.fields)
        if schemas.setdefault(name, schema) != schema:
            raise fail(
                f"{where}: two uniforms with different fields share the struct name `{name}`",
                hint=f"give binding `{binding.name}` a `structName` of its own",
                rule="struct-clash",
                path=path,
            )


def _struct_line(binding: Binding) -> str:
    members = ", ".join(f"{name}: {kind}" for name, kind in padded_fields(binding.fields))
    return f"struct {binding.struct_name} {{ {members} }};"


def _schema(field: Field) -> tuple[object, ...]:
    # repr tells the number 1 from the text "1" and from true; whole floats are integers in JSON.
    default = field.default
    if isinstance(default, float) and default.is_integer():
        default = int(default)
    return (field.name, field.type, field.required, field.internal, repr(default))


def sized_bytes(element_type: str) -> int | None:
    """Bytes of one element of a sized array, None for a type a sized array may not have (5.3)."""
    match = _SIZED.match(element_type)
    if match is None:
        return None
    if match["width"]:
        components = {"2": 2, "3": 4, "4": 4}[match["width"]]
        return components * (2 if match["part"] == "f16" else 4)
    return 2 if match["scalar"] == "f16" else 4


def strip_comments(text: str) -> str:
    """The text without comments, nothing in their place, so that the pieces around them join."""
    pieces = []
    position = 0
    while True:
        match = _COMMENT_START.search(text, position)
        if match is None:
            pieces.append(text[position:])
            return "".join(pieces)
        pieces.append(text[position : match.start()])
        position = _comment_end(text, match)


_COMMENT_START: Final = re.compile(r"//|/\*")
_COMMENT_EDGE: Final = re.compile(r"/\*|\*/")


def _comment_end(text: str, start: "re.Match[str]") -> int:
    if start[0] == "//":
        newline = text.find("\n", start.end())
        return len(text) if newline < 0 else newline
    depth, position = 1, start.end()
    while depth:
        edge = _COMMENT_EDGE.search(text, position)
        if edge is None:
            return len(text)
        depth += 1 if edge[0] == "/*" else -1
        position = edge.end()
    return position


# JavaScript lines also begin after a carriage return and the two Unicode line ends. The patterns below run on hostile
# texts of megabytes, so none of them may look at a piece of text twice: hence the possessive quantifiers.
_LINE_ENDS: Final = "\n\r\u2028\u2029"
_BLANK_IN_LINE: Final = f"[{re.escape(''.join(sign for sign in WHITE_SPACE if sign not in _LINE_ENDS))}]"
_ENABLE: Final = re.compile(rf"(?:^|(?<=[{_LINE_ENDS}])){_BLANK_IN_LINE}*enable{BLANK}+([^;]*);")
_F16: Final = re.compile(
    r"\bf16\b"
    r"|(?<![\w.])(?:"
    r"0[xX](?:[0-9a-fA-F]++(?:\.[0-9a-fA-F]*+)?|\.[0-9a-fA-F]++)[pP][+-]?[0-9]++"
    r"|(?:[0-9]++(?:\.[0-9]*+)?|\.[0-9]++)(?:[eE][+-]?[0-9]++)?"
    r")h\b",
    re.ASCII,
)
_SUBGROUPS: Final = re.compile(
    r"\b(?:subgroup(?:Add|ExclusiveAdd|InclusiveAdd|Mul|ExclusiveMul|InclusiveMul|And|Or|Xor|Min|Max|All|Any|Ballot"
    r"|Elect|Broadcast|BroadcastFirst|Shuffle|ShuffleXor|ShuffleUp|ShuffleDown)"
    rf"|quad(?:Broadcast|SwapX|SwapY|SwapDiagonal)){BLANK}*\("
    rf"|@builtin{BLANK}*\({BLANK}*(?:subgroup_invocation_id|subgroup_size|subgroup_id|num_subgroups){BLANK}*\)",
    re.ASCII,
)
_SUBGROUP_SIZE: Final = re.compile(rf"@subgroup_size{BLANK}*\(")

_EXTENSIONS: Final = (("f16", _F16), ("subgroups", _SUBGROUPS), ("subgroup_size_control", _SUBGROUP_SIZE))


def inject_enables(text: str) -> str:
    """The text with the ``enable`` lines on top that it needs and lacks (5.2)."""
    bare = strip_comments(text)
    named = enabled_extensions(bare)
    missing = [name for name, trigger in _EXTENSIONS if name not in named and trigger.search(bare)]
    return "".join(f"enable {name};\n" for name in missing) + text


def enabled_extensions(bare: str) -> frozenset[str]:
    """The extensions that the ``enable`` directives of a text without comments name."""
    directives = _ENABLE.finditer(bare, 0, bare.rfind(";") + 1)
    names = (name.strip(WHITE_SPACE) for directive in directives for name in directive[1].split(","))
    return frozenset(name for name in names if name)
