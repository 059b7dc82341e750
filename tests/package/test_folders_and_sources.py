"""Packages and sources in folders, digests, and text."""

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import kernels_data
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from scanbuild.errors import CallError, InputError, LoadError
from scanbuild.package.digest import digest_bytes, digest_text, folder_digests
from scanbuild.package.folder import FolderFetch, digest_problems, open_folder
from scanbuild.package.load import LoadOptions
from scanbuild.package.opening import open_package
from scanbuild.package.source import inspect_source, read_source
from scanbuild.package.text import decode, encode
from tests.package.building import SHADER, edited, files_of, manifest


def write(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(encode(text))
    return folder


@pytest.fixture
def built(tmp_path: Path) -> Path:
    write(tmp_path / "build" / "webgpu", files_of(manifest()))
    return tmp_path


@pytest.fixture
def source(tmp_path: Path) -> Path:
    folder = tmp_path / "ai.onnx.Probe"
    files = {"manifest.json": json.dumps(manifest(), indent=1), "test.json": "{}", "bench.json": "{}", "s.wgsl": SHADER}
    return write(folder, files)


# --- built packages --------------------------------------------------------------------------------------------


def test_a_built_root_and_its_inner_folder_are_the_same_package(built: Path) -> None:
    for folder in (built, built / "build" / "webgpu"):
        package = open_folder(folder)
        assert package.manifest.op_id == "ai.onnx.Probe"
        assert package.templates("main") == {"s.wgsl": SHADER}


def test_a_folder_needs_neither_trust_nor_version(built: Path) -> None:
    assert open_package(str(built), LoadOptions()).manifest.name == "Probe"
    with pytest.raises(LoadError, match="expected"):
        open_package(built, LoadOptions(expected_op_id="ai.onnx.Other"))
    assert open_package(built, LoadOptions(templates="all")).prefetched


@pytest.mark.parametrize("location", ["no/such/folder", "", "nowhere", "ftp://h/x"])
def test_a_location_that_is_nothing_is_an_input_error(location: str) -> None:
    with pytest.raises(InputError):
        open_package(location, LoadOptions(), fetch=lambda url: b"")


def test_a_mistyped_folder_that_looks_like_a_repository_is_told_as_a_folder() -> None:
    with pytest.raises(InputError, match=r"no such folder.*version or a revision"):
        open_package("dist/ai.onnx.Nothing", LoadOptions(), fetch=lambda url: b"")


def test_a_folder_without_a_package_says_what_it_looked_for(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"build/webgpu/metadata\.json"):
        open_folder(tmp_path)
    with pytest.raises(InputError, match="no such folder"):
        open_folder(tmp_path / "x")


def test_problems_of_metadata_and_manifest_come_together_with_their_files(tmp_path: Path) -> None:
    value = manifest(zzz=1)
    write(tmp_path, files_of(value, {"backend.type": "x"}))
    with pytest.raises(LoadError) as caught:
        open_folder(tmp_path)
    found = {(Path(problem.file).name, problem.path) for problem in caught.value.problems}
    assert found == {("metadata.json", "$.backend.type"), ("manifest.json", "$.zzz")}
    assert all(problem.file.startswith(str(tmp_path)) for problem in caught.value.problems)


def test_a_changed_file_is_found_by_its_digest(built: Path) -> None:
    inner = built / "build" / "webgpu"
    (inner / "s.wgsl").write_text("changed", "utf-8")
    (inner / "new.txt").write_text("new", "utf-8")
    package = open_folder(built)
    with pytest.raises(CallError, match="digest"):
        package.templates("main")
    names = [Path(problem.file).name for problem in digest_problems(package, built)]
    assert names == ["new.txt", "s.wgsl"]
    (inner / "manifest.json").write_text("{}", "utf-8")
    with pytest.raises(LoadError, match="digest"):
        open_folder(built)


@pytest.mark.parametrize("target", ["/etc/passwd", "../../../secret.wgsl"])
def test_a_link_that_leaves_the_package_is_refused(built: Path, target: str) -> None:
    (built.parent / "secret.wgsl").write_text("secret", "utf-8")
    shader = built / "build" / "webgpu" / "s.wgsl"
    shader.unlink()
    shader.symlink_to(target)
    with pytest.raises(CallError, match="outside"):
        open_folder(built).templates("main")
    with pytest.raises(InputError, match="leads out"):
        folder_digests(built / "build" / "webgpu")


def test_what_is_no_regular_file_is_refused(built: Path) -> None:
    shader = built / "build" / "webgpu" / "s.wgsl"
    shader.unlink()
    os.mkfifo(shader)
    with pytest.raises(CallError, match="regular"):
        open_folder(built).templates("main")


@pytest.mark.parametrize("path", ["../x", "a/../../x", "\0", "x" * 5000, "s.wgsl/x"])
def test_no_path_upsets_the_reader(built: Path, path: str) -> None:
    from scanbuild.package.fetching import FetchError

    with pytest.raises(FetchError):
        FolderFetch(built / "build" / "webgpu")(path)


def test_a_file_beyond_the_limit_is_refused(built: Path) -> None:
    from scanbuild.package.fetching import FetchError

    with pytest.raises(FetchError, match="larger"):
        FolderFetch(built / "build" / "webgpu", max_bytes=5)("s.wgsl")


# --- digests and text ------------------------------------------------------------------------------------------


def test_digests_are_those_of_kernels_data(built: Path) -> None:
    inner = built / "build" / "webgpu"
    write(inner, {"rendered/a/b.wgsl": "x", "é.txt": "\ufeffbom\r\n", ".hidden": "", "nested/metadata.json": "{}"})
    expected = kernels_data.Digest.hash_variant(kernels_data.DigestAlgorithm.SHA256, inner)
    assert folder_digests(inner) == dict(expected.files)


def test_a_digest_is_taken_over_the_decoded_text() -> None:
    assert digest_text("abc") == digest_bytes(b"abc") == "ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0="
    assert digest_text(decode(b"\xef\xbb\xbfabc")) == digest_text("abc")
    assert digest_text(decode(b"\xff")) == digest_bytes("\ufffd".encode())
    assert digest_text("\ud800") == digest_bytes("\ufffd".encode())


@given(st.text(alphabet=st.characters(exclude_categories=["Cs"])))
def test_text_survives_encoding_and_decoding(text: str) -> None:
    assert decode(b"\xef\xbb\xbf" + encode(text)) == text


@given(st.binary())
@example(b"\xef\xbb\xbf\xef\xbb\xbfx")
def test_any_bytes_decode(data: bytes) -> None:
    assert encode(decode(data)).decode("utf-8") == decode(data)


@pytest.mark.skipif(shutil.which("node") is None, reason="compares with the TextDecoder of node")
def test_decoding_is_that_of_the_browser() -> None:
    samples = [
        b"\xff",
        b"a\xe2\x82b",
        b"\xed\xa0\x80",
        b"\xf0\x9f\x98",
        b"\xc0\xaf",
        b"\xf5\x80",
        b"\xef\xbb\xbfx",
        b"\xe2\x28",
    ]
    script = (
        "console.log(JSON.stringify(JSON.parse(process.argv[1]).map(b=>new TextDecoder().decode(Uint8Array.from(b)))))"
    )
    command = ["node", "-e", script, json.dumps([list(sample) for sample in samples])]
    answer = subprocess.run(command, capture_output=True, check=True, timeout=30).stdout
    assert [decode(sample) for sample in samples] == json.loads(answer)


# --- sources ---------------------------------------------------------------------------------------------------


def test_a_source_is_read_with_templates_fragments_and_the_path_of_its_reference(source: Path) -> None:
    write(source.parent, {"_shared/fold.wgsl.jinja": "// fold", "_shared/notes.md": ""})
    write(source, {"reference.py": "raise SystemExit", "sub/t.wgsl.jinja": "// t", "build/webgpu/u.wgsl": ""})
    read = read_source(source)
    assert read.manifest is not None
    assert set(read.templates) == {"s.wgsl", "sub/t.wgsl.jinja"}
    assert read.shared == {"_shared/fold.wgsl.jinja": "// fold"}
    assert read.reference == source / "reference.py"
    assert read.files["test.json"].value == {}


def test_all_problems_of_a_source_are_reported_at_once(source: Path) -> None:
    (source / "bench.json").unlink()
    (source / "s.wgsl").rename(source / "t.wgsl")
    write(source, {"test.json": "{,}", "manifest.json": json.dumps(edited(manifest(), {"derive": {"a b": 1}}))})
    found = inspect_source(source).problems
    assert {(Path(problem.file).name, problem.rule) for problem in found} == {
        ("bench.json", "file"),
        ("test.json", "json"),
        ("manifest.json", "identifier"),
    }
    with pytest.raises(InputError) as caught:
        read_source(source)
    assert len(caught.value.problems) == 3


@pytest.mark.parametrize(
    ("shader", "words"),
    [("t.wgsl", 'no template "t.wgsl"'), ("../s.wgsl", "cannot be a shader"), ("s.txt", "cannot be a shader")],
)
def test_a_shader_that_is_not_there_is_shown_in_the_manifest(source: Path, shader: str, words: str) -> None:
    value = manifest(variants__0__passes__0__shader=shader)
    write(source, {"manifest.json": json.dumps(value, indent=1)})
    (problem,) = inspect_source(source).problems
    assert words in problem.message
    assert problem.path == "$.variants[0].passes[0].shader"
    assert problem.stage == "own"


def test_a_key_written_twice_is_a_warning(source: Path) -> None:
    text = json.dumps(manifest())
    write(source, {"manifest.json": '{"name": "Other", ' + text[1:]})
    read = read_source(source)
    assert [(problem.rule, problem.severity) for problem in read.problems] == [("duplicate-key", "warning")]


def test_a_link_out_of_a_source_is_refused(source: Path) -> None:
    (source / "t.wgsl").symlink_to("/etc/passwd")
    assert [problem.rule for problem in inspect_source(source).problems] == ["file"]


def test_a_folder_that_is_none_is_an_input_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such folder"):
        inspect_source(tmp_path / "x")


def test_a_mistake_is_not_reported_by_parser_and_schema_both(source: Path) -> None:
    edits: dict[str, Any] = {"inputs.x.dtype": 5}
    write(source, {"manifest.json": json.dumps(edited(manifest(), edits))})
    assert len(inspect_source(source).problems) == 1
