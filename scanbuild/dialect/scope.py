"""Where names are looked up while an expression or a template is evaluated."""

from collections.abc import Mapping
from typing import Final

from .values import HOLE, UNDEFINED, Budget, Native, Plain, Value, wrap

MISSING: Final = object()

_SCALARS: Final = frozenset({bool, int, float, str})


class Scope:
    """Variables that were set, and the scope around them. A macro's scope lies in that of its caller."""

    __slots__ = ("budget", "parent", "root", "variables")

    def __init__(self, parent: "Scope") -> None:
        self.parent: Scope | None = parent
        self.root: Root = parent.root
        self.budget: Budget = parent.budget
        self.variables: dict[str, Value] = {}

    def lookup(self, name: str) -> Value:
        """The value of a name; UNDEFINED if nobody knows it."""
        if name == "namespace":
            return self._namespace()
        scope: Scope | None = self
        while scope is not None:
            value = scope.variables.get(name, MISSING)
            if value is not MISSING:
                return UNDEFINED if value is HOLE else value
            scope = scope.parent
        return self.root.given(name)

    def _namespace(self) -> Value:
        """Every scope starts out with a ``namespace`` of its own, which hides what was set around it."""
        return self.variables.setdefault("namespace", self.root.namespace)


class Root(Scope):
    """The outermost scope: plain values of a context, converted when first asked for, then functions and constants."""

    __slots__ = ("_builtins", "_context", "_members", "namespace")

    def __init__(self, context: Mapping[str, Plain], builtins: Mapping[str, Plain], namespace: Native) -> None:
        self.parent = None
        self.root = self
        self.budget = Budget()
        self.variables = {}
        self.namespace = namespace
        self._context = context
        self._builtins = builtins
        self._members: dict[tuple[str, str], Value] = {}

    def given(self, name: str) -> Value:
        """The value of a name that was not set; the same object every time."""
        plain = self._context.get(name, MISSING)
        if plain is MISSING:
            plain = self._builtins.get(name, UNDEFINED)
        value = plain if type(plain) is Native else wrap(plain, self.budget)
        if value is not UNDEFINED:
            self.variables[name] = value
        return value

    def release(self) -> None:
        """End the evaluation: settle its work, and let go of its values, which a scope that is its own root would
        keep until the collector comes."""
        self.variables.clear()
        self._members.clear()
        self.budget.settle()

    def member(self, name: str, member: str) -> Value:
        """A member of an object of the context, without converting the others; MISSING if it has none."""
        key = (name, member)
        value = self._members.get(key, MISSING)
        if value is MISSING:
            holder = self._context.get(name)
            if type(holder) is not dict or member not in holder:
                return MISSING
            value = self._members[key] = wrap(holder[member], self.budget)
        return value

    def scalar(self, name: str, outer: str, inner: str) -> Value:
        """The number, string or boolean ``name.outer.inner``, without converting what is around it (a device has dozens
        of limits); MISSING if it is anything else.
        """
        holder = self._context.get(name)
        members = holder.get(outer) if type(holder) is dict else None
        value = members.get(inner) if type(members) is dict else None
        return wrap(value, self.budget) if type(value) in _SCALARS else MISSING
