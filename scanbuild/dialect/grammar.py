"""The loader's grammar of expressions, as a Jinja2 parser that produces Jinja2 nodes.

Where the trees differ in meaning from Jinja2's:

* ``CondExpr`` without ``expr2`` is undefined when its test fails; as the iterable of a ``For`` it is a filter;
* ``Filter.args`` is None for a filter without parentheses, which is not the same as one with empty ones;
* ``Filter.name`` is None where something else than a name stands for it: that fails when it is evaluated;
* ``Getattr.attr`` is a number for ``.0``.
"""

from collections.abc import Callable

from jinja2 import nodes
from jinja2.lexer import (
    TOKEN_ASSIGN,
    TOKEN_COLON,
    TOKEN_COMMA,
    TOKEN_DOT,
    TOKEN_FLOAT,
    TOKEN_INTEGER,
    TOKEN_LBRACE,
    TOKEN_LBRACKET,
    TOKEN_LPAREN,
    TOKEN_MUL,
    TOKEN_NAME,
    TOKEN_PIPE,
    TOKEN_POW,
    TOKEN_RBRACE,
    TOKEN_RBRACKET,
    TOKEN_RPAREN,
    TOKEN_STRING,
)

from .precedence import SIGN, OperatorParser, Waiting
from .text import well_formed

_POSTFIXES = frozenset({TOKEN_DOT, TOKEN_LBRACKET, TOKEN_LPAREN})

Call = tuple[list[nodes.Expr], list[nodes.Keyword], nodes.Expr | None, nodes.Expr | None]


class ExpressionParser(OperatorParser):
    """The expression half of the parser."""

    def _operand(self, value: nodes.Expr, waiting: list[Waiting]) -> nodes.Expr:
        """What hangs on a primary, then the signs before it, then its filters, then its tests."""
        if self.stream.current.type in _POSTFIXES:
            value = self.parse_postfix(value)
        value = self._complete(value, waiting, SIGN)
        while self.stream.current.type == TOKEN_PIPE:
            offset = next(self.stream).lineno
            value = self._filter(value, offset)
        while self._at_word("is"):
            value = self._test(value)
        return value

    def _test(self, value: nodes.Expr) -> nodes.Expr:
        offset = next(self.stream).lineno
        negated = self._at_word("not")
        if negated:
            next(self.stream)
        test = self.parse_primary()
        if not isinstance(test, nodes.Name):
            self.fail("expected the name of a test behind 'is'", offset)
        node = nodes.Test(value, test.name, [], [], None, None, lineno=offset)
        return nodes.Not(node, lineno=offset) if negated else node

    def parse_primary(self, with_namespace: bool = False) -> nodes.Expr:  # noqa: ARG002, RET503
        """A literal, a name, or an expression in brackets."""
        token = self.stream.current
        kind = token.type
        if kind == TOKEN_NAME:
            next(self.stream)
            return nodes.Name(token.value, "load", lineno=token.lineno)
        if kind in (TOKEN_INTEGER, TOKEN_FLOAT):
            next(self.stream)
            return nodes.Const(token.value, lineno=token.lineno)
        if kind == TOKEN_STRING:
            return self._strings()
        if kind == TOKEN_LPAREN:
            next(self.stream)
            node = self.parse_expression()
            if self.stream.current.type == TOKEN_COMMA:
                node = self._tuple(node, self.parse_expression)
            self._expect(TOKEN_RPAREN, "')'")
            return node
        if kind == TOKEN_LBRACKET:
            return self.parse_list()
        if kind == TOKEN_LBRACE:
            return self.parse_dict()
        self.fail(f"expected a value, found {self._found()}")

    def _strings(self) -> nodes.Const:
        offset = self.stream.current.lineno
        pieces = []
        while self.stream.current.type == TOKEN_STRING:
            pieces.append(next(self.stream).value)
        return nodes.Const(well_formed("".join(pieces)), lineno=offset)

    def _tuple(self, first: nodes.Expr, parse: Callable[[], nodes.Expr]) -> nodes.Tuple:
        """The tuple that ``first`` begins; the current token is the comma behind it."""
        items = [first]
        while self.stream.current.type == TOKEN_COMMA:
            next(self.stream)
            items.append(parse())
        return nodes.Tuple(items, "load", lineno=first.lineno)

    def parse_list(self) -> nodes.List:
        """``[a, b]``; commas may be missing."""
        offset = next(self.stream).lineno
        items = []
        while self.stream.current.type != TOKEN_RBRACKET:
            items.append(self.parse_expression())
            self._skip_comma()
        next(self.stream)
        return nodes.List(items, lineno=offset)

    def parse_dict(self) -> nodes.Dict:
        """``{k: v}``; commas may be missing."""
        offset = next(self.stream).lineno
        items = []
        while self.stream.current.type != TOKEN_RBRACE:
            key = self.parse_expression()
            self._expect(TOKEN_COLON, "':' between a key and its value")
            items.append(nodes.Pair(key, self.parse_expression(), lineno=key.lineno))
            self._skip_comma()
        next(self.stream)
        return nodes.Dict(items, lineno=offset)

    def parse_postfix(self, node: nodes.Expr) -> nodes.Expr:
        """Members, indices, slices and calls behind ``node``."""
        while True:
            kind = self.stream.current.type
            if kind in (TOKEN_DOT, TOKEN_LBRACKET):
                node = self.parse_subscript(node)
            elif kind == TOKEN_LPAREN:
                offset = self.stream.current.lineno
                node = nodes.Call(node, *self.parse_call_args(), lineno=offset)
            else:
                return node

    def parse_subscript(self, node: nodes.Expr) -> nodes.Getattr | nodes.Getitem:  # noqa: RET503
        """``.name``, ``.0`` or ``[...]``."""
        token = next(self.stream)
        if token.type == TOKEN_LBRACKET:
            return nodes.Getitem(node, self._index(), "load", lineno=token.lineno)
        member = self.parse_primary()
        if isinstance(member, nodes.Name):
            return nodes.Getattr(node, member.name, "load", lineno=token.lineno)
        if isinstance(member, nodes.Const) and not isinstance(member.value, str) and type(member.value) is not float:
            return nodes.Getattr(node, member.value, "load", lineno=token.lineno)
        self.fail("expected a name or a whole number behind '.'", token.lineno)

    def _index(self) -> nodes.Expr:
        """What stands in brackets: an index, or a slice."""
        parts: list[nodes.Expr | None] = []
        offset = self.stream.current.lineno
        is_slice = False
        while self.stream.current.type != TOKEN_RBRACKET:
            if self.stream.current.type == TOKEN_COLON:
                parts.append(None)
            else:
                parts.append(self.parse_expression())
            if self.stream.current.type == TOKEN_COLON:
                is_slice = True
                next(self.stream)
        next(self.stream)
        if not is_slice and parts:
            return parts[0]  # type: ignore[return-value]
        if not 1 <= len(parts) <= 3:
            self.fail("expected one index, or a slice of up to three parts", offset)
        start, stop, step = (*parts, None, None, None)[:3]
        return nodes.Slice(start, stop, step, lineno=offset)

    def parse_call_args(self) -> Call:
        """``(a, *b, c=d, **e)``."""
        self._expect(TOKEN_LPAREN, "'('")
        args: list[nodes.Expr] = []
        named: list[nodes.Keyword] = []
        star: nodes.Expr | None = None
        while self.stream.current.type != TOKEN_RPAREN:
            token = self.stream.current
            if token.type == TOKEN_POW:
                next(self.stream)
                double_star = self.parse_expression()
                self._skip_comma()
                self._expect(TOKEN_RPAREN, "')': nothing may follow '**'")
                return args, named, star, double_star
            if token.type == TOKEN_MUL:
                if star is not None:
                    self.fail("only one '*' is allowed in a call")
                next(self.stream)
                star = self.parse_expression()
            else:
                value = self.parse_expression()
                if self.stream.current.type == TOKEN_ASSIGN:
                    named.append(self._keyword(value))
                elif named or star is not None:
                    self.fail("positional arguments come before '*' and named ones", token.lineno)
                else:
                    args.append(value)
            self._skip_comma()
        next(self.stream)
        return args, named, star, None

    def _keyword(self, name: nodes.Expr) -> nodes.Keyword:
        if not isinstance(name, nodes.Name):
            self.fail("expected a name before '='", name.lineno)
        next(self.stream)
        return nodes.Keyword(name.name, self.parse_expression(), lineno=name.lineno)

    def _filter(self, node: nodes.Expr | None, offset: int) -> nodes.Filter:
        """The filter at the current token, applied to ``node``."""
        name = self.parse_primary()
        if not isinstance(name, nodes.Name):
            if node is None:
                return nodes.Filter(node, None, [name], [], None, None, lineno=offset)
            self.fail("expected the name of a filter behind '|'", offset)
        if self.stream.current.type != TOKEN_LPAREN:
            return nodes.Filter(node, name.name, None, [], None, None, lineno=offset)
        call = self.parse_call_args()
        if self.stream.current.type in _POSTFIXES:
            rest = self.parse_postfix(nodes.Call(nodes.Const(None), *call, lineno=offset))
            return nodes.Filter(node, None, [rest], [], None, None, lineno=offset)
        return nodes.Filter(node, name.name, *call, lineno=offset)
