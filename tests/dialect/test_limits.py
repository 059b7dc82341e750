"""Hostile texts end with a clean error, and soon."""

import sys
import threading
import time

import pytest

from scanbuild.dialect import DialectError, parse_expression, parse_template

GROW = '{% set n = namespace(s="a") %}{% for i in range(60) %}{% set n.s = n.s ~ n.s %}{% endfor %}'

BOMBS = {
    "nested loops": "{% for a in range(3000) %}{% for b in range(3000) %}{% endfor %}{% endfor %}",
    "a string that doubles": GROW,
    "a growing list": "{% set n = namespace(s=[1]) %}{% for i in range(60) %}{% set n.s = n.s + n.s %}{% endfor %}",
    "a macro that calls itself": "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}",
    "a call block in its own macro": "{% macro m() %}{% call m() %}{% endcall %}{% endmacro %}{{ m() }}",
    "an endless range": "{{ range(1 // 0) }}",
    "lists of lists of lists": "{{ fill(fill(fill(1, 1000), 1000), 1000) }}",
    "a namespace in itself": "{% set n = namespace() %}{% set n.a = n %}{{ n }}",
    "a deep list": "{% set n = namespace(a=1) %}{% for i in range(5000) %}{% set n.a = [n.a] %}{% endfor %}{{ n.a }}",
    "a wide indentation": "{{ [1] | tojson(indent=1000000) }}",
    "a replacement everywhere": GROW.replace("60", "20") + '{{ n.s | replace("", n.s) }}',
    "searching a long list": "{% set l = range(100000) %}{% for i in l %}{{ -1 in l }}{% endfor %}",
}
LONG = {
    "brackets": "(" * 100_000,
    "closed brackets": "(" * 10_000 + "1" + ")" * 10_000,
    "signs": "-" * 100_000 + "1",
    "nots": "not " * 20_000 + "1",
    "conditionals": "1 if 1 else " * 20_000 + "1",
    "members": "attrs" + ".b" * 100_000,
    "calls": "max" + "()" * 100_000,
    "filters": "1" + "|int" * 50_000,
    "an open string": "'" + "\\n" * 100_000,
    "blanks": " " * 200_000 + "(",
    "too long": "1" * 10_000_000,
}


@pytest.mark.parametrize("text", BOMBS.values(), ids=BOMBS)
def test_a_template_that_grows_without_end_is_stopped(text: str) -> None:
    started = time.monotonic()
    with pytest.raises(DialectError) as caught:
        parse_template(text).render({})
    assert caught.value.kind == "limit"
    assert time.monotonic() - started < 20


@pytest.mark.parametrize("text", LONG.values(), ids=LONG)
def test_an_expression_that_is_too_deep_or_too_long_is_refused(text: str) -> None:
    started = time.monotonic()
    with pytest.raises(DialectError) as caught:
        parse_expression(text).evaluate({"attrs": {}})
    assert caught.value.kind in ("limit", "syntax")
    assert time.monotonic() - started < 10


def test_a_row_of_operators_may_be_long() -> None:
    assert parse_expression("+".join(["1"] * 5000)).evaluate({}) == 5000


def test_a_million_iterations_are_allowed() -> None:
    assert parse_template("{% for i in range(1000000) %}{% endfor %}x").render({}) == "x"


def test_a_million_iterations_may_print_their_number() -> None:
    text = parse_template("{% for i in range(1000000) %}{{ i }},{% endfor %}").render({})
    assert text.endswith(",999998,999999,")


NESTED = {
    "parentheses": ("(", "1", ")", 390),
    "sums": ("(1 + ", "1", ")", 250),
    "lists": ("[", "1", "]", 250),
    "calls": ("max(", "1", ")", 180),
    "conditionals": ("0 if 0 else ", "1", "", 250),
    "indices": ("[0][", "-1", "]", 150),
}


@pytest.mark.parametrize(("opening", "inside", "closing", "count"), NESTED.values(), ids=NESTED)
def test_hundreds_of_levels_are_allowed(opening: str, inside: str, closing: str, count: int) -> None:
    parse_expression(opening * count + inside + closing * count).evaluate({})


def test_a_thousand_nested_parentheses_are_refused_as_in_the_loader() -> None:
    with pytest.raises(DialectError, match="nested"):
        parse_expression("(" * 1000 + "1" + ")" * 1000)


def test_deep_texts_end_cleanly_on_a_small_stack() -> None:
    kinds = []

    def evaluate_all() -> None:
        for opening, inside, closing, _ in NESTED.values():
            with pytest.raises(DialectError) as caught:
                parse_expression(opening * 600 + inside + closing * 600).evaluate({})
            kinds.append(caught.value.kind)

    usual = threading.stack_size(256 * 1024)
    try:
        thread = threading.Thread(target=evaluate_all)
        thread.start()
        thread.join()
    finally:
        threading.stack_size(usual)
    assert kinds == ["limit"] * len(NESTED)


def test_a_text_that_is_too_deep_for_a_nearly_full_stack_is_not_refused_for_good() -> None:
    text = "[" * 200 + "]" * 200

    def attempt(frames: int) -> None:
        if frames:
            attempt(frames - 1)
        else:
            parse_expression(text)

    with pytest.raises(DialectError):
        attempt(sys.getrecursionlimit() - 400)
    parse_expression(text)


@pytest.mark.parametrize("piece", ["{{", "{% ", "{#", "{{ 1 }}", " {%- ", "{% generation %} ", "  \n", "{{ '", "\\"])
def test_a_megabyte_of_anything_is_read_quickly(piece: str) -> None:
    started = time.monotonic()
    try:
        parse_template(piece * (1_000_000 // len(piece)))
    except DialectError as error:
        assert error.kind in ("syntax", "limit")
    assert time.monotonic() - started < 10
