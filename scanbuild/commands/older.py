"""A warning for those who edited a source, and forgot to render it."""

from pathlib import Path

from scanbuild.cases.origin import edited_since, state_folder
from scanbuild.commands.console import Console
from scanbuild.errors import Problem
from scanbuild.package.load import FOLDER

_NAMED = 3


def warn_if_older(console: Console, folder: Path) -> None:
    """Say so if a package, the folder with ``metadata.json``, was rendered here from files that were edited since."""
    found = edited_since(folder, state_folder())
    if found is None:
        return
    source, names = found
    more = len(names) - _NAMED
    listed = ", ".join(names[:_NAMED]) + (f" and {more} more" if more > 0 else "")
    verb = "was" if len(names) == 1 else "were"
    message = f"the package is older than its source: {listed} {verb} edited since it was rendered"
    here = folder.resolve() == Path().resolve() / FOLDER
    hint = f"run scanbuild render {_short(source)}" if here else f"render {_short(source)} anew"
    console.problems([Problem(message=message, file=str(folder), hint=hint, severity="warning", stage="own")])


def _short(source: Path) -> str:
    """The path of the source from here, if it is below."""
    here = Path().resolve()
    return str(source.relative_to(here)) if source.is_relative_to(here) else str(source)
