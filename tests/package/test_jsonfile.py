"""Strict JSON with places."""

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scanbuild.errors import InputError
from scanbuild.package.jsonfile import (
    MAX_CHARACTERS,
    MAX_DEPTH,
    Path,
    duplicate_keys,
    json_path,
    locate,
    parse_json,
    parse_path,
    value_at,
)

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=15,
)


def paths_of(value: Any, path: Path = ()) -> list[Path]:
    found = [path]
    if isinstance(value, dict):
        for name, item in value.items():
            found += paths_of(item, (*path, name))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            found += paths_of(item, (*path, index))
    return found


def offset_of(text: str, line: int, column: int) -> int:
    lines = text.split("\n")
    return sum(len(item) + 1 for item in lines[: line - 1]) + column - 1


def refusal(text: str) -> InputError:
    with pytest.raises(InputError) as caught:
        parse_json(text, "a.json")
    return caught.value


@given(VALUES, st.booleans(), st.sampled_from([None, 1, "\t"]))
def test_parse_json_reads_what_json_reads(value: Any, ascii_only: bool, indent: int | str | None) -> None:
    text = json.dumps(value, ensure_ascii=ascii_only, indent=indent)
    assert parse_json(text, "a.json") == json.loads(text)


@given(VALUES, st.sampled_from([None, 1]))
def test_locate_finds_every_value_and_its_key(value: Any, indent: int | None) -> None:
    text = json.dumps(value, indent=indent)
    for path in paths_of(value):
        start = offset_of(text, *locate(text, path))
        assert json.JSONDecoder().raw_decode(text, start)[0] == value_at(value, path)
        if path and isinstance(path[-1], str):
            start = offset_of(text, *locate(text, path, key=True))
            assert json.JSONDecoder().raw_decode(text, start)[0] == path[-1]


@given(st.lists(st.integers(0, 99) | st.text(), max_size=5).map(tuple))
def test_a_path_survives_its_spelling(path: Path) -> None:
    assert parse_path(json_path(path)) == path


@given(st.text() | st.text(alphabet="{}[]\",:\\ntrue01-+.eE/*' \n"))
def test_no_text_gives_anything_but_a_value_or_a_located_refusal(text: str) -> None:
    try:
        parse_json(text, "a.json")
    except InputError as error:
        (problem,) = error.problems
        assert problem.file == "a.json"
        assert problem.line is not None
        assert 1 <= problem.line <= text.count("\n") + text.count("\r") + 1


@pytest.mark.parametrize(
    ("text", "line", "column", "words"),
    [
        ("", 1, 1, "empty"),
        ('{\n "a": 1,\n}', 3, 1, "trailing comma"),
        ('{"a": 1 "b": 2}', 1, 9, "comma"),
        ("[1, NaN]", 1, 5, "NaN"),
        ('["NaN", -Infinity]', 1, 9, "-Infinity"),
        ("{'a': 1}", 1, 2, "single quotes"),
        ("// hello\n{}", 1, 1, "comments"),
        ('{"a": 1, /* b */ "c": 2}', 1, 10, "comments"),
        ("{} x", 1, 4, "after the end"),
        ('{"a', 1, 2, "not closed"),
        ('{"a": 0x10}', 1, 8, "comma"),
        ("[01]", 1, 3, "comma"),
        ('["a\tb"]', 1, 4, "control character"),
        ('["\\q"]', 1, 3, "escape"),
        ("[1", 1, 3, "too early"),
        ("\ufeff{}", 1, 1, "byte-order mark"),
    ],
)
def test_malformed_json_is_refused_at_its_place(text: str, line: int, column: int, words: str) -> None:
    (problem,) = refusal(text).problems
    assert (problem.line, problem.column) == (line, column), problem
    assert words in problem.message


@pytest.mark.parametrize(
    ("text", "value", "kind"),
    [
        ("1.0", 1, int),
        ("1e3", 1000, int),
        ("9007199254740992", 2**53, int),
        ("9007199254740993", 2.0**53, float),
        ("-9007199254740992.0", -(2**53), int),
        ("0.5", 0.5, float),
        ("1e999", math.inf, float),
        ("-1e999", -math.inf, float),
        ("1e-999", 0, int),
        ("1" * 400, math.inf, float),
        ("1" * 5000, math.inf, float),
    ],
)
def test_numbers_are_doubles_and_whole_ones_integers(text: str, value: float, kind: type) -> None:
    read = parse_json(text, "a.json")
    assert read == value
    assert type(read) is kind


@pytest.mark.parametrize("text", ["-0", "-0.0", "-0e5", "-1e-999"])
def test_minus_zero_keeps_its_sign(text: str) -> None:
    read = parse_json(text, "a.json")
    assert isinstance(read, float)
    assert math.copysign(1, read) == -1


def test_of_duplicate_keys_the_last_wins_and_is_the_one_located() -> None:
    text = '{"a": {"b": 1},\n "a": {"b": 2}}'
    assert parse_json(text, "a.json") == {"a": {"b": 2}}
    assert locate(text, ("a", "b")) == (2, 13)


def test_a_key_written_twice_is_a_warning_at_the_second_one() -> None:
    text = '{"a": 1, "b": [{"c": 1,\n "c": 2}], "a": 3}'
    found = duplicate_keys(text, "m.json")
    assert [(item.path, item.line, item.column, item.severity) for item in found] == [
        ("$.b[0].c", 2, 2, "warning"),
        ("$.a", 2, 12, "warning"),
    ]
    assert duplicate_keys('{"a": {"b": 1}, "b": 1}') == []


def test_lone_surrogates_survive() -> None:
    assert parse_json(r'"\ud800"', "a.json") == "\ud800"
    assert parse_json(r'"\ud83d\ude00"', "a.json") == "\U0001f600"


@pytest.mark.parametrize("opening", ["[", '{"a":'])
def test_deep_nesting_is_refused_in_words(opening: str) -> None:
    closing = {"[": "]", '{"a":': "}"}[opening]
    for depth in (MAX_DEPTH + 1, 100_000):
        assert "nest deeper" in str(refusal(opening * depth + "1" + closing * depth))
    fine = opening * MAX_DEPTH + "1" + closing * MAX_DEPTH
    parse_json(fine, "a.json")


def test_an_unclosed_deep_text_is_refused_in_words() -> None:
    assert refusal("[" * 100_000).problems


def test_a_text_beyond_the_limit_is_refused() -> None:
    assert "too long" in str(refusal('"' + "a" * MAX_CHARACTERS + '"'))


def test_a_path_to_nowhere_is_shown_at_the_last_container_on_the_way() -> None:
    text = '{"a":\n {"b": 1}}'
    assert locate(text, ("a", "c", 0)) == (2, 2)


def test_odd_keys_are_quoted_in_a_path() -> None:
    assert json_path(("variants", 0, "when", 1)) == "$.variants[0].when[1]"
    assert json_path(("a b", "1", "", "$use")) == '$["a b"]["1"][""].$use'


def test_lines_end_with_any_line_end() -> None:
    text = '{\r\n"a": 1,\r"b": 2,\n"c": 3}'
    assert [locate(text, (name,)) for name in "abc"] == [(2, 6), (3, 6), (4, 6)]
