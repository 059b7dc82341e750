"""What the attributes of a ``Scan`` node say, in the words of the later versions of the operator, and checked."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from scanbuild.errors import InputError, Problem
from scanbuild.lowering.parts import Candidate, Model

_HIGHEST: int = 25
_LOWEST: int = 8


@dataclass(frozen=True, kw_only=True, slots=True)
class Signature:
    """Counts and names of a ``Scan``. Axes may be negative still, for they depend on ranks.

    ``batched`` says that it is of version 8: a batch axis in front of everything, which the body does not see, and
    the axis of steps behind it.
    """

    body: Any
    states: tuple[str, ...]
    elements: tuple[str, ...]
    finals: tuple[str, ...]
    outputs: tuple[str, ...]
    input_axes: tuple[int, ...]
    reversed: tuple[bool, ...]
    output_axes: tuple[int, ...]
    prepended: tuple[bool, ...]
    batched: bool

    @property
    def inputs(self) -> tuple[str, ...]:
        return self.states + self.elements


def read_signature(model: Model, candidate: Candidate) -> Signature:
    """InputError with all that is wrong with the node's attributes, inputs and outputs."""
    return _Reader(model, candidate).signature()


class _Reader:
    def __init__(self, model: Model, candidate: Candidate) -> None:
        self._where = model.where
        self._name = candidate.path
        self._opset = candidate.opset
        self._node = candidate.node
        self._attributes = {item.name: item for item in candidate.node.attribute}
        self._problems: list[Problem] = []

    def signature(self) -> Signature:
        body = self._body()
        count = self._scan_inputs()
        if body is None or count is None:
            raise InputError(*self._problems)
        batched = self._opset == _LOWEST
        given = self._given(batched)
        states = len(given) - count
        self._count("inputs", len(body.input), len(given), f"{states} states and {count} scan inputs")
        results = len(body.output)
        if results < states:
            self._wrong(f"has {states} states, but its body returns {results} values", "return every state first")
        self._count("outputs", results, len(self._node.output), f"{states} states and {results - states} scan outputs")
        outputs = max(results - states, 0)
        found = Signature(
            body=body,
            states=given[:states],
            elements=given[states:],
            finals=tuple(self._node.output[:states]),
            outputs=tuple(self._node.output[states:]),
            input_axes=(1,) * count if batched else self._list("scan_input_axes", count),
            reversed=self._flags("directions" if batched else "scan_input_directions", count),
            output_axes=(1,) * outputs if batched else self._list("scan_output_axes", outputs),
            prepended=(False,) * outputs if batched else self._flags("scan_output_directions", outputs),
            batched=batched,
        )
        if self._problems:
            raise InputError(*self._problems)
        return found

    def _wrong(self, reason: str, hint: str = "") -> None:
        text = f"the Scan node `{self._name}` {reason}"
        self._problems.append(Problem(message=text, file=self._where, hint=hint))

    def _body(self) -> Any:
        if not _LOWEST <= self._opset <= _HIGHEST:
            self._wrong(
                f"is of opset {self._opset or 'unknown'}; known are {_LOWEST} to {_HIGHEST}",
                "convert the model with onnx.version_converter",
            )
        body = self._attributes.get("body")
        if body is None or not body.HasField("g"):
            self._wrong("has no body", "its attribute `body` must be a graph")
            return None
        return body.g

    def _scan_inputs(self) -> int | None:
        item = self._attributes.get("num_scan_inputs")
        if item is None:
            self._wrong("lacks the attribute `num_scan_inputs`")
            return None
        most = len(self._node.input) - (self._opset == _LOWEST)
        if not 1 <= item.i <= most:
            self._wrong(f"has num_scan_inputs = {item.i}, and {most} inputs", f"it must be 1 to {most}")
            return None
        return int(item.i)

    def _given(self, batched: bool) -> tuple[str, ...]:
        names = tuple(self._node.input)
        if batched:
            if names and names[0]:
                self._wrong(
                    f"has sequence lengths (`{names[0]}`); only sequences of one length can be lowered",
                    "leave the input sequence_lens out, and mask the steps in the body",
                )
            names = names[1:]
        if not all(names):
            self._wrong("leaves out an input; all states and scan inputs must be given")
        return names

    def _count(self, what: str, body: int, node: int, meaning: str) -> None:
        if body != node:
            self._wrong(f"has {node} {what}, its body {body}", f"here both need {meaning}")

    def _list(self, name: str, count: int) -> tuple[int, ...]:
        values = self._values(name)
        if values is not None and len(values) != count:
            self._wrong(f"has {len(values)} values in `{name}`, where {count} are needed")
        return tuple(values) if values is not None and len(values) == count else (0,) * count

    def _flags(self, name: str, count: int) -> tuple[bool, ...]:
        values = self._list(name, count)
        if any(value not in (0, 1) for value in values):
            self._wrong(f"has {list(values)} in `{name}`, where 0 (forward) and 1 (reverse) are known")
        return tuple(value == 1 for value in values)

    def _values(self, name: str) -> Sequence[int] | None:
        item = self._attributes.get(name)
        return None if item is None else [int(value) for value in item.ints]
