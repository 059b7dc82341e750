"""From a path to what is checked: a source package, a built one, or a lone manifest; and why it cannot be read."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from scanbuild.cases.casefile import CaseFile, read_benches, read_tests
from scanbuild.cases.origin import source_of_build, state_folder
from scanbuild.checking.nojson import explain_json
from scanbuild.checking.places import JsonText
from scanbuild.checking.sites import sites_of
from scanbuild.checking.subject import CheckedCase, Kind, Subject
from scanbuild.checking.templates import read_forms
from scanbuild.errors import InputError, Problem, Stage
from scanbuild.package.digest import compare_digests, folder_digests
from scanbuild.package.fetching import FetchError
from scanbuild.package.folder import FolderFetch
from scanbuild.package.jsonfile import parse_json
from scanbuild.package.load import FOLDER
from scanbuild.package.loaded import digest_problem
from scanbuild.package.manifest import check_manifest
from scanbuild.package.metadata import (
    MANIFEST_FILE,
    METADATA_FILE,
    Metadata,
    check_metadata,
    cross_report,
)
from scanbuild.package.model import Manifest
from scanbuild.package.source import BENCH_FILE, JSON_FILES, TEST_FILE, inspect_source
from scanbuild.package.text import decode

_REBUILD: Final = "was it edited after the build? Build it again"
_CASE_FILES: Final = ((TEST_FILE, read_tests), (BENCH_FILE, read_benches))


@dataclass(frozen=True, kw_only=True, slots=True)
class Read:
    """What was read: the subject, None where the manifest does not load, and the problems of reading.

    ``texts`` are the JSON files that could be parsed, for the comments in them; ``templates`` the template texts by
    file name.
    """

    kind: Kind
    subject: Subject | None
    problems: tuple[Problem, ...]
    texts: tuple[JsonText, ...] = ()
    templates: Mapping[str, str] = field(default_factory=dict)


def read_package(path: Path) -> Read:
    """The package at a path. Raises InputError where there is none: that is another mistake than one in a package."""
    read = _read(path)
    return replace(read, problems=tuple(_explain(problem) for problem in read.problems))


def _explain(problem: Problem) -> Problem:
    """A problem of a file that is no JSON, with what its text shows beyond the place where the parser stumbled."""
    if problem.rule != "json" or not problem.file:
        return problem
    path = Path(problem.file)
    try:
        return explain_json(problem, decode(FolderFetch(path.parent)(path.name)))
    except FetchError:
        return problem


def _read(path: Path) -> Read:
    if path.is_file():
        return _read_manifest_file(path)
    if (path / METADATA_FILE).is_file():
        return _read_built(path)
    # A source may have been rendered into itself: where it has a manifest of its own, that is what is worked on.
    if not (path / MANIFEST_FILE).is_file() and (path / FOLDER / METADATA_FILE).is_file():
        return _read_built(path / FOLDER)
    if not path.is_dir():
        raise InputError(Problem(message="there is no such file or folder", rule="folder", file=str(path)))
    if not (path / MANIFEST_FILE).is_file():
        hint = f"a source package has a {MANIFEST_FILE}, a built one {FOLDER}/{METADATA_FILE}"
        raise InputError(Problem(message="there is no package here", rule="folder", file=str(path), hint=hint))
    return _read_source(path)


def _read_manifest_file(path: Path) -> Read:
    problems: list[Problem] = []
    text = _json_text(FolderFetch(path.parent), path.name, str(path), problems, {})
    if text is None:
        return Read(kind="manifest", subject=None, problems=tuple(problems))
    manifest, report = check_manifest(text.value)
    problems += report.located(text.text, text.file)
    subject = None
    if manifest is not None:
        subject = Subject(
            kind="manifest", folder=str(path.parent), manifest=manifest, text=text, sites=sites_of(manifest, text)
        )
    return Read(kind="manifest", subject=subject, problems=tuple(problems), texts=(text,))


def _read_source(folder: Path) -> Read:
    source = inspect_source(folder)
    texts = {
        name: JsonText(file=str(folder / name), text=item.text, value=item.value) for name, item in source.files.items()
    }
    problems = list(source.problems)
    names = {path: str(folder / path) for path in source.templates}
    names |= {path: str(folder.resolve().parent / path) for path in source.shared}
    names |= {name: str(folder / name) for name in JSON_FILES}
    templates = {**source.templates, **source.shared}
    used = {names[path]: text for path, text in templates.items()}
    subject = None
    if source.manifest is not None:
        cases = _cases(source.manifest, texts, problems, foreign=False)
        subject = Subject(
            kind="source",
            folder=str(folder),
            manifest=source.manifest,
            text=texts[MANIFEST_FILE],
            templates=templates,
            names=names,
            raw=_bytes(folder, [*source.files, *source.templates]),
            cases=cases,
            case_files=tuple(texts[name] for name in (TEST_FILE, BENCH_FILE) if name in texts),
            has_reference=source.reference is not None,
        )
        subject = _with_forms(subject)
    return Read(kind="source", subject=subject, problems=tuple(problems), texts=tuple(texts.values()), templates=used)


def _read_built(inner: Path) -> Read:
    fetch = FolderFetch(inner)
    problems: list[Problem] = []
    raw: dict[str, bytes] = {}
    prefix = f"{inner}/"
    metadata_text = _json_text(fetch, METADATA_FILE, prefix + METADATA_FILE, problems, raw)
    manifest_text = _json_text(fetch, MANIFEST_FILE, prefix + MANIFEST_FILE, problems, raw)
    metadata, manifest = _loaded(metadata_text, manifest_text, problems)
    texts = {text.file.removeprefix(prefix): text for text in (metadata_text, manifest_text) if text is not None}
    templates = _read_templates(fetch, metadata, raw) if metadata is not None else {}
    if metadata is not None:
        problems += _digest_problems(metadata, inner, raw, prefix)
    if manifest is None or manifest_text is None or metadata is None:
        return Read(kind="built", subject=None, problems=tuple(problems), texts=tuple(texts.values()))
    for name, _ in _CASE_FILES:
        if (inner / name).is_file():
            text = _json_text(fetch, name, prefix + name, problems, raw)
            if text is not None:
                texts[name] = text
    cases = _cases(manifest, texts, problems, foreign=True)
    subject = Subject(
        kind="built",
        folder=str(inner),
        manifest=manifest,
        text=manifest_text,
        metadata=metadata,
        metadata_text=metadata_text,
        templates=templates,
        names={path: prefix + path for path in (*metadata.files, METADATA_FILE)},
        raw=raw,
        cases=cases,
        case_files=tuple(texts[name] for name, _ in _CASE_FILES if name in texts),
        has_reference=source_of_build(inner, manifest.op_id, state_folder()) is not None,
    )
    return Read(
        kind="built",
        subject=_with_forms(subject),
        problems=tuple(problems),
        texts=tuple(texts.values()),
        templates={prefix + path: text for path, text in templates.items()},
    )


def _loaded(
    metadata_text: JsonText | None, manifest_text: JsonText | None, problems: list[Problem]
) -> tuple[Metadata | None, Manifest | None]:
    metadata, manifest = None, None
    if metadata_text is not None:
        metadata, report = check_metadata(metadata_text.value)
        problems += report.located(metadata_text.text, metadata_text.file)
    if manifest_text is not None:
        manifest, report = check_manifest(manifest_text.value)
        problems += report.located(manifest_text.text, manifest_text.file)
    if metadata is not None and manifest is not None and metadata_text is not None:
        problems += cross_report(metadata, manifest).located(metadata_text.text, metadata_text.file)
    return metadata, manifest


def _digest_problems(metadata: Metadata, inner: Path, raw: Mapping[str, bytes], prefix: str) -> list[Problem]:
    """Files that are not as ``metadata.json`` lists them; what the loader refuses, and what only tools notice."""
    try:
        found = compare_digests(metadata.files, folder_digests(inner), str(inner))
    except (InputError, OSError) as error:
        message = error.problems[0] if isinstance(error, InputError) else Problem(message=str(error), rule="file")
        return [message]
    loaded = {MANIFEST_FILE, *(path for listed in metadata.variants.values() for path in listed)}
    problems: list[Problem] = []
    for problem in found:
        path = problem.file.removeprefix(prefix)
        listed = path in metadata.files
        if not (listed and path in loaded):
            hint = _REBUILD if listed else "list it, or remove it"
            problems.append(replace(problem, hint=hint, severity="warning"))
        elif path not in raw:
            problems.append(replace(problem, hint=_REBUILD, stage="load" if path == MANIFEST_FILE else "call"))
    sound = {*raw} - {problem.file.removeprefix(prefix) for problem in found}
    for path in sorted(loaded & {*raw} & {*metadata.files}):
        mismatch = digest_problem(path, decode(raw[path]), metadata.files)
        if mismatch is not None:
            hint = "it is the digest of the file with its byte-order mark, which the loader drops first"
            stage: Stage = "load" if path == MANIFEST_FILE else "call"
            problems.append(
                replace(mismatch, file=prefix + path, hint=hint if path in sound else _REBUILD, stage=stage)
            )
    return problems


def _read_templates(fetch: FolderFetch, metadata: Metadata, raw: dict[str, bytes]) -> dict[str, str]:
    """The templates that variants list; one that cannot be read has been told by the digests."""
    texts: dict[str, str] = {}
    for path in dict.fromkeys(path for listed in metadata.variants.values() for path in listed):
        try:
            raw[path] = fetch(path)
        except FetchError:
            continue
        texts[path] = decode(raw[path])
    return texts


def _json_text(
    fetch: FolderFetch, name: str, file: str, problems: list[Problem], raw: dict[str, bytes]
) -> JsonText | None:
    try:
        data = fetch(name)
        raw[name] = data
        text = decode(data)
        return JsonText(file=file, text=text, value=parse_json(text, file))
    except FetchError as error:
        problems.append(Problem(message=f"cannot read the file: {error}", rule="file", file=file))
    except InputError as error:
        problems += error.problems
    return None


def _cases(
    manifest: Manifest, texts: Mapping[str, JsonText], problems: list[Problem], *, foreign: bool
) -> tuple[CheckedCase, ...]:
    cases: list[CheckedCase] = []
    for name, read in _CASE_FILES:
        text = texts.get(name)
        if text is None:
            continue
        try:
            found: CaseFile = read(text.text, text.file, manifest=manifest, foreign=foreign)
        except InputError as error:
            problems += _of_case_file(error.problems, foreign)
            continue
        problems += found.notes
        cases += [CheckedCase(case=case, file=text, is_test=name == TEST_FILE) for case in found.cases]
    return tuple(cases)


def _of_case_file(problems: Iterable[Problem], foreign: bool) -> list[Problem]:
    """The loader reads no case file, so what is wrong in that of a foreign package breaks nothing but its tests."""
    if not foreign:
        return [replace(problem, stage="own") for problem in problems]
    return [replace(problem, stage="own", severity="warning") for problem in problems]


def _bytes(folder: Path, names: Iterable[str]) -> dict[str, bytes]:
    fetch = FolderFetch(folder)
    found: dict[str, bytes] = {}
    for name in names:
        try:
            found[name] = fetch(name)
        except FetchError:
            continue
    return found


def _with_forms(subject: Subject) -> Subject:
    shaders = list(dict.fromkeys(path for variant in subject.manifest.variants for path in variant.shaders))
    return replace(
        subject,
        sites=sites_of(subject.manifest, subject.text),
        forms=read_forms(subject.templates, shaders),
    )
