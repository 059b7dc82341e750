"""Expressions written from their trees: the way back from the parser, for people to read."""

from collections.abc import Iterable
from typing import Final

from jinja2 import nodes

from .filtering import is_bare
from .precedence import AND, BRACKET, COMPARE, CONDITION, NOT, OR, POWER, PRODUCT, SIGN, SUM

_TEST, _SIGNED, _FILTER, _ATOM = range(SIGN, SIGN + 4)
"""What hangs on an operand: signs first, then filters, then tests. Members and calls bind most tightly."""

_OPERATORS: Final[dict[type[nodes.Node], tuple[int, str]]] = {
    nodes.Or: (OR, "or"),
    nodes.And: (AND, "and"),
    nodes.Add: (SUM, "+"),
    nodes.Sub: (SUM, "-"),
    nodes.Mul: (PRODUCT, "*"),
    nodes.Div: (PRODUCT, "/"),
    nodes.FloorDiv: (PRODUCT, "//"),
    nodes.Mod: (PRODUCT, "%"),
    nodes.Pow: (POWER, "**"),
}
_SIGNS: Final = ("==", "!=", "<", "<=", ">", ">=", "in", "not in")
_COMPARISONS: Final = dict(zip(("eq", "ne", "lt", "lteq", "gt", "gteq", "in", "notin"), _SIGNS, strict=True))
_ESCAPES: Final = str.maketrans({"\\": "\\\\", "'": "\\'", "\n": "\\n", "\t": "\\t", "\r": "\\r"})


def write(node: nodes.Node) -> str:
    """The text of an expression; RecursionError for one nested too deeply for the stack."""
    return _written(node)[1]


def _at(node: nodes.Node, level: int) -> str:
    """The text of an operand, in parentheses if it binds less tightly than ``level``."""
    own, text = _written(node)
    return text if own >= level else f"({text})"


def _written(node: nodes.Node) -> tuple[int, str]:
    """How tightly a node binds, and its text."""
    if type(node) in _OPERATORS:
        assert isinstance(node, nodes.BinExpr)
        level, sign = _OPERATORS[type(node)]
        return level, f"{_at(node.left, level)} {sign} {_at(node.right, level + 1)}"
    match node:
        case nodes.Compare():
            sign = _COMPARISONS[node.ops[0].op]
            return COMPARE, f"{_at(node.expr, COMPARE)} {sign} {_at(node.ops[0].expr, COMPARE + 1)}"
        case nodes.Concat():
            return SUM, f"{_at(node.nodes[0], SUM)} ~ {_at(node.nodes[1], SUM + 1)}"
        case nodes.Not(node=nodes.Test() as test):
            return _TEST, f"{_at(test.node, _TEST)} is not {test.name}"
        case nodes.Not():
            return NOT, f"not {_at(node.node, NOT)}"
        case nodes.Neg():
            return _SIGNED, f"-{_at(node.node, _ATOM)}"
        case nodes.Pos():
            return _SIGNED, f"+{_at(node.node, _ATOM)}"
        case nodes.CondExpr():
            other = "" if node.expr2 is None else f" else {_at(node.expr2, OR)}"
            return CONDITION, f"{_at(node.expr1, OR)} if {_at(node.test, OR)}{other}"
        case nodes.Test():
            return _TEST, f"{_at(node.node, _TEST)} is {node.name}"
        case nodes.Filter():
            return _FILTER, _filter(node)
        case nodes.Dict():  # no operator may follow its brace
            return BRACKET, f"{{{', '.join(f'{write(pair.key)}: {write(pair.value)}' for pair in node.items)}}}"
    text = _atom(node)
    return _SIGNED if text.startswith("-") else _ATOM, text


def _filter(node: nodes.Filter) -> str:
    operand = "" if node.node is None else _at(node.node, _SIGNED)
    name: str | None = node.name
    if name is None:  # it fails when it is evaluated, whatever stands there
        return f"{operand} | ({_list(node.args)})"
    return f"{operand} | {name}" if is_bare(node) else f"{operand} | {name}({_arguments(node)})"


def _atom(node: nodes.Node) -> str:
    match node:
        case nodes.Name():
            return node.name
        case nodes.Const():
            return _constant(node.value)
        case nodes.List():
            return f"[{_list(node.items)}]"
        case nodes.Tuple():
            return f"({_list(node.items)})"
        case nodes.Getattr():
            return f"{_holder(node.node)}.{node.attr}"
        case nodes.Getitem():
            return f"{_holder(node.node)}[{_index(node.arg)}]"
        case nodes.Call():
            return f"{_holder(node.node)}({_arguments(node)})"
    raise TypeError(f"no expression has a {type(node).__name__}")


def _holder(node: nodes.Node) -> str:
    text = _at(node, _ATOM)
    return f"({text})" if isinstance(node, nodes.Const) and not isinstance(node.value, str) else text


def _index(node: nodes.Node) -> str:
    if not isinstance(node, nodes.Slice):
        return write(node)
    start, stop, step = ("" if part is None else write(part) for part in (node.start, node.stop, node.step))
    return f"{start}:{stop}" + (f":{step}" if step else "")


def _arguments(node: nodes.Call | nodes.Filter) -> str:
    parts = [write(item) for item in node.args or ()]
    parts += [] if node.dyn_args is None else [f"*{write(node.dyn_args)}"]
    parts += [f"{item.key}={write(item.value)}" for item in node.kwargs]
    parts += [] if node.dyn_kwargs is None else [f"**{write(node.dyn_kwargs)}"]
    return ", ".join(parts)


def _list(items: Iterable[nodes.Node] | None) -> str:
    return ", ".join(write(item) for item in items or ())


def _constant(value: object) -> str:
    if isinstance(value, str):
        return f"'{value.translate(_ESCAPES)}'"
    if isinstance(value, float):
        text = repr(value)
        return f"{value:f}" if "e" in text else text
    return str(value)
