"""``scanbuild lower`` from the command line: what it writes, what it refuses, and what it leaves alone."""

import importlib.util
import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from onnx import ModelProto

from scanbuild.cases.schema import schema_problems
from scanbuild.commands import main
from tests.lowering.building import scan
from tests.lowering.models import EXAMPLES
from tests.lowering.refused import REFUSED

MODEL = "exponential_average"


@pytest.fixture
def there(tmp_path, monkeypatch):
    """An empty folder with a model in it, to work in."""
    monkeypatch.chdir(tmp_path)
    Path("model.onnx").write_bytes(EXAMPLES[MODEL].data)
    return tmp_path


def lower(*arguments: str, stdin: bytes | None = None):
    return CliRunner().invoke(main, ["lower", *arguments], input=stdin)


def contents(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_model_becomes_a_source_package_under_templates(there):
    result = lower("model.onnx", "--op-id", "my.models.Average")
    assert result.exit_code == 0, result.output
    package = there / "templates" / "my.models.Average"
    assert {"manifest.json", "test.json", "bench.json", "reference.py"} < set(contents(package))
    assert "`loop` became" in result.output
    assert "templates/my.models.Average" in result.output
    manifest = json.loads((package / "manifest.json").read_text())
    assert (manifest["domain"], manifest["name"]) == ("my.models", "Average")


def test_the_same_model_gives_the_same_bytes(there):
    assert lower("model.onnx", "--op-id", "my.Average", "--out", "one").exit_code == 0
    assert lower("model.onnx", "--op-id", "my.Average", "--out", "two").exit_code == 0
    assert contents(there / "one") == contents(there / "two")


def test_a_model_may_come_on_standard_input(there):
    data = (there / "model.onnx").read_bytes()
    assert lower("-", "--op-id", "my.Average", "--out", "one", stdin=data).exit_code == 0
    assert lower("model.onnx", "--op-id", "my.Average", "--out", "two").exit_code == 0
    assert contents(there / "one") == contents(there / "two")


def test_quiet_says_nothing(there):
    result = lower("-q", "model.onnx", "--op-id", "my.Average")
    assert (result.exit_code, result.output) == (0, "")


@pytest.mark.parametrize("name", REFUSED)
def test_a_refusal_names_node_and_operator_and_writes_nothing(name, there):
    data, words = REFUSED[name]
    (there / "model.onnx").write_bytes(data)
    result = lower("model.onnx", "--op-id", "my.Refused")
    assert result.exit_code == 2, result.output
    for word in words:
        assert word in result.output
    assert list(contents(there)) == ["model.onnx"]
    assert not (there / "templates").exists()


def test_a_file_that_is_not_there_is_named(there):
    result = lower("absent.onnx", "--op-id", "my.Absent")
    assert result.exit_code == 2
    assert "absent.onnx" in result.output


@pytest.mark.parametrize(
    "op_id", ["Average", "My.Average", "my..Average", "my.", ".Average", "my.Aver age", "my.a/b", ""]
)
def test_an_op_id_that_the_loader_refuses_is_refused(op_id, there):
    result = lower("model.onnx", "--op-id", op_id)
    assert result.exit_code == 2
    assert "DOMAIN.NAME" in result.output
    assert list(contents(there)) == ["model.onnx"]


def test_an_op_id_is_asked_for(there):
    result = lower("model.onnx")
    assert result.exit_code == 2
    assert "--op-id" in result.output


def _two_loops() -> bytes:
    model = ModelProto()
    model.CopyFrom(EXAMPLES[MODEL].model)
    other = model.graph.node.add()
    other.CopyFrom(model.graph.node[0])
    other.name = "second"
    other.output[:] = ["final_second", "all_second"]
    return bytes(model.SerializeToString())


def test_of_several_nodes_one_has_to_be_named(there):
    (there / "model.onnx").write_bytes(_two_loops())
    result = lower("model.onnx", "--op-id", "my.Average")
    assert result.exit_code == 2
    assert "`loop`" in result.output
    assert "`second`" in result.output
    assert lower("model.onnx", "--op-id", "my.Average", "--node", "second").exit_code == 0
    record = json.loads((there / "templates" / "my.Average" / "lowered.json").read_text())
    assert record["node"] == "second"


def test_a_node_that_is_not_there_is_answered_with_those_that_are(there):
    result = lower("model.onnx", "--op-id", "my.Average", "--node", "lop")
    assert result.exit_code == 2
    assert "`lop`" in result.output
    assert "`loop`" in result.output


def test_a_lowered_package_is_replaced(there):
    assert lower("model.onnx", "--op-id", "my.Average").exit_code == 0
    before = contents(there / "templates")
    (there / "model.onnx").write_bytes(EXAMPLES["leaky_integrator"].data)
    assert lower("model.onnx", "--op-id", "my.Average").exit_code == 0
    after = contents(there / "templates")
    assert before["my.Average/manifest.json"] != after["my.Average/manifest.json"]


def test_an_edited_package_is_left_alone_unless_forced(there):
    assert lower("model.onnx", "--op-id", "my.Average").exit_code == 0
    manifest = there / "templates" / "my.Average" / "manifest.json"
    manifest.write_text(manifest.read_text() + "\n")
    before = contents(there)
    result = lower("model.onnx", "--op-id", "my.Average")
    assert result.exit_code == 2
    assert "manifest.json" in result.output
    assert "--force" in result.output
    assert contents(there) == before
    assert lower("model.onnx", "--op-id", "my.Average", "--force").exit_code == 0
    assert contents(there) != before


def test_bytecode_beside_the_reference_is_no_edit(there):
    assert lower("model.onnx", "--op-id", "my.Average").exit_code == 0
    cache = there / "templates" / "my.Average" / "__pycache__"
    cache.mkdir()
    (cache / "reference.cpython-311.pyc").write_bytes(b"")
    assert lower("model.onnx", "--op-id", "my.Average").exit_code == 0


def test_a_folder_of_another_kind_is_left_alone_even_if_forced(there):
    folder = there / "notes"
    folder.mkdir()
    (folder / "diary.txt").write_text("kept")
    for force in ([], ["--force"]):
        result = lower("model.onnx", "--op-id", "my.Average", "--out", "notes", *force)
        assert result.exit_code == 2
        assert "notes" in result.output
    assert contents(folder) == {"diary.txt": b"kept"}


def test_a_package_written_by_hand_is_replaced_only_if_forced(there):
    folder = there / "mine"
    folder.mkdir()
    (folder / "manifest.json").write_text("{}")
    assert lower("model.onnx", "--op-id", "my.Average", "--out", "mine").exit_code == 2
    assert contents(folder) == {"manifest.json": b"{}"}
    assert lower("model.onnx", "--op-id", "my.Average", "--out", "mine", "--force").exit_code == 0


def test_the_explanation_shows_states_inputs_and_strategies(there):
    result = lower("model.onnx", "--explain")
    assert result.exit_code == 0
    for words in (
        "s: float32[d], from init_s to final_s",
        "reads state s; input x",
        "regrouped: linear",
        "lane-serial",
    ):
        assert words in result.output
    assert list(contents(there)) == ["model.onnx"]


def test_the_explanation_says_why_a_strategy_does_not_apply(there):
    (there / "model.onnx").write_bytes(EXAMPLES["logistic_map"].data)
    result = lower("model.onnx", "--explain")
    assert result.exit_code == 0
    assert "cannot be regrouped" in result.output
    assert "parallel scan: no" in result.output


@pytest.mark.parametrize(
    "name", ["exponential_average", "gru", "viterbi", "no_states", "mixed_dtypes", "kalman_filter"]
)
def test_the_explanation_as_json_is_of_its_schema(name, there):
    (there / "model.onnx").write_bytes(EXAMPLES[name].data)
    assert lower("model.onnx", "--explain", "--json", "report.json", "-q").exit_code == 0
    report = json.loads((there / "report.json").read_text())
    assert schema_problems(report, "lower-report") == []
    assert report["node"] == "loop"


def test_explaining_needs_no_onnx_runtime(there, monkeypatch):
    _hide(monkeypatch, "onnxruntime")
    assert lower("model.onnx", "--explain").exit_code == 0
    result = lower("model.onnx", "--op-id", "my.Average")
    assert result.exit_code == 2
    assert "pip install 'scanbuild[onnx]'" in result.output
    assert list(contents(there)) == ["model.onnx"]


def test_without_onnx_the_command_that_installs_it_is_told(there, monkeypatch):
    _hide(monkeypatch, "onnx")
    result = lower("model.onnx", "--explain")
    assert result.exit_code == 2
    assert "pip install 'scanbuild[onnx]'" in result.output


def _hide(monkeypatch, package: str) -> None:
    """Make a package look as if it were not installed."""
    found = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name, *more: None if name == package else found(name, *more)
    )


def test_cases_that_were_left_out_are_told(there):
    """Chaos: after some steps, rounding decides."""
    (there / "model.onnx").write_bytes(EXAMPLES["logistic_map"].data)
    result = lower("model.onnx", "--op-id", "my.Chaos")
    assert result.exit_code == 0
    assert "Left out" in result.output
    assert "test.json" in result.output


def test_a_model_that_onnx_runtime_cannot_run_is_lowered_and_that_is_told(there):
    example = scan(
        "small_integers",
        "y = Max(s, x) z = Identity(y)",
        states="int16[d] s",
        elements="int16[d] x",
        after="y",
        outputs="int16[d] z",
    )
    (there / "model.onnx").write_bytes(example.data)
    result = lower("model.onnx", "--op-id", "my.Small")
    assert result.exit_code == 0, result.output
    assert "ONNX Runtime has none" in result.output
