"""Options of ``scanbuild show`` that are wrong: all told at once, with suggestions."""

import pytest

from scanbuild.commands.show_request import split_items
from tests.checking.packages import GOOD, edit
from tests.show.running import TWO_ROWS, refused, shown


def test_all_wrong_options_are_told_at_once_with_suggestions():
    said = refused(
        *(GOOD, "--shapes", "xx=2x3,bias=2y", "--dtype", "bias=flot32", "--attr", "moda=mean", "--arg", "limt=3"),
        *("--output", "z", "--device", "chrome-nvida", "--variant", "plane", "--attr", "scale"),
    )
    for words in (
        "no input 'xx'",
        "bias=2y: this is no shape",
        "no dtype 'flot32'",
        'did you mean "float32"?',
        'did you mean "mode"?',
        'did you mean "limit"?',
        "no output 'z'",
        'did you mean "chrome-nvidia"?',
        'did you mean "plain"?',
        "--attr scale: expected NAME=VALUE",
    ):
        assert words in said


def test_scalars_that_are_required_are_asked_for_together(package):
    edit(package, lambda m: m["args"].update(limit={"kind": "u32"}, other={"kind": "f32"}))
    edit(package, lambda m: m["attributes"]["mode"].pop("default"))
    edit(package, lambda m: m["attributeConstraints"]["mode"].update(required=True))
    for name in ("test.json", "bench.json"):
        edit(package, lambda t: t.update(cases=[]), name)
    said = refused(package, "--shapes", "x=2x3")
    assert "--arg limit=VALUE --arg other=VALUE" in said
    assert "--attr mode=VALUE" in said
    assert "--shapes x=2x3 --attr mode=VALUE --arg limit=VALUE --arg other=VALUE" in shown(package)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--case", "two_row"], "did you mean two_rows"),
        (["--case", "zzzz"], "there are two_rows, with_bias_and_limit, long_rows"),
        (["--shapes", "bias=2"], "the call lacks x"),
        (["--shapes", "x"], "a shape is missing"),
        (["--shapes", "x=2x3,x=4"], "'x' is given twice"),
        (["--shapes", "x=[2]"], "this is no shape"),
        (["--shapes", "x=2x-3"], "this is no shape"),
        (["--shapes", "x=" + "9" * 30], "this is no shape"),
        (["--shapes", "x=2x3]"], "this is no shape"),
        (["--shapes", "x=int32[2]y[3]"], "this is no shape"),
        (["--shapes", "x[2]=3"], "expected NAME=SHAPE"),
        (["--shapes", ",x=2"], "expected NAME=SHAPE"),
        (["--case", "two_rows", "--dtype", "bias=int32"], "the call has no such tensor"),
        (["--wgsl"], "--wgsl is about a call"),
        (["--all-devices"], "--all-devices is about a call"),
        (["--variant", "plain"], "--variant is about a call"),
        ([*TWO_ROWS, "--pass", "main"], "--pass picks a pass of --wgsl"),
        ([*TWO_ROWS, "--all-devices", "--device", "swiftshader"], "contradict"),
        ([*TWO_ROWS, "--wgsl", "--json", "-"], "nothing but WGSL"),
        ([*TWO_ROWS, "--wgsl", "--pass", "mian"], 'did you mean "main"?'),
        ([*TWO_ROWS, "--json", "/nonexistent/report.json"], "no such folder"),
    ],
)
def test_a_wrong_option_says_what_is_expected(options, words):
    assert words in refused(GOOD, *options)


def test_commas_part_shapes_but_not_within_brackets():
    assert list(split_items("a=float16[2x3],b=,c")) == [("a", "float16[2x3]"), ("b", ""), ("c", None)]
    assert list(split_items("a=x[1,2],b=3")) == [("a", "x[1,2]"), ("b", "3")]
