"""Operators that take some of the elements, or add some around them."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from scanbuild.lowering.graph import Shape
from scanbuild.lowering.sizes import ONE, Size
from scanbuild.lowering.translate.registry import Call, operator
from scanbuild.lowering.translate.values import RefusedError, Value

_FAR: Final = 2**31 - 1
"""Numbers from here on stand for the end of an axis, as exporters write it."""
_MODES: Final = ("constant", "reflect", "edge", "wrap")


@operator("Slice")
def slice_(call: Call) -> Value:
    value = call.input(0)
    if call.version < 10:
        starts, ends = (tuple(map(Size.of, map(int, call.attribute(name, ())))) for name in ("starts", "ends"))
        axes: Sequence[int] = [int(axis) for axis in call.attribute("axes", range(len(starts)))]
        steps: Sequence[int] = [1] * len(starts)
    else:
        starts, ends = call.known_sizes(1, "where it starts"), call.known_sizes(2, "where it ends")
        axes = range(len(starts)) if call.optional(3) is None else call.known_ints(3, "the list of axes")
        steps = [1] * len(starts) if call.optional(4) is None else call.known_ints(4, "its step")
    if not len(starts) == len(ends) == len(axes) == len(steps):
        raise RefusedError("its lists of starts, ends, axes and steps differ in length")
    first, apart, shape = [Size()] * value.rank, [1] * value.rank, list(value.shape)
    for start, end, given, step in zip(starts, ends, axes, steps, strict=True):
        axis = call.axis(given, value.rank)
        first[axis], shape[axis] = _span(call, value.shape[axis], start, end, step)
        apart[axis] = step
    return call.builder.slice(value, tuple(shape), first, apart)


def _span(call: Call, size: Size, start: Size, end: Size, step: int) -> tuple[Size, Size]:
    """The first element along an axis, and how many."""
    if step == 0:
        raise RefusedError("its step is 0")
    highest = size if step > 0 else size - 1
    lowest = Size() if step > 0 else Size.of(-1)
    begin = _clamped(call, size, start, Size(), highest)
    stop = _clamped(call, size, end, lowest, size)
    distance = stop - begin if step > 0 else begin - stop
    if distance.number is not None:
        return begin, Size.of(max(0, -(-distance.number // abs(step))))
    count = distance.divided(abs(step))
    if count is None:
        raise RefusedError(f"how many elements it takes cannot be told: {distance} by {abs(step)}", "let it step by 1")
    call.builder.require(count)
    return begin, count


def _clamped(call: Call, size: Size, place: Size, lowest: Size, highest: Size) -> Size:
    """A place on an axis, counted from the front, and moved to where the axis ends if it lies behind."""
    number = place.number
    if number is not None:
        if number >= _FAR:
            return highest
        if number <= -_FAR:
            return lowest
        if number < 0:
            place = size + number
    elif any(factor < 0 for _, factor in place.terms) and not any(factor > 0 for _, factor in place.terms):
        place = size + place
    bounds = [bound.number for bound in (place, lowest, highest)]
    if bounds[0] is not None and bounds[1] is not None and bounds[2] is not None:
        return Size.of(max(bounds[1], min(bounds[0], max(bounds[1], bounds[2]))))
    if place not in (size, lowest, highest):
        call.builder.require(place - lowest)
        call.builder.require(highest - place)
    return highest if place == size else place


@operator("Split")
def split(call: Call) -> list[Value]:
    value = call.input(0)
    axis = call.axis(call.attribute("axis", 0), value.rank)
    size = call.builder.symbols.resolve(value.shape[axis])
    results, start = [], Size()
    for part in _parts(call, size):
        shape = (*value.shape[:axis], part, *value.shape[axis + 1 :])
        starts = [start if i == axis else Size() for i in range(value.rank)]
        results.append(call.builder.slice(value, shape, starts, [1] * value.rank))
        start = start + part
    return results


def _parts(call: Call, size: Size) -> list[Size]:
    """The sizes of the pieces: given, or as equal as can be, the last one smaller."""
    given = call.attribute("split") if call.version < 13 else None
    parts = None if given is None else [Size.of(int(item)) for item in given]
    if call.version >= 13 and call.optional(1) is not None:
        parts = list(call.known_sizes(1, "the sizes of the pieces"))
    count = len(call.outputs)
    if parts is not None:
        total = sum(parts, Size())
        call.builder.equal(size, total, "the pieces do not make up the axis")
        if len(parts) != count:
            raise RefusedError(f"it has {len(parts)} pieces and {count} outputs")
        return parts
    even = size.divided(count)
    if even is not None:
        return [even] * count
    if size.number is None:
        reason = (
            f"it splits an axis into {count} equal pieces, and no call tells that its size is a multiple of {count}"
        )
        raise RefusedError(reason, "give the axis a fixed size in the model, or the pieces theirs")
    if call.version < 18:
        raise RefusedError(f"{size} cannot be split into {count} equal pieces", "give their sizes")
    piece = -(-size.number // count)
    if piece * (count - 1) > size.number:
        raise RefusedError(f"{size} cannot be split into {count} pieces of {piece}")
    return [*[Size.of(piece)] * (count - 1), Size.of(size.number - piece * (count - 1))]


@operator("Gather")
def gather(call: Call) -> Value:
    data, indices = call.input(0), call.input(1)
    axis = call.axis(call.attribute("axis", 0), data.rank)
    _check_indices(call, data, indices, axis)
    known = indices.known
    if known is not None and known.size:
        found = _as_slice(call, data, list(known.flat), axis)
        if found is not None:
            return call.builder.reshape(found, (*data.shape[:axis], *indices.shape, *data.shape[axis + 1 :]))
    return call.builder.gather(data, indices, axis)


def _as_slice(call: Call, data: Value, indices: list[Size], axis: int) -> Value | None:
    """Indices an equal distance apart, as a slice."""
    size = data.shape[axis]
    places = [item + size if item.number is not None and item.number < 0 else item for item in indices]
    gaps = {(after - before).number for before, after in pairwise(places)}
    step = next(iter(gaps)) if gaps else 1
    if len(gaps) > 1 or step in (None, 0):
        return None
    shape = tuple(Size.of(len(places)) if i == axis else length for i, length in enumerate(data.shape))
    for place in {places[0], places[-1]}:
        call.builder.require(place)
        call.builder.require(size - place - 1)
    starts = [places[0] if i == axis else Size() for i in range(data.rank)]
    return call.builder.slice(data, shape, starts, [(step or 1) if i == axis else 1 for i in range(data.rank)])


def _check_indices(call: Call, data: Value, indices: Value, axis: int) -> None:
    """Refused for indices that are no integers, or constants out of range."""
    if indices.dtype not in ("int32", "int64"):
        raise RefusedError(f"its indices are {indices.dtype}", "make them int32 or int64")
    size = call.builder.symbols.resolve(data.shape[axis]).number
    array = indices.array
    if size is not None and array is not None and array.size and (array.min() < -size or array.max() >= size):
        raise RefusedError(f"it has indices from {array.min()} to {array.max()} for an axis of {size}")


@operator("GatherElements")
def gather_elements(call: Call) -> Value:
    data, indices = call.input(0), call.input(1)
    if data.rank != indices.rank:
        raise RefusedError(f"its inputs have the ranks {data.rank} and {indices.rank}, which must be equal")
    axis = call.axis(call.attribute("axis", 0), data.rank)
    _check_indices(call, data, indices, axis)
    for other, (whole, part) in enumerate(zip(data.shape, indices.shape, strict=True)):
        if other != axis:
            call.builder.require(whole - part)
    return call.builder.gather_elements(data, indices, axis)


@operator("Pad")
def pad(call: Call) -> Value:
    value, mode = call.input(0), call.attribute("mode", "constant")
    if mode not in _MODES:
        raise RefusedError(f"its mode is `{mode}`", f"it can be {', '.join(_MODES)}")
    if call.version < 11:
        widths = tuple(Size.of(int(item)) for item in call.attribute("pads", call.attribute("paddings", ())))
        fill: Value | None = call.builder.like(value, call.attribute("value", 0.0))
    else:
        widths = call.known_sizes(1, "how much it adds")
        given = call.optional(2)
        fill = call.builder.constant(0, value.dtype) if given is None else call.builder.reshape(given, ())
    axes: Sequence[int] = range(value.rank)
    if call.version >= 18 and call.optional(3) is not None:
        axes = [call.axis(axis, value.rank) for axis in call.known_ints(3, "the list of axes")]
    if len(widths) != 2 * len(axes):
        raise RefusedError(f"it has {len(widths)} widths for {len(axes)} axes, which have two each")
    before, after = [Size()] * value.rank, [Size()] * value.rank
    for place, axis in enumerate(axes):
        before[axis], after[axis] = widths[place], widths[len(axes) + place]
    _check_widths(call, value.shape, before, after, mode)
    return call.builder.pad(value, before, after, mode, fill if mode == "constant" else None)


def _check_widths(call: Call, shape: Shape, before: list[Size], after: list[Size], mode: str) -> None:
    """Cuts must leave something that is none or more; a reflection is no wider than what it reflects."""
    for size, front, back in zip(shape, before, after, strict=True):
        call.builder.require(size + front + back)
        for width in (front, back):
            if mode in ("reflect", "wrap") and width != Size() and (width.number is None or width.number > 0):
                call.builder.require(size - width - (1 if mode == "reflect" else 0))
            elif mode == "edge" and width != Size():
                call.builder.require(size - ONE)
