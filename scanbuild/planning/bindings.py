"""Which buffer each binding of a pass stands for, and whether a pass may bind them together (2.11, 10.3)."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from scanbuild.dialect import UNDEFINED, js_string, to_number
from scanbuild.package.model import ABSENT, Binding, Field, Json, Pass
from scanbuild.planning.attributes import is_integer
from scanbuild.planning.failures import fail
from scanbuild.planning.plan import BindingPlan, ScratchSpec
from scanbuild.planning.rounds import Rounds
from scanbuild.planning.scope import Place, Scope, mentions_in
from scanbuild.planning.types import BoundTensor
from scanbuild.planning.uniforms import describe, number_problem, pack, range_problem
from scanbuild.planning.wgsl import Declaration, sized_bytes

MAX_SAFE = 2**53 - 1


@dataclass(frozen=True, kw_only=True, slots=True)
class Buffers:
    """What bindings may resolve to: the scratches of the variant by id, and the tensors of the call by name.

    ``scratches`` maps to None while their shapes are not evaluated.
    """

    scratches: Mapping[str, ScratchSpec | None]
    tensors: Mapping[str, BoundTensor]

    def scratch_of(self, binding: Binding) -> str | None:
        """The id of the scratch a binding stands for."""
        for name in (binding.scratch, binding.name):
            if name is not None and name in self.scratches:
                return name
        return None

    def tensor_of(self, binding: Binding) -> BoundTensor | None:
        """The tensor a binding stands for, unless it stands for a scratch."""
        if self.scratch_of(binding) is not None:
            return None
        for name in (binding.arg, binding.name):
            if name is not None and name in self.tensors:
                return self.tensors[name]
        return None


def declare(item: Pass, scope: Scope, buffers: Buffers, place: Place) -> list[Declaration]:
    """The bindings of a pass with their ``$name`` references resolved (5.3), and opaque int64 types checked (5.4)."""
    declared = []
    for binding in item.bindings:
        if binding.buffer == "uniform":
            declared.append(Declaration(binding=binding))
            continue
        where = place.member(f"binding `{binding.name}`")
        element_type = _element_type(binding, scope, where)
        length = _length(binding, scope, where)
        if length is not None and sized_bytes(element_type) is None:
            raise fail(
                f"{where.words}: an array of fixed length cannot have elements of type `{element_type}`",
                hint="f32, u32, i32, f16, atomic<u32>, atomic<i32>, or vec2, vec3, vec4 of one of the first four",
                rule="sized-type",
                path=where.path,
            )
        tensor = buffers.tensor_of(binding)
        if tensor is not None and tensor.storage == "int64" and "".join(element_type.split()) != "vec2<u32>":
            raise fail(
                f"{where.words}: tensor `{tensor.name}` is stored as int64, its element type is `{element_type}`",
                hint="int64 elements are `vec2<u32>`",
                rule="int64-type",
                path=where.path,
            )
        declared.append(Declaration(binding=binding, element_type=element_type, length=length))
    return declared


def _element_type(binding: Binding, scope: Scope, place: Place) -> str:
    written = binding.element_type or ""
    if not written.startswith("$"):
        return written
    return js_string(_reference(written, scope, place.member("elementType")))


def _length(binding: Binding, scope: Scope, place: Place) -> int | None:
    written = binding.length
    if not isinstance(written, str):
        return written
    value = _reference(written, scope, place.member("length"))
    number = to_number(value)
    if not is_integer(number) or not 1 <= number <= MAX_SAFE:
        message = f"{place.words}: length `{written}` is {describe(value)}, expected a positive integer"
        raise fail(message, rule="dollar-length", path=place.path)
    return int(number)


def _reference(written: str, scope: Scope, place: Place) -> Any:
    # A bare `$` names nothing, though an empty dtype is a label of its own.
    value = scope.derives.get(written[1:]) if written != "$" else None
    if value is None or value is UNDEFINED:
        raise fail(
            f"{place.words}: `{written}` names no derive or type variable that has a value",
            hint="attributes, arguments and tunables are out of reach: put the value into a derive",
            rule="dollar-name",
            path=place.path,
        )
    return value


@dataclass(frozen=True, kw_only=True, slots=True)
class UniformValues:
    """The evaluated fields of a uniform; ``shadowed`` where it resolves to a tensor or scratch and has no values."""

    values: Mapping[str, float]
    shadowed: bool = False


def uniform_values(
    binding: Binding, scope: Scope, args: Mapping[str, Json], buffers: Buffers, place: Place, rounds: Rounds
) -> UniformValues:
    """The fields of a uniform that have a value; CallError where one is no number (5.5, first step)."""
    if buffers.scratch_of(binding) is not None or buffers.tensor_of(binding) is not None:
        return UniformValues(values={}, shadowed=True)
    values: dict[str, float] = {}
    for field in binding.fields:
        written = _field_source(field, args)
        if written is not ABSENT:
            values[field.name] = rounds.step(
                ("field", binding.name, field.name),
                partial(mentions_in, written),
                partial(_field_value, binding, field, written, scope, place),
            )
    return UniformValues(values=values)


def _field_value(binding: Binding, field: Field, written: Any, scope: Scope, place: Place) -> Any:
    where = place.member(f"uniform `{binding.name}`, field `{field.name}`")
    value = scope.evaluate(written, where) if isinstance(written, str) else written
    problem = number_problem(field.type, value)
    if problem:
        shown = f"`{written}`: " if isinstance(written, str) else ""
        hint = "write `1 if c else 0`" if isinstance(value, bool) else ""
        raise fail(f"{where.words}: {shown}{problem}", hint=hint, rule="uniform-number", path=where.path)
    return value


def field_names(binding: Binding, args: Mapping[str, Json]) -> frozenset[str]:
    """Every name that the values of a uniform's fields mention."""
    return frozenset().union(*(mentions_in(_field_source(field, args)) for field in binding.fields))


def dollar_names(bindings: Sequence[Binding]) -> frozenset[str]:
    """Every name that the ``$name`` references of bindings look up."""
    written = [text for binding in bindings for text in (binding.element_type, binding.length)]
    return frozenset(text[1:] for text in written if isinstance(text, str) and text.startswith("$"))


def _field_source(field: Field, args: Mapping[str, Json]) -> Any:
    if field.value is not ABSENT and field.value is not None:
        return field.value
    return args.get(field.name, field.default)


def bind(
    declared: Sequence[Declaration],
    uniforms: Mapping[str, UniformValues],
    args: Mapping[str, Json],
    buffers: Buffers,
    place: Place,
    rounds: Rounds,
) -> tuple[BindingPlan, ...]:
    """The bind group of an executed pass; CallError for a binding that stands for nothing or does not fit."""
    plans = []
    for item in declared:
        binding = item.binding
        reads = partial(field_names, binding, args) if binding.buffer == "uniform" else partial(dollar_names, [binding])
        plans.append(rounds.step(("bind", binding.name), reads, partial(_bind, item, uniforms, buffers, place)))
    return tuple(plans)


def _bind(item: Declaration, uniforms: Mapping[str, UniformValues], buffers: Buffers, place: Place) -> BindingPlan:
    binding = item.binding
    place = place.member(f"binding `{binding.name}`")
    if binding.buffer == "uniform":
        data = _uniform_bytes(binding, uniforms[binding.name], place)
        return BindingPlan(name=binding.name, access="uniform", source="uniform", size=len(data), data=data)
    access: Any = "read" if binding.buffer == "read-only-storage" else "read_write"
    scratch = buffers.scratch_of(binding)
    if scratch is not None:
        spec = buffers.scratches[scratch]
        size = spec.size if spec is not None else 4
        plan = BindingPlan(name=binding.name, access=access, source="scratch", ref=scratch, size=size)
    else:
        tensor = buffers.tensor_of(binding)
        if tensor is None:
            raise fail(
                f"{place.words}: no tensor `{binding.arg or binding.name}` is bound in this call",
                hint="guard the pass with a zero dispatch, or give this case a variant of its own",
                rule="binding-absent",
                path=place.path,
            )
        plan = BindingPlan(name=binding.name, access=access, source="tensor", ref=tensor.name, size=tensor.size)
    needed = 0 if item.length is None else item.length * (sized_bytes(item.element_type) or 0)
    if needed > plan.size:
        message = f"{place.words}: {item.length} elements of `{item.element_type}` take {needed} bytes, "
        raise fail(f"{message}the buffer has {plan.size}", rule="sized-length", path=place.path)
    return plan


def _uniform_bytes(binding: Binding, found: UniformValues, place: Place) -> bytes:
    for field in binding.fields:
        where = place.member(f"field `{field.name}`")
        value = found.values.get(field.name)
        if value is None and field.required:
            cause = (
                "the uniform is named like a tensor or scratch"
                if found.shadowed
                else "it has neither value nor default"
            )
            raise fail(f"{where.words}: no value: {cause}", rule="uniform-missing", path=where.path)
        problem = "" if value is None else range_problem(field.type, value)
        if problem:
            raise fail(f"{where.words}: {problem}", rule="uniform-range", path=where.path)
    return pack(binding.fields, found.values)


def is_view_alias(item: Pass, plans: Sequence[BindingPlan], buffers: Buffers) -> bool:
    """Whether every ``viewAlias`` pair of a pass is one buffer of one dtype, which makes the pass a no-op."""
    if not item.view_alias:
        return False
    by_name = {plan.name: plan for plan in plans}
    return all(
        _identity(by_name[source], buffers) == _identity(by_name[target], buffers)
        and _dtype(by_name[source], buffers) == _dtype(by_name[target], buffers)
        for source, target in item.view_alias
    )


def check_aliasing(plans: Sequence[BindingPlan], buffers: Buffers, place: Place) -> None:
    """CallError where a pass binds one buffer twice, and writes it through one of the bindings."""
    seen: dict[Hashable, BindingPlan] = {}
    for plan in plans:
        if plan.source == "uniform":
            continue
        other = seen.setdefault(_identity(plan, buffers), plan)
        if other is not plan and "read_write" in (other.access, plan.access):
            raise fail(
                f"{place.words}: bindings `{other.name}` and `{plan.name}` are one buffer, and one of them writes it",
                hint="bind an inout port once, as `storage`",
                rule="alias",
                path=place.path,
            )
        if plan.access == "read_write":
            seen[_identity(plan, buffers)] = plan


def _identity(plan: BindingPlan, buffers: Buffers) -> Hashable:
    return ("scratch", plan.ref) if plan.source == "scratch" else buffers.tensors[plan.ref].buffer


def _dtype(plan: BindingPlan, buffers: Buffers) -> str:
    if plan.source == "tensor":
        return buffers.tensors[plan.ref].storage
    spec = buffers.scratches[plan.ref]
    return spec.dtype if spec is not None else ""
