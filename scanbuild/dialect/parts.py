"""An expression taken apart, so that it can be told which part of it decides its value.

The parts are evaluated by the very evaluator that evaluates the whole. Their texts are for people: they are written
anew from the tree, with one blank where there may be several, and with parentheses only where they matter.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

from jinja2 import nodes

from .expression import Expression, parse_expression
from .functions import CONSTANTS
from .parser import parse
from .source import Source, preprocess
from .values import Plain
from .writing import write

PartKind = Literal["and", "or", "not", "choice", "compare", "reading", "constant", "other"]

LONGEST: Final = 4000
"""Of longer expressions only the whole is a part. Published packages stay below 300 characters."""


@dataclass(frozen=True, slots=True)
class Part:
    """A part of an expression. ``operands`` are those of ``and``, ``or`` (all of a chain), ``not``, of a comparison,
    and for ``choice`` the test, the value if it holds, and the other one, which may be missing."""

    text: str
    kind: PartKind
    _node: nodes.Expr = field(repr=False)
    _source: Source = field(repr=False)

    @property
    def operands(self) -> tuple["Part", ...]:
        """The parts that it is directly made of, in the order of evaluation."""
        return tuple(_part(node, self._source) for node in _operands(self._node))

    @property
    def path(self) -> tuple[str, ...]:
        """The name and the members of a reading that is written with dots alone; empty for all else."""
        members: list[str] = []
        node = self._node
        while isinstance(node, nodes.Getattr) and isinstance(node.attr, str):
            members.append(node.attr)
            node = node.node
        return (node.name, *reversed(members)) if isinstance(node, nodes.Name) else ()

    def evaluate(self, scope: Mapping[str, Plain]) -> Plain:
        """Its value; DialectError as for a whole expression. Names in other parts need not exist."""
        return Expression(self.text, self._source, _tree(self._node)).evaluate(scope)

    def readings(self) -> Iterator["Part"]:
        """The names in it, each with the members behind it (``shapes.x[1]``), once and in order; no helpers."""
        seen: set[str] = set()
        for node in _readings(self._node):
            part = _part(node, self._source)
            if part.text not in seen:
                seen.add(part.text)
                yield part


def take_apart(text: str) -> Part:
    """The expression of a text as a part. DialectError if it does not parse."""
    parse_expression(text)
    source = preprocess(f"{{{{ {text} }}}}")
    tree, _ = parse(source.text)
    first = tree.body[0]
    assert isinstance(first, nodes.Output)
    node = first.nodes[0]
    if len(text) > LONGEST or not _is_shallow(node):
        return Part(text.strip(), "other", node, source)
    return _part(node, source)


def _is_shallow(node: nodes.Expr) -> bool:
    """Whether the stack suffices to write and compile it, part by part."""
    try:
        write(node)
    except RecursionError:
        return False
    return True


def _tree(node: nodes.Expr) -> nodes.Template:
    return nodes.Template([nodes.Output([node], lineno=node.lineno)], lineno=0)


def _part(node: nodes.Expr, source: Source) -> Part:
    return Part(write(node), _kind(node), node, source)


def _kind(node: nodes.Expr) -> PartKind:
    match node:
        case nodes.And():
            return "and"
        case nodes.Or():
            return "or"
        case nodes.Not():
            return "not"
        case nodes.CondExpr():
            return "choice"
        case nodes.Compare():
            return "compare"
        case nodes.Const():
            return "constant"
    if isinstance(node, nodes.Name) and node.name in CONSTANTS:
        return "constant"
    return "reading" if _is_reading(node) else "other"


def _operands(node: nodes.Expr) -> list[nodes.Expr]:
    if isinstance(node, nodes.And | nodes.Or):
        return _chain(node)
    if isinstance(node, nodes.Not):
        return [node.node]
    if isinstance(node, nodes.CondExpr):
        return [node.test, node.expr1, *([] if node.expr2 is None else [node.expr2])]
    if isinstance(node, nodes.Compare):
        return [node.expr, node.ops[0].expr]
    return []


def _chain(node: nodes.Expr) -> list[nodes.Expr]:
    """``a``, ``b`` and ``c`` of ``a and b and c``, which is a tree leaning to the left."""
    kind = type(node)
    found: list[nodes.Expr] = []
    while isinstance(node, kind):
        assert isinstance(node, nodes.BinExpr)
        found.append(node.right)
        node = node.left
    return [node, *reversed(found)]


def _is_reading(node: nodes.Expr) -> bool:
    while isinstance(node, nodes.Getattr | nodes.Getitem):
        node = node.node
    return isinstance(node, nodes.Name) and node.name not in CONSTANTS


def _readings(root: nodes.Node) -> Iterator[nodes.Expr]:
    pending = [root]
    while pending:
        node = pending.pop()
        children: list[nodes.Node] = list(node.iter_child_nodes())
        if isinstance(node, nodes.Expr) and _is_reading(node):
            yield node
            children = _indices(node)
        elif isinstance(node, nodes.Call):
            # A helper is no value, and of a method it is the object that tells something.
            callee = node.node
            inner = [callee.node] if isinstance(callee, nodes.Getattr) else []
            children = [*inner, *(child for child in children if child is not callee)]
        pending.extend(reversed(children))


def _indices(node: nodes.Expr) -> list[nodes.Node]:
    """What stands in the brackets of a reading, names of their own perhaps."""
    found: list[nodes.Node] = []
    while isinstance(node, nodes.Getattr | nodes.Getitem):
        if isinstance(node, nodes.Getitem):
            found.append(node.arg)
        node = node.node
    return found[::-1]
