"""Expressions taken apart: their texts mean the same, and their parts have the values that they have in the whole."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scanbuild.dialect import UNDEFINED, DialectError, parse_expression
from scanbuild.dialect.parts import LONGEST, take_apart

SCOPE = {"a": 3, "b": 0, "t": True, "f": False, "s": "ab", "shapes": {"x": [2, 5]}, "attrs": {"axis": -1}}

ATOMS = ["a", "b", "t", "f", "s", "1", "2.5", "'it\\'s'", "none", "shapes.x", "shapes.x[1]", "attrs.axis"]
ATOMS += ["attrs['axis']", "[1, a]", "{'k': a}", "max(a, 2)", "shapes.x[0:1]", "s.upper()", "(1, a)"]
BINARY = ["and", "or", "+", "-", "*", "/", "//", "%", "**", "~", "==", "!=", "<", "<=", ">", ">=", "in", "not in"]
UNARY = ["not ({})", "-({})", "({}) is not defined", "({}) is odd", "({}) | string", "({}) | default(1, true)"]


@st.composite
def expressions(draw, depth=2):
    """Expressions of every form, some operands without the parentheses that would make them what they seem."""
    form = draw(st.sampled_from(["atom", "binary", "bare", "unary", "choice"])) if depth else "atom"
    inner = [draw(expressions(depth - 1)) for _ in range({"atom": 0, "unary": 1, "choice": 3}.get(form, 2))]
    if form == "atom":
        return draw(st.sampled_from(ATOMS))
    if form == "unary":
        return draw(st.sampled_from(UNARY)).format(*inner)
    if form == "choice":
        return "({}) if ({}) else ({})".format(*inner)
    operator = draw(st.sampled_from(BINARY))
    return f" {operator} ".join(inner if form == "bare" else [f"({text})" for text in inner])


def outcome(text):
    try:
        value = parse_expression(text).evaluate(SCOPE)
    except DialectError:
        return "fails"
    return repr(value)


@settings(max_examples=150, deadline=None)
@given(expressions())
def test_the_text_of_an_expression_means_what_the_expression_means(text):
    try:
        part = take_apart(text)
    except DialectError:
        return
    assert outcome(part.text) == outcome(text)
    assert take_apart(part.text).text == part.text


def test_a_chain_has_all_its_operands():
    part = take_apart("a > 1 and (b or t) and not f")
    assert part.kind == "and"
    assert [item.text for item in part.operands] == ["a > 1", "b or t", "not f"]
    assert [item.evaluate(SCOPE) for item in part.operands] == [True, True, True]


def test_parentheses_stay_where_they_matter_and_go_where_they_do_not():
    assert take_apart("((a)) + (b * 2)").text == "a + b * 2"
    assert take_apart("(a + b) * 2").text == "(a + b) * 2"
    assert take_apart("a - (b - 1)").text == "a - (b - 1)"
    assert take_apart("not (a and b)").text == "not (a and b)"


@pytest.mark.parametrize(
    ("text", "readings"),
    [
        ("shapes.x[a - 1] == attrs.axis", ["shapes.x[a - 1]", "a", "attrs.axis"]),
        ("max(a, b) > a", ["a", "b"]),
        ("s.upper() == 'AB'", ["s"]),
        ("shapes['x'] | length > 1", ["shapes['x']"]),
        ("t if a else none", ["a", "t"]),
        ("true or 1 == 1", []),
    ],
)
def test_what_an_expression_reads_are_names_with_their_members_and_no_helpers(text, readings):
    assert [item.text for item in take_apart(text).readings()] == readings


def test_a_part_needs_no_name_that_stands_elsewhere():
    whole = take_apart("a == 3 and missing > 1")
    with pytest.raises(DialectError, match="missing"):
        whole.evaluate(SCOPE)
    first, second = whole.operands
    assert first.evaluate(SCOPE) is True
    with pytest.raises(DialectError, match="unknown name 'missing'"):
        second.evaluate(SCOPE)


def test_a_choice_without_other_value_has_two_operands():
    part = take_apart("a if f")
    assert [item.text for item in part.operands] == ["f", "a"]
    assert part.evaluate(SCOPE) is UNDEFINED


def test_what_does_not_parse_is_refused():
    with pytest.raises(DialectError):
        take_apart("a +")


@pytest.mark.parametrize("text", ["a" + " + a" * LONGEST, "a" + " and a" * 2000, "-(" * 60 + "a" + ")" * 60])
def test_long_and_deep_expressions_stay_whole_or_come_apart_but_never_fail(text):
    part = take_apart(text)
    assert part.evaluate(SCOPE) == parse_expression(text).evaluate(SCOPE)
