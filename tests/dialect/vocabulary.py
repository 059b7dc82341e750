"""The context that random texts are evaluated in, and the words that they are made of."""

from typing import Any

from scanbuild.dialect import UNDEFINED

CONTEXT: dict[str, Any] = {
    "i": 3,
    "zero": 0,
    "neg": -7,
    "half": 2.5,
    "four": 4.0,
    "tiny": 1e-7,
    "huge": 1e21,
    "big": 9007199254740992,
    "inf": float("inf"),
    "nan": float("nan"),
    "minus0": -0.0,
    "s": "Abc def",
    "empty": "",
    "num": " 12.5abc",
    "uni": "é😀ß x'y",
    "lines": "a\n\n  b\nc ",
    "yes": True,
    "no": False,
    "nil": None,
    "undef": UNDEFINED,
    "l": [1, 2, 3],
    "fl": [2.0, 0.5, -0.0],
    "mix": [1, "a", None, True, 2.5, [1, [2.0]], {"k": 1}],
    "m": [[1, 2], [3, 4], [5, 6]],
    "w": ["b", "A", "c", "B"],
    "o": {"a": 1, "B": [2], "c": None, "10": "x", "2": "y", "get": 5, "é": 0.5},
    "oo": {"b": {"c": [{"d": 7}]}},
    "recs": [{"k": 2, "v": "x", "n": {"p": [4]}}, {"k": 1, "v": "Y", "n": {"p": [3]}}, {"k": 3, "n": {"p": []}}],
    "el": [],
    "eo": {},
}
LISTS = ["l", "fl", "mix", "m", "w", "recs", "el"]
TEXTS = ["s", "empty", "num", "uni", "lines"]
OBJECTS = ["o", "oo", "eo"]
NUMBERS = ["i", "zero", "neg", "half", "four", "tiny", "huge", "big", "inf", "nan", "minus0"]
ODDS = ["yes", "no", "nil", "undef"]
NAMES = [*CONTEXT]
BARE_FILTERS = [
    "list",
    "first",
    "last",
    "length",
    "reverse",
    "sort",
    "join",
    "string",
    "unique",
    "upper",
    "lower",
    "title",
    "capitalize",
    "trim",
    "indent",
    "int",
    "float",
    "abs",
    "bool",
    "items",
    "keys",
    "values",
    "dictsort",
    "safe",
    "tojson",
    "default",
    "nope",
]
SUITED = [
    (LISTS, "list first last length reverse sort join string unique tojson"),
    (TEXTS, "length upper lower title capitalize trim indent join string int float tojson"),
    (NUMBERS, "abs int float string tojson safe"),
    (OBJECTS, "items length keys values dictsort tojson"),
    (["yes", "no"], "bool int float string"),
]
TESTS = [
    "boolean",
    "callable",
    "odd",
    "even",
    "true",
    "false",
    "none",
    "string",
    "number",
    "integer",
    "iterable",
    "mapping",
    "sequence",
    "lower",
    "upper",
    "defined",
    "undefined",
    "eq",
    "nope",
]
METHODS = [
    "upper",
    "lower",
    "strip",
    "lstrip",
    "rstrip",
    "title",
    "capitalize",
    "startswith",
    "endswith",
    "split",
    "replace",
    "get",
    "items",
    "keys",
    "values",
    "dictsort",
    "length",
    "nope",
]
BINARY = ["+", "-", "*", "/", "//", "%", "**", "~", "==", "!=", "<", ">", "<=", ">=", "in", "and", "or", "not in"]
SPACES = [" ", " ", " ", " ", "", "", "  ", "\n", "\t", "\r\n", "\u00a0", "\ufeff", "\u2028", "\v\f", "\u3000"]
WORDS = ["if", "else", "and", "or", "not", "in", "is", "for", "set", "true", "loop", "generation", "_", "A9_z"]
NUMBER_TEXTS = [
    "0",
    "1",
    "2",
    "3",
    "7",
    "10",
    "007",
    "1.0",
    "2.0",
    "2.5",
    "0.1",
    "0.30",
    "100000000000000000000000",
    "9007199254740993",
    "1.7976931348623157",
    "-1",
    "-0",
    "+2",
    "-2.5",
    "0.0000001",
    "123456789.125",
]
STRING_TEXTS = [
    '"a"',
    "'b'", '""', '"abc def"', "'x\\n y'", '"\\t\\\\"', "'12'", "'-1.5e3'", "'é'", '"😀é"', "'a' 'b'", '"k"', '"v"',
    '"Abc"', "'%}'", "'{%'", "'A,b,,c'", "' pad '", "'2'", "'ǅ'", "'}}'", "'\"'", '"Infinity"', "'0x10'", '"\\u0041"',
    "'İß'", "'x\ny'", "'%}\nz'", "'-}\n\n'", "'q\n  {% r'", "'\r\n\t{# c'", "'#}\r\n'", "'\u2028 {-'",
    "'{% generation %}'", "' {%-endgeneration -%} '", "'{{ i }}'", "'\\\n'", "'a' \"b\"\n'c'", "'it''s'", "'\ud83d'",
    "'\\b\\f\\v\\r'", "'\u00a0x\u3000'",
]  # fmt: skip
JUNK = [
    "!", "&", "..", ",", ")", "]", "}", "=", "if", "else", "is", "not", ":", "|", "1.", ".5", "1e3", "{{", "#", "é",
    " }} z", "}}{{ 1 ", " -}} {# c #}", "}}{% if 1 %}a{% endif %}", "%}", "-%}", "{", "(", "[", "'", "\\", "+", "-",
    "*", "**",    "\x85", "\x1c", "\u200b", "not in", " in ", "\n", "{% generation %}", "{# c #}", " not ", "~", "_",
]  # fmt: skip
SCRAPS = [
    "{%", "{%-", "-%}", "{{-", "-}}", "{#", "{#-", "-#}", "#}", "{##}", "{#-#}", "{%- -%}", "{{--1}}", "{{ 1-}}",
    "{{-1}}", "{% endif %}", "{% else %}", "{% endfor %}", "{% raw %}", "{% endset %}", "{%- set q = 1 -%}",
    "{% break %}", "{% generation -%}", "{ %", "{% +", "\n",
]  # fmt: skip
PIECES = [
    "a", "b ", " ", "\n", "  ", "\t", "x\n  ", "\r\n", "}}", "%}", "#}", "{ ", "é", "\u2028 ", "\u2029\t", "\r ", "\r",
    "\u00a0", "\ufeff \n", "\v ", "\x85 ", "{", "-}\n", "  {- x", "1\n\n",
]  # fmt: skip
COMMENTS = [
    "{# c #}", "{#- c #}", "{# c -#}\n", "{#-#}", "{##}", "{# {{ x }} #}", "{#- -#}", "  {# c #}\n", "{#--#}",
    "{# a\n b #}\r\n", " {#- c -#} ", "{# {% if #}", "{# # } -#}  ", "{#- {# -#}", "\u2028 {# c #}\n", "{# '#}",
    "{# c#}\n\n", "{#\n-#}\n \n",
]  # fmt: skip
