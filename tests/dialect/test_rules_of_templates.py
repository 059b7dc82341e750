"""Section 4 of the format, rule by rule: texts that each sentence accepts, with what they render to, and refuses."""

from typing import Any

import pytest

from scanbuild.dialect import DialectError, Function, expand_includes, parse_template

from .rules_of_expressions import Rule

FILES = {
    "part.wgsl": "part\n",
    "bare.wgsl": "bare",
    "sub/inner.wgsl": "{% include './leaf.wgsl' %}",
    "sub/leaf.wgsl": "leaf",
    "self.wgsl": "{% include 'self.wgsl' %}",
    "sets.wgsl": "{% set shared = 7 %}\n",
    "up.wgsl": "{% include '../x.wgsl' %}",
}


RULES = [
    # 4.1
    Rule("4.1", "tags need their ends, ends need no tags", {"a }} %} #}": "a }} %} #}"}, ["a {{ 1", "{% if n", "{# x"]),
    Rule("4.1", "an opening brace is printed by a tag", {"{{ '{{' }}": "{{", "{ { x": "{ { x"}, ["{{ {{ }}"]),
    # 4.2
    Rule("4.2", "one newline at the end of the text goes", {"a\n\n": "a\n"}, ["{{\n"]),
    Rule(
        "4.2",
        "blanks before a statement and the newline behind it go",
        {"a\n  {% if n %}\nb{% endif %}\nc": "a\nbc"},
        ["{% if n %}\n"],
    ),
    Rule("4.2", "printing tags keep what is around them", {"a\n  {{ n }}\nb": "a\n  3\nb"}, ["a\n {{ }}\nb"]),
    Rule("4.2", "dashes trim white space across lines", {"a \n {{- n -}} \n b": "a3b"}, ["{{-", "{%- if n %}"]),
    Rule(
        "4.2",
        "a newline behind a carriage return stays",
        {"{% if n %}\r\nx{% endif %}": "\r\nx"},
        ["{%+ if n %}x{% endif %}", "{% if n +%}x{% endif %}"],
    ),
    Rule(
        "4.2",
        "generation tags are dropped",
        {"a{% generation %}b{%- endgeneration -%} c": "abc"},
        ["{% generations %}"],
    ),
    Rule("4.2", "comments do not nest and have an end", {"a{# b {# c #}d": "ad", "{#-#}x": "x"}, ["{# a"]),
    # 4.3
    Rule(
        "4.3",
        "an include is replaced by the file",
        {'{% include "part.wgsl" %}\nx': "part\nx", "{%include 'bare.wgsl'%}x": "barex"},
        ["{% include 'none.wgsl' %}"],
    ),
    Rule(
        "4.3",
        "an include is plain text in quotes",
        {"{% if not n %}{% include 'bare.wgsl' %}{% endif %}x": "x"},
        [
            "{%- include 'bare.wgsl' %}",
            "{% include name %}",
            "{% include '' %}",
            "{% include 'bare.wgsl' ignore missing %}",
        ],
    ),
    Rule(
        "4.3",
        "an include is read in branches, comments and strings that nobody reaches",
        {"{# {% include 'bare.wgsl' %} #}x": "x"},
        ["{# {% include 'none.wgsl' %} #}x"],
    ),
    Rule(
        "4.3",
        "a path with a dot first starts from the including file",
        {"{% include 'sub/inner.wgsl' %}": "leaf"},
        ["{% include './inner.wgsl' %}"],
    ),
    Rule(
        "4.3",
        "paths are tidied and stay in the package",
        {r"{% include '\\sub//x/../leaf.wgsl' %}": "leaf"},
        ["{% include '../bare.wgsl' %}", "{% include 'up.wgsl' %}"],
    ),
    Rule(
        "4.3",
        "no file includes itself, but one may be included twice",
        {"{% include 'bare.wgsl' %}{% include 'bare.wgsl' %}": "barebare"},
        ["{% include 'self.wgsl' %}"],
    ),
    Rule(
        "4.3",
        "what an included text sets is set for all",
        {"{% include 'sets.wgsl' %}\n{{ shared }}": "7"},
        ["{% include 'sets.wgsl' as x %}"],
    ),
    # 4.4
    Rule(
        "4.4",
        "only the listed statements exist",
        {"{% set x = 1 %}{{ x }}": "1"},
        [
            "{% import 'a' as a %}",
            "{% from 'a' import b %}",
            "{% extends 'a' %}",
            "{% block a %}{% endblock %}",
            "{% raw %}{% endraw %}",
            "{% with %}{% endwith %}",
            "{% do n %}",
        ],
    ),
    Rule(
        "4.4",
        "statements are known in branches nobody takes",
        {"{% if not n %}{{ 1 }}{% endif %}x": "x"},
        ["{% if not n %}{% do n %}{% endif %}x"],
    ),
    Rule("4.4", "an end has no name", {"{% macro m() %}{% endmacro %}x": "x"}, ["{% macro m() %}{% endmacro m %}x"]),
    Rule(
        "4.4",
        "unknown names print as nothing, operators on them fail",
        {"a{{ nobody }}{{ nobody.x }}": "a"},
        ["{{ nobody + 1 }}", "{{ nobody.x.y + 1 }}"],
    ),
    Rule(
        "4.4",
        "null prints as nothing and booleans in lower case",
        {"a{{ none }}{{ true }}": "atrue"},
        ["{{ none + 1 }}"],
    ),
    Rule(
        "4.4", "whole floats print one decimal", {"{{ 4 / 2 }} {{ 4 // 2 }} {{ 1.0 * n }}": "2.0 2 3.0"}, ["{{ 4 // }}"]
    ),
    Rule(
        "4.4",
        "lists and objects print as JSON",
        {"{{ [2.0, {'a': 1}] }}": '[2, {"a": 1}]'},
        ["{{ [max] }}", "{{ {'a': max} }}"],
    ),
    Rule("4.4", "tuples cannot be printed", {"{{ (1, 2)[0] }}": "1"}, ["{{ (1, 2) }}", "{{ [(1, 2)] }}"]),
    Rule(
        "4.4",
        "if has elif and else",
        {"{% if n > 5 %}a{% elif n %}b{% else %}c{% endif %}": "b"},
        ["{% if n %}", "{% elif n %}{% endif %}", "{% else %}", "{% if %}{% endif %}"],
    ),
    Rule(
        "4.4",
        "a loop goes over lists, tuples and keys",
        {"{% for x in [1, 2] %}{{ x }}{% endfor %}{% for k in {'a': 1} %}{{ k }}{% endfor %}": "12a"},
        [
            "{% for x in 'ab' %}{% endfor %}",
            "{% for x in none %}{% endfor %}",
            "{% for x in nobody %}{% endfor %}",
            "{% for x in 1, 2 %}{% endfor %}",
        ],
    ),
    Rule(
        "4.4",
        "a loop takes lists of its targets' length apart",
        {
            "{% for a, b in [[1, 2]] %}{{ a ~ b }}{% endfor %}": "12",
            "{% for (a, b) in [[1, 2]] %}{{ b }}{% endfor %}": "2",
        },
        [
            "{% for a, b in [[1]] %}{% endfor %}",
            "{% for a, b in [(1, 2)] %}{% endfor %}",
            "{% for a, (b, c) in [[1, [2, 3]]] %}{% endfor %}",
        ],
    ),
    Rule(
        "4.4",
        "a loop filters first",
        {"{% for x in [1, 2, 3] if x is odd %}{{ loop.index }}{{ loop.length }} {% endfor %}": "12 22 "},
        ["{% for x in [1] if x if x %}{% endfor %}"],
    ),
    Rule(
        "4.4",
        "a variable set in a loop lives through its rounds and not longer",
        {"{% for x in [1, 2] %}{{ y }}{% set y = x %}{% endfor %}-{{ y }}": "1-"},
        ["{% for x in [1] %}{{ y + 1 }}{% set y = x %}{% endfor %}"],
    ),
    Rule(
        "4.4",
        "break and continue drop the text of their round",
        {
            "{% for x in [1, 2] %}{{ x }}{% if x == 2 %}{% break %}{% endif %}{% endfor %}": "1",
            "{% for x in [1, 2] %}{{ x }}{% if x == 1 %}{% continue %}{% endif %}{% endfor %}": "2",
        },
        ["{% break %}", "{% continue %}"],
    ),
    Rule(
        "4.4",
        "the else of a loop runs if no round ended",
        {"{% for x in [] %}{% else %}e{% endfor %}": "e", "{% for x in [1] %}{% break %}{% else %}e{% endfor %}": "e"},
        ["{% for x in [] %}{% elif n %}{% endfor %}"],
    ),
    Rule(
        "4.4",
        "loop knows its place and neighbours",
        {"{% for x in [4, 5] %}{{ loop.index0 }}{{ loop.last }}{{ loop.previtem }}{% endfor %}": "0false1true4"},
        ["{% for x in [1] %}{{ loop.cycle(1, 2) }}{% endfor %}", "{% for x in [1] %}{{ loop.depth + 1 }}{% endfor %}"],
    ),
    Rule(
        "4.4",
        "a macro gives text and sees its caller's variables",
        {"{% macro m(a, b=a) %}{{ a ~ b ~ c }}{% endmacro %}{% set c = 9 %}{{ m(1) }}{{ m(1, 2) + 1 }}": "1191291"},
        [
            "{{ m(1) }}{% macro m(a) %}{% endmacro %}",
            "{% macro m(a=1, b) %}{% endmacro %}",
            "{% macro m(a, a) %}{% endmacro %}",
        ],
    ),
    Rule(
        "4.4",
        "surplus arguments need a body that mentions them",
        {"{% macro m() %}{{ varargs[0] }}{% endmacro %}{{ m(5) }}": "5"},
        ["{% macro m() %}x{% endmacro %}{{ m(5) }}", "{% macro m() %}x{% endmacro %}{{ m(a=5) }}"],
    ),
    Rule(
        "4.4",
        "a macro ends its recursion somewhere",
        {"{% macro m(k) %}{{ k }}{% if k %}{{ m(k - 1) }}{% endif %}{% endmacro %}{{ m(3) }}": "3210"},
        ["{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}"],
    ),
    Rule(
        "4.4",
        "call hands its body to a macro",
        {"{% macro m(a) %}[{{ caller(a) }}]{% endmacro %}{% call(x, y=2) m(1) %}{{ x ~ y }}{% endcall %}": "[12]"},
        ["{% call n() %}{% endcall %}", "{% call m %}{% endcall %}"],
    ),
    Rule(
        "4.4",
        "a filter block has exactly one filter",
        {"{% filter upper %}a{{ n }}{% endfilter %}": "A3"},
        [
            "{% filter upper | lower %}a{% endfilter %}",
            "{% filter nofilter %}a{% endfilter %}",
            "{% filter %}a{% endfilter %}",
        ],
    ),
    Rule(
        "4.4",
        "set takes a name, several, a member or a block",
        {"{% set a, b = [1, 2] %}{% set c %}x{{ a }}{% endset %}{{ b ~ c }}": "2x1"},
        ["{% set a.b.c = 1 %}", "{% set 1 = 2 %}", "{% set a = 1, %}", "{% if not n %}{% set f() = 1 %}{% endif %}"],
    ),
    Rule(
        "4.4",
        "members are set of namespaces only",
        {"{% set s = namespace(a=1) %}{% set s.a = 2 %}{{ s.a }}": "2"},
        ["{% set n.a = 1 %}", "{% set s = {'a': 1} %}{% set s.a = 2 %}"],
    ),
    Rule(
        "4.4",
        "a namespace is neither list nor object",
        {"{{ 1 if namespace() else 2 }}": "1"},
        ["{% for k in namespace(a=1) %}{% endfor %}", "{{ namespace(a=1) | length }}", "{{ 'a' in namespace(a=1) }}"],
    ),
    # 4.5
    Rule(
        "4.5",
        "range counts, by fractions too",
        {"{{ range(3) }}{{ range(1, 2, 0.5) }}{{ range(3, 0) }}": "[0, 1, 2][1, 1.5][]"},
        ["{{ range(1, 2, 0) }}"],
    ),
    Rule(
        "4.5",
        "a template can refuse",
        {"{% if not n %}{{ raise_exception('no') }}{% endif %}x": "x"},
        ["{{ raise_exception('no') }}"],
    ),
    Rule(
        "4.5",
        "there are no other globals",
        {"a{{ dict }}{{ cycler }}{{ self }}": "a"},
        ["{{ dict(a=1) }}", "{{ strftime_now('%Y') }}", "{{ joiner() }}"],
    ),
]


def named(item: Rule) -> str:
    return f"{item.section} {item.sentence}"


def rendered(text: str) -> str:
    context: dict[str, Any] = {"n": 3, "max": Function(max)}
    return parse_template(expand_includes("main.wgsl", {**FILES, "main.wgsl": text})).render(context)


@pytest.mark.parametrize("item", RULES, ids=named)
def test_a_rule_of_templates_accepts(item: Rule) -> None:
    assert {text: rendered(text) for text in item.accepts} == item.accepts


@pytest.mark.parametrize("item", RULES, ids=named)
def test_a_rule_of_templates_refuses(item: Rule) -> None:
    assert item.refuses
    for text in item.refuses:
        try:
            found = rendered(text)
        except DialectError:
            continue
        pytest.fail(f"{text} renders to {found!r}")


def test_no_rule_is_said_twice() -> None:
    assert len({named(item) for item in RULES}) == len(RULES)
