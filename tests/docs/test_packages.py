"""What docs/packages.md says of cases is so."""

import json
import re
from pathlib import Path
from typing import Any

from scanbuild.cases.casefile import read_tests
from scanbuild.cases.compare import DEFAULT_TOLERANCES
from scanbuild.cases.requests import case_inputs
from scanbuild.resources import data_folder

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "packages.md").read_text(encoding="utf-8")
(EXAMPLE,) = re.findall(r"^```json\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
KINDS: list[dict[str, Any]] = [
    json.loads(text) for text in re.findall(r'^\| `(\{ "kind".*?\})` \|', PAGE, re.MULTILINE)
]


def test_the_example_is_read():
    (case,) = read_tests(EXAMPLE, "test.json").cases
    assert case_inputs(case)["x"].tolist() == [[0, 1, 2], [3, 4, 5]]


def test_every_kind_of_data_is_shown_and_works():
    schema = json.loads((data_folder("schemas") / "test.schema.json").read_text(encoding="utf-8"))
    assert {item["kind"] for item in KINDS} == set(schema["$defs"]["data"]["properties"]["kind"]["enum"])
    for item in KINDS:
        made = {"cases": [{"name": "one", "inputs": {"x": {"dtype": "float32", "shape": [2], "data": item}}}]}
        made["cases"][0]["outputs"] = {"y": {"dtype": "float32", "shape": [2]}}
        (case,) = read_tests(json.dumps(made), "test.json").cases
        assert case_inputs(case)["x"].shape == (2,)


def test_the_tolerances_that_hold_where_none_is_given_are_told():
    assert DEFAULT_TOLERANCES == {"float32": 1e-6, "float16": 1e-3}
    assert "1e-6 for float32, 1e-3 for float16 and 0 for the\nothers" in PAGE
