"""Work that many evaluations share.

One evaluation is bounded by itself. A call evaluates hundreds of expressions and templates, and a hostile package could
let each of them go to its bound: within :func:`allowance`, all evaluations together have so much work and no more.
Work is counted, not timed, so that the same package ends the same way on every machine.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final

from .errors import limit_error
from .limits import MAX_WORK


class _Allowance:
    """What is left."""

    __slots__ = ("left",)

    def __init__(self, work: int) -> None:
        self.left = work


_CURRENT: Final[ContextVar[_Allowance | None]] = ContextVar("allowance", default=None)


@contextmanager
def allowance(work: int) -> Iterator[None]:
    """Bound the work done while the context lasts. One inside another takes from it, and gets no more than it has."""
    outer = _CURRENT.get()
    granted = work if outer is None else max(min(work, outer.left), 0)
    current = _Allowance(granted)
    token = _CURRENT.set(current)
    try:
        yield
    finally:
        _CURRENT.reset(token)
        if outer is not None:
            outer.left -= granted - current.left


def work_left() -> int:
    """What a single evaluation may do now."""
    current = _CURRENT.get()
    return MAX_WORK if current is None else max(min(MAX_WORK, current.left), 0)


def take(work: int) -> None:
    """Note work that was done; whether anything is left shows when more is to be done."""
    current = _CURRENT.get()
    if current is not None:
        current.left -= work


def use(work: int) -> None:
    """Note work that is about to be done.

    :raises DialectError: kind ``limit`` where the allowance is used up.
    """
    take(work)
    current = _CURRENT.get()
    if current is not None and current.left < 0:
        raise limit_error("evaluating all this takes too long")
