"""Templates as they are published: what they include of the shared fragments is put in its place.

The expansion is the one that happens at a call, so the text that is rendered cannot differ by it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from scanbuild.dialect import DialectError, Expanded, expand_includes
from scanbuild.errors import InputError, Problem, raise_if_any
from scanbuild.package.model import Manifest
from scanbuild.package.source import SHARED_FOLDER, Source


@dataclass(frozen=True, kw_only=True, slots=True)
class Folded:
    """``templates`` maps the paths of the published templates to their texts, ``variants`` lists those of each."""

    templates: Mapping[str, str]
    variants: Mapping[str, tuple[str, ...]]
    problems: tuple[Problem, ...] = ()


def fold(source: Source, manifest: Manifest) -> Folded:
    """The templates that the variants need.

    One that includes a shared fragment, directly or not, has all its includes expanded; another is left as it is and
    its includes are published beside it. Raises InputError for an include that leads nowhere or to itself.
    """
    texts = {**source.templates, **source.shared}
    templates: dict[str, str] = {}
    needs: dict[str, tuple[str, ...]] = {}
    used: set[str] = set()
    problems: list[Problem] = []
    for shader in dict.fromkeys(path for variant in manifest.variants for path in variant.shaders):
        try:
            whole = expand_includes(shader, texts)
            published = _published(shader, whole, texts)
        except DialectError as error:
            problems.append(_problem(source, shader, error))
            continue
        templates |= published
        needs[shader] = tuple(published)
        used.update(whole.files)
    raise_if_any(problems, InputError)
    return Folded(
        templates=dict(sorted(templates.items())),
        variants={
            variant.id: tuple(dict.fromkeys(path for shader in variant.shaders for path in needs[shader]))
            for variant in manifest.variants
        },
        problems=tuple(_unused(source, path) for path in source.templates if path not in used),
    )


def _published(shader: str, whole: Expanded, texts: Mapping[str, str]) -> dict[str, str]:
    """What is published for a shader, by path."""
    if not any(path.startswith(f"{SHARED_FOLDER}/") for path in whole.files):
        return {path: texts[path] for path in whole.files}
    if expand_includes(shader, {shader: whole.text}).text != whole.text:
        raise DialectError("include", "what its includes expand to joins up to another include", file=shader)
    return {shader: whole.text}


def _problem(source: Source, shader: str, error: DialectError) -> Problem:
    return Problem(
        message=error.message,
        rule=f"template-{error.kind}",
        file=str(source_file(source.folder, error.file or shader)),
        line=error.line,
        column=error.column,
        stage="call",
    )


def source_file(folder: Path, path: str) -> Path:
    """Where a file of a source package lies: in its folder, or beside it if it is a shared fragment."""
    return (folder.parent if path.startswith(f"{SHARED_FOLDER}/") else folder) / path


def _unused(source: Source, path: str) -> Problem:
    return Problem(
        message="no variant uses the template, so it is not published",
        rule="unused",
        file=str(source.folder / path),
        severity="warning",
        stage="own",
    )
