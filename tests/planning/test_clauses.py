"""Why a clause holds or not: the deciding parts, and the values that they read."""

from typing import Any

import pytest

from scanbuild.dialect import UNDEFINED, NameSet, f16_ok
from scanbuild.planning.clauses import MOST_PARTS, MOST_READINGS, explain_clause

NAMES: dict[str, Any] = {
    "channels": 3,
    "steps": 100,
    "half": 0.5,
    "empty": [],
    "shapes": {"x": [2, 3]},
    "ranks": {"x": 2},
    "attrs": {"mode": "mean"},
    "present": {"bias": False},
    "dtypes": {"T": "f16"},
    "device": {"features": NameSet(frozenset({"subgroups"})), "limits": {"maxBufferSize": 256}},
    "f16Ok": f16_ok(False),
}


def told(text):
    """Deciding part -> (its value, or why it fails; what it reads)."""
    return {
        part.text: (part.failure or part.value, {item.text: item.failure or item.value for item in part.readings})
        for part in explain_clause(text, NAMES).parts
    }


def test_a_comparison_tells_the_value_of_its_name():
    found = explain_clause("channels > 64", NAMES)
    assert not found.holds
    assert told("channels > 64") == {"channels > 64": (False, {"channels": 3})}


def test_of_a_chain_only_the_operands_that_fail_are_told():
    assert told("channels >= 1 and channels >= 64 and steps >= 32 and steps >= 1024") == {
        "channels >= 64": (False, {"channels": 3}),
        "steps >= 1024": (False, {"steps": 100}),
    }


def test_of_an_or_that_fails_all_operands_are_told():
    assert list(told("channels > 64 or steps > 500 or attrs.mode == 'sum'")) == [
        "channels > 64",
        "steps > 500",
        "attrs.mode == 'sum'",
    ]


def test_of_an_or_that_holds_the_first_true_operand_is_told():
    assert list(told("channels > 64 or steps > 50 or channels == 3")) == ["steps > 50"]


def test_an_and_that_holds_tells_all_its_operands():
    assert list(told("channels == 3 and steps > 50")) == ["channels == 3", "steps > 50"]


def test_behind_a_guard_that_stops_evaluation_an_operand_that_fails_is_left_out():
    assert list(told("ranks.x == 3 and shapes.x[2] > 1")) == ["ranks.x == 3"]


def test_nested_parts_are_followed_down_to_what_decides():
    text = "steps > 1 and (channels > 64 or not (steps > 10 and channels == 3))"
    assert told(text) == {
        "channels > 64": (False, {"channels": 3}),
        "steps > 10": (True, {"steps": 100}),
        "channels == 3": (True, {"channels": 3}),
    }


def test_a_negation_tells_what_it_negates():
    assert told("not present.bias") == {"present.bias": (False, {})}
    assert explain_clause("not present.bias", NAMES).holds


def test_a_choice_tells_its_test_and_the_branch_taken():
    assert told("channels > 64 if attrs.mode == 'mean' else steps > 1") == {
        "attrs.mode == 'mean'": (True, {"attrs.mode": "mean"}),
        "channels > 64": (False, {"channels": 3}),
    }
    assert list(told("true if attrs.mode == 'sum' else false")) == ["attrs.mode == 'sum'"]


def test_computed_sides_of_a_comparison_are_told_with_what_they_read():
    assert told("steps * channels >= 4096") == {
        "steps * channels >= 4096": (False, {"steps * channels": 300, "steps": 100, "channels": 3})
    }


def test_members_and_indices_are_read_as_a_whole():
    assert told("shapes.x[ranks.x - 1] == 4") == {
        "shapes.x[ranks.x - 1] == 4": (False, {"shapes.x[ranks.x - 1]": 3, "ranks.x": 2})
    }


def test_a_method_and_a_helper_tell_what_they_were_given():
    features = NAMES["device"]["features"]
    assert told("device.features.has('shader-f16')") == {
        "device.features.has('shader-f16')": (False, {"device.features": features})
    }
    assert told("f16Ok(dtypes.T)") == {"f16Ok(dtypes.T)": (False, {"dtypes.T": "f16"})}


def test_what_is_truthy_and_not_true_does_not_hold_and_tells_its_value():
    found = explain_clause("channels", NAMES)
    assert (found.holds, found.value) == (False, 3)
    assert told("channels") == {"channels": (3, {})}
    assert not explain_clause("'yes'", NAMES).holds
    assert told("channels == 3 and steps") == {"channels == 3": (True, {"channels": 3}), "steps": (100, {})}


def test_an_empty_list_counts_as_false_as_it_does_in_an_and():
    assert list(told("empty and channels == 3")) == ["empty"]


def test_nan_counts_as_false():
    assert list(told("0 // 0 or channels > 64")) == ["0 // 0", "channels > 64"]


@pytest.mark.parametrize("text", ["missing > 1", "channels > 1 and missing > 1", "channels > 9 or missing > 1"])
def test_an_unknown_name_fails_the_clause_and_its_part_is_the_one_to_blame(text):
    found = explain_clause(text, NAMES)
    assert "unknown name 'missing'" in found.failure
    assert [part.text for part in found.parts] == ["missing > 1"]
    assert "unknown name" in found.parts[0].readings[0].failure


def test_a_value_that_fails_is_told_with_what_it_reads():
    assert "undefined" in explain_clause("attrs.depth < 1", NAMES).failure
    assert told("attrs.depth < 1")["attrs.depth < 1"][1] == {"attrs.depth": UNDEFINED}


def test_what_does_not_parse_fails_without_parts():
    found = explain_clause("channels >", NAMES)
    assert found.failure
    assert found.parts == ()


def test_parts_and_readings_are_bounded():
    names = {f"n{index}": index for index in range(40)}
    found = explain_clause(" or ".join(f"n{index} > 99" for index in range(40)), names)
    assert len(found.parts) == MOST_PARTS
    found = explain_clause(f"max({', '.join(names)}) > 99", names)
    assert len(found.parts[0].readings) == MOST_READINGS
