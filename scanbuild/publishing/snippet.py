"""The JavaScript that a kernel card shows: one call of the kernel that the loader accepts."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from math import prod

from scanbuild.package.model import ABSENT, Json, Manifest, Port

ARRAY_CLASSES = {
    "float16": "Uint16Array",
    "float32": "Float32Array",
    "int8": "Int8Array",
    "int16": "Int16Array",
    "int32": "Int32Array",
    "int64": "BigInt64Array",
    "uint8": "Uint8Array",
    "uint32": "Uint32Array",
    "bool": "Uint8Array",
}
"""The class whose data the loader takes for a dtype; ``bool`` has none of its own and must be named besides."""

# Reserved words, words that strict code forbids as names, and the names that the snippet itself uses.
_WORDS = """arguments await break case catch class const continue debugger default delete do else enum eval export
extends false finally for function if implements import in instanceof interface let new null package private protected
public return static super switch this throw true try typeof undefined var void while with yield getKernel kernel"""
_TAKEN = frozenset(_WORDS.split())


@dataclass(frozen=True, kw_only=True, slots=True)
class SampleCall:
    """One call: name -> (dtype, shape) of the tensors given and of the destinations needed, attributes and args."""

    inputs: Mapping[str, tuple[str, tuple[int, ...]]] = field(default_factory=dict)
    outputs: Mapping[str, tuple[str, tuple[int, ...]]] = field(default_factory=dict)
    attrs: Mapping[str, Json] = field(default_factory=dict)
    args: Mapping[str, Json] = field(default_factory=dict)

    @property
    def elements(self) -> int:
        """How many elements all given tensors have together."""
        return sum(prod(shape) for _, shape in self.inputs.values())


def sample_from_cases(manifest: Manifest, cases: Iterable[Mapping[str, Json]]) -> SampleCall:
    """The plainest call among test cases as they stand in ``test.json``: few attributes, few and small tensors.

    A case that is not well-formed is passed over; without any, the ranks of the manifest have to do.
    """
    samples = [sample for case in cases if (sample := _sample_of(manifest, case)) is not None]
    return min(samples, key=_plainness, default=_sample_from_ranks(manifest))


def snippet(
    manifest: Manifest,
    location: str,
    version: int,
    sample: SampleCall,
    *,
    trusted: bool = True,
    expect_op_id: bool = False,
) -> str:
    """The lines of JavaScript that load the kernel and call it as the sample does.

    Where the loader does not trust the publisher by itself, they say that their author does. From what is no
    repository, it loads only a kernel whose op id they name (``expect_op_id``).
    """
    results = [name for name, port in manifest.outputs.items() if _is_returned(name, port, manifest, sample)]
    options = _options(manifest, sample)
    options_of_loading: dict[str, Json] = {"version": version}
    options_of_loading |= {"expectedOpId": manifest.op_id} if expect_op_id else {}
    options_of_loading |= {} if trusted else {"trustRemoteCode": True}
    lines = [
        'import { getKernel } from "@huggingface/kernels";',
        "",
        *_loading(location, options_of_loading),
        (f"const {{ {', '.join(map(_binding, results))} }} = " if results else "") + "await kernel({",
        *(f"  {name}: {_tensor(dtype, shape)}," for name, (dtype, shape) in sample.inputs.items()),
        "}, {" if options else "});",
        *(f"  {line}" for line in options),
        *(["});"] if options else []),
    ]
    return "\n".join(lines)


def _loading(location: str, options: Mapping[str, Json]) -> list[str]:
    """The lines that load a kernel: one, unless it has more to say than fits."""
    line = f"const kernel = await getKernel({json.dumps(location)}, {_object(options)});"
    if len(options) < 3:
        return [line]
    members = (f"  {name}: {json.dumps(value)}," for name, value in options.items())
    return [f"const kernel = await getKernel({json.dumps(location)}, {{", *members, "});"]


def _sample_of(manifest: Manifest, case: Mapping[str, Json]) -> SampleCall | None:
    inputs = _tensors(case.get("inputs"))
    outputs = _tensors(case.get("outputs") or {})
    attrs, args = case.get("attrs") or {}, case.get("args") or {}
    if inputs is None or outputs is None or not isinstance(attrs, dict) or not isinstance(args, dict):
        return None
    required = {name for name, port in manifest.inputs.items() if not port.optional}
    if not required <= inputs.keys() or not inputs.keys() <= {*manifest.inputs, *manifest.outputs}:
        return None
    needed = {name: outputs[name] for name in outputs if _needs_destination(name, manifest)}
    return SampleCall(inputs=inputs, outputs=needed, attrs=attrs, args=args)


def _tensors(members: Json) -> dict[str, tuple[str, tuple[int, ...]]] | None:
    """Name -> (dtype, shape); None if one is malformed."""
    if not isinstance(members, dict):
        return None
    found = {}
    for name, member in members.items():
        dtype, shape = (member.get("dtype"), member.get("shape")) if isinstance(member, dict) else (None, None)
        if dtype not in ARRAY_CLASSES or not isinstance(shape, list):
            return None
        if not all(type(size) is int and size >= 0 for size in shape):
            return None
        found[name] = (str(dtype), tuple(shape))
    return found


def _plainness(sample: SampleCall) -> tuple[int, int, int]:
    """Sorts small calls with two elements or more before all others."""
    extras = len(sample.attrs) + len(sample.args) + len(sample.inputs)
    few = any(prod(shape) == 0 for _, shape in sample.inputs.values()) or sample.elements < 2 * len(sample.inputs)
    return (int(few), extras, sample.elements)


def _sample_from_ranks(manifest: Manifest) -> SampleCall:
    inputs = {name: _guess(manifest, port) for name, port in manifest.inputs.items() if not port.optional}
    outputs = {
        name: _guess(manifest, port) for name, port in manifest.outputs.items() if _needs_destination(name, manifest)
    }
    attrs = {name: item.values[0] if item.values else 0 for name, item in manifest.attributes.items() if item.required}
    args = {name: _guess_scalar(item.kind, item.one_of) for name, item in manifest.args.items() if item.required}
    return SampleCall(inputs=inputs, outputs=outputs, attrs=attrs, args=args)


def _guess(manifest: Manifest, port: Port) -> tuple[str, tuple[int, ...]]:
    choices = manifest.type_constraints.get(port.dtype or "", (port.dtype or "float32",))
    dtype = choices[0] if choices[0] in ARRAY_CLASSES else "float32"
    rank = port.rank if type(port.rank) is int and 0 <= port.rank <= 8 else 1
    return dtype, (2,) * rank


def _guess_scalar(kind: str, one_of: tuple[Json, ...] | None) -> Json:
    if kind == "string":
        return one_of[0] if one_of else ""
    return False if kind == "bool" else 0


def _needs_destination(name: str, manifest: Manifest) -> bool:
    port = manifest.outputs.get(name)
    return port is not None and port.shape is ABSENT and not port.optional and name not in manifest.inputs


def _is_returned(name: str, port: Port, manifest: Manifest, sample: SampleCall) -> bool:
    """An optional output comes only when it is asked for, but a tensor that was given comes back in any case."""
    return not port.optional or name in sample.outputs or (name in manifest.inputs and name in sample.inputs)


def _options(manifest: Manifest, sample: SampleCall) -> list[str]:
    """The members of the second argument, a line each."""
    attrs = {name: value for name, value in sample.attrs.items() if name in manifest.attributes}
    lines = [f"{kind}: {_object(members)}," for kind, members in (("attrs", attrs), ("args", sample.args)) if members]
    if sample.outputs:
        wanted = (
            f"{name}: {{ shape: {list(shape)}, dtype: {json.dumps(dtype)} }}"
            for name, (dtype, shape) in sample.outputs.items()
        )
        lines.append(f"outputs: {{ {', '.join(wanted)} }},")
    return lines


def _object(members: Mapping[str, Json]) -> str:
    inner = (
        f"{key if key.isidentifier() and key.isascii() else json.dumps(key)}: {json.dumps(value)}"
        for key, value in members.items()
    )
    return f"{{ {', '.join(inner)} }}"


def _tensor(dtype: str, shape: tuple[int, ...]) -> str:
    named = ', dtype: "bool"' if dtype == "bool" else ""
    return f"{{ data: new {ARRAY_CLASSES[dtype]}({prod(shape)}), shape: {list(shape)}{named} }}"


def _binding(name: str) -> str:
    return f"{name}: {name}_" if name in _TAKEN else name
