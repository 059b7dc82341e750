"""The whole way: from the bytes of a model to the files of a source package."""

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from scanbuild import __version__
from scanbuild.dialect import expand_includes, parse_expression
from scanbuild.errors import InputError, Problem
from scanbuild.lowering import lane, parallel, steps, workgroup
from scanbuild.lowering.card import describe
from scanbuild.lowering.cases import bench_json, test_json
from scanbuild.lowering.draft import Draft, Refusal, Variant
from scanbuild.lowering.graph import Scan
from scanbuild.lowering.isolate import isolated
from scanbuild.lowering.model import Candidate, Model, find, read_model
from scanbuild.lowering.oracle import NoAnswerError, Oracle
from scanbuild.lowering.package import assemble, pretty
from scanbuild.lowering.reach import DEFAULT_LIMITS
from scanbuild.lowering.read import read_scan
from scanbuild.lowering.reference import print_reference
from scanbuild.package.metadata import is_template
from scanbuild.package.source import SHARED_FOLDER
from scanbuild.resources import data_folder

RECORD: Final = "lowered.json"
"""What was lowered, and the digests of the files: it marks a folder as written here, and tells later edits."""

STRATEGIES: Final = {
    "parallel scan": parallel.draft,
    "lane-serial": lane.draft,
    "workgroup-serial": workgroup.draft,
    "workgroup-serial, twice the memory": workgroup.draft_large,
    "step passes": steps.draft,
}
"""From the fastest, where it applies, to the most general."""

_DOMAIN: Final = re.compile(r"[a-z][a-z0-9]*(\.[A-Za-z][A-Za-z0-9_]*)*")
_NAME: Final = re.compile(r"[A-Za-z0-9_-]+")


@dataclass(frozen=True, kw_only=True, slots=True)
class Read:
    """A ``Scan`` of a model in normal form, and what each strategy makes of it."""

    model: Model
    candidate: Candidate
    scan: Scan
    drafts: Mapping[str, Draft]

    @property
    def possible(self) -> tuple[Variant, ...]:
        """The variants that came about."""
        return tuple(draft for draft in self.drafts.values() if isinstance(draft, Variant))

    @property
    def variants(self) -> tuple[Variant, ...]:
        """Those of them that some call on some device reaches."""
        return tuple(variant for variant in self.possible if self.hidden_by(variant) is None)

    def hidden_by(self, variant: Variant) -> Variant | None:
        """A variant that goes before another wherever that could run: it takes every call, and as many devices do."""
        before = [
            other for other in self.possible if other.priority > variant.priority and _runs_wherever(other, variant)
        ]
        return next((other for other in before if _takes_all(other, before)), None)


def _decided(draft: Draft) -> Draft:
    """The draft without conditions that fixed sizes have decided: a refusal if one never holds."""
    if not isinstance(draft, Variant) or "when" not in draft.entry:
        return draft
    open_clauses = []
    for clause in draft.entry["when"]:
        expression = parse_expression(clause)
        if expression.names:
            open_clauses.append(clause)
        elif expression.evaluate({}) is not True:
            return Refusal(reason=f"its condition {clause} never holds for this model")
    entry = {key: value for key, value in draft.entry.items() if key != "when"}
    return Variant(entry={**entry, **({"when": open_clauses} if open_clauses else {})}, templates=draft.templates)


def _runs_wherever(other: Variant, variant: Variant) -> bool:
    """Whether every device on which a variant can run is one for the other."""
    requires = other.entry.get("requires", {})
    known = {**DEFAULT_LIMITS}
    for name, limit in variant.entry.get("requires", {}).get("limits", {}).items():
        known[name] = max(limit, known.get(name, 0))
    limits = requires.get("limits", {})
    return requires.keys() <= {"limits"} and all(limit <= known.get(name, 0) for name, limit in limits.items())


def _takes_all(variant: Variant, others: Sequence[Variant]) -> bool:
    """Whether a variant takes every call, but for such as have a size of 0 that one of the others takes."""
    for clause in variant.entry.get("when", ()):
        size, _, bound = clause.partition(" >= ")
        if bound != "1" or not size.isidentifier():
            return False
        if not any(_takes_empty(size, other) for other in others if other is not variant):
            return False
    return True


def _takes_empty(size: str, variant: Variant) -> bool:
    """Whether a variant takes every call in which a size is 0."""
    expressions = [parse_expression(clause) for clause in variant.entry.get("when", ())]
    return all(item.names <= {size} and item.evaluate({size: 0}) is True for item in expressions)


def read(data: bytes, where: str, folder: Path | None, node: str | None = None) -> Read:
    """A model's ``Scan``, drafted. ``where`` names the model in messages, ``folder`` may hold its external data.

    InputError for whatever cannot be read or compiled, and where the extra ``onnx`` is not installed.
    """
    check_installed("onnx")
    model = read_model(data, where, folder)
    candidate = find(model, node)
    scan = read_scan(model, candidate)
    return Read(
        model=model,
        candidate=candidate,
        scan=scan,
        drafts={name: _decided(draft(scan)) for name, draft in STRATEGIES.items()},
    )


def assembled(read: Read, op_id: str, variants: Sequence[Variant] | None = None) -> dict[str, bytes]:
    """Manifest and templates, of all variants that are of use or of the given ones.

    InputError if the op id is none, or no strategy applies.
    """
    check_op_id(op_id)
    used = read.variants if variants is None else tuple(variants)
    if not used:
        raise InputError(*_refusals(read))
    texts = assemble(read.scan, used, op_id, describe(read.scan, used))
    return {name: text.encode() for name, text in _folded(texts).items()}


def package_files(read: Read, op_id: str) -> dict[str, bytes]:
    """The files of the source package: manifest, templates, cases, reference and record.

    InputError if no strategy applies or ONNX Runtime is not installed; MisreadError if it contradicts the reading.
    """
    files = assembled(read, op_id)
    check_installed("onnxruntime")
    scan, manifest = read.scan, json.loads(files["manifest.json"])
    oracle, reason = _oracle(read)
    files["test.json"] = pretty(test_json(scan, manifest, oracle, reason)).encode()
    files["bench.json"] = pretty(bench_json(scan, manifest)).encode()
    files["reference.py"] = print_reference(scan, op_id).encode()
    return {**files, RECORD: _record(read, files)}


def _folded(texts: Mapping[str, str]) -> dict[str, str]:
    """The texts with scanbuild's shared fragments in place, since a lowered package may lie anywhere."""
    folder = data_folder("templates") / SHARED_FOLDER
    shared = {f"{SHARED_FOLDER}/{file.name}": file.read_text(encoding="utf-8") for file in sorted(folder.iterdir())}
    return {
        name: expand_includes(name, {name: text, **shared}).text if is_template(name) else text
        for name, text in texts.items()
    }


def check_op_id(op_id: str) -> None:
    """InputError unless the loader takes it as ``DOMAIN.NAME``."""
    domain, _, name = op_id.rpartition(".")
    if _DOMAIN.fullmatch(domain) and _NAME.fullmatch(name):
        return
    message = f"{op_id!r} is no op id: expected DOMAIN.NAME, as in my.models.RunningMean"
    hint = "the domain begins with a small letter and has letters, digits and dots; the name has letters and digits"
    raise InputError(Problem(message=message, hint=hint))


def check_installed(package: str) -> None:
    """InputError with the command that installs a package of the extra ``onnx``, if it is not there."""
    import importlib.util

    if importlib.util.find_spec(package) is None:
        message = f"the package {package} is not installed, which `scanbuild lower` needs"
        raise InputError(Problem(message=message, hint="pip install 'scanbuild[onnx]'"))


def edited(files: Mapping[str, bytes]) -> list[str] | None:
    """The names of files of a lowered package that are not as they were written; None if it is no such package."""
    try:
        digests = json.loads(files[RECORD])["sha256"]
        names = sorted({*digests, *files} - {RECORD})
        return [name for name in names if name not in files or digests.get(name) != _digest(files[name])]
    except (KeyError, ValueError, TypeError, AttributeError):
        return None


def _oracle(read: Read) -> tuple[Oracle | None, str]:
    """ONNX Runtime for this ``Scan``; or None, and why."""
    try:
        return Oracle(read.scan, isolated(read.model, read.candidate)), ""
    except NoAnswerError as error:
        return None, str(error)


def _refusals(read: Read) -> list[Problem]:
    """Why no strategy applies, each with the node that stands in the way."""
    problems = []
    for name, draft in read.drafts.items():
        if isinstance(draft, Variant):
            continue
        origin = draft.origin
        at = f"node `{origin.name}` ({origin.operator}): " if origin.operator or origin.name else ""
        message = f"the Scan node `{read.candidate.path}`: not {name}: {at}{draft.reason}"
        problems.append(Problem(message=message, file=read.model.where))
    return problems


def _record(read: Read, files: Mapping[str, bytes]) -> bytes:
    content: dict[str, Any] = {
        "$comment": "Written by scanbuild lower, which replaces this folder as long as no file of it was edited.",
        "scanbuild": __version__,
        "node": read.candidate.path,
        "sha256": {name: _digest(files[name]) for name in sorted(files)},
    }
    return pretty(content).encode()


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
