import pytest

from scanbuild.package.model import Binding, Field
from scanbuild.planning.module import module_problem
from scanbuild.planning.wgsl import Declaration, declarations

MAIN = "@compute @workgroup_size(1) fn main() {}"
NOTHING: frozenset[str] = frozenset()


def problem(text, *declared, features=NOTHING):
    return module_problem(text, declared, features)


def test_a_module_needs_a_compute_entry_point_main():
    assert problem(MAIN) == ""
    assert problem("@workgroup_size(1)\n@ compute fn main () {}") == ""
    assert "entry point" in problem("fn main() {}")
    assert "entry point" in problem("@compute @workgroup_size(1) fn other() {} fn main() {}")


def test_a_module_may_enable_only_what_the_device_offers():
    assert "shader-f16" in problem(f"enable f16;\n{MAIN}")
    assert problem(f"enable f16;\n{MAIN}", features=frozenset({"shader-f16"})) == ""


def test_half_aliases_do_not_enable_themselves():
    assert "vec4h" in problem(f"alias T = vec4h;\n{MAIN}", features=frozenset({"shader-f16"}))
    assert problem(f"alias vec4h = vec4<f32>; alias T = vec4h;\n{MAIN}") == ""


def storage(name="x", element_type="f32"):
    return Declaration(binding=Binding(name=name, buffer="storage"), element_type=element_type)


@pytest.mark.parametrize("name", ["_", "__x", "fn", "static"])
def test_a_declared_binding_needs_a_name_that_wgsl_takes(name):
    item = storage(name)
    assert name in problem(f"{declarations([item])}\n{MAIN}", item)
    assert problem(MAIN, item) == "", "a shader that declares its bindings by hand may choose other names"


def test_struct_fields_need_names_that_wgsl_takes():
    binding = Binding(name="p", buffer="uniform", fields=(Field(name="loop", type="u32"),))
    item = Declaration(binding=binding)
    assert "loop" in problem(f"{declarations([item])}\n{MAIN}", item)


@pytest.mark.parametrize(
    ("kind", "known"),
    [
        ("f32", True),
        ("vec4h", True),
        ("mat2x3<f32>", True),
        ("array<vec2<u32>, 4>", True),
        ("Item", True),
        ("array<Item, SIZE>", True),
        ("float32", False),
        ("Itm", False),
    ],
)
def test_element_types_are_known_or_declared(kind, known):
    item = storage(element_type=kind)
    text = f"{declarations([item])}\nenable f16;\nstruct Item {{ a: u32 }}\nconst SIZE = 4;\n{MAIN}"
    assert (problem(text, item, features=frozenset({"shader-f16"})) == "") is known
