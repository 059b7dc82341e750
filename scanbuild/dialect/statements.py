"""Turns statement nodes into closures from a scope to the text they print."""

from collections.abc import Callable
from typing import Any

from jinja2 import nodes

from .compiler import Compiler, Run, call, placed
from .errors import DialectError, limit_error, value_error
from .limits import BODY_COST, CALL_WEIGHT, ITERATION_COST, LOOP_COST, MAX_CALL_DEPTH, MAX_STEPS, MAX_TEXT, SLICE_COST
from .names import special_arguments
from .operators import describe, truthy
from .printing import text_of
from .scope import Scope
from .values import HOLE, UNDEFINED, KeywordArguments, Namespace, Native, Value

Render = Callable[[Scope], str]
Bind = Callable[[Scope, Value], None]
Names = str | list[str | None]
"""One name, or the names that an element is unpacked into (None for what is no name)."""


class Jump(Exception):  # noqa: N818 - no error
    """``break`` or ``continue`` on its way to the loop; the text of the iteration is lost."""

    def __init__(self, offset: int, leaves: bool) -> None:
        super().__init__()
        self.offset = offset
        self.leaves = leaves


class StatementCompiler(Compiler):
    """Compiles statements."""

    def block(self, body: list[nodes.Node]) -> Render:
        """Statements one behind the other."""
        renders = [self.statement(node) for node in body]
        if len(renders) == 1:
            return renders[0]

        def render(scope: Scope) -> str:
            return _joined([part(scope) for part in renders], scope)

        return render

    def statement(self, node: nodes.Node) -> Render:
        """The closure of one statement."""
        visit: Callable[[Any], Render] = getattr(self, f"_{type(node).__name__.lower()}")
        return visit(node)

    def _output(self, node: nodes.Output) -> Render:
        child = node.nodes[0]
        if isinstance(child, nodes.TemplateData):
            text = child.data
            return lambda _scope: text
        return self._printed(self.expression(child), node.lineno)

    def _printed(self, run: Run, offset: int) -> Render:
        def render(scope: Scope) -> str:
            value = run(scope)
            if type(value) is str:
                return value
            try:
                return text_of(value, scope.budget)
            except DialectError as error:
                raise placed(error, offset) from None

        return render

    def _if(self, node: nodes.If) -> Render:
        branches = [(self.expression(branch.test), self.block(branch.body)) for branch in (node, *node.elif_)]
        otherwise = self.block(node.else_)
        offset = node.lineno

        def render(scope: Scope) -> str:
            for test, body in branches:
                value = test(scope)
                try:
                    chosen = value is True or truthy(value)
                except DialectError as error:
                    raise placed(error, offset) from None
                if chosen:
                    return body(scope)
            return otherwise(scope)

        return render

    # Assignment

    def _assign(self, node: nodes.Assign) -> Render:
        bind, value = self._target(node.target), self.expression(node.node)
        offset = node.lineno

        def render(scope: Scope) -> str:
            assigned = value(scope)
            try:
                bind(scope, assigned)
            except DialectError as error:
                raise placed(error, offset) from None
            return ""

        return render

    def _assignblock(self, node: nodes.AssignBlock) -> Render:
        bind, body = self._target(node.target), self.block(node.body)
        offset = node.lineno

        def render(scope: Scope) -> str:
            text = body(scope)
            try:
                bind(scope, text)
            except DialectError as error:
                raise placed(error, offset) from None
            return ""

        return render

    def _target(self, node: nodes.Expr) -> Bind:
        if isinstance(node, nodes.Name):
            return _bind_name(node.name)
        if isinstance(node, nodes.Tuple):
            return _bind_all(_target_names(node))
        if isinstance(node, nodes.Getattr):
            name: str | None = node.attr if isinstance(node.attr, str) else None
            return _bind_member(self.expression(node.node), name)
        if isinstance(node, nodes.Getitem):
            name = node.arg.name if isinstance(node.arg, nodes.Name) else None
            return _bind_member(self.expression(node.node), name)
        return _bind_nothing

    # Loops

    def _for(self, node: nodes.For) -> Render:
        iterable, body, otherwise = self.expression(node.iter), self.block(node.body), self.block(node.else_)
        names = _target_names(node.target)
        test = None if node.test is None else self.expression(node.test)
        offset, weight = node.lineno, _weight(node.body)

        def render(scope: Scope) -> str:
            inner = Scope(scope)
            try:
                items = _iterated(iterable(inner), names)
                scope.budget.spend(LOOP_COST)
                scope.budget.spend(len(items) * SLICE_COST)
                if test is not None:
                    items = [item for item in items if _selected(test, item, names, inner)]
                return _loop(items, names, body, otherwise, inner, weight)
            except DialectError as error:
                raise placed(error, offset) from None

        return render

    def _break(self, node: nodes.Break) -> Render:
        return _jumping(node.lineno, leaves=True)

    def _continue(self, node: nodes.Continue) -> Render:
        return _jumping(node.lineno, leaves=False)

    # Macros and blocks that are passed on

    def _macro(self, node: nodes.Macro) -> Render:
        name = node.name
        run = self._callable(name, node)

        def render(scope: Scope) -> str:
            scope.variables[name] = Native(name, run)
            return ""

        return render

    def _callable(self, name: str, node: nodes.Macro | nodes.CallBlock) -> Callable[[list[Value], Scope], Value]:
        parameters = [parameter.name for parameter in node.args]
        first_default = len(parameters) - len(node.defaults)
        defaults = [(parameters[first_default + i], self.expression(child)) for i, child in enumerate(node.defaults)]
        special = special_arguments(parameters, node.body)
        body, weight = self.block(node.body), _weight(node.body)

        def run(args: list[Value], scope: Scope) -> Value:
            inner = Scope(scope)
            budget = scope.budget
            budget.calls += 1
            if budget.calls > MAX_CALL_DEPTH:
                raise limit_error(f"more than {MAX_CALL_DEPTH} calls inside each other")
            _count_step(scope, weight + CALL_WEIGHT)
            try:
                passed = _bind_parameters(name, parameters, special, args, inner)
                for parameter, default in defaults:
                    if parameter not in passed:
                        inner.variables[parameter] = default(inner)
                return body(inner)
            finally:
                budget.calls -= 1

        return run

    def _callblock(self, node: nodes.CallBlock) -> Render:
        given, callee = self.given(node.call), self.expression(node.call.node)
        block = self._callable("the call block", node)
        offset = node.lineno

        def run(scope: Scope) -> Value:
            args, keywords = given(scope)
            inner = Scope(scope)
            inner.variables["caller"] = Native("caller", lambda passed, _: block(passed, scope))
            try:
                return call(callee(scope), [*args, KeywordArguments(keywords)], inner)
            except DialectError as error:
                raise placed(error, offset) from None

        return self._printed(run, offset)

    def _filterblock(self, node: nodes.FilterBlock) -> Render:
        body, apply = self.block(node.body), self.filter(node.filter)
        offset = node.lineno

        def run(scope: Scope) -> Value:
            text = body(scope)
            try:
                return apply(text, scope)
            except DialectError as error:
                raise placed(error, offset) from None

        return self._printed(run, offset)


def _joined(parts: list[str], scope: Scope) -> str:
    size = sum(map(len, parts))
    if size > 1024:
        if size > MAX_TEXT:
            raise limit_error(f"more than {MAX_TEXT} characters of text")
        scope.budget.spend(size)
    return "".join(parts)


def _weight(body: list[nodes.Node]) -> int:
    """How many nodes run when a body does. Loops and macros in it count by themselves."""
    pending, count = list(body), 0
    while pending:
        node = pending.pop()
        if isinstance(node, nodes.TemplateData):
            continue
        count += 1
        if isinstance(node, nodes.For):
            pending.append(node.iter)
        elif not isinstance(node, nodes.Macro):
            pending.extend(node.iter_child_nodes())
    return count


def _count_step(scope: Scope, weight: int = 1) -> None:
    scope.budget.spend(ITERATION_COST + BODY_COST * weight)
    scope.budget.steps += 1
    if scope.budget.steps > MAX_STEPS:
        raise limit_error(f"more than {MAX_STEPS} loop iterations and macro calls")


def _bind_name(name: str) -> Bind:
    def bind(scope: Scope, value: Value) -> None:
        scope.variables[name] = value

    return bind


def _bind_all(names: Names) -> Bind:
    def bind(scope: Scope, value: Value) -> None:
        if not isinstance(value, (list, tuple)):
            raise value_error(f"{describe(value)} cannot be unpacked")
        if len(value) != len(names):
            raise value_error(f"{len(names)} names, but {len(value)} values")
        _bind_item(names, value, scope)

    return bind


def _bind_member(holder: Run, name: str | None) -> Bind:
    def bind(scope: Scope, value: Value) -> None:
        namespace = holder(scope)
        if not isinstance(namespace, Namespace):
            raise value_error(f"only members of a namespace can be set, not those of {describe(namespace)}")
        if name is None:
            raise value_error("a member of a namespace is set as 'ns.name'")
        namespace.members[name] = value

    return bind


def _bind_nothing(_scope: Scope, _value: Value) -> None:
    raise value_error("nothing can be assigned to this")


def _target_names(target: nodes.Node) -> Names:
    if isinstance(target, nodes.Name):
        return target.name
    items: list[nodes.Expr] = target.items  # type: ignore[attr-defined]
    return [child.name if isinstance(child, nodes.Name) else None for child in items]


def _iterated(iterable: Value, names: Names) -> list[Value]:
    if isinstance(iterable, dict):
        iterable = list(iterable)
    if not isinstance(iterable, (list, tuple)):
        raise value_error(f"a loop needs a list or an object, not {describe(iterable)}")
    if isinstance(names, list):
        for item in iterable:
            if type(item) is not list:
                raise value_error(f"only a list can be unpacked, not {describe(item)}")
            if len(item) != len(names):
                raise value_error(f"{len(names)} loop variables, but {len(item)} values")
    return list(iterable)


def _bind_item(names: Names, item: Value, scope: Scope) -> None:
    if isinstance(names, str):
        scope.variables[names] = item
        return
    for name, value in zip(names, item, strict=True):
        if name is None:
            raise value_error("what is unpacked goes to names; they do not nest")
        scope.variables[name] = value


def _selected(test: Run, item: Value, names: Names, scope: Scope) -> bool:
    _count_step(scope, CALL_WEIGHT // 4)
    inner = Scope(scope)
    _bind_item(names, item, inner)
    return truthy(test(inner))


def _loop(items: list[Value], names: Names, body: Render, otherwise: Render, scope: Scope, weight: int) -> str:
    parts: list[str] = []
    completed = False
    for index, item in enumerate(items):
        _count_step(scope, weight)
        scope.variables["loop"] = _loop_state(items, index)
        _bind_item(names, item, scope)
        try:
            parts.append(body(scope))
        except Jump as jump:
            if jump.leaves:
                break
            continue
        completed = True
    if not completed:
        parts.append(otherwise(scope))
    return _joined(parts, scope)


def _loop_state(items: list[Value], index: int) -> dict[str, Value]:
    count = len(items)
    return {
        "index": index + 1,
        "index0": index,
        "revindex": count - index,
        "revindex0": count - index - 1,
        "first": index == 0,
        "last": index == count - 1,
        "length": count,
        "previtem": items[index - 1] if index else UNDEFINED,
        "nextitem": items[index + 1] if index < count - 1 else UNDEFINED,
    }


def _jumping(offset: int, *, leaves: bool) -> Render:
    def render(_scope: Scope) -> str:
        raise Jump(offset, leaves)

    return render


def _bind_parameters(
    name: str, parameters: list[str], special: frozenset[str], args: list[Value], scope: Scope
) -> set[str]:
    """Set the parameters of a macro: the names of those that were passed. The others are undefined so far."""
    keywords: dict[str, Value] = {}
    if args and isinstance(args[-1], KeywordArguments):
        *args, last = args
        keywords = dict(last)
    passed = set()
    for index, parameter in enumerate(parameters):
        value = args[index] if index < len(args) else HOLE
        if value is HOLE and parameter in keywords:
            value = keywords.pop(parameter)
        if value is not HOLE:
            passed.add(parameter)
        scope.variables[parameter] = UNDEFINED if value is HOLE else value
    if "kwargs" in special:
        scope.variables["kwargs"] = keywords
    elif keywords:
        raise value_error(f"{name} takes no argument {next(iter(keywords))!r}")
    if "varargs" in special:
        scope.variables["varargs"] = args[len(parameters) :]
    elif len(args) > len(parameters):
        raise value_error(f"{name} takes {len(parameters)} arguments, not {len(args)}")
    return passed
