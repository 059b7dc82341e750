"""How often things are run, with a clock that is made up."""

import math
import random
from dataclasses import dataclass, field

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scanbuild.bench.sampling import MOST_TIMES, Entrant, Settings, calibrate, sample
from scanbuild.bench.statistics import summarise


@dataclass
class FakeMeter:
    """Calls take so long each; the clock shows whole ticks from a random phase. ``spent`` is the time that went by."""

    cost: dict[str, float]
    tick_s: float = 1e-9
    by_host: bool = False
    noise: float = 0.0
    drift: float = 0.0
    spent: float = 0.0
    rounds: list[list[str]] = field(default_factory=list)
    generator: random.Random = field(default_factory=lambda: random.Random(3))

    def measure(self, runs):
        self.rounds.append([load for load, _, _ in runs])
        return [self._one(*run) for run in runs]

    def _one(self, load, times, lead_in):
        speed = 1 + self.drift * self.spent
        taken = self.cost[load] * speed * times * (1 + self.noise * self.generator.expovariate(1))
        self.spent += taken + self.cost[load] * lead_in + 1e-4
        phase = self.generator.random() * self.tick_s
        return math.floor((taken + phase) / self.tick_s) * self.tick_s


def entrants(*names: str, **more) -> list[Entrant[str]]:
    return [Entrant(name=name, load=name, **more) for name in names]


def medians(found):
    return {name: sorted(times)[len(times) // 2] for name, times in found.seconds.items()}


QUICK = Settings(warm_up_s=0.0)


def run(meter, names, options=QUICK):
    return sample(meter, entrants(*names), options, now=lambda: meter.spent)


@settings(max_examples=60, deadline=None)
@given(st.floats(min_value=1e-7, max_value=0.1), st.sampled_from([1e-9, 3.2e-8, 65.5e-6, 1e-3]), st.booleans())
def test_an_interval_is_long_against_the_clock(cost, tick, by_host):
    meter = FakeMeter({"a": cost}, tick_s=tick, by_host=by_host)
    times = calibrate(meter, entrants("a")[0])
    least = max(100 * tick, 20e-3 if by_host else 100e-6)
    assert 1 <= times <= MOST_TIMES
    assert times * cost + tick >= least or times == MOST_TIMES
    assert times == 1 or times * cost < 50 * least


@settings(max_examples=30, deadline=None)
@given(st.floats(min_value=2e-6, max_value=1e-2))
def test_a_coarse_clock_gives_the_same_medians_as_a_fine_one(cost):
    coarse = run(FakeMeter({"a": cost}, tick_s=65.5e-6), ["a"])
    assert medians(coarse)["a"] == pytest.approx(cost, rel=0.03)


def test_a_coarse_clock_does_not_make_a_median_look_known_exactly():
    found = run(FakeMeter({"a": 3.3e-6}, tick_s=65.5e-6), ["a"])
    summary = summarise(found.seconds["a"])
    assert 0 < summary.uncertainty < 0.01
    assert summary.p10 < summary.median < summary.p90


def test_a_clock_that_stands_still_ends_the_calibration():
    assert calibrate(FakeMeter({"a": 1e-12}, tick_s=1.0), entrants("a")[0]) == MOST_TIMES


def test_quiet_times_are_settled_early_and_noisy_ones_are_repeated():
    quiet = run(FakeMeter({"a": 1e-3}), ["a"])
    noisy = run(FakeMeter({"a": 1e-3}, noise=0.5), ["a"])
    assert len(quiet.seconds["a"]) == QUICK.least
    assert QUICK.least < len(noisy.seconds["a"]) <= QUICK.most


def test_the_budget_ends_sampling_after_the_fewest_rounds():
    options = Settings(budget_s=0.5, warm_up_s=0.0)
    assert len(run(FakeMeter({"a": 10.0}), ["a"], options).seconds["a"]) == options.few
    some = run(FakeMeter({"a": 0.02}, noise=0.5), ["a"], options)
    assert options.few < len(some.seconds["a"]) < options.most


def test_only_those_that_decide_are_waited_for():
    meter = FakeMeter({"a": 1e-3, "b": 1e-3})
    both = [Entrant(name="a", load="a"), Entrant(name="b", load="b", decides=False)]
    meter.noise = 0.0
    noisy = FakeMeter({"a": 1e-3, "b": 1e-3}, noise=0.5)
    assert len(sample(meter, both, QUICK, now=lambda: meter.spent).seconds["b"]) == QUICK.least
    assert len(sample(noisy, both, QUICK, now=lambda: noisy.spent).seconds["a"]) > QUICK.least


def test_every_entrant_has_its_turn_at_being_first():
    meter = FakeMeter({"a": 1e-3, "b": 1e-3, "c": 1e-3})
    run(meter, ["a", "b", "c"])
    rounds = [names for names in meter.rounds if len(names) == 3]
    assert [names[0] for names in rounds[:6]] == ["a", "b", "c", "a", "b", "c"]
    assert all(sorted(names) == ["a", "b", "c"] for names in rounds)


def test_ratios_hold_although_the_device_becomes_slower_all_the_time():
    meter = FakeMeter({"a": 2e-3, "b": 1e-3}, drift=2.0)
    found = run(meter, ["a", "b"])
    times = found.seconds["a"]
    assert times[-1] > 1.05 * times[0]
    ratios = found.ratios("a", "b")
    assert len(ratios) == len(times)
    assert sorted(ratios)[len(ratios) // 2] == pytest.approx(2, rel=0.02)


def test_warming_up_is_not_counted():
    meter = FakeMeter({"a": 1e-3})
    found = run(meter, ["a"], Settings(warm_up_s=0.1))
    assert len(found.seconds["a"]) == QUICK.least
    assert len(meter.rounds) > 2 * QUICK.least


def test_calls_before_the_interval_are_not_in_the_time():
    meter = FakeMeter({"a": 1e-3})
    found = sample(meter, entrants("a", lead_in=50), QUICK, now=lambda: meter.spent)
    assert medians(found)["a"] == pytest.approx(1e-3)
