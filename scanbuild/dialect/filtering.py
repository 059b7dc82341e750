"""Filter nodes whose arguments are not evaluated like those of a call: none at all, or strings as they are written."""

from collections.abc import Callable
from typing import Any

from jinja2 import nodes

from .errors import value_error
from .filters import INSTANT, apply_bare, select_by
from .operators import describe, truthy
from .predicates import find_attribute_test
from .scope import Scope
from .values import Namespace, Value

Apply = Callable[[Value, Scope], Value]
"""A filter as a function of its operand."""


def is_bare(node: nodes.Filter) -> bool:
    """Whether a filter is written without parentheses."""
    args: Any = node.args
    return args is None


def bare_filter(name: str) -> Apply:
    """``| name``"""

    def apply(value: Value, scope: Scope) -> Value:
        if name not in INSTANT:
            scope.budget.charge(value)
        return apply_bare(name, value, scope.budget)

    return apply


def no_filter(_value: Value, _scope: Scope) -> Value:
    raise value_error("a filter is a name, with or without arguments")


def selecting_filter(node: nodes.Filter) -> Apply:
    """``selectattr`` and ``rejectattr``."""
    name = node.name
    literal = not (node.kwargs or node.dyn_args or node.dyn_kwargs) and all(_is_text(child) for child in node.args)
    texts: list[str | None] = [child.value for child in node.args] if literal else []  # type: ignore[attr-defined]
    attribute, test_name, operand = (*texts, None, None, None)[:3]

    def apply(value: Value, scope: Scope) -> Value:
        scope.budget.charge(value)
        if not isinstance(value, (list, tuple)):
            raise value_error(f"{name}() needs a list of objects, not {describe(value)}")
        for element in value:
            if not isinstance(element, (dict, Namespace)):
                raise value_error(f"{name}() needs a list of objects; there is {describe(element)} in it")
        if not literal:
            raise value_error(f"the arguments of {name}() must be written as strings")
        test = truthy if test_name is None else find_attribute_test(test_name, operand)
        return select_by(value, name == "selectattr", attribute, test, scope.budget)

    return apply


def _is_text(node: nodes.Expr) -> bool:
    return isinstance(node, nodes.Const) and type(node.value) is str
