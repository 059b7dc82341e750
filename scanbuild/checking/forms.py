"""Shader templates with their includes expanded, parsed, and the names they mention."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from jinja2 import nodes

from scanbuild.checking.syntax import NO_NAMES
from scanbuild.dialect import DialectError, Expanded, expand_includes, parse_template
from scanbuild.dialect.names import Names, collect
from scanbuild.dialect.parser import parse
from scanbuild.dialect.source import Source, preprocess


@dataclass(frozen=True, kw_only=True, slots=True)
class TemplateForm:
    """One shader file. ``error`` is set, and ``tree`` empty, where it cannot be expanded or parsed."""

    shader: str
    files: tuple[str, ...] = ()
    tree: nodes.Template = field(default_factory=lambda: nodes.Template([], lineno=0))
    names: Names = NO_NAMES
    expanded: Expanded | None = None
    source: Source | None = None
    error: DialectError | None = None

    def place(self, offset: int) -> tuple[str, int, int]:
        """File, line and column of an offset in the pre-processed text."""
        if self.expanded is None or self.source is None:
            return self.shader, 1, 1
        return self.expanded.place(self.source.offset(offset))


def read_form(shader: str, files: Mapping[str, str]) -> TemplateForm:
    """A shader file, ``files`` being what it may include."""
    try:
        expanded = expand_includes(shader, files)
    except DialectError as error:
        return TemplateForm(shader=shader, files=(shader,), error=error)
    try:
        parse_template(expanded)
        source = preprocess(expanded.text)
        tree, _ = parse(source.text)
    except DialectError as error:
        return TemplateForm(shader=shader, files=expanded.files, expanded=expanded, error=error)
    return TemplateForm(
        shader=shader, files=expanded.files, tree=tree, names=collect(tree), expanded=expanded, source=source
    )
