"""Findings stand where they were written: in escaped texts, in families, in included files."""

import json

from hypothesis import given
from hypothesis import strategies as st

from scanbuild.checking.check import check_path
from scanbuild.checking.places import JsonText
from tests.checking.packages import copy_good, edit, errors, found, replace_in


def json_text(value, **options):
    text = json.dumps(value, **options)
    return JsonText(file="f.json", text=text, value=json.loads(text))


@given(st.text(alphabet=st.characters(exclude_categories=["Cs"]), min_size=1, max_size=20), st.booleans(), st.data())
def test_a_character_of_a_text_is_found_whatever_escapes_stand_before_it(written, ascii_only, data):
    text = json_text({"a": [1, written]}, indent=1, ensure_ascii=ascii_only)
    offset = data.draw(st.integers(min_value=0, max_value=len(written) - 1))
    line, column = text.place_within(("a", 1), written, offset)
    raw = text.text.split("\n")[line - 1][column - 1 :]
    rest = json.loads(f'"{raw}' if raw.endswith('"') else f'"{raw}"')
    assert rest == written[offset:]


def test_a_text_that_differs_from_the_one_written_is_found_as_a_whole():
    text = json_text({"a": "{n} + 1"})
    assert text.place_within(("a",), "64 + 1", 3) == text.place(("a",)) == (1, 7)


def test_an_error_in_a_handle_stands_at_the_handle_once_though_many_passes_use_it(tmp_path):
    package = copy_good(tmp_path)
    line, column = replace_in(package, "manifest.json", '"value": "count"', '"value": "cuont"')
    (problem,) = errors(check_path(package))
    assert (problem.line, problem.column) == (line, column + len('"value": "'))
    assert problem.path == "$.bindings.params.struct[2].value"


def test_an_error_in_a_family_stands_in_its_template_once(tmp_path):
    package = copy_good(tmp_path)

    def family(manifest):
        template = manifest["variants"].pop()
        template.update(id="plain_{w}", tunables={"width": {"default": "{w}"}}, when=["columns % {w} == 0 and nope"])
        manifest["variants"].append({"cases": [{"w": 32}, {"w": 64}], "variants": [template]})

    edit(package, family)
    (problem,) = errors(check_path(package))
    assert problem.rule == "expression-name"
    assert problem.path == "$.variants[2].variants[0].when[0]"


def test_a_derive_that_one_variant_of_a_family_reads_is_not_unused(tmp_path):
    package = copy_good(tmp_path)

    def family(manifest):
        template = manifest["variants"].pop()
        template.update(id="plain_{w}", derive={"extra_32": 1, "extra_64": 2}, when=["columns != {w}"])
        template["passes"][0]["derive"].update(mine="extra_{w}")
        template["passes"][0]["dispatch"] = {"threads": "lines + 0 * mine", "workgroupSize": "tunables.width"}
        manifest["variants"].append({"cases": [{"w": 32}, {"w": 64}], "variants": [template]})

    edit(package, family)
    assert found(package, "unused-derive") == []


def test_an_error_in_an_included_file_stands_in_that_file(tmp_path):
    package = copy_good(tmp_path)
    line, _ = replace_in(package, "number.wgsl.jinja", "{{ tunables.width }}", "{{ tunables.width | round }}")
    (problem,) = errors(check_path(package))
    assert problem.file == str(package / "number.wgsl.jinja")
    assert problem.line == line


def test_a_shared_fragment_is_named_by_its_own_path(tmp_path):
    package = copy_good(tmp_path)
    shared = tmp_path / "_shared"
    shared.mkdir()
    (package / "number.wgsl.jinja").rename(shared / "number.wgsl.jinja")
    for name in ("rows", "parts", "merge"):
        replace_in(package, f"{name}.wgsl.jinja", '"number.wgsl.jinja"', '"_shared/number.wgsl.jinja"')
    assert check_path(package).problems == ()
    path = shared / "number.wgsl.jinja"
    path.write_text(path.read_text(encoding="utf-8") + "{% oops %}\n", encoding="utf-8")
    (problem,) = errors(check_path(package))
    assert problem.file == str(path.resolve())
