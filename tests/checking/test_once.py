"""One mistake is told once, and shaders that cannot compile are told at the word that is wrong."""

import shutil

import pytest

from scanbuild.checking.check import check_path
from scanbuild.checking.nojson import unclosed_bracket
from tests.checking.packages import copy_good, edit, errors, replace_in

ROWS = "rows.wgsl.jinja"
PARTS = "parts.wgsl.jinja"


def only_error(package):
    found = errors(check_path(package))
    assert len(found) == 1, "\n".join(map(str, found))
    return found[0]


@pytest.mark.parametrize("name", ["dtype", "shape", "data", "kind", "values"])
def test_a_misspelt_member_of_a_case_is_told_and_not_missed_too(name, tmp_path):
    package = copy_good(tmp_path)
    replace_in(package, "test.json", f'"{name}": ', f'"{name[:2]}{name[3:]}": ')
    problem = only_error(package)
    assert problem.rule == "unknown-member"
    assert f'did you mean "{name}"' in problem.hint


def test_a_tunable_that_is_declared_under_a_misspelt_name_is_told_where_it_is_declared(tmp_path):
    package = copy_good(tmp_path)
    line, column = replace_in(package, "manifest.json", '"width": {', '"widht": {')
    problem = only_error(package)
    assert (problem.line, problem.column) == (line, column)
    assert "tunables.width" in problem.hint
    assert check_path(package).count("warning") == 0


def test_a_member_that_lacks_in_several_places_is_told_at_the_first(tmp_path):
    package = copy_good(tmp_path)
    replace_in(package, "manifest.json", "tunables.width", "tunables.depth", count=9)
    problem = only_error(package)
    assert "and in lines" in problem.message


def test_a_member_that_lacks_in_two_places_is_told_at_the_first_with_the_line_of_the_other(tmp_path):
    package = copy_good(tmp_path)
    replace_in(package, "manifest.json", "tunables.width", "tunables.depth", count=2)
    line, _ = replace_in(package, "manifest.json", "tunables.depth", "tunables.depth")
    lines = [
        number
        for number, text in enumerate((package / "manifest.json").read_text().splitlines(), 1)
        if "tunables.depth" in text
    ]
    assert lines[0] == line
    problem = only_error(package)
    assert f"(and in line {lines[1]})" in problem.message


def test_a_template_that_prints_nothing_explains_what_seems_to_be_unused(tmp_path):
    package = copy_good(tmp_path)
    replace_in(package, ROWS, "{% if biased %}", "{% if biaed %}")
    assert [problem.rule for problem in check_path(package).problems] == ["undefined-name"]


def test_a_copy_without_the_shared_folder_is_told_once(tmp_path):
    package = copy_good(tmp_path)
    for file in (ROWS, PARTS):
        replace_in(package, file, '"number.wgsl.jinja"', '"_shared/number.wgsl.jinja"')
    assert "no folder `_shared` beside the package" in only_error(package).message
    (tmp_path / "_shared").mkdir()
    shutil.copy(package / "number.wgsl.jinja", tmp_path / "_shared" / "number.wgsl.jinja")
    assert errors(check_path(package)) == []


def test_a_variant_whose_condition_reads_what_does_not_exist_is_told_by_that_alone(tmp_path):
    package = copy_good(tmp_path)
    replace_in(package, "manifest.json", "attrs.mode == 'sum'", "attrs.mod == 'sum'")
    assert [problem.rule for problem in check_path(package).problems] == ["expression-member"]


def test_two_missing_derives_are_told_as_the_ones_beside_them(tmp_path):
    package = copy_good(tmp_path)
    edit(package, lambda m: m["variants"][2].update(derive={"portions": 1}))
    edit(package, lambda m: m["variants"][0].update(derive={"portion": "ceilDiv(columns, 512)"}))
    replace_in(package, "manifest.json", "lines * parts", "lines * portions")
    problems = [item for item in errors(check_path(package)) if "`portions`" in item.message]
    assert 'did you mean "portion"?' in problems[0].hint


@pytest.mark.parametrize(
    ("old", "new", "at", "says"),
    [
        ("@builtin(workgroup_id)", "@builtin(workgrup_id)", "workgrup_id", "workgroup_id"),
        ("@builtin(workgroup_id)", "@buitin(workgroup_id)", "buitin", "builtin"),
        ("params.count; column", "parms.count; column", "parms", "params"),
        ("    return;", "    retrn;", "retrn", "return"),
        ("number(group, local)", "numbr(group, local)", "numbr", "number"),
        ("x[row", "xs[row", "xs", "x"),
        ("vec3<u32>, @", "ve3<u32>, @", "ve3", "vec3"),
        ("    return;\n  }", "    return;\n", "if (row", "closed"),
        ("var sum = {{ T }}({{ zero }});", "var sum = {{ T }}({{ zero }}));", "var sum", "closes nothing"),
        ("if (row >= params.rows)", "if (row >= params.rows or row < 0u)", "or row", "||"),
        ("params.mean != 0u", "params.mean !== 0u", "!==", "!="),
    ],
)
def test_a_slip_in_a_shader_is_told_at_its_word(old, new, at, says, tmp_path):
    package = copy_good(tmp_path)
    replace_in(package, ROWS, old, new)
    problem = only_error(package)
    assert problem.rule == "wgsl"
    assert says in f"{problem.message} {problem.hint}", str(problem)
    assert problem.file == str(package / ROWS)
    line = (package / ROWS).read_text(encoding="utf-8").splitlines()[problem.line - 1]
    assert at in line or at.split()[0] in line[problem.column - 1 :], str(problem)


@pytest.mark.parametrize(
    "line",
    [
        "fn helper(and: u32) -> u32 { let or = and; return or; }",
        "struct Pair { left: f32, right: f32 } fn first(pair: Pair) -> f32 { return pair.left; }",
        "fn packed(v: vec4<f32>) -> u32 { return pack4x8unorm(v) + u32(1.0e3) + 0x1fu; }",
        "const table = array<u32, 2>(1u, 2u); fn look(i: u32) -> u32 { return table[i]; }",
        "fn matrices(m: mat2x2<f32>) -> f32 { return determinant(m) + m[0].x; }",
        "override lanes: u32 = 4u; alias Row = array<u32, 4>; fn pick(r: Row) -> u32 { return r[lanes]; }",
        "fn atomics(p: ptr<workgroup, atomic<u32>>) -> u32 { return atomicAdd(p, 1u); }",
    ],
)
def test_what_compiles_is_left_alone(line, tmp_path):
    package = copy_good(tmp_path)
    replace_in(package, "number.wgsl.jinja", "fn number(", f"{line}\nfn number(")
    assert errors(check_path(package)) == []


def test_the_bracket_that_lacks_its_end_is_found_by_the_indentation():
    assert unclosed_bracket('{\n  "a": { "b": 1,\n  "c": 2\n}\n') == ("{", 2, 8)
    assert unclosed_bracket('{\n  "a": [1, 2,\n  "c": {}\n}\n') == ("[", 2, 8)
    assert unclosed_bracket('{ "a": "}" }') is None


def test_a_wrong_dtype_in_one_case_is_told_in_that_case(tmp_path):
    package = copy_good(tmp_path)
    line, _ = replace_in(
        package, "test.json", '"x": { "dtype": "float32", "shape": [3', '"x": { "dtype": "uint32", "shape": [3'
    )
    problem = only_error(package)
    assert (problem.rule, problem.file, problem.line) == ("type", str(package / "test.json"), line)
    assert problem.path == "$.cases[2].inputs.x.dtype"


def test_a_dtype_that_no_case_finds_admitted_is_told_at_the_port(tmp_path):
    package = copy_good(tmp_path)
    replace_in(package, "manifest.json", '"T": ["float32", "int32"]', '"T": ["uint32"]')
    places = {(problem.rule, problem.path) for problem in errors(check_path(package))}
    assert ("type", "$.inputs.x") in places


def test_a_fraction_in_a_whole_field_is_told_at_the_field(tmp_path):
    package = copy_good(tmp_path)
    replace_in(package, "manifest.json", "1 if attrs.mode == 'mean' else 0", "attrs.scale * 0.5")
    problem = only_error(package)
    assert (problem.rule, problem.path) == ("uniform-range", "$.bindings.params.struct[3].value")
    assert "a whole number from 0 to" in problem.message
