"""Section 1 of the format: arguments, URLs, the order of work, metadata, caching."""

import json
import threading
from typing import Any

import pytest

from scanbuild.errors import CallError, LoadError
from scanbuild.package.digest import digest_text
from scanbuild.package.load import LoadOptions, PackageCache, load_package, package_from_files, package_url
from scanbuild.package.manifest import read_manifest
from scanbuild.package.metadata import synthesise_metadata
from tests.package.building import PASS, SHADER, VARIANT, Server, files_of, manifest

OP_ID = "ai.onnx.Probe"
HUB = f"webgpu-kernels/{OP_ID}"
URL = "http://pkg.test/x"
COMMIT = "0123456789abcdef0123456789abcdef01234567"


def load(location: str = HUB, files: dict[str, str] | None = None, **options: Any) -> Any:
    given = {"version": 1, **options}
    return load_package(location, LoadOptions(**given), Server(files or files_of(manifest())))


def rules_of(error: LoadError) -> list[str]:
    return [problem.rule for problem in error.problems]


@pytest.mark.parametrize(
    ("location", "options"),
    [
        pytest.param(HUB, {"version": 0}, id="version zero is a version"),
        pytest.param(HUB, {"version": 1.0}, id="a whole float is a version"),
        pytest.param(HUB, {"revision": None}, id="a null revision counts as absent"),
        pytest.param(HUB, {"revision": ""}, id="an empty revision is a revision"),
        pytest.param(HUB, {"revision": 5}, id="a revision of another type is turned into text"),
        pytest.param("other/ai.onnx.Probe", {"trust_remote_code": True}, id="trust lifts the publisher rule"),
        pytest.param(URL, {"trust_remote_code": True, "expected_op_id": OP_ID}, id="a URL with all it needs"),
        pytest.param("", {"trust_remote_code": True, "expected_op_id": OP_ID}, id="the empty location is one"),
        pytest.param(HUB, {"expected_op_id": OP_ID}, id="the right op id may be expected of a repository"),
        pytest.param(HUB, {"templates": "some"}, id="another templates mode means selected"),
    ],
)
def test_arguments_the_loader_takes(location: str, options: dict[str, Any]) -> None:
    assert load(location, **options).manifest.op_id == OP_ID


@pytest.mark.parametrize(
    ("location", "options", "rule"),
    [
        pytest.param("other/ai.onnx.Probe", {}, "trust", id="another publisher is not trusted"),
        pytest.param("Webgpu-kernels/ai.onnx.Probe", {}, "trust", id="the publisher is compared with case"),
        pytest.param(URL, {"expected_op_id": OP_ID}, "trust", id="a URL is not trusted"),
        pytest.param("other/x", {"trust_remote_code": 1}, "trust", id="only the literal true is trust"),
        pytest.param(HUB, {"version": "1"}, "version", id="a version given as text"),
        pytest.param(HUB, {"version": None}, "version", id="a null version"),
        pytest.param(HUB, {"version": True}, "version", id="a boolean version"),
        pytest.param(HUB, {"version": -1}, "version", id="a negative version"),
        pytest.param(HUB, {"version": 2**53}, "version", id="a version beyond the safe integers"),
        pytest.param(HUB, {"version": "x", "revision": "main"}, "version", id="a bad version beside a revision"),
        pytest.param(URL, {"trust_remote_code": True}, "expected-op-id", id="a URL without expected op id"),
        pytest.param(HUB, {"expected_op_id": None}, "expected-op-id", id="a null expected op id is compared"),
        pytest.param(HUB, {"expected_op_id": ""}, "expected-op-id", id="an empty expected op id is compared"),
        pytest.param("webgpu-kernels/other", {}, "op-id", id="a repository called otherwise"),
    ],
)
def test_arguments_the_loader_refuses(location: str, options: dict[str, Any], rule: str) -> None:
    with pytest.raises(LoadError) as caught:
        load(location, **options)
    assert rules_of(caught.value) == [rule]


def test_without_version_and_revision_there_is_no_default_branch() -> None:
    with pytest.raises(LoadError, match="no default branch"):
        load_package(HUB, LoadOptions(), Server({}))


@pytest.mark.parametrize(
    ("options", "rule"),
    [
        pytest.param({"version": "x"}, "trust", id="trust comes before the version"),
        pytest.param({"version": "x", "trust_remote_code": True}, "version", id="the version before the op id"),
        pytest.param({"trust_remote_code": True}, "revision", id="the revision before the op id"),
        pytest.param({"trust_remote_code": True, "version": 1}, "expected-op-id", id="the op id before the network"),
    ],
)
def test_the_order_of_checks_before_any_network_access(options: dict[str, Any], rule: str) -> None:
    server = Server({})
    with pytest.raises(LoadError) as caught:
        load_package(URL, LoadOptions(**options), server)
    assert rules_of(caught.value) == [rule]
    assert server.urls == []


@pytest.mark.parametrize(
    ("location", "revision", "url"),
    [
        ("a/b", "v1", "https://huggingface.co/kernels/a/b/resolve/v1/build/webgpu/f"),
        ("a/b", "x/y z!", "https://huggingface.co/kernels/a/b/resolve/x%2Fy%20z!/build/webgpu/f"),
        ("a/b/", "é~*'()", "https://huggingface.co/kernels/a/b//resolve/%C3%A9~*'()/build/webgpu/f"),
        ("http://h/p", "v1", "http://h/p/build/webgpu/f"),
        ("HTTPS://h/p/", "v1", "HTTPS://h/p/build/webgpu/f"),
        ("http://h/p//", "v1", "http://h/p//build/webgpu/f"),
        ("/p/", "v1", "/p/build/webgpu/f"),
        ("./p", "v1", "./p/build/webgpu/f"),
        ("ftp://h/p", "v1", "https://huggingface.co/kernels/ftp://h/p/resolve/v1/build/webgpu/f"),
    ],
)
def test_where_a_file_is_fetched_from(location: str, revision: str, url: str) -> None:
    assert package_url(location, revision, "f") == url


def test_a_revision_wins_over_a_version() -> None:
    server = Server(files_of(manifest()))
    load_package(HUB, LoadOptions(version=1, revision="main"), server)
    assert "/resolve/main/" in server.urls[0]


def test_the_manifest_is_not_fetched_if_the_metadata_is_wrong() -> None:
    server = Server(files_of(manifest(), {"backend.type": "cuda"}))
    with pytest.raises(LoadError):
        load_package(HUB, LoadOptions(version=1), server)
    assert server.names == ["metadata.json"]


def test_templates_are_fetched_when_a_variant_needs_them_and_once() -> None:
    server = Server(files_of(manifest(), None, **{"t.wgsl": "// t"}))
    package = load_package(HUB, LoadOptions(version=1), server)
    assert server.names == ["metadata.json", "manifest.json"]
    assert package.templates("main") == package.templates("main") == {"s.wgsl": SHADER, "t.wgsl": "// t"}
    assert sorted(server.names[2:]) == ["s.wgsl", "t.wgsl"]


def test_concurrent_calls_share_the_fetch_of_a_template() -> None:
    server = Server(files_of(manifest()))
    package = load_package(HUB, LoadOptions(version=1), server)
    threads = [threading.Thread(target=package.templates, args=("main",)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert server.names.count("s.wgsl") == 1


def test_a_missing_template_is_a_call_error_and_tried_again() -> None:
    server = Server(files_of(manifest()))
    text = server.files.pop("s.wgsl")
    package = load_package(HUB, LoadOptions(version=1), server)
    with pytest.raises(CallError, match=r"s\.wgsl"):
        package.templates("main")
    server.files["s.wgsl"] = text
    assert package.templates("main") == {"s.wgsl": text}


def test_a_changed_template_is_a_call_error_unless_nothing_is_verified() -> None:
    files = {**files_of(manifest()), "s.wgsl": "changed"}
    with pytest.raises(CallError, match="digest"):
        load(files=files).templates("main")
    assert load(files=files, verify_hashes=False).templates("main") == {"s.wgsl": "changed"}


def test_prefetching_verifies_every_listed_template_at_load_and_offers_all() -> None:
    files = files_of(manifest(), {"webgpu.variants.main": ["s.wgsl"]}, **{"t.wgsl": "// t", "notes.txt": "n"})
    del files["notes.txt"]
    assert set(load(files=files, templates="all").templates("main")) == {"s.wgsl", "t.wgsl"}
    assert set(load(files=files).templates("main")) == {"s.wgsl"}
    files["t.wgsl"] = "changed"
    with pytest.raises(LoadError) as caught:
        load(files=files, templates="all")
    assert [problem.stage for problem in caught.value.problems] == ["load"]


@pytest.mark.parametrize("flag", [0, None, "false", 1])
def test_only_the_literal_false_turns_verification_off(flag: object) -> None:
    files = {**files_of(manifest())}
    files["manifest.json"] += " "
    with pytest.raises(LoadError, match="digest"):
        load(files=files, verify_hashes=flag)
    load(files=files, verify_hashes=False)


METADATA_RULES = [
    ("the backend type is webgpu", {"backend.type": "webgpu"}, {"backend.type": "WebGPU"}),
    ("the manifest spec is 2.1", {"webgpu.manifestSpec": "2.1"}, {"webgpu.manifestSpec": "2.10"}),
    ("the manifest spec is converted to text", {"webgpu.manifestSpec": 2.1}, {"webgpu.manifestSpec": 2}),
    ("the digest algorithm is sha256", {"digest.algorithm": "sha256"}, {"digest.algorithm": "SHA256"}),
    ("a digest path has plain characters", {"digest.files": {"a-b_c": "x"}}, {"digest.files": {"a b": "x"}}),
    ("a digest path has no two dots in a row", {"digest.files": {"a/./b": ""}}, {"digest.files": {"a/../b": ""}}),
    ("no segment is a prototype name", {"digest.files": {"valueOf.txt": ""}}, {"digest.files": {"a/valueOf": ""}}),
    ("a digest is a text", {"digest.files": {"a": ""}}, {"digest.files": {"a": None}}),
    ("a list of templates is not empty", {"webgpu.variants.main": ["s.wgsl"]}, {"webgpu.variants.main": []}),
    ("a template may be listed twice", {"webgpu.variants.main": ["s.wgsl"] * 2}, {"webgpu.variants.main": "s.wgsl"}),
    (
        "a listed template is digested",
        {"webgpu.variants.main": ["s.wgsl"]},
        {"webgpu.variants.main": ["s.wgsl", "t.wgsl"]},
    ),
    ("a listed template ends in wgsl", {}, {"webgpu.variants.main": ["s.wgsl", "manifest.json"]}),
    ("a variant id is a stable id", {}, {"webgpu.variants": {"main": ["s.wgsl"], "_a": ["s.wgsl"]}}),
    ("the variants are those of the manifest", {}, {"webgpu.variants": {"main": ["s.wgsl"], "two": ["s.wgsl"]}}),
    ("the variants are an object", {}, {"webgpu.variants": [["s.wgsl"]]}),
    ("the name is the op id", {"name": OP_ID}, {"name": "Probe"}),
    ("unknown members are ignored", {"constructor": 1, "webgpu.more": None}, {"webgpu": None}),
]


def metadata_files(edits: dict[str, Any]) -> dict[str, str]:
    """Files with edited metadata; digests are added to those that are there."""
    files = files_of(manifest(), {path: value for path, value in edits.items() if path != "digest.files"})
    metadata = json.loads(files["metadata.json"])
    metadata["digest"]["files"].update(edits.get("digest.files", {}))
    return {**files, "metadata.json": json.dumps(metadata)}


@pytest.mark.parametrize("edits", [rule[1] for rule in METADATA_RULES], ids=[rule[0] for rule in METADATA_RULES])
def test_metadata_the_loader_takes(edits: dict[str, Any]) -> None:
    load(files=metadata_files(edits))


@pytest.mark.parametrize("edits", [rule[2] for rule in METADATA_RULES], ids=[rule[0] for rule in METADATA_RULES])
def test_metadata_the_loader_refuses(edits: dict[str, Any]) -> None:
    with pytest.raises(LoadError) as caught:
        load(files=metadata_files(edits))
    (problem,) = caught.value.problems
    assert (problem.file, problem.line) == ("metadata.json", 1)


@pytest.mark.parametrize("kind", ["array", "null", "broken"])
def test_metadata_and_manifest_have_to_be_objects(kind: str) -> None:
    text = {"array": "[]", "null": "null", "broken": "{"}[kind]
    for name in ("metadata.json", "manifest.json"):
        with pytest.raises(LoadError) as caught:
            load(files={**files_of(manifest()), name: text}, verify_hashes=False)
        assert caught.value.problems[0].file == name


def test_every_shader_has_to_be_listed_for_its_variant_by_its_exact_path() -> None:
    group = {"repeat": {"index": "i", "count": 1}, "passes": [{**PASS, "shader": "t.wgsl"}]}
    value = manifest(variants=[{**VARIANT, "passes": [PASS, group]}])
    load(files=files_of(value, None, **{"t.wgsl": ""}))
    with pytest.raises(LoadError, match=r"t\.wgsl"):
        load(files=files_of(value))


def test_all_problems_of_the_metadata_are_reported_at_once() -> None:
    with pytest.raises(LoadError) as caught:
        load(files=metadata_files({"backend.type": 1, "digest.algorithm": 2, "webgpu.manifestSpec": 3}))
    assert len(caught.value.problems) == 3


def test_synthesised_metadata_makes_a_package_load() -> None:
    files = {"manifest.json": json.dumps(manifest()), "s.wgsl": SHADER}
    metadata = synthesise_metadata(read_manifest(files["manifest.json"]), files)
    package = package_from_files({**files, "metadata.json": json.dumps(metadata)})
    assert package.templates("main") == {"s.wgsl": SHADER}
    assert package.metadata.files["s.wgsl"] == digest_text(SHADER)


# --- caching (1.8) ---------------------------------------------------------------------------------------------


def cached(cache: PackageCache, server: Server, location: str = HUB, **options: Any) -> Any:
    return load_package(location, LoadOptions(**{"revision": COMMIT, **options}), server, cache)


def test_a_package_loaded_by_commit_is_loaded_once() -> None:
    cache, server = PackageCache(), Server(files_of(manifest()))
    assert cached(cache, server) is cached(cache, server, token="t")
    assert len(server.urls) == 2


@pytest.mark.parametrize(
    "options",
    [{"revision": COMMIT[::-1]}, {"verify_hashes": False}, {"templates": "all"}, {"location": "./ai.onnx.Probe"}],
    ids=["revision", "verify flag", "templates mode", "location"],
)
def test_what_makes_another_key(options: dict[str, Any]) -> None:
    cache, server = PackageCache(), Server(files_of(manifest()))
    first = cached(cache, server, trust_remote_code=True)
    assert cached(cache, server, **{"trust_remote_code": True, **options}) is not first


@pytest.mark.parametrize("revision", ["main", COMMIT.upper(), COMMIT[1:]])
def test_other_revisions_are_fetched_anew(revision: str) -> None:
    cache, server = PackageCache(), Server(files_of(manifest()))
    assert cached(cache, server, revision=revision) is not cached(cache, server, revision=revision)


def test_a_hit_checks_neither_the_need_for_nor_the_value_of_the_op_id_but_trust_and_version() -> None:
    cache, server = PackageCache(), Server(files_of(manifest()))
    first = cached(cache, server, URL, trust_remote_code=True, expected_op_id=OP_ID)
    assert cached(cache, server, URL, trust_remote_code=True) is first
    assert cached(cache, server, URL, trust_remote_code=True, expected_op_id="other") is first
    with pytest.raises(LoadError, match="published"):
        cached(cache, server, URL)
    with pytest.raises(LoadError, match="version"):
        cached(cache, server, URL, trust_remote_code=True, version="x")


def test_a_failed_load_is_not_kept() -> None:
    cache, server = PackageCache(), Server({})
    with pytest.raises(LoadError):
        cached(cache, server)
    server.files = files_of(manifest())
    assert cached(cache, server).manifest.op_id == OP_ID


def test_the_cache_keeps_the_packages_used_last() -> None:
    cache, server = PackageCache(2), Server(files_of(manifest()))
    commits = [COMMIT[:-1] + digit for digit in "abc"]
    first, second = (cached(cache, server, revision=commit) for commit in commits[:2])
    assert cached(cache, server, revision=commits[0]) is first
    cached(cache, server, revision=commits[2])
    assert cached(cache, server, revision=commits[0]) is first
    assert cached(cache, server, revision=commits[1]) is not second
