"""Which variants take a case, and which ones no case reaches."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from scanbuild.cases.casefile import Case
from scanbuild.cases.findings import Finding
from scanbuild.cases.requests import case_request
from scanbuild.errors import ScanbuildError
from scanbuild.planning.device import DeviceRecord
from scanbuild.planning.planner import Planner
from scanbuild.planning.selection import VariantVerdict

_SUPERSEDED = "it is superseded by"


@dataclass(slots=True)
class VariantSurvey:
    """What selection says of cases on devices. Cases that differ in their data alone are asked about once."""

    planner: Planner
    known: dict[tuple[str, str], tuple[VariantVerdict, ...]] = field(default_factory=dict)

    def verdicts(self, case: Case, device: str, record: DeviceRecord) -> tuple[VariantVerdict, ...]:
        """The verdict on every variant for a case on the device of that name; none if the call itself is refused."""
        request = case_request(case, self.planner.package.manifest)
        key = (device, repr(request))
        if key not in self.known:
            try:
                self.known[key] = self.planner.explain(request, record)
            except ScanbuildError:
                self.known[key] = ()
        return self.known[key]

    def others(self, case: Case, device: str, record: DeviceRecord) -> list[str]:
        """The variants that take a case and are not selected for it, in ranking order."""
        verdicts = self.verdicts(case, device, record)
        chosen = selected(verdicts)
        return [item.id for item in verdicts if takes(item) and item.id != chosen]

    def unreached(self, cases: Sequence[Case], devices: Mapping[str, DeviceRecord]) -> list[Finding]:
        """A finding for every variant that is selected for no case on no device, with what stands in its way."""
        manifest = self.planner.package.manifest
        reached: set[str] = set()
        hidden: dict[str, dict[str, list[str]]] = {}
        reasons: dict[str, dict[str, None]] = {}
        for name, record in devices.items():
            for case in cases:
                verdicts = self.verdicts(case, name, record)
                chosen = selected(verdicts)
                if chosen is None:
                    continue
                reached.add(chosen)
                for item in verdicts:
                    if item.id != chosen and takes(item):
                        hidden.setdefault(item.id, {}).setdefault(chosen, []).append(case.name)
                    elif item.id != chosen:
                        reasons.setdefault(item.id, {})[item.reason] = None
        found = []
        for variant in manifest.variants:
            if variant.id not in reached:
                words = _hidden(hidden.get(variant.id, {}), manifest_priorities(manifest.variants))
                words = words or _rejected(list(reasons.get(variant.id, {})))
                message = f"nothing reaches the variant {variant.id}: {words}"
                found.append(Finding(kind="unreached", message=message))
        return found


def takes(verdict: VariantVerdict) -> bool:
    """Whether a variant takes the call, whichever goes first."""
    return verdict.accepted or verdict.reason.startswith(_SUPERSEDED)


def selected(verdicts: Iterable[VariantVerdict]) -> str | None:
    """The variant that runs: the first that is accepted and not demoted, else the first that is accepted."""
    accepted = [item for item in verdicts if item.accepted]
    preferred = [item for item in accepted if not item.demoted] or accepted
    return preferred[0].id if preferred else None


def manifest_priorities(variants: Iterable[object]) -> dict[str, float]:
    """Priority by variant."""
    return {getattr(item, "id", ""): getattr(item, "priority", 0) for item in variants}


def _hidden(by_chosen: Mapping[str, Sequence[str]], priorities: Mapping[str, float]) -> str:
    """That others go before a variant wherever it could run."""
    if not by_chosen:
        return ""
    parts = []
    for chosen, names in by_chosen.items():
        others = f" and {len(set(names)) - 1} other cases" if len(set(names)) > 1 else ""
        parts.append(f"{chosen} (priority {priorities[chosen]:g}) goes before it in {names[0]}{others}")
    return "; ".join(parts)


def _rejected(reasons: Sequence[str]) -> str:
    if not reasons:
        return "there is no case that any variant takes"
    more = f"; and {len(reasons) - 3} other reasons" if len(reasons) > 3 else ""
    return f"no case meets it: {'; '.join(reasons[:3])}{more}"
