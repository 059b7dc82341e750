"""What render and publish say of input that is wrong: one line a mistake, at its place, and nothing half-written."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from scanbuild.commands import main
from tests.publishing.packages import SHADER, case, manifest, write_source

Edit = Callable[[Path], object]


pytestmark = pytest.mark.usefixtures("bare")


@pytest.fixture
def source(tmp_path):
    return write_source(tmp_path / "sources")


def run(*arguments: object) -> Result:
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


def refused(*arguments: object) -> str:
    """What a command says that refuses its input and writes nothing."""
    result = run(*arguments)
    assert result.exit_code == 2, result.output
    assert "Traceback" not in result.output
    assert not Path("build").exists()
    return result.stderr


def replaced(name: str, make: Edit) -> Edit:
    def edit(folder: Path) -> None:
        (folder / name).unlink(missing_ok=True)
        make(folder / name)

    return edit


@pytest.mark.parametrize(
    ("edit", "words"),
    [
        (replaced("manifest.json", Path.mkdir), "manifest.json: cannot read the file: it is no regular file"),
        (replaced("test.json", os.mkfifo), "test.json: cannot read the file: it is no regular file"),
        (replaced("more.wgsl", os.mkfifo), "more.wgsl: cannot read the file: it is no regular file"),
        (replaced("bench.json", lambda path: path.symlink_to("nowhere")), "a link that leads nowhere"),
        (replaced("manifest.json", lambda path: path.symlink_to(path.name)), "a link that leads nowhere"),
        (replaced("more.wgsl", lambda path: path.symlink_to("/etc/passwd")), "it lies outside the package"),
        (replaced("publish.json", lambda path: path.symlink_to(path.name)), "publish.json: cannot read the file"),
        (replaced("test.json", Path.touch), "test.json:1:1: the file is empty"),
    ],
)
def test_a_file_that_is_none_is_named(source: Path, edit: Edit, words: str):
    edit(source)
    (line,) = refused("render", source).splitlines()
    assert line.startswith(f"error: {source}")
    assert words in line


def test_a_folder_without_a_source_package_says_where_one_may_be(source: Path):
    said = refused("render", source.parent)
    assert "there is no source package here; one has manifest.json, test.json and bench.json" in said
    assert f"perhaps {source}" in said


def test_a_file_in_place_of_a_folder_leads_to_the_folder_around_it(source: Path):
    said = refused("render", source / "manifest.json")
    assert "this is a file; the folder of a package was expected" in said
    assert f"perhaps {source}" in said


def test_a_source_is_not_replaced_by_what_it_gives(source: Path):
    assert run("render", source, "--root", "built").exit_code == 0
    before = {path: path.read_bytes() for path in Path("built").rglob("*.json")}
    result = run("render", "built/build/webgpu", "--root", "built")
    assert (result.exit_code, "which rendering replaces" in result.stderr) == (2, True)
    assert {path: path.read_bytes() for path in Path("built").rglob("*.json")} == before


def test_a_built_package_is_a_source_as_well_and_its_shaders_are_no_templates(source: Path):
    assert run("render", source, "--root", "built").exit_code == 0
    again = run("render", "built/build/webgpu", "--root", "again")
    assert (again.exit_code, again.stderr) == (0, "")


@pytest.mark.parametrize("root", ["taken", "taken/below"])
def test_a_file_where_the_output_belongs_is_named(source: Path, root: str):
    Path("taken").touch()
    assert "taken" in refused("render", source, "--root", root)


def test_what_stands_where_the_package_belongs_is_left_alone(source: Path):
    Path("other/build").mkdir(parents=True)
    Path("other/build/webgpu").write_text("mine")
    refused("render", source, "--root", "other")
    assert Path("other/build/webgpu").read_text() == "mine"


def test_a_full_disk_is_no_fault_of_scanbuild(source: Path, monkeypatch):
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    result = run("render", source)
    assert result.exit_code == 2
    assert "build/webgpu: the folder cannot be written: no space left on device" in result.stderr
    assert [path.name for path in Path("build").iterdir()] == []


@pytest.mark.parametrize(
    ("content", "lines"),
    [
        ('{"version": "1"}', ['publish.json:1:13: $.version: found "1", expected a whole number']),
        (
            '{"licence": "mit"}',
            ['publish.json:1:2: $.licence: there is no member "licence" here', 'did you mean "license"?'],
        ),
        ('{"license": "mit\\n"}', ["publish.json:1:13: $.license: found"]),
        ("[", ["publish.json:1:2: the text ends too early"]),
    ],
)
def test_publish_json_is_checked(source: Path, content: str, lines: list[str]):
    (source / "publish.json").write_text(content)
    said = refused("render", source).splitlines()
    assert len(said) == len(lines)
    assert all(words in line for words, line in zip(lines, said, strict=True))


def test_publish_json_names_version_and_licence(source: Path):
    (source / "publish.json").write_text('{"version": 3, "license": "mit"}')
    assert run("render", source).exit_code == 0
    metadata = json.loads(Path("build/webgpu/metadata.json").read_text())
    assert (metadata["version"], metadata["license"]) == (3, "mit")


def rewritten(tmp_path: Path, **files: Any) -> Path:
    names = {name.replace("__", "."): content for name, content in files.items()}
    return write_source(tmp_path / "sources", **{f"Twice/{name}": content for name, content in names.items()})


@pytest.mark.parametrize(
    ("expression", "words"),
    [
        ("numel(shapes.x", "the expression ends too early"),
        ("numle(shapes.x)", '"numel"'),
    ],
)
def test_a_mistake_in_an_expression_is_told_once_and_not_for_every_case(tmp_path: Path, expression: str, words: str):
    said = refused("render", rewritten(tmp_path, manifest__json=manifest(derive={"n": expression})))
    assert said.count("error:") == 1
    assert "$.derive.n" in said
    assert words in said
    assert "case" not in said


def test_a_mistake_in_a_template_is_told_once_at_its_line(tmp_path: Path):
    shader = SHADER.replace("{{ factor }}", "{{ factor }")
    said = refused("render", rewritten(tmp_path, twice__wgsl__jinja=shader))
    assert said.count("error:") == 1
    assert f"twice.wgsl.jinja:{1 + shader[: shader.index('factor')].count(chr(10))}:" in said


def test_a_case_expects_the_form_that_the_call_gives(tmp_path: Path):
    wrong = {"y": {"dtype": "int32", "shape": [4]}}
    said = refused("render", rewritten(tmp_path, test__json={"cases": [case("small", 3, outputs=wrong)]}))
    assert "$.cases[0].outputs.y.dtype: case 'small' of test.json" in said
    assert "expects the dtype int32, the call gives float32" in said
    assert "expects the shape [4], the call gives [3]" in said


def test_a_case_that_lacks_an_input_is_named(tmp_path: Path):
    said = refused("render", rewritten(tmp_path, test__json={"cases": [case("small", 3, inputs={})]}))
    assert '$.cases[0].inputs: the case lacks "x"' in said


@pytest.mark.parametrize(
    "extra", [os.mkfifo, lambda path: path.symlink_to(path.name), lambda path: path.symlink_to(".")]
)
def test_publish_names_what_no_package_holds(source: Path, extra: Edit):
    assert run("render", source).exit_code == 0
    extra(Path("build/webgpu/extra"))
    result = run("publish")
    assert result.exit_code == 2
    assert result.stderr.startswith("error: build/webgpu/extra: ")
    assert not Path("dist").exists()


def test_a_check_does_not_read_files_of_any_size(source: Path):
    assert run("render", source).exit_code == 0
    os.truncate("build/webgpu/metadata.json", 2**40)
    result = run("render", source, "--check")
    assert result.exit_code == 1
    assert result.stderr.startswith("error: build/webgpu/metadata.json: the file is stale or was edited")


def test_a_package_is_not_published_into_itself(source: Path):
    assert run("render", source).exit_code == 0
    result = run("publish", "--out", "build/webgpu/dist")
    assert (result.exit_code, "lies in the package itself" in result.stderr) == (2, True)
    assert not Path("build/webgpu/dist").exists()


def test_a_published_folder_can_be_published_again_in_its_place(source: Path):
    assert run("render", source).exit_code == 0
    assert run("publish").exit_code == 0
    before = {path: path.read_bytes() for path in Path("dist").rglob("*.*") if path.is_file()}
    assert run("publish", "dist/org.example.Twice").exit_code == 0
    assert {path: path.read_bytes() for path in Path("dist").rglob("*.*") if path.is_file()} == before
