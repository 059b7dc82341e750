"""Building models with one ``Scan`` from a few lines of ONNX's own text form."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
from onnx import ModelProto, numpy_helper, parser

Array = npt.NDArray[Any]

NUMPY = {"float": np.float32, "double": np.float64, "bool": np.bool_, "string": np.object_}
_PORT = re.compile(r"\s*(\w+)\s*(?:\[([^\]]*)\])?\s+(\w+)\s*")


@dataclass(frozen=True, kw_only=True)
class Port:
    """``float[d, 3] x``: what the body sees."""

    dtype: str
    dims: tuple[str, ...]
    name: str

    @classmethod
    def parse_all(cls, text: str) -> "tuple[Port, ...]":
        """Ports from a text with a semicolon between them."""
        found = []
        for part in filter(str.strip, text.split(";")):
            match = _PORT.fullmatch(part)
            assert match, part
            dims = tuple(filter(None, map(str.strip, (match[2] or "").split(","))))
            found.append(cls(dtype=match[1], dims=dims, name=match[3]))
        return tuple(found)

    def text(self, name: str = "", axis: int | None = None, steps: str = "t") -> str:
        """In ONNX's form, with the scan axis added."""
        dims = list(self.dims)
        if axis is not None:
            dims.insert(axis % (len(dims) + 1), steps)
        shape = f"[{', '.join(dims)}]" if dims else ""
        return f"{self.dtype}{shape} {name or self.name}"


@dataclass(frozen=True, kw_only=True)
class Example:
    """A model and inputs to try it with.

    ``sizes`` lists numbers for the symbols, a run each. ``ranges`` bounds the random values of an input (by the body's
    name), ``values`` states them. ``tolerance`` is that of floats, relative from 1 on.
    """

    name: str
    model: ModelProto
    sizes: tuple[Mapping[str, int], ...]
    ranges: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    values: Mapping[str, Any] = field(default_factory=dict)
    tolerance: float = 2e-6
    awkward: bool = False
    strategies: frozenset[str] = frozenset()

    @cached_property
    def data(self) -> bytes:
        return bytes(self.model.SerializeToString())


def scan(
    name: str,
    body: str,
    *,
    states: str = "",
    elements: str,
    after: Sequence[str] | str = (),
    outputs: str = "",
    captures: str = "",
    weights: Mapping[str, Any] | None = None,
    opset: int = 21,
    in_axes: Sequence[int] = (),
    out_axes: Sequence[int] = (),
    in_directions: Sequence[int] = (),
    out_directions: Sequence[int] = (),
    sizes: Mapping[str, int] | Sequence[Mapping[str, int]] | None = None,
    ranges: Mapping[str, tuple[float, float]] | None = None,
    values: Mapping[str, Any] | None = None,
    tolerance: float = 2e-6,
    awkward: bool = False,
    strategies: str = "",
) -> Example:
    """A model whose inputs are called as in the body, ``init_`` before states; its outputs ``final_`` and ``all_``.

    ``states``, ``elements``, ``outputs`` and ``captures`` declare ports as the body sees them; ``after`` names the new
    states. ``weights`` are captured initializers. The scan axis is called t.
    """
    before, taken = Port.parse_all(states), Port.parse_all(elements)
    given, brought = Port.parse_all(outputs), Port.parse_all(captures)
    after = after.split() if isinstance(after, str) else after
    assert len(after) == len(before), name
    new = [Port(dtype=port.dtype, dims=port.dims, name=other) for port, other in zip(before, after, strict=True)]
    attributes = {
        "scan_input_axes": in_axes,
        "scan_output_axes": out_axes,
        "scan_input_directions": in_directions,
        "scan_output_directions": out_directions,
    }
    listed = "".join(f", {key} = [{', '.join(map(str, value))}]" for key, value in attributes.items() if value)
    source = ", ".join(
        [
            *(port.text(f"init_{port.name}") for port in before),
            *(port.text(axis=_axis(in_axes, index)) for index, port in enumerate(taken)),
            *(port.text() for port in brought),
        ]
    )
    target = ", ".join(
        [
            *(port.text(f"final_{port.name}") for port in before),
            *(port.text(f"all_{port.name}", _axis(out_axes, index)) for index, port in enumerate(given)),
        ]
    )
    calls = ", ".join([*(f"init_{port.name}" for port in before), *(port.name for port in taken)])
    gives = ", ".join([*(f"final_{port.name}" for port in before), *(f"all_{port.name}" for port in given)])
    inner_in = ", ".join(
        [*(port.text() for port in before), *(port.text(f"{port.name}_t") for port in taken)],
    )
    inner_out = ", ".join([*(port.text() for port in new), *(port.text() for port in given)])
    text = f"""<ir_version: 10, opset_import: ["" : {opset}]>
    {name} ({source}) => ({target}) {{
      [loop] {gives} = Scan <num_scan_inputs = {len(taken)}{listed}, body = step ({inner_in}) => ({inner_out}) {{
        {_renamed(body, taken)}
      }}> ({calls})
    }}"""
    model = parser.parse_model(text)
    for key, value in (weights or {}).items():
        model.graph.initializer.append(numpy_helper.from_array(np.asarray(value), key))
    tried = (sizes,) if isinstance(sizes, Mapping) else tuple(sizes or ({},))
    return Example(
        name=name,
        model=model,
        sizes=tuple({"t": 5, **_defaults(before, taken, brought), **item} for item in tried),
        ranges=ranges or {},
        values=values or {},
        tolerance=tolerance,
        awkward=awkward,
        strategies=frozenset(strategies.split()),
    )


def with_fixed_sizes(example: Example) -> Example:
    """The example with numbers for its symbols, as the operator's description has them."""
    model = ModelProto()
    model.CopyFrom(example.model)
    for value in (*model.graph.input, *model.graph.output):
        for dim in value.type.tensor_type.shape.dim:
            if dim.dim_param:
                dim.dim_value = example.sizes[0][dim.dim_param]
    return replace(example, model=model)


def _renamed(body: str, taken: Sequence[Port]) -> str:
    """The elements have names of their own within the body, as ONNX Runtime wants it."""
    for port in taken:
        body = re.sub(rf"(?<![\w.]){port.name}(?!\w)(?!\s*\()(?!\s*:)", f"{port.name}_t", body)
    return body


def _axis(axes: Sequence[int], index: int) -> int:
    return axes[index] if index < len(axes) else 0


def _defaults(*groups: Sequence[Port]) -> dict[str, int]:
    symbols = sorted({dim for ports in groups for port in ports for dim in port.dims if not dim.isdigit()})
    return {symbol: 3 + number for number, symbol in enumerate(symbols)}


def arrays(example: Example, sizes: Mapping[str, int], seed: int = 0) -> dict[str, Array]:
    """Inputs of the model for these sizes, the same whenever they are made."""
    generator = np.random.default_rng(seed)
    made: dict[str, Array] = {}
    constants = {item.name for item in example.model.graph.initializer}
    for item in example.model.graph.input:
        if item.name in constants:
            continue
        kind = item.type.tensor_type
        shape = tuple(dim.dim_value or sizes.get(dim.dim_param, 0) for dim in kind.shape.dim)
        dtype = np.dtype(_numpy_type(kind.elem_type))
        name = item.name.removeprefix("init_")
        if item.name in example.values or name in example.values:
            stated = example.values.get(item.name, example.values.get(name))
            made[item.name] = np.asarray(stated, dtype).reshape(shape)
            continue
        made[item.name] = _random(generator, dtype, shape, example.ranges.get(item.name, example.ranges.get(name)))
        if example.awkward and dtype.kind == "f" and made[item.name].size > 2:
            flat = made[item.name].reshape(-1)
            flat[:: max(2, flat.size // 4)] = np.resize(
                [np.nan, np.inf, -np.inf, -0.0], len(flat[:: max(2, flat.size // 4)])
            )
    return made


def _random(
    generator: np.random.Generator, dtype: Any, shape: tuple[int, ...], bounds: tuple[float, float] | None
) -> Array:
    if dtype.kind == "b":
        return generator.integers(0, 2, shape).astype(dtype)
    if dtype.kind == "f":
        low, high = bounds or (-2.0, 2.0)
        return generator.uniform(low, high, shape).astype(dtype)
    low, high = bounds or (0 if dtype.kind == "u" else -9, 10)
    return generator.integers(int(low), int(high), shape).astype(dtype)


def _numpy_type(code: int) -> Any:
    from onnx import helper

    return helper.tensor_dtype_to_np_dtype(code)
