"""Text that a stranger wrote, shown in Markdown."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scanbuild.publishing.markdown import cell, code, prose


def test_code_spans_survive_and_other_markup_does_not():
    assert cell("Sum of `[steps, dim]` *rows*, a_b and _c_.") == "Sum of `[steps, dim]` \\*rows\\*, a_b and \\_c\\_."


def test_brackets_stay_plain_unless_they_would_make_a_link():
    assert cell("[dim]") == "[dim]"
    assert cell("[click](javascript:x)") == "[click\\](javascript:x)"
    assert cell("![pixel](http://x)") == "![pixel\\](http://x)"


def test_a_bar_never_ends_a_cell():
    assert cell("a | b `c|d`") == "a \\| b `c\\|d`"


def test_a_line_break_never_ends_a_row():
    assert cell("a\n\n| b\r\n# c\u2028d") == "a \\| b # c d"


def test_html_is_shown_and_not_obeyed():
    assert cell("<script>x</script> & <b>") == "&lt;script&gt;x&lt;/script&gt; &amp; &lt;b&gt;"


def test_a_lone_backtick_opens_no_code_span():
    assert cell("it`s | x") == "it\\`s \\| x"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("# Title", "\\# Title"),
        ("- item", "\\- item"),
        ("+ item", "\\+ item"),
        ("1. item", "1\\. item"),
        ("12) item", "12\\) item"),
        ("---", "\\---"),
        ("1.5 is a number", "1.5 is a number"),
    ],
)
def test_no_paragraph_starts_a_block(text, shown):
    assert prose(text) == shown


def test_paragraphs_stay_apart_and_lines_within_one_are_joined():
    assert prose("one\ntwo\n\n\n# three\n") == "one two\n\n\\# three"


def test_a_code_span_holds_backticks_of_any_length():
    assert code("a``b") == "```a``b```"
    assert code("`x`") == "`` `x` ``"


def test_reading_direction_marks_and_controls_are_dropped():
    assert cell("a\u202eb\x1b[31m") == "a b [31m"


@given(st.text())
def test_a_cell_is_one_line_without_a_bare_bar_or_angle_bracket(text):
    shown = cell(text)
    assert len(shown.splitlines()) <= 1
    assert not re.search(r"(?<!\\)(?:\\\\)*\|", shown)
    assert not re.search(r"[<>]", re.sub(r"(?<!`)(`+)(?!`).+?(?<!`)\1(?!`)", "", shown))


@given(st.text(alphabet=st.characters(exclude_categories=["C", "Z"]), min_size=1))
def test_a_code_span_shows_the_text_it_was_given(text):
    shown = code(text)
    run = re.match("`+", shown)
    assert run is not None
    inner = shown[len(run.group()) : -len(run.group())].replace("\\|", "|")
    assert run.group() not in re.findall("`+", inner)
    assert inner.strip(" ") == text
