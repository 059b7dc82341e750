"""From the options of ``scanbuild show`` to the call that it explains, and the device that it is planned for."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final

from scanbuild.cases.requests import case_request
from scanbuild.commands.show_package import Subject
from scanbuild.errors import InputError, Problem, ScanbuildError, raise_if_any
from scanbuild.package.jsonfile import parse_json
from scanbuild.package.model import ABSENT, Json, Manifest
from scanbuild.package.report import nearest, some
from scanbuild.planning.device import DeviceRecord
from scanbuild.planning.dtypes import DTYPES
from scanbuild.planning.profiles import profile, profile_names
from scanbuild.planning.request import Destination, HostTensor, Request
from scanbuild.planning.types import port_type
from scanbuild.publishing.rendering import SourceCase

DEFAULT_DEVICE: Final = "chrome-nvidia"
"""The built-in profile with the most features and the largest limits: there the first choices of a kernel show."""

SHAPE_FORM: Final = "SHAPE is 2x3, or float16[2x3] with a dtype, or scalar for no dimensions"

_ITEM: Final = re.compile(r"(?P<name>[^=,\[\]]*)(?:=(?P<value>[^,\[\]]*(?:\[[^\]]*\])?[^,]*))?")
_SHAPE: Final = re.compile(r"(?:(?P<dtype>\w+)\[(?P<inner>[^\]]*)\]|(?P<bare>[^\[\]]*))\Z", re.ASCII)
_DIMS: Final = re.compile(r"\d{1,15}(?:x\d{1,15})*\Z", re.ASCII)
_MOST_NAMES: Final = 8


@dataclass(frozen=True, kw_only=True, slots=True)
class Wanted:
    """The options as given: lists of ``name=value``, several of them in one text if commas part them."""

    case: str | None = None
    shapes: tuple[str, ...] = ()
    dtypes: tuple[str, ...] = ()
    attrs: tuple[str, ...] = ()
    args: tuple[str, ...] = ()
    outputs: tuple[str, ...] = ()
    variant: str | None = None
    device: str = DEFAULT_DEVICE

    @property
    def is_call(self) -> bool:
        """Whether a call is to be explained, rather than the package."""
        return self.case is not None or bool(self.shapes or self.dtypes or self.attrs or self.args or self.outputs)


@dataclass(frozen=True, kw_only=True, slots=True)
class Call:
    """The call to explain, and in words what it is. ``assumed`` are the dtypes that nothing decides, by port."""

    request: Request
    described: str
    assumed: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Shape:
    dtype: str | None
    dims: tuple[int, ...]


class RequestReader:
    """Reads the options against a manifest, and gathers what is wrong with any of them."""

    def __init__(self, subject: Subject, wanted: Wanted) -> None:
        self.subject = subject
        self.manifest: Manifest = subject.manifest
        self.wanted = wanted
        self.problems: list[Problem] = []

    def device(self) -> tuple[str, DeviceRecord]:
        """The device of ``--device``; that of the default where there is none."""
        try:
            return find_device(self.wanted.device)
        except ScanbuildError as error:
            self.problems += error.problems
            return DEFAULT_DEVICE, profile(DEFAULT_DEVICE)

    def variant(self) -> str | None:
        """The variant of ``--variant``."""
        name = self.wanted.variant
        if name is not None:
            self._known("variant", name, [item.id for item in self.manifest.variants])
        return name

    def call(self) -> Call | None:
        """The call that the options describe; None if they describe none."""
        if not self.wanted.is_call:
            return None
        ports = [*self.manifest.inputs, *self.manifest.outputs]
        shapes = dict(self._shapes("--shapes", self.wanted.shapes, "input", ports))
        dtypes = dict(self._dtypes())
        attrs = dict(self._values("--attr", self.wanted.attrs, "attribute", list(self.manifest.attributes)))
        args = dict(self._values("--arg", self.wanted.args, "argument", list(self.manifest.args)))
        outputs = dict(self._outputs())
        base = Request()
        described = "a call"
        if self.wanted.case is not None:
            item = self._case(self.wanted.case)
            if item is not None:
                base, described = case_request(item.case, self.manifest), f"case {item.case.name} of {item.file}"
                changed = shapes or dtypes or attrs or args or outputs
                described += ", changed" if changed else ""
        else:
            self._check_required(shapes)
            self._check_scalars(attrs, args)
        tensors, assumed = self._tensors(base, shapes, dtypes)
        request = Request(
            inputs=tensors,
            attrs={**base.attrs, **attrs},
            args={**base.args, **args},
            outputs={**base.outputs, **outputs},
        )
        return Call(request=request, described=described, assumed=assumed)

    def finish(self) -> None:
        """Raise InputError with all that is wrong."""
        raise_if_any(self.problems, InputError)

    def _fail(self, message: str, hint: str = "") -> None:
        self.problems.append(Problem(message=message, hint=hint, rule="option", stage="own"))

    def _known(self, what: str, name: str, names: Sequence[str]) -> bool:
        if name in names:
            return True
        known = f"there is {listing(names)}" if names else f"the kernel has no {what}s"
        self._fail(f"the kernel has no {what} {name!r}", nearest(name, names) or known)
        return False

    def _case(self, name: str) -> SourceCase | None:
        found = [item for item in self.subject.cases if item.case.name == name]
        if found:
            return found[0]
        names = [item.case.name for item in self.subject.cases]
        close = get_close_matches(name, names, n=3) or [known for known in names if name in known][:3]
        if not names:
            hint = "describe the call with --shapes"
        elif close:
            hint = f"did you mean {' or '.join(close)}?"
        else:
            hint = f"there are {listing(names)}"
        self._fail(f"the package has no case {name!r}", hint)
        return None

    def _items(self, option: str, texts: Iterable[str], form: str) -> Iterator[tuple[str, str | None]]:
        seen: set[str] = set()
        for text in texts:
            for match in split_items(text):
                if match is None or not match[0]:
                    self._fail(f"{option} {text}: expected {form}")
                    break
                if match[0] in seen:
                    self._fail(f"{option}: {match[0]!r} is given twice")
                seen.add(match[0])
                yield match

    def _shapes(
        self, option: str, texts: Iterable[str], what: str, names: Sequence[str]
    ) -> Iterator[tuple[str, _Shape]]:
        for name, value in self._items(option, texts, "NAME=SHAPE"):
            known = self._known(what, name, names)
            if value is None:
                self._fail(f"{option} {name}: a shape is missing: {name}=2x3", SHAPE_FORM)
                continue
            shape = self._shape(f"{option} {name}={value}", value)
            if known and shape is not None:
                yield name, shape

    def _shape(self, words: str, text: str) -> _Shape | None:
        match = _SHAPE.match(text.strip())
        dims = (match["bare"] if match["dtype"] is None else match["inner"]).strip() if match else None
        if match is None or dims is None or not (dims in ("", "scalar") or _DIMS.match(dims)):
            self._fail(f"{words}: this is no shape", SHAPE_FORM)
            return None
        if match["dtype"] is not None and not self._dtype(words, match["dtype"]):
            return None
        sizes = () if dims in ("", "scalar") else tuple(int(size) for size in dims.split("x"))
        return _Shape(match["dtype"], sizes)

    def _dtype(self, words: str, name: str) -> bool:
        if name in DTYPES:
            return True
        self._fail(f"{words}: there is no dtype {name!r}", nearest(name, DTYPES) or f"one of {', '.join(DTYPES)}")
        return False

    def _dtypes(self) -> Iterator[tuple[str, str]]:
        names = [*self.manifest.inputs, *self.manifest.outputs]
        for name, value in self._items("--dtype", self.wanted.dtypes, "NAME=DTYPE"):
            if self._known("input", name, names) and self._dtype(f"--dtype {name}={value or ''}", value or ""):
                yield name, value or ""

    def _outputs(self) -> Iterator[tuple[str, Destination]]:
        given = list(self._items("--output", self.wanted.outputs, "NAME, or NAME=SHAPE"))
        shaped = [f"{name}={value}" for name, value in given if value is not None]
        for name, value in given:
            if value is None and self._known("output", name, list(self.manifest.outputs)):
                if self.manifest.outputs[name].shape is ABSENT:
                    self._fail(f"--output {name}: the manifest gives it no shape: {name}=2x3", SHAPE_FORM)
                yield name, Destination(shape=[])
        for name, shape in self._shapes("--output", shaped, "output", list(self.manifest.outputs)):
            yield name, Destination(shape=list(shape.dims), dtype=shape.dtype)

    def _values(self, option: str, texts: Iterable[str], what: str, names: Sequence[str]) -> Iterator[tuple[str, Json]]:
        """Values as JSON, or as texts where they are none; commas belong to the value."""
        for text in texts:
            name, equals, value = text.partition("=")
            if not name or not equals:
                self._fail(f"{option} {text}: expected NAME=VALUE", "VALUE is JSON, or else a text")
            elif self._known(what, name, names):
                yield name, _json_or_text(value)

    def _check_required(self, shapes: Mapping[str, _Shape]) -> None:
        if any("--shapes" in problem.message for problem in self.problems):
            return
        missing = [
            name
            for name, port in self.manifest.inputs.items()
            if not port.optional and name not in shapes and name not in self.manifest.outputs
        ]
        if missing:
            example = ",".join(f"{name}=2x3" for name in missing)
            self._fail(f"the call lacks {listing(missing)}", f"give shapes: --shapes {example}")

    def _check_scalars(self, attrs: Mapping[str, Json], args: Mapping[str, Json]) -> None:
        """The loader would name only the first that is missing."""
        required = {
            "--attr": [name for name, item in self.manifest.attributes.items() if item.required and name not in attrs],
            "--arg": [name for name, item in self.manifest.args.items() if item.required and name not in args],
        }
        for option, names in required.items():
            if names and not any(option in problem.message for problem in self.problems):
                hint = " ".join(f"{option} {name}=VALUE" for name in names)
                self._fail(f"the call lacks {listing(names)}", hint)

    def _tensors(
        self, base: Request, shapes: Mapping[str, _Shape], dtypes: Mapping[str, str]
    ) -> tuple[dict[str, Any], dict[str, str]]:
        """The tensors of the call, without data, and the dtypes that were assumed."""
        tensors: dict[str, Any] = dict(base.inputs)
        assumed: dict[str, str] = {}
        chosen = {name: tensor.dtype for name, tensor in tensors.items() if isinstance(tensor, HostTensor)}
        chosen |= {name: shape.dtype for name, shape in shapes.items() if shape.dtype is not None} | dict(dtypes)
        for name, shape in shapes.items():
            dtype = chosen.get(name)
            if dtype is None:
                dtype, is_guess = self._default_dtype(name, chosen)
                assumed |= {name: dtype} if is_guess else {}
            tensors[name] = HostTensor(shape=shape.dims, dtype=dtype)
        for name, dtype in dtypes.items():
            if name in tensors:
                tensors[name] = HostTensor(shape=tensors[name].shape, dtype=dtype)
            elif not self.problems:
                self._fail(f"--dtype {name}={dtype}: the call has no such tensor", "give its shape with --shapes")
        return tensors, assumed

    def _default_dtype(self, name: str, chosen: Mapping[str, str | None]) -> tuple[str, bool]:
        """The dtype of a port that was given none, and whether it is a guess: its own; that of its label elsewhere;
        the first that it admits."""
        manifest = self.manifest
        kind = port_type(manifest, manifest.inputs.get(name) or manifest.outputs[name])
        if kind is None:
            return "float32", True
        for other, dtype in chosen.items():
            port = manifest.inputs.get(other) or manifest.outputs.get(other)
            if dtype is not None and port is not None and port.dtype == kind.label:
                return dtype, False
        admitted = tuple(dict.fromkeys(kind.admitted or ()))
        return (admitted[0] if admitted else "float32"), len(admitted) != 1


def split_items(text: str) -> Iterator[tuple[str, str | None] | None]:
    """``name=value`` pairs that commas part, commas in brackets not; None where the text goes on otherwise."""
    position = 0
    while True:
        match = _ITEM.match(text, position)
        assert match is not None, "the pattern matches everywhere"
        yield match["name"].strip(), None if match["value"] is None else match["value"].strip()
        position = match.end()
        if position == len(text):
            return
        if text[position] != ",":
            yield None
            return
        position += 1


def _json_or_text(value: str) -> Json:
    try:
        found: Json = json.loads(value)
    except (ValueError, RecursionError):
        return value
    return found


def listing(names: Iterable[str]) -> str:
    """Some names, and how many more there are."""
    return some(names, _MOST_NAMES)


def find_device(name: str) -> tuple[str, DeviceRecord]:
    """A built-in profile, or the device record in a JSON file, with what to call it. InputError if it is neither."""
    if name in profile_names():
        return name, profile(name)
    file = Path(name)
    if not file.is_file():
        hint = nearest(name, profile_names()) or f"there are {', '.join(profile_names())}"
        raise InputError(
            Problem(message=f"there is no device profile and no file {name!r}", hint=hint, rule="option", stage="own")
        )
    text = file.read_text(encoding="utf-8", errors="replace")
    try:
        return name, DeviceRecord.from_json(parse_json(text, name))
    except InputError as error:
        raise InputError(*(problem if problem.file else problem.at(name) for problem in error.problems)) from None
