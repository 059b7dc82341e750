"""A source package from a ``Scan`` and the variants that were drafted for it."""

import json
import textwrap
from collections.abc import Mapping, Sequence
from typing import Any, Final

from scanbuild.lowering import empty
from scanbuild.lowering.constants import with_constants
from scanbuild.lowering.draft import Variant
from scanbuild.lowering.elements import count
from scanbuild.lowering.graph import Port, Scan
from scanbuild.lowering.heading import formulas
from scanbuild.lowering.sizes import Size
from scanbuild.lowering.storage import SIZES, shape_text, symbols_of

_WIDTH: Final = 120
_WORDS: Final = ("NaN", "Infinity", "-Infinity")
"""What stands for a number that JSON does not have."""
_MOST_ELEMENTS: Final = 2**31
_SINCE: Final = (8, 9, 11, 16, 19, 21, 23, 24, 25)


def assemble(
    scan: Scan,
    variants: Sequence[Variant],
    op_id: str,
    description: str = "",
    tunables: Mapping[str, Any] | None = None,
) -> dict[str, str]:
    """The texts of ``manifest.json`` and of all templates, by file name.

    ``op_id`` is ``DOMAIN.NAME``; without a ``description`` one is made of the body. Variants come in the order of
    their priorities, the highest first.
    """
    variants = [with_constants(scan, _with_conditions(variant, empty.conditions(scan))) for variant in variants]
    if empty.is_needed(scan) and scan.states:
        variants.append(empty.draft(scan))
    files = {"manifest.json": pretty(manifest(scan, variants, op_id, description, tunables or {}))}
    for variant in variants:
        for name, text in variant.templates.items():
            if files.setdefault(name, text) != text:
                raise ValueError(f"two variants bring different templates called {name}")
    return files


def manifest(
    scan: Scan, variants: Sequence[Variant], op_id: str, description: str, tunables: Mapping[str, Any]
) -> dict[str, Any]:
    """The manifest as JSON."""
    domain, _, name = op_id.rpartition(".")
    ordered = sorted(variants, key=lambda variant: -variant.entry.get("priority", 0))
    made: dict[str, Any] = {
        "domain": domain,
        "name": name,
        "description": description or _description(scan),
        "conformance": "internal-lowering",
        "sinceVersion": max((version for version in _SINCE if version <= scan.opset), default=_SINCE[0]),
        "inputs": {port.name: _port(port, words) for port, words in _inputs(scan)},
        "outputs": {
            port.name: {**_port(port, words), "shape": [_dimension(size) for size in port.shape]}
            for port, words in _results(scan)
        },
    }
    if tunables:
        made["tunables"] = dict(tunables)
    derives = _derives(scan)
    if derives:
        made["derive"] = derives
    made["when"] = _conditions(scan)
    bindings = _bindings(scan)
    if bindings:
        made["bindings"] = bindings
    made["variants"] = [_ordered(variant.entry) for variant in ordered]
    return {key: _told(value) if key in ("inputs", "outputs") else value for key, value in made.items()}


def _with_conditions(variant: Variant, conditions: list[str]) -> Variant:
    if not conditions:
        return variant
    entry = {**variant.entry, "when": [*variant.entry.get("when", []), *conditions]}
    return Variant(entry=entry, templates=variant.templates)


_VARIANT_KEYS: Final = ("id", "description", "priority", "when", "demoteWhen", "requires", "tunables", "derive")


def _ordered(entry: Mapping[str, Any]) -> dict[str, Any]:
    """A variant's members in the order in which people write them."""
    return {key: entry[key] for key in (*_VARIANT_KEYS, *entry) if key in entry}


def _told(ports: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    order = ("dtype", "rank", "shape", "description")
    return {name: {key: port[key] for key in (*order, *port) if key in port} for name, port in ports.items()}


def _description(scan: Scan) -> str:
    body = "; ".join(formulas(scan))
    return f"The ONNX operator Scan with one fixed body, compiled into kernels. In each step: {body}."


def _port(port: Port, words: str) -> dict[str, Any]:
    made: dict[str, Any] = {"dtype": port.dtype, "rank": len(port.shape), "description": words}
    if port.onnx:
        made["onnx"] = port.onnx
    return made


def _inputs(scan: Scan) -> list[tuple[Port, str]]:
    found = [
        (state.initial, f"The state {state.before} before the first step: {shape_text(state.initial.shape)}.")
        for state in scan.states
    ]
    for element in scan.elements:
        order = "from the last to the first" if element.reverse else "from the first to the last"
        words = f"A scan input, walked along axis {element.axis} {order}: {shape_text(element.port.shape)}."
        found.append((element.port, words))
    return found + [
        (capture.port, f"A value that every step reads: {shape_text(capture.port.shape)}.") for capture in scan.captures
    ]


def _results(scan: Scan) -> list[tuple[Port, str]]:
    found = []
    for state in scan.states:
        words = f"The state {state.before} after the last step, or as it was at first if there are none:"
        found.append((state.final, f"{words} {shape_text(state.final.shape)}."))
    for output in scan.outputs:
        order = "the last step's value first" if output.prepend else "in the order of the steps"
        words = f"A scan output: the values of all steps along axis {output.axis}, {order}:"
        found.append((output.port, f"{words} {shape_text(output.port.shape)}."))
    return found


def _dimension(size: Size) -> int | str:
    return str(size) if size.number is None else size.number


def _origin(scan: Scan, symbol: str) -> tuple[Port, int]:
    """The first dimension of an input port that is a symbol and nothing else."""
    for port in scan.inputs:
        for axis, size in enumerate(port.shape):
            if size.symbol == symbol:
                return port, axis
    raise ValueError(f"no input brings the size {symbol}")


def _derives(scan: Scan) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for symbol in symbols_of(scan):
        port, axis = _origin(scan, symbol)
        found[symbol] = f"shapes.{port.name}[{axis}] if ranks.{port.name} == {len(port.shape)} else 0"
    if any(port.dtype == "float16" for port in (*scan.inputs, *scan.results)):
        found["halves"] = "not device.features.has('shader-f16')"
        found["readElement"] = "'u32' if halves else 'f16'"
        found["writeElement"] = "'atomic<u32>' if halves else 'f16'"
    return found


def _conditions(scan: Scan) -> list[str]:
    """That the shapes are as declared: one clause a port, then what concerns several."""
    found: list[str] = []
    for port in scan.inputs:
        parts = [f"ranks.{port.name} == {len(port.shape)}"]
        for axis, size in enumerate(port.shape):
            if size.symbol is None or _origin(scan, size.symbol) != (port, axis):
                parts.append(f"shapes.{port.name}[{axis}] == {_dimension(size)}")
        found.append(" and ".join(parts))
    found += [f"{left} == {right}" for left, right in scan.equalities]
    for port in scan.results:
        dimensions = ", ".join(str(_dimension(size)) for size in port.shape)
        found.append(f"sameShape(shapes.{port.name}, [{dimensions}])")
    shapes: dict[Any, Port] = {}
    for port in (*scan.inputs, *scan.results):
        if any(size.number is None for size in port.shape):
            shapes.setdefault(count(port.shape), port)
    found += [f"numel(shapes.{port.name}) < {_MOST_ELEMENTS}" for port in shapes.values()]
    found += [f"{size} >= 0" for size in scan.nonnegative]
    return found


def _bindings(scan: Scan) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for port in scan.inputs:
        if port.dtype == "float16":
            found[port.name] = {"arg": port.name, "buffer": "read-only-storage", "elementType": "$readElement"}
    for port in scan.results:
        if port.dtype == "float16":
            found[port.name] = {"arg": port.name, "buffer": "storage", "elementType": "$writeElement"}
    symbols = symbols_of(scan)
    if symbols:
        fields = [{"name": symbol, "type": "u32", "value": symbol} for symbol in symbols]
        found[SIZES] = {"name": SIZES, "structName": "Sizes", "struct": fields}
    return found


def pretty(value: Any, indent: int = 0, before: int = 0) -> str:
    """JSON as people write it: what is short on one line, the rest with a line a member."""
    compact = json.dumps(value, ensure_ascii=False)
    compact = _spaced(value) if isinstance(value, dict | list) else compact
    if not isinstance(value, dict | list) or not value:
        return compact + ("\n" if indent == 0 else "")
    inner = "  " * (indent + 1)
    short = len(compact) + before + 2 * indent < _WIDTH and indent > 0 and _depth(value) <= 2
    if short:
        return compact
    if isinstance(value, dict):
        lines = [
            f"{inner}{json.dumps(key, ensure_ascii=False)}: {pretty(item, indent + 1, len(key) + 4)}"
            for key, item in value.items()
        ]
    elif not all(isinstance(item, int | float) or item in _WORDS for item in value):
        lines = [f"{inner}{pretty(item, indent + 1)}" for item in value]
    else:
        numbers = ", ".join(json.dumps(item, ensure_ascii=False) for item in value)
        filled = textwrap.wrap(numbers, _WIDTH - len(inner), break_long_words=False, break_on_hyphens=False)
        lines = [inner + f"\n{inner}".join(filled)]
    opening, closing = "{}" if isinstance(value, dict) else "[]"
    text = f"{opening}\n" + ",\n".join(lines) + f"\n{'  ' * indent}{closing}"
    return text + ("\n" if indent == 0 else "")


def _spaced(value: Any) -> str:
    """On one line, with blanks inside of braces."""
    if isinstance(value, dict):
        inner = ", ".join(f"{json.dumps(key, ensure_ascii=False)}: {_spaced(item)}" for key, item in value.items())
        return f"{{ {inner} }}" if inner else "{}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_spaced, value))}]"
    return json.dumps(value, ensure_ascii=False)


def _depth(value: Any) -> int:
    if isinstance(value, dict):
        return 1 + max(map(_depth, value.values()), default=0)
    if isinstance(value, list | tuple):
        return 1 + max(map(_depth, value), default=0)
    return 0
