"""The concrete WGSL that a package's cases lead to on some devices, each text once, and who leads where."""

import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from scanbuild.cases.casefile import Case
from scanbuild.cases.requests import case_request
from scanbuild.dialect import work_left
from scanbuild.errors import CallError, Problem, raise_if_any
from scanbuild.package.jsonfile import json_path
from scanbuild.package.model import Json, Manifest
from scanbuild.planning.device import DeviceRecord
from scanbuild.planning.failures import charge
from scanbuild.planning.plan import PassPlan, Plan
from scanbuild.planning.planner import PackageLike, Planner
from scanbuild.planning.request import Request

HASH_DIGITS = 8
KEEP_WORK = 1000  # for each pass, in the units of an evaluation's work
NAME_LENGTH = 100  # file systems end at 255
INDEX = "index.json"
BENCH = "bench.json"

SIZE_RULES = frozenset({"buffer-limit", "binding-limit"})
"""What refuses a call for its size alone."""


@dataclass(frozen=True, kw_only=True, slots=True)
class SourceCase:
    """A case and the file it comes from."""

    file: str
    case: Case


@dataclass(frozen=True, kw_only=True, slots=True)
class Outcome:
    """What one case comes to on one device: a variant and its files in the order of execution, or a refusal."""

    variant: str = ""
    files: tuple[str, ...] = ()
    refused: str = ""
    outputs: Mapping[str, tuple[str, tuple[int, ...]]] = field(default_factory=dict, compare=False)
    """Dtype and shape of what the call returns, by name."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Rendering:
    """``files`` maps paths within ``rendered/`` to WGSL; ``outcomes`` has a member a case, by device."""

    files: Mapping[str, bytes]
    outcomes: tuple[tuple[SourceCase, Mapping[str, Outcome]], ...]
    devices: tuple[str, ...]

    @property
    def variants(self) -> set[str]:
        """The variants that some case reaches on some device."""
        return {outcome.variant for _, by_device in self.outcomes for outcome in by_device.values()} - {""}

    def index(self) -> bytes:
        """``index.json``. Devices on which a case comes to the same are listed together."""
        cases = [_index_entry(item, by_device) for item, by_device in self.outcomes]
        content = {"devices": list(self.devices), "files": sorted(self.files), "cases": cases}
        return (json.dumps(content, indent=1, ensure_ascii=False) + "\n").encode()

    def all_files(self) -> dict[str, bytes]:
        """The WGSL and the index, by path within ``rendered/``."""
        return {**self.files, INDEX: self.index()}


@dataclass(slots=True)
class _Renderer:
    """Plans cases and gathers the texts. Cases that differ in their data alone are planned once a device."""

    manifest: Manifest
    planner: Planner
    files: dict[str, bytes] = field(default_factory=dict)
    known: dict[tuple[str, str], Outcome | CallError] = field(default_factory=dict)

    def outcome(self, case: Case, name: str, device: DeviceRecord) -> Outcome:
        """What a case comes to on the device of that name; CallError if the call is refused."""
        request = case_request(case, self.manifest)
        key = (name, _request_key(request))
        if key not in self.known:
            try:
                self.known[key] = self.keep(self.planner.prepare(request, device).plan)
            except CallError as error:
                self.known[key] = error
        found = self.known[key]
        if isinstance(found, CallError):
            raise found
        return found

    def keep(self, plan: Plan) -> Outcome:
        """Take up the texts of a plan."""
        charge(len(plan.passes) * KEEP_WORK, f"variant `{plan.variant}`")
        files = []
        for item in plan.passes:
            text = item.wgsl.encode()
            name = file_name(plan.variant, item, text)
            self.files[name] = text
            files.append(name)
        outputs = {name: (spec.logical, tuple(spec.shape)) for name, spec in plan.outputs.items()}
        return Outcome(variant=plan.variant, files=tuple(files), outputs=outputs)


def render_cases(
    package: PackageLike,
    cases: Iterable[SourceCase],
    devices: Mapping[str, DeviceRecord],
    *,
    refusals: bool = False,
) -> Rendering:
    """Plan every case on every device.

    Raises CallError with a problem for each case that a device refuses, except that a benchmark may be refused for its
    size, a case that no GPU meets for any reason, and with ``refusals`` every case: then the index says so. A case
    that expects an output of another dtype or shape than the call gives is a problem, too.
    """
    renderer = _Renderer(manifest=package.manifest, planner=Planner(package=package))
    outcomes: list[tuple[SourceCase, Mapping[str, Outcome]]] = []
    problems: list[tuple[Problem, SourceCase, str]] = []
    for item in cases:
        by_device: dict[str, Outcome] = {}
        for name, device in devices.items():
            if problems and work_left() == 0:
                break  # what comes now could only fail for want of work
            try:
                by_device[name] = renderer.outcome(item.case, name, device)
                problems += [(problem, item, name) for problem in _unlike_expected(item, by_device[name])]
            except CallError as error:
                by_device[name] = Outcome(refused="; ".join(problem.message for problem in error.problems))
                if not (refusals or _may_be_refused(item, error)):
                    problems += [(problem, item, name) for problem in error.problems]
        outcomes.append((item, by_device))
    raise_if_any(_merged(problems), CallError)
    return Rendering(files=dict(sorted(renderer.files.items())), outcomes=tuple(outcomes), devices=tuple(devices))


def file_name(variant: str, item: PassPlan, text: bytes) -> str:
    """``<variant>/<pass>.<short hash>.wgsl``; a pass id may hold signs that no path of a package may."""
    plain = re.sub(r"[^A-Za-z0-9_-]+", "_", item.id)[:NAME_LENGTH] or "pass"
    return f"{variant[:NAME_LENGTH]}/{plain}.{hashlib.sha256(text).hexdigest()[:HASH_DIGITS]}.wgsl"


def unreached(manifest: Manifest, rendering: Rendering) -> list[Problem]:
    """A warning for every variant that no case reaches on any device."""
    return [
        Problem(
            message=f"no case reaches the variant `{variant.id}` on any device",
            rule="unreached",
            file="manifest.json",
            path=variant.path,
            severity="warning",
            stage="own",
            hint="add a case to test.json that selects it, or remove the variant",
        )
        for variant in manifest.variants
        if variant.id not in rendering.variants
    ]


def _unlike_expected(item: SourceCase, outcome: Outcome) -> list[Problem]:
    """A problem for every output that the case expects in another form than the call gives it."""
    problems = []
    for name, expected in item.case.outputs.items():
        given = outcome.outputs.get(name)
        for index, (what, want) in enumerate((("dtype", expected.fixture.dtype), ("shape", expected.fixture.shape))):
            if given is not None and given[index] != want:
                got = given[index] if what == "dtype" else list(given[index])
                found = want if what == "dtype" else list(want)
                path = json_path(("cases", item.case.index, "outputs", name, what))
                message = f"the case expects the {what} {found}, the call gives {got}"
                problems.append(Problem(message=message, rule="case-output", file=item.file, path=path, stage="own"))
    return problems


def _may_be_refused(item: SourceCase, error: CallError) -> bool:
    too_large = all(problem.rule in SIZE_RULES for problem in error.problems)
    return item.case.skip is not None or (item.file == BENCH and too_large)


def _placed(problem: Problem, item: SourceCase, device: str) -> Problem:
    where = f"case {item.case.name!r} of {item.file} on {device}"
    return Problem(
        message=f"{where}: {problem.message}",
        rule=problem.rule,
        file=problem.file or item.file,
        line=problem.line,
        column=problem.column,
        path=problem.path or ("" if problem.file else f"$.cases[{item.case.index}]"),
        hint=problem.hint,
        stage=problem.stage,
    )


def _merged(problems: Sequence[tuple[Problem, SourceCase, str]]) -> list[Problem]:
    """Each complaint once: a broken template fails in every case, and one case tells as much as all."""
    first: dict[Problem, Problem] = {}
    counts: dict[Problem, int] = {}
    for problem, item, device in problems:
        first.setdefault(problem, _placed(problem, item, device))
        counts[problem] = counts.get(problem, 0) + 1
    return [placed if counts[key] == 1 else _with_count(placed, counts[key] - 1) for key, placed in first.items()]


def _with_count(problem: Problem, more: int) -> Problem:
    return replace(problem, message=f"{problem.message} (likewise for {more} more of the cases and devices)")


def _request_key(request: Request) -> str:
    """Equal for requests that are planned alike. The text keeps 1, 1.0 and true apart."""
    return repr(request)


def _index_entry(item: SourceCase, by_device: Mapping[str, Outcome]) -> dict[str, Json]:
    results: dict[Outcome, list[str]] = {}
    for device, outcome in by_device.items():
        results.setdefault(outcome, []).append(device)
    entries: list[Json] = [_result(outcome, devices) for outcome, devices in results.items()]
    return {"file": item.file, "case": item.case.name, "results": entries}


def _result(outcome: Outcome, devices: Sequence[str]) -> dict[str, Json]:
    if outcome.refused:
        return {"devices": list(devices), "refused": outcome.refused}
    return {"devices": list(devices), "variant": outcome.variant, "files": list(outcome.files)}
