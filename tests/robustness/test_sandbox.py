"""Expressions and templates reach the values of their scope, and nothing of Python, of the system or of the time."""

import pytest

from scanbuild.dialect import HELPERS, UNDEFINED, DialectError, NameSet, allowance, parse_expression, parse_template
from scanbuild.dialect.limits import MAX_WORK

SCOPE = {
    "shapes": {"x": [2, 3]},
    "attrs": {"mode": "a"},
    "env": {"wgsl": {"resourceDeclarations": "var x;"}},
    "device": {"features": NameSet(frozenset({"shader-f16"}))},
}
INNARDS = ("__class__", "__init__", "__globals__", "__mro__", "__dict__", "__self__", "__func__", "gi_frame", "mro")
HOLDERS = (
    "shapes",
    "shapes.x",
    "attrs.mode",
    "1",
    "1.5",
    "''",
    "[]",
    "(1, 2)",
    "{}",
    "none",
    "true",
    "max",
    "attrs.mode.upper",
    "shapes.items",
    "device.features",
    "device.features.has",
    "env",
    "missing",
)
UNKNOWN = (
    "__import__('os')",
    "eval('1')",
    "open('/etc/passwd')",
    "os.environ",
    "self",
    "context",
    "cycler",
    "joiner",
    "lipsum()",
    "request",
    "config",
    "now()",
    "strftime_now('%Y')",
    "time.time()",
    "random()",
    "globals()",
    "vars",
    "builtins",
)


def outcome(text: str) -> object:
    try:
        return parse_expression(text).evaluate({**SCOPE, "missing": None})
    except DialectError:
        return UNDEFINED


@pytest.mark.parametrize("innard", INNARDS)
def test_no_value_has_the_innards_of_python(innard):
    for holder in HOLDERS:
        for text in (f"({holder}).{innard}", f"({holder})['{innard}']", f"[{holder}] | map(attribute='{innard}')"):
            found = outcome(text)
            assert found is UNDEFINED or found in (None, [UNDEFINED], [None]), text
        assert f"{innard}" not in str(outcome(f"({holder}) | tojson"))


@pytest.mark.parametrize("text", UNKNOWN)
def test_no_name_leads_to_the_system(text):
    with pytest.raises(DialectError):
        parse_expression(text).evaluate(SCOPE)


@pytest.mark.parametrize("text", UNKNOWN)
def test_no_name_in_a_template_leads_to_the_system(text, monkeypatch):
    monkeypatch.setenv("HOME", "environment-secret")
    try:
        rendered = parse_template("{{ " + text + " }}").render(SCOPE)
    except DialectError:
        return
    assert rendered == ""


@pytest.mark.parametrize("name", sorted(HELPERS))
def test_no_helper_can_be_printed_or_looked_into(name):
    for text in (f"{name} ~ ''", f"{name} | tojson", f"[{name}] | string", f"{name}.call", f"{name}.name"):
        assert outcome(text) is UNDEFINED or outcome(text) is None


@pytest.mark.parametrize("text", ["%s", "{0.__class__}", "{}", "%(x)s", "${HOME}", "`id`", "$(id)", "\\x41"])
def test_texts_are_not_formatted(text):
    assert parse_template(text + "{{ '' }}").render(SCOPE) == text


def test_the_same_template_gives_the_same_text_at_all_times():
    text = "{{ shapes | tojson }}{% for i in range(3) %}{{ loop.index }}{% endfor %}{{ device.features.size }}"
    assert len({parse_template(text).render(SCOPE) for _ in range(3)}) == 1


# --- work ----------------------------------------------------------------------------------------------------------

COSTLY = "numel(fill(1, 1000))"
LITTLE = MAX_WORK >> 9


def evaluations(most: int) -> int:
    """How often the costly expression can be evaluated before it is refused."""
    for count in range(most):
        try:
            parse_expression(COSTLY).evaluate({})
        except DialectError as error:
            assert error.kind == "limit"
            return count
    return most


def test_evaluations_within_an_allowance_share_it():
    assert evaluations(8) == 8
    with allowance(LITTLE):
        assert 0 < evaluations(8) < 8
    assert evaluations(2) == 2


def test_an_allowance_within_another_takes_from_it():
    with allowance(LITTLE):
        spent = 0
        while True:
            with allowance(LITTLE):
                count = evaluations(1)
            spent += count
            if not count:
                break
        assert 0 < spent < 8


def test_an_allowance_of_nothing_allows_nothing():
    with allowance(0), pytest.raises(DialectError):
        parse_expression("1").evaluate({})


@pytest.mark.parametrize("body", ["x", "{{ i }},"])
def test_a_million_iterations_are_within_the_allowance_of_a_call(body):
    with allowance(MAX_WORK):
        text = parse_template(f"{{% for i in range(1000000) %}}{body}{{% endfor %}}").render({})
    assert text.count("x") == (1_000_000 if body == "x" else 0)


def test_megabytes_of_output_are_within_the_allowance_of_a_call():
    with allowance(MAX_WORK):
        text = parse_template("{% for i in range(100000) %}" + "x" * 100 + "{% endfor %}").render({})
    assert len(text) == 10_000_000
