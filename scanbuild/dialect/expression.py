"""Expressions: parsed once, evaluated as often as needed."""

from collections.abc import Mapping
from functools import lru_cache
from itertools import chain

from jinja2 import nodes

from .compiler import Compiler
from .errors import DialectError, nearest
from .functions import CONSTANTS, EXPRESSION_BUILTINS, NAMESPACE
from .limits import EXPRESSION_CACHE, MAX_CACHED_LENGTH, MAX_EXPRESSION_LENGTH, PARSE_COST
from .names import collect
from .parser import parse
from .scope import Root
from .source import Source, preprocess
from .values import HOLE, UNDEFINED, Plain, plain
from .work import use

_OPENING = "{{ "
_FIXED = frozenset(CONSTANTS) | {"namespace"}


class Expression:
    """A parsed expression.

    ``names`` are the free names that must exist when it is evaluated, helpers among them; ``mentions`` has in addition
    those that are only asked for with ``is defined`` or ``is undefined``.
    """

    __slots__ = ("_offsets", "_required", "_run", "_source", "mentions", "names", "text")

    def __init__(self, text: str, source: Source, tree: nodes.Template) -> None:
        found = collect(tree)
        first = tree.body[0]
        assert isinstance(first, nodes.Output)
        self.text = text
        self.mentions = found.mentioned
        self.names = found.required - frozenset(CONSTANTS)
        self._required = self.names - frozenset(EXPRESSION_BUILTINS)
        self._offsets = found.first_offset
        self._source = source
        self._run = Compiler(found.direct).expression(first.nodes[0])

    def __repr__(self) -> str:
        return f"<Expression {self.text!r}>"

    def evaluate(self, scope: Mapping[str, Plain]) -> Plain:
        """The plain value in a scope of plain values.

        :raises DialectError: kind ``name`` for a name that does not exist, wherever it stands; ``value``; ``limit``.
        """
        try:
            for name in self._required:
                if name not in scope or name == "namespace":
                    raise self._unknown(name, scope)
            if not _FIXED.isdisjoint(self.mentions):
                self._check_fixed(scope)
            root = Root(scope, EXPRESSION_BUILTINS, NAMESPACE)
            try:
                value = self._run(root)
                result = UNDEFINED if value is HOLE else plain(value, root.budget)
            finally:
                root.release()
            return result
        except RecursionError:
            raise DialectError("limit", "the expression or one of its values is nested too deeply") from None
        except DialectError as error:
            raise _place(error, self._source) from None

    def _unknown(self, name: str, scope: Mapping[str, Plain]) -> DialectError:
        near = nearest(name, chain(scope, EXPRESSION_BUILTINS))
        hint = f"; did you mean {near!r}?" if near else ""
        return DialectError("name", f"unknown name {name!r}{hint}", offset=self._offsets[name])

    def _check_fixed(self, scope: Mapping[str, Plain]) -> None:
        for name in sorted(_FIXED & self.mentions):
            if name in scope:
                message = f"{name!r} is a name of the language: nothing else can be called so"
                raise DialectError("name", message, offset=self._offsets.get(name, 0))


def _place(error: DialectError, source: Source) -> DialectError:
    """Fill in line and column, the opening braces not counted."""
    if error.offset is not None and error.line is None:
        line, column = source.place(error.offset)
        error.line, error.column = line, max(column - len(_OPENING), 1) if line == 1 else column
    return error


@lru_cache(maxsize=EXPRESSION_CACHE)
def _parse(text: str) -> Expression | DialectError:
    source = preprocess(f"{_OPENING}{text} }}}}")
    try:
        tree, bad_targets = parse(source.text)
        if bad_targets:
            raise DialectError("syntax", "nothing can be assigned to this", offset=bad_targets[0].lineno)
        return Expression(text, source, tree)
    except RecursionError:
        raise DialectError("limit", "the expression is nested too deeply") from None
    except DialectError as error:
        if error.kind == "limit":
            # Not kept: with more of the stack left, the same text may pass.
            use(len(text) * PARSE_COST)
            raise _place(error, source) from None
        # The errors of texts that are kept would keep the parser alive by their tracebacks.
        return _place(error, source).with_traceback(None)


def parse_expression(text: str) -> Expression:
    """The expression of a text. Parsed expressions are kept.

    :raises DialectError: kind ``syntax``; ``limit`` if it is too long or nested too deeply.
    """
    if len(text) > MAX_EXPRESSION_LENGTH:
        raise DialectError("limit", f"an expression of more than {MAX_EXPRESSION_LENGTH} characters")
    if not text.strip():
        raise DialectError("syntax", "the expression is empty")
    if len(text) <= MAX_CACHED_LENGTH:
        parsed = _parse(text)
    else:
        use(len(text) * PARSE_COST)
        parsed = _parse.__wrapped__(text)
    if isinstance(parsed, DialectError):
        error = DialectError(parsed.kind, parsed.message, offset=parsed.offset)
        error.line, error.column = parsed.line, parsed.column
        raise error
    return parsed
