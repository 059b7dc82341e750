"""``manifest.json``: the general rules (2.1) and the top level (2.2). The rest is in the modules it calls.

This parser is the authority on what the loader accepts: it reports everything the loader refuses at load, and
nothing else. The JSON Schema beside it describes the same language as far as a schema can.
"""

from typing import Final, cast

from scanbuild.errors import LoadError, Problem, raise_if_any
from scanbuild.package.contract import parse_args, parse_contract
from scanbuild.package.jsonfile import MAX_DEPTH, Path, holds_more_than, parse_json_at_load
from scanbuild.package.model import ABSENT, Json, Manifest
from scanbuild.package.parameters import parse_attributes, parse_derive
from scanbuild.package.report import Node, Report, shown
from scanbuild.package.values import expect_keys, expect_object, required, text, word
from scanbuild.package.variants import parse_general, parse_variants
from scanbuild.package.vocabulary import PROTOTYPE_NAMES, is_domain

MANIFEST_KEYS: Final = (
    "$schema",
    "domain",
    "name",
    "description",
    "conformance",
    "sinceVersion",
    "inputs",
    "outputs",
    "args",
    "attributes",
    "attributeConstraints",
    "typeConstraints",
    "tunables",
    "derive",
    "when",
    "requires",
    "bindings",
    "variants",
    "onnx",
)
CONFORMANCE: Final = ("internal-lowering", "legacy-default-domain")
COMMENT: Final = "$comment"

_ADVICE: Final = {
    "attributeDescriptions": "write a description in the attribute",
    "tunableDescriptions": "write a description in the tunable",
    "attributeNames": "declare attributes",
    "constants": "use derive",
    "variantFamilies": "a family is a member of variants that has cases or axes",
    "bindingSets": "use bindings",
    "bindingEntries": "use bindings",
    "demoteWhen": "demoteWhen belongs to a variant",
    "version": "the version belongs to metadata.json",
    "license": "the license belongs to metadata.json",
    "passes": "passes belong to a variant",
    "intermediates": "intermediates belong to a variant",
    "type_constraints": "the member is called typeConstraints",
}


MAX_VALUES: Final = 100_000
"""A manifest may hold this many JSON values. Published ones hold less than a twentieth of it."""


def read_manifest(text_of_file: str, file: str = "manifest.json") -> Manifest:
    """The manifest in a JSON text. Raises LoadError with every problem the loader would refuse it for, located."""
    manifest, report = check_manifest(parse_json_at_load(text_of_file, file))
    raise_if_any(report.located(text_of_file, file), LoadError)
    return cast(Manifest, manifest)


def parse_manifest(value: Json) -> tuple[Manifest | None, list[Problem]]:
    """The manifest, or None, and all problems of a JSON value. Paths are those of the value as given."""
    manifest, report = check_manifest(value)
    return manifest, report.problems()


def check_manifest(value: Json) -> tuple[Manifest | None, Report]:
    """The manifest, None if there is an error; and the report, which can tell the places in the text."""
    report = Report()
    if holds_more_than(value, MAX_VALUES):
        report.add((), "limit-values", f"the manifest holds more than {MAX_VALUES} JSON values")
        return None, report
    cleaned = _clean(value, (), report)
    node = Node(cleaned, (), report)
    manifest = _parse(node) if expect_object(node, "a manifest") is not None else None
    return (None if report.failed else manifest), report


def _clean(value: Json, path: Path, report: Report) -> Json:
    """The value without its comments; notes comments that are no text, and keys that are prototype names."""
    if not isinstance(value, dict | list):
        return value
    if len(path) > MAX_DEPTH:
        report.add(path, "limit-depth", f"objects and lists nest deeper than {MAX_DEPTH} levels")
        return None
    if isinstance(value, list):
        return [
            _clean(item, (*path, index), report) if isinstance(item, dict | list) else item
            for index, item in enumerate(value)
        ]
    cleaned: dict[str, Json] = {}
    for name, item in value.items():
        if name in PROTOTYPE_NAMES:
            message = f"{name} is a name every JavaScript object has; choose another"
            report.add((*path, name), "prototype-name", message, key=True)
        if name != COMMENT:
            cleaned[name] = _clean(item, (*path, name), report) if isinstance(item, dict | list) else item
        elif not isinstance(item, str):
            report.add((*path, name), "comment", f"a $comment has to be a text, not {shown(item)}")
    return cleaned


def _parse(node: Node) -> Manifest:
    expect_keys(node, MANIFEST_KEYS, "a manifest", _ADVICE)
    name = text(required(node, "name", "a manifest"), "the name of a kernel")
    domain = _domain(node.get_unless_null("domain"))
    since = node.get("sinceVersion")
    contract = parse_contract(node)
    general = parse_general(node, contract, f"{domain}.{name}")
    variants = required(node, "variants", "a manifest")
    return Manifest(
        name=name,
        domain=domain,
        description=text(node.get("description"), "a description", empty=True),
        conformance=word(node.get("conformance"), "conformance", CONFORMANCE),
        since_version=ABSENT if since is None else since.value,
        inputs=contract.inputs,
        outputs=contract.outputs,
        args=parse_args(node.get("args"), contract),
        attributes=parse_attributes(node.get("attributes"), node.get("attributeConstraints")),
        type_constraints=contract.type_constraints,
        tunables=cast(dict[str, Json], general.tunables),
        derive=parse_derive(node.get("derive"), contract.type_constraints),
        variants=parse_variants(variants, general) if variants is not None else (),
    )


def _domain(node: Node | None) -> str:
    if node is None:
        return "ai.onnx"
    domain = text(node, "a domain", empty=True)
    if isinstance(node.value, str) and not is_domain(domain):
        hint = "parts joined by dots, the first of lower-case letters and digits, none beginning with a digit"
        node.fail("domain", f"{shown(domain)} is no domain", hint=hint)
    return domain
