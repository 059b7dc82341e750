"""Measuring one case: which variants, on which memory, beside which roofline."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from scanbuild.bench.inputs import block_of, footprint, slices_for
from scanbuild.bench.packages import tuned
from scanbuild.bench.report import Figures, Measured, Outcome, Roofline, setting_text
from scanbuild.bench.roofline import Copy, copy_of, nothing
from scanbuild.bench.sampling import Entrant, Samples, Settings, sample
from scanbuild.bench.statistics import summarise
from scanbuild.cases.casefile import Case
from scanbuild.cases.requests import case_request
from scanbuild.errors import CallError, ScanbuildError
from scanbuild.gpu.clock import Run, TimedMemory, Timing
from scanbuild.gpu.interface import Executor
from scanbuild.package.model import Json
from scanbuild.planning.device import REQUESTED_FEATURES, DeviceRecord
from scanbuild.planning.plan import Plan, TensorSpec
from scanbuild.planning.planner import PackageLike, Planner, ReadRequest

DEVICE_CACHE: Final = 128 << 20
"""No cache of a GPU is thought to be larger; WebGPU does not tell."""

SOFTWARE_CACHE: Final = 8 << 20
"""The same of a software adapter, whose time for larger amounts is better spent."""

SOFTWARE_MEMORY: Final = 2 << 30

HEAT_S: Final = 5e-3
"""Seconds of untimed work in each round, about what the host takes to prepare one of short calls."""

HEATED_BYTES: Final = 256 << 20

SIZE_RULES: Final = frozenset({"buffer-limit", "buffer-size"})


@dataclass(frozen=True, kw_only=True, slots=True)
class Candidate:
    """A plan to measure, and what it is of."""

    package: int
    plan: Plan
    selected: bool = True
    tunables: Mapping[str, Json] = field(default_factory=dict)

    @property
    def label(self) -> str:
        """What it is in words: ``variant tiles with lanes=32``."""
        values = setting_text(self.tunables)
        return f"variant {self.plan.variant}" + (f" with {values}" if values else "")


@dataclass(frozen=True, kw_only=True, slots=True)
class Candidates:
    """What is to be measured of a case, the reference of ratios first, and what is not, with the reasons."""

    plans: tuple[Candidate, ...]
    not_taken: tuple[tuple[str, str], ...] = ()


class TooLargeError(CallError):
    """The case is beyond the limits of the device. Nothing was allocated."""


class Heater:
    """Work that keeps a device from slowing down while the host prepares the next round.

    GPUs lower their clocks when they have little to do, and rounds of short calls leave them idle for most of the time:
    on a large GPU everything became three times as slow within seconds. So each submission begins with copies that are
    not timed, for ``seconds``.
    """

    def __init__(self, device: DeviceRecord, timer: Timing[Any], seconds: float, size: int = HEATED_BYTES) -> None:
        self._memory = timer.memory()
        load = self._memory.load(copy_of(size, device).plan)
        once = max(min(timer.measure([Run(load=load)])[0] for _ in range(5)), timer.tick_s)
        self.run = Run(load=load, times=max(round(seconds / once), 1))

    def release(self) -> None:
        """Give its memory back."""
        self._memory.release()


class DeviceMeter:
    """What sampling measures with: the timer of an engine."""

    def __init__(self, timer: Timing[Any], heater: Heater | None = None) -> None:
        self.timer = timer
        self.heater = heater

    @property
    def tick_s(self) -> float:
        """The resolution of the clock."""
        return self.timer.tick_s

    @property
    def by_host(self) -> bool:
        """Whether the clock is the host's."""
        return self.timer.source == "host"

    def measure(self, runs: Sequence[tuple[Any, int, int]]) -> list[float]:
        """The seconds of each run as a whole."""
        before = self.heater.run if self.heater is not None else None
        asked = [Run(load=load, times=times, lead_in=lead_in) for load, times, lead_in in runs]
        return self.timer.measure(asked, before)


class BenchRunner:
    """Measures cases of one package, or of two side by side, on one engine."""

    def __init__(
        self, packages: Sequence[PackageLike], engine: Executor, timer: Timing[Any], settings: Settings | None = None
    ) -> None:
        self.engine = engine
        self.timer = timer
        self.settings = settings or Settings()
        self.heated_bytes = HEATED_BYTES
        self.cache_bytes = SOFTWARE_CACHE if engine.software else DEVICE_CACHE
        self.heat_s = 0.0 if engine.software else HEAT_S
        self._heater: Heater | None = None
        self._packages = packages
        self._planners: dict[tuple[int, str], Planner] = {}

    def run(self, case: Case, *, all_variants: bool = False) -> Outcome:
        """Measure a case. Whatever goes wrong with it is told in the outcome, not raised."""
        return self.guarded(case, lambda: self.measure(case, self.candidates(case, all_variants=all_variants)))

    def guarded(self, case: Case, action: Callable[[], Outcome]) -> Outcome:
        """What the action gives, or the outcome that says why it gave nothing."""
        try:
            return action()
        except TooLargeError as error:
            return Outcome(name=case.name, group=case.group, status="skipped", message=str(error))
        except (ScanbuildError, MemoryError) as error:
            message = str(error) or type(error).__name__
            rules = {problem.rule for problem in getattr(error, "problems", ())}
            if rules & {"no-variant"}:
                return self._refused(case, message)
            lost = not self.timer.is_alive()
            return Outcome(name=case.name, group=case.group, status="failed", message=message, lost=lost)

    def candidates(self, case: Case, *, all_variants: bool = False) -> Candidates:
        """The plans to compare. CallError if the package itself does not take the case, or TooLargeError."""
        plans, not_taken = [], []
        for number in range(len(self._packages)):
            try:
                plans.append(self.candidate(case, number))
            except CallError as error:
                if number == 0:
                    raise
                not_taken.append(("the other package", str(error)))
        if all_variants:
            more, others = self._others(case, plans[0].plan.variant)
            plans[1:1] = more
            not_taken += others
        return Candidates(plans=tuple(plans), not_taken=tuple(not_taken))

    def candidate(self, case: Case, package: int = 0) -> Candidate:
        """The plan of the variant that a package selects."""
        return Candidate(package=package, plan=self._planned(self.planner(package, {}), case, None))

    def tuned_candidate(self, case: Case, variant: str, tunables: Mapping[str, Json]) -> Candidate:
        """The plan of a variant with other values of its tunables; CallError if it does not take them."""
        plan = self._planned(self.planner(0, tunables), case, variant)
        return Candidate(package=0, plan=plan, selected=False, tunables=dict(tunables))

    def defaults(self, variant: str) -> Mapping[str, Json]:
        """The tunables that a variant of the package has, with their values."""
        return self._packages[0].manifest.variant(variant).tunables

    def planner(self, package: int, tunables: Mapping[str, Json]) -> Planner:
        """The planner of a package with these values of tunables."""
        key = (package, repr(sorted(tunables.items())))
        if key not in self._planners:
            self._planners[key] = Planner(tuned(self._packages[package], tunables))
        return self._planners[key]

    def measure(self, case: Case, candidates: Candidates, settings: Settings | None = None) -> Outcome:
        """Measure plans beside one another on the same memory. CallError if the first does not run."""
        bench = _Bench(self, case, candidates, settings or self.settings)
        try:
            return bench.outcome()
        finally:
            bench.memory.release()

    @property
    def heater(self) -> Heater | None:
        """What keeps the device at its speed; None where that is of no use."""
        if self._heater is None and self.heat_s and self.timer.source == "timestamps":
            self._heater = Heater(self.engine.record, self.timer, self.heat_s, self.heated_bytes)
        return self._heater

    def close(self) -> None:
        """Give back what is kept from case to case."""
        if self._heater is not None:
            self._heater.release()
            self._heater = None

    def _others(self, case: Case, selected: str) -> tuple[list[Candidate], list[tuple[str, str]]]:
        """The other variants that take the case, and why the rest does not."""
        planner = self.planner(0, {})
        taken, not_taken = [], []
        for variant in planner.package.manifest.variants:
            if variant.id == selected:
                continue
            try:
                taken.append(Candidate(package=0, plan=self._planned(planner, case, variant.id), selected=False))
            except CallError as error:
                not_taken.append((f"variant {variant.id}", str(error)))
        return taken, not_taken

    def _planned(self, planner: Planner, case: Case, variant: str | None) -> Plan:
        record = self.engine.record
        try:
            read = planner.read(case_request(case, planner.package.manifest))
            _check_tensors(read, record.limits["maxStorageBufferBindingSize"])
            plan = planner.plan(read, record, variant).plan
        except TooLargeError:
            raise
        except CallError as error:
            if {problem.rule for problem in error.problems} <= SIZE_RULES:
                raise TooLargeError(*error.problems) from None
            raise
        _check_scratches(plan, record.limits["maxStorageBufferBindingSize"])
        if not plan.passes:
            raise CallError(
                f"variant {plan.variant} does no work on the device for this case: there is nothing to time"
            )
        return plan

    def _refused(self, case: Case, message: str) -> Outcome:
        """No variant takes the case. Where one would on a device with more features, it is not the case's fault."""
        record = self.engine.record
        more = replace(record, features=record.features | set(REQUESTED_FEATURES))
        try:
            self.planner(0, {}).prepare(case_request(case, self._packages[0].manifest), more)
        except ScanbuildError:
            return Outcome(name=case.name, group=case.group, status="refused", message=message)
        message = f"the device lacks a feature that every variant needs: {message}"
        return Outcome(name=case.name, group=case.group, status="skipped", message=message)


class _Bench:
    """One case on the device: memory, loads, rounds."""

    def __init__(self, runner: BenchRunner, case: Case, candidates: Candidates, settings: Settings) -> None:
        self.runner = runner
        self.settings = settings
        self.case = case
        self.not_taken = list(candidates.not_taken)
        plan = candidates.plans[0].plan
        self.bytes_moved = case.bytes_moved if case.bytes_moved is not None else moved_by(plan)
        self.copy: Copy = copy_of(self.bytes_moved, runner.engine.record)
        specs = {**plan.inputs, **plan.outputs}
        largest = max([spec.size for spec in specs.values()] + [self.copy.bytes_moved // 2])
        most = int(runner.engine.record.limits["maxBufferSize"])
        slices = slices_for(footprint(specs), runner.cache_bytes, largest, most)
        whole = slices * (footprint(specs) + self.copy.bytes_moved)
        if runner.engine.software and whole > SOFTWARE_MEMORY:
            raise TooLargeError(
                f"its tensors and those of the copy take {whole} bytes, which a software adapter takes of this "
                f"machine's memory; {SOFTWARE_MEMORY} are the limit there"
            )
        self.memory: TimedMemory[Any] = runner.timer.memory(slices)
        self.candidates = candidates.plans

    def outcome(self) -> Outcome:
        loads = self._loads()
        entrants = self._entrants(loads)
        samples = sample(DeviceMeter(self.runner.timer, self.runner.heater), entrants, self.settings)
        first = next(iter(loads))
        return Outcome(
            name=self.case.name,
            group=self.case.group,
            bytes_moved=self.bytes_moved,
            entries=tuple(self._measured(samples, number, first) for number in loads),
            roofline=self._roofline(samples),
            slices=self.memory.slices,
            not_taken=tuple(self.not_taken),
        )

    def _loads(self) -> dict[int, Any]:
        """The loads of the candidates that run, by number. CallError for the first if it does not, or a lost device."""
        loads = {}
        for number, candidate in enumerate(self.candidates):
            try:
                load = self.memory.load(candidate.plan)
                self._fill(candidate.plan)
                self.runner.timer.measure([Run(load=load)])
            except CallError as error:
                if number == 0 or not self.runner.timer.is_alive():
                    raise CallError(f"{candidate.label}: {error}") from None
                self.not_taken.append((candidate.label, str(error)))
            else:
                loads[number] = load
        return loads

    def _fill(self, plan: Plan) -> None:
        for name, fixture in self.case.inputs.items():
            spec = plan.inputs.get(name) or plan.outputs.get(name)
            if spec is not None and not self.memory.is_filled(spec):
                self.memory.fill(spec, block_of(fixture, spec))

    def _entrants(self, loads: Mapping[int, Any]) -> list[Entrant[Any]]:
        memory = self.memory
        entrants = [Entrant(name=f"{number}", load=load) for number, load in loads.items()]
        copy = memory.load(self.copy.plan)
        entrants.append(Entrant(name="copy", load=copy))
        entrants.append(Entrant(name="empty", load=memory.load(nothing()), decides=False))
        if memory.slices > 1:
            plans = {f"{number}": self.candidates[number].plan for number in loads} | {"copy": self.copy.plan}
            for name, plan in plans.items():
                load = memory.load(plan, rotates=False)
                entrants.append(Entrant(name=f"{name} cached", load=load, lead_in=1, decides=False))
        return entrants

    def _measured(self, samples: Samples, number: int, first: int) -> Measured:
        candidate = self.candidates[number]
        has_cached = f"{number} cached" in samples.seconds
        return Measured(
            package=candidate.package,
            variant=candidate.plan.variant,
            selected=candidate.selected,
            launches=len(candidate.plan.passes),
            tunables=candidate.tunables,
            figures=self._figures(samples, f"{number}", "copy"),
            cached=self._figures(samples, f"{number} cached", "copy cached") if has_cached else None,
            ratio=None if number == first else summarise(samples.ratios(f"{number}", f"{first}")),
        )

    def _figures(self, samples: Samples, name: str, copy: str) -> Figures:
        return Figures(
            time=summarise(samples.seconds[name]),
            fraction=summarise(samples.ratios(copy, name)).scaled(self.copy.scale),
            times=samples.times[name],
        )

    def _roofline(self, samples: Samples) -> Roofline:
        def copied(name: str) -> "Figures":
            return self._figures(samples, name, name)

        cached = copied("copy cached").time.scaled(self.copy.scale) if self.memory.slices > 1 else None
        return Roofline(
            copy=copied("copy").time.scaled(self.copy.scale),
            empty=summarise(samples.seconds["empty"]),
            cached=cached,
        )


def moved_by(plan: Plan) -> float:
    """The bytes that a call has to move: all inputs read once and all outputs written once."""
    tensors: list[TensorSpec] = [*plan.inputs.values(), *plan.outputs.values()]
    return float(sum(spec.size for spec in tensors))


def _check_tensors(read: ReadRequest, most: float) -> None:
    for name, tensor in read.tensors.items():
        if tensor.size > most:
            raise TooLargeError(
                f"tensor {name} takes {tensor.size} bytes; the device binds {int(most)} at once "
                "(maxStorageBufferBindingSize)"
            )


def _check_scratches(plan: Plan, most: float) -> None:
    for name, scratch in plan.scratches.items():
        if scratch.size > most:
            raise TooLargeError(
                f"variant {plan.variant}: scratch {name} takes {scratch.size} bytes; the device binds {int(most)} at "
                "once (maxStorageBufferBindingSize)"
            )
