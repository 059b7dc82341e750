"""Two packages compared: what turns up where, and what their cases decide."""

import copy
import json
import shutil
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from scanbuild.errors import InputError
from scanbuild.package.digest import digest_text
from scanbuild.planning.device import DeviceRecord
from scanbuild.planning.profiles import profiles
from scanbuild.publishing.build import build, check_source
from scanbuild.publishing.diff import PackageDiff, compare_packages
from scanbuild.publishing.diff_files import MOST_LINES, unified
from scanbuild.publishing.diff_sides import open_side
from scanbuild.publishing.writer import write_folder
from tests.publishing.contracts import Edit, drop, move, put
from tests.publishing.packages import SHADER, bench, case, manifest, write_source

DEVICES = {name: profiles()[name] for name in ("webgpu-defaults", "chrome-nvidia")}


def second_variant(**changes: Any) -> dict[str, Any]:
    """A variant that takes long tensors before the other."""
    base = copy.deepcopy(manifest()["variants"][0])
    return {**base, "id": "long", "priority": 1, "when": ["n > 4"], "derive": {"factor": "2"}} | changes


def edited(*edits: Edit) -> dict[str, Any]:
    value = copy.deepcopy(manifest())
    for edit in edits:
        edit(value)
    return value


@pytest.fixture
def compare(tmp_path):
    """Compare two sources that differ in the given files from the usual one."""

    def run(old: dict[str, Any], new: dict[str, Any]) -> PackageDiff:
        sides = []
        for name, changes in (("old", old), ("new", new)):
            folder = write_source(tmp_path / name, **{f"Twice/{file}": content for file, content in changes.items()})
            sides.append(open_side(str(folder)))
        return compare_packages(sides[0], sides[1], DEVICES)

    return run


@pytest.fixture
def compare_manifests(compare):
    return lambda *edits: compare({}, {"manifest.json": edited(*edits)})


def built(source: Path, root: Path) -> Path:
    made = build(check_source(source), {"webgpu-defaults": DeviceRecord()}, None)
    write_folder(root / "build/webgpu", made.files, ("metadata.json",))
    return root


def kinds(found: PackageDiff) -> list[tuple[str, str]]:
    return [(change.kind, change.subject) for change in found.contract]


def test_a_package_does_not_differ_from_itself(compare):
    found = compare({}, {})
    assert found.same and not found.fails(strict=True)
    assert (found.contract, found.variants, found.files, found.shaders, found.cases) == ((), (), (), (), 0)


def test_a_source_and_its_build_are_the_same(tmp_path):
    source = write_source(tmp_path / "sources")
    root = built(source, tmp_path / "out")
    for location in (root, root / "build/webgpu"):
        found = compare_packages(open_side(str(source)), open_side(str(location)), DEVICES)
        assert found.same, [change.path for change in found.files]
        assert (found.old.kind, found.new.kind, found.old.version, found.new.version) == ("source", "built", 1, 1)
        assert found.new.id.startswith("_org_example_twice_webgpu_")


def test_a_reworded_shape_is_compatible_if_all_cases_have_the_shape_they_had(compare_manifests):
    found = compare_manifests(put("outputs.y.shape", ["n"]))
    (change,) = found.contract
    assert change.kind == "compatible" and "4 cases on 2 device profiles" in change.evidence
    assert found.cases == 4


def test_a_reworded_shape_breaks_if_a_case_has_another_shape(compare):
    found = compare({}, {"manifest.json": edited(put("outputs.y.shape", "[max(n, 1)]")), "test.json": {"cases": []}})
    (change,) = found.contract
    assert change.kind == "breaking" and change.evidence == "case empty gives [1], and gave [0]"


def test_a_reworded_shape_stays_unknown_if_no_case_tells(compare):
    nothing = {"test.json": {"cases": []}, "bench.json": {"cases": []}}
    found = compare(nothing, {**nothing, "manifest.json": edited(put("outputs.y.shape", ["n"]))})
    (change,) = found.contract
    assert change.kind == "unknown" and "no case" in change.evidence
    assert found.fails(strict=True) and not found.fails()


def test_a_reworded_condition_is_compatible_if_every_variant_in_question_still_takes_its_cases(compare):
    old = {"manifest.json": edited(put("when", ["ranks.x == 1"]))}
    found = compare(old, {"manifest.json": edited(put("when", ["1 == ranks.x"]))})
    (change,) = found.contract
    assert change.kind == "compatible" and "are taken still" in change.evidence


def test_a_reworded_condition_breaks_if_a_case_is_refused(compare):
    old = {"manifest.json": edited(put("when", ["ranks.x == 1"]))}
    found = compare(old, {"manifest.json": edited(put("when", ["n in [3, 5]"]))})
    (change,) = found.contract
    assert change.kind == "breaking" and "empty on webgpu-defaults" in change.evidence
    (selection,) = (item for item in found.selections if not item.new)
    assert selection.old == ("plain",) and "n in [3, 5]" in selection.reason


def test_a_condition_stays_unknown_if_no_case_reaches_its_variant(compare):
    lone = second_variant(id="lone", priority=2, when=["n == 77"])
    old = {"manifest.json": edited(put("variants", [lone, {**manifest()["variants"][0], "when": ["n < 77"]}]))}
    new = edited(put("variants", [{**manifest()["variants"][0], "when": ["n < 77"]}]))
    small = {"bench.json": {"cases": []}}
    found = compare({**old, **small}, {"manifest.json": new, **small})
    (change,) = found.contract
    assert change.kind == "unknown" and "reaches lone" in change.evidence


def test_a_call_that_the_shaders_no_longer_allow_breaks(compare):
    found = compare({}, {"manifest.json": edited(put("variants.0.passes.0.dispatch", {"x": "n * 70000"}))})
    assert kinds(found) == [("breaking", "calls")]
    assert found.fails() and "refused" in found.contract[0].evidence


def test_an_output_of_another_shape_by_a_destination_is_found_by_the_cases(compare):
    free = edited(drop("outputs.y.shape"))
    found = compare({"manifest.json": free}, {"manifest.json": edited(put("outputs.y.shape", "[n + 1]"))})
    assert found.contract[0].kind == "breaking"


def test_breaking_changes_pass_under_a_higher_version_alone(compare):
    edit = {"manifest.json": edited(move("inputs.x", "z"), put("outputs.y.shape", "shapes.z"))}
    edit["manifest.json"]["derive"]["n"] = "numel(shapes.z)"
    edit["manifest.json"]["variants"][0]["passes"][0]["bindings"] = [{"name": "x", "arg": "z"}, "y"]
    files = {"test.json": {"cases": []}, "bench.json": {"cases": []}}
    assert compare(files, {**files, **edit}).fails()
    raised = compare(files, {**files, **edit, "publish.json": {"version": 2}})
    assert raised.version_is_raised and not raised.fails(strict=True)
    lowered = compare({**files, "publish.json": {"version": 3}}, {**files, **edit, "publish.json": {"version": 2}})
    assert lowered.fails()


def test_a_new_variant_tells_which_cases_it_takes(compare):
    new = edited(lambda value: value["variants"].append(second_variant()))
    found = compare({}, {"manifest.json": new})
    assert [(item.id, item.status) for item in found.variants] == [("long", "added")]
    assert {(detail.what, detail.after) for detail in found.variants[0].details} >= {
        ("priority", "1"),
        ("when", "n > 4"),
    }
    (selection,) = found.selections
    assert (selection.old, selection.new) == (("plain",), "long")
    assert selection.cases == (("whole", tuple(DEVICES)), ("large", tuple(DEVICES)))
    assert [change.kind for change in found.contract] == []


def test_a_renamed_variant_is_neither_added_nor_selected_anew(compare_manifests):
    found = compare_manifests(put("variants.0.id", "simple"))
    assert [(item.status, item.old_id, item.id) for item in found.variants] == [("renamed", "plain", "simple")]
    assert found.selections == () and found.shaders == ()


def test_what_changed_in_all_variants_is_told_once(compare):
    variants = [manifest()["variants"][0], second_variant()]
    old, new = (
        edited(put("variants", variants)),
        edited(put("variants", variants), put("requires.features", ["subgroups"])),
    )
    found = compare({"manifest.json": old}, {"manifest.json": new})
    assert [(item.id, [detail.what for detail in item.details]) for item in found.variants] == [
        ("every variant", ["feature"])
    ]


@pytest.mark.parametrize(
    ("edit", "what"),
    [
        (put("variants.0.priority", 3), "priority"),
        (put("variants.0.when", ["n >= 0"]), "when"),
        (put("variants.0.demoteWhen", ["n > 5"]), "demoteWhen"),
        (put("variants.0.requires", {"limits": {"maxComputeWorkgroupSizeX": 64}}), "limit maxComputeWorkgroupSizeX"),
        (put("variants.0.requires", {"subgroupMinSize": 4}), "subgroupMinSize"),
        (put("variants.0.tunables", {"lanes": {"default": 4}}), "tunable lanes"),
        (put("tunables", {"lanes": {"default": 4}}), "tunable lanes"),
        (put("variants.0.derive.factor", "1 + 1"), "derive factor"),
        (put("derive.m", "n"), "derive m"),
        (put("variants.0.intermediates", [{"id": "s", "dtype": "float32", "shape": [4]}]), "intermediate s"),
        (put("variants.0.passes.0.dispatch", {"x": "ceilDiv(n, 64)"}), "pass double: dispatch"),
        (put("variants.0.passes.0.bindings", ["y", "x"]), "pass double: order of bindings"),
        (put("variants.0.passes.0.bindings", ["x", {"name": "y", "length": 4}]), "pass double: binding y"),
        (put("variants.0.passes.0.submitAfter", True), "pass double: submitAfter"),
        (put("variants.0.passes.0.profile", {"bytesMoved": "8 * n"}), "pass double: profile"),
        (put("variants.0.passes.0.derive", {"k": 1}), "pass double: derive k"),
        (put("variants.0.passes.0.id", "again"), "pass again"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_every_member_of_a_variant_is_compared(compare, edit, what):
    # No case, so that the edits need not make sense together with the shader.
    nothing = {"test.json": {"cases": []}, "bench.json": {"cases": []}}
    found = compare(nothing, {**nothing, "manifest.json": edited(edit)})
    assert what in [detail.what for item in found.variants for detail in item.details]


def test_long_values_are_shown_around_what_differs(compare):
    long = " + ".join(["n"] * 100)
    old = edited(put("derive.m", f"{long} + 1"))
    found = compare({"manifest.json": old}, {"manifest.json": edited(put("derive.m", f"{long} + 2"))})
    (detail,) = found.variants[0].details
    assert detail.before.endswith('+ 1"') and detail.after.endswith('+ 2"') and len(detail.before) < 200


def test_a_changed_template_shows_in_files_and_in_the_shaders_of_its_calls(compare):
    found = compare({}, {"twice.wgsl.jinja": SHADER.replace("* {{ factor }}", "+ x[i]  // {{ factor }}")})
    (file,) = found.files
    assert (file.path, file.status, file.added, file.removed) == ("twice.wgsl.jinja", "changed", 1, 1)
    assert file.old_digest != file.new_digest and len(file.new_digest or "") == 44
    assert "-  if (i < {{ n }}u) { y[i] = x[i] * {{ factor }}; }" in file.patch.splitlines()
    (shader,) = found.shaders
    assert (shader.variant, shader.shader_pass, shader.added, shader.removed) == ("plain", "double", 1, 1)
    assert shader.changed == shader.calls > 0 and "y[i] = x[i] + x[i]" in shader.patch


def test_a_comment_in_the_manifest_changes_a_file_and_no_more(compare_manifests):
    found = compare_manifests(put("$comment", "why"))
    assert [file.path for file in found.files] == ["manifest.json"]
    assert (found.contract, found.variants, found.selections, found.shaders) == ((), (), (), ())


def test_templates_come_and_go(compare):
    other = put("variants.0.passes.0.shader", "other.wgsl.jinja")
    found = compare({}, {"manifest.json": edited(other), "twice.wgsl.jinja": None, "other.wgsl.jinja": SHADER})
    assert [(file.path, file.status) for file in found.files] == [
        ("manifest.json", "changed"),
        ("other.wgsl.jinja", "added"),
        ("twice.wgsl.jinja", "removed"),
    ]
    assert found.shaders == ()


def test_old_cases_are_planned_beside_new_ones_of_the_same_name(compare):
    new = {"test.json": {"cases": [case("small", 4)]}, "manifest.json": edited(put("when", ["n != 3"]))}
    found = compare({"test.json": {"cases": [case("small", 3)]}}, new)
    (selection,) = found.selections
    assert [name for name, _ in selection.cases] == ["small (old)"]


def test_cases_that_cannot_be_read_are_noted_and_left_out(tmp_path):
    source = write_source(tmp_path / "sources")
    root = built(source, tmp_path / "out")
    inner = root / "build/webgpu"
    broken = json.dumps({"cases": [{"name": "odd"}]})
    (inner / "test.json").write_text(broken)
    metadata = json.loads((inner / "metadata.json").read_text())
    metadata["digest"]["files"]["test.json"] = digest_text(broken)
    (inner / "metadata.json").write_text(json.dumps(metadata))
    found = compare_packages(open_side(str(source)), open_side(str(root)), DEVICES)
    assert [problem.severity for problem in found.notes] == ["warning"]
    assert found.cases == 4


def test_a_package_that_was_edited_after_its_build_is_refused(tmp_path):
    root = built(write_source(tmp_path / "sources"), tmp_path / "out")
    (root / "build/webgpu/twice.wgsl.jinja").write_text("// edited\n")
    with pytest.raises(InputError, match="digest"):
        open_side(str(root))


def test_a_version_of_the_hub_has_to_be_named():
    with pytest.raises(InputError, match="org/Twice@v1"):
        open_side("org/Twice")


def test_what_is_not_there_is_said(tmp_path):
    with pytest.raises(InputError, match="no such folder"):
        open_side(str(tmp_path / "nowhere" / "at" / "all"))
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="no built package"):
        open_side(str(tmp_path / "empty"))


@pytest.fixture
def served(tmp_path):
    """A built package behind a server on loopback, plain and as a repository of a Hub; its address."""
    root = built(write_source(tmp_path / "sources"), tmp_path / "site/plain")
    shutil.copytree(root, tmp_path / "site/kernels/org/org.example.Twice/resolve/v1")

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(tmp_path / "site")))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


def test_a_package_at_a_url_is_compared(served, tmp_path):
    side = open_side(f"{served}/plain")
    assert (side.kind, side.version, len(side.cases)) == ("url", 1, 4)
    assert compare_packages(open_side(str(tmp_path / "sources/Twice")), side, DEVICES).same


def test_a_version_on_the_hub_is_compared(served, tmp_path, monkeypatch):
    monkeypatch.setenv("HF_ENDPOINT", served)
    side = open_side("org/org.example.Twice@v1")
    assert side.kind == "hub"
    assert compare_packages(side, open_side(str(tmp_path / "sources/Twice")), DEVICES).same
    with pytest.raises(InputError, match="404"):
        open_side("org/org.example.Twice@v2")


def test_a_unified_diff_counts_its_lines():
    patch, added, removed = unified("a\nb\nc\n", "a\nB\nc\nd\n", "f")
    assert (added, removed) == (2, 1)
    assert patch.splitlines()[:2] == ["--- old/f", "+++ new/f"]
    assert unified("same\n", "same\n", "f") == ("", 0, 0)


def test_lines_that_look_like_headers_are_counted():
    _, added, removed = unified("-- x\n", "++ x\n", "f")
    assert (added, removed) == (1, 1)


@pytest.mark.parametrize("new", ["a\r\nb\r\n", "a\nb"])
def test_ends_of_lines_alone_are_told(new):
    patch, added, removed = unified("a\nb\n", new, "f")
    assert (added, removed) == (0, 0) and "ends of lines" in patch


def test_texts_that_would_take_minutes_are_not_compared_line_by_line():
    old, new = (f"head\n{line * (MOST_LINES + 1)}tail\n" for line in ("a\n", "b\n"))
    patch, added, removed = unified(old, new, "f")
    assert (added, removed) == (MOST_LINES + 1, MOST_LINES + 1)
    assert len(patch) < 200 and "not shown" in patch
    assert unified(old, old + "more\n", "f")[1:] == (1, 0)


def test_a_case_that_another_dtype_of_the_destination_needs_is_still_planned(compare):
    sizes = {"bench.json": {"cases": [bench("large", 10), bench("ints", 10, "int32")]}}
    found = compare(sizes, {**sizes, "manifest.json": edited(put("typeConstraints.T", ["float32"]))})
    assert kinds(found) == [("breaking", "type `T`")]
    (selection,) = found.selections
    assert {name for name, _ in selection.cases} == {"whole", "ints"} and not selection.new
