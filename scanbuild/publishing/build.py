"""From a source package to the files of ``build/webgpu/``, without touching a disk or a GPU."""

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from scanbuild.cases.casefile import read_benches, read_tests
from scanbuild.cases.schema import check_schema
from scanbuild.dialect import allowance, work_left
from scanbuild.dialect.limits import CALL_WORK, PLAN_WORK
from scanbuild.errors import CallError, InputError, Problem, ScanbuildError, raise_if_any
from scanbuild.package.fetching import FetchError
from scanbuild.package.folder import FolderFetch
from scanbuild.package.jsonfile import locate, parse_json, parse_path
from scanbuild.package.load import package_from_files, prefetch
from scanbuild.package.loaded import Package
from scanbuild.package.metadata import METADATA_FILE
from scanbuild.package.model import Json, Manifest
from scanbuild.package.report import Report
from scanbuild.package.schema import schema_problems
from scanbuild.package.source import (
    BENCH_FILE,
    JSON_FILES,
    RENDERED_FOLDER,
    SHARED_FOLDER,
    TEST_FILE,
    Source,
    inspect_source,
)
from scanbuild.package.text import decode, encode
from scanbuild.planning.device import DeviceRecord
from scanbuild.planning.planner import Templates
from scanbuild.publishing.folding import fold, source_file
from scanbuild.publishing.metadata import metadata
from scanbuild.publishing.provenance import Provenance
from scanbuild.publishing.rendering import Rendering, SourceCase, render_cases, unreached

OPTIONS_FILE = "publish.json"


@dataclass(frozen=True, kw_only=True, slots=True)
class Build:
    """A package that was built: its files by path, ``metadata.json`` among them, and what it was made of."""

    package: Package
    files: Mapping[str, bytes]
    cases: tuple[SourceCase, ...]
    rendering: Rendering
    warnings: tuple[Problem, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class CheckedSource:
    """A source package without errors, its cases, and the options for publishing that it names."""

    source: Source
    manifest: Manifest
    cases: tuple[SourceCase, ...]
    options: Mapping[str, Json]

    @property
    def folders(self) -> tuple[Path, Path]:
        """The folders that everything was read from."""
        return (self.source.folder, self.source.folder.resolve().parent / SHARED_FOLDER)

    @property
    def as_written(self) -> Templates:
        """The source for planning, its templates not folded."""
        return Templates(manifest=self.manifest, files={**self.source.templates, **self.source.shared})


def check_source(folder: Path) -> CheckedSource:
    """Read a source package and its cases. Raises InputError with the problems of all files at once."""
    source = inspect_source(folder)
    problems = list(source.problems)
    cases: list[SourceCase] = []
    for name, read in ((TEST_FILE, read_tests), (BENCH_FILE, read_benches)):
        if name in source.files:
            try:
                found = read(source.files[name].text, str(folder / name), manifest=source.manifest)
                cases += [SourceCase(file=name, case=case) for case in found.cases]
            except InputError as error:
                problems += error.problems
    options = _read_options(folder, problems)
    raise_if_any(problems, InputError)
    assert source.manifest is not None
    return CheckedSource(source=source, manifest=source.manifest, cases=tuple(cases), options=options)


def build(checked: CheckedSource, devices: Mapping[str, DeviceRecord], provenance: Provenance | None) -> Build:
    """The package of a source, with what its cases come to on the devices.

    The bytes depend on the arguments alone. Raises InputError, or CallError where a case is refused.
    """
    source, manifest = checked.source, checked.manifest
    folded = fold(source, manifest)
    files = {name: encode(source.files[name].text) for name in JSON_FILES}
    files |= {path: encode(text) for path, text in folded.templates.items()}
    draft = metadata(manifest, files, folded.variants, provenance, checked.options)
    rendering = _rendered(checked, _loaded(files, draft), devices)
    files |= {f"{RENDERED_FOLDER}/{name}": data for name, data in rendering.all_files().items()}
    final = metadata(manifest, files, folded.variants, provenance, checked.options)
    package = _loaded(files, final)
    warnings = [
        *(problem for problem in source.problems if problem.severity != "error"),
        *folded.problems,
        *(_in_source(problem, source) for problem in unreached(manifest, rendering)),
    ]
    return Build(
        package=package,
        files={METADATA_FILE: metadata_bytes(final), **files},
        cases=checked.cases,
        rendering=rendering,
        warnings=tuple(warnings),
    )


def _rendered(checked: CheckedSource, package: Package, devices: Mapping[str, DeviceRecord]) -> Rendering:
    """What the cases of a package come to; InputError with places in the source where one is refused."""
    with allowance(CALL_WORK + len(checked.cases) * len(devices) * PLAN_WORK):
        return _rendered_within(checked, package, devices)


def _rendered_within(checked: CheckedSource, package: Package, devices: Mapping[str, DeviceRecord]) -> Rendering:
    try:
        return render_cases(package, checked.cases, devices)
    except CallError as error:
        problems = error.problems
    if work_left() < CALL_WORK // 2:  # a second time takes as long
        raise InputError(*(_in_source(problem, checked.source) for problem in problems))
    try:
        # Once more from the templates as they are written, since lines of folded ones mean nothing to their author.
        render_cases(checked.as_written, checked.cases, devices)
    except CallError as error:
        problems = error.problems
    raise InputError(*(_in_source(problem, checked.source) for problem in problems))


def metadata_bytes(content: Mapping[str, Json]) -> bytes:
    """``metadata.json`` as it is written."""
    return encode(json.dumps(content, indent=2, ensure_ascii=False) + "\n")


def with_provenance_of(files: Mapping[str, bytes], there: bytes) -> dict[str, bytes]:
    """The files, with the provenance of a ``metadata.json`` that is there already.

    A check asks whether a build holds what the sources give; from which commit it was made is the build's own word.
    Provenance that is not of the right form is not taken over.
    """
    content = json.loads(files[METADATA_FILE])
    try:
        found = parse_json(decode(there), METADATA_FILE)
    except ScanbuildError:
        return dict(files)
    stated = found.get("provenance") if isinstance(found, dict) else None
    kernel = stated.get("kernel") if isinstance(stated, dict) and stated.keys() == {"kernel"} else None
    members = {name: member for name, member in content.items() if name != "provenance"}
    if _is_provenance(kernel):
        members = _inserted(members, "webgpu", {"provenance": {"kernel": kernel}})
    return {**files, METADATA_FILE: metadata_bytes(members)}


def _is_provenance(kernel: Json) -> bool:
    if not isinstance(kernel, dict) or kernel.keys() != {"sha", "dirty"}:
        return False
    sha = kernel["sha"]
    is_sha = isinstance(sha, str) and len(sha) in (40, 64) and set(sha) <= set("0123456789abcdef")
    return is_sha and isinstance(kernel["dirty"], bool)


def _inserted(members: Mapping[str, Json], before: str, new: Mapping[str, Json]) -> dict[str, Json]:
    """The members with new ones before the one of that name: order counts in a file."""
    names = list(members)
    head = names[: names.index(before)]
    return {**{name: members[name] for name in head}, **new, **{name: members[name] for name in names[len(head) :]}}


def _loaded(files: Mapping[str, bytes], content: Mapping[str, Json]) -> Package:
    """The package as the loader takes it, every template included."""
    data = metadata_bytes(content)
    raise_if_any(schema_problems(dict(content), "metadata", decode(data), METADATA_FILE))
    return prefetch(package_from_files({**files, METADATA_FILE: data}))


def _read_options(folder: Path, problems: list[Problem]) -> Mapping[str, Json]:
    """``publish.json`` of the source, if there is one: ``version`` and ``license``."""
    path = str(folder / OPTIONS_FILE)
    if not os.path.lexists(path):
        return {}
    try:
        text = decode(FolderFetch(folder)(OPTIONS_FILE))
        value = parse_json(text, path)
    except FetchError as error:
        problems.append(Problem(message=f"cannot read the file: {error}", rule="file", file=path, stage="own"))
        return {}
    except InputError as error:
        problems += error.problems
        return {}
    report = Report()
    check_schema(value, "publish", report)
    problems += report.located(text, path)
    return value if isinstance(value, dict) and not report.failed else {}


def _in_source(problem: Problem, source: Source) -> Problem:
    """The problem with its place in the source; a path in a JSON file tells line and column."""
    if not problem.file:
        return problem
    line, column = problem.line, problem.column
    if problem.file in source.files and line is None and problem.path:
        line, column = locate(source.files[problem.file].text, parse_path(problem.path))
    return problem.at(str(source_file(source.folder, problem.file)), line, column)
