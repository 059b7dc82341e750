"""The packages of the call corpus: each loads with synthesised metadata, unless the loader refuses it at load."""

import json
from typing import Any

import pytest

from scanbuild.errors import LoadError
from scanbuild.package.load import package_from_files
from scanbuild.package.manifest import read_manifest
from scanbuild.package.metadata import synthesise_metadata
from tests.package.test_corpus_load import CORPUS

CALLS: list[dict[str, Any]] = json.loads((CORPUS / "calls.json").read_text("utf-8"))["calls"]


@pytest.mark.parametrize("entry", CALLS, ids=[entry["name"] for entry in CALLS])
def test_the_package_of_a_call_loads_exactly_if_the_loader_loads_it(entry: dict[str, Any]) -> None:
    files = {name: text if isinstance(text, str) else json.dumps(text) for name, text in entry["files"].items()}
    if entry["expect"].get("error") == "load":
        with pytest.raises(LoadError):
            read_manifest(files["manifest.json"])
        return
    manifest = read_manifest(files["manifest.json"])
    package = package_from_files({**files, "metadata.json": json.dumps(synthesise_metadata(manifest, files))})
    for variant in package.manifest.variants:
        assert set(package.templates(variant.id)) == set(variant.shaders)
