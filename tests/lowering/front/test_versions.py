"""The same operators in other versions of ONNX."""

from dataclasses import replace

import pytest

from .models import compare
from .operators import Case
from .test_elementwise import CASES as ELEMENTWISE
from .test_shaping import CASES as SHAPING
from .test_sums import CASES as SUMS

LATER = {"Gelu": 20, "GroupNormalization": 21}
"""Operators that are younger than the oldest version tried, or had another meaning in it."""
CASES = [
    replace(item, opset=opset)
    for opset in (18, 23, 25)
    for item in [*ELEMENTWISE, *SHAPING, *SUMS][opset % 7 :: 7]
    if item.opset == 21 and not item.domain and opset >= LATER.get(item.operator, 0)
]


@pytest.mark.parametrize("item", CASES, ids=[item.id for item in CASES])
def test_an_operator_is_that_of_onnx_runtime_in_another_version_too(item: Case):
    compare(item.model(symbolic=item.symbolic), item.feeds(), rtol=2e-3, atol=1e-3)
