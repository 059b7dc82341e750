"""The loader's grammar of statements, and :func:`parse`."""

from collections.abc import Iterable
from typing import NoReturn

from jinja2 import nodes
from jinja2.environment import Environment
from jinja2.lexer import (
    TOKEN_ASSIGN,
    TOKEN_BLOCK_END,
    TOKEN_COMMA,
    TOKEN_DATA,
    TOKEN_LPAREN,
    TOKEN_NAME,
    TOKEN_RPAREN,
    TOKEN_VARIABLE_BEGIN,
    TOKEN_VARIABLE_END,
    TokenStream,
)

from .errors import DialectError
from .grammar import ExpressionParser
from .lexer import tokenize

_STATEMENTS = ("if", "for", "set", "macro", "call", "filter", "break", "continue")

Parameters = tuple[list[nodes.Name], list[nodes.Expr]]


class Parser(ExpressionParser):
    """Parses one pre-processed text."""

    def __init__(self, environment: Environment, source: str) -> None:
        self.bad_targets: list[nodes.Expr] = []
        """Targets of ``set`` that nothing can be assigned to. The loader reports them after parsing."""
        super().__init__(environment, source)

    def parse(self) -> nodes.Template:
        """The whole text."""
        return nodes.Template(self._body(()), lineno=0)

    def _body(self, ends: tuple[str, ...]) -> list[nodes.Node]:
        """Nodes up to a statement named in ``ends``, whose name becomes the current token; else to the text's end."""
        self._enter()
        body: list[nodes.Node] = []
        while self.stream.current.type != "eof":
            token = self.stream.current
            if token.type == TOKEN_DATA:
                next(self.stream)
                body.append(nodes.Output([nodes.TemplateData(token.value, lineno=token.lineno)], lineno=token.lineno))
            elif token.type == TOKEN_VARIABLE_BEGIN:
                next(self.stream)
                body.append(nodes.Output([self.parse_expression()], lineno=token.lineno))
                self._expect(TOKEN_VARIABLE_END, "'}}'")
            else:
                next(self.stream)
                if self.stream.current.type == TOKEN_NAME and self.stream.current.value in ends:
                    break
                body.append(self._statement())
        else:
            if ends:
                self.fail(f"expected '{{% {ends[-1]} %}}' before the end of the text")
        self._depth -= 1
        return body

    def _statement(self) -> nodes.Node:
        """The statement whose name is the current token."""
        token = self.stream.current
        if token.type != TOKEN_NAME or token.value not in _STATEMENTS:
            self._unknown(token.value)
        next(self.stream)
        node: nodes.Node = getattr(self, f"_parse_{token.value}")(token.lineno)
        return node

    def _unknown(self, found: object) -> NoReturn:
        self.fail(f"unknown statement {str(found)[:40]!r}; the loader knows {', '.join(_STATEMENTS)}")

    def _end_of_tag(self) -> None:
        self._expect(TOKEN_BLOCK_END, "'%}'")

    def _block(self, *ends: str) -> list[nodes.Node]:
        """A tag's end and the body behind it. The name of its end is the current token then."""
        self._end_of_tag()
        return self._body(ends)

    def _finish(self) -> None:
        """Pass an ``end...`` name and its tag's end."""
        next(self.stream)
        self._end_of_tag()

    def _parse_if(self, offset: int) -> nodes.If:
        first = node = nodes.If(self.parse_expression(), self._block("elif", "else", "endif"), [], [], lineno=offset)
        while self._at_word("elif"):
            offset = next(self.stream).lineno
            node = nodes.If(self.parse_expression(), self._block("elif", "else", "endif"), [], [], lineno=offset)
            first.elif_.append(node)
        if self._at_word("else"):
            next(self.stream)
            first.else_ = self._block("endif")
        self._finish()
        return first

    def _parse_for(self, offset: int) -> nodes.For:
        target = self.parse_primary()
        if self.stream.current.type == TOKEN_COMMA:
            target = self._tuple(target, self.parse_primary)
        if not isinstance(target, (nodes.Name, nodes.Tuple)):
            self.fail("expected one name or several behind 'for'", target.lineno)
        if not self._at_word("in"):
            self.fail(f"expected 'in' behind the loop variable, found {self._found()}")
        next(self.stream)
        iterable = self.parse_expression()
        chosen, test = _selection(iterable)
        body = self._block("else", "endfor")
        otherwise: list[nodes.Node] = []
        if self._at_word("else"):
            next(self.stream)
            otherwise = self._block("endfor")
        self._finish()
        target.set_ctx("store")
        return nodes.For(target, chosen, body, otherwise, test, False, lineno=offset)

    def _parse_set(self, offset: int) -> nodes.Assign | nodes.AssignBlock:
        target = self._set_target()
        if self.stream.current.type == TOKEN_ASSIGN:
            next(self.stream)
            value = self.parse_expression()
            if self.stream.current.type == TOKEN_COMMA:
                value = self._tuple(value, self.parse_expression)
            self._end_of_tag()
            return nodes.Assign(target, value, lineno=offset)
        body = self._block("endset")
        self._finish()
        return nodes.AssignBlock(target, None, body, lineno=offset)

    def _set_target(self) -> nodes.Expr:
        target = self.parse_expression()
        if self.stream.current.type == TOKEN_COMMA:
            target = self._tuple(target, self.parse_expression)
        if not isinstance(target, (nodes.Getattr, nodes.Getitem)):
            self._mark_target(target)
        return target

    def _mark_target(self, target: nodes.Expr) -> None:
        """Names, and tuples of them, are to be stored. (That tuples do not nest shows when one is assigned.)"""
        if isinstance(target, nodes.Name):
            target.set_ctx("store")
        elif isinstance(target, nodes.Tuple):
            for item in target.items:
                self._mark_target(item)
        else:
            self.bad_targets.append(target)

    def _parse_macro(self, offset: int) -> nodes.Macro:
        name = self.parse_primary()
        if not isinstance(name, nodes.Name):
            self.fail("expected a name behind 'macro'", name.lineno)
        args, defaults = self._parameters()
        body = self._block("endmacro")
        self._finish()
        return nodes.Macro(name.name, args, defaults, body, lineno=offset)

    def _parameters(self) -> Parameters:
        """``(a, b=1)``: the names, and the defaults of the last ones."""
        self._expect(TOKEN_LPAREN, "'('")
        args: list[nodes.Name] = []
        seen: set[str] = set()
        defaults: list[nodes.Expr] = []
        while self.stream.current.type != TOKEN_RPAREN:
            name = self.parse_expression()
            if not isinstance(name, nodes.Name):
                self.fail("expected the name of a parameter", name.lineno)
            if name.name in seen:
                self.fail(f"the parameter {name.name!r} is there twice", name.lineno)
            if self.stream.current.type == TOKEN_ASSIGN:
                next(self.stream)
                defaults.append(self.parse_expression())
            elif defaults:
                self.fail(f"the parameter {name.name!r} has no default but follows one that has", name.lineno)
            name.set_ctx("param")
            args.append(name)
            seen.add(name.name)
            self._skip_comma()
        next(self.stream)
        return args, defaults

    def _parse_call(self, offset: int) -> nodes.CallBlock:
        args: list[nodes.Name] = []
        defaults: list[nodes.Expr] = []
        if self.stream.current.type == TOKEN_LPAREN:
            args, defaults = self._parameters()
        callee = self.parse_primary()
        if not isinstance(callee, nodes.Name):
            self.fail("expected the name of a macro behind 'call'", callee.lineno)
        call = nodes.Call(callee, *self.parse_call_args(), lineno=callee.lineno)
        body = self._block("endcall")
        self._finish()
        return nodes.CallBlock(call, args, defaults, body, lineno=offset)

    def _parse_filter(self, offset: int) -> nodes.FilterBlock:
        applied = self._filter(None, offset)
        body = self._block("endfilter")
        self._finish()
        return nodes.FilterBlock(body, applied, lineno=offset)

    def _parse_break(self, offset: int) -> nodes.Break:
        self._end_of_tag()
        return nodes.Break(lineno=offset)

    def _parse_continue(self, offset: int) -> nodes.Continue:
        self._end_of_tag()
        return nodes.Continue(lineno=offset)


def _selection(iterable: nodes.Expr) -> tuple[nodes.Expr, nodes.Expr | None]:
    """What a loop goes through, and its condition."""
    if isinstance(iterable, nodes.CondExpr) and iterable.expr2 is None:
        return iterable.expr1, iterable.test
    return iterable, None


class _Dialect(Environment):
    """Gives Jinja2's parser our tokens."""

    def _tokenize(
        self,
        source: str,
        name: str | None,
        filename: str | None = None,
        state: str | None = None,  # noqa: ARG002
    ) -> TokenStream:
        return TokenStream(tokenize(source), name, filename)

    def iter_extensions(self) -> Iterable[NoReturn]:  # type: ignore[override]
        return ()


_DIALECT = _Dialect()


def parse(text: str) -> tuple[nodes.Template, list[nodes.Expr]]:
    """The tree of a pre-processed text, and the ``set`` targets in it that cannot be assigned to.

    :raises DialectError: kind ``syntax``, or ``limit`` where the text is nested too deeply.
    """
    try:
        parser = Parser(_DIALECT, text)
        return parser.parse(), parser.bad_targets
    except RecursionError:
        raise DialectError("limit", "nested too deeply") from None
