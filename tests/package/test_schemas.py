"""The schemas against the loader's own answers, and against the parsers."""

import json
import random
import re
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from scanbuild.package import bindings, contract, family, manifest, metadata, passes, requires, variants, vocabulary
from scanbuild.package.jsonfile import parse_json
from scanbuild.package.schema import schema_problems
from scanbuild.resources import data_folder
from tests.package.test_corpus_load import ENTRIES
from tests.package.test_robustness import MANIFESTS, mutated

ACCEPTED = [entry for entry in ENTRIES if entry["expect"] != "load-error"]


def schema_of(name: str) -> dict[str, Any]:
    schema: dict[str, Any] = json.loads((data_folder("schemas") / f"{name}.schema.json").read_text("utf-8"))
    return schema


MANIFEST = schema_of("manifest")
METADATA = schema_of("metadata")


def content_of(entry: dict[str, Any], name: str) -> Any:
    content = entry["files"][name]
    return parse_json(content.removeprefix("\ufeff"), name) if isinstance(content, str) else content


@pytest.mark.parametrize("schema", [MANIFEST, METADATA], ids=["manifest", "metadata"])
def test_a_schema_is_itself_valid(schema: dict[str, Any]) -> None:
    Draft202012Validator.check_schema(schema)


@pytest.mark.parametrize(("name", "schema"), [("manifest", MANIFEST), ("metadata", METADATA)])
def test_no_schema_refuses_what_the_loader_accepts(name: str, schema: dict[str, Any]) -> None:
    validator = Draft202012Validator(schema)
    for entry in ACCEPTED:
        errors = [error.message for error in validator.iter_errors(content_of(entry, f"{name}.json"))]
        assert errors == [], entry["name"]


def test_the_manifest_schema_refuses_most_of_what_the_manifest_parser_refuses() -> None:
    validator = Draft202012Validator(MANIFEST)
    refused = missed = 0
    for entry in ENTRIES:
        value = entry["files"].get("manifest.json")
        if entry["section"].startswith("2.") and isinstance(value, dict) and manifest.parse_manifest(value)[0] is None:
            refused += 1
            missed += validator.is_valid(value)
    assert refused > 500
    assert missed < refused * 0.25


@pytest.mark.parametrize(
    ("definition", "keys"),
    [
        ("input", contract.INPUT_KEYS),
        ("output", contract.OUTPUT_KEYS),
        ("arg", contract.ARG_KEYS),
        ("requires", requires.REQUIRES_KEYS),
        ("matrixPattern", requires.MATRIX_KEYS),
        ("bindingEntry", bindings.BINDING_KEYS),
        ("field", bindings.FIELD_KEYS),
        ("family", family.FAMILY_KEYS),
        ("variant", variants.VARIANT_KEYS),
        ("pass", passes.PASS_KEYS),
    ],
)
def test_schema_and_parser_know_the_same_members(definition: str, keys: tuple[str, ...]) -> None:
    assert set(MANIFEST["$defs"][definition]["properties"]) - {"$comment"} == set(keys)


def test_schema_and_parser_know_the_same_words() -> None:
    definitions = MANIFEST["$defs"]
    assert set(MANIFEST["properties"]) - {"$comment"} == set(manifest.MANIFEST_KEYS)
    assert set(definitions["dtype"]["enum"]) == set(vocabulary.LOGICAL_DTYPES)
    assert set(definitions["limitName"]["enum"]) == set(vocabulary.LIMITS)
    assert set(definitions["feature"]["enum"]) == set(vocabulary.FEATURES)
    assert set(definitions["reservedName"]["enum"]) == vocabulary.RESERVED_NAMES
    assert set(definitions["prototypeName"]["enum"]) == vocabulary.PROTOTYPE_NAMES


@pytest.mark.parametrize("schema", [MANIFEST, METADATA], ids=["manifest", "metadata"])
def test_every_reference_of_a_schema_leads_somewhere(schema: dict[str, Any]) -> None:
    for name in re.findall(r'"#/\$defs/(\w+)"', json.dumps(schema)):
        assert name in schema["$defs"]


def test_a_violation_tells_its_place() -> None:
    text = '{\n  "name": 5\n}'
    found = schema_problems(json.loads(text), "metadata", text, "metadata.json")
    by_path = {problem.path: problem for problem in found}
    assert (by_path["$.name"].line, by_path["$.name"].column) == (2, 11)
    assert by_path["$.name"].stage == "own"


def test_the_metadata_schema_refuses_most_of_what_the_metadata_parser_refuses() -> None:
    validator = Draft202012Validator(METADATA)
    values = [entry["files"].get("metadata.json") for entry in ENTRIES]
    refused = [value for value in values if isinstance(value, dict) and metadata.parse_metadata(value)[0] is None]
    assert len(refused) > 50
    assert sum(validator.is_valid(value) for value in refused) < len(refused) * 0.25


def test_no_mutation_that_the_parser_accepts_is_refused_by_the_schema() -> None:
    validator, chance = Draft202012Validator(MANIFEST), random.Random(3)
    accepted = 0
    for _ in range(2000):
        value = mutated(chance.choice(MANIFESTS), chance)
        if manifest.parse_manifest(value)[0] is not None:
            accepted += 1
            assert [error.message for error in validator.iter_errors(value)] == []
    assert accepted > 50
