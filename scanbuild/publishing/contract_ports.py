"""Changes of inputs and outputs: which there are, which may be left out, ranks and shapes (2.3, 8.3).

Callers name ports, so that their order has no meaning of its own; where it decides the dtype of an output,
``contract_types`` sees it.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from scanbuild.package.model import ABSENT, Json, Manifest, Port
from scanbuild.publishing.contract_change import Change, Kind, Spot, canonical, pair, rename, words
from scanbuild.publishing.contract_meaning import meaning
from scanbuild.publishing.contract_types import dtype_words, input_spot, is_undecided, output_spot

_ROLES: Final = {
    (True, True): "input and output in one",
    (True, False): "an input",
    (False, True): "an output",
    (False, False): "",
}
_INOUT: Final = _ROLES[True, True]
_ALIASES: Final = {
    ("an input", _INOUT): "the caller's tensor is overwritten, where it was only read",
    ("an output", _INOUT): "what a destination holds is read, where it was only written",
    (_INOUT, "an input"): "a caller who passes a tensor no longer gets it back changed",
    (_INOUT, "an output"): "the tensor that a caller passes is no longer read",
}


def port_changes(old: Manifest, new: Manifest) -> Iterator[Change]:
    """What changed in the ports, dtypes apart."""
    yield from _input_changes(old, new)
    yield from _output_changes(old, new)
    yield from _alias_changes(old, new)


def is_left_to_shapes(change: Change) -> bool:
    """Whether a change is one of an output's shape, of which only the shapes of results tell what it means."""
    of_output = change.subject.startswith("output ") and (change.new_path or "").endswith((".shape", ".rank"))
    return change.kind == "unknown" and of_output


def _input_changes(old: Manifest, new: Manifest) -> Iterator[Change]:
    aliased = _aliased(old, new)
    names = pair(old.inputs, new.inputs, _unnamed)
    for name in (item for item in names.removed if item not in aliased):
        unknown = "a call that passes it is refused: the name is unknown now"
        why = "what a call passes is not read: it is an output now" if name in new.outputs else unknown
        yield input_spot(name).removed(_port_words(old, old.inputs[name]), why)
    for name, other in names.renamed.items():
        yield rename("input", input_spot(name), input_spot(other))
    for name in (item for item in names.added if item not in aliased):
        port = new.inputs[name]
        after = _port_words(new, port)
        if port.optional:
            yield input_spot(name).added(after, "a call may leave it out", "compatible")
        else:
            yield input_spot(name).added(after, "a call without it is refused", "breaking")
    for name in names.both:
        before, now = old.inputs[name], new.inputs[name]
        spot = input_spot(name)
        if before.optional and not now.optional:
            yield spot.member("optional").change("breaking", "optional", "required", "a call without it is refused")
        elif now.optional and not before.optional:
            yield spot.member("optional").change("compatible", "required", "optional", "a call may leave it out now")
        yield from _layout_change(spot.member("layout"), old, new, name)
        yield from _input_rank(spot.member("rank"), before, now)
        yield from _input_shape(spot.member("shape"), before, now)


def _layout_change(spot: Spot, old: Manifest, new: Manifest, name: str) -> Iterator[Change]:
    before, after = (("packed" if item.inputs[name].packed else "widened") for item in (old, new))
    if before == after:
        return
    if after == "packed":
        why = "it takes host data alone: a call with a result that stayed on the GPU is refused"
        yield spot.change("breaking", before, after, why)
    elif name in old.outputs:
        why = "a packed tensor that stayed on the GPU no longer fits"
        yield spot.change("breaking", before, after, why)
    else:
        yield spot.change(
            "compatible", before, after, "host data is taken as before, results on the GPU are taken, too"
        )


def _input_rank(spot: Spot, old: Port, new: Port) -> Iterator[Change]:
    if canonical(old.rank) == canonical(new.rank):
        return
    before, after = words(old.rank) or "any", words(new.rank) or "any"
    if new.rank is ABSENT:
        yield spot.change("compatible", before, after, "no rank is promised any more")
    elif old.rank is ABSENT:
        why = "the loader does not enforce a declared rank; see if the kernel took others before"
        yield spot.change("unknown", before, after, why)
    else:
        yield spot.change("breaking", before, after, "the kernel is made for tensors of another rank")


def _input_shape(spot: Spot, old: Port, new: Port) -> Iterator[Change]:
    if canonical(old.shape) == canonical(new.shape):
        return
    kind: Kind = "compatible" if new.shape is ABSENT else "unknown"
    why = "the loader ignores the shape of an input; see if the kernel expects other tensors"
    yield spot.change(kind, words(old.shape) or "none", words(new.shape) or "none", why)


def _output_changes(old: Manifest, new: Manifest) -> Iterator[Change]:
    aliased = _aliased(old, new)
    names = pair(old.outputs, new.outputs, _unnamed)
    for name in (item for item in names.removed if item not in aliased):
        yield output_spot(name).removed(_output_words(old, name), "a caller who reads it gets nothing")
    for name, other in names.renamed.items():
        yield rename("output", output_spot(name), output_spot(other))
    for name in (item for item in names.added if item not in aliased):
        yield _output_added(old, new, name)
    for name in names.both:
        before, now = old.outputs[name], new.outputs[name]
        spot = output_spot(name)
        yield from _output_optionality(spot.member("optional"), old, new, name)
        yield from _output_rank(spot.member("rank"), before, now)
        yield from _output_shape(spot.member("shape"), old, new, name)


def _output_added(old: Manifest, new: Manifest, name: str) -> Change:
    port = new.outputs[name]
    spot, after = output_spot(name), _output_words(new, name)
    if not port.optional and port.shape is ABSENT and name not in new.inputs:
        return spot.added(after, "it has no shape, so a call without a destination for it is refused", "breaking")
    if not port.optional and is_undecided(old, new, name):
        return spot.added(
            after, "nothing tells its dtype, so a call without a destination for it is refused", "breaking"
        )
    return spot.added(after, "callers who do not know it are answered as before", "compatible")


def _output_optionality(spot: Spot, old: Manifest, new: Manifest, name: str) -> Iterator[Change]:
    port = new.outputs[name]
    if old.outputs[name].optional == port.optional:
        return
    if port.optional:
        why = "a call that does not ask for it no longer gets it"
        yield spot.change("breaking", "always given", "given if asked for", why)
    elif port.shape is ABSENT or is_undecided(old, new, name):
        what = "shape" if port.shape is ABSENT else "dtype"
        why = f"nothing tells its {what}, so a call without a destination is refused"
        yield spot.change("breaking", "given if asked for", "always given", why)
    else:
        why = "who asks for it gets it as before"
        yield spot.change("compatible", "given if asked for", "always given", why)


def _output_rank(spot: Spot, old: Port, new: Port) -> Iterator[Change]:
    if canonical(old.rank) == canonical(new.rank):
        return
    before, after = words(old.rank) or "any", words(new.rank) or "any"
    if old.rank is ABSENT:
        yield spot.change("compatible", before, after, "a rank is promised that was not")
    elif new.rank is ABSENT:
        yield spot.change("unknown", before, after, "no rank is promised any more; see if results have others now")
    else:
        yield spot.change("breaking", before, after, "results have another rank")


def _output_shape(spot: Spot, old: Manifest, new: Manifest, name: str) -> Iterator[Change]:
    one, other = old.outputs[name].shape, new.outputs[name].shape
    before, after = words(one) or "by the destination", words(other) or "by the destination"
    if one is ABSENT or other is ABSENT:
        if one is ABSENT and other is ABSENT:
            return
        if other is ABSENT and name not in new.inputs:
            yield spot.change("breaking", before, after, "a call without a destination for it is refused")
        else:
            yield spot.change("unknown", before, after, "the shape is found in another way")
        return
    if meaning(one, old) == meaning(other, new):
        return
    if canonical(one) == canonical(other):
        yield spot.change("unknown", before, f"{after}, with other derives", "what the expression refers to changed")
    elif _differ_for_certain(one, other):
        yield spot.change("breaking", before, after, "results have another shape")
    else:
        yield spot.change("unknown", before, after, "the expression changed; only calls tell if its values did")


def _differ_for_certain(old: Json, new: Json) -> bool:
    """Whether two shapes cannot be equal: other ranks, or other sizes in figures."""
    if not isinstance(old, list) or not isinstance(new, list):
        return False
    if len(old) != len(new):
        return True
    figures = ((one, other) for one, other in zip(old, new, strict=True) if _is_size(one) and _is_size(other))
    return any(one != other for one, other in figures)


def _is_size(value: Json) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _alias_changes(old: Manifest, new: Manifest) -> Iterator[Change]:
    """Ports that became, or no longer are, input and output in one (inout): a tensor that the call changes in place."""
    for name in _aliased(old, new):
        side = "inputs" if name in old.inputs and name in new.inputs else "outputs"
        before, after = _role(old, name), _role(new, name)
        spot = Spot(subject=f"port `{name}`", path=(side, name))
        yield spot.change("breaking", before, after, _ALIASES[before, after])


def _aliased(old: Manifest, new: Manifest) -> list[str]:
    """The names of those ports: they are neither removed nor added."""
    return [name for name in {**old.inputs, **old.outputs} if (_role(old, name), _role(new, name)) in _ALIASES]


def _role(manifest: Manifest, name: str) -> str:
    return _ROLES[name in manifest.inputs, name in manifest.outputs]


def _unnamed(port: Port) -> object:
    """What a port is, whatever its name, its description and its name in ONNX."""
    plain = replace(port, name="", description="", onnx=None, shape=ABSENT, rank=ABSENT)
    return plain, canonical(port.shape), canonical(port.rank)


def _output_words(manifest: Manifest, name: str) -> str:
    port = manifest.outputs[name]
    return f"{'given if asked for' if port.optional else 'always given'}, {dtype_words(manifest, port)}"


def _port_words(manifest: Manifest, port: Port) -> str:
    return f"{'optional' if port.optional else 'required'}, {dtype_words(manifest, port)}"
