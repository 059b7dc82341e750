"""From a source to the files of a package."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from kernels_data import Digest, DigestAlgorithm

from scanbuild.cases.requests import case_request
from scanbuild.errors import InputError
from scanbuild.package.folder import digest_problems, open_folder
from scanbuild.package.source import read_source
from scanbuild.planning.planner import Planner
from scanbuild.planning.profiles import profile
from scanbuild.publishing.build import Build, build, check_source, with_provenance_of
from scanbuild.publishing.provenance import Provenance
from scanbuild.publishing.writer import differences, write_folder
from scanbuild.resources import data_folder
from tests.publishing.packages import SHADER, SHARED, bench, case, manifest, write_source

SHA = "0123456789abcdef0123456789abcdef01234567"
DEVICES = {name: profile(name) for name in ("chrome-apple", "webgpu-defaults")}


def built(folder: Path, changes: dict[str, Any] | None = None, provenance: Provenance | None = None) -> Build:
    return build(check_source(write_source(folder, **changes or {})), DEVICES, provenance)


def metadata(made: Build):
    return json.loads(made.files["metadata.json"])


def index(made: Build):
    return json.loads(made.files["rendered/index.json"])


def refusal(folder: Path, changes: dict[str, Any]) -> str:
    with pytest.raises(InputError) as caught:
        built(folder, changes)
    return str(caught.value)


def test_a_package_holds_what_the_loader_needs_and_no_reference(tmp_path):
    assert set(built(tmp_path).files) == {
        "manifest.json",
        "metadata.json",
        "test.json",
        "bench.json",
        "twice.wgsl.jinja",
        "rendered/index.json",
        *(name for name in built(tmp_path).files if re.fullmatch(r"rendered/plain/double\.[0-9a-f]{8}\.wgsl", name)),
    }


def test_metadata_names_the_package_and_its_templates(tmp_path):
    content = metadata(built(tmp_path))
    assert list(content) == ["name", "id", "version", "license", "backend", "digest", "webgpu"]
    assert content["name"] == "org.example.Twice"
    assert re.fullmatch(r"_org_example_twice_webgpu_[0-9a-f]{7}", content["id"])
    assert (content["version"], content["license"]) == (1, "apache-2.0")
    assert content["backend"] == {"type": "webgpu"}
    assert content["webgpu"] == {"manifestSpec": "2.1", "variants": {"plain": ["twice.wgsl.jinja"]}}


def test_the_digests_are_those_of_the_hub(tmp_path):
    made = built(tmp_path)
    write_folder(tmp_path / "out", made.files, ["metadata.json"])
    hashed = Digest.hash_variant(DigestAlgorithm.SHA256, str(tmp_path / "out")).files
    assert metadata(made)["digest"] == {"algorithm": "sha256", "files": dict(hashed)}
    assert set(hashed) == set(made.files) - {"metadata.json"}


def test_the_loader_takes_what_was_built(tmp_path):
    write_folder(tmp_path / "root" / "build" / "webgpu", built(tmp_path).files, ["metadata.json"])
    package = open_folder(tmp_path / "root")
    assert package.manifest.op_id == "org.example.Twice"
    assert digest_problems(package, tmp_path / "root") == []


def test_a_shared_fragment_is_folded_into_the_template(tmp_path):
    text = built(tmp_path).files["twice.wgsl.jinja"].decode()
    assert text == SHADER.replace('{% include "_shared/index.wgsl.jinja" %}\n', SHARED)


def test_folding_does_not_change_what_is_rendered(tmp_path):
    made = built(tmp_path)
    source = read_source(tmp_path / "Twice")

    class AsWritten:
        manifest = made.package.manifest

        def templates(self, variant_id: str):
            return {**source.templates, **source.shared}

    for item in made.cases:
        request = case_request(item.case, made.package.manifest)
        for device in DEVICES.values():
            plan, other = (Planner(package=one).prepare(request, device).plan for one in (AsWritten(), made.package))
            assert plan == other


def test_includes_within_the_package_stay_and_are_listed(tmp_path):
    made = built(
        tmp_path,
        {
            "Twice/twice.wgsl.jinja": SHADER.replace("_shared/index", "./parts/index"),
            "Twice/parts/index.wgsl.jinja": SHARED,
        },
    )
    assert metadata(made)["webgpu"]["variants"] == {"plain": ["twice.wgsl.jinja", "parts/index.wgsl.jinja"]}
    assert made.files["parts/index.wgsl.jinja"].decode() == SHARED
    assert "include" in made.files["twice.wgsl.jinja"].decode()
    assert made.warnings == ()


def test_a_template_that_no_variant_uses_is_told_and_left_out(tmp_path):
    made = built(tmp_path, {"Twice/spare.wgsl.jinja": "x"})
    assert "spare.wgsl.jinja" not in made.files
    assert [Path(problem.file).name for problem in made.warnings] == ["spare.wgsl.jinja"]


def test_a_variant_that_no_case_reaches_is_told(tmp_path):
    variants = manifest()["variants"]
    more = manifest(variants=[*variants, {**variants[0], "id": "never", "priority": -1}])
    (warning,) = built(tmp_path, {"Twice/manifest.json": more}).warnings
    assert "`never`" in warning.message


def test_the_index_says_which_case_on_which_device_gives_which_file(tmp_path):
    made = built(tmp_path)
    content = index(made)
    assert content["devices"] == list(DEVICES)
    assert [(item["file"], item["case"]) for item in content["cases"]] == [
        ("test.json", "small"),
        ("test.json", "empty"),
        ("test.json", "whole"),
        ("bench.json", "large"),
    ]
    (result,) = content["cases"][0]["results"]
    assert (result["devices"], result["variant"]) == (list(DEVICES), "plain")
    (name,) = result["files"]
    assert "3u" in made.files[f"rendered/{name}"].decode()
    assert sorted(content["files"]) == sorted(
        name.removeprefix("rendered/") for name in made.files if name.endswith(".wgsl")
    )


def test_the_index_keeps_to_its_schema(tmp_path):
    schema = json.loads((data_folder("schemas") / "index.schema.json").read_text())
    made = built(tmp_path, {"Twice/bench.json": {"cases": [bench("huge", 2**28)]}})
    assert list(Draft202012Validator(schema).iter_errors(index(made))) == []


def test_equal_texts_are_kept_once(tmp_path):
    cases = {"cases": [case("one", 7), case("two", 7), case("three", 8)]}
    made = built(tmp_path, {"Twice/test.json": cases, "Twice/bench.json": {"cases": [bench("four", 8)]}})
    assert len(made.rendering.files) == 2


def test_the_same_sources_give_the_same_bytes_wherever_they_lie(tmp_path):
    assert built(tmp_path / "a").files == built(tmp_path / "deeper" / "b").files


def test_the_id_stands_for_the_content_and_not_for_the_commit(tmp_path):
    plain = metadata(built(tmp_path / "a"))["id"]
    commit = metadata(built(tmp_path / "b", provenance=Provenance(sha=SHA, dirty=True)))["id"]
    other = metadata(built(tmp_path / "c", {"Twice/twice.wgsl.jinja": SHADER + "// more\n"}))["id"]
    assert plain == commit != other


def test_provenance_is_what_git_said(tmp_path):
    content = metadata(built(tmp_path, provenance=Provenance(sha=SHA, dirty=False)))
    assert content["provenance"] == {"kernel": {"sha": SHA, "dirty": False}}


@pytest.mark.parametrize("ours", [None, Provenance(sha="f" * 40, dirty=False)])
@pytest.mark.parametrize("theirs", [None, Provenance(sha=SHA, dirty=True)])
def test_a_check_takes_the_commit_from_the_build_it_checks(tmp_path, ours, theirs):
    old = built(tmp_path, provenance=theirs)
    write_folder(tmp_path / "out", old.files, ["metadata.json"])
    files = with_provenance_of(built(tmp_path, provenance=ours).files, old.files["metadata.json"])
    assert differences(tmp_path / "out", files) == []


@pytest.mark.parametrize(
    "edit", [{"provenance": {"kernel": {"sha": "mine", "dirty": False}}}, {"version": 9}, {"x": 1}]
)
def test_a_check_sees_an_edited_metadata_file(tmp_path, edit):
    made = built(tmp_path)
    edited = json.dumps(metadata(made) | edit, indent=2).encode() + b"\n"
    write_folder(tmp_path / "out", {**made.files, "metadata.json": edited}, ["metadata.json"])
    (found,) = differences(tmp_path / "out", with_provenance_of(made.files, edited))
    assert found.file.endswith("metadata.json")


def test_version_and_licence_come_from_the_options_file(tmp_path):
    content = metadata(built(tmp_path, {"Twice/publish.json": {"version": 4, "license": "mit"}}))
    assert (content["version"], content["license"]) == (4, "mit")


@pytest.mark.parametrize(
    "options", [[], {"version": "1"}, {"version": -1}, {"version": True}, {"license": 1}, {"x": 1}]
)
def test_a_wrong_options_file_is_refused(tmp_path, options):
    assert "publish.json" in refusal(tmp_path, {"Twice/publish.json": options})


def test_the_problems_of_all_files_come_at_once(tmp_path):
    text = refusal(
        tmp_path,
        {
            "Twice/manifest.json": manifest(nmae="x"),
            "Twice/test.json": '{"cases": [,]}',
            "Twice/bench.json": {"cases": [bench("large", 1, extra=1)]},
        },
    )
    for part in ("manifest.json", "nmae", "test.json:1:12", "bench.json", "extra"):
        assert part in text


def test_a_template_that_fails_is_named_with_the_line_as_written(tmp_path):
    text = refusal(tmp_path, {"_shared/index.wgsl.jinja": SHARED + "{{ raise_exception('no') }}\n"})
    assert f"{tmp_path / '_shared' / 'index.wgsl.jinja'}:5:" in text


def test_a_wrong_expression_is_found_by_planning_and_told_once_with_its_line(tmp_path):
    text = refusal(tmp_path, {"Twice/manifest.json": manifest(derive={"n": "numel(shapes.x"})})
    lines = (tmp_path / "Twice" / "manifest.json").read_text().splitlines()
    line = next(number for number, content in enumerate(lines, 1) if "numel(" in content)
    assert text.startswith(f"{tmp_path / 'Twice' / 'manifest.json'}:{line}:")
    assert len(text.splitlines()) == 1


def test_a_case_without_a_variant_names_case_device_and_reason(tmp_path):
    content = manifest()
    content["variants"][0]["when"] = ["n < 5"]
    text = refusal(tmp_path, {"Twice/manifest.json": content})
    assert "'whole'" in text and next(iter(DEVICES)) in text and "n < 5" in text


def test_a_benchmark_may_be_too_large_for_a_device(tmp_path):
    made = built(tmp_path, {"Twice/bench.json": {"cases": [bench("huge", 2**28)]}})
    assert any("refused" in result for result in index(made)["cases"][-1]["results"])
    cases = {"cases": [case("huge", 2**28)]}
    assert "'huge'" in refusal(tmp_path / "b", {"Twice/test.json": cases})


@pytest.mark.parametrize(
    "include",
    ['{% include "_shared/nosuch.wgsl.jinja" %}', '{% include "../../secret" %}', '{% include "/etc/passwd" %}'],
)
def test_an_include_that_leads_nowhere_or_out_is_refused(tmp_path, include):
    assert "twice.wgsl.jinja" in refusal(tmp_path, {"Twice/twice.wgsl.jinja": include + SHADER})
