"""Rules on rendered shaders, a few of each variant: what they use, and what the manifest says of it."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from scanbuild.checking.subject import Subject
from scanbuild.checking.trials import Trials
from scanbuild.checking.wgsl import Module
from scanbuild.errors import CallError, Problem
from scanbuild.package.jsonfile import parse_path
from scanbuild.package.model import Pass, Variant
from scanbuild.package.report import nearest
from scanbuild.planning.attributes import is_number
from scanbuild.planning.device import DEFAULT_LIMITS
from scanbuild.planning.passes import Program
from scanbuild.planning.uniforms import number_text, padded_fields
from scanbuild.planning.wgsl import enabled_extensions

_FOLD: Final = 65535
_COMMENT: Final = re.compile(r"\{#.{0,2000}?#\}|//[^\n]*", re.DOTALL)
_COMMON_STORAGE_BUFFERS: Final = 8
_FEATURES: Final = {"f16": "shader-f16", "subgroups": "subgroups", "subgroup_size_control": "subgroup-size-control"}


@dataclass(frozen=True, slots=True)
class Rendered:
    """A pass of a variant with its shader, for one request; ``runs`` tells whether its grid is not empty then."""

    variant: Variant
    program: Program
    module: Module
    words: str
    runs: bool

    @property
    def item(self) -> Pass:
        """The pass."""
        return self.program.instance.item


def rendered_passes(subject: Subject, trials: Trials) -> list[Rendered]:
    """Every sampled shader, each text once for a pass."""
    found: dict[tuple[str, str, str], Rendered] = {}
    for sample in trials.samples:
        variant = subject.manifest.variant(sample.variant)
        for program in sample.programs:
            if program.wgsl:
                words = f"variant `{variant.id}`, pass `{program.instance.item.id}`"
                key = (variant.path, program.instance.item.path, program.wgsl)
                runs = program.instance.id in sample.outcome.ran
                if key not in found or (runs and not found[key].runs):
                    found[key] = Rendered(variant, program, Module(program.wgsl), words, runs)
    return list(found.values())


def workgroup_sizes(subject: Subject, trials: Trials) -> Iterator[Problem]:
    """``workgroupSize`` says what the shader's ``@workgroup_size`` is, or the grid is too small or too large (2.13)."""
    for item in rendered_passes(subject, trials):
        dispatch, size = item.item.dispatch, item.module.workgroup_size
        if dispatch.form != "threads" or size is None:
            continue
        written = dispatch.workgroup_size
        try:
            value = item.program.scope.evaluate(written, item.program.place)
        except CallError:
            continue
        product = size[0] * size[1] * size[2]
        if is_number(value) and value != product:
            few = "some elements are never reached" if value > product else "some workgroups have nothing to do"
            yield _warning(
                subject,
                item,
                "dispatch.workgroupSize",
                "workgroup-size",
                f"workgroupSize is {number_text(value)}, the shader's @workgroup_size has {product} invocations: {few}",
                hint=f"write {product}, or take both from one tunable",
            )


def overshoots(subject: Subject, trials: Trials) -> Iterator[Problem]:
    """A grid is rounded up, so the shader has to check bounds; the folded ones have two axes (2.13)."""
    for item in rendered_passes(subject, trials):
        dispatch = item.item.dispatch
        sizes = (dispatch.x, dispatch.y, dispatch.z) if dispatch.form == "grid" else ()
        rounded = dispatch.form == "threads" or any("eil" in size for size in sizes if isinstance(size, str))
        small = dispatch.form == "workgroups" and is_number(_constant(dispatch.workgroups))
        if (rounded or (dispatch.form == "workgroups" and not small)) and not item.module.checks_bounds:
            why = (
                "the folded grid may be larger than asked for" if dispatch.form == "workgroups" else "it is rounded up"
            )
            yield _warning(
                subject,
                item,
                "dispatch",
                "overshoot",
                f"the grid can have more invocations than there is work ({why}), and the shader checks no bounds",
                hint="compare the index with a count from a uniform, and return",
            )
        if dispatch.form != "grid" and not small and not item.module.unfolds:
            yield _warning(
                subject,
                item,
                "dispatch",
                "fold",
                f"from {_FOLD} workgroups on, the grid is folded into rows, and the shader reads the first axis alone",
                hint="number the workgroups as `workgroup_id.y * {{ DISPATCH_FOLD_WIDTH }}u + workgroup_id.x`",
            )


def _constant(value: str | int) -> int | None:
    if isinstance(value, int):
        return value if value <= _FOLD else None
    return int(value) if value.isdigit() and len(value) < 6 and int(value) <= _FOLD else None


def undeclared_bindings(subject: Subject, trials: Trials) -> Iterator[Problem]:
    """A shader that reads a binding, and declares nothing of that name: the loader inserts no declarations (5.1)."""
    for item in rendered_passes(subject, trials):
        names = [binding.name for binding in item.item.bindings]
        lacking = [name for name in names if item.module.reads(name) and not item.module.declares(name)]
        if lacking:
            problem = Problem(
                message=f"{item.words}: the shader uses without declaring it: {', '.join(lacking)}",
                rule="undeclared-binding",
                hint="print `{{ env.wgsl.resourceDeclarations }}` where the declarations belong",
                stage="call",
            )
            yield subject.template_problem(problem, *written_at(subject, item, lacking[0]))


def uniform_members(subject: Subject, trials: Trials) -> Iterator[Problem]:
    """A shader that takes a member of a uniform which its struct does not have; of a shared binding once."""
    told: set[tuple[str, str]] = set()
    for item in rendered_passes(subject, trials):
        for binding in item.item.bindings:
            if binding.buffer != "uniform" or not item.module.has_uniform(binding.name, binding.struct_name):
                continue
            known = [name for name, _ in padded_fields(binding.fields)]
            if f"struct {binding.struct_name} {{ {known[0]}: " not in item.module.bare:
                continue  # declared by hand
            for member in item.module.members(binding.name):
                if member not in known and (binding.name, member) not in told:
                    told.add((binding.name, member))
                    problem = Problem(
                        message=f"{item.words}: the uniform `{binding.name}` has no field `{member}`",
                        rule="uniform-field",
                        hint=nearest(member, known) or f"it has {', '.join(known)}",
                        stage="call",
                    )
                    where = written_at(subject, item, f"{binding.name}.{member}")
                    yield subject.template_problem(problem, *where)


def written_at(subject: Subject, item: Rendered, text: str) -> tuple[str, int, int]:
    """Where a text of a shader is written, outside of comments, as far as the template shows it.

    Of a whole line that is not found, since parts of it were printed, the beginning is looked for.
    """
    form = subject.forms[item.item.shader]
    if form.expanded is None or not text:
        return form.shader, 1, 1
    bare = _COMMENT.sub(lambda found: " " * len(found[0]), form.expanded.text)
    words = text.split(" ")
    for count in range(len(words), 0, -1):
        part = " ".join(words[:count])
        end = r"\b" if part[-1:].isalnum() else ""
        found = re.search(rf"(?<![.\w]){re.escape(part)}{end}", bare)
        if found and (count > 1 or part == text):
            return form.expanded.place(found.start())
    return form.shader, 1, 1


def unused_bindings(subject: Subject, trials: Trials) -> Iterator[Problem]:
    """A binding that no shader of its pass uses; it is bound, and counts, all the same (5.1)."""
    used: dict[tuple[str, int], bool] = {}
    first: dict[tuple[str, int], Rendered] = {}
    for item in rendered_passes(subject, trials):
        for index in range(len(item.item.bindings)):
            name = item.module.declared.get(index)
            key = (item.item.path, index)
            binding = item.item.bindings[index]
            undeclared = name is None and item.module.reads(binding.name)  # told by undeclared_bindings
            used[key] = used.get(key, False) or undeclared or (name is not None and item.module.uses(name))
            first.setdefault(key, item)
    for (path, index), is_used in used.items():
        if is_used:
            continue
        item = first[path, index]
        binding = item.item.bindings[index]
        declared = item.module.declared.get(index)
        what = "does not use it" if declared is not None else f"declares no binding {index}"
        place = (*parse_path(path), "bindings", index)
        if not subject.text.has(place):
            place = (*parse_path(path), "bindings")
        yield subject.text.problem(
            place,
            "unused-binding",
            f"{item.words}: `{binding.name}` is bound, and the shader {what}",
            hint="use it, or remove it from the pass"
            if declared is not None
            else "print `{{ env.wgsl.resourceDeclarations }}`",
            severity="warning",
            stage="own",
        )


def missing_requirements(subject: Subject, trials: Trials) -> Iterator[Problem]:
    """Limits and features that a shader uses beyond what every device has, and the variant does not ask for."""
    for item in rendered_passes(subject, trials):
        yield from _missing_limits(subject, item)
        yield from _missing_features(subject, item)


def _missing_limits(subject: Subject, item: Rendered) -> Iterator[Problem]:
    size = item.module.workgroup_size
    buffers = sum(binding.buffer != "uniform" for binding in item.item.bindings)
    needs: list[tuple[str, float, float]] = [
        ("maxComputeWorkgroupStorageSize", item.module.workgroup_storage, 0),
        ("maxStorageBuffersPerShaderStage", buffers, _COMMON_STORAGE_BUFFERS),
    ]
    if size is not None:
        x, y, z = size
        needs += [
            ("maxComputeInvocationsPerWorkgroup", x * y * z, 0),
            ("maxComputeWorkgroupSizeX", x, 0),
            ("maxComputeWorkgroupSizeY", y, 0),
            ("maxComputeWorkgroupSizeZ", z, 0),
        ]
    for name, needed, common in needs:
        if needed <= (common or DEFAULT_LIMITS[name]) or _is_asked_for(item.variant, name, needed):
            continue
        yield _warning(
            subject,
            item,
            "",
            "missing-limit",
            f"the shader needs {name} of {number_text(needed)}; not every device has more than "
            f"{number_text(common or DEFAULT_LIMITS[name])}, and the variant does not ask for it",
            hint=f'write "requires": {{"limits": {{"{name}": {number_text(needed)}}}}}',
        )


def _is_asked_for(variant: Variant, limit: str, needed: float) -> bool:
    return variant.requires.limits.get(limit, 0) >= needed or any(limit in clause for clause in variant.when)


def _missing_features(subject: Subject, item: Rendered) -> Iterator[Problem]:
    clauses = " ".join((*item.variant.when, *map(str, subject.manifest.derive.values())))
    for extension in sorted(enabled_extensions(item.module.bare)):
        feature = _FEATURES.get(extension)
        if feature is None or feature in item.variant.requires.features or feature in clauses:
            continue
        if extension == "f16" and "f16Ok" in clauses:
            continue
        yield subject.text.problem(
            parse_path(item.variant.path),
            "missing-feature",
            f"{item.words}: the shader enables `{extension}`, and nothing in the variant asks for the feature"
            f" `{feature}`",
            hint=f'write "requires": {{"features": ["{feature}"]}}'
            + (", or add the clause `f16Ok(dtypes.T)`" if extension == "f16" else ""),
            severity="warning",
            stage="own",
        )


def array_lengths(subject: Subject, trials: Trials) -> Iterator[Problem]:
    """``arrayLength`` counts the padding of a buffer: an odd number of halves gives one too many (7.1)."""
    for item in rendered_passes(subject, trials):
        for declared in item.program.declared:
            if declared.element_type == "f16" and declared.binding.name in item.module.measured:
                yield _warning(
                    subject,
                    item,
                    "",
                    "array-length",
                    f"arrayLength(&{declared.binding.name}) is one too large for an odd number of f16 elements",
                    hint="pass the count through a uniform",
                )


def _warning(subject: Subject, item: Rendered, member: str, rule: str, message: str, *, hint: str) -> Problem:
    """A warning about a pass, at a member of it."""
    path = parse_path(item.item.path)
    inner = (*path, *member.split(".")) if member else path
    words = f"{item.words}: {message}"
    return subject.text.problem(inner, rule, words, hint=hint, severity="warning", stage="own")
