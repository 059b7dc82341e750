"""What the cases of two packages come to in each of them, planned on the built-in device profiles."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from scanbuild.cases.casefile import Case
from scanbuild.cases.requests import case_request
from scanbuild.dialect import allowance
from scanbuild.dialect.limits import CALL_WORK, PLAN_WORK
from scanbuild.errors import CallError
from scanbuild.planning.device import DeviceRecord
from scanbuild.planning.planner import Planner
from scanbuild.publishing.diff_sides import Side
from scanbuild.publishing.rendering import SourceCase, file_name

Shape = tuple[str, tuple[int, ...]]


@dataclass(frozen=True, kw_only=True, slots=True)
class Planned:
    """What a call comes to: a variant with its shaders by pass (names of texts), or a refusal."""

    variant: str = ""
    shaders: tuple[tuple[str, str], ...] = ()
    outputs: Mapping[str, Shape] = field(default_factory=dict)
    """Dtype and shape of what the call returns, by name."""
    refused: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Pair:
    """One case on one device in both packages."""

    file: str
    case: str
    device: str
    old: Planned
    new: Planned

    @property
    def both(self) -> bool:
        """Whether both packages take the call."""
        return not self.old.refused and not self.new.refused


@dataclass(frozen=True, kw_only=True, slots=True)
class Plans:
    """All pairs, the texts of all shaders by name, and how many cases and devices there were."""

    pairs: tuple[Pair, ...] = ()
    texts: Mapping[str, str] = field(default_factory=dict, repr=False)
    cases: int = 0
    devices: tuple[str, ...] = ()


def plan_both(old: Side, new: Side, devices: Mapping[str, DeviceRecord]) -> Plans:
    """Plan the cases of both packages in both; a case that both have alike is planned once.

    An input that the other package does not know refuses the call there, as it would for a caller.
    """
    cases = list(_all_cases(old.cases, new.cases))
    texts: dict[str, str] = {}
    planned = []
    for side in (old, new):
        with allowance(CALL_WORK + len(cases) * len(devices) * PLAN_WORK):
            planned.append(_Plannings(side, Planner(side.package), texts).all(cases, devices))
    pairs = tuple(
        Pair(
            file=item.file,
            case=item.case.name,
            device=device,
            old=planned[0][index, device],
            new=planned[1][index, device],
        )
        for index, item in enumerate(cases)
        for device in devices
    )
    return Plans(pairs=pairs, texts=texts, cases=len(cases), devices=tuple(devices))


def _all_cases(old: Sequence[SourceCase], new: Sequence[SourceCase]) -> Iterator[SourceCase]:
    """The new cases, and of the old ones those that differ from the new one of their name."""
    known = {(item.file, _call(item.case)) for item in new}
    names = {(item.file, item.case.name) for item in new}
    yield from new
    for item in old:
        if (item.file, _call(item.case)) in known:
            continue
        named = (item.file, item.case.name) in names
        yield replace(item, case=replace(item.case, name=f"{item.case.name} (old)")) if named else item


def _call(case: Case) -> str:
    """The name and the call of a case, its data apart, which planning does not look at."""
    inputs = {name: (fixture.dtype, fixture.shape) for name, fixture in case.inputs.items()}
    outputs = {name: (item.fixture.dtype, item.fixture.shape) for name, item in case.outputs.items()}
    return repr((case.name, inputs, outputs, case.attrs, case.args))


@dataclass(slots=True)
class _Plannings:
    """The plans of one package. Cases that differ in their data alone are planned once a device."""

    side: Side
    planner: Planner
    texts: dict[str, str]
    known: dict[tuple[str, str], Planned] = field(default_factory=dict)

    def all(self, cases: Sequence[SourceCase], devices: Mapping[str, DeviceRecord]) -> dict[tuple[int, str], Planned]:
        """By the index of the case and the name of the device."""
        return {
            (index, name): self.one(item.case, name, device)
            for index, item in enumerate(cases)
            for name, device in devices.items()
        }

    def one(self, case: Case, name: str, device: DeviceRecord) -> Planned:
        """What one case comes to on the device of that name."""
        request = case_request(case, self.side.manifest)
        key = (name, repr(request))
        if key not in self.known:
            try:
                plan = self.planner.prepare(request, device).plan
            except CallError as error:
                self.known[key] = Planned(refused="; ".join(problem.message for problem in error.problems))
                return self.known[key]
            shaders = []
            for item in plan.passes:
                text = file_name(plan.variant, item, item.wgsl.encode())
                self.texts[text] = item.wgsl
                shaders.append((item.id, text))
            outputs = {output: (spec.logical, tuple(spec.shape)) for output, spec in plan.outputs.items()}
            self.known[key] = Planned(variant=plan.variant, shaders=tuple(shaders), outputs=outputs)
        return self.known[key]
