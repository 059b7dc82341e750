"""What ``scanbuild show`` prints of one call: each variant with the reason, and the plan with what it comes from."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from scanbuild.commands.console import counted
from scanbuild.commands.show_package import Subject
from scanbuild.commands.show_passes import present_passes
from scanbuild.commands.show_request import Call
from scanbuild.commands.show_sheet import (
    Sheet,
    Styled,
    bytes_text,
    tensor_text,
    value_text,
    written_text,
)
from scanbuild.planning.clauses import ClauseExplanation, DecidingPart, Reading
from scanbuild.planning.explanation import CallExplanation, Derived, VariantExplanation, chosen_of

REFUSED = {
    "request": "The loader refuses this call, whatever the device",
    "device": "The loader refuses this call on this device",
    "selection": "The loader refuses this call: no variant takes it",
    "variant": "The loader refuses this call: the variant that takes it fails",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Shown:
    """What is shown, and how: ``detailed`` tells every clause and derive, and the WGSL."""

    subject: Subject
    call: Call
    device: str
    explanation: CallExplanation
    detailed: bool = False
    forced: str | None = None


def present_call(sheet: Sheet, shown: Shown) -> None:
    """Print the explanation of a call. What the loader refuses it for is an error, and printed elsewhere."""
    explanation = shown.explanation
    sheet.line((shown.subject.manifest.op_id, "bold"), f" on {shown.device}: {shown.call.described}")
    if explanation.tensors:
        _tensors(sheet, shown)
    if explanation.variants:
        _variants(sheet, shown)
    _derives(sheet, "Derives of the manifest", explanation.derives)
    if explanation.variant_derives:
        _derives(sheet, f"Derives of the variant {explanation.chosen}", explanation.variant_derives)
    if explanation.chosen and explanation.tunables:
        sheet.heading(f"Tunables of {explanation.chosen}")
        sheet.line(", ".join(f"{name} = {value_text(value)}" for name, value in explanation.tunables.items()), indent=2)
    if explanation.is_empty and not explanation.stage:
        sheet.heading("Passes")
        sheet.line("None runs: every output is empty, so the call ends without a GPU.", indent=2)
    present_passes(sheet, explanation, detailed=shown.detailed)


def _tensors(sheet: Sheet, shown: Shown) -> None:
    explanation, manifest = shown.explanation, shown.subject.manifest
    sheet.heading("Call")
    rows: list[Sequence[str | Styled]] = []
    for item in explanation.tensors:
        roles = ["in"] if item.name in manifest.inputs else []
        roles += ["out"] if item.name in explanation.returned else []
        notes = [f"stored as {item.dtype}"] if item.dtype != item.logical else []
        notes += ["dtype assumed"] if item.name in shown.call.assumed else []
        described = tensor_text(item.logical, item.shape)
        role = " and ".join(roles) or "destination"
        rows.append(((item.name, "cyan"), role, described, bytes_text(item.size), ", ".join(notes)))
    sheet.columns(rows, right=(3,))
    scalars = [f"{name} = {dtype}" for name, dtype in explanation.types.items() if name != dtype]
    if scalars:
        sheet.line(f"types: {', '.join(scalars)}", indent=2)
    for word, values in (("attributes", explanation.attrs), ("arguments", explanation.args)):
        if values:
            told = ", ".join(f"{name} = {value_text(value)}" for name, value in values.items())
            sheet.line(f"{word}: {told}", indent=2)


def _variants(sheet: Sheet, shown: Shown) -> None:
    sheet.heading("Variants, in the order in which they are tried")
    for _, group in groupby(shown.explanation.variants, key=lambda item: _alike(item, shown)):
        items = list(group)
        _variant(sheet, items[0], ", ".join(item.verdict.id for item in items), shown)


def _alike(item: VariantExplanation, shown: Shown) -> object:
    """Equal for rejected variants of which the same is told: those in a row stand together."""
    return item.verdict.id if item.verdict.accepted else tuple(map(tuple, rejection(item, every=shown.detailed)))


def _variant(sheet: Sheet, item: VariantExplanation, names: str, shown: Shown) -> None:
    verdict = item.verdict
    word, colour, behind = _standing(item, shown)
    sheet.line((f"{word:7}", f"bold {colour}"), (names, "cyan"), behind, indent=2, hang=7)
    lines: list[list[str | Styled]] = []
    if not verdict.accepted:
        lines += rejection(item, every=shown.detailed)
    elif shown.detailed:
        lines += [line for clause in item.when for line in clause_lines(clause)]
    if verdict.accepted:
        demotions = [clause for clause in item.demote_when if shown.detailed or clause.holds]
        lines += [line for clause in demotions for line in clause_lines(clause, "demoted if ")]
    for line in lines:
        sheet.line(*line, indent=9)


def _standing(item: VariantExplanation, shown: Shown) -> tuple[str, str, str]:
    """What becomes of a variant in one word, its colour, and a remark."""
    if item.verdict.id == shown.explanation.chosen:
        remark = ", as --variant asks" if shown.forced else _demoted(item)
        return ("fails", "red", remark) if shown.explanation.stage else ("runs", "green", remark)
    if not item.verdict.accepted:
        return "no", "red", ""
    if shown.forced:
        selected = item.verdict.id == chosen_of(shown.explanation.variants)
        return "takes", "yellow", "  what the loader selects" if selected else _demoted(item)
    return "later", "yellow", _demoted(item) or "  takes the call, too"


def _demoted(item: VariantExplanation) -> str:
    return "  demoted: only if no other takes the call" if item.verdict.demoted else ""


def rejection(item: VariantExplanation, *, every: bool = False) -> Iterator[list[str | Styled]]:
    """Why a variant is rejected, in lines: what the device lacks, else the clause at which selection stops.

    With ``every``, all clauses that do not hold.
    """
    reason = item.verdict.reason
    yielded = False
    for unmet in item.unmet:
        yield [unmet]
        yielded = True
    failing = item.failing if every else item.failing[:1]
    if yielded and not every:
        return
    for clause in failing:
        yield from clause_lines(clause)
        yielded = True
    if not yielded:
        failed = [clause for clause in item.demote_when if clause.failure]
        for clause in failed[:1]:
            yield from clause_lines(clause, "demoted if ")
        if not failed:
            yield [reason]


def clause_lines(clause: ClauseExplanation, before: str = "") -> Iterator[list[str | Styled]]:
    """A clause with its verdict, and the parts that decide it, unless the whole does."""
    parts = clause.parts
    if len(parts) == 1 and (parts[0].text == clause.text or parts[0].failure == clause.failure != ""):
        yield [before, (clause.text, "bold"), *_outcome(clause, parts[0].readings)]
        return
    yield [before, (clause.text, "bold"), *_outcome(clause, ())]
    for part in parts:
        yield ["  ", part.text, *_outcome(part, part.readings)]


def _outcome(item: ClauseExplanation | DecidingPart, readings: Sequence[Reading]) -> list[str | Styled]:
    """`` is false: channels = 3``."""
    told = ", ".join(f"{reading.text} {_reading_value(reading)}" for reading in readings)
    behind = f": {told}" if told else ""
    if item.failure:
        return [" fails: ", item.failure, f" ({told})" if told else ""]
    return [" is ", value_text(item.value), behind]


def _reading_value(reading: Reading) -> str:
    return f"has no value: {reading.failure}" if reading.failure else f"= {value_text(reading.value)}"


def _derives(sheet: Sheet, title: str, derives: Sequence[Derived]) -> None:
    if derives:
        sheet.heading(title)
        sheet.columns(
            [((item.name, "cyan"), value_text(item.value), (_written(item), "dim")) for item in derives], indent=2
        )


def _written(item: Derived) -> str:
    """The expression of a derive; nothing where it is the value itself."""
    return written_text(item.written) if isinstance(item.written, str | list | dict) else ""


def present_devices(
    sheet: Sheet, subject: Subject, described: str, explanations: Mapping[str, CallExplanation]
) -> None:
    """Print which variant each device selects, and where that is not the first one, why."""
    sheet.line((subject.manifest.op_id, "bold"), f": {described}, on {counted(len(explanations), 'device profile')}")
    sheet.heading("Selection by device")
    rows: list[Sequence[str | Styled]] = []
    for name, explanation in explanations.items():
        chosen: Styled = (explanation.chosen, "cyan") if not explanation.stage else ("refused", "bold red")
        rows.append((name, chosen, why_not_first(explanation)))
    sheet.columns(rows)


def why_not_first(explanation: CallExplanation) -> str:
    """Why the first variant in the order is not the one that runs; why the call is refused."""
    if explanation.stage:
        told = [problem.message for problem in explanation.problems]
        return REFUSED["selection"] if explanation.stage == "selection" else "; ".join(told)
    first = explanation.variants[0]
    if first.verdict.id == explanation.chosen:
        return "the first one"
    if first.verdict.demoted:
        clauses, before = [clause for clause in first.demote_when if clause.holds], "demoted: "
    else:
        clauses, before = list(first.failing[:1]), ""
    if first.unmet or not clauses:
        text = "; ".join(first.unmet) or first.verdict.reason
    else:
        text = before + "; ".join(_plain([part.text, *_outcome(part, part.readings)]) for part in clauses[0].parts)
    return f"not {first.verdict.id}: {text}"


def _plain(line: Sequence[str | Styled]) -> str:
    return "".join(part if isinstance(part, str) else part[0] for part in line).strip()
