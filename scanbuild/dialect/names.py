"""Which names a tree mentions, and how."""

from collections.abc import Iterable
from dataclasses import dataclass

from jinja2 import nodes

from .methods import OBJECT_METHODS

_SPECIAL = frozenset({"varargs", "kwargs"})


@dataclass(frozen=True, slots=True)
class Names:
    """The names of a tree."""

    mentioned: frozenset[str]
    """All of them, targets of assignments too."""
    required: frozenset[str]
    """Those read otherwise than as ``name is defined`` or ``name is undefined``."""
    bound: frozenset[str]
    """Those that the tree itself gives a value."""
    reads: frozenset[tuple[str, ...]]
    """``(name, member)`` for static members of a name, ``(name,)`` where it is used in another way."""
    first_offset: dict[str, int]
    """Where a name is first read as a required one."""

    @property
    def direct(self) -> frozenset[str]:
        """Names used for static members only, and not bound."""
        whole = {read[0] for read in self.reads if len(read) == 1}
        return frozenset(read[0] for read in self.reads) - whole - self.bound


class _Collector:
    def __init__(self) -> None:
        self.mentioned: set[str] = set()
        self.bound: set[str] = set()
        self.reads: set[tuple[str, ...]] = set()
        self.offsets: dict[str, int] = {}

    def walk(self, root: nodes.Node) -> None:
        """Visit every node; without recursion, for chains of operators can be long."""
        stack: list[nodes.Node] = [root]
        while stack:
            node = stack.pop()
            if isinstance(node, nodes.Name):
                self._name(node)
            elif isinstance(node, nodes.Test) and _is_presence_test(node):
                self.mentioned.add(node.node.name)  # type: ignore[attr-defined]
                self.reads.add((node.node.name,))  # type: ignore[attr-defined]
            elif (name := _static_member(node)) is not None:
                self._read(node.node, (node.node.name, name))  # type: ignore[attr-defined]
            else:
                if isinstance(node, nodes.Macro):
                    self._bind(node.name)
                stack.extend(node.iter_child_nodes())

    def _name(self, node: nodes.Name) -> None:
        if node.ctx == "load":
            self._read(node, (node.name,))
        else:
            self._bind(node.name)

    def _read(self, node: nodes.Name, read: tuple[str, ...]) -> None:
        self.mentioned.add(node.name)
        self.reads.add(read)
        self.offsets[node.name] = min(node.lineno, self.offsets.get(node.name, node.lineno))

    def _bind(self, name: str) -> None:
        self.mentioned.add(name)
        self.bound.add(name)


def _is_presence_test(node: nodes.Test) -> bool:
    return node.name in ("defined", "undefined") and isinstance(node.node, nodes.Name)


def _static_member(node: nodes.Node) -> str | None:
    """The member, if the node is ``name.member`` or ``name["member"]``. A method may reach all members: it is none."""
    member: object = None
    if isinstance(node, nodes.Getattr) and isinstance(node.node, nodes.Name):
        member = node.attr
    elif isinstance(node, nodes.Getitem) and isinstance(node.node, nodes.Name) and isinstance(node.arg, nodes.Const):
        member = node.arg.value
    return member if isinstance(member, str) and member not in OBJECT_METHODS else None


def collect(tree: nodes.Node) -> Names:
    """The names of a tree."""
    collector = _Collector()
    collector.walk(tree)
    return Names(
        frozenset(collector.mentioned),
        frozenset(collector.offsets),
        frozenset(collector.bound | {"loop", "caller"} | _SPECIAL),
        frozenset(collector.reads),
        collector.offsets,
    )


def special_arguments(parameters: Iterable[str], body: Iterable[nodes.Node]) -> frozenset[str]:
    """Which of ``varargs`` and ``kwargs`` a macro's body reads before anything of that name is declared in it."""
    search = _SpecialSearch(set(parameters) & _SPECIAL)
    for node in body:
        search.visit(node)
    return frozenset(search.found)


class _SpecialSearch:
    """Goes through a body in the order in which Jinja visits it, which decides what precedes a declaration."""

    def __init__(self, declared: set[str]) -> None:
        self.declared = declared
        self.found: set[str] = set()

    def visit(self, node: nodes.Node | None) -> None:
        stack: list[nodes.Node | str | None] = [node]
        while stack:
            current = stack.pop()
            if isinstance(current, str):
                self.declared.add(current)
            elif isinstance(current, nodes.Name):
                if current.ctx == "load" and current.name not in self.declared and current.name in _SPECIAL:
                    self.found.add(current.name)
                elif current.ctx != "load":
                    self.declared.add(current.name)
            elif current is not None:
                stack.extend(reversed(_steps(current)))


def _steps(node: nodes.Node) -> list[nodes.Node | str | None]:
    """The children of a node in order; a text declares that name."""
    if isinstance(node, nodes.For):
        return [node.target, node.iter, *node.body, *node.else_, node.test]
    if isinstance(node, (nodes.Assign, nodes.AssignBlock)):
        target = node.target if isinstance(node.target, (nodes.Name, nodes.Tuple)) else None
        return [target, *([node.node] if isinstance(node, nodes.Assign) else node.body)]
    if isinstance(node, nodes.CallBlock):
        return [node.call, *node.args, *node.defaults, *node.body]
    if isinstance(node, nodes.FilterBlock):
        return [*node.body, node.filter]
    return list(node.iter_child_nodes())
