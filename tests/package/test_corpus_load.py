"""The loader's own answers: whether it loads a package."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from scanbuild.errors import LoadError
from scanbuild.package.fetching import Fetch, FetchError
from scanbuild.package.load import LoadOptions, load_package
from scanbuild.package.model import ABSENT
from scanbuild.package.text import encode

CORPUS = Path(os.environ.get("SCANBUILD_CORPUS", Path(__file__).parents[1] / "corpus"))
ENTRIES: list[dict[str, Any]] = json.loads((CORPUS / "load.json").read_text("utf-8"))

PYTHON_NAMES = {
    "version": "version",
    "revision": "revision",
    "token": "token",
    "verifyHashes": "verify_hashes",
    "expectedOpId": "expected_op_id",
    "trustRemoteCode": "trust_remote_code",
    "templates": "templates",
}


def options_of(entry: dict[str, Any]) -> LoadOptions:
    """The entry's options, or those that the corpus takes where there are none."""
    given = entry.get("options")
    if given is None:
        metadata = entry["files"].get("metadata.json")
        name = metadata.get("name", ABSENT) if isinstance(metadata, dict) else json_name(metadata)
        return LoadOptions(version=1, trust_remote_code=True, expected_op_id=name)
    return LoadOptions(**{PYTHON_NAMES[key]: value for key, value in given.items() if key in PYTHON_NAMES})


def json_name(text: str | None) -> Any:
    try:
        return json.loads(text or "", strict=False)["name"]
    except (ValueError, KeyError, TypeError):
        return "ai.onnx.Probe"


def fetch_of(entry: dict[str, Any]) -> Fetch:
    texts = {
        name: content if isinstance(content, str) else json.dumps(content, separators=(",", ":"), ensure_ascii=False)
        for name, content in entry["files"].items()
    }

    def fetch(url: str) -> bytes:
        name = url.partition("build/webgpu/")[2]
        if name not in texts:
            raise FetchError("404")
        return encode(texts[name])

    return fetch


@pytest.mark.parametrize("entry", ENTRIES, ids=[entry["name"] for entry in ENTRIES])
def test_a_package_loads_exactly_if_the_loader_loads_it(entry: dict[str, Any]) -> None:
    location = entry.get("location", "http://pkg.test/x")
    options = options_of(entry)
    fetch = fetch_of(entry)
    if entry["expect"] == "load-error":
        with pytest.raises(LoadError) as caught:
            load_package(location, options, fetch)
        assert all(problem.message and problem.rule for problem in caught.value.problems)
    else:
        load_package(location, options, fetch)
