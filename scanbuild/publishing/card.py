"""The kernel card: what a package's manifest says, as a page for people."""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache

import jinja2

from scanbuild.package.model import ABSENT, Absent, Json, Manifest, Port
from scanbuild.publishing.markdown import cell, code, prose
from scanbuild.publishing.metadata import CONTRACT_VERSION, contract_version
from scanbuild.publishing.snippet import ARRAY_CLASSES, sample_from_cases, snippet
from scanbuild.resources import data_folder

OWNER = "webgpu-kernels"
"""The only owner whose packages the loader trusts without being told to."""

ROLES = {
    "metadata.json": "what the package is, with a digest of every file",
    "manifest.json": "the contract, and the source of everything on this page",
    "test.json": "test cases",
    "bench.json": "benchmark and tuning cases",
}
_STANDINGS = {
    None: "tensor operator",
    "internal-lowering": "internal tensor lowering, no standard operator",
    "legacy-default-domain": "operator kept under the default domain for old models",
}
_ONNX_PAGES = {"ai.onnx": "onnx__", "ai.onnx.ml": "onnx_aionnxml_"}
_SAME_SHAPE = re.compile(r"shapes\.([A-Za-z_]\w*)", re.ASCII)
_PLAIN_YAML = re.compile(r"[a-z][a-z0-9.+-]*")


@dataclass(frozen=True, kw_only=True, slots=True)
class PortRow:
    """A row of the inputs or outputs. ``same_as`` names the port of equal shape; ``no_shape`` stands for no shape."""

    name: str
    bind_key: str
    dtype: str
    storage: str
    rank: str
    shape: str
    same_as: str
    no_shape: str
    description: str
    presence: str


@dataclass(frozen=True, kw_only=True, slots=True)
class ParameterRow:
    """A row of the attributes or scalar arguments. ``default`` is empty where ``without_default`` says why."""

    name: str
    kind: str
    default: str
    without_default: str
    description: str
    one_of: tuple[str, ...]
    presence: str


@dataclass(frozen=True, kw_only=True, slots=True)
class FileRow:
    """A file of the package, and what it is for if the name does not say."""

    path: str
    role: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Card:
    """All that the card's template shows, as plain text."""

    op_id: str
    name: str
    domain: str
    standing: str
    since_version: str
    license: str
    version: int
    description: str
    spec_url: str
    is_lowering: bool
    inputs: tuple[PortRow, ...]
    outputs: tuple[PortRow, ...]
    args: tuple[ParameterRow, ...]
    attributes: tuple[ParameterRow, ...]
    type_constraints: tuple[tuple[str, tuple[str, ...]], ...]
    files: tuple[FileRow, ...]
    rendered: int
    snippet: str
    snippet_note: str


def kernel_card(
    manifest: Manifest, metadata: Mapping[str, Json], files: Iterable[str], test: Json, owner: str = OWNER
) -> str:
    """The card's Markdown. ``files`` are all paths of the package, ``test`` is its parsed ``test.json`` or None.

    ``owner`` is whose repository the card shows how to load from.
    """
    return str(_template().render(card=describe(manifest, metadata, files, test, owner)))


def describe(
    manifest: Manifest, metadata: Mapping[str, Json], files: Iterable[str], test: Json, owner: str = OWNER
) -> Card:
    """The content of the card."""
    sample = sample_from_cases(manifest, cases_in(test))
    version, license_id = contract_version(metadata), metadata.get("license")
    number = CONTRACT_VERSION if version is None else version
    listed = [path for path in files if not path.startswith("rendered/")]
    return Card(
        op_id=manifest.op_id,
        name=manifest.name,
        domain=manifest.domain,
        standing=_STANDINGS.get(manifest.conformance, _STANDINGS[None]),
        since_version="" if manifest.since_version in (ABSENT, None) else _json(manifest.since_version),
        license=license_id if isinstance(license_id, str) else "other",
        version=number,
        description=manifest.description,
        spec_url=_spec_url(manifest),
        is_lowering=manifest.conformance == "internal-lowering",
        inputs=tuple(_port_row(port, "optional", "—") for port in manifest.inputs.values()),
        outputs=tuple(_port_row(port, "on request", "given by the caller") for port in manifest.outputs.values()),
        args=tuple(_arg_rows(manifest)),
        attributes=tuple(_attribute_rows(manifest)),
        type_constraints=tuple(manifest.type_constraints.items()),
        files=tuple(FileRow(path=path, role=ROLES.get(path, "")) for path in sorted(listed, key=_file_order)),
        rendered=sum(path.startswith("rendered/") and path.endswith(".wgsl") for path in files),
        snippet=snippet(manifest, f"{owner}/{manifest.op_id}", number, sample, trusted=owner == OWNER),
        snippet_note=_note({dtype for dtype, _ in sample.inputs.values()}),
    )


def cases_in(test: Json) -> list[dict[str, Json]]:
    """The cases in a ``test.json`` that nobody has checked."""
    cases = test.get("cases") if isinstance(test, dict) else None
    return [case for case in cases if isinstance(case, dict)] if isinstance(cases, list) else []


@cache
def _template() -> jinja2.Template:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(data_folder("templates") / "_card"),
        undefined=jinja2.StrictUndefined,
        autoescape=False,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= {"prose": prose, "cell": cell, "code": code, "yaml": _yaml}
    return environment.get_template("README.md.jinja")


def _port_row(port: Port, optional: str, no_shape: str) -> PortRow:
    expression = port.shape if isinstance(port.shape, str) else ""
    same = _SAME_SHAPE.fullmatch(expression)
    return PortRow(
        name=port.onnx or port.name,
        bind_key=port.name,
        dtype=port.dtype or "",
        storage=_storage(port),
        rank="" if port.rank is ABSENT else _json(port.rank),
        shape="" if port.shape is ABSENT else _shape(port.shape),
        same_as=same[1] if same else "",
        no_shape=no_shape,
        description=port.description,
        presence=optional if port.optional else "required",
    )


def _shape(shape: Json | Absent) -> str:
    if isinstance(shape, str):
        return shape
    if isinstance(shape, list):
        return f"[{', '.join(size if isinstance(size, str) else _json(size) for size in shape)}]"
    return _json(shape)


def _storage(port: Port) -> str:
    parts = [f"stored as `{port.storage}`"] if port.storage and port.storage != port.dtype else []
    parts += [f"narrowing {port.narrowing}"] if port.narrowing else []
    parts += ["packed"] if port.packed else []
    return f" ({', '.join(parts)})" if parts else ""


def _attribute_rows(manifest: Manifest) -> Iterable[ParameterRow]:
    for item in manifest.attributes.values():
        yield ParameterRow(
            name=item.name,
            kind="",
            default="" if item.default is ABSENT else _json(item.default),
            without_default="required" if item.required else "none",
            description=item.description,
            one_of=tuple(map(_json, item.values or ())),
            presence="required" if item.required else "optional",
        )


def _arg_rows(manifest: Manifest) -> Iterable[ParameterRow]:
    for item in manifest.args.values():
        yield ParameterRow(
            name=item.name,
            kind=item.kind,
            default="",
            without_default="",
            description=item.description,
            one_of=tuple(map(_json, item.one_of or ())),
            presence="required" if item.required else "optional",
        )


def _spec_url(manifest: Manifest) -> str:
    """The page of the ONNX documentation, where the domain is one that has pages."""
    page = _ONNX_PAGES.get(manifest.domain)
    known = page is not None and re.fullmatch(r"[A-Za-z][A-Za-z0-9]*", manifest.name)
    return f"https://onnx.ai/onnx/operators/{page}{manifest.name}.html" if known else ""


def _file_order(path: str) -> tuple[int, str]:
    """The JSON files first, in the order of ``ROLES``, then the templates."""
    known = list(ROLES)
    return (known.index(path) if path in known else len(known), path)


def _note(dtypes: set[str]) -> str:
    """What the choice of array class needs said."""
    notes = ["a `Uint16Array` holds the bits of float16 values"] if "float16" in dtypes else []
    notes += [f"a `{ARRAY_CLASSES['bool']}` holds 0 and 1 for `bool`"] if "bool" in dtypes else []
    return "; ".join(notes)


def _json(value: Json | Absent) -> str:
    return json.dumps(value, ensure_ascii=False)


def _yaml(text: str) -> str:
    """A YAML scalar: plain where that is safe; otherwise the JSON string, which YAML reads alike."""
    return text if _PLAIN_YAML.fullmatch(text) else json.dumps(text)
