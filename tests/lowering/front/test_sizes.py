"""Sizes, and what is found out about them while a body is read."""

import pytest

from scanbuild.lowering.names import Namer, is_good, sanitized
from scanbuild.lowering.sizes import Size, product
from scanbuild.lowering.translate.symbols import ANY, INNER, OUTER, ROLE, Symbols, UnequalError


def named(symbols: Symbols, *names: str) -> list[Size]:
    return [symbols.named("outer", name, name, OUTER) for name in names]


def test_a_size_is_divided_only_where_nothing_is_left_over():
    n, m = Size.of("n"), Size.of("m")
    assert (n * m + n).divided(n) == m + 1
    assert (n * 2 + 1).divided(2) is None
    assert (n * n - m * m).divided(n + m) == n - m
    assert n.divided(0) is None
    assert product([n, Size.of(2), m]).at({"n": 3, "m": m + 1}) == m * 6 + 6


def test_a_size_is_written_as_people_write_it():
    n, m = Size.of("n"), Size.of("m")
    written = [n * m * 2 + 1, n - 1, m - n * 2, n * -1, Size.of(-3), Size(), n * n - n - 4]
    assert [str(size) for size in written] == [
        "2 * m * n + 1",
        "n - 1",
        "m - 2 * n",
        "0 - n",
        "-3",
        "0",
        "n * n - n - 4",
    ]


def test_equal_symbols_become_one_and_the_better_name_stays():
    symbols = Symbols()
    (outer,) = named(symbols, "lanes")
    inner = symbols.named("inner", "d", "d", INNER)
    role = symbols.fresh("steps", ROLE)
    symbols.equal(inner, role)
    symbols.equal(inner, outer)
    assert symbols.names([(role,), (inner,), (outer,)], Namer())[outer.symbol or ""] == Size.of("lanes")
    assert {symbols.resolve(size) for size in (inner, role, outer)} == {outer}


@pytest.mark.parametrize(
    ("left", "right", "found"),
    [
        (Size.of("n") * 2 + 1, 7, 3),
        (Size.of("n") * Size.of("m"), Size.of("m") * 4, 4),
        (Size.of("n") + 2, Size.of("m") + 2, Size.of("m")),
    ],
)
def test_an_equation_with_one_way_out_is_solved(left, right, found):
    symbols = Symbols()
    m, n = named(symbols, "m", "n")
    given = {"n": n, "m": m}
    symbols.equal(Size.of(left).at(given), Size.of(right).at(given))
    assert symbols.resolve(n) == Size.of(found).at(given)
    assert not symbols.equalities


def test_an_equation_with_many_is_kept():
    symbols = Symbols()
    n, m, k = named(symbols, "n", "m", "k")
    symbols.equal(n * m, k * k)
    assert list(symbols.equalities.values()) == [(n * m, k * k)]


@pytest.mark.parametrize(("left", "right"), [(3, 4), (Size.of("n") + 1, Size.of("n")), (Size.of("n") * 2, 5)])
def test_an_equation_without_one_is_refused(left, right):
    symbols = Symbols()
    (n,) = named(symbols, "n")
    with pytest.raises(UnequalError):
        symbols.equal(Size.of(left).at({"n": n}), Size.of(right).at({"n": n}))


def test_a_size_below_zero_is_no_size():
    symbols = Symbols()
    (n,) = named(symbols, "n")
    with pytest.raises(UnequalError):
        symbols.equal(n + 5, Size.of(2))
    assert not symbols.require(Size.of(-1))
    assert symbols.require(n - 1)
    assert list(symbols.nonnegative) == [n - 1]
    assert symbols.require(n * 2)
    assert len(symbols.nonnegative) == 1


def test_only_a_one_broadcasts():
    symbols = Symbols()
    n, m = named(symbols, "n", "m")
    assert symbols.broadcast(n, Size.of(1)) == n
    assert symbols.broadcast(n, m) == symbols.resolve(m) == symbols.resolve(n)
    assert symbols.broadcast(n, Size.of(4)) == Size.of(4) == symbols.resolve(m)


def test_symbols_without_a_good_name_get_letters():
    symbols = Symbols()
    sizes = [symbols.fresh("fn", ANY), symbols.fresh("n", OUTER), symbols.fresh()]
    names = symbols.names([tuple(sizes)], Namer())
    assert [str(size.at(names)) for size in sizes] == ["m", "n", "k"]


@pytest.mark.parametrize("name", ["fn", "shapes", "toString", "_x", "a b", "", "f32", "in", "9a", "x" * 50, "sizes"])
def test_a_name_with_another_meaning_is_not_good(name):
    assert not is_good(name)
    assert is_good(sanitized(name, "value"))


@pytest.mark.parametrize(
    ("name", "nearest"), [("/rnn/Zeros_0", "Zeros_0"), ("a.b:0", "value_0"), ("é", "value"), ("h t-1", "h_t_1")]
)
def test_the_nearest_good_name_keeps_what_it_can(name, nearest):
    assert sanitized(name, "value") == nearest
