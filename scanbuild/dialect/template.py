"""Templates: parsed once, rendered in a context."""

from collections.abc import Mapping

from jinja2 import nodes

from .errors import DialectError
from .functions import CONSTANTS, NAMESPACE, TEMPLATE_BUILTINS
from .includes import Expanded
from .limits import MAX_TEMPLATE_LENGTH, TAG_COST
from .names import collect
from .parser import parse
from .scope import Root
from .source import Source, preprocess
from .statements import Jump, StatementCompiler
from .values import Plain
from .work import use

_FIXED = frozenset(CONSTANTS) | {"range", "raise_exception", "namespace"}


class Template:
    """A parsed template.

    ``names`` are all names it mentions, those that it sets itself among them. ``reads`` has ``(name, member)`` for
    static members (``tunables.X``) and ``(name,)`` for names that are used in another way.
    """

    __slots__ = ("_expanded", "_render", "_source", "names", "reads", "text")

    def __init__(self, source: Source, expanded: Expanded | None, tree: nodes.Template) -> None:
        found = collect(tree)
        self.text = source.original
        self.names = found.mentioned
        self.reads = found.reads
        self._source = source
        self._expanded = expanded
        self._render = StatementCompiler(found.direct).block(tree.body)

    def render(self, context: Mapping[str, Plain]) -> str:
        """The text in a context of plain values; it may be empty.

        :raises DialectError: kind ``names`` if a name of the language is one of the context too; ``value``; ``limit``.
        """
        try:
            for name in sorted(_FIXED & self.names):
                if name in context:
                    raise DialectError("names", f"{name!r} is a name of the language and one of the context")
            root = Root(context, TEMPLATE_BUILTINS, NAMESPACE)
            try:
                text = self._render(root)
            finally:
                root.release()
            return text
        except RecursionError:
            raise DialectError("limit", "calls, or the elements of a value, are nested too deeply") from None
        except Jump as jump:
            outside = DialectError("value", "'break' or 'continue' outside a loop", offset=jump.offset)
            raise _place(outside, self._source, self._expanded) from None
        except DialectError as error:
            raise _place(error, self._source, self._expanded) from None


def _place(error: DialectError, source: Source, expanded: Expanded | None) -> DialectError:
    if error.offset is None or error.line is not None:
        return error
    if expanded is None:
        error.line, error.column = source.place(error.offset)
    else:
        error.file, error.line, error.column = expanded.place(source.offset(error.offset))
    return error


def parse_template(text: str | Expanded) -> Template:
    """The template of a text.

    :raises DialectError: kind ``syntax``; ``names`` for a ``set`` of something that cannot be set; ``limit``.
    """
    expanded = text if isinstance(text, Expanded) else None
    written = text.text if isinstance(text, Expanded) else text
    if len(written) > MAX_TEMPLATE_LENGTH:
        raise DialectError("limit", f"a template of more than {MAX_TEMPLATE_LENGTH} characters")
    source = preprocess(written)
    use((written.count("{{") + written.count("{%")) * TAG_COST)
    try:
        tree, bad_targets = parse(source.text)
        if bad_targets:
            message = "'set' needs a name, several names, or one member"
            raise DialectError("names", message, offset=bad_targets[0].lineno)
        return Template(source, expanded, tree)
    except RecursionError:
        raise DialectError("limit", "the template is nested too deeply") from None
    except DialectError as error:
        raise _place(error, source, expanded) from None
