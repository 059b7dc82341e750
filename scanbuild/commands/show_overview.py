"""What ``scanbuild show PACKAGE`` prints: what a kernel takes and gives, and its variants in the order of selection."""

from collections.abc import Mapping, Sequence

from scanbuild.cases.requests import case_request
from scanbuild.commands.console import counted
from scanbuild.commands.show_package import Subject
from scanbuild.commands.show_request import listing
from scanbuild.commands.show_sheet import Sheet, value_text, written_text
from scanbuild.errors import CallError
from scanbuild.package.model import ABSENT, Dispatch, Manifest, Pass, Port, RepeatGroup, Requires, Variant
from scanbuild.planning.device import DeviceRecord
from scanbuild.planning.planner import Planner

CasesOf = Mapping[str, tuple[str, ...]]
"""Names of cases by the variant that they lead to, "" for those that are refused."""


def cases_by_variant(subject: Subject, device: DeviceRecord) -> dict[str, tuple[str, ...]]:
    """Which variant each case leads to on a device. Cases that differ in their data alone are looked at once."""
    planner = Planner(subject.package)
    known: dict[str, str] = {}
    found: dict[str, list[str]] = {}
    for item in subject.cases:
        request = case_request(item.case, subject.manifest)
        key = repr(request)
        if key not in known:
            try:
                known[key] = planner.choose(request, device)
            except CallError:
                known[key] = ""
        found.setdefault(known[key], []).append(item.case.name)
    return {name: tuple(names) for name, names in found.items()}


def shared_clauses(manifest: Manifest) -> tuple[str, ...]:
    """The clauses that all of several variants begin with: those of the manifest."""
    first, *others = [variant.when for variant in manifest.variants]
    if not others:
        return ()
    length = 0
    while length < len(first) and all(other[length : length + 1] == first[length : length + 1] for other in others):
        length += 1
    return first[:length]


def present_overview(sheet: Sheet, subject: Subject, cases: CasesOf, device: str) -> None:
    """Print the overview."""
    manifest = subject.manifest
    sheet.line((manifest.op_id, "bold"), f", a {subject.kind} package in {subject.location}")
    if manifest.description:
        sheet.prose(manifest.description, indent=2)
    _contract(sheet, manifest)
    shared = shared_clauses(manifest)
    if shared:
        sheet.heading("Conditions of every variant")
        for clause in shared:
            sheet.line(clause, indent=2)
    _derives(sheet, manifest)
    several = len(manifest.variants) > 1
    sheet.heading(
        f"The {len(manifest.variants)} variants, in the order in which they are tried" if several else "The variant"
    )
    for number, variant in enumerate(manifest.ranked, 1):
        _variant(sheet, number, variant, shared, cases.get(variant.id, ()))
    _closing(sheet, subject, cases, device)


def _contract(sheet: Sheet, manifest: Manifest) -> None:
    for title, ports in (("Inputs", manifest.inputs), ("Outputs", manifest.outputs)):
        if ports:
            sheet.heading(title)
            for port in ports.values():
                _entry(sheet, port.name, _port_words(port, is_output=title == "Outputs"), port.description)
    if manifest.type_constraints:
        sheet.heading("Types")
        sheet.columns([(name, ", ".join(dtypes)) for name, dtypes in manifest.type_constraints.items()])
    if manifest.attributes:
        sheet.heading("Attributes")
        for item in manifest.attributes.values():
            words = ["required"] if item.required else []
            words += [] if item.default is ABSENT else [f"default {value_text(item.default)}"]
            words += [] if item.values is None else [f"one of {', '.join(map(value_text, item.values))}"]
            _entry(sheet, item.name, ", ".join(words), item.description)
    if manifest.args:
        sheet.heading("Scalar arguments")
        for arg in manifest.args.values():
            words = [arg.kind, *([] if arg.required else ["optional"])]
            words += [] if arg.one_of is None else [f"one of {', '.join(map(value_text, arg.one_of))}"]
            _entry(sheet, arg.name, ", ".join(words), arg.description)
    if manifest.tunables:
        sheet.heading("Tunables")
        sheet.line(
            ", ".join(f"{name} = {value_text(value)}" for name, value in manifest.tunables.items()), indent=2, hang=0
        )


def _port_words(port: Port, *, is_output: bool) -> str:
    words = [port.dtype or "float32"] if port.dtype or is_output else ["any dtype"]
    if port.shape is not ABSENT:
        words.append(f"shape {written_text(port.shape)}")
    elif port.rank is not ABSENT:
        words.append(f"rank {value_text(port.rank)}")
    words += ["optional"] if port.optional else []
    words += [f"stored as {port.storage}"] if port.storage else []
    words += ["packed, four to a word"] if port.packed else []
    return ", ".join(words)


def _entry(sheet: Sheet, name: str, words: str, description: str) -> None:
    sheet.line((name, "cyan"), f"  {words}" if words else "", indent=2, hang=4)
    if description:
        sheet.prose(description, indent=6, style="dim")


def _derives(sheet: Sheet, manifest: Manifest) -> None:
    if manifest.derive:
        sheet.heading("Derives")
        sheet.columns([(name, written_text(value)) for name, value in manifest.derive.items()])


def _variant(sheet: Sheet, number: int, variant: Variant, shared: Sequence[str], cases: Sequence[str]) -> None:
    priority = f"  priority {value_text(variant.priority)}" if variant.priority else ""
    sheet.line(f"{number}. ", (variant.id, "bold cyan"), priority, indent=2)
    if variant.description:
        sheet.prose(variant.description, indent=5, style="dim")
    rows = [("when", clause) for clause in variant.when[len(shared) :]]
    rows += [("demoted if", clause) for clause in variant.demote_when]
    rows += [("superseded by", ", ".join(variant.superseded_by))] if variant.superseded_by else []
    requires = requires_text(variant.requires)
    rows += [("requires", requires)] if requires else []
    rows += [
        ("scratch", f"{item.id}: {item.dtype} {_scratch_shape(item.shape)}") for item in variant.intermediates.values()
    ]
    rows += [("pass", line) for line in _passes(variant.passes)]
    rows.append(
        ("cases", f"{len(cases)}: {listing(cases[:3])}{', ...' if len(cases) > 3 else ''}" if cases else "none")
    )
    sheet.columns([(_once(rows, index), text) for index, (_, text) in enumerate(rows)], indent=5)


def _once(rows: Sequence[tuple[str, str]], index: int) -> str:
    """The label of a row, unless it is that of the row above."""
    return "" if index and rows[index - 1][0] == rows[index][0] else rows[index][0]


def _scratch_shape(shape: object) -> str:
    return "without shape" if shape is ABSENT else f"of shape {written_text(shape)}"


def requires_text(requires: Requires) -> str:
    """What a variant requires of a device, in one line."""
    words = list(requires.features)
    words += [f"{name} >= {value_text(value)}" for name, value in requires.limits.items()]
    if requires.subgroup_min_size is not None:
        words.append(f"subgroups of {requires.subgroup_min_size} or more")
    if requires.subgroup_matrix_configs is not None:
        words.append(f"one of {counted(len(requires.subgroup_matrix_configs), 'subgroup matrix configuration')}")
    return ", ".join(words)


def _passes(items: Sequence[Pass | RepeatGroup]) -> list[str]:
    lines = []
    for item in items:
        if isinstance(item, Pass):
            lines.append(f"{item.id}: {item.shader}, {dispatch_text(item.dispatch)}")
        else:
            lines.append(f"{item.id}: {written_text(item.count)} times ({item.index} counts)")
            lines += [f"  {line}" for line in _passes(item.passes)]
    return lines


def dispatch_text(dispatch: Dispatch) -> str:
    """The sizes of a dispatch as written."""
    if dispatch.form == "threads":
        return f"{dispatch.threads} threads, {dispatch.workgroup_size} a workgroup"
    if dispatch.form == "workgroups":
        return f"{dispatch.workgroups} workgroups"
    sizes = list(map(str, dispatch.sizes.values()))
    while len(sizes) > 1 and sizes[-1] == "1":
        sizes.pop()
    return f"grid {' x '.join(sizes)}"


def _closing(sheet: Sheet, subject: Subject, cases: CasesOf, device: str) -> None:
    sheet.heading("Cases")
    if not subject.cases:
        sheet.line("The package came without cases.", indent=2)
    else:
        total = len(subject.cases)
        refused = cases.get("", ())
        sheet.line(f"{counted(total, 'case')}; the variants are those that they lead to on {device}.", indent=2)
        if refused:
            sheet.line(f"Refused there: {listing(refused)}", indent=2)
    example = f"--case {subject.cases[0].case.name}" if subject.cases else _shapes_example(subject.manifest)
    sheet.line("To see what happens in a call:", indent=2)
    sheet.verbatim(f"scanbuild show {subject.location} {example}", indent=4)


def _shapes_example(manifest: Manifest) -> str:
    names = [name for name, port in manifest.inputs.items() if not port.optional] or list(manifest.inputs)[:1]
    words = [f"--shapes {','.join(f'{name}=2x3' for name in names)}"] if names else []
    words += [f"--attr {name}=VALUE" for name, item in manifest.attributes.items() if item.required]
    words += [f"--arg {name}=VALUE" for name, item in manifest.args.items() if item.required]
    return " ".join(words)
