"""What docs/format.md shows is what happens: JSON is read, expressions are evaluated, templates are rendered."""

import copy
import json
import re
from pathlib import Path
from typing import Any

import pytest

from scanbuild.package.digest import digest_text
from scanbuild.package.load import package_from_files
from scanbuild.package.manifest import parse_manifest
from scanbuild.package.metadata import parse_metadata
from scanbuild.package.schema import schema_problems
from scanbuild.planning.plan import Plan
from scanbuild.planning.planner import Planner
from scanbuild.planning.profiles import profile
from scanbuild.planning.request import HostTensor, Request

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "format.md").read_text(encoding="utf-8")
BLOCKS: list[tuple[str, str, str]] = re.findall(r"^```(\w+) (\w+)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
WHOLE: dict[str, Any] = json.loads(next(text for _, kind, text in BLOCKS if kind == "manifest"))
TEMPLATE = next(text for _, kind, text in BLOCKS if kind == "template")
PARTS = [(kind, text) for language, kind, text in BLOCKS if language == "json" and kind != "metadata"]


def rows(head: str) -> list[tuple[str, str]]:
    """The two columns of the table with a heading, the code in each."""
    table = PAGE.split(f"\n{head}\n", 1)[1].split("\n\n", 1)[0]
    found = re.findall(r"^\| `(.*)` \| `(.*)` \|$", table, re.MULTILINE)
    return [(left.replace("\\|", "|"), right) for left, right in found]


EXPRESSIONS = rows("| expression | gives |")
TEMPLATES = rows("| template | prints |")


def completed(kind: str, part: Any) -> dict[str, Any]:
    """A whole manifest with a part of one put where it belongs."""
    value = copy.deepcopy(WHOLE)
    variant = value["variants"][0]
    if kind == "manifest":
        return {**value, **part}
    if kind == "variants":
        return {**value, "variants": part}
    if kind == "top":
        for name, item in part.items():
            value[name] = {**value.get(name, {}), **item}
        return value
    target = {"variant": variant, "pass": variant["passes"][0]}[kind]
    target.update(part)
    return value


@pytest.mark.parametrize(("kind", "text"), PARTS)
def test_every_part_of_a_manifest_is_read_as_it_stands(kind: str, text: str):
    value = completed(kind, json.loads(text))
    manifest, problems = parse_manifest(value)
    assert [problem.message for problem in problems if problem.severity == "error"] == []
    assert manifest is not None
    assert schema_problems(value, "manifest", json.dumps(value), "format.md") == []


def test_the_metadata_are_read_as_they_stand():
    value = json.loads(next(text for _, kind, text in BLOCKS if kind == "metadata"))
    metadata, problems = parse_metadata(value)
    assert problems == []
    assert metadata is not None
    assert schema_problems(value, "metadata", json.dumps(value), "format.md") == []


def test_every_block_of_json_is_tried():
    assert len(re.findall(r"^```json", PAGE, re.MULTILINE)) == len(PARTS) + 1 > 15


def planned(manifest: dict[str, Any], template: str) -> Plan:
    """The plan of a call with six rows of 64 floats."""
    files = {"manifest.json": json.dumps(manifest), "scale.wgsl.jinja": template}
    metadata = {
        "name": "my.kernels.Scale",
        "backend": {"type": "webgpu"},
        "webgpu": {"manifestSpec": "2.1", "variants": {"plain": ["scale.wgsl.jinja"]}},
        "digest": {"algorithm": "sha256", "files": {name: digest_text(text) for name, text in files.items()}},
    }
    planner = Planner(package_from_files({**files, "metadata.json": json.dumps(metadata)}))
    request = Request(inputs={"x": HostTensor(shape=(6, 64), dtype="float32")})
    return planner.plan(planner.read(request), profile("webgpu-defaults")).plan


def printed(manifest: dict[str, Any], template: str) -> str:
    """What a template prints in front of a shader that does nothing."""
    end = "// the end"
    text = planned(manifest, f"{template}{end}\n@compute @workgroup_size(1) fn main() {{}}\n").passes[0].wgsl
    return text.split(end)[0]


def test_the_template_becomes_the_module_that_is_shown():
    rendered = next(text for _, kind, text in BLOCKS if kind == "rendered")
    plan = planned(WHOLE, TEMPLATE)
    assert plan.passes[0].wgsl.strip() == rendered.strip()
    assert tuple(plan.passes[0].grid) == (6, 1, 1)


@pytest.mark.parametrize(("expression", "gives"), EXPRESSIONS)
def test_every_expression_gives_what_is_said(expression: str, gives: str):
    value = completed("top", {"derive": {"probe": expression}})
    assert printed(value, "{{ probe | tojson }}") == gives


@pytest.mark.parametrize(("template", "prints"), TEMPLATES)
def test_every_template_prints_what_is_said(template: str, prints: str):
    assert printed(WHOLE, template) == prints


def test_the_tables_are_read():
    assert len(EXPRESSIONS) > 12
    assert len(TEMPLATES) > 4
