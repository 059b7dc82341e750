"""render and publish as a user meets them."""

import json
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from scanbuild import gpu
from scanbuild.commands import main
from scanbuild.package.folder import open_folder
from scanbuild.resources import data_folder
from tests.publishing.packages import SHADER, manifest, write_source

REPOSITORY = Path(__file__).resolve().parents[2]


pytestmark = pytest.mark.usefixtures("bare")


def run(*arguments: object) -> Result:
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


def good(*arguments: object) -> Result:
    result = run(*arguments)
    assert result.exit_code == 0, result.output
    return result


def content(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture
def source(tmp_path):
    return write_source(tmp_path / "sources")


@pytest.fixture
def rendered(source):
    good("render", source)
    return source


def test_render_says_what_it_did_and_where_the_result_lies(source):
    output = good("render", source).output
    assert "org.example.Twice" in output and "build/webgpu" in output


def test_rendering_again_changes_nothing(rendered):
    before = content(Path("build"))
    good("render", rendered)
    assert content(Path("build")) == before


def test_the_only_package_under_templates_is_the_default(source):
    shutil.copytree(source.parent, "templates")
    good("render")
    assert Path("build/webgpu/metadata.json").is_file()


def test_a_source_one_stands_in_is_the_default_and_may_be_rendered_into_itself(source, monkeypatch):
    monkeypatch.chdir(source)
    good("render")
    good("render")
    good("render", "--check")
    assert json.loads(Path("build/webgpu/metadata.json").read_text())["name"] == "org.example.Twice"
    Path("manifest.json").write_text("{}")
    assert run("check").exit_code == 1


def test_where_no_source_is_render_says_how_to_get_one(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = run("render")
    assert result.exit_code == 2
    assert "no source package here" in result.stderr and "scanbuild init" in result.stderr


def test_several_packages_have_to_be_chosen_from(source):
    shutil.copytree(source.parent, "templates")
    shutil.copytree(source, "templates/Other")
    result = run("render")
    assert result.exit_code == 2
    assert "templates/Other" in result.stderr and "templates/Twice" in result.stderr


def test_a_failed_render_leaves_the_last_good_build(rendered):
    before = content(Path("build"))
    (rendered / "twice.wgsl.jinja").write_text(SHADER + "{{ 1 / }}")
    result = run("render", rendered)
    assert result.exit_code == 2
    assert "twice.wgsl.jinja:9" in result.stderr
    assert content(Path("build")) == before


def test_a_folder_that_is_not_there_is_wrong_input():
    result = run("render", "nowhere")
    assert result.exit_code == 2
    assert "nowhere" in result.stderr


def test_malformed_json_is_told_with_line_and_column(source):
    (source / "manifest.json").write_text('{\n  "name": }')
    result = run("render", source)
    assert result.exit_code == 2
    assert "manifest.json:2:11" in result.stderr


def test_check_is_content_with_what_render_wrote(rendered):
    before = content(Path("build"))
    good("render", rendered, "--check")
    assert content(Path("build")) == before


def test_check_names_stale_edited_missing_and_extra_files(rendered):
    folder = Path("build/webgpu")
    (folder / "twice.wgsl.jinja").write_text("edited")
    (folder / "extra.txt").write_text("x")
    (folder / "bench.json").unlink()
    result = run("render", rendered, "--check")
    assert result.exit_code == 1
    assert [line.split(": ")[1] for line in result.stderr.splitlines()] == [
        "build/webgpu/bench.json",
        "build/webgpu/extra.txt",
        "build/webgpu/twice.wgsl.jinja",
    ]


def test_check_sees_that_the_source_moved_on(rendered):
    (rendered / "manifest.json").write_text(json.dumps(manifest(description="Other.")))
    result = run("render", rendered, "--check")
    assert result.exit_code == 1
    assert "manifest.json" in result.stderr and "metadata.json" in result.stderr


def test_check_finds_everything_missing_where_nothing_was_built(source):
    assert run("render", source, "--check").exit_code == 1
    assert not Path("build").exists()


def test_a_folder_chosen_with_root_is_made(source, tmp_path):
    good("render", source, "--root", tmp_path / "a" / "b")
    assert (tmp_path / "a" / "b" / "build" / "webgpu" / "manifest.json").is_file()


def test_what_an_adapter_would_get_goes_beside_the_package(source, monkeypatch):
    monkeypatch.undo()
    if not gpu.list_adapters("wgpu"):
        pytest.skip("no WebGPU adapter")
    monkeypatch.chdir(source.parent)
    good("render", source)
    local = content(Path("build/local"))
    assert {"device.json", "index.json"} < local.keys()
    assert any(name.endswith(".wgsl") for name in local)
    assert "local" not in json.dumps(sorted(content(Path("build/webgpu"))))


def test_a_local_rendering_of_an_adapter_that_is_gone_is_removed(rendered):
    Path("build/local").mkdir()
    Path("build/local/device.json").write_text("{}")
    good("render", rendered)
    assert not Path("build/local").exists()


def test_publish_lays_out_package_and_card(rendered):
    output = good("publish").output
    folder = Path("dist/org.example.Twice")
    assert str(folder) in output
    assert content(folder / "build" / "webgpu") == content(Path("build/webgpu"))
    assert set(content(folder)) - {f"build/webgpu/{name}" for name in content(Path("build/webgpu"))} == {"README.md"}
    assert (folder / "README.md").read_text().startswith("---\nlibrary_name: kernels\n")
    assert open_folder(folder).manifest.op_id == folder.name


def test_publishing_again_gives_the_same_bytes(rendered, tmp_path):
    good("publish")
    good("publish", "build/webgpu", "--out", tmp_path / "other")
    good("publish", "dist/org.example.Twice")
    assert content(Path("dist")) == content(tmp_path / "other")


@pytest.mark.parametrize("name", ["twice.wgsl.jinja", "test.json", "rendered/index.json", "manifest.json"])
def test_publish_refuses_a_package_that_was_edited(rendered, name):
    path = Path("build/webgpu", name)
    path.write_bytes(path.read_bytes() + b"\n")
    result = run("publish")
    assert result.exit_code == 1
    assert name in result.stderr
    assert not Path("dist").exists()


def test_publish_refuses_a_file_that_no_digest_covers(rendered):
    Path("build/webgpu/extra.txt").write_text("x")
    result = run("publish")
    assert result.exit_code == 1
    assert "extra.txt" in result.stderr


def test_publish_refuses_a_package_that_the_loader_would_refuse(rendered):
    path = Path("build/webgpu/metadata.json")
    path.write_text(path.read_text().replace('"manifestSpec": "2.1"', '"manifestSpec": "3.0"'))
    result = run("publish")
    assert result.exit_code == 2
    assert "3.0" in result.stderr


@pytest.mark.parametrize("text", ["no json", "[]", '{"name": "org.example.Twice"}', None])
def test_publish_and_verify_agree_on_metadata_that_does_not_load(rendered, text):
    path = Path("build/webgpu/metadata.json")
    path.write_text(path.read_text().replace('"sha256"', '"md5"') if text is None else text)
    published, verified = run("publish"), run("verify")
    assert published.exit_code == verified.exit_code == 2
    assert published.stderr == verified.stderr
    assert not Path("dist").exists()


def test_publish_refuses_a_name_that_no_repository_can_have(source):
    (source / "manifest.json").write_text(json.dumps(manifest(name="A/../B")))
    good("render", source)
    result = run("publish")
    assert result.exit_code == 2
    assert "repository" in result.stderr
    assert not Path("dist").exists()


def test_publish_does_not_replace_a_folder_with_other_things_in_it(rendered):
    good("publish")
    Path("dist/org.example.Twice/.git").mkdir()
    result = run("publish")
    assert result.exit_code == 2
    assert ".git" in result.stderr and "--out" in result.stderr


def test_publish_without_a_package_is_wrong_input():
    result = run("publish")
    assert result.exit_code == 2
    assert "scanbuild render" in result.stderr


def test_a_refused_package_leaves_what_was_published_before(rendered):
    good("publish")
    before = content(Path("dist"))
    Path("build/webgpu/test.json").write_text("{}")
    assert run("publish").exit_code == 1
    assert content(Path("dist")) == before


def test_scan_is_rendered_in_good_time(tmp_path):
    """The limit is 5 s on a quiet machine; time on a shared processor counts more than it would alone."""
    start = time.process_time()
    good("render", data_folder("templates") / "ai.onnx.Scan", "--root", tmp_path)
    assert time.process_time() - start < 8


@pytest.mark.long
def test_an_installed_wheel_works_outside_of_the_checkout(tmp_path):
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, "wheel", "--no-deps", "--wheel-dir", tmp_path, REPOSITORY], check=True)
    (wheel,) = tmp_path.glob("scanbuild-*.whl")
    subprocess.run([*pip, "install", "--no-deps", "--target", tmp_path / "site", wheel], check=True)
    program = f"import sys; sys.path.insert(0, {str(tmp_path / 'site')!r}); from scanbuild.commands import main; main()"
    scan = tmp_path / "site" / "scanbuild" / "_data" / "templates" / "ai.onnx.Scan"
    for command in (["render", str(scan)], ["render", str(scan), "--check"], ["publish"]):
        done = subprocess.run(
            [sys.executable, "-c", program, *command], cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
    assert (tmp_path / "dist" / "ai.onnx.Scan" / "README.md").is_file()
