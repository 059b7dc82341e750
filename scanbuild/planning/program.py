"""Rendered shaders, and a cache of them by what their templates read (4.1, 5, 9.4)."""

import math
from collections import OrderedDict
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Generic, TypeVar

from scanbuild.dialect import DialectError, Template, expand_includes, parse_template
from scanbuild.errors import CallError
from scanbuild.package.model import ABSENT
from scanbuild.planning.failures import fail
from scanbuild.planning.scope import Place, Scope
from scanbuild.planning.wgsl import inject_enables

CACHE_ENTRIES: Final = 256

Value = TypeVar("Value")


class Cache(Generic[Value]):
    """The most recently used entries, at most ``CACHE_ENTRIES`` of them."""

    def __init__(self) -> None:
        self._entries: OrderedDict[Hashable, Value] = OrderedDict()

    def get(self, key: Hashable) -> Value | None:
        """The entry of a key, which becomes the most recent one."""
        if key in self._entries:
            self._entries.move_to_end(key)
            return self._entries[key]
        return None

    def put(self, key: Hashable, value: Value) -> None:
        """Keep an entry, dropping the least recent one where there are too many."""
        self._entries[key] = value
        self._entries.move_to_end(key)
        if len(self._entries) > CACHE_ENTRIES:
            self._entries.popitem(last=False)


@dataclass(slots=True)
class Renderer:
    """Renders the shader files of one variant. ``files`` are those its templates may include.

    ``texts`` keeps final texts by what their templates read, ``verdicts`` what was found wrong with a text, ``broken``
    the templates that cannot be parsed.
    """

    files: Mapping[str, str]
    templates: dict[str, Template] = field(default_factory=dict)
    broken: dict[str, DialectError] = field(default_factory=dict)
    texts: Cache[str] = field(default_factory=Cache)
    verdicts: Cache[tuple[str, str]] = field(default_factory=Cache)

    def wgsl(self, shader: str, declarations: str, scope: Scope, place: Place) -> str:
        """The final text of a shader file; CallError with the place in the template where it fails."""
        env = {"device": scope.request["device"], "wgsl": {"resourceDeclarations": declarations}}
        context = {**scope.names, "env": env}
        try:
            template = self._template(shader, place)
            key = (shader, *((path, frozen(_lookup(context, path))) for path in sorted(template.reads)))
            text = self.texts.get(key)
            if text is None:
                text = template.render(context)
                text = inject_enables(text) if text else text
                self.texts.put(key, text)
        except DialectError as error:
            raise template_failure(shader, error, place) from None
        return text

    def names(self, shader: str) -> frozenset[str]:
        """Every name that a shader file mentions, once it has been rendered."""
        return frozenset(self.templates[shader].names)

    def _template(self, shader: str, place: Place) -> Template:
        template = self.templates.get(shader)
        if template is None:
            if shader in self.broken:
                raise self.broken[shader].with_traceback(None)
            if shader not in self.files:
                raise fail(f"{place.words}: there is no shader file `{shader}`", rule="template-file", path=place.path)
            try:
                template = parse_template(expand_includes(shader, self.files))
            except DialectError as error:
                self.broken[shader] = error
                raise
            self.templates[shader] = template
        return template


def template_failure(shader: str, error: DialectError, place: Place) -> CallError:
    """The error that says where in which template rendering failed, and why."""
    return fail(
        f"{place.words}: {error.message}",
        rule=f"template-{error.kind}",
        path=f"{place.path}.shader",
        file=error.file or shader,
        line=error.line,
        column=error.column,
    )


def _lookup(context: Mapping[str, Any], path: tuple[str, ...]) -> Any:
    value: Any = context
    for name in path:
        if not isinstance(value, Mapping) or name not in value:
            return ABSENT
        value = value[name]
    return value


def frozen(value: Any) -> Hashable:
    """A value as a key that tells apart what templates can: 1 and true, 0 and -0, null and undefined, orders."""
    if isinstance(value, bool) or value is None:
        return (type(value).__name__, value)
    if isinstance(value, int | float):
        return "NaN" if math.isnan(value) else (value, math.copysign(1, value))
    if isinstance(value, str):
        return ("text", value)
    if isinstance(value, list | tuple):
        return ("list", tuple(frozen(item) for item in value))
    if isinstance(value, Mapping):
        return ("object", tuple((key, frozen(item)) for key, item in value.items()))
    return _identity(value)


def _identity(value: Any) -> Hashable:
    try:
        return (type(value).__name__, hash(value), value)
    except TypeError:
        return (type(value).__name__, id(value))
