"""The passes of a call, as ``scanbuild show`` prints them."""

from collections.abc import Sequence

from scanbuild.commands.console import counted
from scanbuild.commands.show_sheet import Sheet, Styled, bytes_text, tensor_text, value_text, written_text
from scanbuild.package.model import ABSENT
from scanbuild.planning.details import BindingDetail, PassDetail, Size, UniformField
from scanbuild.planning.explanation import CallExplanation

_MOST_GRIDS = 4
_SKIPPED = {
    "empty": "not run: every output is empty",
    "zero": "not run: its grid has no workgroups",
    "view": "not run: what it would copy is one buffer already",
}


def present_passes(sheet: Sheet, explanation: CallExplanation, *, detailed: bool) -> None:
    """Print the passes, the scratches and the totals of a planned call."""
    if not explanation.passes or explanation.is_empty:
        return
    for number, item in enumerate(explanation.passes, 1):
        _pass(sheet, number, item, explanation, detailed=detailed)
    if explanation.scratches:
        sheet.heading("Scratch, zeros at the start of the call")
        sheet.columns(
            [
                ((item.id, "cyan"), tensor_text(item.dtype, item.shape), bytes_text(item.size))
                for item in explanation.scratches
            ],
            right=(2,),
        )
    _totals(sheet, explanation)


def _pass(sheet: Sheet, number: int, item: PassDetail, explanation: CallExplanation, *, detailed: bool) -> None:
    rounds = f", {counted(item.rounds, 'round')} of {item.group}" if item.group else ""
    sheet.heading(f"Pass {number} of {len(explanation.passes)}: {item.id}, {item.shader}{rounds}")
    if item.group:
        sheet.line(f"what is told is of {item.first}, the first round that runs", indent=2)
    if item.skipped:
        some = f"{item.rounds - item.executed} of {counted(item.rounds, 'round')} " if item.executed else ""
        sheet.line((some + _SKIPPED[item.skipped], "yellow"), indent=2)
    rows: list[tuple[str | Styled, ...]] = [("dispatch", _dispatch_text(item))]
    if item.workgroup_size:
        rows.append(("workgroup", f"{item.workgroup_size} invocations"))
    if item.submit_after:
        rows.append(("submitAfter", "what follows is submitted when this has ended"))
    if item.bytes_moved is not None:
        rows.append(("profile", f"bytesMoved {value_text(item.bytes_moved)}"))
    if len(item.texts) > 1:
        rows.append(("shaders", f"{len(item.texts)} different texts in its rounds"))
    sheet.columns(rows)
    if item.derives:
        sheet.line("derives", indent=2)
        sheet.columns(
            [
                ((name, "cyan"), value_text(value), (written_text(written) if isinstance(written, str) else "", "dim"))
                for name, written, value in item.derives
            ],
            indent=4,
        )
    _bindings(sheet, item.bindings)
    if detailed:
        for text in item.texts:
            sheet.code(text)


def _dispatch_text(item: PassDetail) -> str:
    written = [size for index, size in enumerate(item.sizes) if index == 0 or size.written != 1]
    sizes = ", ".join(map(_size_text, written))
    if not item.grids:
        return sizes
    sizes_told = [" x ".join(map(str, grid)) for grid, _ in item.grids]
    if len(item.grids) > _MOST_GRIDS:
        grids = f"from {sizes_told[0]} in the first round to {sizes_told[-1]}, {len(item.grids)} different ones"
    elif len(item.grids) > 1:
        rounds = (counted(count, "round") for _, count in item.grids)
        grids = ", ".join(f"{size} ({count})" for size, count in zip(sizes_told, rounds, strict=True))
    else:
        grids = sizes_told[0]
    folded = ", folded at 65535 workgroups an axis" if item.folded else ""
    return f"{sizes} -> grid {grids}{folded}"


def _size_text(size: Size) -> str:
    if size.written == size.value:
        return f"{size.name} {size.value}"
    return f"{size.name} {size.written} = {value_text(size.value)}"


def _bindings(sheet: Sheet, bindings: Sequence[BindingDetail]) -> None:
    sheet.line("bindings of group 0", indent=2)
    sheet.columns(
        [
            (
                str(item.index),
                (item.name, "cyan"),
                item.access,
                _type_text(item),
                "" if item.size is None else bytes_text(item.size),
                _buffer_text(item),
            )
            for item in bindings
        ],
        indent=4,
        right=(0, 4),
    )
    for item in bindings:
        if item.fields:
            sheet.line(f"fields of {item.name}: offset, name, type, value, from", indent=2)
            sheet.columns([_field(field) for field in item.fields if not field.padding], indent=4, right=(0,))
            padding = sum(field.padding for field in item.fields)
            if padding:
                sheet.line(f"and {bytes_text(4 * padding)} of padding", indent=4)


def _type_text(item: BindingDetail) -> str:
    if item.access == "uniform":
        return "struct"
    return f"array<{item.element_type}{'' if item.length is None else f', {item.length}'}>"


def _buffer_text(item: BindingDetail) -> str:
    if not item.ref:
        return ""
    kind = {"scratch": "scratch ", "tensor": ""}.get(item.source, "")
    return f"{kind}{item.ref}"


def _field(field: UniformField) -> tuple[str | Styled, ...]:
    value = value_text(field.value)
    if field.last is not None:
        value += f" in the first round, {value_text(field.last)} in the last"
    source = "no value: 0" if field.written is ABSENT else written_text(field.written)
    return str(field.offset), (field.name, "cyan"), field.type, value, (source, "dim")


def _totals(sheet: Sheet, explanation: CallExplanation) -> None:
    totals = explanation.totals
    if totals is None:
        return
    sheet.heading("Totals")
    rows = [
        ("dispatches", f"{totals.dispatches:,}, {counted(totals.submissions, 'submission')}"),
        ("workgroups", f"{totals.workgroups:,}"),
        ("reads", f"{bytes_text(totals.reads)} of tensors, if all is read once"),
        ("writes", f"{bytes_text(totals.writes)} of tensors, if all is written once"),
        ("scratch", bytes_text(totals.scratch)),
    ]
    if totals.bytes_moved is not None:
        rows.append(("profile", f"bytesMoved {value_text(totals.bytes_moved)} in all"))
    sheet.columns(rows)
    outputs = [item for item in explanation.tensors if item.name in explanation.returned]
    told = ", ".join(f"{item.name} {tensor_text(item.logical, item.shape)}" for item in outputs)
    sheet.line(f"Returned: {told}" if told else "Nothing is returned.", indent=2)
