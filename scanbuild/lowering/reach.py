"""Which variant of a lowered package a call of certain sizes reaches, and the sizes around which that changes.

The package's own ``when`` clauses are evaluated, in the loader's language, so that cases follow whatever the strategies
decide. What depends on the device is taken as a device with WebGPU's default limits has it.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

from scanbuild.dialect import DialectError, NameSet, parse_expression
from scanbuild.lowering.graph import Scan
from scanbuild.lowering.sizes import Size

Sizes = dict[str, int]

LADDER: Final = (1, 2, 3, 4, 7, 16, 33, 64, 65, 128, 300, 1024, 2048, 4099, 16384, 32768, 65536, 262144)
_MOST_ELEMENTS: Final = 2**23
"""The tensors of a case together: what a software adapter still does in a second or so."""
DEFAULT_LIMITS: Final[Mapping[str, int]] = {
    "maxBufferSize": 268435456,
    "maxStorageBufferBindingSize": 134217728,
    "maxUniformBufferBindingSize": 65536,
    "maxStorageBuffersPerShaderStage": 8,
    "maxUniformBuffersPerShaderStage": 12,
    "maxComputeWorkgroupStorageSize": 16384,
    "maxComputeInvocationsPerWorkgroup": 256,
    "maxComputeWorkgroupSizeX": 256,
    "maxComputeWorkgroupSizeY": 256,
    "maxComputeWorkgroupSizeZ": 64,
    "maxComputeWorkgroupsPerDimension": 65535,
}
"""What every device offers of what a variant can ask for; WebGPU asks for 10 storage buffers, mobile devices have 8."""
_DEVICE: Final[Mapping[str, Any]] = {
    "features": NameSet(frozenset()),
    "wgslLanguageFeatures": NameSet(frozenset()),
    "adapterInfo": {},
    "limits": dict(DEFAULT_LIMITS),
}


class Reach:
    """The variants of a manifest (its JSON) over the sizes of a ``Scan``."""

    def __init__(self, manifest: Mapping[str, Any], scan: Scan) -> None:
        self._manifest = manifest
        self._scan = scan
        self._variants = sorted(manifest["variants"], key=lambda variant: -float(variant.get("priority", 0)))
        sizes = [size for port in (*scan.inputs, *scan.results) for size in port.shape]
        self.symbols: tuple[str, ...] = tuple(sorted(set().union(*(size.symbols for size in sizes))))
        self.ids: tuple[str, ...] = tuple(str(variant["id"]) for variant in self._variants)
        self._known: dict[tuple[int, ...], tuple[str, ...]] = {}
        self._ports = (*scan.inputs, *scan.results)
        self._shapes = _compiled([size for port in self._ports for size in port.shape], self.symbols)
        self._bounds = _compiled(scan.nonnegative, self.symbols)
        self._equal = _compiled([left - right for left, right in scan.equalities], self.symbols)

    def eligible(self, sizes: Sizes) -> tuple[str, ...]:
        """The variants whose clauses hold, the chosen one first; a clause that fails does not hold."""
        key = tuple(sizes[symbol] for symbol in self.symbols)
        if key not in self._known:
            names = self._names(sizes)
            fits = all(_holds(clause, names) for clause in self._manifest.get("when", ()))
            self._known[key] = tuple(
                str(variant["id"])
                for variant in self._variants
                if fits and all(_holds(clause, names) for clause in variant.get("when", ()))
            )
        return self._known[key]

    def chosen(self, sizes: Sizes) -> str | None:
        """The variant that such a call reaches; None if there is none."""
        return next(iter(self.eligible(sizes)), None)

    def cheap(self, sizes: Sizes) -> bool:
        """Whether all tensors together are small enough for a case."""
        return self.allowed(sizes) and self.cost(sizes) <= _MOST_ELEMENTS

    def allowed(self, sizes: Sizes) -> bool:
        """Whether the sizes fulfil what the ``Scan`` itself asks of them."""
        return not any(self._equal(sizes)) and all(size >= 0 for size in (*self._shapes(sizes), *self._bounds(sizes)))

    def smallest(self, small: Sizes) -> dict[str, Sizes]:
        """For each variant that can be reached, sizes as small as the ladder has them; others stay as in ``small``."""
        steps = self._scan.steps.symbol
        others = [symbol for symbol in self.symbols if symbol != steps]
        tried = {
            tuple(sorted({**small, **dict.fromkeys(raised, low), **({steps: count} if steps else {})}.items()))
            for low in LADDER
            for raised in ((), *((symbol,) for symbol in others), tuple(others))
            for count in (LADDER if steps else (0,))
        }
        found: dict[str, Sizes] = {}
        for sizes in sorted((dict(item) for item in tried), key=self.cost):
            if len(found) == len(self.ids) or self.cost(sizes) > _MOST_ELEMENTS:
                break
            variant = self.chosen(sizes) if self.allowed(sizes) else None
            if variant is not None:
                found.setdefault(variant, sizes)
        return found

    def edges(self, sizes: Sizes) -> Iterable[tuple[Sizes, Sizes]]:
        """Pairs of sizes, one apart in one symbol, of which the first reaches the same variant, the other does not."""
        variant = self.chosen(sizes)
        for symbol in self.symbols:
            for far in (0, self._largest(sizes, symbol)):
                if self.chosen({**sizes, symbol: far}) not in (variant, None):
                    yield self._edge(sizes, symbol, far)

    def _largest(self, sizes: Sizes, symbol: str) -> int:
        """The largest number for a symbol with which a case is still cheap."""
        low, high = sizes[symbol], 2**24
        while high - low > 1:
            middle = (low + high) // 2
            if self.cheap({**sizes, symbol: middle}):
                low = middle
            else:
                high = middle
        return low

    def _edge(self, sizes: Sizes, symbol: str, far: int) -> tuple[Sizes, Sizes]:
        """Where, on the way of a symbol from what it is to another number, the variant changes: before and after."""
        variant, near = self.chosen(sizes), sizes[symbol]
        while abs(far - near) > 1:
            middle = (near + far) // 2
            if self.chosen({**sizes, symbol: middle}) == variant:
                near = middle
            else:
                far = middle
        return {**sizes, symbol: near}, {**sizes, symbol: far}

    def cost(self, sizes: Sizes) -> int:
        """The elements of all tensors of a call together."""
        return sum(math.prod(shape) for shape in self._all_shapes(sizes))

    def _all_shapes(self, sizes: Sizes) -> list[list[int]]:
        """The shapes of all ports, inputs first."""
        flat = iter(self._shapes(sizes))
        return [[next(flat) for _ in port.shape] for port in self._ports]

    def _names(self, sizes: Sizes) -> dict[str, Any]:
        ports = self._ports
        shapes = dict(zip((port.name for port in ports), self._all_shapes(sizes), strict=True))
        dtypes = {port.name: port.dtype for port in ports}
        tunables = {name: entry["default"] for name, entry in self._manifest.get("tunables", {}).items()}
        names: dict[str, Any] = {
            "shapes": shapes,
            "ranks": {name: len(shape) for name, shape in shapes.items()},
            "tensorDtypes": dtypes,
            "logicalDtypes": dtypes,
            "present": dict.fromkeys(shapes, True),
            "device": _DEVICE,
            "tunables": tunables,
            "attrs": {},
            "args": {},
        }
        for name, value in self._manifest.get("derive", {}).items():
            names[name] = _evaluated(value, names)
        return names


def _compiled(sizes: Sequence[Size], symbols: Sequence[str]) -> Callable[[Sizes], tuple[int, ...]]:
    """A function that gives the numbers of many sizes at once, quickly."""
    renamed = {symbol: Size.of(f"s[{index}]") for index, symbol in enumerate(symbols)}
    text = "".join(f"{size.at(renamed)}, " for size in sizes)
    code = compile(f"({text})", "<sizes>", "eval")
    return lambda values: tuple(eval(code, {"s": [values[symbol] for symbol in symbols]}))


def _evaluated(value: Any, names: Mapping[str, Any]) -> Any:
    if isinstance(value, str):
        try:
            return parse_expression(value).evaluate(names)
        except DialectError:
            return None
    if isinstance(value, list):
        return [_evaluated(item, names) for item in value]
    return value


def _holds(clause: str, names: Mapping[str, Any]) -> bool:
    return _evaluated(clause, names) is True
