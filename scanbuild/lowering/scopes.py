"""Names of a ``Scan`` and of its body: what is read from outside, and what has to be told apart."""

from collections.abc import Iterator
from typing import Any

from scanbuild.lowering.parts import Candidate, subgraphs


def captured(body: Any) -> tuple[str, ...]:
    """The names that a body, or a graph within it, reads from outside, in the order in which it does."""
    return tuple(dict.fromkeys(_free_names(body)))


def _free_names(graph: Any) -> Iterator[str]:
    known = {item.name for item in (*graph.input, *graph.initializer)}
    known |= {item.values.name for item in graph.sparse_initializer}
    for node in graph.node:
        yield from (name for name in node.input if name and name not in known)
        for inner in subgraphs(node):
            yield from (name for name in _free_names(inner) if name not in known)
        known.update(node.output)
    yield from (item.name for item in graph.output if item.name not in known)


def body_of(node: Any) -> Any:
    """The body of a ``Scan``."""
    return next(item.g for item in node.attribute if item.name == "body")


def distinct(candidate: Candidate) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Names for the inputs and the outputs of a ``Scan`` that is alone: the model's, made different where they are not.

    One value may be the start of two states, or be read by the body besides. What version 8 has in front is no input.
    """
    node = candidate.node
    taken = set(captured(body_of(node)))
    given = node.input[1:] if candidate.opset == 8 else node.input
    inputs = tuple(_once(name or "input", taken) for name in given)
    outputs = tuple(_once(name or "output", taken) for name in node.output)
    return inputs, outputs


def _once(name: str, taken: set[str]) -> str:
    number, free = 1, name
    while free in taken:
        number += 1
        free = f"{name}_{number}"
    taken.add(free)
    return free
