"""Numbers as they are spelled in JSON, and names at the edge of their pattern, wherever the format reads one."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from scanbuild.errors import LoadError
from scanbuild.package.manifest import read_manifest
from tests.package.building import BASE, PASS, VARIANT, edited

Places = dict[str, dict[str, Any]]

HERE = "@@"
BINDINGS = "variants.0.passes.0.bindings"
DISPATCH = "variants.0.passes.0.dispatch"


def field(**members: Any) -> dict[str, Any]:
    return {BINDINGS: ["x", "y", {"name": "p", "struct": [{"name": "a", "type": "f32", **members}]}]}


def group(index: Any = "i", count: Any = 1, **members: Any) -> dict[str, Any]:
    return {"variants.0.passes": [{"repeat": {"index": index, "count": count}, "passes": [PASS], **members}]}


def grid(**members: Any) -> dict[str, Any]:
    axes = {"p": [{"$key": "k"}], "q": [{"$key": "k"}]}
    return {"variants": [{"axes": axes, "variants": [VARIANT], **members}]}


def family(case: Any) -> dict[str, Any]:
    return {"variants": [{"cases": [case], "variants": [VARIANT]}]}


NATURAL: Places = {
    "dispatch x": {DISPATCH: {"x": HERE}},
    "dispatch z": {DISPATCH: {"x": 1, "z": HERE}},
    "threads": {DISPATCH: {"threads": HERE, "workgroupSize": 1}},
    "workgroupSize": {DISPATCH: {"threads": 1, "workgroupSize": HERE}},
    "workgroups": {DISPATCH: {"workgroups": HERE}},
}
POSITIVE_SAFE: Places = {"length": {BINDINGS: [{"name": "x", "length": HERE}, "y"]}}
POSITIVE: Places = {
    "subgroupMinSize": {"requires": {"subgroupMinSize": HERE}},
    "matrix size": {"requires": {"subgroupMatrixConfigs": [{"M": HERE}]}},
}
FINITE: Places = {
    "priority": {"variants.0.priority": HERE},
    "limit": {"requires": {"limits": {"maxBindGroups": HERE}}},
    "tunable": {"tunables": {"a": {"default": HERE}}},
    "constraint": {"attributes": {"a": {}}, "attributeConstraints": {"a": {"values": [HERE]}}},
    "case field": family({"a": {"b": [HERE]}}),
    "axis field": grid(axes={"p": [{"$key": "k", "a": [HERE]}], "q": [{"$key": "k"}]}),
    "override": grid(cases=[{"p": "k", "q": "k", "a": [HERE]}]),
}
ANY: Places = {
    "sinceVersion": {"sinceVersion": HERE},
    "rank": {"inputs.x.rank": HERE},
    "output shape": {"outputs.y.shape": HERE},
    "attribute": {"attributes": {"a": {"default": HERE}}},
    "derive": {"derive": {"a": HERE}},
    "field": field(value=HERE, default=HERE, required=HERE),
    "profile": {"variants.0.passes.0.profile": HERE},
    "intermediate shape": {"variants.0.intermediates": [{"id": "t", "dtype": "bool", "shape": HERE}]},
    "repeat count": group(count=HERE),
    "args": {"args": HERE},
    "typeConstraints": {"typeConstraints": HERE},
}
ZEROS = {"0", "-0", "-0.0", "0e5", "1e-400"}
SMALL = {"1.0", "1e0", "10e-1", "1e3", "9007199254740991", "9.007199254740991e15"}
LARGE = {"9007199254740992", "9007199254740993", "1e21", "123456789012345678901234567890"}
ROUNDED = {"9007199254740990.9"}
"""Too many digits for a double, which makes it whole."""
OTHER = {"1.5", "-1", "0.00000000000000000000000001", "4503599627370495.5"}
INFINITE = {"1e400", "-1e400", "1" + "0" * 400}
SPELLINGS = ZEROS | SMALL | LARGE | ROUNDED | OTHER | INFINITE

KINDS: list[tuple[Places, set[str]]] = [
    (NATURAL, ZEROS | SMALL | ROUNDED),
    (POSITIVE_SAFE, SMALL | ROUNDED),
    (POSITIVE, SMALL | ROUNDED | LARGE),
    (FINITE, SPELLINGS - INFINITE),
    (ANY, SPELLINGS),
]


def loads(edits: dict[str, Any], spelling: str) -> bool:
    """Whether the base manifest loads with the edits, the spelling standing where they say so."""
    text = json.dumps(edited(BASE, edits)).replace(f'"{HERE}"', spelling)
    try:
        read_manifest(text)
    except LoadError:
        return False
    return True


@pytest.mark.parametrize(
    ("edits", "taken"),
    [pytest.param(edits, taken, id=name) for places, taken in KINDS for name, edits in places.items()],
)
def test_a_number_is_taken_by_its_value_and_not_by_its_spelling(edits: dict[str, Any], taken: set[str]) -> None:
    assert {spelling for spelling in SPELLINGS if loads(edits, spelling)} == taken


def test_a_collectives_width_is_one_of_six_numbers_however_spelled() -> None:
    edits = {"variants.0.passes.0.subgroupCollectivesWidth": HERE}
    taken = {"4", "8.0", "1.6e1", "32", "64", "128", '"portable"'}
    assert {word for word in taken | SPELLINGS | {"2", "12", "256", '"4"', "true"} if loads(edits, word)} == taken


@pytest.mark.parametrize(
    "spelling",
    ["01", "1.", ".5", "+1", "-", "1e", "0x1", "1_000", "NaN", "Infinity", "-Infinity", "--1", "\uff11", "undefined"],
)
def test_what_json_has_no_number_for_is_refused_even_where_nothing_is_checked(spelling: str) -> None:
    assert not loads({"derive": {"a": HERE}}, spelling)


IDENTIFIERS: dict[str, Callable[[str], dict[str, Any]]] = {
    "port": lambda name: {"inputs": {"x": {"dtype": "float32"}, name: {}}},
    "arg": lambda name: {"args": {name: {"kind": "u32"}}},
    "tunable": lambda name: {"tunables": {name: {"default": 1}}},
    "derive": lambda name: {"variants.0.passes.0.derive": {name: 1}},
    "handle": lambda name: {"bindings": {name: {"arg": "x"}}},
    "binding": lambda name: {BINDINGS: [{"name": name, "arg": "x"}, "y"]},
    "struct field": lambda name: field(name=name),
    "repeat index": lambda name: group(index=name),
    "case field": lambda name: family({name: 1}),
    "axis": lambda name: grid(axes={name: [{"$key": "k"}], "q": [{"$key": "k"}]}),
    "axis field": lambda name: grid(axes={"p": [{"$key": "k", name: 1}], "q": [{"$key": "k"}]}),
    "axis key": lambda name: grid(axes={"p": [{"$key": name}], "q": [{"$key": "k"}]}),
    "override": lambda name: grid(cases=[{"p": "k", "q": "k", name: 1}]),
}
STABLE_IDS: dict[str, Callable[[str], dict[str, Any]]] = {
    "variant": lambda name: {"variants.0.id": name},
    "repeat group": lambda name: group(id=name),
}
NO_WORDS = {"", "a-b", "a b", "a.b", "a\n", "\na", "\u00e9", "a\u00e9", "a\u0663", "\uff41", "$a", "a$", "\u00aa", " a"}


@pytest.mark.parametrize("place", IDENTIFIERS)
def test_an_identifier_is_of_plain_letters_digits_and_underscores_to_its_end(place: str) -> None:
    taken = {"a", "_", "A1", "__x__"}
    names = taken | NO_WORDS | {"1", "1a"}
    assert {name for name in names if loads(IDENTIFIERS[place](name), "0")} == taken


@pytest.mark.parametrize("place", STABLE_IDS)
def test_a_stable_id_may_begin_with_a_digit_and_not_with_an_underscore(place: str) -> None:
    taken = {"a", "A1", "1", "1a", "a_"}
    names = taken | NO_WORDS | {"_", "_a", "__x__"}
    assert {name for name in names if loads(STABLE_IDS[place](name), "0")} == taken


@pytest.mark.parametrize("char", ["\t", "\v", "\u00a0", "\u1680", "\u2009", "\u2028", "\u3000", "\ufeff"])
def test_the_white_space_of_javascript_is_ignored_in_the_element_type_of_opaque_int64(char: str) -> None:
    edits = {"inputs.x.dtype": "int64", BINDINGS: [{"name": "x", "elementType": f"vec2<{char}u32>{char}"}, "y"]}
    assert loads(edits, "0")


@pytest.mark.parametrize("char", ["\x1c", "\x1f", "\x85", "\u180e", "\u200b"])
def test_what_only_python_or_nobody_calls_white_space_is_not_ignored_there(char: str) -> None:
    edits = {"inputs.x.dtype": "int64", BINDINGS: [{"name": "x", "elementType": f"vec2<{char}u32>"}, "y"]}
    assert not loads(edits, "0")
