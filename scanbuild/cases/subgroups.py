"""A WGSL text with its subgroup operations done by way of workgroup memory, for subgroups of any size.

Running it tells whether a result is right for another size of subgroups than the device's: then the shader relies on
that. Scalars of one type are covered, and texts whose entry point takes its built-in values one by one; the compiler
refuses what comes out of others.
"""

import re
from collections.abc import Iterator
from typing import Final

from scanbuild.cases.wgsltext import bodies, closing, plain_text

SIZES: Final = (32, 64, 16, 8, 4, 128)
"""Sizes that devices have, the most usual ones first."""

_CALL: Final = re.compile(r"\bsubgroup(\w+)\s*\(")
_MAIN: Final = re.compile(r"\bfn\s+main\s*\(")
_WORKGROUP: Final = re.compile(r"@workgroup_size\s*\(")
_BUILTIN: Final = re.compile(r"@builtin\(\s*(\w+)\s*\)\s*(\w+)\s*:\s*u32\s*,?")
_TYPES: Final = ("f32", "u32", "i32", "f16")
_REDUCTIONS: Final = {
    "Add": "result + other",
    "Mul": "result * other",
    "Min": "min(result, other)",
    "Max": "max(result, other)",
    "And": "result & other",
    "Or": "result | other",
    "Xor": "result ^ other",
}
_SCANS: Final = {
    "InclusiveAdd": ("0", "result + other", "lane + 1u"),
    "ExclusiveAdd": ("0", "result + other", "lane"),
    "InclusiveMul": ("1", "result * other", "lane + 1u"),
    "ExclusiveMul": ("1", "result * other", "lane"),
}
_MOVES: Final = {
    "Broadcast": "at",
    "Shuffle": "at",
    "ShuffleXor": "lane ^ at",
    "ShuffleUp": "lane - at",
    "ShuffleDown": "lane + at",
}


def uses_subgroups(wgsl: str) -> bool:
    """Whether a text has subgroup operations."""
    return _CALL.search(plain_text(wgsl)) is not None


def with_subgroups_of(wgsl: str, size: int) -> Iterator[str]:
    """The text for subgroups of so many invocations, once for each scalar type that its operations may have."""
    plain = plain_text(wgsl)
    main = _MAIN.search(plain)
    workgroup = _WORKGROUP.search(plain)
    body = next((start for start, _, name in bodies(plain) if name == "main"), None)
    if main is None or workgroup is None or body is None:
        return
    sizes = plain[workgroup.end() : closing(plain, workgroup.end() - 1, "()")].split(",")
    total = " * ".join(f"u32({part.strip()})" for part in sizes if part.strip())
    parameters = plain[main.end() : closing(plain, main.end() - 1, "()")]
    names = {found[1]: found[2] for found in _BUILTIN.finditer(parameters)}
    index = names.get("local_invocation_index", "scanbuild_given")
    given = _BUILTIN.sub(lambda found: "" if "subgroup" in found[1] else found[0], parameters)
    if "local_invocation_index" not in names:
        given = f"@builtin(local_invocation_index) scanbuild_given: u32, {given}"
    opening = f" scanbuild_index = {index};{_lets(names, size)} "
    end = main.end() + len(parameters)
    operations = sorted(set(_CALL.findall(plain)))
    text = f"{plain[: main.end()]}{given}{plain[end:body]}{opening}{plain[body:]}"
    text = _CALL.sub(lambda found: f"scanbuild_subgroup{found[1]}(", text)
    for kind in _TYPES:
        if kind != "f16" or "enable f16" in plain:
            yield text + _helpers(operations, kind, size, total)


def _lets(names: dict[str, str], size: int) -> str:
    """Declarations in place of the built-in values of subgroups."""
    values = {
        "subgroup_size": f"{size}u",
        "subgroup_invocation_id": f"scanbuild_index % {size}u",
        "subgroup_id": f"scanbuild_index / {size}u",
    }
    return "".join(f" let {names[name]} = {value};" for name, value in values.items() if name in names)


def _helpers(operations: list[str], kind: str, size: int, total: str) -> str:
    head = (
        f"\nvar<private> scanbuild_index: u32;\n"
        f"var<workgroup> scanbuild_cells: array<{kind}, {total}>;\n"
        f"fn scanbuild_put(value: {kind}) {{ workgroupBarrier(); scanbuild_cells[scanbuild_index] = value; "
        f"workgroupBarrier(); }}\n"
    )
    return head + "".join(_helper(name, kind, size, total) for name in operations)


def _helper(name: str, kind: str, size: int, total: str) -> str:
    base = f"let base = scanbuild_index / {size}u * {size}u; let lane = scanbuild_index - base;"
    opening = f"fn scanbuild_subgroup{name}(value: {kind}"
    if name in _REDUCTIONS:
        step = f"let other = scanbuild_cells[base + k]; result = {_REDUCTIONS[name]};"
        loop = f"for (var k = 1u; k < {size}u && base + k < {total}; k++) {{ {step} }}"
        body = f"scanbuild_put(value); {base} var result = scanbuild_cells[base]; {loop} return result;"
        return f"{opening}) -> {kind} {{ {body} }}\n"
    if name in _SCANS:
        start, combined, end = _SCANS[name]
        loop = f"for (var k = 0u; k < {end}; k++) {{ let other = scanbuild_cells[base + k]; result = {combined}; }}"
        body = f"scanbuild_put(value); {base} var result = {kind}({start}); {loop} return result;"
        return f"{opening}) -> {kind} {{ {body} }}\n"
    if name in _MOVES:
        cell = f"scanbuild_cells[min(base + ({_MOVES[name]}) % {size}u, {total} - 1u)]"
        return f"{opening}, at: u32) -> {kind} {{ scanbuild_put(value); {base} return {cell}; }}\n"
    if name == "BroadcastFirst":
        return f"{opening}) -> {kind} {{ scanbuild_put(value); {base} return scanbuild_cells[base]; }}\n"
    if name == "Elect":
        return f"fn scanbuild_subgroupElect() -> bool {{ return scanbuild_index % {size}u == 0u; }}\n"
    return ""
