"""Planning a package's cases, and requests made up around its conditions, on the built-in device profiles."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Final, TypeVar

from scanbuild.checking.devices import distinct_devices
from scanbuild.checking.requests import Trial, case_trials, made_up_bases, made_up_trials
from scanbuild.checking.subject import Subject
from scanbuild.dialect import allowance, work_left
from scanbuild.dialect.limits import CALL_WORK
from scanbuild.errors import CallError, Problem
from scanbuild.package.model import Manifest
from scanbuild.planning.device import DeviceRecord
from scanbuild.planning.passes import Program
from scanbuild.planning.planner import Planner

TRIAL_WORK: Final = CALL_WORK // 2
"""Nothing more is tried after so much work, but every case on the first device, with twice as much.

Work and not time: a package is told the same on every machine, however busy.
"""

SLOW_WORK: Final = CALL_WORK // 4
"""One request that takes more to plan ends all trying: its package was made to be slow."""

REQUEST_WORK: Final = 2**14
"""What each request counts for at least, and the shaders of one."""

HOPELESS: Final = 24
"""Where so many requests are refused, and none accepted, the others are not tried."""

SAMPLES: Final = 3
"""So many requests of each variant have their shaders looked at."""

_GUESSES: Final = 2
"""So many made-up requests are varied, where no case is accepted."""

NO_VARIANT: Final = "no-variant"


@dataclass(frozen=True, kw_only=True, slots=True)
class Outcome:
    """What came of one request on one device: a variant, or why the call is refused.

    ``ran`` has the passes that run, by id; ``outputs`` have the dtype and shape of each.
    """

    trial: Trial
    device: str
    variant: str = ""
    problems: tuple[Problem, ...] = ()
    ran: frozenset[str] = frozenset()
    outputs: Mapping[str, tuple[str, tuple[int, ...]]] = field(default_factory=dict)

    @property
    def idle(self) -> bool:
        """Whether nothing runs, be the call accepted or not."""
        return not self.ran

    @property
    def no_variant(self) -> bool:
        """Whether it is refused because no variant takes it."""
        return any(problem.rule == NO_VARIANT for problem in self.problems)


@dataclass(frozen=True, kw_only=True, slots=True)
class Sample:
    """The shaders of a variant for one request."""

    variant: str
    outcome: Outcome
    programs: tuple[Program, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Trials:
    """All outcomes. ``complete`` is false where the work ran out before everything was tried."""

    outcomes: tuple[Outcome, ...]
    samples: tuple[Sample, ...]
    devices: Mapping[str, DeviceRecord]
    complete: bool
    planner: Planner = field(repr=False)

    @property
    def reached(self) -> frozenset[str]:
        """The variants that some request selects."""
        return frozenset(outcome.variant for outcome in self.outcomes) - {""}

    def of_cases(self) -> list[Outcome]:
        """The outcomes of the package's own cases."""
        return [outcome for outcome in self.outcomes if outcome.trial.change == "case"]

    def made_up(self) -> list[Outcome]:
        """The outcomes of all other requests."""
        return [outcome for outcome in self.outcomes if outcome.trial.change != "case"]


Result = TypeVar("Result")


class _Meter:
    """Counts the work done."""

    def __init__(self) -> None:
        self.used = 0
        self.last = 0

    def __call__(self, action: Callable[[], Result]) -> Result:
        """What an action gives; its work is ``last``, and added to ``used``."""
        with allowance(CALL_WORK):
            result = action()
            self.last = max(CALL_WORK - work_left(), REQUEST_WORK)
        self.used += self.last
        return result


@dataclass(frozen=True, slots=True)
class _Package:
    """A subject as planning sees a package."""

    subject: Subject

    @property
    def manifest(self) -> Manifest:
        return self.subject.manifest

    def templates(self, variant_id: str) -> Mapping[str, str]:
        return self.subject.files_of(self.manifest.variant(variant_id))


def run_trials(subject: Subject) -> Trials:
    """Plan everything worth planning, within bounds."""
    meter = _Meter()
    planner = Planner(_Package(subject))
    devices = distinct_devices(subject)
    cases = case_trials(subject)
    first = dict(list(devices.items())[:1])
    others = {name: device for name, device in devices.items() if name not in first}
    outcomes, within = _planned(planner, cases, first, meter, 2 * TRIAL_WORK)
    if within and (any(outcome.variant for outcome in outcomes) or len(outcomes) < HOPELESS):
        elsewhere, all_tried = _planned(planner, cases, others, meter, TRIAL_WORK)
        outcomes, within = outcomes + elsewhere, within and all_tried
    if within and not any(outcome.variant for outcome in outcomes):
        guesses, within = _planned(planner, made_up_bases(subject), first, meter, TRIAL_WORK)
        outcomes += guesses
    made_up = made_up_trials(subject, _accepted(outcomes)) if within else []
    more, all_tried = _planned(planner, made_up, devices, meter, TRIAL_WORK)
    outcomes += more
    return Trials(
        outcomes=tuple(outcomes),
        samples=tuple(_samples(planner, outcomes, devices, meter)),
        devices=devices,
        complete=within and all_tried,
        planner=planner,
    )


def _accepted(outcomes: Iterable[Outcome]) -> list[tuple[Trial, str]]:
    """The requests to make others from, each with its variant: all cases, but few of those that were made up."""
    found = {item.trial.key: (item.trial, item.variant) for item in outcomes if item.variant and not item.idle}
    cases = [(trial, variant) for trial, variant in found.values() if trial.case is not None]
    return cases or list(found.values())[:_GUESSES]


def _planned(
    planner: Planner, trials: Iterable[Trial], devices: Mapping[str, DeviceRecord], meter: _Meter, most: int
) -> tuple[list[Outcome], bool]:
    """The outcomes, and whether all was tried before ``most`` work was done."""
    outcomes: list[Outcome] = []
    for name, device in devices.items():
        refused = 0
        for trial in trials:
            if meter.used > most:
                return outcomes, False
            outcomes.append(meter(partial(_outcome, planner, trial, name, device)))
            if meter.last > SLOW_WORK:
                return outcomes, False
            refused = refused + 1 if refused >= 0 and outcomes[-1].problems else -1
            if refused >= HOPELESS:
                break
    return outcomes, True


def _outcome(planner: Planner, trial: Trial, name: str, device: DeviceRecord) -> Outcome:
    try:
        plan = planner.prepare(trial.request, device).plan
    except CallError as error:
        return Outcome(trial=trial, device=name, problems=error.problems)
    ran = frozenset(item.id for item in plan.passes)
    outputs = {name: (spec.logical, spec.shape) for name, spec in plan.outputs.items()}
    return Outcome(trial=trial, device=name, variant=plan.variant, ran=ran, outputs=outputs)


def _samples(
    planner: Planner, outcomes: Iterable[Outcome], devices: Mapping[str, DeviceRecord], meter: _Meter
) -> Iterator[Sample]:
    """The shaders of a few requests for each variant, of different dtypes as far as there are, within bounds."""
    counts: dict[str, int] = {}
    seen: set[tuple[str, str]] = set()
    for outcome in outcomes:
        types = repr([getattr(value, "dtype", None) for value in outcome.trial.request.inputs.values()])
        key = (outcome.variant, types)
        if not outcome.variant or key in seen or counts.get(outcome.variant, 0) >= SAMPLES:
            continue
        if meter.used > 2 * TRIAL_WORK:
            return
        seen.add(key)
        counts[outcome.variant] = counts.get(outcome.variant, 0) + 1
        programs = meter(partial(planner.programs, outcome.trial.request, devices[outcome.device], outcome.variant))
        yield Sample(variant=outcome.variant, outcome=outcome, programs=tuple(programs))
