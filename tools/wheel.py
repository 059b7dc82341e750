"""Builds the wheel so that the same commit gives the same bytes, wherever and whenever it is built.

    python tools/wheel.py FOLDER    build into FOLDER, and print the wheel's name and its SHA-256

Three things could differ and do not: times are those of the last commit (SOURCE_DATE_EPOCH, unless it is set), only
files that git knows are packed, whatever else lies about, and the build backend has one version (its name and version
are written into the wheel).
"""

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BACKEND = "hatchling==1.27.0"


def build_wheel(folder: Path) -> Path:
    """Build the wheel of the files that git knows, as they are now, into a folder, and return its path.

    Raises CalledProcessError if git or pip fails, whose own words are on standard error by then.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        source, built, constraint = (Path(scratch) / name for name in ("source", "built", "constraint.txt"))
        copy_known_files(source)
        constraint.write_text(BACKEND + "\n", encoding="utf-8")
        environment = {
            **os.environ,
            "SOURCE_DATE_EPOCH": os.environ.get("SOURCE_DATE_EPOCH") or _git("log", "-1", "--format=%ct").strip(),
            "PIP_CONSTRAINT": str(constraint),
        }
        command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(built), str(source)]
        subprocess.run(command, check=True, env=environment)
        [wheel] = built.glob("*.whl")
        return Path(shutil.copy(wheel, folder))


def copy_known_files(target: Path) -> None:
    """Copy what git tracks, with the contents that it has now."""
    for name in _git("ls-files", "-z").split("\0"):
        path = ROOT / name
        if name and path.is_file():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, target / name)


def digest(path: Path) -> str:
    """SHA-256 of a file, in hex digits."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _git(*arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=ROOT, check=True, capture_output=True, text=True).stdout


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    made = build_wheel(Path(sys.argv[1]))
    print(digest(made), made.name)
