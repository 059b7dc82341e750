"""Checking a built package, and a lone manifest: what only they can have wrong."""

import base64
import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from scanbuild.checking.check import check_path
from scanbuild.errors import InputError
from scanbuild.package.manifest import parse_manifest
from scanbuild.package.metadata import synthesise_metadata
from tests.checking.packages import GOOD, copy_good, edit, errors, found

NAMES = ("manifest.json", "test.json", "rows.wgsl.jinja", "parts.wgsl.jinja", "merge.wgsl.jinja", "number.wgsl.jinja")


def metadata_of(folder: Path):
    texts = {name: (folder / name).read_bytes().decode("utf-8") for name in NAMES}
    manifest, problems = parse_manifest(json.loads(texts["manifest.json"]))
    assert manifest is not None, problems
    metadata: Any = synthesise_metadata(manifest, texts)
    for listed in metadata["webgpu"]["variants"].values():
        listed.append("number.wgsl.jinja")
    return metadata


@pytest.fixture
def built(tmp_path):
    """The good package as it is published: a root with build/webgpu/ in it."""
    source = copy_good(tmp_path)
    inner = tmp_path / "root" / "build" / "webgpu"
    inner.mkdir(parents=True)
    for name in NAMES:
        (inner / name).write_bytes((source / name).read_bytes())
    rewrite(inner)
    return inner


def rewrite(inner: Path, change=lambda metadata: None):
    """Write metadata that fit the files, changed."""
    metadata = metadata_of(inner)
    change(metadata)
    (inner / "metadata.json").write_text(json.dumps(metadata, indent=2), encoding="utf-8")


def test_a_sound_built_package_passes_as_root_and_as_folder(built):
    for path in (built, built.parent.parent):
        result = check_path(path)
        assert (result.kind, result.problems) == ("built", ())


def test_an_include_that_a_variant_does_not_list_is_an_error(built):
    rewrite(built, lambda m: m["webgpu"]["variants"]["plain"].remove("number.wgsl.jinja"))
    (problem,) = found(built, "include-unlisted")
    assert problem.path == "$.webgpu.variants.plain"
    assert "number.wgsl.jinja" in problem.message
    assert problem.line is not None


def test_a_template_whose_digest_does_not_hold_is_an_error(built):
    (built / "rows.wgsl.jinja").write_text("// changed\n", encoding="utf-8")
    (problem,) = [item for item in errors(check_path(built)) if item.rule == "digest"]
    assert problem.file == str(built / "rows.wgsl.jinja")
    assert problem.stage == "call"


def test_a_manifest_whose_digest_does_not_hold_is_refused_at_load(built):
    edit(built, lambda m: m.update(description="changed"))
    assert [item.stage for item in errors(check_path(built)) if item.rule == "digest"] == ["load"]


def test_a_file_that_is_not_listed_is_a_warning(built):
    (built / "notes.txt").write_text("notes", encoding="utf-8")
    assert [(item.rule, item.severity) for item in check_path(built).problems] == [("digest", "warning")]


def test_a_variant_that_is_not_listed_is_an_error_of_the_metadata(built):
    rewrite(built, lambda m: m["webgpu"]["variants"].pop("plain"))
    (problem,) = errors(check_path(built))
    assert problem.file == str(built / "metadata.json")
    assert "plain" in problem.message


def test_problems_of_metadata_and_manifest_are_told_together(built):
    rewrite(built, lambda m: m["backend"].update(type="cuda"))
    edit(built, lambda m: m["variants"][0].update(priority="high"))
    assert {Path(item.file).name for item in errors(check_path(built))} == {"metadata.json", "manifest.json"}


def test_an_unknown_member_in_the_cases_of_a_foreign_package_is_a_note(built):
    edit(built, lambda m: m["cases"][0].update(mood="good"), "test.json")
    rewrite(built)
    assert [(item.rule, item.severity) for item in check_path(built).problems] == [("unknown-member", "note")]


def test_a_broken_case_file_of_a_foreign_package_is_a_warning(built):
    edit(built, lambda m: m["cases"][0].update(inputs=3), "test.json")
    rewrite(built)
    result = check_path(built)
    assert not errors(result)
    assert result.count("warning")


def test_a_package_without_tests_is_noted(built):
    (built / "test.json").unlink()
    metadata = json.loads((built / "metadata.json").read_text(encoding="utf-8"))
    del metadata["digest"]["files"]["test.json"]
    (built / "metadata.json").write_text(json.dumps(metadata), encoding="utf-8")
    assert [item.rule for item in check_path(built).problems] == ["no-tests"]


def test_a_reference_beside_a_foreign_package_is_never_run(built):
    marker = built / "ran"
    (built / "reference.py").write_text(f"open({str(marker)!r}, 'w')\n", encoding="utf-8")
    check_path(built)
    assert not marker.exists()


def test_a_lone_manifest_is_checked_without_its_templates(tmp_path):
    path = tmp_path / "manifest.json"
    path.write_bytes((GOOD / "manifest.json").read_bytes())
    result = check_path(path)
    assert (result.kind, result.problems) == ("manifest", ())
    edit(tmp_path, lambda m: m["derive"].update(lines="1 +"))
    assert [item.rule for item in check_path(path).problems] == ["expression-syntax"]


def test_a_path_that_does_not_exist_is_an_input_error(tmp_path):
    with pytest.raises(InputError, match="no such file or folder"):
        check_path(tmp_path / "nowhere")


def test_a_folder_without_a_package_is_an_input_error(tmp_path):
    with pytest.raises(InputError, match="no package here"):
        check_path(tmp_path)


def marked(inner: Path) -> str:
    """Put a byte-order mark before a template; the digest of its bytes."""
    data = b"\xef\xbb\xbf" + (inner / "rows.wgsl.jinja").read_bytes()
    (inner / "rows.wgsl.jinja").write_bytes(data)
    return base64.b64encode(hashlib.sha256(data).digest()).decode("ascii")


def test_a_digest_over_a_byte_order_mark_is_an_error_because_the_loader_drops_the_mark(built):
    metadata = metadata_of(built)
    metadata["digest"]["files"]["rows.wgsl.jinja"] = marked(built)
    (built / "metadata.json").write_text(json.dumps(metadata, indent=2), encoding="utf-8")
    (problem,) = errors(check_path(built))
    assert (problem.rule, problem.stage) == ("digest", "call")
    assert "byte-order mark" in problem.hint


def test_a_digest_of_the_text_without_its_byte_order_mark_holds(built):
    marked(built)
    assert [(item.rule, item.severity) for item in check_path(built).problems] == [("bom", "warning")]


def test_a_case_that_expects_another_shape_is_a_warning_in_a_foreign_package(built):
    edit(built, lambda m: m["cases"][0]["outputs"]["y"].update(shape=[2, 1]), "test.json")
    rewrite(built)
    assert [(item.rule, item.severity) for item in check_path(built).problems] == [("case-output", "warning")]
