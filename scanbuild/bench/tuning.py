"""Looking for better values of tunables: which to try on a case, and what to take for all cases of a variant."""

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, TypeAlias

from scanbuild.bench.measure import BenchRunner, Candidate, Candidates
from scanbuild.bench.report import Measured, Outcome, setting_text
from scanbuild.bench.sampling import Settings
from scanbuild.bench.statistics import geometric_mean
from scanbuild.cases.casefile import Case
from scanbuild.errors import CallError
from scanbuild.package.model import Json

Setting: TypeAlias = Mapping[str, Json]

GRID: Final = 64
"""Up to so many combinations all are tried; beyond, one tunable is changed after another, best value first kept."""

WORTH_IT: Final = 0.98
"""Another setting than the default has to take at most this fraction of its time."""

FINALISTS: Final = 3
PLAYERS: Final = 6
_SWEEPS: Final = 2
_TOGETHER: Final = 7

_QUICK: Final = Settings(precision=0.03, least=7, most=40, few=5, budget_s=0.5, warm_up_s=0.0)


@dataclass(frozen=True, kw_only=True, slots=True)
class Choice:
    """The setting to take for a variant, {} for the default's, and its time over the default's (geometric mean).

    ``tuned`` are the tunables that make a difference to the variant in some case.
    """

    variant: str
    setting: Setting
    ratio: float
    cases: int
    tuned: frozenset[str] = frozenset()

    def to_json(self) -> dict[str, Json]:
        """As a member of a report."""
        return {
            "variant": self.variant,
            "tunables": dict(self.setting),
            "ratio": float(f"{self.ratio:.4g}"),
            "cases": self.cases,
        }


@dataclass(slots=True)
class _Tried:
    """Settings of one variant on one case: their plans, each once, and what is known of their times."""

    runner: BenchRunner
    case: Case
    default: Candidate
    plans: dict[str, Candidate] = field(default_factory=dict)
    refused: dict[str, str] = field(default_factory=dict)
    ratios: dict[str, float] = field(default_factory=dict)

    def candidate(self, setting: Setting) -> Candidate | None:
        """The plan of a setting; None if the variant refuses it, or if it is the plan of another setting."""
        key = setting_text(setting)
        if key in self.plans or key in self.refused:
            return self.plans.get(key)
        try:
            made = self.runner.tuned_candidate(self.case, self.default.plan.variant, setting)
        except CallError as error:
            self.refused[key] = str(error)
            return None
        if any(made.plan == other.plan for other in (self.default, *self.plans.values())):
            return None
        self.plans[key] = made
        return made

    def screen(self, settings: Sequence[Setting]) -> None:
        """Time those that are new, roughly and a few at a time beside the default."""
        new = [made for setting in settings if (made := self.candidate(setting)) and key_of(made) not in self.ratios]
        for first in range(0, len(new), _TOGETHER):
            some = tuple(new[first : first + _TOGETHER])
            outcome = self.runner.measure(self.case, Candidates(plans=(self.default, *some)), _QUICK)
            for entry in outcome.entries[1:]:
                assert entry.ratio is not None
                self.ratios[setting_text(entry.tunables)] = entry.ratio.median
            self.refused.update({key.partition(" with ")[2]: why for key, why in outcome.not_taken})

    def best(self, count: int) -> list[Candidate]:
        """The fastest settings, those that are slower than the default left out."""
        ranked = sorted(self.ratios, key=self.ratios.__getitem__)
        return [self.plans[key] for key in ranked[:count] if self.ratios[key] < 1]


def sweep(runner: BenchRunner, case: Case, tune: Mapping[str, Sequence[Json]]) -> Outcome:
    """Try values of tunables on the variant that is selected for a case. The outcome has the default and the best.

    ``not_taken`` tells which settings the variant refuses. CallError if the case cannot be measured at all.
    """
    default = runner.candidate(case)
    tried = _Tried(runner=runner, case=case, default=default)
    choices = relevant(tried, tune, runner.defaults(default.plan.variant))
    if math.prod(len(values) + 1 for values in choices.values()) <= GRID:
        tried.screen(list(grid(choices)))
    else:
        _descend(tried, choices)
    final = runner.measure(case, Candidates(plans=(default, *tried.best(FINALISTS))))
    refused = tuple((f"variant {default.plan.variant} with {key}", why) for key, why in tried.refused.items())
    return replace(final, not_taken=(*final.not_taken, *refused), tuned=tuple(choices))


def play_off(runner: BenchRunner, case: Case, settings: Sequence[Setting]) -> Outcome:
    """Time settings on a case beside the default. Those that come to the default's plan are left out."""
    default = runner.candidate(case)
    tried = _Tried(runner=runner, case=case, default=default)
    plans = [made for setting in settings if (made := tried.candidate(setting))]
    refused = tuple((f"variant {default.plan.variant} with {key}", why) for key, why in tried.refused.items())
    return runner.measure(case, Candidates(plans=(default, *plans), not_taken=refused))


def relevant(tried: _Tried, tune: Mapping[str, Sequence[Json]], defaults: Mapping[str, Json]) -> dict[str, list[Json]]:
    """The tunables of the variant that make a difference to the plan, with the values other than the default.

    A value that the variant refuses by itself makes a difference, too: others may make room for it.
    """
    found: dict[str, list[Json]] = {}
    for name, values in tune.items():
        if name not in defaults:
            continue
        others = [value for value in values if value != defaults[name]]
        kept = [
            value for value in others if tried.candidate({name: value}) or setting_text({name: value}) in tried.refused
        ]
        if kept:
            found[name] = kept
    return found


def grid(choices: Mapping[str, Sequence[Json]]) -> Iterator[dict[str, Json]]:
    """Every combination of the values, those left out standing for the default; not the default itself."""
    options = [[None, *((name, value) for value in values)] for name, values in choices.items()]
    for combination in itertools.product(*options):
        setting = dict(item for item in combination if item is not None)
        if setting:
            yield setting


def _descend(tried: _Tried, choices: Mapping[str, Sequence[Json]]) -> None:
    """Change one tunable after another, and keep what is fastest, until a sweep changes nothing."""
    current: dict[str, Json] = {}
    for _ in range(_SWEEPS):
        before = dict(current)
        for name, values in choices.items():
            without = {key: value for key, value in current.items() if key != name}
            tried.screen([without] * bool(without) + [{**without, name: value} for value in values])
            best = tried.best(1)
            current = dict(best[0].tunables) if best else {}
        if current == before:
            break


def key_of(candidate: Candidate) -> str:
    """The text of its setting."""
    return setting_text(candidate.tunables)


def winner(outcome: Outcome) -> Measured | None:
    """The fastest setting of a case that is worth leaving the default for."""
    others = [item for item in outcome.entries if item.ratio is not None and item.ratio.median <= WORTH_IT]
    return min(others, key=lambda item: item.ratio.median if item.ratio else 1.0, default=None)


def players(outcomes: Sequence[Outcome]) -> dict[str, list[Setting]]:
    """By variant the settings that won somewhere, most wins first."""
    found: dict[str, dict[str, tuple[int, Setting]]] = {}
    for outcome in outcomes:
        best = winner(outcome)
        if best is None:
            continue
        wins = found.setdefault(best.variant, {})
        key = setting_text(best.tunables)
        wins[key] = (wins.get(key, (0, {}))[0] + 1, best.tunables)
    return {
        variant: [setting for _, setting in sorted(wins.values(), key=lambda item: -item[0])][:PLAYERS]
        for variant, wins in found.items()
    }


def choose(variant: str, settings: Sequence[Setting], outcomes: Sequence[Outcome]) -> Choice:
    """The setting with the least geometric mean of times over all cases of a variant; the default unless worth it.

    ``outcomes`` are those of the play-off. A setting that the variant refuses in one case is out; one that was not
    timed there came to the default's plan.
    """
    best = Choice(variant=variant, setting={}, ratio=1.0, cases=len(outcomes))
    for setting in settings:
        ratios = [_ratio(outcome, setting) for outcome in outcomes]
        known = [ratio for ratio in ratios if ratio is not None]
        if not known or len(known) < len(ratios):
            continue
        mean = geometric_mean(known)
        if mean < best.ratio and mean <= WORTH_IT:
            best = Choice(variant=variant, setting=setting, ratio=mean, cases=len(outcomes))
    return best


def _ratio(outcome: Outcome, setting: Setting) -> float | None:
    for item in outcome.entries:
        if item.tunables == setting and item.ratio is not None:
            return item.ratio.median
    key = setting_text(setting)
    if any(what.endswith(f" with {key}") for what, _ in outcome.not_taken):
        return None
    return 1.0
