"""Rules on what expressions and templates call: filters, tests, methods, helpers (3.5, 3.6, 3.8)."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from jinja2 import nodes

from scanbuild.checking.forms import TemplateForm
from scanbuild.checking.kinds import kind_of
from scanbuild.checking.sites import NAMESPACES
from scanbuild.checking.subject import Subject
from scanbuild.checking.syntax import expression_syntax, walk
from scanbuild.dialect import HELPERS
from scanbuild.dialect.filters import BARE_FILTERS, CALLED_FILTERS
from scanbuild.dialect.methods import OBJECT_METHODS, STRING_METHODS
from scanbuild.dialect.predicates import EQUALITY, TESTS
from scanbuild.errors import Problem, Severity
from scanbuild.package.report import nearest

_ONE: Final = ("ceil", "floor", "pow2ceil", "log2ceil", "numel", "reversedAxes", "dtypeBytes", "onnxDtypeCode", "f16Ok")
_TWO: Final = (
    *("pow", "ceilDiv", "dim", "rows", "outer", "inner", "prefix", "suffix", "fill", "permuteShape"),
    *("broadcastShape", "matmulShape", "broadcastable", "sameShape", "has"),
)
ARGUMENTS: Final = {
    **dict.fromkeys(_ONE, (1, 1)),
    **dict.fromkeys(_TWO, (2, 2)),
    **dict.fromkeys(("moveAxis", "hasAxis"), (3, 3)),
    "axisValue": (4, 5),
    "isUniqueIntList": (3, 4),
    "pick": (1, 2),
}
"""Least and most arguments of each helper that does not take any number of them."""

_FOREIGN_FILTERS: Final = {
    "round": "write `floor(x + 0.5)`",
    "sum": "there is no sum of a list",
    "min": "`min(a, b)` is a helper, no filter",
    "max": "`max(a, b)` is a helper, no filter",
    "count": "write `x | length`",
    "d": "write `default(...)`",
    "select": "there are `selectattr` and `rejectattr` only",
    "reject": "there are `selectattr` and `rejectattr` only",
    "format": "join texts with `~`",
    "ceil": "`ceil(x)` is a helper, no filter",
    "floor": "`floor(x)` is a helper, no filter",
}
Pair = tuple[nodes.Node, nodes.Node | None]
_METHODS: Final = frozenset({*STRING_METHODS, *OBJECT_METHODS, "has"})


@dataclass(frozen=True, slots=True)
class Fault:
    """A call that fails whenever it is evaluated, or a doubtful one."""

    rule: str
    message: str
    node: nodes.Node
    hint: str = ""
    severity: Severity = "error"


def call_faults(pairs: Iterable[Pair], *, template: bool) -> Iterator[Fault]:
    """What is wrong with the filters, tests and calls among nodes (with their parents), untaken branches included."""
    for node, parent in pairs:
        if isinstance(node, nodes.Filter) and node.name is not None:
            yield from _filter_faults(node)
        elif isinstance(node, nodes.Test):
            if node.name in EQUALITY:
                yield Fault("test", f"the test `{node.name}` needs an argument", node, "write `==`")
            elif node.name not in TESTS:
                hint = nearest(node.name, TESTS) or f"there are {', '.join(TESTS)}"
                yield Fault("test", f"there is no test `{node.name}`", node, hint)
        elif isinstance(node, nodes.Call):
            yield from _call_faults(node, template or isinstance(parent, nodes.CallBlock))


def _filter_faults(node: nodes.Filter) -> Iterator[Fault]:
    name = node.name
    known = BARE_FILTERS if node.args is None else CALLED_FILTERS
    if name in known:
        return
    if name == "default":
        yield Fault("filter", "the filter `default` needs its parentheses", node, "write `default(value)`")
    elif name in BARE_FILTERS:
        hint = f"write `| {name}`"
        yield Fault("filter", f"the filter `{name}` takes no parentheses, not even empty ones", node, hint)
    elif name in CALLED_FILTERS:
        yield Fault("filter", f"the filter `{name}` needs its parentheses", node, f"write `{name}(...)`")
    else:
        hint = _FOREIGN_FILTERS.get(name) or nearest(name, sorted(BARE_FILTERS | CALLED_FILTERS))
        yield Fault("filter", f"there is no filter `{name}`", node, hint)


def _call_faults(node: nodes.Call, template: bool) -> Iterator[Fault]:
    callee = node.node
    if isinstance(callee, nodes.Name):
        if callee.name in HELPERS or callee.name == "f16Ok":
            yield from _argument_faults(node, callee.name)
        elif callee.name in NAMESPACES and not template:
            yield Fault("call", f"`{callee.name}` is no function", callee, "members are read with a dot")
    elif isinstance(callee, nodes.Getattr) and isinstance(callee.attr, str):
        if callee.attr not in _METHODS and not template:
            hint = nearest(callee.attr, _METHODS) or f"lists have no methods; texts have {', '.join(STRING_METHODS)}"
            yield Fault("method", f"there is no method `{callee.attr}`", callee, hint)
    elif kind_of(callee):
        yield Fault("call", "a value is called as if it were a function", node)


def _argument_faults(node: nodes.Call, name: str) -> Iterator[Fault]:
    if node.kwargs or node.dyn_kwargs is not None:
        message = f"named arguments reach `{name}` as one more argument, an object"
        yield Fault("arguments", message, node, "helpers take positional arguments", "warning")
        return
    if node.dyn_args is not None or name not in ARGUMENTS:
        return
    least, most = ARGUMENTS[name]
    count = len(node.args)
    wanted = f"{least}" if least == most else f"{least} or {most}"
    plural = "s" if most > 1 else ""
    if count < least:
        yield Fault("arguments", f"`{name}` takes {wanted} argument{plural}, not {count}", node)
    elif count > most:
        message = f"`{name}` takes {wanted} argument{plural}; the loader drops the other{'s' * (count - most > 1)}"
        yield Fault("arguments", message, node, "", "warning")


def expression_calls(subject: Subject) -> Iterator[Problem]:
    """Filters, tests, methods and helpers of expressions have to exist and to be called as they can be."""
    for site in subject.sites:
        syntax = expression_syntax(site.text)
        for fault in call_faults(syntax.pairs, template=False):
            bound = isinstance(fault.node, nodes.Name) and fault.node.name in site.visible.derives
            if bound:
                continue
            yield subject.text.problem(
                site.path,
                fault.rule,
                f"{site.words}: {fault.message}",
                hint=fault.hint,
                severity=fault.severity,
                stage="call" if fault.severity == "error" else "own",
                within=(site.text, syntax.place(fault.node)),
            )


def template_calls(subject: Subject) -> Iterator[Problem]:
    """The same for templates, but that a name may be a macro there."""
    for form in subject.forms.values():
        for fault in call_faults(walk(form.tree), template=True):
            if _is_bound(fault.node, form):
                continue
            problem = Problem(
                message=fault.message,
                rule=fault.rule,
                hint=fault.hint,
                severity=fault.severity,
                stage="call" if fault.severity == "error" else "own",
            )
            yield subject.template_problem(problem, *form.place(fault.node.lineno))


def _is_bound(node: nodes.Node, form: TemplateForm) -> bool:
    """Whether the template itself defines what is called."""
    callee = node.node if isinstance(node, nodes.Call) else node
    return isinstance(callee, nodes.Name) and callee.name in form.names.bound
