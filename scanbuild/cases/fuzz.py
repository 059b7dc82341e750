"""Generated cases: shapes, attributes and data within what a manifest accepts.

What a manifest accepts is an expression, and no list. So the package's own cases are the model: which ranks its
tensors have, which of their sizes always agree, which dtypes go together, between which bounds the data of each input
lie. Sizes are drawn anew, first at and around every constant of a ``when`` clause, then at random, and a drawn case
counts if it can be planned.
"""

import math
import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np

from scanbuild.cases.casefile import Case, Expected
from scanbuild.cases.fixtures import FLOATS, Data, Random, TensorFixture, make_array
from scanbuild.cases.requests import case_request
from scanbuild.errors import ScanbuildError
from scanbuild.package.model import Json, Manifest
from scanbuild.planning.device import DeviceRecord
from scanbuild.planning.planner import Planner

Position = tuple[str, str, int]
"""Of a size: "inputs" or "outputs", the name of the tensor, the axis."""

_TRIES: Final = 30
_LOOKED_AT: Final = 1 << 16
_SMALL: Final = (1, 2, 3, 5, 17)
_NUMBER: Final = re.compile(r"(?<![\w.])(\d+)(?![\w.])")
_BOUNDS: Final[Mapping[str, tuple[int, int]]] = {
    "bool": (0, 1),
    "uint8": (0, 255),
    "uint32": (0, 1000),
    "int8": (-100, 100),
}
_DEFAULT_BOUNDS: Final = (-3, 3)


@dataclass(frozen=True, kw_only=True, slots=True)
class Model:
    """Cases of one form: the same tensors with the same ranks. ``classes`` are the sizes that always agree."""

    cases: tuple[Case, ...]
    classes: tuple[tuple[Position, ...], ...]


@dataclass(slots=True)
class Generator:
    """Draws cases for one package on one device. ``largest`` bounds the elements of all tensors of a case together."""

    planner: Planner
    record: DeviceRecord
    models: tuple[Model, ...]
    seed: int
    largest: int = 1 << 20
    draws: random.Random = field(init=False)
    bounds: dict[str, tuple[float, float]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.draws = random.Random(self.seed)

    @property
    def manifest(self) -> Manifest:
        """The manifest of the package."""
        return self.planner.package.manifest

    def cases(self, count: int) -> Iterator[Case]:
        """So many cases, or fewer if hardly any drawn one can be planned: at the boundaries first, then random ones."""
        made = 0
        for case in self._candidates():
            if made == count:
                return
            planned = self.planned(replace(case, name=f"generated_{self.seed}_{made}"))
            if planned is not None:
                made += 1
                yield planned

    def planned(self, case: Case) -> Case | None:
        """The case with the outputs that the call gives, or None if the call is refused."""
        try:
            plan = self.planner.prepare(case_request(case, self.manifest), self.record).plan
        except ScanbuildError:
            return None
        outputs = {
            name: replace(case.outputs[name], fixture=TensorFixture(dtype=spec.logical, shape=spec.shape, data=None))
            for name, spec in plan.outputs.items()
            if name in case.outputs
        }
        return replace(case, outputs=outputs) if outputs else None

    def resized(self, case: Case, sizes: Mapping[Position, int]) -> Case:
        """The case with some of its sizes changed."""

        def fixture(kind: str, name: str, old: TensorFixture) -> TensorFixture:
            shape = tuple(sizes.get((kind, name, axis), size) for axis, size in enumerate(old.shape))
            return replace(old, shape=shape)

        inputs = {name: fixture("inputs", name, old) for name, old in case.inputs.items()}
        outputs = {
            name: replace(old, fixture=fixture("outputs", name, old.fixture)) for name, old in case.outputs.items()
        }
        return replace(case, inputs=inputs, outputs=outputs)

    def model_of(self, case: Case) -> Model | None:
        """The model that a case was drawn from."""
        return next((model for model in self.models if _form(model.cases[0]) == _form(case)), None)

    def _candidates(self) -> Iterator[Case]:
        if not self.models:
            return
        for model, sizes in self._boundaries():
            yield self._drawn(model, sizes)
        failures = 0
        while failures < 1000:
            failures += 1  # those that are planned are not told: a thousand tries are enough for any count asked for
            model = self.draws.choice(self.models)
            for _ in range(_TRIES):
                yield self._drawn(model, [self._size() for _ in model.classes])

    def _boundaries(self) -> list[tuple[Model, list[int]]]:
        """Sizes just below, at and just above every constant of a clause, the other sizes small or at constants, too.

        Constants that a product of sizes is compared with are divided by the other sizes, too.
        """
        constants = clause_constants(self.manifest)
        found: list[tuple[Model, list[int]]] = []
        for model in self.models:
            for constant in constants:
                for place in range(len(model.classes)):
                    for delta in (0, -1, 1):
                        for divided in (False, True) if len(model.classes) > 1 else (False,):
                            found += self._at(model, place, constant, delta, divided, constants)
        self.draws.shuffle(found)
        return found

    def _at(
        self, model: Model, place: int, constant: int, delta: int, divided: bool, constants: Sequence[int]
    ) -> list[tuple[Model, list[int]]]:
        pool = (*_SMALL, *constants)
        for _ in range(4):
            sizes = [self.draws.choice(pool) for _ in model.classes]
            others = math.prod(size for index, size in enumerate(sizes) if index != place)
            sizes[place] = (math.ceil(constant / max(others, 1)) if divided else constant) + delta
            if self._fits(model, sizes) and sizes[place] >= 0:
                return [(model, sizes)]
        return []

    def _fits(self, model: Model, sizes: Sequence[int]) -> bool:
        case = self.resized(model.cases[0], _by_position(model, sizes))
        return _elements(case) <= self.largest

    def _size(self) -> int:
        """A random size: small ones as often as large ones, sometimes none."""
        return 0 if self.draws.random() < 0.03 else int(2 ** self.draws.uniform(0, 11))

    def _drawn(self, model: Model, sizes: Sequence[int]) -> Case:
        kinds = sorted({_dtypes(case) for case in model.cases})
        kind = self.draws.choice(kinds)
        old = self.draws.choice([case for case in model.cases if _dtypes(case) == kind])
        while not self._fits(model, sizes):
            sizes = [size if size < 2 or size < max(sizes) else size // 2 for size in sizes]
        case = self.resized(old, _by_position(model, sizes))
        whole = self.draws.random() < 0.7
        inputs = {name: replace(item, data=self._data(name, item, whole)) for name, item in case.inputs.items()}
        outputs = {name: self._expected(name, item, model) for name, item in case.outputs.items()}
        return replace(
            case, inputs=inputs, outputs=outputs, attrs=self._attrs(model, old), skip=None, expect_variant=None
        )

    def _attrs(self, model: Model, old: Case) -> dict[str, Json]:
        """Attributes at random: of the values that are allowed, or that a case has, or for a number 0 and 1."""
        given = dict(old.attrs)
        for name, attribute in self.manifest.attributes.items():
            choices: list[Json] = list(attribute.values or ())
            choices += [case.attrs[name] for case in model.cases if name in case.attrs and not attribute.values]
            if not attribute.values and isinstance(attribute.default, int | float):
                choices += [attribute.default, 0, 1] if not isinstance(attribute.default, bool) else [True, False]
            if choices and self.draws.random() < 0.7:
                given[name] = self.draws.choice(choices)
        return given

    def _data(self, name: str, fixture: TensorFixture, whole: bool) -> Data:
        low, high = self._bounds_of(name, fixture.dtype)
        if fixture.dtype in FLOATS and not whole and high > low:
            return Random(seed=self.draws.randrange(2**31), low=max(low, -1.0), high=min(high, 1.0), integers=False)
        first, last = math.ceil(low), math.floor(high)
        if first > last:
            return Random(seed=self.draws.randrange(2**31), low=low, high=high, integers=False)
        return Random(seed=self.draws.randrange(2**31), low=first, high=last + 1, integers=True)

    def _bounds_of(self, name: str, dtype: str) -> tuple[float, float]:
        """Between which values the data of an input may lie: small ones, within what the cases have."""
        low: float
        high: float
        low, high = _BOUNDS.get(dtype, _DEFAULT_BOUNDS)
        if name not in self.bounds:
            self.bounds[name] = _observed(name, self.models)
        least, most = self.bounds[name]
        low, high = max(low, least), min(high, most)
        return (low, high) if low < high else (least, most)

    def _expected(self, name: str, old: Expected, model: Model) -> Expected:
        """What is asked of an output: the widest tolerance that a case gives it."""
        given = [case.outputs[name] for case in model.cases if case.outputs[name].fixture.dtype == old.fixture.dtype]
        tolerances = [item.tolerance for item in given if item.tolerance]
        by_variant: dict[str, float] = {}
        for item in given:
            for variant, tolerance in item.tolerances.items():
                by_variant[variant] = max(tolerance, by_variant.get(variant, 0.0))
        widest = max(tolerances) if tolerances and old.fixture.dtype in FLOATS else None
        return replace(old, tolerance=widest, tolerances=by_variant)


def make_generator(planner: Planner, record: DeviceRecord, cases: Sequence[Case], seed: int) -> Generator:
    """The generator for a package, whose own cases are the model."""
    forms: dict[object, list[Case]] = {}
    for case in cases:
        forms.setdefault(_form(case), []).append(case)
    models = tuple(Model(cases=tuple(alike), classes=_classes(alike)) for alike in forms.values())
    return Generator(planner=planner, record=record, models=models, seed=seed)


def clause_constants(manifest: Manifest) -> list[int]:
    """The whole numbers that clauses of variants compare with, from 2 on, smallest first."""
    clauses = [clause for variant in manifest.variants for clause in (*variant.when, *variant.demote_when)]
    numbers = {int(found) for clause in clauses for found in _NUMBER.findall(clause)}
    return sorted(number for number in numbers if 2 <= number <= 1 << 24)


def _form(case: Case) -> object:
    return (
        tuple((name, len(item.shape)) for name, item in sorted(case.inputs.items())),
        tuple((name, len(item.fixture.shape)) for name, item in sorted(case.outputs.items())),
        tuple(sorted(case.args)),
    )


def _dtypes(case: Case) -> tuple[str, ...]:
    return tuple(item.dtype for item in case.inputs.values())


def _classes(cases: Sequence[Case]) -> tuple[tuple[Position, ...], ...]:
    """The positions of sizes, those together that are equal in every case."""
    columns: dict[tuple[int, ...], list[Position]] = {}
    for position in _positions(cases[0]):
        columns.setdefault(tuple(_size_at(case, position) for case in cases), []).append(position)
    return tuple(tuple(group) for group in columns.values())


def _positions(case: Case) -> Iterator[Position]:
    for name, item in case.inputs.items():
        yield from (("inputs", name, axis) for axis in range(len(item.shape)))
    for name, expected in case.outputs.items():
        yield from (("outputs", name, axis) for axis in range(len(expected.fixture.shape)))


def _size_at(case: Case, position: Position) -> int:
    kind, name, axis = position
    return (case.inputs[name] if kind == "inputs" else case.outputs[name].fixture).shape[axis]


def _by_position(model: Model, sizes: Sequence[int]) -> dict[Position, int]:
    return {position: size for group, size in zip(model.classes, sizes, strict=True) for position in group}


def _elements(case: Case) -> int:
    return sum(item.count for item in case.inputs.values()) + sum(item.fixture.count for item in case.outputs.values())


def _observed(name: str, models: Sequence[Model]) -> tuple[float, float]:
    """The least and the greatest finite value that the cases give an input."""
    least, most = math.inf, -math.inf
    for model in models:
        for case in model.cases:
            fixture = case.inputs.get(name)
            if fixture is None or not 0 < fixture.count <= _LOOKED_AT:
                continue
            values = make_array(fixture).astype(np.float64)
            values = values[np.isfinite(values)]
            if values.size:
                least, most = min(least, float(values.min())), max(most, float(values.max()))
    return (least, most) if least <= most else (0.0, 1.0)
