"""Reports as JSON, as a page, as a picture, and as a baseline."""

import json
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scanbuild.bench.against import compare, parse_share, read_baseline
from scanbuild.bench.page import page
from scanbuild.bench.report import Clock, Outcome
from scanbuild.bench.series import rates_of, shares_of, size_range, size_text, size_ticks, value_ticks
from scanbuild.cases.schema import schema_problems
from scanbuild.errors import InputError
from tests.bench.reports import figures, measured, outcome, report

SKIPPED = Outcome(name="huge", status="skipped", message="tensor x is too large")


def full():
    slower = measured("other", 2e-3, 0.4, selected=False, ratio=2.0, tunables={"lanes": 32})
    rival = measured("theirs", 3e-3, 0.3, package=1, ratio=3.0)
    cached = measured(cached=figures(5e-4, 0.9))
    return report(outcome("a", cached, slower, rival, group="large"), outcome("b", moved=4096), SKIPPED)


def test_a_report_in_json_fits_its_schema_and_has_the_members_that_others_read():
    found = full().to_json()
    assert schema_problems(found, "bench-report") == []
    assert found["copyGBps"] == 1250
    assert found["notMeasured"] == [{"name": "huge", "status": "skipped", "message": "tensor x is too large"}]
    first, second, third, last = found["cases"]
    assert {name: first[name] for name in ("name", "variant", "medianUs", "p10Us", "p90Us")} == {
        "name": "a",
        "variant": "main",
        "medianUs": 1000,
        "p10Us": 1000,
        "p90Us": 1000,
    }
    assert (first["GBps"], first["fractionOfCopy"], first["kernelLaunches"]) == (1000, 0.8, 1)
    assert (first["cached"]["GBps"], first["group"], first["selected"]) == (2000, "large", True)
    assert (second["ratio"]["median"], second["tunables"], second["selected"]) == (2, {"lanes": 32}, False)
    assert (third["vs"], last["name"]) == (True, "b")


def test_a_report_of_nothing_is_a_report():
    empty = report(SKIPPED)
    assert schema_problems(empty.to_json(), "bench-report") == []
    assert empty.copy_rate == 0
    assert "Nothing was measured" in page(empty, "Some GPU")


class Links(HTMLParser):
    """Everything that a page would fetch, and the tags that it opens and does not close."""

    def __init__(self) -> None:
        super().__init__()
        self.fetched: list[str] = []
        self.open: list[str] = []

    def handle_starttag(self, tag, attrs):
        self.fetched += [value for name, value in attrs if name in ("src", "href", "action", "data")]
        if tag in ("script", "link", "iframe", "object"):
            self.fetched.append(tag)
        if tag != "meta":
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        pass

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_a_page_fetches_nothing_and_is_well_formed():
    text = page(full(), "Some GPU through wgpu")
    links = Links()
    links.feed(text)
    assert links.fetched == []
    assert links.open == []
    assert "url(" not in text
    assert "@import" not in text
    assert "prefers-color-scheme: dark" in text
    assert 'name="viewport"' in text


def test_a_page_shows_every_line_and_every_case():
    text = page(full(), "Some GPU through wgpu")
    for words in ("copy (roofline)", "main", "other (lanes=32)", "other: theirs", "1250 GB/s", "huge", "3.000"):
        assert words in text
    assert text.count("<polyline") == 4 * 3 * 2


def test_names_from_a_package_cannot_become_markup():
    bad = '<img src="x" onerror="alert(1)">'
    text = page(report(outcome(bad, measured(bad), group=bad), packages=(bad,)), bad)
    assert "<img" not in text


def test_a_picture_is_drawn(tmp_path: Path):
    from scanbuild.bench.plot import draw

    draw(full(), "a $GPU_$ {}", tmp_path / "plot.png")
    assert (tmp_path / "plot.png").read_bytes().startswith(b"\x89PNG")


def test_a_picture_without_matplotlib_says_what_to_install(monkeypatch: pytest.MonkeyPatch):
    from scanbuild.bench import plot

    def missing(name: str) -> None:
        raise ImportError(f"No module named {name!r}")

    monkeypatch.setattr(plot, "import_module", missing)
    with pytest.raises(InputError, match=r"scanbuild\[plot\]"):
        plot.require_matplotlib()


def test_lines_lead_through_the_medians_of_like_sizes():
    cases = [outcome(f"c{rate}", measured(seconds=1 / rate), moved=1e9) for rate in (10, 20, 90)]
    found = report(*cases, outcome("small", moved=1e6))
    copy, only = rates_of(found)
    assert copy.is_roofline
    assert [round(rate) for _, rate in only.line] == [1, 20]
    assert len(only.points) == 4
    copy, only = shares_of(found)
    assert [share for _, share in copy.line] == [1, 1]
    assert [share for _, share in only.line] == [0.8, 0.8]


@given(st.integers(1, 2**45), st.integers(1, 2**45), st.integers(1, 9))
def test_size_ticks_lie_in_their_range_and_are_few(one, other, most):
    low, high = size_range([one, other])
    assert low <= min(one, other) <= max(one, other) <= high
    ticks = size_ticks(low, high, most)
    assert 1 <= len(ticks) <= most
    assert all(low <= tick <= high for tick in ticks)


@given(st.floats(1e-9, 1e9))
def test_value_ticks_begin_at_zero_and_reach_the_highest(high):
    ticks = value_ticks(high)
    assert ticks[0] == 0
    assert ticks[-1] >= high * (1 - 1e-6)
    assert 2 <= len(ticks) <= 8


def test_sizes_have_units():
    assert [size_text(size) for size in (4, 4096, 1.5 * 2**20, 2**31)] == ["4 B", "4 KiB", "1.5 MiB", "2 GiB"]


def saved(tmp_path: Path, **fractions: float):
    made = report(*(outcome(name, measured(fraction=value)) for name, value in fractions.items()))
    (tmp_path / "baseline.json").write_text(json.dumps(made.to_json()))
    return read_baseline(tmp_path / "baseline.json")


def test_a_baseline_is_compared_by_fractions_of_the_copy(tmp_path: Path):
    before = saved(tmp_path, a=0.9, b=0.5, gone=0.7, skipped=0.3)
    slower = outcome("b", measured("new", seconds=9, fraction=0.4), measured("old", selected=False, ratio=0.5))
    now = report(
        outcome("a", measured(seconds=5, fraction=0.89)), slower, outcome("c"), replace(SKIPPED, name="skipped")
    )
    found = compare(now.to_json(), before)
    assert [(item.name, round(item.loss, 3)) for item in found.cases] == [("a", 0.011), ("b", 0.2)]
    (worst,) = found.regressions(0.1)
    assert (worst.name, worst.variant_before, worst.variant_after) == ("b", "main", "new")
    assert found.regressions(0.2 + 1e-9) == []
    assert (found.only_now, found.only_before) == (("c",), ("skipped",))


def test_a_baseline_that_is_no_report_is_refused_with_all_its_faults(tmp_path: Path):
    made = report(outcome("a")).to_json()
    made["cases"][0]["medianUs"] = "fast"
    del made["clock"]
    (tmp_path / "baseline.json").write_text(json.dumps(made))
    with pytest.raises(InputError) as caught:
        read_baseline(tmp_path / "baseline.json")
    words = str(caught.value)
    assert "clock" in words
    assert "$.cases[0].medianUs" in words
    with pytest.raises(InputError, match="cannot read the baseline"):
        read_baseline(tmp_path / "none.json")


@pytest.mark.parametrize(("text", "share"), [("10%", 0.1), ("2.5", 0.025), (" 0 %", 0), ("100%", 1)])
def test_percentages_are_fractions(text, share):
    assert parse_share(text) == pytest.approx(share)


@pytest.mark.parametrize("text", ["", "%", "ten", "-1%", "101%", "nan"])
def test_what_is_no_percentage_is_refused(text):
    with pytest.raises(ValueError):
        parse_share(text)


def test_the_host_as_clock_is_told():
    assert "host" in page(replace(full(), clock=Clock(source="host", tick_s=1e-9)), "GPU")
