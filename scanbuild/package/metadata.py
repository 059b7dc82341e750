"""``metadata.json``: what the loader reads of it (1.5), and what it has to agree on with the manifest (1.6)."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, cast

from scanbuild.errors import LoadError, Problem, raise_if_any
from scanbuild.package.digest import digest_text
from scanbuild.package.jsonfile import parse_json_at_load
from scanbuild.package.model import Json, Manifest
from scanbuild.package.report import Node, Report, shown
from scanbuild.package.substitution import text_form
from scanbuild.package.values import expect_list, expect_object, required, text
from scanbuild.package.vocabulary import PROTOTYPE_NAMES, is_stable_id

MANIFEST_SPEC: Final = "2.1"
TEMPLATE_ENDINGS: Final = (".wgsl", ".wgsl.jinja")
MANIFEST_FILE: Final = "manifest.json"
METADATA_FILE: Final = "metadata.json"

_PATH = re.compile(r"[A-Za-z0-9._-]+(/[A-Za-z0-9._-]+)*")


@dataclass(frozen=True, kw_only=True, slots=True)
class Metadata:
    """What ``metadata.json`` says: ``variants`` lists each variant's templates, ``files`` maps paths to digests."""

    name: Json
    manifest_spec: str
    variants: Mapping[str, tuple[str, ...]]
    files: Mapping[str, str]
    raw: Mapping[str, Json] = field(default_factory=dict)

    def templates(self) -> tuple[str, ...]:
        """Every template among the files, whether or not a variant lists it."""
        return tuple(name for name in self.files if is_template(name))


def is_template(path: str) -> bool:
    """Whether a file of a package is a shader template, by its ending."""
    return path.endswith(TEMPLATE_ENDINGS)


def is_package_path(path: str) -> bool:
    """Whether a text can be the path of a file in a package: relative, plain characters, never leaving it."""
    return (
        _PATH.fullmatch(path) is not None
        and ".." not in path
        and not any(segment in PROTOTYPE_NAMES for segment in path.split("/"))
    )


def read_metadata(text_of_file: str, file: str = METADATA_FILE) -> Metadata:
    """The metadata in a JSON text. Raises LoadError with every problem, located."""
    metadata, report = check_metadata(parse_json_at_load(text_of_file, file))
    raise_if_any(report.located(text_of_file, file), LoadError)
    return cast(Metadata, metadata)


def parse_metadata(value: Json) -> tuple[Metadata | None, list[Problem]]:
    """The metadata, or None, and all problems of a JSON value."""
    metadata, report = check_metadata(value)
    return metadata, report.problems()


def check_metadata(value: Json) -> tuple[Metadata | None, Report]:
    """The metadata, None if there is an error; and the report, which can tell the places in the text."""
    report = Report()
    node = Node(value, (), report)
    if expect_object(node, "the metadata") is None:
        return None, report
    _check_backend(required(node, "backend", "the metadata"))
    webgpu = required(node, "webgpu", "the metadata")
    spec, variants_node = "", None
    if webgpu is not None and expect_object(webgpu, "webgpu") is not None:
        spec = _manifest_spec(required(webgpu, "manifestSpec", "webgpu"))
        variants_node = required(webgpu, "variants", "webgpu")
    files = _digests(required(node, "digest", "the metadata"))
    variants = _variants(variants_node, files)
    if report.failed or files is None:
        return None, report
    raw = cast(dict[str, Json], value)
    return Metadata(name=raw.get("name"), manifest_spec=spec, variants=variants, files=files, raw=raw), report


def _check_backend(node: Node | None) -> None:
    if node is None or expect_object(node, "backend") is None:
        return
    kind = required(node, "type", "backend")
    if kind is not None and kind.value != "webgpu":
        kind.fail("backend", f'the backend type has to be "webgpu", not {kind.shown}')


def _manifest_spec(node: Node | None) -> str:
    if node is None:
        return ""
    spec = text_form(node.value)
    if spec != MANIFEST_SPEC:
        node.fail("manifest-spec", f'the loader reads manifests of version "{MANIFEST_SPEC}", not {node.shown}')
    return spec


def _digests(node: Node | None) -> dict[str, str] | None:
    """Path -> digest; None where the list cannot be read."""
    if node is None or expect_object(node, "digest") is None:
        return None
    algorithm = required(node, "algorithm", "digest")
    if algorithm is not None and algorithm.value != "sha256":
        algorithm.fail("digest", f'the digest algorithm has to be "sha256", not {algorithm.shown}')
    files = required(node, "files", "digest")
    if files is None or expect_object(files, "the list of digests") is None:
        return None
    for path, item in files.members():
        if not is_package_path(path):
            hint = "letters, digits, dots, dashes and underscores, parts joined by slashes, no two dots in a row"
            item.fail("path", f"{shown(path)} cannot be the path of a file in a package", hint=hint, key=True)
        if not isinstance(item.value, str):
            item.fail("type", f"a digest has to be a text, not {item.shown}")
    if not files.has(MANIFEST_FILE):
        files.fail("digest", f"the list of digests lacks {MANIFEST_FILE}")
    return cast(dict[str, str], files.value)


def _variants(node: Node | None, files: Mapping[str, str] | None) -> dict[str, tuple[str, ...]]:
    if node is None or expect_object(node, "variants") is None:
        return {}
    if not node.value:
        node.fail("empty", "variants may not be empty")
    return {name: _templates(item, name, files) for name, item in node.members()}


def _templates(node: Node, variant_id: str, files: Mapping[str, str] | None) -> tuple[str, ...]:
    if not is_stable_id(variant_id) or variant_id in PROTOTYPE_NAMES:
        node.fail("id", f"{shown(variant_id)} cannot be the id of a variant", key=True)
    if expect_list(node, "the template list of a variant") is None:
        return ()
    for item in node.elements():
        path = text(item, "the path of a template")
        if path and not is_template(path):
            item.fail("template", f"a template ends in {' or '.join(TEMPLATE_ENDINGS)}; {shown(path)} does not")
        if path and files is not None and path not in files:
            hint = item.nearest(path, files)
            item.fail("digest", f"the list of digests lacks {shown(path)}", hint=hint)
    return tuple(cast(list[str], node.value))


def cross_check(metadata: Metadata, manifest: Manifest) -> list[Problem]:
    """Where metadata and manifest disagree (1.6), paths being those in ``metadata.json``."""
    return cross_report(metadata, manifest).problems()


def cross_report(metadata: Metadata, manifest: Manifest) -> Report:
    """The same, as a report that can tell the places in ``metadata.json``."""
    report = Report()
    root = Node(cast(Json, metadata.raw), (), report)
    if metadata.name != manifest.op_id:
        found = f"is {shown(metadata.name)}" if root.has("name") else "is missing"
        message = f"the name {found}; the manifest's domain and name make {shown(manifest.op_id)}"
        (root.get("name") or root).fail("op-id", message)
    listed = cast(Node, cast(Node, root.get("webgpu")).get("variants"))
    for variant in manifest.variants:
        files = metadata.variants.get(variant.id)
        if files is None:
            listed.fail("variants", f"the manifest's variant {shown(variant.id)} is not listed")
            continue
        for shader in variant.shaders:
            if shader not in files:
                entry = cast(Node, listed.get(variant.id))
                hint = entry.nearest(shader, files)
                entry.fail("variants", f"the shader {shown(shader)} of this variant is not listed", hint=hint)
    known = {variant.id for variant in manifest.variants}
    for name, item in listed.members():
        if name not in known:
            hint = item.nearest(name, known)
            item.fail("variants", f"the manifest has no variant called {shown(name)}", hint=hint, key=True)
    return report


def synthesise_metadata(manifest: Manifest, files: Mapping[str, str]) -> dict[str, Json]:
    """The least metadata for a manifest and the texts of its files (``manifest.json`` among them).

    Every variant lists the shaders of its passes, and all files are digested. A caller whose templates include
    others adds these to the lists.
    """
    variants: dict[str, Json] = {variant.id: list(variant.shaders) for variant in manifest.variants}
    digests: dict[str, Json] = {name: digest_text(content) for name, content in files.items() if name != METADATA_FILE}
    return {
        "name": manifest.op_id,
        "backend": {"type": "webgpu"},
        "digest": {"algorithm": "sha256", "files": digests},
        "webgpu": {"manifestSpec": MANIFEST_SPEC, "variants": variants},
    }
