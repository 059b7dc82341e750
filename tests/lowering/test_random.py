"""Random bodies: ONNX Runtime, the interpreter and every eligible variant have to give the same values."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st
from onnx import ModelProto, printer

from scanbuild.gpu import Engine
from scanbuild.lowering.interpreter import run_scan
from scanbuild.lowering.lower import read
from scanbuild.lowering.oracle import NoAnswerError
from scanbuild.lowering.precision import compiled, is_exact, tolerance, widened
from scanbuild.lowering.recipes import UndefinedError, find_recipe, make_inputs, refuse_undefined
from tests.lowering.bodies import SIZES, models
from tests.lowering.harness import Arrays, distance, with_all_variants

OUTCOMES: Counter[str] = Counter()


def try_model(model: ModelProto, engine: Engine, steps: int = 4) -> str:
    """Compare all there is to compare; what came of it in a word."""
    sizes = {**SIZES, "t": steps}
    found = read(model.SerializeToString(), "model.onnx", None)
    package = with_all_variants(found)
    scan = found.scan
    recipe = find_recipe(scan, {**sizes, "t": min(steps, 9)})
    if not recipe.sound:
        return "undefined for all data tried"
    inputs = make_inputs(scan, sizes, recipe, seed=5)
    try:
        narrow = run_scan(scan, inputs, refuse_undefined)
    except UndefinedError:
        return "undefined for all data tried"
    wide = compiled(widened(scan))(inputs, {}, {})
    limits = {
        port.name: tolerance(port.dtype, is_exact(scan), narrow[port.name], wide[port.name]) for port in scan.results
    }
    loose = {name: 0.0 if limit is None else max(limit, 2e-5) for name, limit in limits.items()}
    if any(limit is None for limit in limits.values()):
        return "too sensitive to rounding"
    outcome = "compared"
    try:
        want = package.oracle.run(inputs)
        _compare("the interpreter", narrow, want, loose)
    except NoAnswerError:
        outcome, want = "compared without ONNX Runtime", narrow
    variants = package.eligible(engine, inputs)
    assert variants
    for variant in variants:
        _compare(variant, package.run(engine, inputs, variant), want, loose)
    return outcome


def _compare(who: str, got: Arrays, want: Arrays, limits: dict[str, float]) -> None:
    """Where the right value is finite: WGSL lets a compiler take it for granted that all are, so ``s + (x - s)`` may
    become ``x``. Models made for infinities and NaN are among the examples."""
    for name, limit in limits.items():
        finite = np.isfinite(want[name])
        apart = distance({name: np.asarray(got[name])[finite]}, {name: want[name][finite]})
        assert apart <= limit, f"{who}: {name} is {apart:.3g} apart:\n{np.asarray(got[name])}\n{want[name]}"


def _run(model: ModelProto, engine: Engine, steps: int = 4) -> None:
    note(printer.to_text(model))
    OUTCOMES[try_model(model, engine, steps)] += 1


_CHECKS = [HealthCheck.too_slow, HealthCheck.function_scoped_fixture, HealthCheck.data_too_large]


@settings(max_examples=50, deadline=None, derandomize=True, database=None, suppress_health_check=_CHECKS)
@given(model=models())
def test_fifty_random_bodies(model, engine):
    _run(model, engine)


@pytest.mark.long
@settings(max_examples=2000, deadline=None, database=None, suppress_health_check=_CHECKS)
@given(model=models(), steps=st.sampled_from([4] * 14 + [1, 1, 9, 9, 9, 150]))
def test_two_thousand_random_bodies(model, steps, patient_engine):
    """One in twenty has enough steps for a parallel scan, which a software adapter takes seconds to compile."""
    _run(model, patient_engine, steps)


def test_most_random_bodies_could_be_compared():
    """Whoever runs this alone has nothing counted yet."""
    total = sum(OUTCOMES.values())
    if total:
        assert OUTCOMES["compared"] >= 0.6 * total, OUTCOMES
