"""Which commit a source package was built from.

The checkout may be somebody else's, its configuration with it, and git runs programs that a configuration names:
filters, monitors, transports. So only those of its commands are used that compare nothing and fetch nothing, and files
are compared here, by their digests.
"""

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

from scanbuild.package.model import Json

_REGULAR = ("100644", "100755")


@dataclass(frozen=True, kw_only=True, slots=True)
class Provenance:
    """The commit checked out, and whether the package's sources differ from it."""

    sha: str
    dirty: bool

    def as_json(self) -> dict[str, Json]:
        """As it stands in ``metadata.json`` under ``provenance.kernel``."""
        return {"sha": self.sha, "dirty": self.dirty}


def provenance_of(*folders: Path) -> Provenance | None:
    """The state of the git checkout that holds the folders; None where there is no git or no commit.

    Only the folders that exist count. One of which git knows no file makes the sources dirty, even if it is ignored.
    """
    present = [folder.resolve() for folder in folders if folder.is_dir()]
    if not present:
        return None
    sha = _git(present[0], "rev-parse", "--verify", "HEAD")
    if sha is None:
        return None
    return Provenance(sha=sha.strip(), dirty=any(_is_dirty(folder) for folder in present))


def _is_dirty(folder: Path) -> bool:
    """Whether a folder holds anything but the files of the commit, ignored ones aside."""
    committed = _listed(_git(folder, "ls-tree", "-r", "-z", "HEAD", "--", "."))
    staged = _listed(_git(folder, "ls-files", "--stage", "-z", "--", "."))
    others = _git(folder, "ls-files", "--others", "--exclude-standard", "-z", "--", ".")
    if not committed or committed != staged or others != "":
        return True
    if any(mode not in _REGULAR or "\n" in path for path, (mode, _) in committed.items()):
        return True
    paths = "".join(f"{folder / path}\n" for path in committed)
    found = _git(folder, "hash-object", "--no-filters", "--stdin-paths", given=paths)
    return found is None or found.split() != [digest for _, digest in committed.values()]


def _listed(text: str | None) -> dict[str, tuple[str, str]]:
    """Mode and digest by path, of entries such as ``100644 blob DIGEST<tab>PATH`` or ``100644 DIGEST 0<tab>PATH``."""
    found = {}
    for entry in (text or "").split("\0"):
        about, _, path = entry.partition("\t")
        if path:
            mode, first, second = about.split()
            found[path] = (mode, second if first in ("blob", "commit") else first)
    return found


def _git(folder: Path, *arguments: str, given: str = "") -> str | None:
    """What git says, or None if it is missing or fails. It may fetch nothing, and run no hooks and no monitor."""
    command = ["git", "-C", str(folder), "-c", "core.fsmonitor=false", "--no-optional-locks", *arguments]
    environment = {**os.environ, "GIT_NO_LAZY_FETCH": "1", "GIT_ALLOW_PROTOCOL": "none"}
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=60, check=False, input=given, env=environment
        )
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return None
    return done.stdout if done.returncode == 0 else None
