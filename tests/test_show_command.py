"""``scanbuild show``: what it prints, writes and returns."""

import json
import os
import pty
import subprocess
import sys
import threading
import time
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import click
import pytest
from click.testing import CliRunner

from scanbuild.cases.casefile import read_tests
from scanbuild.cases.requests import case_request
from scanbuild.cases.schema import schema_problems
from scanbuild.commands import main
from scanbuild.commands.show_request import split_items
from scanbuild.commands.show_sheet import safe_wgsl
from scanbuild.planning.planner import Planner
from scanbuild.planning.profiles import profile
from scanbuild.publishing.build import check_source
from scanbuild.resources import data_folder
from tests.cases.packages import case, manifest, write_package
from tests.checking.packages import GOOD, copy_good, edit, replace_in

SCAN = data_folder("templates") / "ai.onnx.Scan"
TWO_ROWS = ("--case", "two_rows")


def show(*arguments):
    return CliRunner().invoke(main, ["show", *map(str, arguments)])


def shown(*arguments, status=0):
    result = show(*arguments)
    assert result.exit_code == status, result.output
    return result.stdout


def report(*arguments, status=0):
    result = show(*arguments, "--json", "-")
    assert result.exit_code == status, result.output
    return json.loads(result.stdout)


def refused(*arguments):
    """What is said of wrong options."""
    result = show(*arguments)
    assert result.exit_code == 2, result.output
    assert result.stdout == ""
    return result.stderr


def section(text, title):
    """The lines below a heading that begins so."""
    lines = text.splitlines()
    start = next(index for index, line in enumerate(lines) if line.startswith(title)) + 1
    end = next((index for index in range(start, len(lines)) if not lines[index]), len(lines))
    return [line.strip() for line in lines[start:end]]


@pytest.fixture
def package(tmp_path):
    return copy_good(tmp_path)


# The package


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


# A call


def test_a_case_is_told_from_its_tensors_to_its_totals():
    text = shown(GOOD, *TWO_ROWS)
    assert text.startswith("com.example.RowSum on chrome-nvidia: case two_rows of test.json")
    assert section(text, "Call") == [
        "x  in   float32[2, 3]  24 B",
        "y  out  float32[2]      8 B",
        "types: T = float32",
        'attributes: scale = 1, mode = "sum"',
    ]
    assert section(text, "Variants") == [
        "no     split",
        "columns >= 1024 is false: columns = 3",
        "no     biased",
        "present.bias is false",
        "runs   plain",
    ]
    assert "columns  3      shapes.x[1] if ranks.x == 2 else 0" in section(text, "Derives of the manifest")
    one = section(text, "Pass 1 of 1: main, rows.wgsl.jinja")
    assert "dispatch   threads lines = 2, workgroupSize tunables.width = 64 -> grid 1 x 1 x 1" in one
    assert "0  x       read        array<f32>  24 B  x" in one
    assert "4  columns  u32  3  columns" in one
    assert "Returned: y float32[2]" in section(text, "Totals")


def test_v_tells_every_clause_and_the_shaders():
    text = shown(GOOD, *TWO_ROWS, "-v")
    assert "not present.bias or sameShape(shapes.bias, [lines]) is true" in text
    assert "fn main(" in text


def test_q_says_nothing_of_a_call_that_is_taken():
    assert shown(GOOD, *TWO_ROWS, "-q") == ""


def test_a_clause_with_several_parts_tells_those_that_fail():
    text = shown(SCAN, "--case", "forward_1024x64_integers")
    lines = section(text, "Variants")
    start = lines.index("no     run_tiles")
    assert lines[start + 1 : start + 4] == [
        "channels == 1 and steps % 4 == 0 and steps >= 1048576 is false",
        "channels == 1 is false: channels = 64",
        "steps >= 1048576 is false: steps = 1024",
    ]
    assert "later  serial  takes the call, too" in lines


def test_shapes_describe_the_same_call_as_the_case_does():
    case = report(GOOD, "--case", "long_rows")["call"]
    call = report(GOOD, "--shapes", "x=float32[3x1500]")["call"]
    for member in ("variants", "passes", "totals", "tensors", "derive"):
        assert call[member] == case[member]


@pytest.mark.parametrize(
    "options",
    [
        ["--shapes", "x=int32[2x3]"],
        ["--shapes", "x=2x3", "--dtype", "x=int32"],
        ["--case", "two_rows", "--dtype", "x=int32"],
        ["--case", "long_rows", "--shapes", "x=int32[2x3]"],
    ],
)
def test_a_dtype_is_given_in_the_shape_or_beside_it(options):
    (x, y) = report(GOOD, *options)["call"]["tensors"]
    assert (x["dtype"], x["shape"], y["dtype"]) == ("int32", [2, 3], "int32")


def test_a_dtype_that_is_not_given_is_that_of_the_label_or_a_guess_that_is_told():
    assert "dtype assumed" in shown(GOOD, "--shapes", "x=2x3")
    text = shown(GOOD, "--shapes", "x=2x3,bias=int32[2]")
    assert "int32[2, 3]" in text
    assert "dtype assumed" not in text


@pytest.mark.parametrize(("shape", "dims"), [("", []), ("scalar", []), ("0", [0]), ("4", [4]), ("float32[]", [])])
def test_scalars_and_empty_tensors_have_shapes_too(tmp_path, shape, dims):
    folder = write_package(tmp_path, manifest(), None)
    call = json.loads(show(folder, "--shapes", f"x={shape}", "--json", "-").stdout)["call"]
    assert call["tensors"][0]["shape"] == dims


def test_attributes_arguments_and_optional_inputs_are_given_by_name():
    call = report(GOOD, "--shapes", "x=2x3,bias=2", "--attr", "mode=mean", "--attr", "scale=2.5", "--arg", "limit=1")
    call = call["call"]
    assert call["attributes"] == {"scale": 2.5, "mode": "mean"}
    assert call["args"] == {"limit": 1}
    assert call["chosen"] == "biased"
    (fields,) = [binding["fields"] for binding in call["passes"][0]["bindings"] if binding["fields"]]
    assert {field["name"]: field["value"] for field in fields} == {"rows": 2, "columns": 3, "count": 1, "mean": 1}


def test_an_output_that_is_optional_or_without_shape_is_asked_for(package):
    edit(package, lambda m: m["outputs"].update(extra={"dtype": "T", "optional": True}))
    names = [item["name"] for item in report(package, *TWO_ROWS)["call"]["tensors"]]
    assert names == ["x", "y"]
    call = report(package, *TWO_ROWS, "--output", "extra=float32[7]")["call"]
    assert [(item["name"], item["shape"]) for item in call["tensors"] if item["returned"]] == [
        ("y", [2]),
        ("extra", [7]),
    ]
    assert "the manifest gives it no shape" in refused(package, *TWO_ROWS, "--output", "extra")


def test_variant_explains_another_variant_than_the_selected_one():
    text = shown(GOOD, "--shapes", "x=2x2000", "--variant", "plain")
    lines = section(text, "Variants")
    assert "takes  split  what the loader selects" in lines
    assert "runs   plain, as --variant asks" in lines


def test_a_device_is_a_profile_or_a_file(tmp_path):
    mine = tmp_path / "mine.json"
    mine.write_text(json.dumps(profile("webgpu-defaults").to_json()), encoding="utf-8")
    by_name = report(GOOD, *TWO_ROWS, "--device", "webgpu-defaults")["call"]
    by_file = report(GOOD, *TWO_ROWS, "--device", mine)["call"]
    assert by_file["device"] == str(mine)
    assert {**by_file, "device": ""} == {**by_name, "device": ""}
    mine.write_text('{"features": 3}', encoding="utf-8")
    said = refused(GOOD, *TWO_ROWS, "--device", mine)
    assert "mine.json" in said
    assert "expected a list of names" in said


def test_what_a_device_lacks_is_told(package):
    edit(package, lambda m: m["variants"][2].update(priority=99, requires={"features": ["subgroups", "shader-f16"]}))
    lines = section(shown(package, *TWO_ROWS, "--device", "webgpu-defaults", status=1), "Variants")
    assert lines[:3] == [
        "no     plain",
        "the device lacks the feature `subgroups`",
        "the device lacks the feature `shader-f16`",
    ]


def test_all_devices_tells_what_each_selects_and_why(package):
    edit(package, lambda m: m["variants"][2].update(priority=99, requires={"features": ["subgroups"]}))
    edit(package, lambda m: m["variants"].append({**m["variants"][2], "id": "any", "requires": {}, "priority": 0}))
    lines = section(shown(package, *TWO_ROWS, "--all-devices"), "Selection by device")
    assert "chrome-nvidia    plain  the first one" in lines
    assert "webgpu-defaults  any    not plain: the device lacks the feature `subgroups`" in lines
    selected = report(package, *TWO_ROWS, "--all-devices")["devices"]["selected"]
    assert {item["variant"] for item in selected} == {"plain", "any"}


# Refusals


def test_a_call_that_no_variant_takes_says_why_and_ends_with_1():
    result = show(SCAN, "--shapes", "initial_state=4,scan_input=9x5")
    assert result.exit_code == 1
    lines = section(result.stdout, "Variants")
    assert lines[-1] == "shapes.initial_state[0] == channels is false: shapes.initial_state[0] = 4, channels = 5"
    assert len(lines) <= 3, "what is the same of all variants is told once"
    assert result.stderr == "error: The loader refuses this call: no variant takes it.\n"


@pytest.mark.parametrize(
    ("options", "stage", "words"),
    [
        (["--shapes", "x=float16[2x3]"], "request", "float16"),
        (["--shapes", "x=2x3", "--attr", "mode=median"], "request", "mode"),
        (["--shapes", "x=99999x99999"], "device", "bytes"),
        (["--shapes", "x=2x3", "--variant", "split"], "selection", "does not take this request"),
    ],
)
def test_a_call_that_the_loader_refuses_is_told_in_its_words(options, stage, words):
    result = show(GOOD, *options)
    assert result.exit_code == 1
    assert words in result.stderr
    assert report(GOOD, *options, status=1)["call"]["refused"] == stage


def test_a_variant_that_fails_behind_selection_says_so(package):
    edit(package, lambda m: m["variants"][2]["passes"][0].update(dispatch={"x": "lines * 99999"}))
    result = show(package, *TWO_ROWS)
    assert result.exit_code == 1
    assert "fails  plain" in section(result.stdout, "Variants")
    assert "199998" in result.stderr


def test_a_call_that_every_device_refuses_ends_with_1():
    assert "refused" in shown(GOOD, "--shapes", "x=float16[2x3]", "--all-devices", status=1)


# Wrong options


def test_all_wrong_options_are_told_at_once_with_suggestions():
    said = refused(
        *(GOOD, "--shapes", "xx=2x3,bias=2y", "--dtype", "bias=flot32", "--attr", "moda=mean", "--arg", "limt=3"),
        *("--output", "z", "--device", "chrome-nvida", "--variant", "plane", "--attr", "scale"),
    )
    for words in (
        "no input 'xx'",
        "bias=2y: this is no shape",
        "no dtype 'flot32'",
        'did you mean "float32"?',
        'did you mean "mode"?',
        'did you mean "limit"?',
        "no output 'z'",
        'did you mean "chrome-nvidia"?',
        'did you mean "plain"?',
        "--attr scale: expected NAME=VALUE",
    ):
        assert words in said


def test_scalars_that_are_required_are_asked_for_together(package):
    edit(package, lambda m: m["args"].update(limit={"kind": "u32"}, other={"kind": "f32"}))
    edit(package, lambda m: m["attributes"]["mode"].pop("default"))
    edit(package, lambda m: m["attributeConstraints"]["mode"].update(required=True))
    for name in ("test.json", "bench.json"):
        edit(package, lambda t: t.update(cases=[]), name)
    said = refused(package, "--shapes", "x=2x3")
    assert "--arg limit=VALUE --arg other=VALUE" in said
    assert "--attr mode=VALUE" in said
    assert "--shapes x=2x3 --attr mode=VALUE --arg limit=VALUE --arg other=VALUE" in shown(package)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--case", "two_row"], "did you mean two_rows"),
        (["--case", "zzzz"], "there are two_rows, with_bias_and_limit, long_rows"),
        (["--shapes", "bias=2"], "the call lacks x"),
        (["--shapes", "x"], "a shape is missing"),
        (["--shapes", "x=2x3,x=4"], "'x' is given twice"),
        (["--shapes", "x=[2]"], "this is no shape"),
        (["--shapes", "x=2x-3"], "this is no shape"),
        (["--shapes", "x=" + "9" * 30], "this is no shape"),
        (["--shapes", "x=2x3]"], "this is no shape"),
        (["--shapes", "x=int32[2]y[3]"], "this is no shape"),
        (["--shapes", "x[2]=3"], "expected NAME=SHAPE"),
        (["--shapes", ",x=2"], "expected NAME=SHAPE"),
        (["--case", "two_rows", "--dtype", "bias=int32"], "the call has no such tensor"),
        (["--wgsl"], "--wgsl is about a call"),
        (["--all-devices"], "--all-devices is about a call"),
        (["--variant", "plain"], "--variant is about a call"),
        ([*TWO_ROWS, "--pass", "main"], "--pass picks a pass of --wgsl"),
        ([*TWO_ROWS, "--all-devices", "--device", "swiftshader"], "contradict"),
        ([*TWO_ROWS, "--wgsl", "--json", "-"], "nothing but WGSL"),
        ([*TWO_ROWS, "--wgsl", "--pass", "mian"], 'did you mean "main"?'),
        ([*TWO_ROWS, "--json", "/nonexistent/report.json"], "no such folder"),
    ],
)
def test_a_wrong_option_says_what_is_expected(options, words):
    assert words in refused(GOOD, *options)


def test_commas_part_shapes_but_not_within_brackets():
    assert list(split_items("a=float16[2x3],b=,c")) == [("a", "float16[2x3]"), ("b", ""), ("c", None)]
    assert list(split_items("a=x[1,2],b=3")) == [("a", "x[1,2]"), ("b", "3")]


# WGSL


def planned(folder, name):
    source = check_source(folder)
    (case,) = [item for item in read_tests((folder / "test.json").read_text(), "t").cases if item.name == name]
    texts = {**source.source.templates, **source.source.shared}
    package = type("Package", (), {"manifest": source.manifest, "templates": lambda _self, _variant: texts})()
    return Planner(package).prepare(case_request(case, source.manifest), profile("chrome-nvidia")).plan.passes


def test_wgsl_is_the_text_that_the_loader_compiles_and_nothing_else():
    (one,) = planned(GOOD, "two_rows")
    assert shown(GOOD, *TWO_ROWS, "--wgsl").rstrip("\n") == one.wgsl.rstrip("\n")


def test_several_shaders_are_told_apart_and_pass_picks_one():
    parts, merge = planned(GOOD, "long_rows")
    result = show(GOOD, "--case", "long_rows", "--wgsl")
    assert "// parts, parts.wgsl.jinja\n" in result.stdout
    assert "// merge, merge.wgsl.jinja\n" in result.stdout
    assert "these are 2 modules" in result.stderr
    assert "--pass picks one of parts, merge" in result.stderr
    assert shown(GOOD, "--case", "long_rows", "--wgsl", "--pass", "merge").rstrip("\n") == merge.wgsl.rstrip("\n")
    assert parts.wgsl.rstrip("\n") in result.stdout


def test_wgsl_of_a_refused_call_is_nothing():
    result = show(GOOD, "--shapes", "x=float16[2x3]", "--wgsl")
    assert (result.exit_code, result.stdout) == (1, "")


def test_a_shader_without_what_steers_a_terminal_means_the_same():
    text = "// a \x1b[2J b\r\nfn main() {}\x85let x\u2028= 1;\u200e\t// \u202e"
    assert safe_wgsl(text) == "// a \\x1b[2J b\nfn main() {}\nlet x\n= 1; \t// \\u202e"


# Reports and terminals


@pytest.mark.parametrize(
    ("arguments", "part", "status"),
    [
        ([GOOD], "overview", 0),
        ([SCAN], "overview", 0),
        ([SCAN, "--case", "no_channels_forward_7x0"], "call", 0),
        ([GOOD, *TWO_ROWS, "--all-devices"], "devices", 0),
        ([GOOD, "--case", "long_rows", "-v"], "call", 0),
        ([GOOD, "--shapes", "x=int32[3x2000],bias=9"], "call", 1),
        ([GOOD, "--shapes", "x=float16[1]", "--all-devices"], "devices", 1),
    ],
)
def test_every_report_fits_its_schema(arguments, part, status, tmp_path):
    file = tmp_path / "report.json"
    result = show(*arguments, "--json", file)
    assert result.exit_code == status
    assert result.stdout
    content = json.loads(file.read_text(encoding="utf-8"))
    assert schema_problems(content, "show-report") == []
    assert [name for name in ("overview", "call", "devices") if content[name]] == [part]


def test_values_that_json_lacks_are_texts(package):
    edit(package, lambda m: m["derive"].update(odd="0 // 0", most="1 // 0", absent="attrs.nothing"))
    values = {item["name"]: item["value"] for item in report(package, *TWO_ROWS)["call"]["derive"]}
    assert (values["odd"], values["most"], values["absent"]) == ("NaN", "Infinity", "undefined")


def test_what_a_package_says_cannot_steer_the_terminal(package):
    evil = "\x1b[2J\x07 \u202e"
    edit(package, lambda m: m.update(description=evil, tunables={"width": {"default": 64}, "w": {"default": evil}}))
    edit(package, lambda m: m["inputs"]["x"].update(description=evil))
    edit(package, lambda m: m["attributes"].update({evil: {"default": evil}}))
    edit(package, lambda m: m["derive"].update(evil=f"'{evil}'"))
    edit(package, lambda m: m["variants"][0]["when"].append(f"attrs.mode == '{evil}'"))
    edit(package, lambda t: t["cases"][0].update(name=evil), "test.json")
    replace_in(package, "rows.wgsl.jinja", "fn main", f"/* {evil} */ fn main")
    for arguments in ([], ["--case", evil], ["--case", evil, "-v"], ["--case", evil, "--wgsl"], ["--case", "x"],
                      ["--case", evil, "--all-devices"], ["--case", evil, "--attr", f"{evil}=1"]):  # fmt: skip
        result = show(package, *arguments)
        said = result.stdout + result.stderr
        assert result.exit_code in (0, 2), said
        assert not {"\x1b", "\x07", "\u202e"} & set(said)
        assert "\\x1b[2J" in said or arguments == ["--case", "x"]


def test_markup_in_a_package_is_text(package):
    edit(package, lambda m: m.update(description="[red]not red[/red] [/] :smile: [link=file:///x]here[/link]"))
    assert "[red]not red[/red] [/] :smile: [link=file:///x]here[/link]" in shown(package)


def test_a_long_value_is_cut_and_a_deep_one_ends(package):
    edit(package, lambda m: m["derive"].update(many="fill(1, 5000)", deep=[[[[[[[[[[[[1]]]]]]]]]]]]))
    text = shown(package, *TWO_ROWS)
    assert "characters)" in text
    assert max(map(len, text.splitlines())) <= 120


def test_lines_fit_into_80_columns_of_a_terminal():
    lines = _on_terminal("show", SCAN, "--case", "forward_1024x64_integers", "-v")
    assert any("\x1b[" in line for line in lines), "a terminal gets colours"
    plain = [click.unstyle(line) for line in lines]
    assert max(map(len, plain)) <= 80
    assert any("@group(0)" in line for line in plain), "the shaders are shown"


def _on_terminal(*arguments):
    """What the command writes to a terminal of 80 columns."""
    leader, follower = pty.openpty()
    environment = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "80", "LINES": "40"}
    environment.pop("NO_COLOR", None)
    chunks = []

    def read():
        while True:
            try:
                chunk = os.read(leader, 65536)
            except OSError:
                return
            if not chunk:
                return
            chunks.append(chunk)

    with subprocess.Popen(
        [sys.executable, "-m", "scanbuild", *map(str, arguments)], stdout=follower, env=environment
    ) as process:
        os.close(follower)
        reader = threading.Thread(target=read)
        reader.start()
        assert process.wait(60) == 0
        reader.join(10)
    os.close(leader)
    return b"".join(chunks).decode().replace("\r", "").splitlines()


def test_help_has_examples_and_exit_statuses():
    text = shown("--help")
    assert "scanbuild show . --case by_hand_forward_3x1 --all-devices" in text
    assert "Exit status:" in text


def documented():
    """The commands in the pages about show, with the lines that they are said to print; None stands for some others."""
    page = (data_folder("templates").parent / "docs" / "show.md").read_text(encoding="utf-8")
    for block in page.split("```console\n")[1:]:
        command, *lines = block.partition("```")[0].splitlines()
        yield command, [None if line == "..." else line for line in lines]


@pytest.mark.parametrize(
    ("command", "lines"), list(documented()), ids=lambda value: value if isinstance(value, str) else ""
)
def test_what_the_page_says_is_printed(command, lines):
    folder = str(data_folder("templates"))
    arguments = command.removeprefix("$ scanbuild show ").replace("templates/", f"{folder}/").split()
    said = iter(shown(*arguments).splitlines())
    for line in lines:
        assert line is None or line in said, f"{line!r} is not printed, or not there"
