"""What families expand to, and where their mistakes are shown."""

import json
from typing import Any

import pytest

from scanbuild.errors import Problem
from scanbuild.package.manifest import check_manifest, parse_manifest
from scanbuild.package.model import Manifest
from scanbuild.package.substitution import MAX_VALUES, MAX_VARIANTS
from tests.package.building import BASE, PASS, edited


def with_family(**family: Any) -> Any:
    return edited(BASE, {"variants": [family]})


def expanded(**family: Any) -> Manifest:
    manifest, problems = parse_manifest(with_family(**family))
    assert problems == []
    assert manifest is not None
    return manifest


def problems_of(**family: Any) -> list[Problem]:
    return parse_manifest(with_family(**family))[1]


def template(**members: Any) -> dict[str, Any]:
    return {"id": "f{n}", "passes": [PASS], **members}


def test_variants_come_case_by_case_and_template_by_template() -> None:
    templates = [template(id="a{n}"), template(id="b{n}")]
    manifest = expanded(cases=[{"n": 1}, {"n": 2}], variants=templates)
    assert [variant.id for variant in manifest.variants] == ["a1", "b1", "a2", "b2"]
    assert [variant.path for variant in manifest.variants[:2]] == [
        "$.variants[0].variants[0]",
        "$.variants[0].variants[1]",
    ]


def test_the_first_axis_is_the_outer_loop_and_overrides_come_last() -> None:
    axes = {
        "a": [{"$key": "p", "n": 1}, {"$key": "q", "n": 2}],
        "b": [{"$key": "r", "m": 1}, {"$key": "s", "m": 2}],
    }
    manifest = expanded(
        axes=axes,
        exclude=[{"a": "p", "b": "s"}],
        cases=[{"a": "q", "b": "r", "m": 9, "d": "new"}],
        variants=[template(id="f{n}_{m}")],
    )
    assert [variant.id for variant in manifest.variants] == ["f1_1", "f2_9", "f2_2"]


def test_default_ids_count_expanded_variants() -> None:
    manifest = expanded(cases=[{"n": 1}, {"n": 2}], variants=[{"passes": [PASS]}])
    assert [variant.id for variant in manifest.variants] == ["variant_0", "variant_1"]


@pytest.mark.parametrize(
    ("value", "form"),
    [(1, "1"), (0.5, "0.5"), (True, "true"), (1e-7, "1e-7"), (1e21, "1e+21"), (-0.0, "0"), ("x", "x")],
)
def test_a_value_within_a_text_has_the_form_javascript_gives_it(value: Any, form: str) -> None:
    manifest = expanded(cases=[{"n": 1, "v": value}], variants=[template(description="<{v}>")])
    assert manifest.variants[0].description == f"<{form}>"


def test_splicing_and_deleting() -> None:
    manifest = expanded(
        cases=[{"n": 1, "w": ["a", "b"], "gone": None, "z": []}],
        variants=[template(when=["x", "{w}", "{z}", "y"], description="{gone}", derive={"a": ["{w}", ["{w}"]]})],
    )
    (variant,) = manifest.variants
    assert variant.when == ("x", "a", "b", "y")
    assert variant.description == ""
    assert variant.derive == {"a": ["a", "b", ["a", "b"]]}


def test_a_key_takes_the_text_form_of_any_value_but_null() -> None:
    cases = [{"n": 1, "k": [1, None, {}], "gone": None}]
    manifest = expanded(cases=cases, variants=[template(derive={"a": {"{k}": 1, "{gone}": 2, "{n}": 3}})])
    assert manifest.variants[0].derive == {"a": {"1,,[object Object]": 1, "1": 3}}


def test_a_mistake_in_a_template_is_shown_where_it_was_written_and_once() -> None:
    value = with_family(
        cases=[{"n": 1, "w": ["a", "b"]}, {"n": 2, "w": []}],
        variants=[template(when=["{w}", "c", 5])],
    )
    _, report = check_manifest(value)
    text = json.dumps(value, indent=1)
    (problem,) = report.located(text, "manifest.json")
    assert problem.path == "$.variants[0].variants[0].when[2]"
    assert "[in case 0 and 1 more]" in problem.message
    assert text.splitlines()[(problem.line or 0) - 1].strip() == "5"


def test_a_mistake_in_a_value_is_shown_at_its_placeholder() -> None:
    (problem,) = problems_of(cases=[{"n": 1, "r": {"features": ["f16"]}}], variants=[template(requires="{r}")])
    assert problem.path == "$.variants[0].variants[0].requires"
    (problem,) = problems_of(cases=[{"n": 1, "k": "a-b"}], variants=[template(derive={"{k}": 1})])
    assert problem.path == '$.variants[0].variants[0].derive["{k}"]'


def test_a_pass_of_a_family_knows_where_it_was_written() -> None:
    other = {**PASS, "id": "last"}
    manifest = expanded(cases=[{"n": 1, "p": [PASS, PASS]}], variants=[template(passes=["{p}", other])])
    paths = [item.path for item in manifest.variants[0].all_passes()]
    assert paths == ["$.variants[0].variants[0].passes[0]"] * 2 + ["$.variants[0].variants[0].passes[1]"]


def test_a_place_in_an_expanded_variant_leads_to_its_template() -> None:
    family = {
        "cases": [{"n": 1, "w": ["a", "b"], "k": "x"}],
        "variants": [template(when=["{w}", "c"], derive={"{k}y": 1})],
    }
    _, report = check_manifest(edited(BASE, {"variants": [{"passes": [PASS]}, family]}))
    assert report.place_in_variant("variant_0", ("passes", 0)) == ("variants", 0, "passes", 0)
    start = ("variants", 1, "variants", 0)
    assert report.place_in_variant("f1", ("when", 1)) == (*start, "when", 0)
    assert report.place_in_variant("f1", ("when", 2)) == (*start, "when", 1)
    assert report.place_in_variant("f1", ("derive", "xy")) == (*start, "derive", "{k}y")


def test_too_many_variants_are_refused() -> None:
    cases = [{"n": index} for index in range(MAX_VARIANTS + 1)]
    (problem,) = problems_of(cases=cases, variants=[template()])
    assert problem.rule == "limit-variants"
    side = [{"$key": f"k{index}"} for index in range(100)]
    (problem,) = problems_of(axes={"a": side, "b": side}, variants=[template(id="x")])
    assert problem.rule == "limit-variants"


def test_an_expansion_that_explodes_is_refused() -> None:
    wide = {"n": 1, "v": [0] * 1000}
    rows: list[Any] = ["{v}"] * (MAX_VALUES // 1000 + 1)
    (problem,) = problems_of(cases=[wide], variants=[template(derive={"a": rows})])
    assert problem.rule == "limit-expansion"
    long = {"n": 1, "v": "x" * 100_000}
    (problem,) = problems_of(cases=[long], variants=[template(description="{v}-" * 1000)])
    assert problem.rule == "limit-expansion"


def test_a_deep_value_in_a_deep_template_is_refused() -> None:
    def nested(depth: int, inner: Any) -> Any:
        return [nested(depth - 1, inner)] if depth else inner

    case = {"n": 1, "v": nested(200, 1)}
    (problem,) = problems_of(cases=[case], variants=[template(derive={"a": nested(200, "{v}")})])
    assert problem.rule == "limit-expansion"


def test_groups_that_nest_too_deep_are_refused() -> None:
    passes: Any = [PASS]
    for index in range(60):
        passes = [{"repeat": {"index": f"i{index}", "count": 1}, "passes": passes}]
    _, problems = parse_manifest(edited(BASE, {"variants.0.passes": passes}))
    assert [problem.rule for problem in problems] == ["limit-depth"]
