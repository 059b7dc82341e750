"""What ``scanbuild diff`` shows in a terminal: a section for each part in which two packages differ."""

import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from scanbuild.commands.console import Console, counted
from scanbuild.commands.show_sheet import Sheet, Styled
from scanbuild.package.report import some

if TYPE_CHECKING:
    from scanbuild.bench.between import Between, Timed
    from scanbuild.publishing.contract import Change, Kind
    from scanbuild.publishing.diff import PackageDiff, Reselection
    from scanbuild.publishing.diff_sides import Side
    from scanbuild.publishing.diff_variants import Detail, VariantChange

_KINDS: Final[tuple["Kind", ...]] = ("breaking", "unknown", "compatible")
_STYLES: Final[Mapping["Kind", str]] = {"breaking": "bold red", "unknown": "yellow", "compatible": "green"}
_VERDICTS: Final = {"faster": "green", "slower": "red", "noise": "dim"}
_PATCH: Final = {"+": "green", "-": "red", "@": "cyan"}
_NAMED: Final = 3
"""So many cases are named where others go the same way."""
_INDENT: Final = 13


def present(
    console: Console, found: "PackageDiff", performance: "Between | None", *, patch: bool, strict: bool
) -> None:
    """Print all sections that have something to say, and what it comes to."""
    sheet = Sheet(console)
    sheet.line((found.new.manifest.op_id, "bold"))
    sheet.columns([("old", _side(found.old)), ("new", _side(found.new))])
    if found.contract:
        sheet.heading("Contract")
        for change in found.contract:
            _change(sheet, change)
    if found.variants:
        sheet.heading("Variants")
        for variant in found.variants:
            _variant(sheet, variant)
    if found.selections:
        sheet.heading("Cases that another variant takes, or none")
        for item in found.selections:
            _reselection(sheet, item, found.devices, _NAMED if console.verbosity <= 0 else len(item.cases))
    _files(sheet, found)
    if patch:
        _patches(console, sheet, [*(item.patch for item in found.files), *(item.patch for item in found.shaders)])
    if performance is not None:
        _performance(sheet, performance)
    sheet.heading(_verdict(found, strict=strict))
    for line in _conditions(found):
        sheet.line(line)


def _side(side: "Side") -> str:
    version = "" if side.version is None else f", version {side.version}"
    return f"{side.location} ({side.kind}{version}{', ' + side.id if side.id else ''})"


def _change(sheet: Sheet, change: "Change") -> None:
    """A kind in a column of its own, what turned into what, and why it matters."""
    label = f"{change.kind:<{_INDENT - 2}}"
    sheet.line((label, _STYLES[change.kind]), *_turn(change.subject, change.before, change.after), indent=2, hang=11)
    place = change.new_path or change.old_path
    for line in (change.why, change.evidence):
        if line:
            sheet.line((line, "dim"), indent=_INDENT, hang=0)
    if place:
        sheet.line((f"at {place}", "dim"), indent=_INDENT)


def _turn(what: str, before: str, after: str) -> list[str | Styled]:
    if not before:
        return [f"{what} is new: {after}"]
    if not after:
        return [f"{what} is gone: {before}"]
    return [f"{what}: {before} -> {after}"]


def _variant(sheet: Sheet, change: "VariantChange") -> None:
    words = {"changed": "", "renamed": f", which was {change.old_id}"}.get(change.status, f" is {change.status}")
    sheet.line((change.id, "bold"), words, indent=2)
    for detail in change.details:
        _detail(sheet, detail)


def _detail(sheet: Sheet, detail: "Detail") -> None:
    if detail.before and detail.after:
        sheet.line(f"~ {detail.what}: {detail.before} -> {detail.after}", indent=4)
    elif detail.after:
        sheet.line((f"+ {detail.what}: {detail.after}", "green"), indent=4)
    else:
        sheet.line((f"- {detail.what}: {detail.before}", "red"), indent=4)


def _reselection(sheet: Sheet, item: "Reselection", devices: Sequence[str], named: int) -> None:
    old, new = some(item.old, _NAMED) or "refused", item.new or "refused"
    style = "bold red" if not item.new else ""
    sheet.line((f"{old} -> {new}", style), f": {counted(len(item.cases), 'case')}", indent=2)
    for name, on in item.cases[:named]:
        where = "all device profiles" if len(on) == len(devices) else ", ".join(on)
        sheet.line(f"{name} on {where}", indent=4)
    if len(item.cases) > named:
        sheet.line(f"and {len(item.cases) - named} more (-v names them)", indent=4)
    if item.reason:
        sheet.line((item.reason, "dim"), indent=4)


def _files(sheet: Sheet, found: "PackageDiff") -> None:
    if found.files:
        sheet.heading("Files")
        sheet.columns(
            [(item.path, item.status, *_lines(item.added, item.removed)) for item in found.files], right=(2, 3)
        )
    if found.shaders:
        sheet.heading("Rendered WGSL")
        rows = [
            (
                f"{item.variant}/{item.shader_pass}",
                *_lines(item.added, item.removed),
                f"differs in {item.changed} of {item.calls} calls",
            )
            for item in found.shaders
        ]
        sheet.columns(rows, right=(1, 2))


def _lines(added: int, removed: int) -> tuple[Styled, Styled]:
    return (f"+{added}", "green"), (f"-{removed}", "red")


def _patches(console: Console, sheet: Sheet, patches: Iterable[str]) -> None:
    """Unified diffs: in colours on a terminal, line by line as they are elsewhere, where other tools read them."""
    for text in filter(None, patches):
        console.say()
        for line in text.splitlines():
            if sys.stdout.isatty():
                bold = line.startswith(("+++ ", "--- "))
                sheet.line((line, "bold" if bold else _PATCH.get(line[:1], "")), hang=0)
            else:
                console.say(line)


def _performance(sheet: Sheet, found: "Between") -> None:
    sheet.heading("Performance")
    if found.relative:
        sheet.line(f"old on {found.old_device}, new on {found.new_device}: times relative to the copy", indent=2)
    rows: list[Sequence[str | Styled]] = [("case", "old", "new", "ratio", "spread", "")]
    rows += [_timed(item) for item in found.cases]
    sheet.columns(rows, right=(1, 2, 3))
    for names, words in ((found.only_old, "only in the old report"), (found.only_new, "only in the new report")):
        if names:
            sheet.line(f"{words}: {some(names, _NAMED)}", indent=2)
    if found.mean is not None:
        told = f"new takes {found.mean:.3f} of the time of old (geometric mean of {counted(len(found.cases), 'case')})"
        sheet.line(f"{told}; {found.count('faster')} faster, {found.count('slower')} slower beyond noise", indent=2)


def _timed(item: "Timed") -> Sequence[str | Styled]:
    from scanbuild.commands.bench_tables import time_text

    other = "" if item.old_variant == item.new_variant else f", {item.old_variant} -> {item.new_variant}"
    return (
        item.name,
        time_text(item.old_us / 1e6),
        time_text(item.new_us / 1e6),
        f"{item.ratio:.3f}",
        f"{item.low:.3f} - {item.high:.3f}",
        (f"{'within noise' if item.verdict == 'noise' else item.verdict}{other}", _VERDICTS[item.verdict]),
    )


def _verdict(found: "PackageDiff", *, strict: bool) -> str:
    """What it comes to, in one sentence."""
    if found.same:
        return "The packages are the same."
    if not found.contract:
        return "The contract is the same."
    counts = ", ".join(f"{count} {kind}" for kind in _KINDS if (count := found.count(kind)))
    told = f"The contract changed: {counts}."
    if found.version_is_raised:
        return f"{told} The version was raised from {found.old.version} to {found.new.version}, so callers choose."
    if found.fails():
        return f"{told} Callers break: raise the version of the contract (publish.json), or take the changes back."
    if found.fails(strict=strict):
        return f"{told} Callers may break; see the unknown changes."
    known = "No caller breaks." if not found.count("unknown") else "Callers keep working, as far as is known."
    return f"{told} {known}"


def _conditions(found: "PackageDiff") -> Iterable[str]:
    if found.cases:
        planned = counted(found.cases, "case")
        yield f"{planned} of the two packages planned on {counted(len(found.devices), 'device profile')}."
