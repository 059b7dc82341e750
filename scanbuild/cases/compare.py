"""Do the values that came out pass for those expected, and how far are they apart?"""

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from scanbuild.cases.fixtures import FLOATS
from scanbuild.planning.dtypes import DTYPES

Array = npt.NDArray[Any]

DEFAULT_TOLERANCES: Final = {"float32": 1e-6, "float16": 1e-3}
"""Tolerance of a float output that states none: a few units in the last place."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Comparison:
    """``max_abs_error`` and ``max_ulp`` are over the elements where both values are finite; None where there are none
    or, for ``max_ulp``, no floats. ``message`` tells the first element that does not pass, ``kind`` what kind of fault
    it is: a name of ``findings.KINDS``."""

    passed: bool
    max_abs_error: float | None = None
    max_ulp: int | None = None
    message: str = ""
    kind: str = "wrong-value"


def compare(got: Array, want: Array, dtype: str, tolerance: float | None = None, allow_nan: bool = True) -> Comparison:
    """Compare an output in natural form with expected values of any numeric type, element by element.

    An element passes when ``|got - want| <= tolerance * max(1, |want|)``; equal infinities pass, also where the
    expected value only becomes infinite by rounding to the dtype; NaN passes for NaN if ``allow_nan``.
    """
    if got.shape != want.shape:
        return Comparison(
            passed=False, kind="wrong-output", message=f"the shape is {list(got.shape)}, expected {list(want.shape)}"
        )
    if dtype in FLOATS:
        limit = DEFAULT_TOLERANCES[dtype] if tolerance is None else tolerance
        return _compare_floats(got.reshape(-1), want.reshape(-1), dtype, limit, allow_nan)
    return _compare_integers(got.reshape(-1), want.reshape(-1), dtype, tolerance or 0.0)


def _compare_floats(got: Array, want: Array, dtype: str, tolerance: float, allow_nan: bool) -> Comparison:
    with np.errstate(over="ignore", invalid="ignore"):
        wide, exact = got.astype(np.float64), want.astype(np.float64)
        rounded = exact.astype(DTYPES[dtype].natural)
        error = np.abs(wide - exact)
        passed = np.isfinite(exact) & (error <= tolerance * np.maximum(1.0, np.abs(exact)))
        passed |= np.isinf(rounded) & (got == rounded)
        if allow_nan:
            passed |= np.isnan(wide) & np.isnan(exact)
        finite = np.isfinite(wide) & np.isfinite(rounded)
    message, kind = _first_failure(passed, got, want, f"tolerance {tolerance:g}"), "wrong-value"
    overflown = ~passed & ~np.isfinite(wide) & np.isfinite(rounded)
    if dtype == "float16" and overflown.any():
        kind = "overflow"
        message += (
            f"; {int(overflown.sum())} of them are infinite or NaN where the result is within float16, which ends at "
            "65504: an intermediate value overflows float16"
        )
    return Comparison(
        passed=bool(passed.all()),
        max_abs_error=float(error[finite].max()) if finite.any() else None,
        max_ulp=_max_ulp(got[finite], rounded[finite]),
        message=message,
        kind=kind,
    )


def _compare_integers(got: Array, want: Array, dtype: str, tolerance: float) -> Comparison:
    """Exact, whatever the width: the difference of two int64 always fits in a uint64."""
    wide, (exact, possible) = got.astype(np.int64), _whole(want)
    error = np.where(
        wide > exact, wide.view(np.uint64) - exact.view(np.uint64), exact.view(np.uint64) - wide.view(np.uint64)
    )
    passed = possible & (error <= tolerance * np.maximum(1.0, np.abs(exact.astype(np.float64))))
    return Comparison(
        passed=bool(passed.all()),
        max_abs_error=float(error.max()) if error.size else None,
        message=_first_failure(passed, got, want, f"dtype {dtype}"),
    )


def _whole(want: Array) -> tuple[Array, Array]:
    """Expected values as int64, and which of them are: a reference may have computed in floats."""
    if want.dtype.kind in "iub":
        return want.astype(np.int64), np.ones(want.shape, dtype=bool)
    possible = np.isfinite(want) & (want == np.trunc(want)) & (np.abs(want) < 2.0**63)
    return np.where(possible, want, 0).astype(np.int64), possible


def _max_ulp(got: Array, want: Array) -> int | None:
    """The largest distance in steps from one representable number to the next; both arrays of one float dtype."""
    if not got.size:
        return None
    return int(np.abs(_ordinals(got) - _ordinals(want)).max())


def _ordinals(values: Array) -> Array:
    """Integers in the order of the floats, neighbours one apart, both zeros 0."""
    width = values.dtype.itemsize * 8
    bits = values.view(f"<i{values.dtype.itemsize}").astype(np.int64)
    return np.where(bits < 0, -(bits + (1 << (width - 1))), bits)


def _first_failure(passed: Array, got: Array, want: Array, how: str) -> str:
    failed = np.flatnonzero(~passed)
    if not failed.size:
        return ""
    index = int(failed[0])
    what = f"got {got[index]!s}, expected {want[index]!s} ({how})"
    return f"{failed.size} of {passed.size} elements differ; the first is element {index}: {what}"
