"""``scanbuild show PACKAGE``: the contract of a kernel and its variants, wherever the package lies."""

import threading
import time
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import pytest

from scanbuild.publishing.build import check_source
from tests.cases.packages import case, manifest, write_package
from tests.checking.packages import GOOD, edit
from tests.show.running import SCAN, refused, report, section, show, shown


def test_the_overview_tells_the_contract_and_the_variants_in_order():
    text = shown(GOOD)
    assert text.startswith(f"com.example.RowSum, a source package in {GOOD}")
    assert section(text, "Inputs") == ["x  T, rank 2", "bias  T, rank 1, optional"]
    assert section(text, "Outputs") == ["y  T, shape [shapes.x[0]]"]
    assert section(text, "Types") == ["T  float32, int32"]
    assert section(text, "Attributes") == ["scale  default 1", 'mode  default "sum", one of "sum", "mean"']
    assert section(text, "Scalar arguments") == ["limit  u32, optional"]
    assert section(text, "Tunables") == ["width = 64"]
    assert "ranks.x == 2" in section(text, "Conditions of every variant")
    variants = section(text, "The 3 variants")
    assert [line for line in variants if line[0].isdigit() and line[1] == "."] == [
        "1. split  priority 10",
        "2. biased  priority 5",
        "3. plain",
    ]
    assert "scratch  pieces: float32 of shape [lines, parts]" in variants
    assert "cases    1: long_rows" in variants


def test_the_overview_of_a_real_kernel_says_soon_which_cases_lead_where():
    show(GOOD)  # imports what there is to import
    start = time.process_time()
    overview = report(SCAN)["overview"]
    assert time.process_time() - start < 3  # a third of that where this was written
    source = check_source(SCAN)
    meant = {item.case.name: item.case.expect_variant for item in source.cases if item.case.expect_variant}
    told = {name: variant["id"] for variant in overview["variants"] for name in variant["cases"]}
    assert len(told) + len(overview["refusedCases"]) == overview["cases"] == len(source.cases)
    assert {name: told[name] for name in meant} == meant
    assert len({variant["id"] for variant in overview["variants"]}) == len(source.manifest.variants)


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    return write_package(
        tmp_path_factory.mktemp("built") / "test.toys.Double", manifest(), [case("one", [1, 2, 3], [2, 4, 6])]
    )


def test_a_built_root_and_the_folder_within_are_shown_alike(built):
    inner, root = shown(built), shown(built.parent.parent)
    assert inner.splitlines()[1:-1] == root.splitlines()[1:-1]
    assert "a built package" in root
    assert "1: one" in inner


class _Silent(SimpleHTTPRequestHandler):
    def log_message(self, format, *args):
        pass


def test_a_package_behind_a_url_needs_nothing_but_the_url(built):
    folder = str(built.parent.parent.parent)
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(_Silent, directory=folder)) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{server.server_port}"
        text = shown(f"{url}/test.toys.Double", "--case", "one")
        wrong = refused(f"{url}/test.toys.Double", "--expected-op-id", "test.toys.Triple")
        lost = refused(f"{url}/nothing")
        server.shutdown()
    assert "runs   " in text
    assert "test.toys.Triple" in wrong
    assert "404" in lost


def test_a_repository_needs_a_version():
    assert "needs a version or a revision" in refused("some-org/ai.onnx.Scan")


def test_what_is_no_package_is_a_wrong_input(tmp_path):
    assert "no built package here" in refused(tmp_path)
    assert "no such folder" in refused(tmp_path / "nowhere")


def test_a_broken_source_tells_all_its_problems(package):
    edit(package, lambda m: m["inputs"]["x"].update(dtyp="T"))
    edit(package, lambda t: t["cases"][0].update(nam="x"), "test.json")
    said = refused(package)
    assert "dtyp" in said
    assert "test.json" in said


def test_a_package_without_case_files_is_shown_without_cases(tmp_path):
    folder = write_package(tmp_path, manifest(), None)
    text = shown(folder)
    assert section(text, "Cases")[0] == "The package came without cases."
    assert "--shapes x=2x3" in text
    assert "describe the call with --shapes" in refused(folder, "--case", "one")


def test_case_files_that_cannot_be_read_are_told_with_v_and_hinder_nothing(tmp_path):
    folder = write_package(tmp_path, manifest(), [{"name": 3}])
    assert "without cases" in shown(folder)
    assert "test.json" in shown(folder, "-v")
