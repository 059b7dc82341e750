"""What the Hub asks of the name of a repository, beyond the characters that the loader allows (1.7)."""

import re
from typing import Final

LONGEST_NAME: Final = 96
"""Characters of an owner's or a repository's name."""

_EDGES: Final = re.compile(r"[-.].*|.*[-.]|.*\.git|.*\.ipynb", re.IGNORECASE | re.DOTALL)


def unfit_name(name: str) -> str:
    """Why the Hub has no place for the name of an owner or of a repository; "" for a name that it takes."""
    if len(name) > LONGEST_NAME:
        return f"it is longer than {LONGEST_NAME} characters"
    if "--" in name or ".." in name:
        return "'--' and '..' are not allowed"
    if _EDGES.fullmatch(name):
        return "it may not begin or end with '-' or '.', nor end with .git or .ipynb"
    return ""
