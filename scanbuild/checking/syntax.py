"""Expressions and templates as trees, parsed once: what rules look at.

Nodes are Jinja2's; the ``lineno`` of a node is its offset in the pre-processed text.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from jinja2 import nodes

from scanbuild.dialect import DialectError, parse_expression
from scanbuild.dialect.limits import MAX_EXPRESSION_LENGTH
from scanbuild.dialect.names import Names, collect
from scanbuild.dialect.parser import parse
from scanbuild.dialect.source import Source, preprocess

_OPENING: Final = "{{ "
_CACHE: Final = 8192

NO_NAMES: Final = Names(frozenset(), frozenset(), frozenset(), frozenset(), {})


@dataclass(frozen=True, slots=True)
class Syntax:
    """A parsed expression. ``error`` is set, and ``tree`` empty, where it does not parse; ``offset`` says where."""

    text: str
    tree: nodes.Template
    names: Names
    source: Source | None = None
    error: DialectError | None = None
    offset: int = 0
    pairs: tuple[tuple[nodes.Node, nodes.Node | None], ...] = ()
    """Every node of the tree with its parent."""

    @property
    def root(self) -> nodes.Expr | None:
        """The expression itself."""
        for node in self.tree.body:
            if isinstance(node, nodes.Output):
                return node.nodes[0]
        return None

    def place(self, node: nodes.Node) -> int:
        """The offset of a node in the text as written."""
        return self.written(node.lineno)

    def written(self, offset: int) -> int:
        """The offset in the text as written of one in the pre-processed text."""
        written = offset if self.source is None else self.source.offset(offset)
        return min(max(written - len(_OPENING), 0), len(self.text))


@lru_cache(maxsize=_CACHE)
def expression_syntax(text: str) -> Syntax:
    """The tree of an expression. What the loader refuses to parse has an error."""
    source = preprocess(f"{_OPENING}{text} }}}}")
    try:
        if not text.strip() or len(text) > MAX_EXPRESSION_LENGTH:
            raise DialectError("syntax", "")
        tree, bad_targets = parse(source.text)
        if bad_targets:
            raise DialectError("syntax", "")
    except DialectError:
        return _failed(text)
    return Syntax(text, tree, collect(tree), source, pairs=tuple(walk(tree)))


def _failed(text: str) -> Syntax:
    """The syntax of a text that has to be refused, with the error that the evaluator gives for it."""
    empty = nodes.Template([], lineno=0)
    try:
        parse_expression(text)
    except DialectError as error:
        return Syntax(text, empty, NO_NAMES, error=error, offset=_offset(text, error))
    raise AssertionError("the evaluator refuses what the parser refuses")


def _offset(text: str, error: DialectError) -> int:
    """Where in the text an error lies that knows its line and column."""
    if error.line is None or error.column is None:
        return 0
    lines = text.split("\n")
    before = sum(len(line) + 1 for line in lines[: error.line - 1])
    return min(max(before + error.column - 1, 0), len(text))


def walk(root: nodes.Node) -> Iterator[tuple[nodes.Node, nodes.Node | None]]:
    """Every node below a root with its parent, in the order of the text; without recursion."""
    pending: list[tuple[nodes.Node, nodes.Node | None]] = [(root, None)]
    while pending:
        node, parent = pending.pop()
        yield node, parent
        pending.extend((child, node) for child in reversed(list(node.iter_child_nodes())))


def member_of(node: nodes.Node | None) -> tuple[str, str] | None:
    """``(name, member)`` where a node is ``name.member`` or ``name["member"]``."""
    if isinstance(node, nodes.Getattr) and isinstance(node.node, nodes.Name) and isinstance(node.attr, str):
        return node.node.name, node.attr
    if isinstance(node, nodes.Getitem) and isinstance(node.node, nodes.Name) and isinstance(node.arg, nodes.Const):
        return (node.node.name, node.arg.value) if isinstance(node.arg.value, str) else None
    return None


def long_member_of(node: nodes.Node | None) -> tuple[str, str, str] | None:
    """``(name, member, member)`` where a node is ``name.member.member``."""
    if isinstance(node, nodes.Getattr) and isinstance(node.attr, str):
        inner, attribute = member_of(node.node), node.attr
    elif isinstance(node, nodes.Getitem) and isinstance(node.arg, nodes.Const) and isinstance(node.arg.value, str):
        inner, attribute = member_of(node.node), node.arg.value
    else:
        return None
    return None if inner is None else (*inner, attribute)
