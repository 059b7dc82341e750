"""The packages that are served, each read anew whenever it is asked for: a package may be built again meanwhile."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from scanbuild.errors import InputError, Problem, ScanbuildError, raise_if_any
from scanbuild.package.digest import folder_files
from scanbuild.package.fetching import FetchError
from scanbuild.package.folder import FolderFetch, digest_problems, open_folder, package_folder
from scanbuild.package.jsonfile import parse_json
from scanbuild.package.load import FOLDER, prefetch
from scanbuild.package.loaded import Package
from scanbuild.package.metadata import METADATA_FILE
from scanbuild.package.report import shown
from scanbuild.package.text import decode
from scanbuild.publishing.metadata import CONTRACT_VERSION, contract_version

DIST: Final = "dist"

_ODD: Final = re.compile(r"[^A-Za-z0-9._-]+")


@dataclass(frozen=True, kw_only=True, slots=True)
class Title:
    """What a package calls itself, by its ``metadata.json`` alone. ``op_id`` is "" where that cannot be told."""

    op_id: str = ""
    version: int = CONTRACT_VERSION

    @property
    def revision(self) -> str:
        """The branch that holds it on the Hub."""
        return f"v{self.version}"


@dataclass(frozen=True, kw_only=True, slots=True)
class Stock:
    """What a folder holds right now: a package, or what is wrong with it."""

    title: Title
    package: Package | None = None
    files: tuple[str, ...] = ()
    problems: tuple[Problem, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Place:
    """A package's place: its folder, the one with ``metadata.json``, and the path that it is served under."""

    path: str
    root: Path
    folder: Path
    first_title: Title

    def title(self) -> Title:
        """What the package calls itself now; what it did at first, where its metadata cannot be read."""
        return read_title(self.folder) or self.first_title

    def read(self) -> Stock:
        """The package as it is now."""
        return read_stock(self.root, self.title())

    def content(self, file: str) -> bytes:
        """The bytes of a file of the package. Raises FetchError if there is none, or not in the package."""
        return FolderFetch(self.folder)(file)


@dataclass(frozen=True, kw_only=True, slots=True)
class Shelf:
    """All that is served, in the order in which it was named."""

    places: tuple[Place, ...]

    def at(self, path: str) -> Place | None:
        """The package that is served under a path."""
        return next((place for place in self.places if place.path == path), None)

    def named(self, op_id: str) -> tuple[tuple[Place, Title], ...]:
        """The packages of an op id, whatever their versions."""
        titled = ((place, place.title()) for place in self.places)
        return tuple((place, title) for place, title in titled if title.op_id == op_id)


def default_roots(here: Path, notice: Callable[[str], None]) -> tuple[Path, ...]:
    """What is served if nothing is named: the packages in ``dist/``, else the one of the folder itself.

    ``notice`` is told of the folders in ``dist/`` that are left out.
    """
    folders = sorted(path for path in (here / DIST).glob("*") if path.is_dir())
    found = tuple(path for path in folders if _is_built(path))
    for path in folders if found else ():
        if path not in found:
            notice(f"{path} holds no package and is not served.")
    return found or (here,)


def fill_shelf(roots: Sequence[Path]) -> Shelf:
    """The packages in some folders. Raises what is wrong with any of them, all at once."""
    places: list[Place] = []
    errors: list[ScanbuildError] = []
    for root in roots:
        try:
            stock = read_stock(root, Title())
            raise_if_any(stock.problems)
            places.append(_place(root, stock, places))
        except ScanbuildError as error:
            errors.append(error)
    problems = [problem for error in errors for problem in error.problems]
    problems += _rivals(places)
    if problems:
        raise InputError(*problems)
    return Shelf(places=tuple(places))


def read_stock(root: Path, title: Title) -> Stock:
    """What a folder holds, every digest checked. ``title`` is what it is called where it cannot be told."""
    try:
        folder = package_folder(root)
        package = prefetch(open_folder(folder))
        title = read_title(folder) or title
        problems = digest_problems(package, folder)
        if problems:
            return Stock(title=title, problems=tuple(problems))
        return Stock(title=title, package=package, files=(METADATA_FILE, *folder_files(folder)))
    except ScanbuildError as error:
        return Stock(title=title, problems=_with_hint(root, error.problems))
    except OSError as error:
        words = (error.strerror or str(error)).lower()
        return Stock(title=title, problems=(Problem(message=words, file=error.filename or str(root)),))


def read_title(folder: Path) -> Title | None:
    """What a package calls itself, or None if its metadata does not tell."""
    try:
        value = parse_json(decode(FolderFetch(folder)(METADATA_FILE)), METADATA_FILE)
    except (FetchError, ScanbuildError):
        return None
    name = value.get("name") if isinstance(value, dict) else None
    if not isinstance(value, dict) or not isinstance(name, str):
        return None
    version = contract_version(value)
    return Title(op_id=name, version=CONTRACT_VERSION if version is None else version)


def _is_built(path: Path) -> bool:
    return (path / FOLDER / METADATA_FILE).is_file()


def _with_hint(root: Path, problems: Iterable[Problem]) -> tuple[Problem, ...]:
    """The problems; where a folder of packages was named instead of one of them, with what to name."""
    inside = sorted(path.name for path in root.glob("*") if _is_built(path)) if root.is_dir() else []
    if not inside or _is_built(root):
        return tuple(problems)
    message = f"this folder holds packages, and is none itself: {', '.join(map(shown, inside[:5]))}"
    return (Problem(message=message, rule="folder", file=str(root), hint=f"scanbuild serve {root}/*"),)


def _place(root: Path, stock: Stock, others: Iterable[Place]) -> Place:
    base = _ODD.sub("_", stock.title.op_id)
    taken = {place.path for place in others}
    path, number = base, 2
    while path in taken:
        path, number = f"{base}-{number}", number + 1
    return Place(path=path, root=root, folder=package_folder(root), first_title=stock.title)


def _rivals(places: Iterable[Place]) -> Iterable[Problem]:
    """A problem for each package of a name and version that another one has, too."""
    first: dict[tuple[str, int], Place] = {}
    for place in places:
        title = place.first_title
        other = first.setdefault((title.op_id, title.version), place)
        if other is not place:
            message = f"{shown(title.op_id)} {title.revision} is in {other.root} as well, and has one address"
            yield Problem(message=message, rule="serve", file=str(place.root), hint="serve one of the two")
