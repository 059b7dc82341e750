"""Changes of what a call passes beside tensors: attributes (2.5) and scalar arguments (2.4)."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Final

from scanbuild.package.model import ABSENT, Attribute, Json, Manifest, ScalarArg
from scanbuild.planning.attributes import same_attribute_value
from scanbuild.publishing.contract_change import Change, Spot, canonical, pair, rename, words

_KINDS_WITHIN: Final = {("u32", "f32"), ("i32", "f32")}
"""Kinds whose every value is one of the other kind as well, and means the same."""

_NO_LONGER: Final = "a call that passes it is refused: the name is unknown now"


def attribute_changes(old: Manifest, new: Manifest) -> Iterator[Change]:
    """What changed in the attributes, their defaults and constraints."""
    names = pair(old.attributes, new.attributes, _unnamed)
    for name in names.removed:
        yield _attribute(name).removed(_attribute_words(old.attributes[name]), _NO_LONGER)
    for name, other in names.renamed.items():
        yield rename("attribute", _attribute(name), _attribute(other))
    for name in names.added:
        item = new.attributes[name]
        if item.required:
            yield _attribute(name).added(_attribute_words(item), "a call without it is refused", "breaking")
        else:
            yield _attribute(name).added(_attribute_words(item), "a call may leave it out", "compatible")
    for name in names.both:
        yield from _attribute_changes(old.attributes[name], new.attributes[name])


def argument_changes(old: Manifest, new: Manifest) -> Iterator[Change]:
    """What changed in the scalar arguments."""
    names = pair(old.args, new.args, lambda item: replace(item, name="", description=""))
    for name in names.removed:
        yield _argument(name).removed(_argument_words(old.args[name]), _NO_LONGER)
    for name, other in names.renamed.items():
        yield rename("argument", _argument(name), _argument(other))
    for name in names.added:
        item = new.args[name]
        if item.required:
            yield _argument(name).added(_argument_words(item), "a call without it is refused", "breaking")
        else:
            yield _argument(name).added(_argument_words(item), "a call may leave it out", "compatible")
    for name in names.both:
        yield from _argument_changes(old.args[name], new.args[name])


def _unnamed(item: Attribute) -> tuple[object, ...]:
    """What an attribute is, whatever its name and description."""
    values = None if item.values is None else tuple(sorted(map(canonical, item.values)))
    return canonical(item.default), item.required, values


def _attribute(name: str) -> Spot:
    return Spot(subject=f"attribute `{name}`", path=("attributes", name))


def _argument(name: str) -> Spot:
    return Spot(subject=f"argument `{name}`", path=("args", name))


def _attribute_changes(old: Attribute, new: Attribute) -> Iterator[Change]:
    spot = _attribute(old.name)
    constraint = Spot(subject=spot.subject, path=("attributeConstraints", old.name))
    if old.required != new.required:
        yield _required_change(constraint, old.required)
    if canonical(old.default) != canonical(new.default) and not new.required:
        yield _default_change(spot, old, new)
    yield from _values_change(constraint.member("values"), old.values, new.values, same_attribute_value)


def _required_change(spot: Spot, was_required: bool) -> Change:
    if was_required:
        return spot.change("compatible", "required", "optional", "a call may leave it out now")
    return spot.change("breaking", "optional", "required", "a call without it is refused")


def _default_change(spot: Spot, old: Attribute, new: Attribute) -> Change:
    before = f"default {words(old.default)}" if old.default is not ABSENT else "no default"
    after = f"default {words(new.default)}" if new.default is not ABSENT else "no default"
    member = spot.member("default")
    if old.default is not ABSENT:
        why = "a call that leaves it out is computed with another value"
        return member.change("breaking", before, after, why)
    if old.required:
        return member.change("compatible", before, after, "no call could leave it out before")
    why = "expressions see a value where a call leaves it out, and saw none"
    return member.change("unknown", before, after, why)


def _values_change(
    spot: Spot, old: Sequence[Json] | None, new: Sequence[Json] | None, same: Callable[[Json, Json], bool]
) -> Iterator[Change]:
    """A change of the values that are allowed; None allows all."""
    if old is None and new is None:
        return
    if new is None:
        yield spot.change("compatible", _listed(old), "any value", "more values are allowed")
    elif old is None:
        yield spot.change("breaking", "any value", _listed(new), "a call with any other value is refused")
    else:
        lost = [value for value in old if not any(same(value, other) for other in new)]
        gained = [value for value in new if not any(same(value, other) for other in old)]
        if lost:
            yield spot.change("breaking", _listed(old), _listed(new), f"a call with {_listed(lost)} is refused")
        elif gained:
            yield spot.change("compatible", _listed(old), _listed(new), "more values are allowed")


def _argument_changes(old: ScalarArg, new: ScalarArg) -> Iterator[Change]:
    spot = _argument(old.name)
    if old.required != new.required:
        yield _required_change(spot.member("required"), old.required)
    if old.kind == new.kind:
        yield from _values_change(spot.member("oneOf"), _texts(old), _texts(new), lambda one, other: one == other)
    elif (old.kind, new.kind) in _KINDS_WITHIN:
        yield spot.member("kind").change("compatible", old.kind, new.kind, f"every {old.kind} is accepted as before")
    else:
        why = f"not every {old.kind} is accepted as {new.kind}"
        yield spot.member("kind").change("breaking", old.kind, new.kind, why)


def _texts(item: ScalarArg) -> tuple[str, ...] | None:
    """The values of a text argument that can be met."""
    return None if item.one_of is None else tuple(value for value in item.one_of if isinstance(value, str))


def _attribute_words(item: Attribute) -> str:
    parts = ["required"] if item.required else []
    parts += [f"default {words(item.default)}"] if item.default is not ABSENT else []
    parts += [f"one of {_listed(item.values)}"] if item.values is not None else []
    return ", ".join(parts) or "optional, no default"


def _argument_words(item: ScalarArg) -> str:
    choice = f", one of {_listed(item.one_of)}" if item.one_of is not None else ""
    return f"{'required' if item.required else 'optional'} {item.kind}{choice}"


def _listed(values: Sequence[Json] | None) -> str:
    return ", ".join(words(value) for value in values or ())
