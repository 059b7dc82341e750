"""Turns expression nodes into closures.

A tree is visited once; each node becomes a function from a scope to a value. What a node means is in
:mod:`~scanbuild.dialect.operators`, :mod:`~scanbuild.dialect.filters` and their neighbours; here is only the order in
which things are evaluated.
"""

from collections.abc import Callable
from typing import Any

from jinja2 import nodes

from . import operators
from .access import item, member, slice_of
from .arguments import Arguments
from .errors import DialectError, value_error
from .filtering import Apply, bare_filter, is_bare, no_filter, selecting_filter
from .filters import LITERAL_ARGUMENTS, apply_called
from .operators import describe, raw_truthy, truthy
from .predicates import apply_test
from .scope import MISSING, Scope
from .values import HOLE, UNDEFINED, KeywordArguments, Native, Value

Run = Callable[[Scope], Value]
Given = Callable[[Scope], tuple[list[Value], dict[str, Value]]]

_BINARY: dict[type[nodes.Expr], operators.Binary] = {
    nodes.Add: operators.add,
    nodes.Sub: operators.subtract,
    nodes.Mul: operators.multiply,
    nodes.Div: operators.divide,
    nodes.FloorDiv: operators.floor_divide,
    nodes.Mod: operators.remainder,
    nodes.Pow: operators.power,
}
_COMPARE: dict[str, operators.Binary] = {
    "eq": operators.equal,
    "ne": operators.unequal,
    "lt": operators.less,
    "gt": operators.greater,
    "lteq": operators.at_most,
    "gteq": operators.at_least,
    "in": operators.contained,
    "notin": operators.not_contained,
}
_UNARY: dict[type[nodes.Expr], Callable[[Value], Value]] = {
    nodes.Neg: operators.negate,
    nodes.Pos: operators.posit,
}

Link = tuple[operators.Binary | bool, Run, int]
"""One operator of a chain: the operation (True for ``or``, False for ``and``), its right operand, its place."""


class Compiler:
    """Compiles expressions. ``direct`` are the names read only as ``name.member``: their other members stay as they
    are."""

    def __init__(self, direct: frozenset[str]) -> None:
        self.direct = direct

    def expression(self, node: nodes.Node) -> Run:
        """The closure of a node."""
        visit: Callable[[Any], Run] = getattr(self, f"_{type(node).__name__.lower()}", self._chain)
        return visit(node)

    def _optional(self, node: nodes.Expr | None) -> Run:
        return _undefined if node is None else self.expression(node)

    def _const(self, node: nodes.Const) -> Run:
        value = node.value
        return lambda _scope: value

    def _name(self, node: nodes.Name) -> Run:
        name = node.name

        def run(scope: Scope) -> Value:
            value = scope.variables.get(name, HOLE)
            return scope.lookup(name) if value is HOLE else value

        return run

    def _list(self, node: nodes.List) -> Run:
        items = [self.expression(child) for child in node.items]
        return lambda scope: [run(scope) for run in items]

    def _tuple(self, node: nodes.Tuple) -> Run:
        items = [self.expression(child) for child in node.items]
        # One call a time: two equal tuples must not be one object.
        return lambda scope: tuple([run(scope) for run in items])

    def _dict(self, node: nodes.Dict) -> Run:
        pairs = [(self.expression(pair.key), self.expression(pair.value), pair.lineno) for pair in node.items]

        def run(scope: Scope) -> Value:
            members: dict[str, Value] = {}
            for run_key, run_value, offset in pairs:
                key = run_key(scope)
                if type(key) is not str:
                    raise placed(value_error(f"a key must be a string, not {describe(key)}"), offset)
                members[key] = run_value(scope)
            return members

        return run

    def _condexpr(self, node: nodes.CondExpr) -> Run:
        test, chosen, other = self.expression(node.test), self.expression(node.expr1), self._optional(node.expr2)
        offset = node.lineno

        def run(scope: Scope) -> Value:
            value = test(scope)
            return (chosen if value is True or _true(value, offset) else other)(scope)

        return run

    def _not(self, node: nodes.Not) -> Run:
        operand, offset = self.expression(node.node), node.lineno

        def run(scope: Scope) -> Value:
            try:
                return not raw_truthy(operand(scope))
            except DialectError as error:
                raise placed(error, offset) from None

        return run

    def _neg(self, node: nodes.UnaryExpr) -> Run:
        operand, apply, offset = self.expression(node.node), _UNARY[type(node)], node.lineno

        def run(scope: Scope) -> Value:
            try:
                return apply(operand(scope))
            except DialectError as error:
                raise placed(error, offset) from None

        return run

    _pos = _neg

    def _chain(self, node: nodes.Expr) -> Run:
        """Binary operators. A row of them is one loop, so that its length does not matter for the stack."""
        links: list[Link] = []
        current: nodes.Expr | None = node
        while current is not None:
            first = current
            current = self._link(first, links)
        links.reverse()
        start = self.expression(first)
        if len(links) == 1 and not isinstance(links[0][0], bool):
            return _single(start, *links[0])  # type: ignore[arg-type]

        def run(scope: Scope) -> Value:
            value = start(scope)
            budget = scope.budget
            for apply, right, offset in links:
                if isinstance(apply, bool):
                    value = value if _true(value, offset) is apply else right(scope)
                    continue
                try:
                    value = apply(value, right(scope), budget)
                except DialectError as error:
                    raise placed(error, offset) from None
            return value

        return run

    def _link(self, node: nodes.Expr, links: list[Link]) -> nodes.Expr | None:
        """Add the operator of a node to ``links``: its left operand, or None if the node is no operator."""
        if isinstance(node, (nodes.And, nodes.Or)):
            links.append((isinstance(node, nodes.Or), self.expression(node.right), node.lineno))
            return node.left
        if isinstance(node, nodes.BinExpr):
            links.append((_BINARY[type(node)], self.expression(node.right), node.lineno))
            return node.left
        if isinstance(node, nodes.Concat):
            links.append((operators.concatenate, self.expression(node.nodes[1]), node.lineno))
            return node.nodes[0]
        if isinstance(node, nodes.Compare):
            operand = node.ops[0]
            links.append((_COMPARE[operand.op], self.expression(operand.expr), node.lineno))
            return node.expr
        return None

    def _test(self, node: nodes.Test) -> Run:
        operand, name, offset = self.expression(node.node), node.name, node.lineno

        def run(scope: Scope) -> Value:
            value = operand(scope)
            try:
                scope.budget.charge(value)
                return apply_test(name, value)
            except DialectError as error:
                raise placed(error, offset) from None

        return run

    def _getattr(self, node: nodes.Getattr) -> Run:
        holder, name, offset = self.expression(node.node), node.attr, node.lineno
        if isinstance(node.node, nodes.Name) and node.node.name in self.direct:
            return _direct_member(node.node.name, name, offset)

        def run(scope: Scope) -> Value:
            value = holder(scope)
            try:
                if type(value) is str:
                    scope.budget.charge(value)
                return member(value, name) if type(name) is str else item(value, name)
            except DialectError as error:
                raise placed(error, offset) from None

        outer = node.node
        if isinstance(outer, nodes.Getattr) and isinstance(outer.node, nodes.Name) and outer.node.name in self.direct:
            return _inner_member(outer.node.name, outer.attr, name, run)
        return run

    def _getitem(self, node: nodes.Getitem) -> Run:
        if isinstance(node.arg, nodes.Slice):
            return self._slice(node, node.arg)
        holder, index, offset = self.expression(node.node), self.expression(node.arg), node.lineno
        if isinstance(node.node, nodes.Name) and node.node.name in self.direct:
            return _direct_member(node.node.name, node.arg.value, offset)  # type: ignore[attr-defined]

        def run(scope: Scope) -> Value:
            value = holder(scope)
            place = index(scope)
            try:
                if type(value) is str:
                    scope.budget.charge(value)
                return item(value, place)
            except DialectError as error:
                raise placed(error, offset) from None

        return run

    def _slice(self, node: nodes.Getitem, bounds: nodes.Slice) -> Run:
        holder, offset = self.expression(node.node), node.lineno
        start, stop, step = self._optional(bounds.start), self._optional(bounds.stop), self._optional(bounds.step)

        def run(scope: Scope) -> Value:
            value = holder(scope)
            try:
                return slice_of(value, lambda: (start(scope), stop(scope), step(scope)), scope.budget)
            except DialectError as error:
                raise placed(error, offset) from None

        return run

    # Calls and filters

    def given(self, node: nodes.Call | nodes.Filter) -> Given:
        """The arguments of a call: positional ones, then named ones."""
        positional = [self.expression(child) for child in node.args]
        star = None if node.dyn_args is None else self.expression(node.dyn_args)
        named = [(str(keyword.key), self.expression(keyword.value)) for keyword in node.kwargs]
        double_star = None if node.dyn_kwargs is None else self.expression(node.dyn_kwargs)
        if star is None and not named and double_star is None:
            return lambda scope: ([run(scope) for run in positional], {})

        def run(scope: Scope) -> tuple[list[Value], dict[str, Value]]:
            args = [run(scope) for run in positional]
            if star is not None:
                values = _unpack(star(scope))
                scope.budget.charge(values)
                args.extend(values)
            keywords: dict[str, Value] = {}
            for key, run_value in named:
                _add_keyword(keywords, key, run_value(scope))
            if double_star is not None:
                members = double_star(scope)
                if not isinstance(members, dict):
                    raise value_error(f"'**' needs an object, not {describe(members)}")
                for key, value in members.items():
                    _add_keyword(keywords, key, value)
            return args, keywords

        return run

    def _call(self, node: nodes.Call) -> Run:
        given, callee, offset = self.given(node), self.expression(node.node), node.lineno

        def run(scope: Scope) -> Value:
            try:
                args, keywords = given(scope)
                if keywords:
                    args.append(KeywordArguments(keywords))
                return call(callee(scope), args, scope)
            except DialectError as error:
                raise placed(error, offset) from None

        return run

    def _filter(self, node: nodes.Filter) -> Run:
        operand, apply, offset = self.expression(node.node), self.filter(node), node.lineno  # type: ignore[arg-type]

        def run(scope: Scope) -> Value:
            value = operand(scope)
            try:
                return apply(value, scope)
            except DialectError as error:
                raise placed(error, offset) from None

        return run

    def filter(self, node: nodes.Filter) -> Apply:
        """A filter as a function of its operand."""
        name: str | None = node.name
        if name is None:
            return no_filter
        if is_bare(node):
            return bare_filter(name)
        if name in LITERAL_ARGUMENTS:
            return selecting_filter(node)
        given = self.given(node)

        def apply(value: Value, scope: Scope) -> Value:
            scope.budget.charge(value)
            return apply_called(name, value, Arguments(*given(scope)), scope.budget)

        return apply


def _single(start: Run, apply: operators.Binary, right: Run, offset: int) -> Run:
    def run(scope: Scope) -> Value:
        value = start(scope)
        try:
            return apply(value, right(scope), scope.budget)
        except DialectError as error:
            raise placed(error, offset) from None

    return run


def _undefined(_scope: Scope) -> Value:
    return UNDEFINED


def _true(value: Value, offset: int) -> bool:
    try:
        return truthy(value)
    except DialectError as error:
        raise placed(error, offset) from None


def placed(error: DialectError, offset: int) -> DialectError:
    """The error, at the innermost place known."""
    if error.offset is None:
        error.offset = offset
    return error


def _direct_member(name: str, attribute: str, offset: int) -> Run:
    """``name.attribute`` of a context object."""

    def run(scope: Scope) -> Value:
        value = scope.root.member(name, attribute)
        if value is not MISSING:
            return value
        try:
            return member(scope.lookup(name), attribute)
        except DialectError as error:
            raise placed(error, offset) from None

    return run


def _inner_member(name: str, outer: str, inner: str, otherwise: Run) -> Run:
    """``name.outer.inner`` of a context object."""

    def run(scope: Scope) -> Value:
        value = scope.root.scalar(name, outer, inner)
        return otherwise(scope) if value is MISSING else value

    return run


def _unpack(values: Value) -> list[Value]:
    if not isinstance(values, (list, tuple)):
        raise value_error(f"'*' needs a list, not {describe(values)}")
    return list(values)


def _add_keyword(keywords: dict[str, Value], key: str, value: Value) -> None:
    if key in keywords:
        raise value_error(f"the argument {key!r} is given twice")
    keywords[key] = value


def call(function: Value, args: list[Value], scope: Scope) -> Value:
    """Call a function value."""
    if type(function) is not Native:
        raise value_error(f"{describe(function)} cannot be called")
    result = function.call(args, scope)
    if type(result) in (str, list) and len(result) > 1024:
        scope.budget.spend(len(result))
    return result
