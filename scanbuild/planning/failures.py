"""How planning says that the loader would refuse a call."""

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
