import pytest
from hypothesis import given
from hypothesis import strategies as st

from scanbuild.errors import CallError
from scanbuild.package.model import Binding, Field
from scanbuild.planning.module import module_problem
from scanbuild.planning.wgsl import (
    Declaration,
    check_structs,
    declarations,
    enabled_extensions,
    inject_enables,
    sized_bytes,
    strip_comments,
)


def uniform(name: str, *fields: Field, struct_name: str = "Params") -> Binding:
    return Binding(name=name, buffer="uniform", struct_name=struct_name, fields=fields)


def test_declarations_print_structs_first_then_a_line_a_binding():
    items = [
        Declaration(binding=Binding(name="x", buffer="read-only-storage"), element_type="f32"),
        Declaration(binding=uniform("p", Field(name="n", type="u32"))),
        Declaration(binding=Binding(name="y", buffer="storage"), element_type=" f32", length=4),
    ]
    assert declarations(items) == (
        "struct Params { n: u32, _pad0: u32, _pad1: u32, _pad2: u32 };\n"
        "@group(0) @binding(0) var<storage, read> x: array<f32>;\n"
        "@group(0) @binding(1) var<uniform> p: Params;\n"
        "@group(0) @binding(2) var<storage, read_write> y: array< f32, 4u>;"
    )


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (Field(name="n", type="u32"), Field(name="n", type="i32")),
        (Field(name="n", type="u32"), Field(name="m", type="u32")),
        (Field(name="n", type="u32", default=1), Field(name="n", type="u32", default="1")),
        (Field(name="n", type="u32"), Field(name="n", type="u32", required=False)),
        (Field(name="n", type="u32"), Field(name="n", type="u32", internal=True)),
    ],
)
def test_one_struct_name_cannot_stand_for_two_schemas(one, other):
    with pytest.raises(CallError, match="structName"):
        check_structs([uniform("a", one), uniform("b", other)], "pass", "$")


def test_values_and_number_spellings_are_no_part_of_a_schema():
    one = Field(name="n", type="u32", value="1", default=1)
    other = Field(name="n", type="u32", value="2", default=1.0)
    check_structs([uniform("a", one), uniform("b", other)], "pass", "$")


def test_a_struct_name_has_to_be_an_identifier():
    with pytest.raises(CallError, match="no identifier"):
        check_structs([uniform("a", struct_name="my params")], "pass", "$")


@pytest.mark.parametrize(
    ("text", "bare"),
    [
        ("a // b\nc", "a \nc"),
        ("f/**/16", "f16"),
        ("a /* b /* c */ d */ e", "a  e"),
        ("a /* never closed", "a "),
        ("a // never ended", "a "),
        ("a // b\r\nc", "a \nc"),
    ],
)
def test_comments_go_and_leave_nothing(text, bare):
    assert strip_comments(text) == bare


@pytest.mark.parametrize(
    "text",
    ["var x: f16;", "1h", ".5h", "1.h", "1e-3h", "0x1p2h", "x = -1h;", "f/**/16", "array<f16>"],
)
def test_halves_bring_their_enable_line(text):
    assert inject_enables(text) == f"enable f16;\n{text}"


@pytest.mark.parametrize("text", ["vec4h", "a1h", "1hx", "12 h", "xf16", "f16x", "// f16", "/* 1h */", "0x1h"])
def test_what_only_looks_like_halves_brings_nothing(text):
    assert inject_enables(text) == text


@pytest.mark.parametrize(
    "text",
    ["subgroupAdd(x)", "quadSwapX \n (x)", "my.subgroupElect()", "@builtin( subgroup_size )", "@builtin (subgroup_id)"],
)
def test_subgroup_names_bring_their_enable_line(text):
    assert inject_enables(text) == f"enable subgroups;\n{text}"


@pytest.mark.parametrize(
    "text",
    [
        "subgroupAdd<f32>(x)",
        "mysubgroupAdd(x)",
        "subgroupAdder(x)",
        "@builtin(subgroup_size,)",
        "@ builtin(subgroup_id)",
    ],
)
def test_other_spellings_of_subgroup_names_bring_nothing(text):
    assert inject_enables(text) == text


def test_enable_lines_stand_in_a_fixed_order():
    text = "@subgroup_size (4) subgroupAdd(1h)"
    assert inject_enables(text) == f"enable f16;\nenable subgroups;\nenable subgroup_size_control;\n{text}"


@pytest.mark.parametrize(
    "line", ["enable f16;", "  enable\nsubgroups,\n f16 ;", "/* c */ enable f16;", "x;\nenable f16;", "a\renable f16;"]
)
def test_a_directive_that_begins_a_line_counts(line):
    assert inject_enables(f"{line}\n1h") == f"{line}\n1h"


@pytest.mark.parametrize("line", ["x; enable f16;", "// enable f16;", "enable my_f16;", "enable f16"])
def test_other_directives_do_not_count(line):
    assert inject_enables(f"{line}\n1h").startswith("enable f16;\n")


@given(st.text(alphabet="f16h.xX0123e-+pP/*\n ;enabl", max_size=60))
def test_injection_settles_after_one_round(text):
    once = inject_enables(text)
    assert once.endswith(text)
    if not once[: len(once) - len(text)] or not text.startswith(("/", "*")):
        assert inject_enables(once) == once


@pytest.mark.parametrize(
    ("kind", "size"),
    [
        ("f32", 4),
        ("f16", 2),
        ("atomic<u32>", 4),
        ("atomic< i32 >", 4),
        ("vec2<u32>", 8),
        ("vec3<f32>", 16),
        ("vec3<f16>", 8),
        ("vec4< f16 >", 8),
        ("vec4f", None),
        ("bool", None),
        (" f32", None),
        ("vec2 <f32>", None),
        ("atomic<f32>", None),
        ("mat2x2<f32>", None),
        ("float32", None),
        ("f32\n", None),
    ],
)
def test_sized_arrays_have_few_element_types(kind, size):
    assert sized_bytes(kind) == size


@pytest.mark.parametrize(
    "text",
    ["1" * 500_000, "enable a\n" * 60_000, "\r" * 500_000, "@compute " * 60_000, "/*" * 300_000, "0x" + "a" * 500_000],
)
def test_hostile_texts_are_searched_in_linear_time(text):
    assert inject_enables(text).endswith(text)
    assert module_problem(text, [], frozenset()) != ""


@pytest.mark.parametrize("blank", ["\u00a0", "\ufeff", "\u3000", "\u2028"])
def test_blanks_are_those_of_javascript(blank):
    assert inject_enables(f"x = subgroupAdd{blank}(y);").startswith("enable subgroups;")
    assert enabled_extensions(f"enable{blank}f16;") == {"f16"}


@pytest.mark.parametrize("sign", ["\x1c", "\x1f", "\x85"])
def test_what_python_alone_takes_for_blank_is_none(sign):
    assert inject_enables(f"x = subgroupAdd{sign}(y);").startswith("x = ")
    assert enabled_extensions(f"enable{sign}f16;") == set()
