"""A source package: the folder people edit, before it is built.

It holds ``manifest.json``, ``test.json``, ``bench.json``, templates (``*.wgsl.jinja`` or ``*.wgsl``, in subfolders
too) and perhaps ``reference.py``, of which only the path is noted. Fragments that several packages include stand in
a folder ``_shared`` beside it.
"""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from scanbuild.errors import InputError, Problem, raise_if_any
from scanbuild.package.fetching import FetchError
from scanbuild.package.folder import FolderFetch, require_folder
from scanbuild.package.jsonfile import duplicate_keys, parse_json, parse_path
from scanbuild.package.manifest import check_manifest
from scanbuild.package.metadata import MANIFEST_FILE, METADATA_FILE, is_package_path, is_template
from scanbuild.package.model import Json, Manifest
from scanbuild.package.report import Node, Report, listed, nearest, shown
from scanbuild.package.schema import schema_problems
from scanbuild.package.text import decode

TEST_FILE: Final = "test.json"
BENCH_FILE: Final = "bench.json"
REFERENCE_FILE: Final = "reference.py"
SHARED_FOLDER: Final = "_shared"
RENDERED_FOLDER: Final = "rendered"
JSON_FILES: Final = (MANIFEST_FILE, TEST_FILE, BENCH_FILE)

MAX_FILES: Final = 2000
"""A source package has a dozen files; a folder with more than this is something else, a home directory perhaps."""


@dataclass(frozen=True, kw_only=True, slots=True)
class JsonFile:
    """A JSON file as read: the text, and its value (None if it is no JSON)."""

    name: str
    text: str
    value: Json


@dataclass(frozen=True, kw_only=True, slots=True)
class Source:
    """What was read. ``templates`` and ``shared`` map paths to texts, the latter as ``_shared/name``.

    ``manifest`` is None if there are errors in it; ``files`` lack those that could not be read. ``manifest_report``
    tells where in ``manifest.json`` a member of a variant stands.
    """

    folder: Path
    manifest: Manifest | None
    files: Mapping[str, JsonFile]
    templates: Mapping[str, str]
    shared: Mapping[str, str] = field(default_factory=dict)
    reference: Path | None = None
    manifest_report: Report | None = field(default=None, repr=False, compare=False)
    problems: tuple[Problem, ...] = ()


def read_source(folder: Path) -> Source:
    """The source package in a folder. Raises InputError with all problems of all its files at once."""
    source = inspect_source(folder)
    raise_if_any(source.problems, InputError)
    return source


def inspect_source(folder: Path) -> Source:
    """The same, errors left among the problems. Raises InputError only where there is no folder to look at."""
    require_folder(folder)
    if not any(os.path.lexists(folder / name) for name in JSON_FILES):
        raise InputError(_no_source(folder))
    problems: list[Problem] = []
    files = dict(_read_json_files(folder, problems))
    templates = _read_templates(folder, "", problems)
    beside = folder.resolve().parent / SHARED_FOLDER
    shared = _read_templates(beside, f"{SHARED_FOLDER}/", problems) if beside.is_dir() else {}
    manifest, report = _read_manifest(folder, files.get(MANIFEST_FILE), templates, problems)
    reference = folder / REFERENCE_FILE
    return Source(
        folder=folder,
        manifest=manifest,
        files=files,
        templates=templates,
        shared=shared,
        reference=reference if reference.is_file() else None,
        manifest_report=report,
        problems=tuple(problems),
    )


def _no_source(folder: Path) -> Problem:
    """What to say of a folder that has none of a source package's files."""
    message = f"there is no source package here; one has {', '.join(JSON_FILES[:-1])} and {JSON_FILES[-1]}"
    inside = sorted(path.parent for path in (*folder.glob(f"*/{MANIFEST_FILE}"), *folder.glob(f"*/*/{MANIFEST_FILE}")))
    hint = f"perhaps {listed(map(str, inside[:3]))}" if inside else ""
    return Problem(message=message, rule="folder", file=str(folder), hint=hint, stage="own")


def _read_json_files(folder: Path, problems: list[Problem]) -> Iterator[tuple[str, JsonFile]]:
    fetch = FolderFetch(folder)
    for name in JSON_FILES:
        path = str(folder / name)
        try:
            text = decode(fetch(name))
            yield name, JsonFile(name=name, text=text, value=parse_json(text, path))
            problems += duplicate_keys(text, path)
        except FetchError as error:
            problems.append(Problem(message=f"cannot read the file: {error}", rule="file", file=path, stage="own"))
        except InputError as error:
            problems += error.problems


def _read_templates(folder: Path, prefix: str, problems: list[Problem]) -> dict[str, str]:
    fetch = FolderFetch(folder)
    templates: dict[str, str] = {}
    for name in _template_names(folder, problems):
        try:
            templates[prefix + name] = decode(fetch(name))
        except FetchError as error:
            problem = Problem(message=f"cannot read the file: {error}", rule="file", stage="own")
            problems.append(problem.at(str(folder / name)))
            continue
        if not is_package_path(name):
            hint = "letters, digits, dots, dashes and underscores, no two dots in a row"
            message = f"{shown(name)} cannot be the path of a file in a package"
            problems.append(Problem(message=message, rule="path", file=str(folder / name), hint=hint))
    return templates


def _template_names(folder: Path, problems: list[Problem]) -> list[str]:
    """The templates under a folder, sorted; hidden folders and what a build leaves behind are passed over.

    The latter are ``build`` and, where a built package is the source of another, its ``rendered`` shaders.
    """
    built = (folder / METADATA_FILE).is_file()
    found: list[str] = []
    seen = 0
    for where, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith((".", "__")) and name != "build")
        if built and Path(where) == folder and RENDERED_FOLDER in folders:
            folders.remove(RENDERED_FOLDER)
        seen += len(names)
        if seen > MAX_FILES:
            message = f"the folder holds more than {MAX_FILES} files; this cannot be a source package"
            problems.append(Problem(message=message, rule="folder", file=str(folder), stage="own"))
            return []
        found += [(Path(where) / name).relative_to(folder).as_posix() for name in names if is_template(name)]
    return sorted(found)


def _read_manifest(
    folder: Path, file: JsonFile | None, templates: Mapping[str, str], problems: list[Problem]
) -> tuple[Manifest | None, Report | None]:
    if file is None:
        return None, None
    manifest, report = check_manifest(file.value)
    if manifest is not None:
        root = Node(file.value, (), report)
        _check_shaders(root, manifest, templates)
    located = report.located(file.text, str(folder / MANIFEST_FILE))
    if not located:
        located = schema_problems(file.value, "manifest", file.text, str(folder / MANIFEST_FILE))
    problems += located
    return manifest, report


def _check_shaders(root: Node, manifest: Manifest, templates: Mapping[str, str]) -> None:
    """Every shader has to be a template of the folder, by its exact path."""
    for variant in manifest.variants:
        for item in variant.all_passes():
            if item.shader in templates:
                continue
            if not is_package_path(item.shader) or not is_template(item.shader):
                message = f"{shown(item.shader)} cannot be a shader: it is a path within the package to a template"
                hint = "ending in .wgsl or .wgsl.jinja"
            else:
                message = f"there is no template {shown(item.shader)} in the folder"
                hint = nearest(item.shader, templates)
            root.report.add((*parse_path(item.path), "shader"), "shader", message, hint=hint, stage="own")
