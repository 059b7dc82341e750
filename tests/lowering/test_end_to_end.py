"""From an example of the operator's description to a package in dist/, with the commands that a user types."""

import json

import pytest
from click.testing import CliRunner

from scanbuild.commands import main
from scanbuild.resources import data_folder
from tests.lowering.models import EXAMPLES


def run(*arguments: str) -> str:
    result = CliRunner().invoke(main, list(arguments))
    assert result.exit_code == 0, result.output
    return result.output


@pytest.fixture
def there(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path


def test_an_example_is_lowered_rendered_verified_and_published(there, engine):
    (there / "scan.onnx").write_bytes(EXAMPLES["scan9_sum"].data)
    assert "variants (" in run("lower", "scan.onnx", "--op-id", "my.models.RunningSum")
    run("check", "templates/my.models.RunningSum")
    run("render")
    verified = run("verify", "--all-variants", "--require-coverage")
    assert "passed" in verified
    run("publish")
    published = there / "dist" / "my.models.RunningSum"
    metadata = json.loads((published / "build" / "webgpu" / "metadata.json").read_text())
    assert metadata["name"] == "my.models.RunningSum"
    card = (published / "README.md").read_text()
    for words in ("`y = s + x_t`", "`s` starts as `init_s` and ends as `final_s`", "`x: float32[t, 2]`", "getKernel"):
        assert words in card


def test_the_model_of_the_page_is_lowered(there):
    text = (data_folder("schemas").parent / "docs" / "lowering.md").read_text(encoding="utf-8")
    block = next(part for part in text.split("```python\n") if part.startswith("from onnx import parser"))
    exec(compile(block.split("```")[0], "lowering.md", "exec"), {})
    assert "regrouped: linear" in run("lower", "average.onnx", "--explain")
    assert "(parallel_scan, lane_serial)" in run("lower", "average.onnx", "--op-id", "my.models.Average")
