"""Printing a ``Scan`` as the ``reference.py`` of its package: a loop over the steps, in NumPy alone.

References of other packages compute floats in float64. This one rounds every operation to its dtype, as the
interpreter, ONNX Runtime and the kernels do, because a body may branch: where a state is compared with a limit, or cast
to an integer, a value that is too exact takes the other branch, and is wrong by far more than any rounding.
"""

import inspect
import keyword
import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from scanbuild.lowering import numerics
from scanbuild.lowering.graph import Element, Node, Output, Scan
from scanbuild.lowering.interpreter import split_invariant
from scanbuild.lowering.notation import expression, sizes_text
from scanbuild.lowering.sizes import Size

Array = npt.NDArray[Any]

_HEAD: Final = '''"""The expected values of `{op_id}`: the ONNX Scan {name}, step by step.

Written by `scanbuild lower`. Every operation rounds to its dtype, as ONNX Runtime's operators and the kernels do: a
value that is more exact than theirs may take another branch of the body.
"""
'''
_SIZED: Final = ("starts", "before", "after")
_WIDTH: Final = 118
_RESERVED: Final = frozenset(
    {"np", "math", "Any", "Array", "reference", "inputs", "attrs", "args", "step", "inspect"} | set(numerics.HELPERS)
)


def print_reference(scan: Scan, op_id: str) -> str:
    """The text of ``reference.py``; its function gives exactly what ``run_scan`` gives."""
    names = _Names(scan)
    fixed, looped = (tuple(map(names.renamed, nodes)) for nodes in split_invariant(scan))
    body = [
        *_bindings(scan, names),
        *_lines(fixed, names),
        *(f"{names[state.before]} = {names.port(state.initial.name)}" for state in scan.states),
        *(f"{names.port(output.port.name)} = []" for output in scan.outputs),
        f"for step in range({names.size(scan.steps)}):",
        *(f"    {line}" for line in _step(scan, looped, names)),
        *_results(scan, names),
    ]
    helpers = _helpers(body)
    typed = any("Any" in helper or "Array" in helper for helper in helpers)
    standard = [
        *(["import math"] if "math." in "".join(helpers) else []),
        *(["from typing import Any"] if typed else []),
    ]
    blocks = [
        _HEAD.format(op_id=op_id, name=_quoted(scan.name)),
        *(["\n".join(standard) + "\n"] if standard else []),
        "import numpy as np\n",
        *(["Array = np.ndarray[Any, Any]\n"] if typed else []),
        *(f"\n{helper}" for helper in (*helpers, _function(scan, body))),
    ]
    return "\n".join(blocks) + "\n"


def _function(scan: Scan, body: list[str]) -> str:
    taken = ", ".join(port.name for port in scan.inputs)
    lines = [
        "def reference(inputs, attrs, args):",
        f'    """From {taken} to {", ".join(port.name for port in scan.results) or "nothing"}."""',
        '    with np.errstate(all="ignore"):',
        *(f"        {line}" for line in body),
    ]
    return "\n".join(lines)


def _bindings(scan: Scan, names: "_Names") -> list[str]:
    """Inputs as arrays of their dtypes, and the sizes that their shapes tell."""
    lines = [
        f'{names.port(port.name)} = np.asarray(inputs["{port.name}"], {_dtype(port.dtype)})' for port in scan.inputs
    ]
    bound: set[str] = set()
    for port in scan.inputs:
        for axis, size in enumerate(port.shape):
            if size.symbol is not None and size.symbol not in bound:
                bound.add(size.symbol)
                lines.append(f"{names.symbols[size.symbol]} = {names.port(port.name)}.shape[{axis}]")
    return lines + [f"{names[capture.node]} = {names.port(capture.port.name)}" for capture in scan.captures]


def _step(scan: Scan, looped: Iterable[Node], names: "_Names") -> list[str]:
    lines = [
        f"{names[item.node]} = np.take({names.port(item.port.name)}, {_position(item, scan, names)}, axis={item.axis})"
        for item in scan.elements
    ]
    lines += _lines(looped, names)
    lines += [f"{names.port(item.port.name)}.append({names[item.node]})" for item in scan.outputs]
    changed = [state for state in scan.states if state.before != state.after]
    if changed:
        targets = ", ".join(names[state.before] for state in changed)
        lines.append(f"{targets} = {', '.join(names[state.after] for state in changed)}")
    return lines or ["pass"]


def _position(element: Element, scan: Scan, names: "_Names") -> str:
    return f"{names.size(scan.steps)} - 1 - step" if element.reverse else "step"


def _results(scan: Scan, names: "_Names") -> list[str]:
    states = [f'"{state.final.name}": {names[state.before]}' for state in scan.states]
    outputs = [f'"{output.port.name}": {_stacked(output, names)}' for output in scan.outputs]
    return ["return {", *(f"    {entry}," for entry in (*states, *outputs)), "}"]


def _stacked(output: Output, names: "_Names") -> str:
    collected = names.port(output.port.name)
    shape = sizes_text([size.at(names.by_symbol) for size in output.port.shape])
    values = f"{collected}[::-1]" if output.prepend else collected
    return f"np.stack({values}, axis={output.axis}) if {collected} else np.zeros({shape}, {_dtype(output.port.dtype)})"


def _lines(nodes: Iterable[Node], names: "_Names") -> list[str]:
    """An assignment for each node that is computed."""
    lines = []
    for node in nodes:
        if node.operation == "constant":
            lines.append(f"{names[node.name]} = {_literal(np.asarray(node.attributes['value']))}")
        elif node.operation != "input":
            text = expression(node, [names[name] for name in node.inputs])
            lines.append(f"{names[node.name]} = {text}")
    return lines


def _literal(value: Array) -> str:
    """An array as a NumPy expression that gives exactly it."""
    dtype = _dtype(str(value.dtype))
    if value.ndim == 0:
        return f"{dtype}({_number(value[()])})"
    flat = value.reshape(-1)
    if value.size > 1 and bool((flat == flat[0]).all()) and flat[0] != 0:
        return f"np.full({value.shape}, {_number(flat[0])}, {dtype})"
    made = f"np.array([{', '.join(map(_number, flat))}], {dtype})"
    return made if value.ndim == 1 else f"{made}.reshape{value.shape}"


def _number(value: Any) -> str:
    """A NumPy scalar, in as few digits as its dtype needs."""
    if value.dtype.kind != "f":
        return str(value.item())
    if not np.isfinite(value):
        return "np.nan" if np.isnan(value) else "np.inf" if value > 0 else "-np.inf"
    short = float(str(value))
    return repr(short if value.dtype.type(short) == value else float(value))


def _dtype(dtype: str) -> str:
    return "np.bool_" if dtype == "bool" else f"np.{dtype}"


def _helpers(body: list[str]) -> list[str]:
    """The sources of the functions of ``numerics`` that the lines call."""
    text = "\n".join(body)
    return [
        inspect.getsource(function)
        for name, function in numerics.HELPERS.items()
        if re.search(rf"(?<![\w.]){name}\(", text)
    ]


def _quoted(name: str) -> str:
    """A name from a model, fit to stand in a docstring."""
    return "`" + re.sub(r"[^\w .:/\-]", "_", name) + "`" if name else "node"


class _Names:
    """Python names for the ports, symbols and nodes of a ``Scan``, near to their own and all different."""

    def __init__(self, scan: Scan) -> None:
        self._taken = set(_RESERVED)
        self.symbols: dict[str, str] = {}
        self._ports: dict[str, str] = {}
        self._nodes: dict[str, str] = {}
        symbols = sorted(set().union(*(size.symbols for port in scan.inputs for size in port.shape)))
        self.symbols = {symbol: self._fresh(symbol) for symbol in symbols}
        self.by_symbol: Mapping[str, Size] = {symbol: Size.of(name) for symbol, name in self.symbols.items()}
        self._same = all(symbol == name for symbol, name in self.symbols.items())
        for port in (*scan.inputs, *(output.port for output in scan.outputs)):
            self._ports[port.name] = self._fresh(port.name)
        elements = {element.node for element in scan.elements}
        for node in scan.nodes:
            taken = node.name in elements and node.name in self._taken
            self._nodes[node.name] = self._fresh(f"{node.name}_t" if taken else node.name)

    def __getitem__(self, node: str) -> str:
        return self._nodes[node]

    def port(self, name: str) -> str:
        return self._ports[name]

    def size(self, size: Size) -> str:
        text = str(size.at(self.by_symbol))
        return text if size.symbol is not None or size.number is not None else f"({text})"

    def renamed(self, node: Node) -> Node:
        """The node with the symbols in it as they are called here."""
        if self._same:
            return node
        attributes: dict[str, Any] = dict(node.attributes)
        for key in _SIZED:
            if key in attributes:
                attributes[key] = tuple(Size.of(size).at(self.by_symbol) for size in attributes[key])
        if node.operation == "size":
            attributes["size"] = attributes["size"].at(self.by_symbol)
        return replace(node, shape=tuple(size.at(self.by_symbol) for size in node.shape), attributes=attributes)

    def _fresh(self, wanted: str) -> str:
        word = re.sub(r"\W", "_", wanted, flags=re.ASCII) or "value"
        word = f"_{word}" if word[0].isdigit() or keyword.iskeyword(word) or keyword.issoftkeyword(word) else word
        name, number = word, 2
        while name in self._taken:
            name, number = f"{word}_{number}", number + 1
        self._taken.add(name)
        return name
