"""The corpora's expressions and templates, as far as they need no plan."""

from typing import Any

import pytest

from scanbuild.dialect import DialectError, expand_includes, parse_expression, parse_template

from .scopes import CorpusScope, corpus, decoded, written

EXPRESSIONS = corpus("expressions")
TEMPLATES = corpus("templates")
STAGES = {None: "manifest", "variant": "variant", "pass": "pass"}
PLANLESS = [entry for entry in EXPRESSIONS["entries"] if entry.get("stage") in STAGES]


def outcome(function: Any, *arguments: Any) -> tuple[str, Any]:
    """What a call gives: its value, or the kind of its error."""
    try:
        return "value", function(*arguments)
    except DialectError as error:
        return "error", error.kind


@pytest.fixture(scope="module")
def scopes() -> dict[str, CorpusScope]:
    return {name: CorpusScope(data) for name, data in (EXPRESSIONS["scopes"] | TEMPLATES["scopes"]).items()}


@pytest.mark.parametrize("entry", PLANLESS, ids=lambda entry: f"{entry['scope']}-{entry['expr'][:60]}")
def test_an_expression_has_the_loaders_value(entry: dict[str, Any], scopes: dict[str, CorpusScope]) -> None:
    scope = scopes[entry["scope"]].derived(STAGES[entry.get("stage")])
    state, value = outcome(lambda: parse_expression(entry["expr"]).evaluate(scope))
    if entry.get("error"):
        assert (state, value) == ("error", entry["kind"])
        return
    assert state == "value", value
    assert written(value) == written(decoded(entry["result"]))
    context = scopes[entry["scope"]].context(zz_under_test=value)
    assert parse_template("{{ zz_under_test }}").render(context) == entry["printed"]


INLINE = [entry for entry in PLANLESS if entry["scope"] == "rich" and "stage" not in entry]


@pytest.mark.parametrize("entry", INLINE, ids=lambda entry: entry["expr"][:60])
def test_an_expression_in_a_template_prints_what_the_loader_prints(
    entry: dict[str, Any], scopes: dict[str, CorpusScope]
) -> None:
    context = scopes[entry["scope"]].context()
    state, text = outcome(lambda: parse_template("{{ " + entry["expr"] + " }}").render(context))
    expected = entry.get("inline", {"error": True} if entry.get("error") else entry.get("printed"))
    if expected == {"error": True}:
        assert state == "error"
    else:
        assert (state, text) == ("value", expected)


def rendered(entry: dict[str, Any], context: dict[str, Any]) -> str:
    text = parse_template(expand_includes("main.wgsl.jinja", entry["files"])).render(context)
    if not text:
        raise DialectError("empty", "the template renders to nothing")
    return text


@pytest.mark.parametrize(
    "entry",
    [entry for entry in TEMPLATES["entries"] if "groups" not in TEMPLATES["scopes"][entry["scope"]]],
    ids=lambda entry: entry["name"],
)
def test_a_template_renders_to_the_loaders_text(entry: dict[str, Any], scopes: dict[str, CorpusScope]) -> None:
    state, text = outcome(rendered, entry, scopes[entry["scope"]].context())
    if entry.get("error"):
        assert (state, text) == ("error", entry["kind"])
    else:
        assert (state, text) == ("value", entry["output"])
