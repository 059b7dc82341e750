"""Which variant of a lowered package a call of certain sizes reaches, and the sizes around which that changes.

The package's own ``when`` clauses are evaluated, in the loader's language, so that cases follow whatever the strategies
decide. What depends on the device is taken as a device with WebGPU's default limits has it.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from scanbuild.dialect import DialectError, NameSet, parse_expression
from scanbuild.lowering.graph import Scan
from scanbuild.lowering.interpreter import shape_at
from scanbuild.lowering.recipes import elements

Sizes = dict[str, int]

LADDER: Final = (1, 2, 3, 4, 7, 16, 33, 64, 65, 128, 300, 1024, 2048, 4099, 16384, 32768, 65536, 262144)
_MOST_ELEMENTS: Final = 2**22
"""The tensors of a case together: what a software adapter still does in a second or so."""
_DEVICE: Final[Mapping[str, Any]] = {
    "features": NameSet(frozenset()),
    "wgslLanguageFeatures": NameSet(frozenset()),
    "adapterInfo": {},
    "limits": {
        "maxBufferSize": 268435456,
        "maxStorageBufferBindingSize": 134217728,
        "maxUniformBufferBindingSize": 65536,
        "maxStorageBuffersPerShaderStage": 10,
        "maxComputeWorkgroupStorageSize": 16384,
        "maxComputeInvocationsPerWorkgroup": 256,
        "maxComputeWorkgroupSizeX": 256,
        "maxComputeWorkgroupsPerDimension": 65535,
    },
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

    def eligible(self, sizes: Sizes) -> tuple[str, ...]:
        """The variants whose clauses hold, the chosen one first; a clause that fails does not hold."""
        names = self._names(sizes)
        common = self._manifest.get("when", ())
        return tuple(
            str(variant["id"])
            for variant in self._variants
            if all(_holds(clause, names) for clause in (*common, *variant.get("when", ())))
        )

    def chosen(self, sizes: Sizes) -> str | None:
        """The variant that such a call reaches; None if there is none."""
        return next(iter(self.eligible(sizes)), None)

    def cheap(self, sizes: Sizes) -> bool:
        """Whether all tensors together are small enough for a case."""
        return self.allowed(sizes) and self._cost(sizes) <= _MOST_ELEMENTS

    def allowed(self, sizes: Sizes) -> bool:
        """Whether the sizes fulfil what the ``Scan`` itself asks of them."""
        scan = self._scan
        sides = [size for port in (*scan.inputs, *scan.results) for size in port.shape]
        return all(left.at(sizes) == right.at(sizes) for left, right in scan.equalities) and all(
            (size.at(sizes).number or 0) >= 0 for size in (*sides, *scan.nonnegative)
        )

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
        for sizes in sorted((dict(item) for item in tried), key=self._cost):
            if len(found) == len(self.ids) or self._cost(sizes) > _MOST_ELEMENTS:
                break
            variant = self.chosen(sizes) if self.allowed(sizes) else None
            if variant is not None:
                found.setdefault(variant, sizes)
        return found

    def edges(self, sizes: Sizes) -> Iterable[tuple[Sizes, Sizes]]:
        """For each symbol the least it can be without another variant being reached, and the sizes just below."""
        variant = self.chosen(sizes)
        for symbol in self.symbols:
            low, high = -1, sizes[symbol]
            while high - low > 1:
                middle = (low + high) // 2
                if middle >= 0 and self.chosen({**sizes, symbol: middle}) == variant:
                    high = middle
                else:
                    low = middle
            if high > 1:
                yield {**sizes, symbol: high}, {**sizes, symbol: high - 1}

    def _cost(self, sizes: Sizes) -> int:
        return sum(elements(port.shape, sizes) for port in (*self._scan.inputs, *self._scan.results))

    def _names(self, sizes: Sizes) -> dict[str, Any]:
        ports = (*self._scan.inputs, *self._scan.results)
        shapes = {port.name: list(shape_at(port.shape, sizes)) for port in ports}
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
