"""How the elements of ports lie in buffers, and the parts that every shader of a package has in common.

Halves are words of two where the device has no 16-bit type (derive ``halves``); integers narrower than 32 bits and
booleans are one word each, as the loader widens them; int64 is two words.
"""

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from scanbuild.lowering import wgsl
from scanbuild.lowering.blocks import Value
from scanbuild.lowering.constants import BINDING, NAME, pool_sources
from scanbuild.lowering.elements import Emitter, Index, Load
from scanbuild.lowering.graph import Port, Scan
from scanbuild.lowering.names import Namer
from scanbuild.lowering.sizes import Size

SIZES: Final = "sizes"
"""The uniform with the sizes that a call brings along."""
_KEPT: Final = frozenset({"float32", "int32", "uint32"})


def symbols_of(scan: Scan) -> list[str]:
    """The symbols of a ``Scan``, in the order in which the ports bring them."""
    found: dict[str, None] = {}
    for port in scan.inputs:
        for size in port.shape:
            if size.symbol is not None:
                found.setdefault(size.symbol)
    return list(found)


def elements_name(port: str) -> str:
    return f"{port}_at"


def keeper_name(port: str) -> str:
    return f"keep_{port}"


def read_text(port: Port, at: str) -> str:
    """An element of an input, as the scalar that values of its dtype are computed in."""
    if port.dtype in ("float16", "int64"):
        return f"{elements_name(port.name)}({at})"
    element = f"{port.name}[{at}]"
    return f"({element} != 0u)" if port.dtype == "bool" else wgsl.wrapped(element, port.dtype)


def write_text(port: Port, at: str, value: str) -> str:
    """The statement that stores an element of an output."""
    if port.dtype == "float16":
        return f"{keeper_name(port.name)}({at}, {value});"
    return f"{port.name}[{at}] = {f'select(0u, 1u, {value})' if port.dtype == 'bool' else value};"


def reader(port: Port, position: Size | None = None, axis: int = 0) -> Load:
    """How a node reads a port: the whole, or the slice at a position along an axis."""

    def load(emit: Emitter, index: Index) -> Value:
        whole = index if position is None else (*index[:axis], position, *index[axis:])
        at = emit.index_value(emit.address(whole, port.shape))
        return Value(read_text(port, at.text), emit.made("", [at]).block, atomic=True)

    return load


def step_sources(scan: Scan, step: Size) -> dict[str, Load]:
    """How the elements of scan inputs in a step, and the captures and large constants, are read."""
    found: dict[str, Load] = {capture.node: reader(capture.port) for capture in scan.captures}
    found |= pool_sources(scan)
    for element in scan.elements:
        position = scan.steps - 1 - step if element.reverse else step
        found[element.node] = reader(element.port, position, element.axis)
    return found


def mentioned(scan: Scan, text: str) -> dict[str, Port]:
    """The scan inputs and captures that a shader's text reads."""
    ports = [*(element.port for element in scan.elements), *(capture.port for capture in scan.captures)]
    return {port.name: port for port in ports if re.search(rf"\b{port.name}(\[|_at\()", text)}


@dataclass(slots=True)
class Shader:
    """A shader's template in the making. ``reads`` and ``writes`` are the ports it binds, in the order of bindings."""

    scan: Scan
    heading: str
    reads: dict[str, Port] = field(default_factory=dict)
    writes: dict[str, Port] = field(default_factory=dict)

    def bindings(self, more: Sequence[Any], text: str) -> list[Any]:
        """The pass's list of bindings: inputs, outputs, what else there is, the sizes if its text has any."""
        found = [*self.reads, *self.writes, *more, *([dict(BINDING)] if f"{NAME}[" in text else [])]
        return [*found, SIZES] if f"{SIZES}." in text else found

    def text(self, main: str, *, tables: Iterable[str] = (), memory: Sequence[str] = (), more: str = "") -> str:
        """The whole template; ``memory`` are declarations of workgroup memory, ``more`` functions of its own."""
        parts = [self.heading, "{{ env.wgsl.resourceDeclarations }}\n"]
        parts += ["".join(f"{line}\n" for line in memory)] if memory else []
        parts += list(tables)
        if "workgroup_number(" in main:
            parts.append('{% include "_shared/workgroup-number.wgsl.jinja" %}\n')
        functions = self._accessors()
        helpers = wgsl.library(main + more)
        parts += [part for part in (functions, helpers, more, main) if part]
        return "\n".join(parts)

    def _accessors(self) -> str:
        lines: list[str] = []
        halves = [port for port in (*self.reads.values(), *self.writes.values()) if port.dtype == "float16"]
        if halves:
            lines += ['{% set accumulator = "f32" %}\n', '{% include "_shared/elements.wgsl.jinja" %}\n']
        for port in self.reads.values():
            if port.dtype == "float16":
                lines.append(f'{{{{ element_reader("{elements_name(port.name)}", "{port.name}", halves) }}}}\n')
            elif port.dtype == "int64":
                lines.append(
                    f"fn {elements_name(port.name)}(index: u32) -> vec2<u32> {{\n  return {port.name}[index];\n}}\n"
                )
        for port in self.writes.values():
            if port.dtype == "float16":
                lines.append(f'{{{{ element_writer("{keeper_name(port.name)}", "{port.name}", "f16", halves) }}}}\n')
        return "".join(lines)


def namer(scan: Scan) -> Namer:
    """Gives names that are free in every shader of the package."""
    names = Namer()
    taken = {port.name for port in (*scan.inputs, *scan.results)}
    taken |= {form(port.name) for port in (*scan.inputs, *scan.results) for form in (elements_name, keeper_name)}
    for name in [
        *sorted(taken),
        *sorted(wgsl.reserved()),
        SIZES,
        NAME,
        "workgroup",
        "local",
        "step",
        "lane",
        "element",
        "turn",
    ]:
        names.take(name)
    return names


def shape_text(sizes: Iterable[Size]) -> str:
    """A shape as people write it."""
    return f"[{', '.join(map(str, sizes))}]"


def as_json(size: Size) -> int | str:
    """A size as a number, or as an expression of the loader's language."""
    return str(size) if size.number is None else size.number


def at_most(size: Size, limit: int) -> str:
    """A clause that a size is at most a number: of a symbol alone, where that can be said."""
    constant = next((factor for monomial, factor in size.terms if not monomial), 0)
    rest = size - constant
    if len(rest.terms) == 1 and len(rest.symbols) == 1 and len(rest.terms[0][0]) == 1:
        return f"{rest.terms[0][0][0]} <= {(limit - constant) // rest.terms[0][1]}"
    common = math.gcd(*(factor for _, factor in rest.terms)) or 1
    reduced = Size(tuple((monomial, factor // common) for monomial, factor in rest.terms))
    return f"{reduced} <= {(limit - constant) // common}"
