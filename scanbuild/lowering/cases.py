"""``test.json`` and ``bench.json`` of a lowered package.

The sizes of the cases follow from the package's ``when`` clauses: every variant is reached, and so is either side of
every edge, besides no steps, one step, sizes of 1, sizes of 0 and sizes that no tile fits. Expected values are ONNX
Runtime's. They are stored where they are few; otherwise ``reference.py`` tells them, which is held against ONNX Runtime
for all cases that do not take too long.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from scanbuild.errors import Problem, ScanbuildError
from scanbuild.lowering.graph import Scan
from scanbuild.lowering.interpreter import run_scan, shape_at
from scanbuild.lowering.oracle import NoAnswerError, Oracle
from scanbuild.lowering.precision import Reference, compiled, difference, is_exact, loosest, tolerance, widened
from scanbuild.lowering.reach import Reach, Sizes
from scanbuild.lowering.recipes import (
    Recipe,
    UndefinedError,
    can_be_undefined,
    elements,
    find_recipe,
    make_inputs,
    refuse_undefined,
)

Array = npt.NDArray[Any]

WRITTEN: Final = "Written by scanbuild lower."
STORED: Final = 256
"""So many expected values of a case are stored."""
_SPELLED: Final = 4096
"""So many elements may be listed in a case."""
_WORK: Final = 2**14
"""Operations of a case, one more for every thousand elements, that are computed while lowering."""
_WORK_OF_FIXED: Final = 2**16
"""The same where no size is the caller's, so that there are few cases and none can be made smaller."""
_SEEDS: Final = 4
_BENCH_STEPS: Final = (512, 4096, 65536)
_BENCH_SIZES: Final = (64, 256, 1024)
_BENCH_MOST: Final = 2**25


class MisreadError(ScanbuildError):
    """The interpreter and ONNX Runtime give different values, so that one of them must be wrong."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Plan:
    """A case to be made. ``recipe`` None stands for data that suit the body."""

    name: str
    sizes: Sizes
    recipe: Recipe | None = None
    comment: str = ""


@dataclass(kw_only=True, slots=True)
class _Maker:
    """Makes the cases of one ``Scan``."""

    scan: Scan
    reach: Reach
    oracle: Oracle | None
    narrow: Reference
    wide: Reference
    exact: bool
    risky: bool
    seed: int = 0
    recipes: dict[tuple[tuple[str, int], ...], Recipe] = field(default_factory=dict)

    def make(self, plan: Plan) -> dict[str, Any] | None:
        """The case as JSON; None where the body is not defined, or too sensitive, for all data tried."""
        for _ in range(_SEEDS):
            self.seed += 100
            recipe = plan.recipe or self.recipe(plan.sizes)
            made = self._with(plan, recipe)
            if made is not None:
                return made
        return None

    def recipe(self, sizes: Sizes) -> Recipe:
        """Data for which the body is defined, tried with few steps; any where even that takes too long."""
        few = self.few(self._affordable(sizes), 8)
        key = tuple(sorted(few.items()))
        if key not in self.recipes:
            self.recipes[key] = find_recipe(self.scan, few) if self._can_compute(few) else Recipe(sound=False)
        return self.recipes[key]

    def _affordable(self, sizes: Sizes) -> Sizes:
        """The sizes, or as much of them as can be computed while lowering."""
        tried = dict(sizes)
        while not self._can_compute(tried) and any(size > 1 for size in tried.values()):
            largest = max(tried, key=lambda symbol: tried[symbol])
            tried[largest] //= 2
        return tried

    def _can_compute(self, sizes: Sizes) -> bool:
        steps = self.scan.steps.at(sizes).number or 0
        work = steps * sum(1 + elements(node.shape, sizes) // 1000 for node in self.scan.nodes)
        return work <= (_WORK if sizes else _WORK_OF_FIXED)

    def few(self, sizes: Sizes, most: int) -> Sizes:
        """The sizes with no more than so many steps."""
        steps = self.scan.steps.symbol
        return {**sizes, steps: min(sizes[steps], most)} if steps else sizes

    def _with(self, plan: Plan, recipe: Recipe) -> dict[str, Any] | None:
        tried = self._affordable(plan.sizes)
        if not self._can_compute(tried):
            return self._case(plan, recipe, {}, {port.name: loosest(port.dtype) for port in self.scan.results}, "")
        computed = tried == plan.sizes
        inputs = make_inputs(self.scan, tried, recipe, self.seed)
        try:
            if self.risky:
                run_scan(self.scan, inputs, refuse_undefined)
            narrow, wide = self.narrow(inputs, {}, {}), self.wide(inputs, {}, {})
        except (UndefinedError, IndexError, ValueError):
            return None
        limits = {
            port.name: tolerance(port.dtype, self.exact, narrow[port.name], wide[port.name])
            for port in self.scan.results
        }
        if any(limit is None for limit in limits.values()):
            return None
        scale = math.prod(plan.sizes[symbol] / tried[symbol] for symbol in tried if tried[symbol])
        if self.exact and recipe.whole and computed:
            limits = {name: 0.0 if _is_whole(wide[name], narrow[name]) else limit for name, limit in limits.items()}
        try:
            answer, source = self._ask(inputs, narrow, limits) if computed and recipe.sound else ({}, "reference.py")
        except MisreadError:
            if recipe.special:  # ONNX says nothing of NaN in minima, maxima and their indices
                return None
            raise
        return self._case(
            plan, recipe, answer, {name: (limit or 0.0) * scale for name, limit in limits.items()}, source
        )

    def _ask(
        self, inputs: Mapping[str, Array], narrow: Mapping[str, Array], limits: Mapping[str, float | None]
    ) -> tuple[Mapping[str, Array], str]:
        """The expected values and where they are from. MisreadError if ONNX Runtime has others than the reference."""
        if self.oracle is None:
            return narrow, "reference.py"
        try:
            answer = self.oracle.run(inputs)
        except NoAnswerError as error:
            return narrow, f"reference.py; of ONNX Runtime: {error}"
        for port in self.scan.results:
            got, want = np.asarray(narrow[port.name]), answer[port.name]
            apart = difference(got, want) if got.shape == want.shape else np.inf
            if not apart <= max(limits[port.name] or 0.0, 1e-6 if want.dtype.kind == "f" else 0.0):
                message = (
                    f"the Scan node `{self.scan.name}`: scanbuild computes another {port.name} than ONNX Runtime "
                    f"(apart by {apart:.3g} for the same inputs), so that it must have misread the body"
                )
                hint = "this is a fault of scanbuild; please report it with the model"
                raise MisreadError(Problem(message=message, hint=hint))
        return answer, "ONNX Runtime on the CPU"

    def _case(
        self, plan: Plan, recipe: Recipe, answer: Mapping[str, Array], limits: Mapping[str, float], source: str
    ) -> dict[str, Any]:
        variant = self.reach.chosen(plan.sizes)
        inputs = {
            port.name: {
                "dtype": port.dtype,
                "shape": list(shape_at(port.shape, plan.sizes)),
                "data": recipe.describe(port, plan.sizes, self.seed + index),
            }
            for index, port in enumerate(self.scan.inputs)
        }
        stored = sum(value.size for value in answer.values()) <= STORED
        return {
            "name": plan.name,
            **({"$comment": plan.comment} if plan.comment else {}),
            "provenance": {"source": source if answer and stored else "reference.py"},
            **({"expectVariant": variant} if variant else {}),
            "inputs": inputs,
            "outputs": {
                port.name: {
                    "dtype": port.dtype,
                    "shape": list(shape_at(port.shape, plan.sizes)),
                    "tolerance": limits[port.name],
                    **({"data": {"kind": "values", "values": _listed(answer[port.name])}} if answer and stored else {}),
                }
                for port in self.scan.results
            },
        }


def test_json(scan: Scan, manifest: Mapping[str, Any], oracle: Oracle | None, reason: str = "") -> dict[str, Any]:
    """The content of ``test.json`` for a package with this manifest. ``reason`` says why there is no oracle.

    MisreadError if ONNX Runtime and the interpreter do not agree.
    """
    reach = Reach(manifest, scan)
    maker = _Maker(
        scan=scan,
        reach=reach,
        oracle=oracle,
        narrow=compiled(scan),
        wide=compiled(widened(scan)),
        exact=is_exact(scan),
        risky=can_be_undefined(scan),
    )
    cases, left_out = [], []
    for plan in _plans(scan, reach):
        made = maker.make(plan)
        if made is not None:
            cases.append(made)
        elif plan.recipe is None:
            left_out.append(plan.name)
    words = WRITTEN
    if oracle is None:
        words += f" The expected values are those of reference.py alone, since ONNX Runtime has none: {reason}."
    if left_out:
        names = ", ".join(left_out)
        words += f" Left out, since the body is undefined or too sensitive to rounding for the data tried: {names}."
    return {"$comment": words, "cases": cases}


def _plans(scan: Scan, reach: Reach) -> list[Plan]:
    steps = scan.steps.symbol
    others = [symbol for symbol in reach.symbols if symbol != steps]
    small = {symbol: 2 + index for index, symbol in enumerate(others)} | ({steps: 3} if steps else {})
    plans = [Plan(name="small", sizes=small)]
    if steps:
        plans += [
            Plan(name="no_steps", sizes={**small, steps: 0}),
            Plan(name="one_step", sizes={**small, steps: 1}),
            Plan(name="steps_no_tile_fits", sizes={**small, steps: 37}),
        ]
    if others:
        plans += [
            Plan(name="sizes_of_1", sizes={**small, **dict.fromkeys(others, 1)}),
            Plan(name="sizes_no_tile_fits", sizes={**small, **{name: 5 + 2 * at for at, name in enumerate(others)}}),
            *(Plan(name=f"{symbol}_of_0", sizes={**small, symbol: 0}) for symbol in others),
        ]
    plans += _edge_plans(scan, reach, small)
    usual = {**small, **({steps: 9} if steps else {})}
    if reach.cheap(usual):
        plans += _value_plans(scan, usual, spelled=reach.cost(usual) <= _SPELLED)
    seen: set[tuple[Any, ...]] = set()
    return [
        plan
        for plan in plans
        if reach.allowed(plan.sizes)
        and (reach.chosen(plan.sizes) is not None)
        and (key := (tuple(sorted(plan.sizes.items())), plan.recipe)) not in seen
        and not seen.add(key)  # type: ignore[func-returns-value]
    ]


def _edge_plans(scan: Scan, reach: Reach, small: Sizes) -> list[Plan]:
    plans = []
    whole = Recipe(whole=True, floats=(-3, 4)) if is_exact(scan) else None
    for variant, sizes in reach.smallest(small).items():
        plans.append(Plan(name=f"reaches_{variant}", sizes=sizes))
        if whole is not None and sizes != small:
            comment = "Whole numbers: sums of them are exact in any order, so that a fault of indexing shows."
            plans.append(Plan(name=f"reaches_{variant}_exactly", sizes=sizes, recipe=whole, comment=comment))
        for at, beyond in reach.edges(sizes):
            changed = next(symbol for symbol in at if at[symbol] != beyond[symbol])
            ends = "until" if beyond[changed] > at[changed] else "from"
            plans.append(Plan(name=f"{variant}_{ends}_{changed}_{at[changed]}", sizes=at))
            plans.append(Plan(name=f"not_{variant}_with_{changed}_{beyond[changed]}", sizes=beyond))
    return [plan for plan in plans if reach.cheap(plan.sizes)]


def _value_plans(scan: Scan, sizes: Sizes, *, spelled: bool) -> list[Plan]:
    """Cases whose data are out of the ordinary; ``spelled`` allows for data that are listed one by one."""
    plans = []
    kinds = {np.dtype(port.dtype).kind for port in scan.inputs}
    if "f" in kinds:
        plans.append(Plan(name="zeros", sizes=sizes, recipe=Recipe(floats=(0, 1), whole=True)))
        plans.append(Plan(name="large_values", sizes=sizes, recipe=Recipe(floats=(-1000, 1000))))
        if is_exact(scan) and spelled:
            comment = "Infinities, zeros of either sign and values that are no numbers, as ONNX Runtime treats them."
            plans.append(Plan(name="special_values", sizes=sizes, recipe=Recipe(special=True), comment=comment))
    for kind in sorted(kinds & {"i", "u"}):
        widths = [np.iinfo(port.dtype) for port in scan.inputs if np.dtype(port.dtype).kind == kind]
        low = max(-(2**62), *(int(item.min) for item in widths))
        high = min(2**62 - 1, *(int(item.max) for item in widths))
        comment = "The whole range of the dtype, so that sums and products wrap."
        plans.append(Plan(name=f"wraps_{kind}", sizes=sizes, recipe=Recipe(integers=(low, high + 1)), comment=comment))
    return plans


def _is_whole(wide: Array, narrow: Array) -> bool:
    """Whether floats are integers that every order of sums gives exactly."""
    if np.asarray(narrow).dtype.kind != "f":
        return True
    exact = 2.0**11 if np.asarray(narrow).dtype == np.float16 else 2.0**24
    value = np.asarray(wide)
    return bool(np.array_equal(value, narrow) and (np.abs(value) < exact).all() and (value == np.rint(value)).all())


def _listed(value: Array) -> list[Any]:
    """The elements as JSON has them."""
    if value.dtype.kind != "f":
        return [int(item) for item in value.reshape(-1)]
    return [_number(item) for item in value.reshape(-1)]


def _number(item: Any) -> Any:
    """A float of NumPy, in as few digits as tell it from its neighbours."""
    if np.isfinite(item):
        short = float(str(item))
        return int(short) if short == int(short) != 0 else short
    return "NaN" if np.isnan(item) else "Infinity" if item > 0 else "-Infinity"


def bench_json(scan: Scan, manifest: Mapping[str, Any]) -> dict[str, Any]:
    """The content of ``bench.json``: fixed sizes as they are, symbols at a few sizes of practical interest."""
    reach = Reach(manifest, scan)
    steps = scan.steps.symbol
    others = [symbol for symbol in reach.symbols if symbol != steps]
    recipe = find_recipe(scan, dict.fromkeys(others, 2) | {steps: 8}) if steps else Recipe()
    cases = []
    for count in _BENCH_STEPS if steps else (0,):
        for width in _BENCH_SIZES if others else (0,):
            sizes = dict.fromkeys(others, width) | ({steps: count} if steps else {})
            total = sum(int(np.prod(shape_at(port.shape, sizes), dtype=np.int64)) for port in scan.inputs)
            if reach.allowed(sizes) and reach.chosen(sizes) is not None and (total <= _BENCH_MOST or not sizes):
                cases.append(_bench_case(scan, sizes, recipe))
    return {"$comment": WRITTEN, "cases": cases}


def _bench_case(scan: Scan, sizes: Sizes, recipe: Recipe) -> dict[str, Any]:
    name = "_".join(f"{symbol}_{size}" for symbol, size in sorted(sizes.items())) or "as_it_is"
    inputs = {
        port.name: {
            "dtype": port.dtype,
            "shape": list(shape_at(port.shape, sizes)),
            "data": recipe.describe(port, sizes, index + 1),
        }
        for index, port in enumerate(scan.inputs)
    }
    return {"name": name, "inputs": inputs}
