"""What is done to WGSL before an engine sees it, and how limits are named."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scanbuild.gpu.dialects import adapt_wgsl, limits_to_request, webgpu_features, webgpu_limits

MAIN = "@compute @workgroup_size(1) fn main() {}"


@pytest.mark.parametrize(
    ("text", "adapted"),
    [
        ("enable subgroups;\n", "                 \n"),
        ("enable f16, subgroups;", "enable f16           ;"),
        ("enable subgroups, f16;", "enable            f16;"),
        ("enable f16;\nenable\n subgroups ;", "enable f16;\n      \n            "),
        ("/* // */ enable subgroups;", "/* // */                  "),
        ("/* a /* b */ */ // c\nenable subgroups;", "/* a /* b */ */ // c\n                 "),
        ("requires subgroup_id; enable subgroups;", "requires subgroup_id;                  "),
        ("// enable subgroups;\n", "// enable subgroups;\n"),
        ("const a = 1; /* enable subgroups; */ ", "const a = 1; /* enable subgroups; */ "),
        ("enable subgroups_of_mine;", "enable subgroups_of_mine;"),
    ],
)
def test_the_directive_for_subgroups_is_blanked_for_wgpu(text: str, adapted: str):
    assert adapt_wgsl("wgpu", text + MAIN) == adapted + MAIN


def test_dawn_gets_the_text_as_it_is():
    assert adapt_wgsl("dawn", "enable subgroups;\n" + MAIN) == "enable subgroups;\n" + MAIN


@given(st.text(alphabet="enablsubgroup; /*\n,f16@", max_size=80), st.sampled_from(["", "enable subgroups;", "/*"]))
def test_adapting_keeps_every_line_and_column(text: str, start: str):
    code = start + text + MAIN
    adapted = adapt_wgsl("wgpu", code)
    assert [len(line) for line in adapted.split("\n")] == [len(line) for line in code.split("\n")]


def test_names_of_features_and_limits_are_translated():
    assert webgpu_features("wgpu", ["subgroup", "shader-f16"]) == ["shader-f16", "subgroups"]
    assert webgpu_limits({"max-texture-dimension-2d": 9000, "max-non-sampler-bindings": 1, "max-bind-groups": 0}) == {
        "maxTextureDimension2D": 9000
    }


def test_only_the_six_limits_are_raised():
    offered = {
        "max-compute-workgroup-size-x": 1024,
        "max-compute-workgroup-size-y": 1024,
        "max-buffer-size": 2**31,
        "max-storage-textures-per-shader-stage": 2,
        "min-uniform-buffer-offset-alignment": 32,
    }
    assert limits_to_request(offered) == {
        "max-compute-workgroup-size-x": 1024,
        "max-compute-workgroup-size-y": 256,
        "max-buffer-size": 2**31,
        "max-storage-textures-per-shader-stage": 2,
        "min-uniform-buffer-offset-alignment": 256,
    }
