"""Operators that give elements another shape, and those that speak of shapes."""

from typing import Final

import numpy as np

from scanbuild.lowering.graph import Shape
from scanbuild.lowering.sizes import ONE, Size, product
from scanbuild.lowering.translate.registry import Call, operator
from scanbuild.lowering.translate.values import RefusedError, Value, array_of, dtype_name, written

_LONGEST_RANGE: Final = 65536


@operator("Shape")
def shape(call: Call) -> Value:
    value = call.input(0)
    first, last = call.attribute("start", 0), call.attribute("end", value.rank)
    kept = value.shape[slice(first, last)]
    return call.builder.sizes(np.array(call.builder.symbols.resolve_all(kept), object))


@operator("Size")
def size(call: Call) -> Value:
    return call.builder.sizes(product(call.builder.symbols.resolve_all(call.input(0).shape)))


@operator("Reshape")
def reshape(call: Call) -> Value:
    value = call.input(0)
    if call.version >= 5:
        wanted = call.known_sizes(1, "its shape")
    else:
        wanted = tuple(Size.of(int(item)) for item in call.attribute("shape", ()))
    keep_zero = bool(call.attribute("allowzero", 0))
    sizes: list[Size | None] = []
    for axis, item in enumerate(wanted):
        if item.number == 0 and not keep_zero:
            if axis >= value.rank:
                raise RefusedError(f"it keeps axis {axis} of an input of rank {value.rank}")
            sizes.append(value.shape[axis])
        else:
            sizes.append(None if item.number == -1 else item)
    return call.builder.reshape(value, _completed(call, value, sizes))


def _completed(call: Call, value: Value, sizes: list[Size | None]) -> Shape:
    """The shape with what is left over where it says -1."""
    known = [size for size in sizes if size is not None]
    if len(known) == len(sizes):
        return tuple(known)
    whole = call.builder.symbols.resolve(product(value.shape))
    rest = whole.divided(call.builder.symbols.resolve(product(known)))
    if rest is None or len(known) + 1 != len(sizes):
        if whole.number is not None and product(known).number is not None:
            raise RefusedError(f"{whole} elements do not fill a shape of {product(known)} and a size that is left open")
        raise RefusedError(
            f"what is left over where its shape says -1 cannot be told: {whole} elements by {product(known)}",
            "give the dimensions numbers, or the shape no -1",
        )
    return tuple(rest if size is None else size for size in sizes)


@operator("Flatten")
def flatten(call: Call) -> Value:
    value = call.input(0)
    axis = call.attribute("axis", 1)
    place = axis if axis == value.rank else call.axis(axis, value.rank) if value.rank else 0
    return call.builder.reshape(value, (product(value.shape[:place]), product(value.shape[place:])))


@operator("Transpose")
def transpose(call: Call) -> Value:
    value = call.input(0)
    perm = [int(axis) for axis in call.attribute("perm", range(value.rank)[::-1])]
    if sorted(perm) != list(range(value.rank)):
        raise RefusedError(f"its permutation {perm} is none of {value.rank} axes")
    return call.builder.transpose(value, perm)


@operator("Squeeze")
def squeeze(call: Call) -> Value:
    value = call.input(0)
    axes = call.axes(value.rank, 1, since=13)
    if axes is None:
        axes = tuple(axis for axis, size in enumerate(value.shape) if size == ONE)
    for axis in axes:
        call.builder.equal(value.shape[axis], ONE, f"axis {axis} cannot be squeezed")
    return call.builder.reshape(value, tuple(size for axis, size in enumerate(value.shape) if axis not in axes))


@operator("Unsqueeze")
def unsqueeze(call: Call) -> Value:
    value = call.input(0)
    given = call.attribute("axes", ()) if call.version < 13 else call.known_ints(1, "the list of axes")
    rank = value.rank + len(given)
    axes = [call.axis(int(axis), rank) for axis in given]
    if len(set(axes)) != len(axes):
        raise RefusedError(f"the axes {list(given)} name one twice")
    rest = iter(value.shape)
    return call.builder.reshape(value, tuple(ONE if axis in axes else next(rest) for axis in range(rank)))


@operator("Expand")
def expand(call: Call) -> Value:
    value = call.input(0)
    return call.builder.expand(value, call.builder.broadcast_shapes([value.shape, call.known_sizes(1, "its shape")]))


@operator("Tile")
def tile(call: Call) -> Value:
    value = call.input(0)
    repeats = call.known_sizes(1, "its list of repeats")
    if len(repeats) != value.rank:
        raise RefusedError(f"it has {len(repeats)} repeats for {value.rank} axes")
    paired: list[Size] = []
    widened: list[Size] = []
    for times, size in zip(repeats, value.shape, strict=True):
        paired += [ONE, size]
        widened += [times, size]
    whole = tuple(times * size for times, size in zip(repeats, value.shape, strict=True))
    if whole == value.shape:
        return value
    spread = call.builder.expand(call.builder.reshape(value, tuple(paired)), tuple(widened))
    return call.builder.reshape(spread, whole)


@operator("Concat")
def concat(call: Call) -> Value:
    values = call.inputs
    if any(value.rank != values[0].rank for value in values):
        listed = ", ".join(written(value.shape) for value in values)
        raise RefusedError(f"its inputs have different ranks: {listed}")
    return call.builder.concat(values, call.axis(call.attribute("axis", 0), values[0].rank))


@operator("ConstantOfShape")
def constant_of_shape(call: Call) -> Value:
    wanted = call.known_sizes(0, "its shape")
    fill = call.builder.constant(0, "float32")
    if call.has("value"):
        fill = call.builder.reshape(call.builder.constant(array_of(call.attribute("value"))), ())
    return call.builder.expand(fill, wanted)


@operator("Range")
def make_range(call: Call) -> Value:
    """From constants, or from 0 on to a size."""
    start, limit, delta = (call.input(i) for i in range(3))
    if start.array is not None and limit.array is not None and delta.array is not None:
        first, last, step = (value.array.item() for value in (start, limit, delta) if value.array is not None)
        if step == 0 or abs((last - first) / step) > _LONGEST_RANGE:
            raise RefusedError(
                f"it goes from {first} to {last} by {step}", f"up to {_LONGEST_RANGE} steps are possible"
            )
        steps = max(0, int(np.ceil((last - first) / step)))
        return call.builder.constant(first + np.arange(steps) * step, start.dtype)
    (first_size,), (last_size,), (step_size,) = (call.known_sizes(i, "what it counts") for i in range(3))
    if step_size != ONE or start.dtype not in ("int64", "int32"):
        raise RefusedError("its steps depend on sizes", "let it count by ones")
    count = last_size - first_size
    return call.map("add", iota(call, count, start.dtype), call.builder.sizes(first_size, start.dtype))


def iota(call: Call, count: Size, dtype: str = "int32") -> Value:
    """The numbers from 0 on, as many as a size tells: [count]."""
    number = call.builder.symbols.resolve(count).number
    if number is not None:
        return call.builder.constant(np.arange(number), dtype)
    ones = call.builder.expand(call.builder.constant(1, dtype), (count,))
    return call.builder.cumulate(ones, 0, exclusive=True, reverse=False)


@operator("EyeLike")
def eye_like(call: Call) -> Value:
    value = call.input(0)
    if value.rank != 2:
        raise RefusedError(f"its input has rank {value.rank}, not 2")
    dtype = dtype_name(int(call.attribute("dtype"))) if call.has("dtype") else value.dtype
    return call.builder.cast(call.map("eq", *_diagonals(call, value, int(call.attribute("k", 0)))), dtype)


@operator("Trilu")
def triangle(call: Call) -> Value:
    value = call.input(0)
    if value.rank < 2:
        raise RefusedError(f"its input has rank {value.rank}, where 2 are needed")
    offset = 0 if call.optional(1) is None else call.known_ints(1, "its diagonal")[0]
    rows, columns = _diagonals(call, value, offset)
    kept = call.map("le" if call.attribute("upper", 1) else "ge", rows, columns)
    return call.builder.map("where", kept, value, call.builder.constant(0, value.dtype))


def _diagonals(call: Call, value: Value, offset: int) -> tuple[Value, Value]:
    """The number of the row, moved by an offset, and that of the column, for the last two axes."""
    rows, columns = value.shape[-2:]
    down = call.builder.reshape(iota(call, rows), (rows, ONE))
    return call.map("add", down, offset), iota(call, columns)


@operator("OneHot")
def one_hot(call: Call) -> Value:
    """Negative indices count from the back; what is out of range gives nothing."""
    values, indices = call.input(2), call.input(0)
    if indices.dtype not in ("int32", "int64"):
        indices = call.builder.cast(indices, "int64")
    (depth,) = call.known_sizes(1, "its depth")
    axis = call.axis(call.attribute("axis", -1), indices.rank + 1)
    whole = (*indices.shape[:axis], ONE, *indices.shape[axis:])
    wanted = call.builder.reshape(indices, whole)
    total = call.builder.sizes(depth, indices.dtype)
    wanted = call.map("where", call.map("lt", wanted, 0), call.map("add", wanted, total), wanted)
    places = tuple(depth if i == axis else ONE for i in range(len(whole)))
    hit = call.map("eq", call.builder.reshape(iota(call, depth, indices.dtype), places), wanted)
    off, on = (call.builder.slice(values, (ONE,), (Size.of(i),), (1,)) for i in (0, 1))
    return call.builder.map("where", hit, call.builder.reshape(on, ()), call.builder.reshape(off, ()))
