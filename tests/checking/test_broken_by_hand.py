"""A package broken in one way as a person would break it gives one error, at its place, that says how to mend it."""

from dataclasses import dataclass

import pytest

from scanbuild.checking.check import check_path
from tests.checking.packages import GOOD, copy_good, errors, replace_in


@dataclass(frozen=True)
class Break:
    """What a person did: replaced ``old`` by ``new`` in a file. ``at`` is what the error's place points to, a text
    within the broken file's line (the first one after ``old``'s beginning); ``says`` are words of the error."""

    name: str
    old: str
    new: str
    at: str
    says: tuple[str, ...]
    file: str = "manifest.json"
    blamed: str = ""


M = "manifest.json"
BREAKS = [
    Break("misspelt key", '"shader": "merge', '"shadr": "merge', '"shadr"', ("shadr", "shader")),
    Break("misspelt port in bindings", '["x", "y", "params"]', '["x", "z", "params"]', '"z"', ("z", "no port")),
    Break("misspelt handle in bindings", '["x", "y", "params"]', '["x", "y", "parms"]', '"parms"', ("parms", "params")),
    Break("trailing comma", '"default": 64 }', '"default": 64, }', "}", ("comma",)),
    Break("missing comma", '"name": "RowSum",', '"name": "RowSum"', '"description"', ("comma",)),
    Break("single quotes", '"name": "RowSum"', "\"name\": 'RowSum'", "'RowSum'", ("double quotes",)),
    Break(
        "single text as when",
        '"when": ["present.bias"]',
        '"when": "present.bias"',
        '"present.bias"',
        ("list", "brackets"),
    ),
    Break("assignment for comparison", "attrs.mode == 'mean'", "attrs.mode = 'mean'", "= 'mean'", ("==",)),
    Break("ampersands", "not present.bias and attrs", "not present.bias && attrs", "&& attrs", ("and",)),
    Break("exclamation mark", "not present.bias or", "!present.bias or", "!present", ("not",)),
    Break("question mark", "1 if attrs.mode == 'mean' else 0", "attrs.mode == 'mean' ? 1 : 0", "? 1", ("if", "else")),
    Break("missing quote in a text", "'0.0' if dtypes", "'0.0 if dtypes", "'\"", ("quote",)),
    Break("missing inner quotes", "\"'0.0' if dtypes.T == 'f32' else '0'\"", '"float"', 'float"', ("float", "quote")),
    Break("unclosed bracket", "ceilDiv(columns, 512)", "ceilDiv(columns, 512", '"', ("bracket",)),
    Break("trailing comma of a tuple", '"lines * parts"', '"max(*(lines, parts,))"', ")", ("comma",)),
    Break("chained comparison", "columns >= 1024", "0 < columns >= 1024", ">= 1024", ("chained", "and")),
    Break("unknown filter", "ceilDiv(columns, 512)", "(columns / 512) | round", "| round", ("round", "floor")),
    Break("parentheses of a filter", "ceilDiv(columns, 512)", "columns | abs()", "| abs", ("abs", "parentheses")),
    Break("misspelt helper", "ceilDiv(columns, 512)", "ceildiv(columns, 512)", "ceildiv", ("ceildiv", "ceilDiv")),
    Break("helper with an argument missing", "ceilDiv(columns, 512)", "ceilDiv(columns)", "(columns", ("2 arguments",)),
    Break("method of a list", "ceilDiv(columns, 512)", "shapes.x.count(1)", ".count", ("count", "method")),
    Break(
        "boolean in a uniform", "\"1 if attrs.mode == 'mean' else 0\"", "\"attrs.mode == 'mean'\"", '"attrs', ("1 if",)
    ),
    Break("text in a uniform", '"value": "count"', '"value": "\'count\'"', "\"'count'\"", ("text", "number")),
    Break("negative number in a u32", '"value": "count"', '"value": -1', "-1", ("-1", "u32")),
    Break("wrong dtype name", '["float32", "int32"]', '["float", "int32"]', '"float"', ("float", "float32")),
    Break(
        "wrong type of a field",
        '"type": "u32", "value": "lines"',
        '"type": "uint32", "value": "lines"',
        '"uint32"',
        ("u32",),
    ),
    Break(
        "unknown feature", '"priority": 10,', '"priority": 10, "requires": { "features": ["f16"] },', '"f16"', ("f16",)
    ),
    Break(
        "unknown limit",
        '"priority": 10,',
        '"priority": 10, "requires": { "limits": { "maxComputeWorkgroupSize": 9 } },',
        '"maxComputeWorkgroupSize"',
        ("maxComputeWorkgroupSize",),
    ),
    Break(
        "reserved name",
        '"parts": "ceilDiv(columns, 512)"',
        '"rows": 1, "parts": "ceilDiv(columns, 512)"',
        '"rows"',
        ("rows", "language"),
    ),
    Break(
        "forward reference",
        '"shapes.x[0] if ranks.x == 2 else 0"',
        '"count if ranks.x == 2 else 0"',
        "count",
        ("count", "later"),
    ),
    Break("reference to itself", '"ceilDiv(columns, 512)"', '"ceilDiv(parts, 512)"', "parts", ("parts", "itself")),
    Break("derive of a variant in a condition", "columns >= 1024", "parts >= 2", "parts", ("parts", "variant `split`")),
    Break(
        "bare type variable in a condition",
        '["present.bias"]',
        "[\"T == 'f32' and present.bias\"]",
        "T ==",
        ("dtypes.T",),
    ),
    Break("bare tunable", "ceilDiv(columns, 512)", "ceilDiv(columns, width)", "width", ("tunables.width",)),
    Break(
        "bare attribute", "1 if attrs.mode == 'mean' else 0", "1 if mode == 'mean' else 0", "mode ==", ("attrs.mode",)
    ),
    Break("misspelt port in an expression", '"shapes.x[1] if', '"shapes.X[1] if', "X[1]", ("X", "x")),
    Break(
        "misspelt attribute in an expression",
        '"value": "count"',
        '"value": "count * attrs.scal"',
        'scal"',
        ("scal", "scale"),
    ),
    Break(
        "misspelt tunable",
        '"threads": "lines", "workgroupSize": "tunables.width"',
        '"threads": "lines", "workgroupSize": "tunables.with"',
        'with"',
        ("with", "width"),
    ),
    Break("misspelt port in a condition", '"ranks.x == 2",', '"ranks.X == 2",', "X ==", ("X", "x")),
    Break(
        "misspelt name of a derive",
        '"columns": "shapes',
        '"colums": "shapes',
        '"colums"',
        ("colums", "columns", "misspelt"),
    ),
    Break("derive left out", '"lines": "shapes.x[0] if ranks.x == 2 else 0",', "", "lines", ("lines", "lines")),
    Break(
        "misspelt tunable in a helper", "ceilDiv(columns, 512)", "ceilDiv(columns, tunables.widht)", "widht", ("width",)
    ),
    Break("index by a fraction", '"shapes.x[1] if', '"shapes.x[ranks.x / 2] if', "[ranks", ("//",)),
    Break("duplicate pass id", '"id": "merge"', '"id": "parts"', '"parts"', ("parts", "two passes")),
    Break(
        "mixed dispatch forms",
        '"dispatch": { "threads": "total", ',
        '"dispatch": { "x": "total", "threads": "total", ',
        "{",
        ("threads", "x"),
    ),
    Break(
        "workgroups beyond the limit",
        '"dispatch": { "threads": "total", "workgroupSize": "tunables.width" }',
        '"dispatch": { "x": 70000 }',
        "70000",
        ("70000", "65535"),
    ),
    Break(
        "dollar name of nothing",
        '"scratch": "pieces", "elementType": "$T" }',
        '"scratch": "pieces", "elementType": "$U" }',
        '"$U"',
        ("$U",),
    ),
    Break("missing scratch", '"scratch": "pieces", "buffer"', '"scratch": "piece", "buffer"', "", ("pieces", "piece")),
    Break("priority as text", '"priority": 10', '"priority": "10"', '"10"', ("priority", "number")),
    Break(
        "shader that is not there",
        '"shader": "merge.wgsl.jinja"',
        '"shader": "merged.wgsl.jinja"',
        '"merged',
        ("merge.wgsl.jinja",),
    ),
    Break("default outside the values", '"mode": { "default": "sum" }', '"mode": { "default": "add" }', "", ("add",)),
    Break("output shape of a wrong port", '["shapes.x[0]"]', '["shapes.input[0]"]', "input[0]", ("input",)),
    Break("output shape that is a number", '["shapes.x[0]"]', '"shapes.x[0]"', '"shapes', ("list",)),
    Break(
        "missing include",
        '{% include "number.wgsl.jinja" %}',
        '{% include "numbr.wgsl.jinja" %}',
        "{% include",
        ("numbr", "number.wgsl.jinja"),
        "rows.wgsl.jinja",
    ),
    Break(
        "include with dashes",
        '{% include "number.wgsl.jinja" %}',
        '{%- include "number.wgsl.jinja" -%}',
        "include",
        ("include", "dashes"),
        "rows.wgsl.jinja",
    ),
    Break("unclosed if", "{% endif %}\n  y[", "\n  y[", "", ("endif",), "rows.wgsl.jinja"),
    Break(
        "unknown statement", "{% if biased %}", "{% when biased %}", "when", ("when", "statement"), "rows.wgsl.jinja"
    ),
    Break(
        "misspelt field of a uniform",
        "params.columns",
        "params.colums",
        "params.colums",
        ("colums", "columns"),
        "rows.wgsl.jinja",
    ),
    Break(
        "declarations left out",
        "{{ env.wgsl.resourceDeclarations }}",
        "",
        "",
        ("resourceDeclarations",),
        "rows.wgsl.jinja",
    ),
    Break("unclosed for", "// One", "{% for k in range(2) %}\n// One", "{% for", ("endfor",), "rows.wgsl.jinja"),
    Break("unclosed tag", "{% if biased %}", "{% if biased }", "{% if biased", ("%}",), "rows.wgsl.jinja"),
    Break("wrong end", "{% endif %}\n  y[", "{% endfor %}\n  y[", "endfor", ("endfor",), "rows.wgsl.jinja"),
    Break(
        "ampersands in a template", "{% if biased %}", "{% if biased && biased %}", "&&", ("and",), "rows.wgsl.jinja"
    ),
    Break(
        "unknown filter in a template",
        "({{ attrs.scale }})",
        "({{ attrs.scale | round }})",
        "| round",
        ("round",),
        "rows.wgsl.jinja",
    ),
    Break("unclosed print", "{{ zero }}", "{{ zero }", ";", ("not closed", "}}"), "rows.wgsl.jinja"),
    Break(
        "wrong name in a case",
        '"bias": { "dtype": "int32"',
        '"bais": { "dtype": "int32"',
        '"bais"',
        ("bais", "bias"),
        "test.json",
    ),
    Break(
        "too few values in a case",
        "[1, 2, 3, 4, 5, 6]",
        "[1, 2, 3, 4, 5]",
        "[1, 2, 3, 4, 5]",
        ("5 values", "6"),
        "test.json",
    ),
    Break(
        "case of a dtype that no port admits",
        '"x": { "dtype": "int32"',
        '"x": { "dtype": "uint32"',
        "",
        ("uint32",),
        "test.json",
    ),
]


def test_the_good_package_has_nothing_to_complain_about():
    assert check_path(GOOD).problems == ()


@pytest.mark.parametrize("broken", BREAKS, ids=lambda item: item.name)
def test_a_break_gives_one_error_at_its_place_that_tells_how_to_mend_it(broken, tmp_path):
    package = copy_good(tmp_path)
    line, column = replace_in(package, broken.file, broken.old, broken.new)
    found = errors(check_path(package))
    assert len(found) == 1, "\n".join(map(str, found))
    (problem,) = found
    text = f"{problem.message} {problem.hint}"
    for word in broken.says:
        assert word in text, text
    if broken.at:
        lines = (package / broken.file).read_text(encoding="utf-8").splitlines()
        start = column - 1
        where = next(
            (number, lines[number].index(broken.at, start if number == line - 1 else 0) + 1)
            for number in range(line - 1, len(lines))
            if broken.at in lines[number][start if number == line - 1 else 0 :]
        )
        assert problem.file == str(package / broken.file)
        assert (problem.line, problem.column) == (where[0] + 1, where[1]), str(problem)
