"""What the corpora do not show: places of errors, names, conversions, and that evaluation has no side effects."""

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scanbuild.dialect import (
    UNDEFINED,
    DialectError,
    Function,
    NameSet,
    expand_includes,
    js_number_text,
    js_string,
    parse_expression,
    parse_template,
    to_number,
)


def error_of(function: Any, *arguments: Any) -> DialectError:
    with pytest.raises(DialectError) as caught:
        function(*arguments)
    return caught.value


def test_a_syntax_error_has_the_place_in_the_expression() -> None:
    error = error_of(parse_expression, "1 +\n  ?")
    assert (error.kind, error.line, error.column) == ("syntax", 2, 3)


def test_a_value_error_has_the_place_of_the_operator() -> None:
    error = error_of(parse_expression("[1, none + 2]").evaluate, {})
    assert (error.kind, error.line, error.column) == ("value", 1, 10)


def test_an_unknown_name_is_placed_and_the_nearest_one_is_named() -> None:
    error = error_of(parse_expression("1 + shape.x").evaluate, {"shapes": {}})
    assert (error.kind, error.line, error.column) == ("name", 1, 5)
    assert "'shapes'" in error.message


def test_an_error_in_an_included_file_is_placed_in_that_file() -> None:
    files = {
        "main.wgsl": "a\n  {% if true %}\n{% include 'inc.wgsl' %}\n{% endif %}",
        "inc.wgsl": "x\n\n y {{ 1 ! }}\n",
    }
    error = error_of(parse_template, expand_includes("main.wgsl", files))
    assert (error.file, error.line, error.column) == ("inc.wgsl", 3, 9)


def test_a_rendering_error_behind_removed_blanks_is_placed_in_the_written_text() -> None:
    text = "a\n    {% set x = 1 %}\n    {% generation %}  {{ x.y.z + 1 }}"
    error = error_of(parse_template(text).render, {})
    assert (error.kind, error.line, error.column) == ("value", 3, 32)


def test_lines_of_an_expanded_text_know_their_origin() -> None:
    files = {"m": "1\n{% include 'i' %}\n3\n", "i": "a\nb\n"}
    expanded = expand_includes("m", files)
    assert expanded.text == "1\na\nb\n3\n"
    assert expanded.files == ("m", "i")
    assert [expanded.origin(line) for line in (1, 2, 3, 4)] == [("m", 1), ("i", 1), ("i", 2), ("m", 3)]


def test_a_missing_include_is_placed_and_the_nearest_file_is_named() -> None:
    error = error_of(expand_includes, "m", {"m": "\n {% include 'partz.wgsl' %}", "parts.wgsl": ""})
    assert (error.kind, error.file, error.line, error.column) == ("include", "m", 2, 2)
    assert "'parts.wgsl'" in error.message


def test_many_includes_of_an_empty_file_meet_a_limit() -> None:
    files = {"m": "{% include 'a' %}" * 200, "a": "{% include 'b' %}" * 200, "b": ""}
    assert error_of(expand_includes, "m", files).kind == "limit"


def test_the_names_of_an_expression_are_those_that_must_exist() -> None:
    expression = parse_expression("a.b if c is defined else max(d, e=f) | default(g) and true")
    assert expression.names == {"a", "d", "f", "g", "max"}
    assert expression.mentions == {"a", "c", "d", "f", "g", "max", "true"}


def test_the_reads_of_a_template_are_static_members_or_whole_names() -> None:
    template = parse_template(
        "{{ tunables.X }}{{ shapes['x'][0] }}{% for a in args %}{{ a }}{% endfor %}{{ attrs[b] }}"
    )
    assert template.reads == {("tunables", "X"), ("shapes", "x"), ("args",), ("a",), ("attrs",), ("b",)}
    assert template.names == {"tunables", "shapes", "args", "a", "attrs", "b"}


def test_a_name_read_twice_is_one_list_and_a_copy_is_another() -> None:
    scope = {"l": [1], "o": {"l": [1]}}
    texts = ["l == l", "o.l == o.l", "o.l == o['l']", "l == o.l", "[1] == [1]"]
    assert [parse_expression(text).evaluate(scope) for text in texts] == [True, True, True, False, False]


def test_members_two_deep_are_those_of_the_whole_object() -> None:
    scope = {"o": {"p": {"i": 2.0, "s": "a", "l": [1], "n": None, "items": 5}, "x": 3}}
    texts = ["o.p.i is integer", "o.p.s", "o.p.l == o.p.l", "o.p.n", "o.p.zz", "o.x.y", "o.q.r", "o.p.items", "o.p.0"]
    for text in texts:
        alone, beside = parse_expression(text), parse_expression(f"[{text}, o][0]")
        if text == "o.p.0":
            assert error_of(alone.evaluate, scope).kind == error_of(beside.evaluate, scope).kind == "value"
        else:
            assert alone.evaluate(scope) == beside.evaluate(scope)


def test_a_number_beyond_the_doubles_is_an_infinite_float() -> None:
    assert parse_expression("[n, n is integer, n is number]").evaluate({"n": 10**400}) == [math.inf, False, True]


def test_a_member_read_beside_its_whole_object_is_the_same_list() -> None:
    assert parse_expression("o.l == (o.values() | first)").evaluate({"o": {"l": [1]}}) is True


def test_a_scope_name_hides_a_helper_but_no_constant() -> None:
    assert parse_expression("max").evaluate({"max": 3}) == 3
    assert error_of(parse_expression("true").evaluate, {"true": 3}).kind == "name"


def test_a_function_of_the_scope_is_called_with_plain_values() -> None:
    seen: list[Any] = []
    scope = {"f": Function(lambda *given: seen.extend(given) or 2.0)}  # type: ignore[func-returns-value]
    assert parse_expression("f([1.0, (2, none)], none, 'a', k=1) is integer").evaluate(scope) is True
    assert seen == [[1, [2, None]], UNDEFINED, "a", {"k": 1}]


def test_a_set_of_names_answers_has_and_size_only() -> None:
    scope = {"features": NameSet(frozenset({"a", "b"}))}
    texts = ["features.has('a')", "features.has('c')", "features.size", "'a' in features"]
    assert [parse_expression(text).evaluate(scope) for text in texts] == [True, False, 2, False]


def test_rendering_twice_gives_the_same_text_and_leaves_the_context_alone() -> None:
    context = {"l": [3, 1, 2], "o": {"b": 1}}
    template = parse_template(
        "{% set l = l | sort %}{{ l }}{% set ns = namespace(o) %}{% set ns.b = 2 %}{{ ns.b }}{{ o.b }}"
    )
    assert template.render(context) == template.render(context) == "[1, 2, 3]21"
    assert context == {"l": [3, 1, 2], "o": {"b": 1}}


def test_members_called_like_array_indices_come_first() -> None:
    value = parse_expression("{'b': 1, '10': 2, '9': 3, '01': 4}").evaluate({})
    assert list(value) == ["9", "10", "b", "01"]


@given(st.floats())
def test_a_number_text_reads_back_as_the_same_number(number: float) -> None:
    text = js_number_text(number)
    assert math.isnan(number) if text == "NaN" else to_number(text) == number


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (1e21, "1e+21"),
        (1e20, "100000000000000000000"),
        (1e-7, "1e-7"),
        (0.000001, "0.000001"),
        (-0.0, "0"),
        (123456789.125, "123456789.125"),
        (5e-324, "5e-324"),
        (2**53 + 2, "9007199254740994"),
        (1.5e300, "1.5e+300"),
    ],
)
def test_numbers_have_javascripts_text(number: float, text: str) -> None:
    assert js_number_text(number) == text


@pytest.mark.parametrize(
    ("value", "number"),
    [
        ("", 0),
        (" 12 ", 12),
        ("0x1F", 31),
        ("1e3", 1000),
        (".5", 0.5),
        (None, 0),
        (True, 1),
        ([], 0),
        (["7"], 7),
        ("-Infinity", -math.inf),
    ],
)
def test_values_become_numbers_as_in_javascript(value: Any, number: float) -> None:
    assert to_number(value) == number


@pytest.mark.parametrize("value", ["a", "1_000", "0x", "1e", "+-1", "inf", "nan", UNDEFINED, {}, [1, 2], "١"])
def test_what_is_no_number_becomes_nan(value: Any) -> None:
    assert math.isnan(to_number(value))


def test_values_become_texts_as_in_javascript() -> None:
    values = [None, UNDEFINED, True, 1.0, [1, [None, "a"], 0.5], {"a": 1}]
    assert [js_string(value) for value in values] == ["null", "undefined", "true", "1", "1,,a,0.5", "[object Object]"]


def test_the_dialect_imports_nothing_of_the_project() -> None:
    import ast
    from pathlib import Path

    import scanbuild.dialect

    for path in Path(scanbuild.dialect.__file__).parent.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.ImportFrom):
                assert node.level < 2, path
                assert not (node.module or "").startswith("scanbuild"), path
