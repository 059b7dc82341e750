"""Every operator, filter, test and method on every kind of value, against the loader's own engine."""

from collections.abc import Iterator
from itertools import islice, product
from random import Random

import pytest

from .difference import differences
from .engine import Engine, missing
from .vocabulary import BARE_FILTERS, BINARY, LISTS, NUMBERS, OBJECTS, ODDS, TESTS, TEXTS

REASON = missing()
pytestmark = pytest.mark.skipif(REASON is not None, reason=REASON or "")

VALUES = [
    *LISTS, *TEXTS, *NUMBERS, *OBJECTS, *ODDS,
    "(1, 2)", '("a", (1, 2.0))', "(el | first)", "[el | first]", '{"k": el | first}', "oo.get", "[oo.keys]",
    "(nan // 1)", "(0 * -1)", "(1 // 0)", "-1", "2", "1.0", '"1"', '"length"', "[1]", '["a"]', "[undef, nil]",
    '"😀"', '"k"',
    "[(1, 2)]", '"\\n"', '" x "', "[true, 0.5]", '["b", "A"]', '[{"k": 1}, {"k": "x"}]', '[[1, "a"]]',
    '"0x10"', '"Infinity"',
]  # fmt: skip
"""Names of the context and literals, of every type, empty and not, with what is neither value nor undefined."""

ALONE = [
    *(f"{{}} | {name}" for name in [*BARE_FILTERS, "get", "split", "replace", "map", "round"]),
    *(f"{{}} | {name}()" for name in [*BARE_FILTERS, "get", "split", "replace", "map", "round"]),
    *(f"{{}} is {name}" for name in [*TESTS, "equalto"]),
    *(f"{{}} is not {name}" for name in [*TESTS, "equalto"]),
    *(f"{{}}.{name}" for name in ["a", "k", "length", "get", "upper", "0", "1", "items"]),
    "-{}", "+{}", "not {}", "1 if {} else 2", "[{}]", "({}, 1)", '{{"x": {}}}', "{{({}): 1}}", "{}()",
    "[{}] | join", "[{}] | string", "[{}] | tojson", "[{}] | unique", "[{}] | sort", '[{}] ~ ""', '[{}] == ""',
    "[{}] | first", "[{}] | reverse", "[{}] | tojson(indent=1)", "[{}] + [1]", '[{}] | map(attribute="k")',
    "[{}][0:]",
    "s.startswith({})", "s.endswith({})", "s.upper({})", "s.split({})", 's.split(" ", {})', "s.split(none, {})",
    's.replace("b", {})', 's.replace({}, "b")', 's.replace("b", "q", {})', 's.replace("b", "q", count={})',
    "oo.get({})", 'oo.get("zz", {})', "oo.dictsort({})", "oo.dictsort(false, {})", "oo.dictsort(reverse={})",
]  # fmt: skip
FILTERS = [
    "default({})", "default(1, {})", "default(1, boolean={})", "join({})", "join(separator={})", "int({})",
    "float({})", "int(default={})", "sort({})", "sort(false, {})", "sort(attribute={})", "sort(reverse={})",
    "sort(true, true, {})",
    "map(attribute={})", 'map(attribute="k", default={})', "map({})", "selectattr({})", 'selectattr("k", {})',
    'selectattr("k", "eq", {})', 'rejectattr("k", "eq", {})', "indent({})", "indent(2, {})", "indent(2, true, {})",
    "indent(blank={})", "indent(width={})", 'replace({}, "z")', 'replace("a", {})', 'replace("a", "z", {})',
    "tojson({})", "tojson(indent={})", "tojson(ensure_ascii={})", "tojson(sort_keys={})",
    "tojson(separators={})", "get({})",
    'get("zz", {})', "items({})", "dictsort({})", "dictsort(by={})", 'dictsort(true, "value", {})', "default(*{})",
    "join(**{})", "int(*{})", "safe({})", "string({})",
]  # fmt: skip
SLICED = ["l", "m[0]", "uni", '"abcdef"', "(1, 2, 3)", "el"]
BOUNDS = ["0", "1", "-1", "-2", "2", "9", "-9", "undef", "(1 // 0)", "(-1 // 0)", "(0 // 0)", "minus0"]


def texts(kind: str) -> Iterator[str]:
    """All texts of a kind."""
    if kind == "alone":
        yield from (form.format(value) for form, value in product(ALONE, VALUES))
        yield from (f'{{"x": {one}, "y": {other}}} | dictsort(by="value")' for one, other in product(VALUES, VALUES))
    elif kind == "operators":
        pairs = ((one, other) for one, other in product(VALUES, VALUES) if not one == other == "oo.get")  # no identity
        yield from (f"{one} {operator} {other}" for (one, other), operator in product(pairs, BINARY))
    elif kind == "indices":
        forms = ("{}[{}]", "{}[{}:]", "{}[:{}]", "{}[::{}]")
        yield from (form.format(one, other) for form, one, other in product(forms, VALUES, VALUES))
        yield from (f"{one}[{a}:{b}:{c}]" for one, a, b, c in product(SLICED, BOUNDS, BOUNDS, BOUNDS))
    else:
        yield from (f"{one} | {form.format(other)}" for form, one, other in product(FILTERS, VALUES, VALUES))


KINDS = ("alone", "operators", "indices", "filters")


@pytest.fixture(scope="module")
def engine() -> Iterator[Engine]:
    engine = Engine()
    yield engine
    engine.close()


@pytest.mark.parametrize("kind", KINDS)
def test_some_combinations_have_the_engines_value(engine: Engine, kind: str) -> None:
    chosen = Random(kind).sample(list(texts(kind)), 300)
    assert differences(engine, expressions=chosen) == []


@pytest.mark.long
@pytest.mark.parametrize("kind", KINDS)
def test_all_combinations_have_the_engines_value(engine: Engine, kind: str) -> None:
    rest = texts(kind)
    while batch := list(islice(rest, 2000)):
        assert differences(engine, expressions=batch) == []
