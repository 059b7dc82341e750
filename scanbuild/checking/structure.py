"""Rules on bindings, uniforms, scratches and passes that the loader looks at when it makes a plan (5, 10)."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from scanbuild.checking.sites import binding_path, labels_of
from scanbuild.checking.subject import Subject
from scanbuild.errors import CallError, Problem
from scanbuild.package.jsonfile import Path, parse_path
from scanbuild.package.model import ABSENT, Binding, Pass, RepeatGroup, Variant
from scanbuild.package.report import nearest, shown
from scanbuild.package.vocabulary import LOGICAL_DTYPES, WGSL_SCALARS, is_identifier
from scanbuild.planning.attributes import is_integer
from scanbuild.planning.wgsl import check_structs, sized_bytes

_FOREIGN_DTYPES: Final = frozenset({*WGSL_SCALARS.values(), "double", "float", "half", "int", "long", "uint64"})
_MAX_UNROLLED: Final = 4096


@dataclass(frozen=True, slots=True)
class Bound:
    """A binding of a pass of a variant, and where its entry is written."""

    variant: Variant
    item: Pass
    binding: Binding
    path: Path

    @property
    def words(self) -> str:
        """Where it stands."""
        return f"variant `{self.variant.id}`, pass `{self.item.id}`, binding `{self.binding.name}`"


def bindings_of(subject: Subject) -> Iterator[Bound]:
    """Every binding of every pass."""
    for variant in subject.manifest.variants:
        for item in variant.all_passes():
            path = parse_path(item.path)
            for index, binding in enumerate(item.bindings):
                yield Bound(variant, item, binding, binding_path(subject.text, item, path, index))


def undeclared_types(subject: Subject) -> Iterator[Problem]:
    """A port's dtype that is no dtype and is declared nowhere admits any tensor, which is hardly meant (7.3).

    A word that resembles neither a dtype nor a declared variable is taken for an unconstrained variable that is meant.
    """
    manifest = subject.manifest
    known = [*LOGICAL_DTYPES, *manifest.type_constraints]
    for side, ports in (("inputs", manifest.inputs), ("outputs", manifest.outputs)):
        for name, port in ports.items():
            if port.dtype is None or port.dtype in known:
                continue
            hint = nearest(port.dtype, known)
            if not hint and port.dtype not in _FOREIGN_DTYPES:
                continue
            yield subject.text.problem(
                (side, name, "dtype"),
                "undeclared-type",
                f"`{port.dtype}` is no dtype and no declared type variable: the port `{name}` admits any tensor",
                hint=hint or "declare it under typeConstraints, with the dtypes that it may be",
                severity="warning",
                stage="own",
            )


def dollar_names(subject: Subject) -> Iterator[Problem]:
    """A ``$name`` has to be a derive or a dtype label of the pass (5.3)."""
    labels = labels_of(subject.manifest)
    for bound in bindings_of(subject):
        known = [*labels, *subject.manifest.derive, *bound.variant.derive, *bound.item.derive]
        for key, written in (("elementType", bound.binding.element_type), ("length", bound.binding.length)):
            if not isinstance(written, str) or not written.startswith("$") or written[1:] in known:
                continue
            place = (*bound.path, key) if subject.text.has((*bound.path, key)) else bound.path
            yield subject.text.problem(
                place,
                "dollar-name",
                f"{bound.words}: `{written}` names no derive and no dtype that a pass can see",
                hint=_dollar_hint(written[1:], bound, subject, known),
            )


def _dollar_hint(name: str, bound: Bound, subject: Subject, known: list[str]) -> str:
    manifest = subject.manifest
    if name in bound.variant.tunables or name in manifest.attributes or name in manifest.args:
        return "attributes, arguments and tunables are out of reach: put the value into a derive"
    if "." in name or name in manifest.inputs:
        return "a `$name` is the name of a derive, no expression"
    return nearest(name, known)


def sized_types(subject: Subject) -> Iterator[Problem]:
    """Only some element types can have a fixed length (5.3)."""
    for bound in bindings_of(subject):
        element = bound.binding.element_type
        if bound.binding.length is None or element is None or element.startswith("$") or sized_bytes(element):
            continue
        yield subject.text.problem(
            bound.path,
            "sized-type",
            f"{bound.words}: an array of fixed length cannot have elements of type `{element}`",
            hint="f32, u32, i32, f16, atomic<u32>, atomic<i32>, or vec2, vec3, vec4 of one of the first four",
        )


def struct_names(subject: Subject) -> Iterator[Problem]:
    """The name of a uniform's struct is an identifier, and two structs of a pass with one name are equal (5.1)."""
    for bound in bindings_of(subject):
        if bound.binding.buffer == "uniform" and not is_identifier(bound.binding.struct_name):
            yield subject.text.problem(
                (*bound.path, "structName"),
                "struct-name",
                f"{bound.words}: {shown(bound.binding.struct_name)} cannot be the name of a struct",
                hint="ASCII letters, digits and underscores, not beginning with a digit",
            )
    for variant in subject.manifest.variants:
        for item in variant.all_passes():
            if not all(is_identifier(binding.struct_name) for binding in item.bindings):
                continue
            try:
                check_structs(item.bindings, f"variant `{variant.id}`, pass `{item.id}`", item.path)
            except CallError as error:
                path = (*parse_path(item.path), "bindings")
                yield from (
                    subject.text.problem(path, problem.rule, problem.message, hint=problem.hint)
                    for problem in error.problems
                )


def uniform_shadows(subject: Subject) -> Iterator[Problem]:
    """A uniform called like a port or a scratch gets none of its values when that is bound (10.3)."""
    manifest = subject.manifest
    for bound in bindings_of(subject):
        binding = bound.binding
        if binding.buffer != "uniform":
            continue
        for name in (binding.scratch, binding.arg, binding.name):
            port = manifest.inputs.get(name or "") or manifest.outputs.get(name or "")
            if name is None or (port is None and name not in bound.variant.intermediates):
                continue
            always = port is None or not port.optional
            fails = always and any(field.required for field in binding.fields)
            what = "a scratch" if port is None else "a port"
            yield subject.text.problem(
                bound.path,
                "uniform-shadowed",
                f"{bound.words}: `{name}` is {what}, so the uniform loses its values wherever that is bound",
                hint="give the uniform a name of its own, such as `params`",
                severity="error" if fails else "warning",
                stage="call" if fails else "own",
            )
            break


def uniform_values(subject: Subject) -> Iterator[Problem]:
    """A required field needs a value, an argument of its name, or a default (5.5)."""
    args = subject.manifest.args
    for bound in bindings_of(subject):
        for position, field in enumerate(bound.binding.fields):
            if field.value is not ABSENT or field.default is not ABSENT or not field.required or field.name in args:
                continue
            known = [*subject.manifest.derive, *bound.variant.derive, *bound.item.derive]
            hint = f'write "value": "{field.name}"' if field.name in known else nearest(field.name, args)
            yield subject.text.problem(
                (*bound.path, "struct", position),
                "uniform-missing",
                f"{bound.words}: the field `{field.name}` has no value, no default, and no argument of its name",
                hint=hint or 'add "value", an expression',
            )


def scratches(subject: Subject) -> Iterator[Problem]:
    """A scratch needs a shape, and an id that no other has; the loader keeps the last of equal ones (2.12)."""
    for variant in subject.manifest.variants:
        base = (*parse_path(variant.path), "intermediates")
        raw = subject.text.get(base)
        seen: set[str] = set()
        for index, item in enumerate(raw if isinstance(raw, list) else []):
            name = item.get("id") if isinstance(item, dict) else None
            if not isinstance(item, dict) or not isinstance(name, str):
                continue
            shape = item.get("shape")
            fine = isinstance(shape, str) or _is_size(shape) or (isinstance(shape, list) and shape != [])
            if not fine:
                message = f"scratch `{name}`: the shape is a number, an expression or a list, not {shown(shape)}"
                path = (*base, index, "shape") if "shape" in item else (*base, index)
                yield subject.text.problem(path, "scratch-shape", message if "shape" in item else _no_shape(name))
            if name in seen:
                yield subject.text.problem(
                    (*base, index, "id"),
                    "scratch-duplicate",
                    f"another scratch is called `{name}`, too; the loader keeps the last one",
                    severity="warning",
                    stage="own",
                )
            seen.add(name)


def _no_shape(name: str) -> str:
    return f"scratch `{name}` has no shape"


def _is_size(value: object) -> bool:
    return is_integer(value) and value >= 0


def pass_ids(subject: Subject) -> Iterator[Problem]:
    """The ids of all passes, groups unrolled, are different, and there is a pass at all (10.1)."""
    for variant in subject.manifest.variants:
        ids: dict[str, Pass] = {}
        known = True
        for name, item in _unrolled(variant.passes, ""):
            if item is None or len(ids) > _MAX_UNROLLED:
                known = False
                continue
            if name in ids:
                path = parse_path(item.path)
                yield subject.text.problem(
                    (*path, "id") if subject.text.has((*path, "id")) else path,
                    "pass-id",
                    f"variant `{variant.id}`: two passes are called `{name}`",
                    hint="give one of them another id",
                )
                break
            ids[name] = item
        if known and not ids:
            yield subject.text.problem(
                (*parse_path(variant.path), "passes"), "no-pass", f"variant `{variant.id}` comes to no pass at all"
            )


def _unrolled(items: tuple[Pass | RepeatGroup, ...], prefix: str) -> Iterator[tuple[str, Pass | None]]:
    """The passes by expanded id; None for what cannot be known. A group of unknown count is taken once."""
    for item in items:
        if isinstance(item, Pass):
            yield f"{prefix}{item.id}", item
            continue
        count = item.count
        rounds = int(count) if is_integer(count) else 1
        if not is_integer(count):
            yield "", None
        for index in range(min(rounds, 2)):
            yield from _unrolled(item.passes, f"{prefix}{item.id}[{index}].")


def repeat_counts(subject: Subject) -> Iterator[Problem]:
    """A literal count is a whole number from 0 to 65535."""
    pending = [item for variant in subject.manifest.variants for item in variant.passes]
    while pending:
        item = pending.pop()
        if isinstance(item, Pass):
            continue
        pending.extend(item.passes)
        if not isinstance(item.count, str) and not (is_integer(item.count) and 0 <= item.count <= 65535):
            message = f"group `{item.id}`: the count is a whole number from 0 to 65535, not {shown(item.count)}"
            yield subject.text.problem((*parse_path(item.path), "repeat", "count"), "constant-value", message)
