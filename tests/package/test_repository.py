"""Names that the loader would take and the Hub has no place for."""

import pytest

from scanbuild.package.repository import LONGEST_NAME, unfit_name


@pytest.mark.parametrize("name", ["ai.onnx.Scan", "a_b-c", "x" * LONGEST_NAME, "git", "a.gitx"])
def test_a_name_that_the_hub_takes_is_fit(name):
    assert unfit_name(name) == ""


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("x" * (LONGEST_NAME + 1), "longer than 96"),
        ("a--b", "not allowed"),
        ("a..b", "not allowed"),
        ("-a", "begin or end"),
        (".a", "begin or end"),
        ("a-", "begin or end"),
        ("a.", "begin or end"),
        ("a.git", "nor end with"),
        ("a.IPYNB", "nor end with"),
    ],
)
def test_a_name_that_the_hub_refuses_is_told_why(name, why):
    assert why in unfit_name(name)
