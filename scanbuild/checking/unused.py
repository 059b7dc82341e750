"""Rules on what is declared and never read."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Final

from scanbuild.checking.places import JsonText
from scanbuild.checking.sites import Site
from scanbuild.checking.structure import bindings_of
from scanbuild.checking.subject import Subject
from scanbuild.checking.syntax import expression_syntax
from scanbuild.errors import Problem
from scanbuild.package.jsonfile import Path, parse_path
from scanbuild.package.model import Variant

Reads = frozenset[tuple[str, ...]]
_HANDLED_BY_LOADER: Final = "to"
"""The attribute that tells an output's dtype (8.3)."""


def _reads_of(sites: Iterable[Site]) -> Reads:
    found: set[tuple[str, ...]] = set()
    for site in sites:
        found |= expression_syntax(site.text).names.reads
    return frozenset(found)


def _template_reads(subject: Subject, shaders: Iterable[str]) -> Reads:
    forms = [subject.forms[shader] for shader in shaders if shader in subject.forms]
    return frozenset().union(*(form.names.reads for form in forms))


def _is_complete(subject: Subject) -> bool:
    """Whether every template and expression could be read: else nothing can be called unused."""
    if subject.kind == "manifest" or any(form.error is not None for form in subject.forms.values()):
        return False
    shaders = {shader for variant in subject.manifest.variants for shader in variant.shaders}
    readable = all(expression_syntax(site.text).error is None for site in subject.sites)
    return readable and shaders <= subject.forms.keys()


def _unread_derives(declared: Iterable[str], reads: Reads, dollars: Collection[str]) -> list[str]:
    """Which of the declared derives nobody reads, by name or through ``derive``."""
    if ("derive",) in reads:
        return []
    bare = {read[0] for read in reads}
    return [name for name in declared if not (name in bare or ("derive", name) in reads or name in dollars)]


def unused_derives(subject: Subject) -> Iterator[Problem]:
    """A derive nobody reads is evaluated at every call, and can fail there."""
    if not _is_complete(subject):
        return
    dollars = _dollars(subject)
    everything = _reads_of(subject.sites) | _template_reads(subject, subject.forms)
    for name in _unread_derives(subject.manifest.derive, everything, dollars):
        yield _unused_derive(subject.text, ("derive", name), name, "nothing")
    for path, variants in _written_variants(subject).items():
        reads = _reads_of(
            site for site in subject.sites if site.path[: len(path)] == path or site.path[0] == "bindings"
        )
        reads |= _template_reads(subject, (shader for variant in variants for shader in variant.shaders))
        for name in _unread_derives(
            dict.fromkeys(name for variant in variants for name in variant.derive), reads, dollars
        ):
            yield _unused_derive(subject.text, (*path, "derive", name), name, f"nothing in `{variants[0].id}`")
        for item in (item for variant in variants for item in variant.all_passes()):
            for name in _unread_derives(item.derive, reads, dollars):
                place = (*parse_path(item.path), "derive", name)
                yield _unused_derive(subject.text, place, name, f"nothing in pass `{item.id}`")


def _written_variants(subject: Subject) -> dict[Path, list[Variant]]:
    """The variants by where they are written: those of a family template share a place."""
    found: dict[Path, list[Variant]] = {}
    for variant in subject.manifest.variants:
        found.setdefault(parse_path(variant.path), []).append(variant)
    return found


def _dollars(subject: Subject) -> set[str]:
    names: set[str] = set()
    for bound in bindings_of(subject):
        for written in (bound.binding.element_type, bound.binding.length):
            if isinstance(written, str) and written.startswith("$"):
                names.add(written[1:])
    return names


def _unused_derive(text: JsonText, path: Path, name: str, reader: str) -> Problem:
    return text.problem(
        path,
        "unused-derive",
        f"{reader} reads the derive `{name}`",
        hint="remove it: it is evaluated at every call all the same",
        key=True,
        severity="warning",
        stage="own",
    )


def unused_parameters(subject: Subject) -> Iterator[Problem]:
    """Attributes, arguments and tunables that nobody reads."""
    if not _is_complete(subject):
        return
    manifest = subject.manifest
    reads = _reads_of(subject.sites) | _template_reads(subject, subject.forms)
    fields = {field.name for bound in bindings_of(subject) for field in bound.binding.fields}
    yield from _unread(subject, manifest.attributes, "attrs", ("attributes",), reads, frozenset({_HANDLED_BY_LOADER}))
    yield from _unread(subject, manifest.args, "args", ("args",), reads, frozenset(fields))
    yield from _unread(subject, manifest.tunables, "tunables", ("tunables",), reads, frozenset())
    for variant in manifest.variants:
        path = (*parse_path(variant.path), "tunables")
        own = subject.text.get(path)
        if isinstance(own, dict):
            yield from _unread(subject, own, "tunables", path, reads, frozenset(manifest.tunables))


def _unread(
    subject: Subject, names: Mapping[str, object], holder: str, path: Path, reads: Reads, excused: frozenset[str]
) -> Iterator[Problem]:
    if (holder,) in reads:
        return
    words = {"attrs": "attribute", "args": "argument", "tunables": "tunable"}
    for name in names:
        if (holder, name) in reads or name in excused or (holder == "args" and ("present", name) in reads):
            continue
        if name == "$comment":
            continue
        yield subject.text.problem(
            (*path, name),
            f"unused-{words[holder]}",
            f"nothing reads the {words[holder]} `{name}`",
            key=True,
            severity="warning",
            stage="own",
        )


def unused_handles(subject: Subject) -> Iterator[Problem]:
    """Binding handles that no pass names."""
    handles = subject.text.get(("bindings",))
    if not isinstance(handles, dict):
        return
    used = {bound.path[1] for bound in bindings_of(subject) if bound.path[:1] == ("bindings",)}
    known = {str(name) for name in used} | set(_strings_in(subject.text.get(("variants",))))
    for name in handles:
        if name not in known and name != "$comment":
            yield _unused(subject, ("bindings", name), "unused-handle", f"no pass uses the binding handle `{name}`")


def unused_scratches(subject: Subject) -> Iterator[Problem]:
    """Scratches that no pass binds; their shapes are evaluated all the same."""
    for variant in subject.manifest.variants:
        bound = {
            name
            for item in variant.all_passes()
            for binding in item.bindings
            for name in (binding.scratch, binding.name)
        }
        base = (*parse_path(variant.path), "intermediates")
        raw = subject.text.get(base)
        for index, entry in enumerate(raw if isinstance(raw, list) else []):
            name = entry.get("id") if isinstance(entry, dict) else None
            if isinstance(name, str) and name in variant.intermediates and name not in bound:
                message = f"no pass of `{variant.id}` binds the scratch `{name}`"
                yield _unused(subject, (*base, index), "unused-scratch", message)


def unused_types(subject: Subject) -> Iterator[Problem]:
    """Type variables that no port has, and ports that name one that is declared nowhere."""
    manifest = subject.manifest
    ports = {**manifest.inputs, **manifest.outputs}
    used = {port.dtype for port in ports.values()}
    for name in manifest.type_constraints:
        if name not in used:
            message = f"no port has the type variable `{name}`"
            yield _unused(subject, ("typeConstraints", name), "unused-type", message)


def unused_templates(subject: Subject) -> Iterator[Problem]:
    """Templates that no variant needs."""
    if subject.kind == "manifest" or any(form.error is not None for form in subject.forms.values()):
        return
    needed = {path for form in subject.forms.values() for path in form.files}
    for path in subject.templates:
        if path not in needed and not path.startswith("_shared/"):
            problem = Problem(
                message="no variant needs this template",
                rule="unused-template",
                hint="remove it, or name it in a pass",
                severity="warning",
                stage="own",
            )
            yield subject.template_problem(problem, path, 1, 1)


def _unused(subject: Subject, path: Path, rule: str, message: str) -> Problem:
    return subject.text.problem(path, rule, message, key=True, severity="warning", stage="own")


def _strings_in(value: object) -> Iterator[str]:
    pending = [value]
    while pending:
        item = pending.pop()
        if isinstance(item, str):
            yield item
        elif isinstance(item, list):
            pending.extend(item)
        elif isinstance(item, dict):
            pending.extend(item.values())
