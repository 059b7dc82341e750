"""The report of ``scanbuild show --json``, which has the form of ``schemas/show-report.schema.json``."""

from collections.abc import Mapping, Sequence
from typing import Any

from scanbuild.commands.show_call import why_not_first
from scanbuild.commands.show_overview import CasesOf
from scanbuild.commands.show_package import Subject
from scanbuild.commands.show_sheet import json_value
from scanbuild.errors import Problem
from scanbuild.package.model import ABSENT, Attribute, Pass, Port, RepeatGroup, Requires, Variant
from scanbuild.planning.clauses import ClauseExplanation
from scanbuild.planning.details import BindingDetail, PassDetail, UniformField
from scanbuild.planning.explanation import CallExplanation, Derived, VariantExplanation

Report = dict[str, Any]


def report_json(
    subject: Subject,
    *,
    overview: Report | None = None,
    call: Report | None = None,
    devices: Report | None = None,
) -> Report:
    """The whole report; one of the three parts is there."""
    return {
        "location": subject.location,
        "kind": subject.kind,
        "package": subject.manifest.op_id,
        "overview": overview,
        "call": call,
        "devices": devices,
    }


def overview_json(subject: Subject, cases: CasesOf, device: str) -> Report:
    """The contract and the variants in the order of selection, with the cases that lead to each."""
    manifest = subject.manifest
    return {
        "description": manifest.description,
        "inputs": [_port(port) for port in manifest.inputs.values()],
        "outputs": [_port(port) for port in manifest.outputs.values()],
        "types": {name: list(dtypes) for name, dtypes in manifest.type_constraints.items()},
        "attributes": [_attribute(item) for item in manifest.attributes.values()],
        "args": [
            {
                "name": item.name,
                "kind": item.kind,
                "required": item.required,
                "oneOf": None if item.one_of is None else json_value(item.one_of),
                "description": item.description,
            }
            for item in manifest.args.values()
        ],
        "tunables": json_value(dict(manifest.tunables)),
        "derive": json_value(dict(manifest.derive)),
        "device": device,
        "variants": [_variant(variant, cases.get(variant.id, ())) for variant in manifest.ranked],
        "cases": len(subject.cases),
        "refusedCases": list(cases.get("", ())),
    }


def _port(port: Port) -> Report:
    return {
        "name": port.name,
        "dtype": port.dtype,
        "optional": port.optional,
        "shape": None if port.shape is ABSENT else json_value(port.shape),
        "storage": port.storage,
        "packed": port.packed,
        "description": port.description,
    }


def _attribute(item: Attribute) -> Report:
    given = {} if item.default is ABSENT else {"default": json_value(item.default)}
    return {
        "name": item.name,
        **given,
        "required": item.required,
        "values": None if item.values is None else json_value(item.values),
        "description": item.description,
    }


def _variant(variant: Variant, cases: Sequence[str]) -> Report:
    return {
        "id": variant.id,
        "description": variant.description,
        "priority": json_value(variant.priority),
        "when": list(variant.when),
        "demoteWhen": list(variant.demote_when),
        "supersededBy": list(variant.superseded_by),
        "requires": _requires(variant.requires),
        "tunables": json_value(dict(variant.tunables)),
        "derive": json_value(dict(variant.derive)),
        "scratches": [
            {
                "id": item.id,
                "dtype": item.dtype,
                "shape": None if item.shape is ABSENT else json_value(item.shape),
            }
            for item in variant.intermediates.values()
        ],
        "passes": [_written_pass(item) for item in variant.passes],
        "cases": list(cases),
    }


def _requires(requires: Requires) -> Report:
    configs = requires.subgroup_matrix_configs
    return {
        "features": list(requires.features),
        "limits": json_value(dict(requires.limits)),
        "subgroupMinSize": requires.subgroup_min_size,
        "subgroupMatrixConfigs": None if configs is None else [json_value(dict(item)) for item in configs],
    }


def _written_pass(item: Pass | RepeatGroup) -> Report:
    if isinstance(item, RepeatGroup):
        return {
            "id": item.id,
            "count": json_value(item.count),
            "index": item.index,
            "passes": [_written_pass(inner) for inner in item.passes],
        }
    return {"id": item.id, "shader": item.shader, "dispatch": item.dispatch.sizes}


def call_json(found: CallExplanation, described: str, device: str) -> Report:
    """One call on one device. What a refused call does not reach is empty."""
    return {
        "described": described,
        "device": device,
        "refused": found.stage or None,
        "problems": [_problem(item) for item in found.problems],
        "tensors": [
            {
                "name": item.name,
                "dtype": item.logical,
                "storage": item.dtype,
                "shape": list(item.shape),
                "bytes": item.size,
                "returned": item.name in found.returned,
            }
            for item in found.tensors
        ],
        "types": dict(found.types),
        "attributes": json_value(dict(found.attrs)),
        "args": json_value(dict(found.args)),
        "variants": [_verdict(item) for item in found.variants],
        "chosen": found.chosen or None,
        "forced": found.forced,
        "derive": _derives(found.derives),
        "variantDerive": _derives(found.variant_derives),
        "tunables": json_value(dict(found.tunables)),
        "passes": [_pass(item) for item in found.passes],
        "scratches": [
            {"id": item.id, "dtype": item.dtype, "shape": list(item.shape), "bytes": item.size}
            for item in found.scratches
        ],
        "totals": _totals(found),
    }


def _problem(item: Problem) -> Report:
    return {
        "rule": item.rule,
        "file": item.file,
        "line": item.line,
        "column": item.column,
        "path": item.path or None,
        "message": item.message,
        "suggestion": item.hint or None,
    }


def _verdict(item: VariantExplanation) -> Report:
    return {
        "id": item.verdict.id,
        "accepted": item.verdict.accepted,
        "demoted": item.verdict.demoted,
        "reason": item.verdict.reason,
        "unmet": list(item.unmet),
        "when": [_clause(clause) for clause in item.when],
        "demoteWhen": [_clause(clause) for clause in item.demote_when],
    }


def _clause(item: ClauseExplanation) -> Report:
    return {
        "text": item.text,
        "holds": item.holds,
        **_outcome(item.value, item.failure),
        "parts": [
            {
                "text": part.text,
                **_outcome(part.value, part.failure),
                "reads": [
                    {"text": reading.text, **_outcome(reading.value, reading.failure)} for reading in part.readings
                ],
            }
            for part in item.parts
        ],
    }


def _outcome(value: Any, failure: str) -> Report:
    return {"fails": failure} if failure else {"value": json_value(value)}


def _derives(items: Sequence[Derived]) -> list[Report]:
    return [{"name": item.name, "written": json_value(item.written), "value": json_value(item.value)} for item in items]


def _pass(item: PassDetail) -> Report:
    return {
        "id": item.id,
        "group": item.group or None,
        "first": item.first,
        "shader": item.shader,
        "rounds": item.rounds,
        "executed": item.executed,
        "skipped": item.skipped or None,
        "derive": _derives([Derived(name=name, written=text, value=value) for name, text, value in item.derives]),
        "dispatch": {
            "form": item.form,
            "sizes": [
                {"name": size.name, "written": size.written, "value": json_value(size.value)} for size in item.sizes
            ],
            "grids": [{"grid": list(grid), "rounds": rounds} for grid, rounds in item.grids],
            "folded": item.folded,
            "workgroupSize": item.workgroup_size or None,
        },
        "bindings": [_binding(binding) for binding in item.bindings],
        "submitAfter": item.submit_after,
        "bytesMoved": json_value(item.bytes_moved),
        "wgsl": list(item.texts),
    }


def _binding(item: BindingDetail) -> Report:
    return {
        "group": 0,
        "binding": item.index,
        "name": item.name,
        "access": item.access,
        "elementType": item.element_type or None,
        "length": item.length,
        "offset": 0,
        "bytes": item.size,
        "source": item.source or None,
        "buffer": item.ref or None,
        "fields": [_field(field) for field in item.fields],
    }


def _field(item: UniformField) -> Report:
    return {
        "name": item.name,
        "type": item.type,
        "offset": item.offset,
        "written": None if item.written is ABSENT else json_value(item.written),
        "value": json_value(item.value),
        "lastValue": json_value(item.last),
        "padding": item.padding,
    }


def _totals(found: CallExplanation) -> Report | None:
    totals = found.totals
    if totals is None:
        return None
    return {
        "dispatches": totals.dispatches,
        "workgroups": totals.workgroups,
        "submissions": totals.submissions,
        "bytesRead": totals.reads,
        "bytesWritten": totals.writes,
        "scratchBytes": totals.scratch,
        "bytesMoved": json_value(totals.bytes_moved),
    }


def devices_json(found: Mapping[str, CallExplanation], described: str) -> Report:
    """Which variant each device selects."""
    return {
        "described": described,
        "selected": [
            {
                "device": name,
                "variant": None if item.stage else item.chosen,
                "refused": item.stage or None,
                "why": why_not_first(item),
                "problems": [_problem(problem) for problem in item.problems],
            }
            for name, item in found.items()
        ],
    }
