"""Section 3 of the format, rule by rule: what each sentence accepts, with its value, and what it refuses."""

import math
from typing import Any

import pytest

from scanbuild.dialect import UNDEFINED, DialectError, parse_expression

from .rules_of_expressions import RULES, SCOPE, Rule


def same(value: Any, expected: Any) -> bool:
    """Equality that takes NaN for itself, and tells booleans from numbers."""
    if isinstance(expected, float) and math.isnan(expected):
        return isinstance(value, float) and math.isnan(value)
    if isinstance(expected, list):
        return isinstance(value, list) and len(value) == len(expected) and all(map(same, value, expected))
    return bool(value == expected) and isinstance(value, bool) == isinstance(expected, bool)


def named(item: Rule) -> str:
    return f"{item.section} {item.sentence}"


def value_of(text: str) -> Any:
    value = parse_expression(text).evaluate(SCOPE)
    return None if value is UNDEFINED else value


@pytest.mark.parametrize("item", RULES, ids=named)
def test_a_rule_of_expressions_accepts(item: Rule) -> None:
    for text, expected in item.accepts.items():
        assert same(value_of(text), expected), (text, value_of(text))


@pytest.mark.parametrize("item", RULES, ids=named)
def test_a_rule_of_expressions_refuses(item: Rule) -> None:
    assert item.refuses
    for text in item.refuses:
        try:
            value = value_of(text)
        except DialectError:
            continue
        pytest.fail(f"{text} is {value!r}")


def test_no_rule_is_said_twice() -> None:
    assert len({named(item) for item in RULES}) == len(RULES)
