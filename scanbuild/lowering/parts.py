"""A model and its parts, as ONNX has them."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

SMALL: Final = 256
"""An initializer of up to so many elements becomes part of the kernel; a larger one is brought by the caller."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Model:
    """A model (``onnx.ModelProto``), external data included that a ``Scan`` can need, and what it was read from."""

    proto: Any
    where: str
    typed: list[Any] = field(default_factory=list, compare=False, repr=False)
    """The model with inferred types, once it has been needed; None if there are none."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Candidate:
    """A ``Scan`` node. ``graphs`` are those around it, the outermost first; ``path`` names the nodes on the way too."""

    name: str
    path: str
    node: Any
    graphs: tuple[Any, ...]
    opset: int


def subgraphs(node: Any) -> Iterator[Any]:
    """The graphs among the attributes of a node."""
    for attribute in node.attribute:
        if attribute.HasField("g"):
            yield attribute.g
        yield from attribute.graphs


def opset_of(proto: Any, domain: str = "") -> int | None:
    """The version of an operator set that a model or function imports."""
    for item in proto.opset_import:
        if (item.domain or "ai.onnx") == (domain or "ai.onnx"):
            return int(item.version)
    return None
