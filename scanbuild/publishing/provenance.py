"""Which commit a source package was built from."""

import subprocess
from dataclasses import dataclass
from pathlib import Path

from scanbuild.package.model import Json


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
    status = _git(present[0], "status", "--porcelain", "--", *map(str, present))
    if sha is None or status is None:
        return None
    unknown = any(not _git(folder, "ls-files", "--", str(folder)) for folder in present)
    return Provenance(sha=sha, dirty=bool(status) or unknown)


def _git(folder: Path, *arguments: str) -> str | None:
    """What git says, or None if it is missing or fails. The checkout's own hooks and monitors are not run."""
    command = ["git", "-C", str(folder), "-c", "core.fsmonitor=false", "--no-optional-locks", *arguments]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=60, check=False, stdin=subprocess.DEVNULL
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None
