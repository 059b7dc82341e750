"""What an address asks for: pure functions, so that the rules can be read and tested by themselves.

Nothing here knows a disk. The path of a file is handed on only if it is one that a package's file can have (1.5): plain
characters, and no two dots in a row.
"""

import re
from dataclasses import dataclass
from typing import Final, TypeAlias
from urllib.parse import unquote_to_bytes

from scanbuild.package.load import FOLDER
from scanbuild.package.metadata import is_package_path

OWN: Final = "-"
"""The first segment of what is the server's own. No package has this path: every op id holds a dot."""

_FOLDER: Final = FOLDER.split("/")
_BAD_ESCAPE: Final = re.compile(r"%(?![0-9A-Fa-f]{2})")
_NAME: Final = re.compile(r"[A-Za-z0-9._-]+")


@dataclass(frozen=True, kw_only=True, slots=True)
class IndexPage:
    """The page of all packages; ``token`` where the address has one."""

    token: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class CardPage:
    """The location of a package itself, as somebody may open it in a browser."""

    package: str


@dataclass(frozen=True, kw_only=True, slots=True)
class PlainFile:
    """A file of the package that is served under a path."""

    package: str
    file: str


@dataclass(frozen=True, kw_only=True, slots=True)
class HubFile:
    """A file of a repository, as the loader asks the Hub for it (1.2)."""

    organisation: str
    name: str
    revision: str
    file: str


@dataclass(frozen=True, kw_only=True, slots=True)
class ViewPage:
    """A file of a package as a page for people."""

    package: str
    file: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Asset:
    """A part of the pages, by its name."""

    name: str


@dataclass(frozen=True, kw_only=True, slots=True)
class TrialPath:
    """Tests in the browser: begin them, or with ``trial`` talk to those that run."""

    trial: str = ""


Wanted: TypeAlias = IndexPage | CardPage | PlainFile | HubFile | ViewPage | Asset | TrialPath


def wanted(raw_path: str) -> Wanted | None:
    """What the path of a request asks for, as it was sent; None for everything that nothing here is called."""
    segments = _segments(raw_path.partition("?")[0])
    match segments:
        case None:
            return None
        case [""]:
            return IndexPage()
        case ["open", token]:
            return IndexPage(token=token)
        case ["-", *rest]:
            return _own(rest)
        case ["kernels", organisation, name, "resolve", revision, *rest]:
            return _hub_file(organisation, name, revision, rest)
        case [package] | [package, ""]:
            return CardPage(package=package)
        case [package, *rest]:
            file = _file(rest)
            return PlainFile(package=package, file=file) if file else None
    return None


def _own(rest: list[str]) -> Wanted | None:
    match rest:
        case ["tests"]:
            return TrialPath()
        case ["tests", trial, "socket"]:
            return TrialPath(trial=trial)
        case ["view", package, *file] if is_package_path("/".join(file)):
            return ViewPage(package=package, file="/".join(file))
        case _:
            return Asset(name="/".join(rest))


def _hub_file(organisation: str, name: str, revision: str, rest: list[str]) -> Wanted | None:
    file = _file(rest)
    if not file or not _NAME.fullmatch(organisation) or not _NAME.fullmatch(name):
        return None
    return HubFile(organisation=organisation, name=name, revision=revision, file=file)


def _file(segments: list[str]) -> str:
    """The path of a file in a package, behind its folder; "" if it can be none."""
    file = "/".join(segments[len(_FOLDER) :])
    return file if segments[: len(_FOLDER)] == _FOLDER and is_package_path(file) else ""


def _segments(path: str) -> list[str] | None:
    """The segments of a path, each decoded once; None if one has what no name here has."""
    if not path.startswith("/") or _BAD_ESCAPE.search(path):
        return None
    try:
        parts = [unquote_to_bytes(part).decode("utf-8") for part in path[1:].split("/")]
    except UnicodeError:
        return None
    return (
        None if any(part in (".", "..") or not (part.isprintable() and "\\" not in part) for part in parts) else parts
    )
