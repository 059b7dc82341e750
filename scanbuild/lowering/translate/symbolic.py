"""Computing with tensors of sizes, for chains such as Shape, Gather, Concat, Reshape."""

import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any, Final

import numpy as np

from scanbuild.lowering.graph import Shape
from scanbuild.lowering.sizes import Size
from scanbuild.lowering.translate.values import Array


@dataclass(frozen=True, slots=True)
class _Move:
    """An operation that moves elements. ``shape`` is that of its value."""

    operands: Sequence[Array]
    shape: tuple[int, ...]
    attributes: Mapping[str, Any]


class _UnknownError(Exception):
    """The value depends on what the symbols stand for."""


def evaluate_sizes(
    operation: str, operands: Sequence[Array], shape: Shape, attributes: Mapping[str, Any]
) -> Array | None:
    """The value of an operation for arrays of sizes and bools; None where that is not known, or not worth knowing."""
    numbers = [size.number for size in shape]
    if any(number is None for number in numbers):
        return None
    whole = tuple(number or 0 for number in numbers)
    if int(np.prod(whole)) > 1024:
        return None
    try:
        if operation in _MAPS:
            return _mapped(_MAPS[operation], np.broadcast_arrays(*operands), whole)
        function = _MOVES.get(operation)
        return None if function is None else _array(function(_Move(operands, whole, attributes)), whole)
    except (_UnknownError, IndexError):
        return None


def _mapped(function: Callable[..., Any], operands: Sequence[Array], shape: tuple[int, ...]) -> Array:
    result = np.empty(shape, object)
    for index in np.ndindex(*shape):
        result[index] = _bounded(function(*(operand[index] for operand in operands)))
    return result


def _bounded(item: Any) -> Any:
    """An element; sizes that only ever grow are given up."""
    if isinstance(item, Size) and item.is_unwieldy:
        raise _UnknownError
    return item


def _array(found: Any, shape: tuple[int, ...]) -> Array:
    result = np.empty(shape, object)
    result[...] = found
    return result


def _number(size: Any) -> int:
    number = int(size) if isinstance(size, bool) else size.number
    if number is None:
        raise _UnknownError
    return int(number)


def _divide(left: Size, right: Size) -> Size:
    quotient = left.divided(right)
    if quotient is not None:
        return quotient
    a, b = _number(left), _number(right)
    if b == 0:
        raise _UnknownError
    return Size.of(abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1))


def _remainder(left: Size, right: Size) -> Size:
    if left.divided(right) is not None:
        return Size()
    if _number(right) == 0:
        raise _UnknownError
    return Size.of(_number(left) % _number(right))


def _extreme(choose: Callable[[int, int], int]) -> Callable[[Size, Size], Size]:
    return lambda left, right: left if left == right else Size.of(choose(_number(left), _number(right)))


def _equal(left: Any, right: Any) -> bool:
    if left == right:
        return True
    if isinstance(left, bool):
        return False
    difference = left - right
    if difference.number is not None:
        return bool(difference.number == 0)
    # A size is never negative, so that -1 and the like equal none.
    for one, other in ((left, right), (right, left)):
        if other.number is not None and other.number < 0 and all(factor > 0 for _, factor in one.terms):
            return False
    raise _UnknownError


def _comparison(compare: Callable[[int, int], bool]) -> Callable[[Size, Size], bool]:
    return lambda left, right: compare(_number(left - right), 0)


def _where(condition: bool, left: Any, right: Any) -> Any:
    return left if condition else right


_MAPS: Final[dict[str, Callable[..., Any]]] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "div": _divide,
    "mod": _remainder,
    "fmod": _remainder,
    "min": _extreme(min),
    "max": _extreme(max),
    "neg": lambda size: size * -1,
    "eq": _equal,
    "ne": lambda left, right: not _equal(left, right),
    "lt": _comparison(operator.lt),
    "le": _comparison(operator.le),
    "gt": _comparison(operator.gt),
    "ge": _comparison(operator.ge),
    "and": lambda left, right: left and right,
    "or": lambda left, right: left or right,
    "not": operator.not_,
    "where": _where,
}


def _cast(move: _Move) -> Array:
    if any(isinstance(item, bool) for item in move.operands[0].flat):
        raise _UnknownError
    return move.operands[0]


def _slice(move: _Move) -> Array:
    result = move.operands[0]
    for axis, count in enumerate(move.shape):
        start, step = _number(Size.of(move.attributes["starts"][axis])), move.attributes["steps"][axis]
        result = np.take(result, [start + step * i for i in range(count)], axis=axis)
    return result


def _gather(move: _Move) -> Any:
    data, indices = move.operands
    numbers = np.array([_number(item) for item in indices.flat], np.int64).reshape(indices.shape)
    return np.take(data, numbers, axis=move.attributes["axis"])


def _reduce(move: _Move) -> Array:
    if move.attributes["kind"] not in ("add", "mul") or len(move.attributes["axes"]) != move.operands[0].ndim:
        raise _UnknownError
    combine, start = {"add": (operator.add, Size()), "mul": (operator.mul, Size.of(1))}[move.attributes["kind"]]
    result = np.empty(move.shape, object)
    result[...] = reduce(lambda left, right: _bounded(combine(left, right)), move.operands[0].flat, start)
    return result


_MOVES: Final[dict[str, Callable[[_Move], Any]]] = {
    "cast": _cast,
    "reshape": lambda move: np.reshape(move.operands[0], move.shape),
    "transpose": lambda move: np.transpose(move.operands[0], move.attributes["perm"]),
    "expand": lambda move: np.broadcast_to(move.operands[0], move.shape),
    "slice": _slice,
    "concat": lambda move: np.concatenate(move.operands, axis=move.attributes["axis"]),
    "gather": _gather,
    "reduce": _reduce,
}
