"""What NumPy has no function for, or another meaning than a kernel.

The expressions that the interpreter evaluates, and that are printed into a package's ``reference.py``, call these
functions, so each has to stand by itself: their sources are copied there. Functions composed of several operations
compute a float16 result in float32 and round it once, as kernels do.
"""

import math
from typing import Any, Final

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]


def divide(a: Array, b: Array) -> Array:
    """The quotient; of integers towards zero, and ``a`` where ``b`` is zero, as in WGSL."""
    if a.dtype.kind == "f":
        return np.asarray(a / b)
    safe = np.where(b == 0, np.ones_like(b), b)
    quotient = np.floor_divide(a, safe)
    towards_zero = quotient + ((quotient * safe != a) & ((a < 0) != (safe < 0)))
    return np.asarray(towards_zero).astype(a.dtype)


def mod(a: Array, b: Array) -> Array:
    """The remainder with the sign of the divisor; 0 where an integer divisor is zero."""
    return np.asarray(np.mod(a, b))


def power(a: Array, b: Array) -> Array:
    """``a`` to the power of ``b``; of integers by multiplication that wraps, and towards zero for negative ``b``."""
    if a.dtype.kind == "f":
        return np.asarray(np.power(a, b))
    positive = np.power(a, np.maximum(b, np.zeros_like(b)))
    inverse = np.where(a == 1, 1, np.where((a < 0) & (a + 1 == 0), np.where(b & 1, -1, 1), 0))
    return np.asarray(np.where(b < 0, inverse, positive)).astype(a.dtype)


def erf(a: Array) -> Array:
    """The error function, rounded from float64."""
    wide = np.asarray(a, np.float64)
    values = [math.erf(item) for item in wide.reshape(-1).tolist()]
    return np.array(values, np.float64).reshape(wide.shape).astype(a.dtype)


def sigmoid(a: Array) -> Array:
    """1 / (1 + exp(-a))."""
    wide = a.astype(np.float32) if a.dtype == np.float16 else a
    one = np.ones_like(wide)
    return np.asarray(one / (one + np.exp(-wide))).astype(a.dtype)


def shift_left(a: Array, b: Array) -> Array:
    """Bits shifted up; 0 from the width of the dtype on."""
    return np.asarray(np.left_shift(a, b))


def shift_right(a: Array, b: Array) -> Array:
    """Bits shifted down; 0 from the width of the dtype on."""
    return np.asarray(np.right_shift(a, b))


def convert(a: Array, dtype: Any) -> Array:
    """The elements in another dtype.

    Integers wrap; what is not zero is true; floats become integers towards zero. ONNX leaves open what a float outside
    of the integers' range becomes: here the nearest integer there is, and 0 of NaN, which is what WGSL does.
    """
    a, to = np.asarray(a), np.dtype(dtype)
    if a.dtype.kind != "f" or to.kind not in "iu":
        return a.astype(to)
    low, high = float(np.iinfo(to).min), float(np.iinfo(to).max)
    wide = np.trunc(np.where(np.isnan(a), 0.0, a.astype(np.float64)))
    inside = (wide >= low) & (wide < high)
    beyond = np.where(wide < low, np.iinfo(to).min, np.iinfo(to).max)
    return np.asarray(np.where(inside, np.where(inside, wide, 0.0).astype(to), beyond)).astype(to)


def cut(a: Array, starts: tuple[int, ...], steps: tuple[int, ...], shape: tuple[int, ...]) -> Array:
    """Along each axis as many elements as ``shape`` says, from the start on, a step apart."""
    for axis, (start, step, count) in enumerate(zip(starts, steps, shape, strict=True)):
        if (start, step, count) != (0, 1, a.shape[axis]):
            a = np.take(a, start + step * np.arange(count), axis=axis)
    return a


def pad(a: Array, before: tuple[int, ...], after: tuple[int, ...], mode: Any, value: Any = 0) -> Array:
    """Elements added before and after each axis, or taken away where the number is negative."""
    for axis, (front, back) in enumerate(zip(before, after, strict=True)):
        a = np.take(a, np.arange(max(0, -front), a.shape[axis] + min(0, back)), axis=axis)
    widths = [(max(0, front), max(0, back)) for front, back in zip(before, after, strict=True)]
    return np.pad(a, widths, constant_values=value) if mode == "constant" else np.pad(a, widths, mode=mode)


def gather_elements(a: Array, indices: Array, axis: int) -> Array:
    """The elements of ``a`` at ``indices`` along an axis; the other axes are read as far as the indices go."""
    read = tuple(slice(None if other == axis else size) for other, size in enumerate(indices.shape))
    return np.asarray(np.take_along_axis(a[read], indices.astype(np.int64), axis=axis))


def total(a: Array, axes: tuple[int, ...]) -> Array:
    """The sum over axes, which stay with size 1; of float16 in float32, rounded once."""
    wide = np.float32 if a.dtype == np.float16 else a.dtype
    return np.asarray(np.sum(a, axis=axes, keepdims=True, dtype=wide)).astype(a.dtype)


def product(a: Array, axes: tuple[int, ...]) -> Array:
    """The product over axes, which stay with size 1; of float16 in float32, rounded once."""
    wide = np.float32 if a.dtype == np.float16 else a.dtype
    return np.asarray(np.prod(a, axis=axes, keepdims=True, dtype=wide)).astype(a.dtype)


def lowest(a: Array, axes: tuple[int, ...]) -> Array:
    """The minimum over axes, which stay with size 1; of nothing the largest value of the dtype."""
    kind = a.dtype.kind
    first = np.inf if kind == "f" else True if kind == "b" else np.iinfo(a.dtype).max
    return np.asarray(np.min(a, axis=axes, keepdims=True, initial=first))


def highest(a: Array, axes: tuple[int, ...]) -> Array:
    """The maximum over axes, which stay with size 1; of nothing the smallest value of the dtype."""
    kind = a.dtype.kind
    first = -np.inf if kind == "f" else False if kind == "b" else np.iinfo(a.dtype).min
    return np.asarray(np.max(a, axis=axes, keepdims=True, initial=first))


def arg(a: Array, axis: int, *, lowest: bool, last: bool) -> Array:
    """Where along the axis, which stays with size 1, the first (or last) lowest or highest element is."""
    seen = np.flip(a, axis) if last else a
    found = np.asarray((np.argmin if lowest else np.argmax)(seen, axis=axis, keepdims=True))
    return np.asarray(a.shape[axis] - 1 - found if last else found).astype(np.int64)


def cumulate(a: Array, axis: int, *, exclusive: bool, reverse: bool) -> Array:
    """The running sum along an axis, without the element itself if ``exclusive``; of float16 in float32."""
    turned = np.flip(a, axis) if reverse else a
    sums = np.cumsum(turned, axis=axis, dtype=np.float32 if a.dtype == np.float16 else a.dtype)
    if exclusive:
        shifted = np.zeros_like(sums)
        np.moveaxis(shifted, axis, 0)[1:] = np.moveaxis(sums, axis, 0)[:-1]
        sums = shifted
    return np.asarray(np.flip(sums, axis) if reverse else sums).astype(a.dtype)


def contract(labels: str, a: Array, b: Array) -> Array:
    """The Einstein sum of two operands; of float16 in float32, rounded once."""
    wide = np.float32 if a.dtype == np.float16 else a.dtype
    return np.asarray(np.einsum(labels, a.astype(wide), b.astype(wide))).astype(a.dtype)


HELPERS: Final = {
    function.__name__: function
    for function in (
        divide,
        mod,
        power,
        erf,
        sigmoid,
        shift_left,
        shift_right,
        convert,
        cut,
        pad,
        gather_elements,
        total,
        product,
        lowest,
        highest,
        arg,
        cumulate,
        contract,
    )
}
