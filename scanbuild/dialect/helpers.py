"""The helper functions of section 3.8, on plain values.

A helper gets what JavaScript would pass: numbers are converted where nothing else is said, so numeric strings, booleans
and one-element lists count as numbers. Where a list is expected and something else comes, that is an error.
"""

import math
from collections.abc import Callable, Mapping
from typing import Final

from .errors import limit_error, value_error
from .limits import MAX_ITEMS
from .operators import ceil, floor, js_power, modulo, quotient
from .text import js_string, to_number, units
from .values import UNDEFINED, Function, NameSet, Plain

Shape = list[Plain]

_BYTES: Final[dict[str, int]] = {
    "float32": 4,
    "float16": 2,
    "int8": 4,
    "int16": 4,
    "int32": 4,
    "int64": 8,
    "uint8": 4,
    "uint32": 4,
    "bool": 4,
    "f32": 4,
    "f16": 2,
    "u32": 4,
    "i32": 4,
    "vec2<u32>": 8,
}
_ONNX_CODES: Final[dict[str, int]] = {
    "float32": 1,
    "uint8": 2,
    "int8": 3,
    "int16": 5,
    "int32": 6,
    "int64": 7,
    "bool": 9,
    "float16": 10,
    "uint32": 12,
}
_NAME_SET_MEMBERS = frozenset({"size", "has", "entries", "forEach", "keys", "values"})


def _list(value: Plain, helper: str, what: str = "its argument") -> Shape:
    if not isinstance(value, list):
        raise value_error(f"{helper}(): {what} must be a list, not {_kind(value)}")
    return value


def _kind(value: Plain) -> str:
    if value is None or value is UNDEFINED:
        return "null or undefined"
    names = {bool: "a boolean", str: "a string", int: "a number", float: "a number", dict: "an object"}
    return names.get(type(value), "a function")


def _is_integer(value: Plain) -> bool:
    """``Number.isInteger``"""
    return type(value) is int or (type(value) is float and math.isfinite(value) and value.is_integer())


def _same(left: Plain, right: Plain) -> bool:
    """``===``"""
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, (int, float)) and isinstance(right, (int, float)):
        return left == right
    if isinstance(left, str) and isinstance(right, str):
        return left == right
    return left is right


def _product(values: Shape) -> float:
    result = 1.0
    for value in values:
        result *= to_number(value)
    return result


def _wrapped(axis: Plain, rank: Plain) -> float:
    """An axis reduced modulo the rank; NaN for rank 0."""
    count = to_number(rank)
    return modulo(modulo(to_number(axis), count) + count, count)


def _cut(number: float, length: int) -> int:
    """A non-negative index of ``slice``: cut to an integer, NaN as 0."""
    if math.isnan(number):
        return 0
    return int(max(0.0, min(number, float(length))))


def _ceil(x: Plain = UNDEFINED, *_: Plain) -> Plain:
    return ceil(to_number(x))


def _floor(x: Plain = UNDEFINED, *_: Plain) -> Plain:
    return floor(to_number(x))


def _pow(a: Plain = UNDEFINED, b: Plain = UNDEFINED, *_: Plain) -> Plain:
    return js_power(to_number(a), to_number(b))


def _min(*values: Plain) -> Plain:
    numbers = [to_number(value) for value in values]
    if any(math.isnan(number) for number in numbers):
        return math.nan
    return min(numbers, key=lambda number: (number, math.copysign(1, number)), default=math.inf)


def _max(*values: Plain) -> Plain:
    numbers = [to_number(value) for value in values]
    if any(math.isnan(number) for number in numbers):
        return math.nan
    return max(numbers, key=lambda number: (number, math.copysign(1, number)), default=-math.inf)


def _ceil_div(a: Plain = UNDEFINED, b: Plain = UNDEFINED, *_: Plain) -> Plain:
    return ceil(quotient(to_number(a), to_number(b)))


def _log2ceil(x: Plain = UNDEFINED, *_: Plain) -> Plain:
    number = to_number(x)
    if number <= 1:
        return 0
    return number if math.isnan(number) or math.isinf(number) else ceil(math.log2(number))


def _pow2ceil(x: Plain = UNDEFINED, *_: Plain) -> Plain:
    return js_power(2.0, float(_log2ceil(x)))


def _numel(dims: Plain = UNDEFINED, *_: Plain) -> Plain:
    return _product(_list(dims, "numel"))


def _dim(dims: Plain = UNDEFINED, axis: Plain = UNDEFINED, *_: Plain) -> Plain:
    if dims is None or dims is UNDEFINED:
        _list(dims, "dim")
    if not isinstance(dims, (list, str)):
        return None
    items = list(units(dims)) if isinstance(dims, str) else dims
    place = _wrapped(axis, len(items))
    return items[int(place)] if place.is_integer() else None


def _rows(dims: Plain = UNDEFINED, axis: Plain = UNDEFINED, *_: Plain) -> Plain:
    items = _list(dims, "rows")
    place = _wrapped(axis, len(items))
    return _product([item for index, item in enumerate(items) if index != place])


def _outer(dims: Plain = UNDEFINED, axis: Plain = UNDEFINED, *_: Plain) -> Plain:
    items = _list(dims, "outer")
    return _product(items[: _cut(_wrapped(axis, len(items)), len(items))])


def _inner(dims: Plain = UNDEFINED, axis: Plain = UNDEFINED, *_: Plain) -> Plain:
    items = _list(dims, "inner")
    return _product(items[_cut(_wrapped(axis, len(items)) + 1, len(items)) :])


def _sliceable(value: Plain, helper: str) -> Plain:
    if isinstance(value, str):
        return units(value)
    return _list(value, helper)


def _prefix(items: Plain = UNDEFINED, n: Plain = UNDEFINED, *_: Plain) -> Plain:
    sequence = _sliceable(items, "prefix")
    return sequence[: _cut(to_number(n), len(sequence))]


def _suffix(items: Plain = UNDEFINED, n: Plain = UNDEFINED, *_: Plain) -> Plain:
    sequence = _sliceable(items, "suffix")
    return sequence[_cut(to_number(n), len(sequence)) :]


def _fill(value: Plain = UNDEFINED, count: Plain = UNDEFINED, *_: Plain) -> Plain:
    return [value] * _length(count, "fill")


def _length(value: Plain, helper: str) -> int:
    if not _is_integer(value) or value < 0:
        raise value_error(f"{helper}(): the number of elements must be a whole number from 0 on")
    if value > MAX_ITEMS:
        raise limit_error(f"{helper}(): a list of more than {MAX_ITEMS} elements")
    return int(value)


def _axis(value: Plain, rank: int, helper: str) -> int:
    """An axis in [-rank, rank-1] as one in [0, rank-1]."""
    if not _is_integer(value) or not -rank <= value < rank:
        raise value_error(f"{helper}(): an axis of a shape of rank {rank} is an integer from {-rank} to {rank - 1}")
    return int(value) % rank


def _move_axis(shape: Plain = UNDEFINED, origin: Plain = UNDEFINED, to: Plain = UNDEFINED, *_: Plain) -> Plain:
    dims = list(_list(shape, "moveAxis"))
    place, target = _axis(origin, len(dims), "moveAxis"), _axis(to, len(dims), "moveAxis")
    dims.insert(target, dims.pop(place))
    return dims


def _permute_shape(shape: Plain = UNDEFINED, axes: Plain = UNDEFINED, *_: Plain) -> Plain:
    dims, order = _list(shape, "permuteShape"), _list(axes, "permuteShape", "the second argument")
    places = [_axis(axis, len(dims), "permuteShape") for axis in order]
    if len(places) != len(dims) or len(set(places)) != len(dims):
        raise value_error("permuteShape(): there must be one distinct axis for each dimension")
    return [dims[place] for place in places]


def _reversed_axes(rank: Plain = UNDEFINED, *_: Plain) -> Plain:
    return list(range(_length(rank, "reversedAxes")))[::-1]


def _broadcast(left: Shape, right: Shape, helper: str) -> Shape:
    rank = max(len(left), len(right))
    result: Shape = []
    padded = ([1] * (rank - len(shape)) + shape for shape in (left, right))
    for one, other in zip(*padded, strict=True):
        if not (_same(one, other) or _same(one, 1) or _same(other, 1)):
            raise value_error(f"{helper}(): {js_string(left)} and {js_string(right)} cannot be broadcast together")
        result.append(other if _same(one, 1) else one)
    return result


def _broadcast_shape(a: Plain = UNDEFINED, b: Plain = UNDEFINED, *_: Plain) -> Plain:
    return _broadcast(_list(a, "broadcastShape"), _list(b, "broadcastShape"), "broadcastShape")


def _matmul_shape(a: Plain = UNDEFINED, b: Plain = UNDEFINED, *_: Plain) -> Plain:
    left, right = _list(a, "matmulShape"), _list(b, "matmulShape")
    if not left or not right:
        raise value_error("matmulShape(): a shape of rank 0 has no matrix product")
    rows, columns = left[-2:-1], right[-1:] if len(right) > 1 else []
    inner = right[-2] if len(right) > 1 else right[0]
    if not _same(left[-1], inner):
        raise value_error(f"matmulShape(): the inner dimensions {js_string(left[-1])} and {js_string(inner)} differ")
    return _broadcast(left[:-2], right[:-2], "matmulShape") + rows + columns


def _broadcastable(a: Plain = UNDEFINED, b: Plain = UNDEFINED, *_: Plain) -> Plain:
    left, right = _list(a, "broadcastable"), _list(b, "broadcastable")
    aligned = right[len(right) - len(left) :] if len(left) <= len(right) else None
    if aligned is None:
        return False
    return all(_same(one, 1) or _same(one, other) for one, other in zip(left, aligned, strict=True))


def _same_shape(a: Plain = UNDEFINED, b: Plain = UNDEFINED, *_: Plain) -> Plain:
    left, right = _list(a, "sameShape"), _list(b, "sameShape")
    return len(left) == len(right) and all(_same(one, other) for one, other in zip(left, right, strict=True))


def _position(axes: Shape, axis: Plain, rank: Plain) -> int | None:
    """Where an axis stands in a list of axes, all of them reduced modulo the rank."""
    wanted = _wrapped(axis, rank)
    return next((place for place, value in enumerate(axes) if _wrapped(value, rank) == wanted), None)


def _has_axis(axes: Plain = UNDEFINED, axis: Plain = UNDEFINED, rank: Plain = UNDEFINED, *_: Plain) -> Plain:
    return _position(_list(axes, "hasAxis"), axis, rank) is not None


def _axis_value(
    values: Plain = UNDEFINED,
    axes: Plain = UNDEFINED,
    axis: Plain = UNDEFINED,
    rank: Plain = UNDEFINED,
    fallback: Plain = UNDEFINED,
    *_: Plain,
) -> Plain:
    items = _list(values, "axisValue")
    place = _position(_list(axes, "axisValue", "the second argument"), axis, rank)
    return fallback if place is None or place >= len(items) else items[place]


def _is_unique_int_list(
    values: Plain = UNDEFINED, lo: Plain = UNDEFINED, hi: Plain = UNDEFINED, modulus: Plain = UNDEFINED, *_: Plain
) -> Plain:
    modulus = 0 if modulus is UNDEFINED else modulus
    if not isinstance(values, list) or not all(map(_is_integer, (lo, hi, modulus))) or modulus < 0:
        return False
    if not all(_is_integer(value) and lo <= value < hi for value in values):
        return False
    reduced = {value % modulus if modulus else value for value in values}
    return len(reduced) == len(values)


def _has(holder: Plain = UNDEFINED, key: Plain = UNDEFINED, *_: Plain) -> Plain:
    name = js_string(key)
    if isinstance(holder, dict):
        return name in holder
    if isinstance(holder, NameSet):
        return name in _NAME_SET_MEMBERS
    if not isinstance(holder, (list, str)):
        return False
    length = len(units(holder)) if isinstance(holder, str) else len(holder)
    index = name.isascii() and name.isdigit() and len(name) < 10 and str(int(name)) == name
    return name == "length" or (index and int(name) < length)


def _looked_up(table: Mapping[str, int], dtype: Plain, helper: str) -> int:
    size = table.get(dtype) if isinstance(dtype, str) else None
    if size is None:
        raise value_error(f"{helper}(): {js_string(dtype)!r} is none of {', '.join(table)}")
    return size


def _dtype_bytes(dtype: Plain = UNDEFINED, *_: Plain) -> Plain:
    return _looked_up(_BYTES, dtype, "dtypeBytes")


def _onnx_dtype_code(dtype: Plain = UNDEFINED, *_: Plain) -> Plain:
    return _looked_up(_ONNX_CODES, dtype, "onnxDtypeCode")


def _js_truthy(value: Plain) -> bool:
    if isinstance(value, (list, dict)):
        return True
    if isinstance(value, float) and math.isnan(value):
        return False
    return True if isinstance(value, (Function, NameSet)) else bool(value)


def _pick(pairs: Plain = UNDEFINED, fallback: Plain = UNDEFINED, *_: Plain) -> Plain:
    for pair in _list(pairs, "pick"):
        if not isinstance(pair, list) or len(pair) < 2:
            raise value_error("pick(): each entry must be a list of a condition and a value")
        if _js_truthy(pair[0]):
            return pair[1]
    return fallback


def f16_ok(has_shader_f16: bool) -> Function:
    """The helper ``f16Ok`` of a device: false only for half precision on a device without ``shader-f16``."""

    def check(dtype: Plain = UNDEFINED, *_: Plain) -> Plain:
        return has_shader_f16 or dtype not in ("f16", "float16")

    return Function(check, "f16Ok")


_HELPERS: dict[str, Callable[..., Plain]] = {
    "ceil": _ceil,
    "floor": _floor,
    "min": _min,
    "max": _max,
    "pow": _pow,
    "ceilDiv": _ceil_div,
    "pow2ceil": _pow2ceil,
    "log2ceil": _log2ceil,
    "numel": _numel,
    "dim": _dim,
    "rows": _rows,
    "outer": _outer,
    "inner": _inner,
    "prefix": _prefix,
    "suffix": _suffix,
    "fill": _fill,
    "moveAxis": _move_axis,
    "permuteShape": _permute_shape,
    "reversedAxes": _reversed_axes,
    "broadcastShape": _broadcast_shape,
    "matmulShape": _matmul_shape,
    "broadcastable": _broadcastable,
    "sameShape": _same_shape,
    "hasAxis": _has_axis,
    "axisValue": _axis_value,
    "isUniqueIntList": _is_unique_int_list,
    "has": _has,
    "dtypeBytes": _dtype_bytes,
    "onnxDtypeCode": _onnx_dtype_code,
    "pick": _pick,
}

HELPERS: Final[Mapping[str, Function]] = {name: Function(call, name) for name, call in _HELPERS.items()}
"""The helpers of every expression and template, but ``f16Ok``, which depends on the device."""
