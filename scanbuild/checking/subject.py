"""What the rules look at: a package as read, with everything parsed once."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from scanbuild.cases.casefile import Case
from scanbuild.checking.forms import TemplateForm
from scanbuild.checking.places import JsonText
from scanbuild.checking.sites import Site
from scanbuild.errors import Problem
from scanbuild.package.metadata import Metadata
from scanbuild.package.model import Manifest, Variant

Kind = Literal["source", "built", "manifest"]


@dataclass(frozen=True, kw_only=True, slots=True)
class CheckedCase:
    """A case of ``test.json`` or ``bench.json``, and the file it comes from."""

    case: Case
    file: JsonText
    is_test: bool

    @property
    def words(self) -> str:
        """The case by name."""
        return f"case `{self.case.name}`"


@dataclass(frozen=True, kw_only=True, slots=True)
class Subject:
    """A package whose manifest loads. ``templates`` are its template texts by path within the package.

    ``names`` maps those paths to file names for people. ``listed`` has each variant's files as ``metadata.json`` lists
    them, None for a package that is not built. ``forms`` are the expanded and parsed shaders by path.
    """

    kind: Kind
    folder: str
    manifest: Manifest
    text: JsonText
    metadata: Metadata | None = None
    metadata_text: JsonText | None = None
    templates: Mapping[str, str] = field(default_factory=dict)
    names: Mapping[str, str] = field(default_factory=dict)
    raw: Mapping[str, bytes] = field(default_factory=dict)
    cases: tuple[CheckedCase, ...] = ()
    case_files: tuple[JsonText, ...] = ()
    has_reference: bool = False
    sites: tuple[Site, ...] = ()
    forms: Mapping[str, TemplateForm] = field(default_factory=dict)

    def files_of(self, variant: Variant) -> dict[str, str]:
        """The template texts a variant may include at a call."""
        if self.metadata is None:
            return dict(self.templates)
        listed = self.metadata.variants.get(variant.id, ())
        return {path: self.templates[path] for path in listed if path in self.templates}

    def file_name(self, path: str) -> str:
        """The name, for people, of a file of the package."""
        return self.names.get(path, path)

    def template_problem(self, problem: Problem, path: str, line: int | None, column: int | None) -> Problem:
        """A problem placed in a template."""
        return problem.at(self.file_name(path), line, column)
