"""The grid of a pass (2.13, 10.2)."""

from typing import Any

from scanbuild.package.model import Dispatch
from scanbuild.planning.attributes import is_integer
from scanbuild.planning.failures import fail
from scanbuild.planning.scope import DISPATCH_FOLD_WIDTH, Place, Scope, mentions_in
from scanbuild.planning.uniforms import describe, number_text


def grid(dispatch: Dispatch, scope: Scope, limit: int, place: Place) -> tuple[int, int, int]:
    """The workgroups along each axis; CallError for one that is no integer from 0 to ``limit``."""
    place = place.member("dispatch", ".dispatch")
    axes = []
    for axis, size in zip("xyz", _axes(dispatch), strict=True):
        value: Any = scope.evaluate(size, place) if isinstance(size, str) else size
        shown = f"`{size}` is {describe(value)}" if isinstance(size, str) else describe(value)
        if not is_integer(value) or value < 0:
            message = f"{place.words}: {axis}: {shown}, expected a non-negative integer"
            raise fail(message, rule="dispatch", path=place.path)
        if value > limit:
            message = f"{place.words}: {axis} is {number_text(value)}, the device allows {limit}"
            raise fail(message, rule="dispatch-limit", path=place.path)
        axes.append(int(value))
    return axes[0], axes[1], axes[2]


def dispatch_names(dispatch: Dispatch) -> frozenset[str]:
    """Every name that the sizes of a dispatch mention."""
    return mentions_in(list(_axes(dispatch)))


def _axes(dispatch: Dispatch) -> tuple[str | int, str | int, str | int]:
    """The sizes of the three axes; the shorthands fold by wrapping the text of their expressions."""
    if dispatch.form == "grid":
        return dispatch.x, dispatch.y, dispatch.z
    if dispatch.form == "threads":
        total = f"ceilDiv(({dispatch.threads}), ({dispatch.workgroup_size}))"
    else:
        total = str(dispatch.workgroups)
    return f"min({total}, {DISPATCH_FOLD_WIDTH})", f"ceilDiv({total}, {DISPATCH_FOLD_WIDTH})", 1
