"""What the pages show of a package, as plain text: the templates escape it."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from scanbuild.cases.casefile import read_tests
from scanbuild.errors import Problem, ScanbuildError
from scanbuild.package.digest import digest_text
from scanbuild.package.fetching import FetchError
from scanbuild.package.jsonfile import parse_json
from scanbuild.package.load import TRUSTED_PUBLISHER, is_repository
from scanbuild.package.loaded import Package
from scanbuild.package.model import Json, Requires, Variant
from scanbuild.package.source import RENDERED_FOLDER, TEST_FILE
from scanbuild.package.text import decode
from scanbuild.publishing.card import ROLES, Card, cases_in, describe
from scanbuild.publishing.snippet import sample_from_cases, snippet
from scanbuild.serving.prose import anchor
from scanbuild.serving.shelf import Place, Stock

MOST_LISTED: Final = 500
"""So many variants, and so many files, a card lists."""

_RENDERED: Final = f"{RENDERED_FOLDER}/"
_INDEX: Final = f"{RENDERED_FOLDER}/index.json"
_MOST_COUNTED: Final = 256
_COUNTED: Final[dict[str, tuple[int, tuple[Problem, ...]]]] = {}
"""By the digest of a ``test.json``."""


@dataclass(frozen=True, kw_only=True, slots=True)
class VariantRow:
    """A variant: when it runs, what it needs of a device, and what it runs."""

    id: str
    description: str
    priority: str
    when: tuple[str, ...]
    demote_when: tuple[str, ...]
    superseded_by: tuple[str, ...]
    requires: tuple[tuple[str, str], ...]
    passes: tuple[tuple[str, str], ...]
    tunables: tuple[tuple[str, str], ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class FileRow:
    """A file: its path in the package, the end of it that is shown, what it is for, and its size."""

    path: str
    label: str
    role: str
    size: str


@dataclass(frozen=True, kw_only=True, slots=True)
class FileGroup:
    """Rendered shaders of one variant."""

    name: str
    files: tuple[FileRow, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Sheet:
    """A package's card on the page.

    ``card`` is None for a package that is broken now; then there are problems. ``repository`` is "" for a name that no
    repository can have.
    """

    path: str
    anchor: str
    folder: str
    op_id: str
    revision: str
    url: str
    repository: str
    problems: tuple[Problem, ...] = ()
    card: Card | None = None
    variants: tuple[VariantRow, ...] = ()
    files: tuple[FileRow, ...] = ()
    rendered: tuple[FileGroup, ...] = ()
    left_out: int = 0
    script: str = ""
    python: str = ""
    cases: int = 0
    case_problems: tuple[Problem, ...] = ()


def make_sheet(place: Place, origin: str) -> Sheet:
    """The card of a package as it is now. Whatever keeps it from being made is told on it: the others are shown."""
    stock = place.read()
    if stock.package is None:
        return _sheet(place, stock, origin, problems=stock.problems)
    try:
        return _whole_sheet(place, stock, stock.package, origin)
    except Exception as error:
        message = f"scanbuild cannot show this package, which is its own fault: {type(error).__name__}: {error}"
        return _sheet(place, stock, origin, problems=(Problem(message=message),))


def _whole_sheet(place: Place, stock: Stock, package: Package, origin: str) -> Sheet:
    test, cases, case_problems = _tests(place)
    listed = _rows(place, sorted(stock.files, key=_order))
    url = f"{origin}/{place.path}"
    return _sheet(
        place,
        stock,
        origin,
        card=describe(package.manifest, package.metadata.raw, stock.files, test),
        variants=tuple(map(_variant, package.manifest.ranked[:MOST_LISTED])),
        files=tuple(row for row in listed if not row.path.startswith(_RENDERED) or row.path == _INDEX),
        rendered=tuple(_groups(row for row in listed if row.path.startswith(_RENDERED) and row.path != _INDEX)),
        left_out=max(len(stock.files) - MOST_LISTED, 0),
        script=_script(package, stock, url, test),
        python=_python(package, stock, url),
        cases=cases,
        case_problems=case_problems,
    )


def _sheet(place: Place, stock: Stock, origin: str, **more: object) -> Sheet:
    repository = f"{TRUSTED_PUBLISHER}/{stock.title.op_id}"
    return Sheet(
        path=place.path,
        anchor=anchor(place.path),
        folder=str(place.root),
        op_id=stock.title.op_id,
        revision=stock.title.revision,
        url=f"{origin}/{place.path}",
        repository=repository if is_repository(repository) else "",
        **more,  # type: ignore[arg-type]
    )


def _tests(place: Place) -> tuple[Json, int, tuple[Problem, ...]]:
    """``test.json`` as it stands, how many cases it has, and what is wrong with it."""
    if not (place.folder / TEST_FILE).is_file():
        return None, 0, ()
    try:
        text = decode(place.content(TEST_FILE))
        return parse_json(text, TEST_FILE), *_count_cases(text)
    except FetchError as error:
        return None, 0, (Problem(message=f"cannot read the file: {error}", file=TEST_FILE),)
    except ScanbuildError as error:
        return None, 0, error.problems


def _count_cases(text: str) -> tuple[int, tuple[Problem, ...]]:
    """How many cases a ``test.json`` has, and what is wrong with it. Checking takes long, and is done once."""
    key = digest_text(text)
    known = _COUNTED.get(key)
    if known is not None:
        return known
    counted: tuple[int, tuple[Problem, ...]]
    try:
        counted = len(read_tests(text, TEST_FILE, foreign=True).cases), ()
    except ScanbuildError as error:
        counted = 0, error.problems
    if len(_COUNTED) >= _MOST_COUNTED:
        _COUNTED.clear()
    _COUNTED[key] = counted
    return counted


def _variant(variant: Variant) -> VariantRow:
    return VariantRow(
        id=variant.id,
        description=variant.description,
        priority=f"{variant.priority:g}",
        when=variant.when,
        demote_when=variant.demote_when,
        superseded_by=variant.superseded_by,
        requires=tuple(_requirements(variant.requires)),
        passes=tuple((item.name or item.id, item.shader) for item in variant.all_passes()),
        tunables=tuple((name, _json(value)) for name, value in variant.tunables.items()),
    )


def _requirements(requires: Requires) -> Iterable[tuple[str, str]]:
    """What a device must have: the name of it, and how much of it."""
    yield from ((name, "") for name in requires.features)
    yield from ((name, f"≥ {least:,.0f}") for name, least in requires.limits.items())
    if requires.subgroup_min_size is not None:
        yield "subgroupMinSize", f"≥ {requires.subgroup_min_size}"
    for config in requires.subgroup_matrix_configs or ():
        yield "subgroupMatrixConfigs", _json(dict(config))


def _rows(place: Place, files: Iterable[str]) -> list[FileRow]:
    return [
        FileRow(path=path, label=_label(path), role=ROLES.get(path, ""), size=_size(place, path))
        for path in list(files)[:MOST_LISTED]
    ]


def _label(path: str) -> str:
    """A rendered shader stands under its variant; all else is called by its path."""
    return path.rpartition("/")[2] if path.startswith(_RENDERED) and path != _INDEX else path


def _groups(rows: Iterable[FileRow]) -> Iterable[FileGroup]:
    """Rendered shaders by the folder they are in, which is called like their variant."""
    groups: dict[str, list[FileRow]] = {}
    for row in rows:
        groups.setdefault(row.path.removeprefix(_RENDERED).rpartition("/")[0], []).append(row)
    return (FileGroup(name=name, files=tuple(some)) for name, some in groups.items())


def _order(path: str) -> tuple[int, int, str]:
    """The files that every package has, the templates, and at last what was rendered."""
    known = list(ROLES)
    return (int(path.startswith(_RENDERED)), known.index(path) if path in known else len(known), path)


def _size(place: Place, path: str) -> str:
    try:
        size = (place.folder / path).stat().st_size
    except OSError:
        return ""
    if size < 1000:
        return f"{size} bytes"
    return f"{size / 1000:.1f} kB" if size < 1_000_000 else f"{size / 1_000_000:.1f} MB"


def _script(package: Package, stock: Stock, url: str, test: Json) -> str:
    sample = sample_from_cases(package.manifest, cases_in(test))
    return snippet(package.manifest, url, stock.title.version, sample, trusted=False, expect_op_id=True)


def _python(package: Package, stock: Stock, url: str) -> str:
    options: dict[str, str | int] = {
        "version": stock.title.version,
        "expected_op_id": package.manifest.op_id,
        "trust_remote_code": True,
    }
    lines = [f"    {name}={_literal(value)}," for name, value in options.items()]
    return "\n".join(["import scanbuild", "", "kernel = scanbuild.load_kernel(", f"    {_literal(url)},", *lines, ")"])


def _literal(value: str | int) -> str:
    return json.dumps(value) if isinstance(value, str) else repr(value)


def _json(value: Json | Mapping[str, Json]) -> str:
    return json.dumps(value, ensure_ascii=False)
