"""Values, as scopes hold them (plain) and as they are while an expression is evaluated.

Inside an evaluation the loader's types are Python's where those fit:

===============  =====================================================
IntegerValue     ``int``, or :class:`Whole` for NaN, infinities and -0
FloatValue       ``float``
StringValue      ``str``, or ``BROKEN`` (a string without content)
BooleanValue     ``bool``
NullValue        ``None``
UndefinedValue   ``UNDEFINED``
ArrayValue       ``list``
TupleValue       ``tuple``
ObjectValue      ``dict``, or :class:`KeywordArguments`
NamespaceValue   :class:`Namespace`
FunctionValue    :class:`Native`
===============  =====================================================

Lists and objects are compared by identity, so converting a value makes new ones. Strings hold code points; a pair of
surrogates never stands in one (see :func:`scanbuild.dialect.text.well_formed`).
"""

import re
from collections.abc import Callable, Mapping
from typing import Any, Final, final

from .errors import limit_error, value_error
from .limits import EVALUATION_COST, ITEM_COST, LIST_COST, MAX_ITEMS, NODE_COST, NUMBER_COST, SMALL
from .work import take, use, work_left

Value = Any
"""A value of the table above."""

Plain = Any
"""None, UNDEFINED, bool, int, float, str, list, dict, Function or NameSet."""

EXACT = 2**53
"""Whole numbers up to this one are doubles without gaps."""

_INDEX = re.compile(r"(?:0|[1-9][0-9]{0,9})\Z")


@final
class _Absent:
    """A value that is only itself, and false."""

    __slots__ = ("_name",)

    def __init__(self, name: str) -> None:
        self._name = name

    def __bool__(self) -> bool:
        return False

    def __repr__(self) -> str:
        return self._name

    def __copy__(self) -> "_Absent":
        return self

    def __deepcopy__(self, memo: object) -> "_Absent":
        return self

    def __reduce__(self) -> str:
        return self._name


UNDEFINED: Final = _Absent("UNDEFINED")
BROKEN: Final = _Absent("BROKEN")
"""The string that an index out of range gives: defined, yet without content."""
HOLE: Final = _Absent("HOLE")
"""What ``first`` and ``last`` of an empty list give: no value at all; most uses of it fail."""


class Whole(float):
    """An IntegerValue that is no Python int: NaN, an infinity, or -0."""

    __slots__ = ()


class KeywordArguments(dict[str, Value]):
    """The keyword arguments of a call, passed on as its last argument."""

    __slots__ = ()


class Namespace:
    """What ``namespace()`` makes: members that ``set`` can replace."""

    __slots__ = ("members",)

    def __init__(self, members: dict[str, Value]) -> None:
        self.members = members


@final
class Function:
    """A callable of a scope: ``call`` takes plain positional arguments and returns a plain value.

    A null argument arrives as UNDEFINED, keyword arguments as one trailing dict. ``call`` reports a bad argument with
    :func:`~scanbuild.dialect.errors.value_error`.
    """

    __slots__ = ("call", "name")

    def __init__(self, call: Callable[..., Plain], name: str = "") -> None:
        self.call = call
        self.name = name or getattr(call, "__name__", "function")

    def __repr__(self) -> str:
        return f"<Function {self.name}>"


@final
class NameSet:
    """A set of names as a scope object with ``.has(name)`` and ``.size`` (``device.features``)."""

    __slots__ = ("names",)

    def __init__(self, names: frozenset[str]) -> None:
        self.names = names

    def has(self, name: object) -> bool:
        """Whether ``name`` is one of the names; false for what is no string."""
        return isinstance(name, str) and name in self.names

    @property
    def size(self) -> int:
        return len(self.names)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, NameSet) and self.names == other.names

    def __hash__(self) -> int:
        return hash(self.names)

    def __repr__(self) -> str:
        return f"NameSet({sorted(self.names)})"


@final
class Native:
    """A FunctionValue. ``call(arguments, scope)`` gets values, a KeywordArguments last if there are any."""

    __slots__ = ("call", "name")

    def __init__(self, name: str, call: Callable[[list[Value], Any], Value]) -> None:
        self.name = name
        self.call = call


class Budget:
    """Counts the work of one evaluation down."""

    __slots__ = ("calls", "granted", "numbers", "steps", "work")

    def __init__(self) -> None:
        use(EVALUATION_COST)
        self.granted = self.work = work_left()
        self.steps = 0
        self.calls = 0
        self.numbers = 0

    def spend(self, amount: int) -> None:
        """Count ``amount`` characters (or ``NODE_COST`` a value); error of kind ``limit`` when nothing is left."""
        self.work -= amount
        if self.work < 0:
            raise limit_error("the values of this evaluation are too large")

    def make_numbers(self, count: int) -> None:
        """Count a list of new numbers. After the first million they cost as much as they may keep of the memory."""
        self.numbers += count
        self.spend(count * (NUMBER_COST if self.numbers <= MAX_ITEMS else 2 * ITEM_COST))

    def settle(self) -> None:
        """Take what was spent from the allowance that this evaluation shares with others."""
        take(self.granted - max(self.work, 0))

    def charge(self, value: Value) -> None:
        """Count the reading of a whole string or list."""
        if type(value) in (str, list, tuple) and len(value) > SMALL:
            self.spend(len(value) * (1 if type(value) is str and value.isascii() else ITEM_COST))


def whole(number: float) -> int | Whole:
    """The IntegerValue of a double."""
    if number - number == 0 and (number or str(number)[0] != "-"):
        return int(number)
    return Whole(number)


def integer(number: int) -> int | Whole:
    """The IntegerValue of an exact result, rounded to a double."""
    if -EXACT <= number <= EXACT:
        return number
    try:
        return int(float(number))
    except OverflowError:
        return Whole("inf" if number > 0 else "-inf")


def ordered(members: dict[str, Value]) -> dict[str, Value]:
    """Members in the order of a JavaScript object: array indices first, ascending."""
    if not any(key[:1].isdigit() for key in members):
        return members
    indices = [key for key in members if _INDEX.match(key) and int(key) < 2**32 - 1]
    if not indices:
        return members
    first = {key: members[key] for key in sorted(indices, key=int)}
    return first | {key: value for key, value in members.items() if key not in first}


def wrap(value: Plain, budget: Budget) -> Value:
    """The value of a plain one, re-typed: a whole number is an integer whatever Python type it has."""
    budget.spend(NODE_COST)
    kind = type(value)
    if kind is str or kind is bool or value is None or value is UNDEFINED:
        return value
    if kind is int:
        number = integer(value)
        return number if type(number) is int else float(number)  # an infinity, beyond the doubles
    if kind is float:
        return whole(value) if value % 1 == 0 else value
    if kind is list or kind is tuple:
        budget.spend(LIST_COST)
        return [wrap(item, budget) for item in value]
    if kind is dict:
        return ordered({key: wrap(item, budget) for key, item in value.items()})
    return _wrap_other(value, budget)


def _wrap_other(value: Plain, budget: Budget) -> Value:
    if isinstance(value, Function):
        return _native(value)
    if isinstance(value, NameSet):
        return _name_set(value)
    if isinstance(value, Mapping):
        return ordered({str(key): wrap(item, budget) for key, item in value.items()})
    for base in (bool, int, str, float):
        if isinstance(value, base):
            return wrap(base(value), budget)
    raise TypeError(f"no value of the expression language: {type(value).__name__}")


def _native(function: Function) -> Native:
    def call(arguments: list[Value], scope: Any) -> Value:
        budget: Budget = scope.budget
        given = [plain(argument, budget) if argument is not HOLE else _no_value() for argument in arguments]
        result = function.call(*[UNDEFINED if argument is None else argument for argument in given])
        return wrap(None if result is UNDEFINED else result, budget)

    return Native(function.name, call)


def _no_value() -> Plain:
    raise value_error("the first or last element of an empty list cannot be used")


def _name_set(names: NameSet) -> dict[str, Value]:
    """A set of the host as an object. Only ``size`` and ``has`` are of use."""

    def iterate(_arguments: list[Value], _scope: Any) -> Value:
        return {}

    def for_each(_arguments: list[Value], _scope: Any) -> Value:
        raise value_error("forEach() needs a function of the host")

    return {
        "size": names.size,
        "has": _native(Function(lambda *given: names.has(given[0]) if given else False, "has")),
        "entries": Native("entries", iterate),
        "forEach": Native("forEach", for_each),
        "keys": Native("keys", iterate),
        "values": Native("values", iterate),
    }


def _refuse(*_arguments: Plain) -> Plain:
    raise value_error("a function that was stored in a value cannot be called")


def plain(value: Value, budget: Budget) -> Plain:
    """The plain value of a value: tuples are lists, whole numbers ints, members ordered as in JavaScript."""
    budget.spend(NODE_COST)
    kind = type(value)
    if kind is str or kind is bool or value is None or value is UNDEFINED:
        return value
    if kind is int:
        return value if -EXACT <= value <= EXACT else float(value)
    if kind is float or kind is Whole:
        return plain_number(value)
    if kind is list or kind is tuple:
        budget.spend(LIST_COST)
        return [plain(item, budget) for item in value]
    if isinstance(value, dict):
        return ordered({key: plain(item, budget) for key, item in value.items()})
    if isinstance(value, Namespace):
        return ordered({key: plain(item, budget) for key, item in value.members.items()})
    return Function(_refuse, value.name) if kind is Native else UNDEFINED


def plain_number(number: float) -> int | float:
    """A double as the int it equals, if that is exact and no -0; else as a float."""
    if -EXACT <= number <= EXACT and number % 1 == 0 and (number or str(number)[0] != "-"):
        return int(number)
    return float(number)
