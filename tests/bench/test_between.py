"""Two saved reports compared: ratios with their spread, and what is noise."""

from typing import Any

import pytest

from scanbuild.bench.between import Between, between
from tests.bench.reports import measured, outcome, report


def saved(*cases: tuple[str, float], spread: float = 0.01, fraction: float = 0.8, **adapter: Any) -> dict[str, Any]:
    """A report of cases by name and seconds, with percentiles ``spread`` around the median."""
    outcomes = [outcome(name, measured(seconds=seconds, fraction=fraction)) for name, seconds in cases]
    value = report(*outcomes, **adapter).to_json()
    for entry in value["cases"]:
        entry["p10Us"], entry["p90Us"] = entry["medianUs"] * (1 - spread), entry["medianUs"] * (1 + spread)
    return value


def verdicts(found: Between) -> dict[str, str]:
    return {item.name: item.verdict for item in found.cases}


def test_a_report_does_not_differ_from_itself():
    one = saved(("a", 1e-3), ("b", 2e-3))
    found = between(one, one)
    assert verdicts(found) == {"a": "noise", "b": "noise"}
    assert found.mean == 1 and not found.relative


def test_what_lies_beyond_the_spread_of_both_is_faster_or_slower():
    found = between(saved(("a", 1e-3), ("b", 1e-3), ("c", 1e-3)), saved(("a", 5e-4), ("b", 2e-3), ("c", 1.01e-3)))
    assert verdicts(found) == {"a": "faster", "b": "slower", "c": "noise"}
    assert [item.ratio for item in found.cases] == pytest.approx([0.5, 2, 1.01])
    assert found.cases[0].low == pytest.approx(0.5 * 0.99 / 1.01) and found.cases[0].high < 1
    assert (found.count("faster"), found.count("slower"), found.count("noise")) == (1, 1, 1)


def test_the_same_difference_is_noise_where_samples_scatter():
    found = between(saved(("a", 1e-3), spread=0.3), saved(("a", 8e-4), spread=0.3))
    assert verdicts(found) == {"a": "noise"}
    assert verdicts(between(saved(("a", 1e-3)), saved(("a", 8e-4)))) == {"a": "faster"}


def test_times_of_two_devices_are_taken_relative_to_the_copy():
    found = between(saved(("a", 1e-3), fraction=0.4, name="One"), saved(("a", 9e-3), fraction=0.8, name="Other"))
    assert found.relative and "One" in found.old_device and "Other" in found.new_device
    (case,) = found.cases
    assert case.ratio == pytest.approx(0.5) and case.low < 0.5 < case.high < 1 and case.verdict == "faster"


def test_turning_the_reports_around_turns_the_ratios_around():
    one, other = saved(("a", 1e-3)), saved(("a", 3e-3))
    there, back = between(one, other).cases[0], between(other, one).cases[0]
    assert there.ratio * back.ratio == pytest.approx(1)
    assert there.low * back.high == pytest.approx(1)
    assert (there.verdict, back.verdict) == ("slower", "faster")


def test_cases_of_one_report_alone_are_named():
    found = between(saved(("a", 1e-3), ("b", 1e-3)), saved(("b", 1e-3), ("c", 1e-3)))
    assert (found.only_old, found.only_new) == (("a",), ("c",))
    assert between(saved(("a", 1e-3)), saved(("c", 1e-3))).mean is None


def test_the_selected_variants_are_compared_whichever_they_are():
    entries = [measured("slow", 5e-3, selected=False), measured("main", 1e-3)]
    old = report(outcome("a", *entries)).to_json()
    new = report(outcome("a", measured("fast", 5e-4))).to_json()
    (case,) = between(old, new).cases
    assert (case.old_variant, case.new_variant) == ("main", "fast") and case.ratio == pytest.approx(0.5)
