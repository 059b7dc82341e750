"""One operator as the body of a ``Scan`` without states, in several shapes and types, for a test of each."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
from onnx import ModelProto

from .models import graph, node, scan_model, tensor, typed

Array = npt.NDArray[Any]
AWKWARD = np.array(
    [np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.0, 0.5, 1.5, 2.5, -0.5, -2.5, 100.0, -100.0], np.float32
)


@dataclass(frozen=True, kw_only=True)
class Fixed:
    """An input that is a constant of the body."""

    value: Array


def fixed(values: Any, dtype: str = "int64") -> Fixed:
    return Fixed(value=np.asarray(values, dtype))


def floats(*shape: int, low: float = -2, high: float = 2, seed: int = 0) -> Array:
    return np.random.default_rng(seed).uniform(low, high, shape).astype(np.float32)


def whole(*shape: int, low: int = -9, high: int = 9, dtype: str = "int32", seed: int = 0) -> Array:
    return np.random.default_rng(seed).integers(low, high, shape).astype(dtype)


def truths(*shape: int, seed: int = 0) -> Array:
    return np.random.default_rng(seed).integers(0, 2, shape).astype(bool)


@dataclass(frozen=True, kw_only=True)
class Case:
    """``inputs`` are elements (arrays), constants of the body, or None where an input is left out.

    ``symbolic`` says that it is tried with sizes that are names too, one for each size.
    """

    operator: str
    inputs: Sequence[Array | Fixed | None]
    opset: int = 21
    outputs: int = 1
    symbolic: bool = True
    domain: str = ""
    attributes: dict[str, Any] = field(default_factory=dict)

    @property
    def id(self) -> str:
        said = [f"{key}={value}" for key, value in self.attributes.items()]
        shapes = ["-" if item is None else _described(item) for item in self.inputs]
        return f"{self.operator}-{self.opset}({', '.join([*shapes, *said])})"

    def model(self, *, symbolic: bool) -> ModelProto:
        names = [None if item is None else f"i{number}" for number, item in enumerate(self.inputs)]
        elements = {name: item for name, item in zip(names, self.inputs, strict=True) if isinstance(item, np.ndarray)}
        constants = {name: item.value for name, item in zip(names, self.inputs, strict=True) if isinstance(item, Fixed)}
        results = [f"o{number}" for number in range(self.outputs)]
        body = graph(
            [
                node(
                    self.operator,
                    " ".join(name or "-" for name in names),
                    " ".join(results),
                    self.domain,
                    **self.attributes,
                )
            ],
            [typed(name or "", str(item.dtype)) for name, item in elements.items()],
            results,
            [tensor(name or "", value, str(value.dtype)) for name, value in constants.items()],
        )
        given = [
            (
                f"{name}s",
                str(item.dtype),
                ["steps", *(f"d{size}" if symbolic and size != 1 else size for size in item.shape)],
            )
            for name, item in elements.items()
        ]
        imports = {self.domain: 1} if self.domain else {}
        return scan_model(body, given, len(given), opset=self.opset, imports=imports)

    def feeds(self) -> dict[str, Array]:
        """Two steps: the values, and the values along every axis backwards."""
        return {
            f"i{number}s": np.stack([item, np.flip(item)])
            for number, item in enumerate(self.inputs)
            if isinstance(item, np.ndarray)
        }


def case(
    operator: str,
    *inputs: Any,
    opset: int = 21,
    outputs: int = 1,
    symbolic: bool = True,
    domain: str = "",
    **attributes: Any,
) -> Case:
    return Case(
        operator=operator,
        inputs=inputs,
        opset=opset,
        outputs=outputs,
        symbolic=symbolic,
        domain=domain,
        attributes=attributes,
    )


def _described(item: Array | Fixed) -> str:
    if isinstance(item, Fixed):
        return str(item.value.tolist())
    return f"{item.dtype}{list(item.shape)}"
