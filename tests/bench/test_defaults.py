"""Which setting is taken for a variant, and how it gets into a manifest."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scanbuild.bench.defaults import rewrite
from scanbuild.bench.packages import open_subject
from scanbuild.bench.report import Outcome
from scanbuild.bench.tuning import Choice, choose, grid, players, winner
from tests.bench.packages import bench_case, write_source
from tests.bench.reports import measured, outcome
from tests.cases.packages import DOUBLE, manifest, variant


def tried(name: str, not_taken: tuple[str, ...] = (), variant: str = "main", **ratios: float) -> Outcome:
    """A case on which lanes=N took that much of the default's time; members are called n8, n16."""
    settings = [
        measured(variant, selected=False, ratio=ratio, tunables={"lanes": int(number[1:])})
        for number, ratio in ratios.items()
    ]
    refused = tuple((f"variant {variant} with lanes={value}", "no") for value in not_taken)
    return outcome(name, measured(variant), *settings, not_taken=refused)


def test_a_setting_wins_a_case_if_it_is_worth_leaving_the_default():
    assert winner(tried("a", n8=0.99, n16=1.2)) is None
    best = winner(tried("a", n8=0.9, n16=0.7))
    assert best is not None
    assert best.tunables == {"lanes": 16}


def test_settings_play_in_the_order_of_their_wins():
    cases = [tried("a", n8=0.9), tried("b", n16=0.9), tried("c", n16=0.8), tried("d", variant="other", n4=0.5)]
    assert players(cases) == {"main": [{"lanes": 16}, {"lanes": 8}], "other": [{"lanes": 4}]}


def test_the_choice_is_best_over_all_cases_not_in_one():
    cases = [tried("a", n8=0.5, n16=0.8), tried("b", n8=2.0, n16=0.8)]
    chosen = choose("main", [{"lanes": 8}, {"lanes": 16}], cases)
    assert (chosen.setting, chosen.cases) == ({"lanes": 16}, 2)
    assert chosen.ratio == pytest.approx(0.8)


def test_a_setting_that_is_refused_in_a_case_is_not_chosen():
    cases = [tried("a", n8=0.5, n16=0.9), tried("b", ("8",), n16=0.9)]
    assert choose("main", [{"lanes": 8}, {"lanes": 16}], cases).setting == {"lanes": 16}


def test_a_setting_that_comes_to_the_default_in_a_case_counts_as_equal_there():
    cases = [tried("a", n8=0.5), tried("b")]
    assert choose("main", [{"lanes": 8}], cases).ratio == pytest.approx(0.5**0.5)


def test_the_default_stays_unless_something_is_clearly_better():
    assert choose("main", [{"lanes": 8}], [tried("a", n8=0.99)]).setting == {}
    assert choose("main", [], []) == Choice(variant="main", setting={}, ratio=1.0, cases=0)


@given(st.dictionaries(st.sampled_from("abc"), st.lists(st.integers(1, 4), min_size=1, max_size=3, unique=True)))
def test_a_grid_has_every_combination_once_and_not_the_default(choices):
    found = list(grid(choices))
    expected = 1
    for values in choices.values():
        expected *= len(values) + 1
    assert len(found) == expected - 1
    assert len({json.dumps(item, sort_keys=True) for item in found}) == len(found)
    assert {} not in found


MADE: dict[str, Any] = manifest(
    variant("tiles", tunables={"rows": {"default": 4}}),
    variant("walk"),
    tunables={"lanes": {"default": 32, "description": "Channels"}, "rows": {"default": 2}},
)


def written(tmp_path, *choices: Choice, made: dict[str, Any] = MADE):
    folder = write_source(tmp_path, made, [bench_case("a", [4])], {"double.wgsl.jinja": DOUBLE})
    text = (folder / "manifest.json").read_text()
    result = rewrite(text, "manifest.json", open_subject(folder).manifest, choices)
    return text, result


def choice(name: str, *tuned: str, **setting: Any) -> Choice:
    return Choice(variant=name, setting=setting, ratio=0.5, cases=1, tuned=frozenset({*tuned, *setting}))


def test_a_default_is_changed_where_it_is_declared_and_nothing_else_is_touched(tmp_path):
    text, result = written(tmp_path, choice("tiles", rows=16), choice("walk", lanes=8))
    assert [(item.path, item.before, item.after) for item in result.changes] == [
        ("$.variants[0].tunables.rows.default", 4, 16),
        ("$.tunables.lanes.default", 32, 8),
    ]
    expected = json.loads(text)
    expected["variants"][0]["tunables"]["rows"]["default"] = 16
    expected["tunables"]["lanes"]["default"] = 8
    assert json.loads(result.text) == expected
    assert len(result.text.splitlines()) == len(text.splitlines())
    changed = [(old, new) for old, new in zip(text.splitlines(), result.text.splitlines(), strict=True) if old != new]
    assert len(changed) == 2


def test_a_shared_default_that_variants_want_different_stays_and_is_told(tmp_path):
    text, result = written(tmp_path, choice("tiles", lanes=8), choice("walk", "lanes"))
    assert (result.text, result.changes) == (text, ())
    (problem,) = result.problems
    assert "tiles 8, walk 32" in problem.message
    assert (problem.path, problem.severity) == ("$.tunables.lanes.default", "warning")
    assert problem.line is not None
    assert '"default": 32' in text.splitlines()[problem.line - 1]


def test_a_variant_that_a_tunable_makes_no_difference_to_has_no_say(tmp_path):
    _, result = written(tmp_path, choice("tiles", lanes=8), choice("walk", "rows"))
    assert [item.after for item in result.changes] == [8]


def test_values_of_every_kind_are_written_over_values_of_other_lengths(tmp_path):
    made = {**MADE, "tunables": {"lanes": {"default": 32}, "rows": {"default": 'a "long" text'}}}
    _, result = written(tmp_path, choice("walk", lanes=0.5, rows=True), made=made)
    assert json.loads(result.text)["tunables"] == {"lanes": {"default": 0.5}, "rows": {"default": True}}


def family(default: Any) -> dict[str, Any]:
    """Two variants, narrow and wide, made of one template."""
    template = variant("{name}", tunables={"rows": {"default": default}})
    return manifest({"cases": [{"name": "narrow", "rows": 2}, {"name": "wide", "rows": 4}], "variants": [template]})


def test_variants_of_one_template_share_its_default(tmp_path):
    _, same = written(tmp_path / "same", choice("narrow", rows=8), choice("wide", rows=8), made=family(1))
    assert [(item.path, item.after) for item in same.changes] == [
        ("$.variants[0].variants[0].tunables.rows.default", 8)
    ]
    _, split = written(tmp_path / "split", choice("narrow", rows=8), choice("wide", "rows"), made=family(1))
    assert split.changes == ()
    assert "narrow 8, wide 1" in split.problems[0].message


def test_a_default_that_the_family_fills_in_is_not_overwritten(tmp_path):
    text, result = written(tmp_path, choice("narrow", rows=8), made=family("{rows}"))
    assert (result.text, result.changes) == (text, ())
    assert "which its family fills in" in result.problems[0].message
