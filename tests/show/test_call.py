"""``scanbuild show`` of one call: why each variant is taken or not, and what the passes get."""

import json

import pytest

from scanbuild.planning.profiles import profile
from tests.cases.packages import manifest, write_package
from tests.checking.packages import GOOD, edit
from tests.show.running import SCAN, TWO_ROWS, refused, report, section, show, shown


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
    text = shown(SCAN, "--case", "forward_1536x64_integers")
    lines = section(text, "Variants")
    start = lines.index("no     run_tiles")
    assert lines[start + 1 : start + 4] == [
        "channels == 1 and steps % 4 == 0 and steps >= 1048576 is false",
        "channels == 1 is false: channels = 64",
        "steps >= 1048576 is false: steps = 1536",
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


def test_where_nothing_is_shown_the_error_has_the_reasons():
    result = show(GOOD, "--shapes", "x=2x3", "--variant", "split", "-q")
    assert (result.exit_code, result.stdout) == (1, "")
    assert "`columns >= 1024` is false" in result.stderr
    result = show(SCAN, "--shapes", "initial_state=4,scan_input=9x5", "-q")
    assert "`serial`: `shapes.initial_state[0] == channels` is false" in result.stderr


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
