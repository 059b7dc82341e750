"""How planning says that the loader would refuse a call."""

from scanbuild.dialect import DialectError, use
from scanbuild.errors import CallError, Problem


def fail(
    message: str,
    *,
    rule: str,
    hint: str = "",
    path: str = "",
    file: str = "",
    line: int | None = None,
    column: int | None = None,
) -> CallError:
    """The error to raise: one problem of stage ``call``.

    ``path`` is the JSON path in the manifest, ``file`` the manifest unless a template is at fault.
    """
    if path and not file:
        file = "manifest.json"
    return CallError(
        Problem(message=message, rule=rule, hint=hint, path=path, file=file, line=line, column=column, stage="call")
    )


def charge(work: int, words: str) -> None:
    """Count work that is none of an evaluation; CallError where the call has done too much in all."""
    try:
        use(work)
    except DialectError as error:
        raise fail(f"{words}: {error.message}", rule="limit-work") from None
