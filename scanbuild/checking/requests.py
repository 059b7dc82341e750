"""Requests to try a package with: those of its cases, and others around the constants of its conditions.

A request here has shapes and dtypes, no data. Each is made from a *base*, a case's request or one made up from the
declarations, by changing one thing, or two sizes at once.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import islice
from typing import Final, Literal

from jinja2 import nodes

from scanbuild.cases.requests import case_request
from scanbuild.checking.sites import labels_of
from scanbuild.checking.subject import CheckedCase, Subject
from scanbuild.checking.syntax import expression_syntax, member_of
from scanbuild.package.model import ABSENT, Json, Manifest, Port, ScalarArg
from scanbuild.package.vocabulary import LOGICAL_DTYPES
from scanbuild.planning.request import Destination, HostTensor, Request
from scanbuild.planning.types import port_type

MAX_REQUESTS: Final = 400
"""So many requests are made up at most."""

MAX_ELEMENTS: Final = 2**24
_MAX_CONSTANT: Final = 2**20
_MAX_CONSTANTS: Final = 24
_MAX_BASES: Final = 24
_MAX_ADDED: Final = 3
_SMALL: Final = (0, 1, 2, 3)
_SIZES: Final = (4, 6, 8, 2)
_SQUARE: Final = (4, 4, 4, 4)

_FREE: Final = ("float32", "int32", "uint32")
"""What a type variable without a list is tried with."""

Change = Literal["case", "base", "size", "sizes", "dtype", "presence", "added", "wish", "attribute", "argument"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Trial:
    """A request to plan; ``words`` tell how it came about, ``base`` is the one it was made from."""

    request: Request
    words: str
    change: Change
    case: CheckedCase | None = None
    base: "Trial | None" = None

    @property
    def key(self) -> str:
        """Equal for requests that are planned alike."""
        return repr(self.request)

    @property
    def described(self) -> str:
        """The tensors of the request in words."""
        parts = [
            f"{name} {value.dtype}[{', '.join(map(str, value.shape))}]"
            for name, value in self.request.inputs.items()
            if isinstance(value, HostTensor)
        ]
        parts += [f"{name}={value!r}" for name, value in {**self.request.attrs, **self.request.args}.items()]
        return ", ".join(parts) or "no inputs"


def case_trials(subject: Subject) -> list[Trial]:
    """The requests of the cases, those alike once."""
    found: dict[str, Trial] = {}
    for case in subject.cases:
        trial = case_trial(subject, case)
        known = found.get(trial.key)
        if known is None or (known.case is not None and known.case.case.skip is not None):
            found[trial.key] = trial
    return list(found.values())


def case_trial(subject: Subject, case: CheckedCase) -> Trial:
    """The request of a case."""
    request = case_request(case.case, subject.manifest)
    return Trial(request=request, words=case.words, change="case", case=case)


def made_up_trials(subject: Subject, accepted: list[tuple[Trial, str]]) -> list[Trial]:
    """Requests around the constants of the conditions; ``accepted`` are cases, each with the variant that takes it."""
    bases = _bases(accepted) or made_up_bases(subject)[:1]
    constants = constants_of(subject)
    found: dict[str, Trial] = {trial.key: trial for trial in bases if trial.change == "base"}
    taken = {trial.key for trial, _ in accepted}
    streams = [_changed(subject, base, constants) for base in bases]
    while streams and len(found) < MAX_REQUESTS:
        for stream in list(streams):
            pieces = list(islice(stream, 16))
            if not pieces:
                streams.remove(stream)
            for trial in pieces:
                if trial.key not in taken and len(found) < MAX_REQUESTS:
                    found.setdefault(trial.key, trial)
    return list(found.values())


def _bases(accepted: list[tuple[Trial, str]]) -> list[Trial]:
    """Accepted cases, one of each combination of variant, ranks, dtypes and attributes, the smallest of them."""
    found: dict[str, Trial] = {}
    for trial, variant in sorted(accepted, key=lambda item: _elements(item[0].request)):
        if any(0 in value.shape for value in trial.request.inputs.values() if isinstance(value, HostTensor)):
            continue
        ranks = {n: (v.dtype, len(v.shape)) for n, v in trial.request.inputs.items() if isinstance(v, HostTensor)}
        found.setdefault(repr((variant, ranks, sorted(trial.request.attrs.items(), key=repr))), trial)
    return list(found.values())[:_MAX_BASES]


def _elements(request: Request) -> int:
    return sum(math.prod(value.shape) for value in request.inputs.values() if isinstance(value, HostTensor))


def constants_of(subject: Subject) -> list[int]:
    """The whole numbers that conditions, and the derives behind them, mention."""
    found: dict[int, None] = {}
    for site in sorted(subject.sites, key=lambda item: item.use != "clause"):
        if site.use != "clause" and not (site.use == "derive" and site.visible.stage == "manifest"):
            continue
        for node, parent in expression_syntax(site.text).pairs:
            is_index = isinstance(parent, nodes.Getitem) and parent.arg is node
            value = node.value if isinstance(node, nodes.Const) and not is_index else None
            if isinstance(value, int) and 3 < value <= _MAX_CONSTANT:
                found[value] = None
    return list(found)[:_MAX_CONSTANTS]


def made_up_bases(subject: Subject) -> list[Trial]:
    """Requests from the declarations alone: of rank 2 where nothing tells the ranks, squares, then of other ranks."""
    layouts = [(2, _SIZES), (2, _SQUARE), *((rank, _SIZES) for rank in (1, 3, 4, 0))]
    found = [_made_up_base(subject, rank, sizes) for rank, sizes in layouts]
    return list({trial.key: trial for trial in found}.values())


def _made_up_base(subject: Subject, usual_rank: int, sizes: tuple[int, ...]) -> Trial:
    manifest = subject.manifest
    ranks = _ranks(subject)
    inputs = {
        name: HostTensor(shape=sizes[: ranks.get(name, usual_rank)], dtype=_dtypes(manifest, port)[0])
        for name, port in manifest.inputs.items()
        if not port.optional
    }
    attrs: dict[str, Json] = {}
    for name, attribute in manifest.attributes.items():
        if attribute.required:
            attrs[name] = attribute.values[0] if attribute.values else 1
    args = {name: _argument(arg) for name, arg in manifest.args.items() if arg.required}
    outputs: dict[str, Destination] = {
        name: Destination(shape=list(sizes[: ranks.get(name, usual_rank)]), dtype=_dtypes(manifest, port)[0])
        for name, port in manifest.outputs.items()
        if port.shape is ABSENT and not port.optional and name not in inputs
    }
    request = Request(inputs=inputs, attrs=attrs, args=args, outputs=outputs)
    return Trial(request=request, words="a made-up request", change="base")


def _argument(arg: ScalarArg) -> Json:
    if arg.kind == "bool":
        return True
    if arg.kind == "string":
        return arg.one_of[0] if arg.one_of else "1"
    return 1


def _other_arguments(manifest: Manifest, base: Trial) -> Iterator[Trial]:
    """Other values of the scalar arguments that a request gives."""
    for name, arg in manifest.args.items():
        if name not in base.request.args:
            continue
        values: tuple[Json, ...] = tuple(arg.one_of or ()) if arg.kind == "string" else (0, 2)
        if arg.kind == "bool":
            values = (False, True)
        elif arg.kind in ("i32", "f32"):
            values = (0, 2, -1)
        for value in values:
            request = replace(base.request, args={**base.request.args, name: value})
            yield Trial(request=request, words=f"{base.words} with {name} = {value!r}", change="argument", base=base)


def _ranks(subject: Subject) -> dict[str, int]:
    """Ranks as declared, else as conditions want them."""
    ranks: dict[str, int] = {}
    for name, port in subject.manifest.inputs.items():
        if isinstance(port.rank, int) and not isinstance(port.rank, bool) and 0 <= port.rank <= 4:
            ranks[name] = port.rank
    for site in subject.sites:
        for node, _ in expression_syntax(site.text).pairs if site.use == "clause" else ():
            if not isinstance(node, nodes.Compare) or node.ops[0].op != "eq":
                continue
            found, wanted = member_of(node.expr), node.ops[0].expr
            if found is not None and found[0] == "ranks" and isinstance(wanted, nodes.Const):
                value = wanted.value
                if isinstance(value, int) and 0 <= value <= 4:
                    ranks.setdefault(found[1], value)
    return ranks


def _dtypes(manifest: Manifest, port: Port) -> tuple[str, ...]:
    """What the tensor of a port may be stored as."""
    if port.storage is not None:
        return (port.storage,)
    kind = port_type(manifest, port)
    return kind.admitted if kind is not None and kind.admitted else _FREE


def _changed(subject: Subject, base: Trial, constants: list[int]) -> Iterator[Trial]:
    """Variations of a base, the likeliest to tell something first."""
    yield from _other_presence(subject.manifest, base)
    yield from _added(subject, base)
    yield from _other_dtypes(subject.manifest, base)
    yield from _other_attributes(subject.manifest, base)
    yield from _other_arguments(subject.manifest, base)
    groups = _dimension_groups(base.request)
    sizes = list(dict.fromkeys([*_SMALL, *(size for value in constants for size in (value - 1, value, value + 1))]))
    for group in groups:
        for size in sizes:
            yield from _resized(base, ((group, size),), "size")
    for index, one in enumerate(groups):
        for other in groups[index + 1 :]:
            for first in (*constants, *(value + 1 for value in constants)):
                for second in constants:
                    yield from _resized(base, ((one, first), (other, second)), "sizes")
            for value in constants:
                for count in (2, 64, 1000):
                    yield from _resized(base, ((one, count), (other, -(-value // count))), "sizes")


Dimension = tuple[str, int]


def _dimension_groups(request: Request) -> list[tuple[Dimension, ...]]:
    """Dimensions of one size, which probably belong together; then each of them alone."""
    by_size: dict[int, list[Dimension]] = {}
    for name, value in request.inputs.items():
        if isinstance(value, HostTensor):
            for axis, size in enumerate(value.shape):
                by_size.setdefault(size, []).append((name, axis))
    together = [tuple(group) for group in by_size.values()]
    alone = [(item,) for group in together if len(group) > 1 for item in group]
    return [*together, *alone]


def _resized(base: Trial, changes: tuple[tuple[tuple[Dimension, ...], int], ...], change: Change) -> Iterator[Trial]:
    request = base.request
    shapes = {name: list(value.shape) for name, value in request.inputs.items() if isinstance(value, HostTensor)}
    for group, size in changes:
        for name, axis in group:
            shapes[name][axis] = size
    if any(math.prod(shape) > MAX_ELEMENTS for shape in shapes.values()):
        return
    inputs = {
        name: replace(value, shape=tuple(shapes[name])) if isinstance(value, HostTensor) else value
        for name, value in request.inputs.items()
    }
    outputs = {name: _same_size(value, changes, request) for name, value in request.outputs.items()}
    yield Trial(request=replace(request, inputs=inputs, outputs=outputs), words=_words(base), change=change, base=base)


def _same_size(value: object, changes: tuple[tuple[tuple[Dimension, ...], int], ...], request: Request) -> Destination:
    """A destination whose dimensions follow those of the inputs that had their sizes."""
    assert isinstance(value, Destination)
    renamed: dict[int, int] = {}
    for group, size in changes:
        name, axis = group[0]
        tensor = request.inputs[name]
        assert isinstance(tensor, HostTensor)
        renamed[tensor.shape[axis]] = size
    shape = [renamed.get(size, size) for size in value.shape] if isinstance(value.shape, list) else value.shape
    return replace(value, shape=shape)


def _words(base: Trial) -> str:
    return "a request made up around the constants of the conditions" if base.case is None else f"like {base.words}"


def _other_presence(manifest: Manifest, base: Trial) -> Iterator[Trial]:
    inputs: Mapping[str, object] = base.request.inputs
    for name, port in manifest.inputs.items():
        if port.optional and name in inputs:
            left = {other: value for other, value in base.request.inputs.items() if other != name}
            request = replace(base.request, inputs=left)
            yield Trial(request=request, words=f"{base.words} without `{name}`", change="presence", base=base)
    for name, arg in manifest.args.items():
        if not arg.required and name in base.request.args:
            args = {other: value for other, value in base.request.args.items() if other != name}
            request = replace(base.request, args=args)
            yield Trial(request=request, words=f"{base.words} without `{name}`", change="presence", base=base)


def _added(subject: Subject, base: Trial) -> Iterator[Trial]:
    """What is optional and absent, given; its shape is a guess: that of the first tensor, of the rank it needs."""
    manifest, request = subject.manifest, base.request
    ranks = _ranks(subject)
    tensors = [value for value in request.inputs.values() if isinstance(value, HostTensor)]
    like = tensors[0].shape if tensors else (4, 6)
    for name, port in manifest.inputs.items():
        if port.optional and name not in request.inputs:
            rank = ranks.get(name, len(like))
            shape = tuple(like[index] if index < len(like) else 1 for index in range(rank))
            same = [
                v.dtype
                for n, v in request.inputs.items()
                if isinstance(v, HostTensor) and _label(n, manifest) == port.dtype
            ]
            for dtype in same[:1] or _dtypes(manifest, port)[:_MAX_ADDED]:
                changed = replace(request, inputs={**request.inputs, name: HostTensor(shape=shape, dtype=dtype)})
                yield Trial(request=changed, words=f"{base.words} with `{name}`", change="added", base=base)
    for name, port in manifest.outputs.items():
        if name not in request.outputs and name not in request.inputs:
            wish = Destination(shape=list(like), dtype=None if port.optional else _dtypes(manifest, port)[0])
            changed = replace(request, outputs={**request.outputs, name: wish})
            change: Change = "added" if port.optional else "wish"
            yield Trial(request=changed, words=f"{base.words} with `{name}` asked for", change=change, base=base)
    for name, arg in manifest.args.items():
        if not arg.required and name not in request.args:
            changed = replace(request, args={**request.args, name: _argument(arg)})
            yield Trial(request=changed, words=f"{base.words} with `{name}`", change="added", base=base)


def _label(name: str, manifest: Manifest) -> str | None:
    port = manifest.inputs.get(name)
    return None if port is None else port.dtype


def _other_dtypes(manifest: Manifest, base: Trial) -> Iterator[Trial]:
    for label in dict.fromkeys((*manifest.type_constraints, *labels_of(manifest))):
        if label not in manifest.type_constraints and label in LOGICAL_DTYPES:
            continue
        admitted = manifest.type_constraints.get(label, _FREE)
        ports = [name for name, port in manifest.inputs.items() if port.dtype == label and port.storage is None]
        for dtype in dict.fromkeys(admitted):
            inputs = {
                name: replace(value, dtype=dtype) if name in ports and isinstance(value, HostTensor) else value
                for name, value in base.request.inputs.items()
            }
            outputs = {
                name: replace(value, dtype=dtype)
                if isinstance(value, Destination) and name in manifest.outputs and manifest.outputs[name].dtype == label
                else value
                for name, value in base.request.outputs.items()
            }
            request = replace(base.request, inputs=inputs, outputs=outputs)
            yield Trial(request=request, words=f"{base.words} with {label} = {dtype}", change="dtype", base=base)


def _other_attributes(manifest: Manifest, base: Trial) -> Iterator[Trial]:
    for name, attribute in manifest.attributes.items():
        values: list[Json] = list(attribute.values or ())
        if attribute.values is None and isinstance(attribute.default, int) and not isinstance(attribute.default, bool):
            values = [attribute.default, 0, 1, -1]
        for value in values:
            request = replace(base.request, attrs={**base.request.attrs, name: value})
            yield Trial(request=request, words=f"{base.words} with {name} = {value!r}", change="attribute", base=base)
