"""Changes of dtypes: what inputs accept, which ports have to agree, what outputs are (7.3, 8.3)."""

from collections.abc import Iterator, Mapping
from itertools import combinations, islice, product
from typing import Final

from scanbuild.package.contract import admitted
from scanbuild.package.model import Manifest, Port
from scanbuild.package.vocabulary import LOGICAL_DTYPES
from scanbuild.publishing.contract_change import Change, Spot

_MOST_CALLS: Final = 2000
"""So many combinations of dtypes are looked at; real packages have a few dozen."""

_BY_CODE: Final = "as attribute `to` says"
"""The dtype of an output that a code in a required attribute picks; it may be one that the output does not admit."""

_UNTYPED: Final = frozenset(LOGICAL_DTYPES) - {"int64"}
"""What a port takes that has no dtype, or an undeclared variable: host data may be anything but int64 (7.2)."""


def type_changes(old: Manifest, new: Manifest) -> Iterator[Change]:
    """What changed in the dtypes of the ports that both manifests have."""
    shared = _shared_variables(old, new)
    for name in shared:
        before, after = old.type_constraints[name], new.type_constraints[name]
        ports = ", ".join(f"`{port}`" for port in _ports_of(old, name))
        spot = Spot(subject=f"type `{name}`", path=("typeConstraints", name))
        yield from _dtypes_change(spot, frozenset(before), frozenset(after), f" for {ports}")
    for name, port in old.inputs.items():
        if name in new.inputs and not (port.dtype in shared and new.inputs[name].dtype == port.dtype):
            spot = input_spot(name).member("dtype")
            yield from _dtypes_change(spot, accepted(old, port), accepted(new, new.inputs[name]))
    for name in (item for item in old.inputs if item in new.inputs):
        yield from _storage_changes(input_spot(name), old, new, old.inputs[name], new.inputs[name])
    for name in (item for item in old.outputs if item in new.outputs):
        yield from _storage_changes(output_spot(name), old, new, old.outputs[name], new.outputs[name])
    yield from _agreements(old, new)
    yield from _output_changes(old, new)
    yield from _output_ties(old, new)


def input_spot(name: str) -> Spot:
    """An input, as changes name it."""
    return Spot(subject=f"input `{name}`", path=("inputs", name))


def output_spot(name: str) -> Spot:
    """An output, as changes name it."""
    return Spot(subject=f"output `{name}`", path=("outputs", name))


def accepted(manifest: Manifest, port: Port) -> frozenset[str]:
    """The logical dtypes of the tensors that a port takes."""
    dtypes = admitted(port.dtype, manifest.type_constraints)
    return _UNTYPED if dtypes is None else frozenset(dtypes)


def dtype_words(manifest: Manifest, port: Port) -> str:
    """What a port's dtype is, for a message."""
    return _listed(accepted(manifest, port))


def is_undecided(old: Manifest, new: Manifest, name: str) -> bool:
    """Whether a call of the old contract leaves open of which dtype an output of the new one is."""
    if _shares_no_call(old, new):
        return False
    known = ({port: dtype for port, dtype in call.items() if port in new.inputs} for call in _calls(old))
    return any(_output_dtype(new, name, call) in (None, _BY_CODE) for call in known if _takes(new, call))


def _shares_no_call(old: Manifest, new: Manifest) -> bool:
    """Whether every old call lacks an input; what else it would come to does not matter then."""
    return any(name not in old.inputs for name, port in new.inputs.items() if not port.optional)


def _shared_variables(old: Manifest, new: Manifest) -> list[str]:
    """The declared variables that some port has for its dtype in both manifests: one change tells it for all."""
    return [
        name
        for name in old.type_constraints
        if name in new.type_constraints
        and name not in LOGICAL_DTYPES
        and set(_ports_of(old, name)) & set(_ports_of(new, name))
    ]


def _ports_of(manifest: Manifest, variable: str) -> list[str]:
    ports = {**manifest.inputs, **manifest.outputs}
    return [name for name, port in ports.items() if port.dtype == variable]


def _dtypes_change(spot: Spot, old: frozenset[str], new: frozenset[str], where: str = "") -> Iterator[Change]:
    lost, gained = old - new, new - old
    if lost:
        why = f"a call with {_listed(lost)}{where} is refused"
        yield spot.change("breaking", _listed(old), _listed(new), why)
    elif gained:
        yield spot.change("compatible", _listed(old), _listed(new), f"accepted, too: {_listed(gained)}")


def _storage_changes(spot: Spot, old: Manifest, new: Manifest, one: Port, other: Port) -> Iterator[Change]:
    """Changes of how an int64 is kept, which shows in the range of its values and in results that stay on the GPU."""
    if not (accepted(old, one) == accepted(new, other) == {"int64"}):
        return
    before, after = one.storage or "int64", other.storage or "int64"
    if before != after:
        why = "values beyond the narrower range are refused or changed, and tensors on the GPU no longer fit"
        yield spot.member("storage").change("breaking", before, after, why)
    elif one.narrowing == "saturating" and other.narrowing == "checked":
        why = "a value beyond the range was clamped, and is refused now"
        yield spot.member("narrowing").change("breaking", "saturating", "checked", why)
    elif one.narrowing == "checked" and other.narrowing == "saturating":
        why = "a value beyond the range was refused, and is clamped now"
        yield spot.member("narrowing").change("compatible", "checked", "saturating", why)


def _agreements(old: Manifest, new: Manifest) -> Iterator[Change]:
    """Inputs that have to be of one dtype, and had not; and the reverse."""
    for before, after, is_new in ((old, new, True), (new, old, False)):
        for label in dict.fromkeys(port.dtype for port in after.inputs.values()):
            if label is None or label in LOGICAL_DTYPES or label not in after.type_constraints:
                continue
            names = [name for name, port in after.inputs.items() if port.dtype == label and name in before.inputs]
            if len(set(after.type_constraints[label])) < 2 or len({_group(before, name) for name in names}) < 2:
                continue
            spot = Spot(
                subject=f"inputs {', '.join(f'`{name}`' for name in names)}", path=("inputs", names[0], "dtype")
            )
            if is_new:
                yield spot.change(
                    "breaking", "may differ in dtype", "of one dtype", "a call that mixes dtypes is refused"
                )
            else:
                yield spot.change("compatible", "of one dtype", "may differ in dtype", "a call may mix dtypes")


def _group(manifest: Manifest, name: str) -> tuple[str, str]:
    """Equal for inputs that always are of one dtype."""
    port = manifest.inputs[name]
    dtypes = accepted(manifest, port)
    if len(dtypes) == 1:
        return "dtype", next(iter(dtypes))
    declared = port.dtype is not None and port.dtype in manifest.type_constraints
    return ("label", port.dtype or "") if declared else ("port", name)


def _output_changes(old: Manifest, new: Manifest) -> Iterator[Change]:
    """Outputs whose dtype differs for a call that both manifests take."""
    if _shares_no_call(old, new):
        return
    seen = ((call, {name: call[name] for name in call if name in new.inputs}) for call in _calls(old))
    calls = [(before, after) for before, after in seen if _takes(new, after)]
    for name in (item for item in old.outputs if item in new.outputs):
        spot = output_spot(name).member("dtype")
        for one, other in calls:
            before, after = _output_dtype(old, name, one), _output_dtype(new, name, other)
            if before != after:
                how = ", ".join(f"`{port}` of {dtype}" for port, dtype in one.items())
                why = f"a call{' with ' + how if how else ''} gets another dtype, or none"
                yield spot.change("breaking", before or "up to the caller", after or "up to the caller", why)
                break
        else:
            yield from _destination_change(spot, old, new, name, calls)


def _output_ties(old: Manifest, new: Manifest) -> Iterator[Change]:
    """Outputs of which one's destination tells the other's dtype, and did not; and the reverse."""
    both = [name for name in old.outputs if name in new.outputs]
    for one, other in combinations(both, 2):
        ties = [
            _free_label(item, one) is not None and _free_label(item, one) == _free_label(item, other)
            for item in (old, new)
        ]
        if ties[0] != ties[1]:
            spot = Spot(subject=f"outputs `{one}`, `{other}`", path=("outputs", one, "dtype"))
            before, after = ("of one dtype" if tied else "each of its own dtype" for tied in ties)
            why = "a destination for one of them may tell the dtype of both; see if callers pass any"
            yield spot.change("unknown", before, after, why)


def _free_label(manifest: Manifest, name: str) -> str | None:
    """The type variable of an output, where it may be a destination that tells its dtype."""
    label = manifest.outputs[name].dtype
    bound = any(port.dtype == label for port in manifest.inputs.values() if not port.optional)
    single = len(set(manifest.type_constraints.get(label or "", ()))) == 1
    return None if label in LOGICAL_DTYPES or bound or single else label


def _destination_change(
    spot: Spot, old: Manifest, new: Manifest, name: str, calls: list[tuple[dict[str, str], dict[str, str]]]
) -> Iterator[Change]:
    """A change of the dtypes that the destination for an output may have, or stands for if it names none."""
    before, after = old.outputs[name], new.outputs[name]
    lists = accepted(old, before), accepted(new, after)
    # What the list of a variable lost or gained is told of the variable.
    told = lists[0] ^ lists[1] if before.dtype == after.dtype else frozenset()
    asked = [(_askable(old, before, one), _askable(new, after, other)) for one, other in calls]
    lost = frozenset().union(*(one - other for one, other in asked)) - told
    wishes = [(_wished_dtype(old, before, one), _wished_dtype(new, after, other)) for one, other in calls]
    missed = [(one, other) for one, other in wishes if one is not None and one != other and one not in told]
    words = _listed(lists[0]), _listed(lists[1])
    if lost:
        words = words if words[0] != words[1] else ("up to the caller", "as the inputs")
        yield spot.change("breaking", *words, f"a call with a destination of {_listed(lost)} may be refused")
    elif missed:
        why = "a call with a destination that names no dtype asks for another, or for none that is admitted"
        yield spot.change("breaking", missed[0][0] or "", missed[0][1] or "up to the caller", why)
    elif frozenset().union(*(other - one for one, other in asked)) - told:
        yield spot.change("compatible", *words, "a destination may have more dtypes")


def _askable(manifest: Manifest, port: Port, given: Mapping[str, str]) -> frozenset[str]:
    """The dtypes that a destination for an output may have beside inputs of these dtypes."""
    if port.dtype in manifest.type_constraints and port.dtype not in LOGICAL_DTYPES:
        solved = [dtype for name, dtype in given.items() if manifest.inputs[name].dtype == port.dtype]
        if solved:
            return frozenset(solved)
    return accepted(manifest, port)


def _calls(manifest: Manifest) -> Iterator[dict[str, str]]:
    """Dtypes that a call may give the inputs: with all of them, and with the required ones alone."""
    required = {name: port for name, port in manifest.inputs.items() if not port.optional}
    for ports in (manifest.inputs, required) if len(required) < len(manifest.inputs) else (manifest.inputs,):
        labels = {_group(manifest, name): sorted(accepted(manifest, port)) for name, port in ports.items()}
        for chosen in islice(product(*labels.values()), _MOST_CALLS):
            given = dict(zip(labels, chosen, strict=True))
            yield {name: given[_group(manifest, name)] for name in ports}


def _takes(manifest: Manifest, given: Mapping[str, str]) -> bool:
    """Whether a call with inputs of these dtypes fits the ports."""
    solved: dict[tuple[str, str], str] = {}
    for name, dtype in given.items():
        fits = dtype in accepted(manifest, manifest.inputs[name])
        if not fits or solved.setdefault(_group(manifest, name), dtype) != dtype:
            return False
    return True


def _output_dtype(manifest: Manifest, name: str, given: Mapping[str, str]) -> str | None:
    """The dtype of an output for inputs of these dtypes (8.3); None where the caller has to tell."""
    port = manifest.outputs[name]
    if name in given:
        return given[name]
    if port.dtype is None:
        return "float32"
    if port.dtype in LOGICAL_DTYPES:
        return port.dtype
    solved = [dtype for other, dtype in given.items() if manifest.inputs[other].dtype == port.dtype]
    if solved:
        return solved[-1]
    dtypes = admitted(port.dtype, manifest.type_constraints)
    single = dtypes[0] if dtypes is not None and len(dtypes) == 1 else None
    if single is not None and port.storage is not None:
        return single
    attribute = manifest.attributes.get("to")
    if manifest.domain == "ai.onnx" and attribute is not None and attribute.required:
        return _BY_CODE
    if single is not None:
        return single
    return next(
        (given[other] for other in manifest.inputs if other in given and (dtypes is None or given[other] in dtypes)),
        None,
    )


def _wished_dtype(manifest: Manifest, port: Port, given: Mapping[str, str]) -> str | None:
    """What a destination asks for that has a shape and no dtype (8.3); None where such a call is refused."""
    if port.storage is not None:
        return port.storage
    if port.dtype is None:
        return "float32"
    dtypes = admitted(port.dtype, manifest.type_constraints)
    if dtypes is None or len(dtypes) == 1:
        return dtypes[0] if dtypes is not None else None
    bound = (given[name] for name, item in manifest.inputs.items() if item.dtype == port.dtype and name in given)
    wished = next(bound, "float32")
    return wished if wished in dtypes else None


def _listed(dtypes: frozenset[str]) -> str:
    if dtypes == _UNTYPED:
        return "any dtype"
    return ", ".join(dtype for dtype in LOGICAL_DTYPES if dtype in dtypes)
