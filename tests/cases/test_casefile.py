"""Reading test.json and bench.json."""

import json
from typing import Any

import pytest

from scanbuild.cases.casefile import MAX_ELEMENTS, CaseFile, read_benches, read_tests
from scanbuild.cases.fixtures import Constant, Random, Values, Wave
from scanbuild.errors import InputError, Problem
from scanbuild.package.model import Attribute, Manifest, Port, Variant


def tensor(**more: Any) -> dict[str, Any]:
    return {"dtype": "float32", "shape": [2], "data": {"kind": "values", "values": [1, 2]}, **more}


def case(**more: Any) -> dict[str, Any]:
    return {"name": "one", "inputs": {"x": tensor()}, "outputs": {"y": {"dtype": "float32", "shape": [2]}}, **more}


def read(*cases: dict[str, Any], **more: Any) -> CaseFile:
    return read_tests(json.dumps({"cases": list(cases)}, indent=1), "test.json", **more)


def problems(*cases: dict[str, Any], **more: Any) -> tuple[Problem, ...]:
    with pytest.raises(InputError) as caught:
        read(*cases, **more)
    return caught.value.problems


MANIFEST = Manifest(
    name="Toy",
    inputs={"x": Port(name="x", dtype="float32")},
    outputs={"y": Port(name="y", dtype="float32")},
    attributes={"axis": Attribute(name="axis", default=0)},
    variants=(Variant(id="main", passes=()),),
)


def test_a_case_is_read_with_its_defaults():
    (item,) = read(case()).cases
    assert item.inputs["x"].data == Values(values=[1, 2])
    assert item.outputs["y"].fixture.data is None
    assert (item.outputs["y"].tolerance, item.outputs["y"].allow_nan) == (None, True)
    assert (item.skip, item.expect_variant, dict(item.attrs)) == (None, None, {})


def test_every_kind_of_data_is_read():
    kinds = [
        {"kind": "fillFloat32", "sinStep": 0.1, "cosStep": 0.2},
        {"kind": "random", "seed": 3, "low": 0, "high": 1},
        {"kind": "constant", "value": "NaN"},
    ]
    inputs = {f"x{index}": tensor(data=data) for index, data in enumerate(kinds)}
    (item,) = read(case(inputs=inputs)).cases
    assert [fixture.data for fixture in item.inputs.values()] == [
        Wave(sin_step=0.1, cos_step=0.2, scale=1.0),
        Random(seed=3, low=0, high=1, integers=False),
        Constant(value="NaN"),
    ]


def test_values_may_refer_to_a_fixture_array():
    text = {"fixtureArrays": {"w": [5, 6]}, "cases": [case(inputs={"x": tensor(data=reference("w"))})]}
    (item,) = read_tests(json.dumps(text), "test.json").cases
    assert item.inputs["x"].data == Values(values=[5, 6])


def reference(name: str) -> dict[str, Any]:
    return {"kind": "values", "values": {"$ref": f"#/fixtureArrays/{name}"}}


def test_a_reference_to_nothing_names_the_nearest_array():
    text = {"fixtureArrays": {"weights": [5, 6]}, "cases": [case(inputs={"x": tensor(data=reference("weigths"))})]}
    with pytest.raises(InputError, match=r'no fixture array "weigths" \(did you mean "weights"\?\)'):
        read_tests(json.dumps(text), "test.json")


def test_comments_may_stand_anywhere():
    commented = case(inputs={"x": {**tensor(), "$comment": "why"}, "$comment": "why"}, attrs={"$comment": "why"})
    (item,) = read({**commented, "$comment": "why"}).cases
    assert list(item.inputs) == ["x"]
    assert dict(item.attrs) == {}


def test_all_problems_come_at_once_each_at_its_line():
    broken = case(inputs={"x": tensor(shape=[3]), "z": tensor(dtype="float64", shape=[-1])}, surprise=1)
    found = problems(broken, case(inputs={"x": {"dtype": "int8"}}))
    assert [(item.path, item.line is not None, item.rule) for item in found] == [
        ("$.cases[0].inputs.z.dtype", True, "schema"),
        ("$.cases[0].inputs.z.shape[0]", True, "schema"),
        ("$.cases[0].surprise", True, "unknown-member"),
        ("$.cases[1].inputs.x", True, "schema"),
    ]
    assert found[0].hint == "" and "did you mean" in found[0].message


def test_an_unknown_member_is_a_note_in_a_foreign_file():
    (note,) = read(case(surprise=1), foreign=True).notes
    assert (note.severity, note.path) == ("note", "$.cases[0].surprise")


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ({"kind": "values", "values": [1, 2, 3]}, "3 values for a shape of 2 elements"),
        ({"kind": "values"}, "values must be given"),
        ({"kind": "value", "values": [1, 2]}, "did you mean"),
        ({"kind": "random", "seed": 1, "low": 2, "high": 2}, "must be less than"),
        ({"kind": "random", "seed": 1, "low": 0.2, "high": 0.8, "integers": True}, "no whole numbers"),
        ({"kind": "constant", "value": "nan"}, "expected a number"),
        ({"kind": "iota", "steps": 3}, "no member"),
    ],
)
def test_data_that_make_no_tensor_are_refused(data: dict[str, Any], words: str):
    (found,) = problems(case(inputs={"x": tensor(data=data)}))
    assert words in str(found)


def test_a_tensor_too_large_to_make_is_refused():
    (found,) = problems(case(inputs={"x": tensor(shape=[MAX_ELEMENTS, 2**40], data={"kind": "iota"})}))
    assert "are the limit" in found.message


def test_an_integer_tensor_holds_no_nan():
    (found,) = problems(case(inputs={"x": tensor(dtype="int8", data={"kind": "values", "values": [1, "NaN"]})}))
    assert found.message == "NaN is no int8"


def test_two_cases_of_one_name_are_refused():
    (found,) = problems(case(), case())
    assert found.path == "$.cases[1].name"


def test_names_are_those_of_the_manifest():
    wrong = case(
        inputs={"X": tensor()},
        outputs={"z": {"dtype": "float32", "shape": [2]}},
        attrs={"axes": 1},
        expectVariant="mian",
    )
    found = problems(wrong, manifest=MANIFEST)
    assert [item.path.rpartition(".")[2] for item in found] == ["X", "z", "axes", "expectVariant"]
    assert "main" in found[-1].hint
    assert read(case(attrs={"axis": 1}, expectVariant="main"), manifest=MANIFEST).cases


def test_json_that_is_none_has_line_and_column():
    with pytest.raises(InputError, match=r"test\.json:2:3"):
        read_tests("{\n  cases: []\n}", "test.json")


def test_benches_have_bytes_groups_and_values_to_tune():
    bench = {"name": "big", "inputs": {"x": tensor()}, "bytesMoved": 16, "group": "large"}
    text = json.dumps({"cases": [bench], "tune": {"K": [1, 2, 4]}})
    made = read_benches(text, "bench.json")
    assert (made.cases[0].bytes_moved, made.cases[0].group, made.tune) == (16, "large", {"K": (1, 2, 4)})


def test_a_tunable_to_tune_has_to_exist():
    text = json.dumps({"cases": [], "tune": {"K": [1]}})
    with pytest.raises(InputError, match='no tunable "K"'):
        read_benches(text, "bench.json", manifest=MANIFEST)


def test_a_long_list_of_numbers_is_read_quickly_and_in_full():
    many = list(range(100_000))
    (item,) = read(case(inputs={"x": tensor(shape=[100_000], data={"kind": "values", "values": many})})).cases
    data = item.inputs["x"].data
    assert isinstance(data, Values)
    assert list(data.values) == many


def test_an_integer_tensor_holds_whole_numbers_only():
    (found,) = problems(case(inputs={"x": tensor(dtype="int32", data={"kind": "values", "values": [1.0, 1.5]})}))
    assert found.message == "1.5 is no int32"


def test_a_number_that_is_none_is_told_what_a_number_may_be():
    (found,) = problems(case(inputs={"x": tensor(data={"kind": "values", "values": [1, "nan"]})}))
    assert found.path == "$.cases[0].inputs.x.data.values[1]"
    assert "'NaN', 'Infinity' or '-Infinity'" in found.message


def test_a_case_supplies_every_input_that_is_not_optional():
    (found,) = problems(case(inputs={}), manifest=MANIFEST)
    assert (found.path, found.message) == (
        "$.cases[0].inputs",
        'the case lacks "x"; only optional inputs may be left out',
    )


def test_a_misspelt_input_is_not_reported_as_missing_too():
    (found,) = problems(case(inputs={"X": tensor()}), manifest=MANIFEST)
    assert "did you mean" in found.hint
