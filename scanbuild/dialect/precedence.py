"""Operators, signs, conditionals and parentheses: the part of the grammar in which things wait for their right side."""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple, NoReturn

from jinja2 import nodes
from jinja2.environment import Environment
from jinja2.lexer import (
    TOKEN_ADD,
    TOKEN_COMMA,
    TOKEN_DIV,
    TOKEN_EOF,
    TOKEN_EQ,
    TOKEN_FLOORDIV,
    TOKEN_GT,
    TOKEN_GTEQ,
    TOKEN_LPAREN,
    TOKEN_LT,
    TOKEN_LTEQ,
    TOKEN_MOD,
    TOKEN_MUL,
    TOKEN_NAME,
    TOKEN_NE,
    TOKEN_POW,
    TOKEN_RPAREN,
    TOKEN_SUB,
    TOKEN_TILDE,
    Token,
)
from jinja2.parser import Parser as JinjaParser

from .errors import DialectError
from .lexer import TOKEN_SIGN
from .limits import MAX_NESTING

BRACKET, CONDITION, OTHERWISE, OR, AND, NOT, COMPARE, SUM, PRODUCT, POWER, SIGN = range(11)
"""How strongly binds what waits for its right side, weakest first."""

_NESTED = frozenset({BRACKET, CONDITION, OTHERWISE, NOT, SIGN})
"""What counts as nesting. (Operators in a row do not.)"""

_ARITHMETIC: dict[str, tuple[int, type[nodes.BinExpr]]] = {
    TOKEN_ADD: (SUM, nodes.Add),
    TOKEN_SUB: (SUM, nodes.Sub),
    TOKEN_MUL: (PRODUCT, nodes.Mul),
    TOKEN_DIV: (PRODUCT, nodes.Div),
    TOKEN_FLOORDIV: (PRODUCT, nodes.FloorDiv),
    TOKEN_MOD: (PRODUCT, nodes.Mod),
    TOKEN_POW: (POWER, nodes.Pow),
}
_COMPARISONS = frozenset({TOKEN_EQ, TOKEN_NE, TOKEN_LT, TOKEN_GT, TOKEN_LTEQ, TOKEN_GTEQ})
_LEVELS = {kind: level for kind, (level, _) in _ARITHMETIC.items()}
_LEVELS |= dict.fromkeys(_COMPARISONS, COMPARE) | {TOKEN_TILDE: SUM}
_WORDS = {"or": OR, "and": AND, "in": COMPARE}
_SIGNS = frozenset({TOKEN_SIGN, TOKEN_ADD, TOKEN_SUB})

_SIGNED: dict[str, type[nodes.UnaryExpr]] = {"-": nodes.Neg, "+": nodes.Pos}


class Waiting(NamedTuple):
    """Something that waits for the value behind it: ``build`` makes a node of that."""

    level: int
    build: Callable[[nodes.Expr], nodes.Expr] = lambda value: value
    items: list[nodes.Expr] | None = None
    """What parentheses hold so far."""


class OperatorParser(JinjaParser):
    """Parses operands with what stands between and around them."""

    def __init__(self, environment: Environment, source: str) -> None:
        self._depth = 0
        super().__init__(environment, source)

    # Errors and small steps

    def fail(self, msg: str, lineno: int | None = None, exc: Any = None) -> NoReturn:  # noqa: ARG002
        raise DialectError("syntax", msg, offset=self.stream.current.lineno if lineno is None else lineno)

    def _found(self) -> str:
        token = self.stream.current
        return "the end of the text" if token.type == TOKEN_EOF else repr(str(token.value)[:40])

    def _expect(self, kind: str, what: str) -> Token:
        if self.stream.current.type != kind:
            self.fail(f"expected {what}, found {self._found()}")
        return next(self.stream)

    def _at_word(self, word: str) -> bool:
        token = self.stream.current
        return token.type == TOKEN_NAME and token.value == word

    def _skip_comma(self) -> None:
        if self.stream.current.type == TOKEN_COMMA:
            next(self.stream)

    def _enter(self) -> None:
        self._depth += 1
        if self._depth > MAX_NESTING:
            offset = self.stream.current.lineno
            raise DialectError("limit", f"nested more than {MAX_NESTING} levels deep", offset=offset)

    # Expressions

    def parse_expression(self, with_condexpr: bool = True) -> nodes.Expr:  # noqa: ARG002
        """An expression.

        Operators and parentheses whose right side is still to come wait in a list, not in calls inside each other: how
        deep they are nested does not matter for the stack.
        """
        waiting: list[Waiting] = []
        while True:
            self._prefixes(waiting)
            value = self._infix(self._operand(self.parse_primary(), waiting), waiting)
            while value is not None:
                if not waiting:
                    return value
                value = self._bracketed(value, waiting)
                if value is not None:
                    value = self._infix(self._operand(value, waiting), waiting)

    def _prefixes(self, waiting: list[Waiting]) -> None:
        """Opening parentheses, signs, and ``not`` where it may stand (elsewhere it is a name)."""
        while True:
            token = self.stream.current
            if token.type == TOKEN_LPAREN:
                waiting.append(Waiting(BRACKET, items=[]))
            elif token.type in _SIGNS:
                waiting.append(Waiting(SIGN, partial(_SIGNED[str(token.value)], lineno=token.lineno)))
            elif self._at_word("not") and (not waiting or waiting[-1].level <= NOT):
                waiting.append(Waiting(NOT, partial(nodes.Not, lineno=token.lineno)))
            else:
                return
            self._enter()
            next(self.stream)

    def _operand(self, value: nodes.Expr, waiting: list[Waiting]) -> nodes.Expr:
        """A primary with what hangs on it, the signs before it, its filters and tests."""
        raise NotImplementedError

    def _infix(self, value: nodes.Expr, waiting: list[Waiting]) -> nodes.Expr | None:
        """None if an operator, ``if`` or ``else`` follows, and behind it another operand; else the value up to here."""
        token = self.stream.current
        level = self._level(token)
        if level is not None:
            waiting.append(Waiting(level, partial(_join, token, self._complete(value, waiting, level))))
            next(self.stream)
            if token.value == "not":
                next(self.stream)
            return None
        return self._word(value, waiting) if token.type == TOKEN_NAME else self._complete(value, waiting, CONDITION)

    def _word(self, value: nodes.Expr, waiting: list[Waiting]) -> nodes.Expr | None:
        """The same, for a name behind an operand."""
        value = self._complete(value, waiting, COMPARE)
        if self._at_word("not") and waiting and waiting[-1].level == NOT:
            waiting.pop()  # For the loader, 'not a not b' is 'not b'.
            self._depth -= 1
            return None
        value = self._complete(value, waiting, OR)
        in_condition = bool(waiting) and waiting[-1].level == CONDITION
        if self._at_word("if") and not in_condition:
            self._enter()
            waiting.append(Waiting(CONDITION, partial(_condition, value, next(self.stream).lineno)))
            return None
        if self._at_word("else") and in_condition:
            next(self.stream)
            waiting[-1] = Waiting(OTHERWISE, partial(_otherwise, waiting[-1].build(value)))
            return None
        return self._complete(value, waiting, CONDITION)

    def _complete(self, value: nodes.Expr, waiting: list[Waiting], weakest: int) -> nodes.Expr:
        """The value as the right side of all that waits for it and binds at least as tightly as ``weakest``."""
        while waiting and waiting[-1].level >= weakest:
            last = waiting.pop()
            value = last.build(value)
            if last.level in _NESTED:
                self._depth -= 1
        return value

    def _bracketed(self, value: nodes.Expr, waiting: list[Waiting]) -> nodes.Expr | None:
        """What the parentheses hold that end behind ``value``; None if a comma and another member follow."""
        items = waiting[-1].items
        assert items is not None
        items.append(value)
        if self.stream.current.type == TOKEN_COMMA:
            next(self.stream)
            return None
        self._expect(TOKEN_RPAREN, "')'")
        waiting.pop()
        self._depth -= 1
        return value if len(items) == 1 else nodes.Tuple(items, "load", lineno=items[0].lineno)

    def _level(self, token: Token) -> int | None:
        if token.type != TOKEN_NAME:
            return _LEVELS.get(token.type)
        if token.value == "not":
            following = self.stream.look()
            return COMPARE if following.type == TOKEN_NAME and following.value == "in" else None
        return _WORDS.get(token.value)


def _join(token: Token, left: nodes.Expr, right: nodes.Expr) -> nodes.Expr:
    """The node of a binary operator."""
    offset = token.lineno
    kind = token.type
    if kind in _ARITHMETIC:
        return _ARITHMETIC[kind][1](left, right, lineno=offset)
    if kind == TOKEN_TILDE:
        return nodes.Concat([left, right], lineno=offset)
    if kind in _COMPARISONS:
        return nodes.Compare(left, [nodes.Operand(kind, right)], lineno=offset)
    if token.value in ("in", "not"):
        operator = "in" if token.value == "in" else "notin"
        return nodes.Compare(left, [nodes.Operand(operator, right)], lineno=offset)
    return (nodes.And if token.value == "and" else nodes.Or)(left, right, lineno=offset)


def _condition(value: nodes.Expr, offset: int, test: nodes.Expr) -> nodes.CondExpr:
    """``value if test``"""
    return nodes.CondExpr(test, value, None, lineno=offset)


def _otherwise(chosen: nodes.Expr, other: nodes.Expr) -> nodes.CondExpr:
    """``value if test else other``, ``chosen`` being all but the last."""
    assert isinstance(chosen, nodes.CondExpr)
    return nodes.CondExpr(chosen.test, chosen.expr1, other, lineno=chosen.lineno)
