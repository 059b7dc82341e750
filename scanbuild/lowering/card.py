"""The description of a lowered package, which its kernel card shows: what was compiled, for newcomers.

Paragraphs of plain text with code spans, as ``publishing`` renders them.
"""

from collections.abc import Iterable, Sequence
from typing import Final

from scanbuild.lowering.draft import Variant
from scanbuild.lowering.graph import Port, Scan
from scanbuild.lowering.heading import formulas

_MOST_FORMULAS: Final = 24


def describe(scan: Scan, variants: Sequence[Variant]) -> str:
    """What the package computes, from what to what, how, and within which limits."""
    paragraphs = [
        _opening(scan),
        _reading(scan),
        *_body(scan),
        _collecting(scan),
        _running(variants),
        _limits(scan),
    ]
    return "\n\n".join(filter(None, paragraphs))


def _opening(scan: Scan) -> str:
    node = f" (the node `{_plain(scan.name)}` of a model)" if scan.name else ""
    return (
        f"An ONNX `Scan`{node} with its body compiled in: a loop over {_code(str(scan.steps))} steps that runs on the "
        "GPU from end to end. The operator takes its body as a graph at run time; here the body is fixed, and the "
        "caller cannot replace it."
    )


def _reading(scan: Scan) -> str:
    parts = [
        f"{_code(item.node)} is a slice of {_code(item.port.name)} along axis {item.axis}"
        + (", taken from the last to the first" if item.reverse else "")
        for item in scan.elements
    ]
    captured = [item.port.name for item in scan.captures]
    same = f" {_listed(captured)} {_is(captured)} the same in every step." if captured else ""
    states = [item.before for item in scan.states]
    kept = (
        f" The state{'s' if len(states) > 1 else ''} {_listed(states)} {_is(states)} carried from step to step."
        if states
        else ""
    )
    return f"In each step, {_joined(parts)}.{same}{kept} The step computes:"


def _body(scan: Scan) -> list[str]:
    lines = [line.strip() for line in formulas(scan)]
    if len(lines) <= _MOST_FORMULAS:
        return [_code(line) for line in lines]
    left = len(lines) - _MOST_FORMULAS
    return [*(_code(line) for line in lines[:_MOST_FORMULAS]), f"and {left} lines more, which head the shaders."]


def _collecting(scan: Scan) -> str:
    states = [
        f"{_code(item.before)} starts as {_code(item.initial.name)} and ends as {_code(item.final.name)}"
        for item in scan.states
    ]
    outputs = [
        f"{_code(item.port.name)} collects the values of all steps along axis {item.axis}"
        + (", the last step's first" if item.prepend else "")
        for item in scan.outputs
    ]
    prime = "A prime marks a state after the step. " if states else ""
    return f"{prime}{'; '.join([*states, *outputs])}. Without any steps the states stay as they were."


def _running(variants: Sequence[Variant]) -> str:
    ordered = sorted(variants, key=lambda variant: -float(variant.entry.get("priority", 0)))
    told = [f"{_code(item.id)}: {_lowered(str(item.entry.get('description', '')))}" for item in ordered]
    if len(told) == 1:
        return f"It has one variant, {told[0]}."
    return f"Of its {len(told)} variants, the loader takes for each call the first that fits: {'; '.join(told)}."


def _limits(scan: Scan) -> str:
    symbols = sorted(set().union(*(size.symbols for port in scan.inputs for size in port.shape)))
    open_sizes = (
        f"The sizes {_listed(symbols)} are the caller's to choose"
        if len(symbols) > 1
        else f"The size {_listed(symbols)} is the caller's to choose"
        if symbols
        else "All sizes are fixed"
    )
    tensors = ", ".join(_port(port) for port in scan.inputs)
    return f"{open_sizes}; all else of dtypes and shapes is fixed: {tensors}. A tensor has less than 2^31 elements."


def _port(port: Port) -> str:
    return _code(f"{port.name}: {port.dtype}[{', '.join(map(str, port.shape))}]")


def _code(text: str) -> str:
    return f"`{_plain(text)}`"


def _plain(text: str) -> str:
    """A text from a model, fit to stand in a code span."""
    return " ".join(text.replace("`", "'").split())


def _listed(names: Iterable[str]) -> str:
    return _joined([_code(name) for name in names])


def _joined(parts: Sequence[str]) -> str:
    return ", ".join(parts[:-1]) + (" and " if len(parts) > 1 else "") + parts[-1] if parts else ""


def _is(names: Sequence[str]) -> str:
    return "is" if len(names) == 1 else "are"


def _lowered(text: str) -> str:
    """A sentence as part of another."""
    text = text.strip().rstrip(".")
    return text[:1].lower() + text[1:] if text[1:2].islower() else text
