"""What kind of value an expression gives, as far as its form alone tells; and what an undefined operand does to it."""

from collections.abc import Callable, Mapping
from typing import Final, Literal

from jinja2 import nodes

from scanbuild.checking.sites import Site, Use
from scanbuild.checking.syntax import expression_syntax, member_of
from scanbuild.package.model import Absent, Json

Kind = Literal["number", "boolean", "text", "list", "object", "null", ""]
"""Empty where the form does not tell."""

Define = Callable[[str], Json | Absent]

NUMBER_HELPERS: Final = frozenset(
    (
        *("ceil", "floor", "min", "max", "pow", "ceilDiv", "pow2ceil", "log2ceil", "numel", "dim", "rows"),
        *("outer", "inner", "dtypeBytes", "onnxDtypeCode"),
    )
)
BOOLEAN_HELPERS: Final = frozenset(["broadcastable", "sameShape", "hasAxis", "isUniqueIntList", "has", "f16Ok"])
LIST_HELPERS: Final = frozenset(
    ["prefix", "suffix", "fill", "moveAxis", "permuteShape", "reversedAxes", "broadcastShape", "matmulShape"]
)
_STRICT_HELPERS: Final = LIST_HELPERS | {
    *("numel", "dim", "rows", "outer", "inner", "broadcastable", "sameShape", "hasAxis", "axisValue"),
    *("dtypeBytes", "onnxDtypeCode", "pick"),
}
"""Helpers that fail on an undefined argument."""

_NAMESPACE_KINDS: Final[Mapping[str, Kind]] = {
    "shapes": "list",
    "ranks": "number",
    "present": "boolean",
    "dtypes": "text",
    "logicalDtypes": "text",
    "tensorDtypes": "text",
}
_FILTER_KINDS: Final[Mapping[str, Kind]] = {
    **dict.fromkeys(("length", "abs"), "number"),
    **dict.fromkeys(("upper", "lower", "title", "capitalize", "trim", "string", "join", "tojson", "indent"), "text"),
    **dict.fromkeys(("list", "reverse", "sort", "unique", "keys", "values", "items"), "list"),
}
_CONSTANT_KINDS: Final[Mapping[str, Kind]] = {
    **dict.fromkeys(("true", "false", "True", "False"), "boolean"),
    **dict.fromkeys(("none", "None"), "null"),
}
_MAX_DEPTH: Final = 40


def kind_of(node: nodes.Node | None, site: Site | None = None, depth: int = 0) -> Kind:
    """The kind of value a node gives if it gives any. A derive's name stands for what the derive gives."""
    if node is None or depth > _MAX_DEPTH:
        return ""
    match node:
        case nodes.Const():
            return "text" if isinstance(node.value, str) else "number"
        case nodes.Name():
            return _name_kind(node.name, site, depth)
        case nodes.Compare() | nodes.Not() | nodes.Test():
            return "boolean"
        case nodes.Concat():
            return "text"
        case nodes.List() | nodes.Tuple():
            return "list"
        case nodes.Dict():
            return "object"
        case nodes.Add():
            sides = {kind_of(node.left, site, depth + 1), kind_of(node.right, site, depth + 1)}
            return sides.pop() if len(sides) == 1 else "text" if "text" in sides else ""
        case nodes.BinExpr() if not isinstance(node, (nodes.And, nodes.Or)):
            return "number"
        case nodes.Neg() | nodes.Pos():
            return "number"
        case nodes.And() | nodes.Or():
            sides = {kind_of(node.left, site, depth + 1), kind_of(node.right, site, depth + 1)}
            return sides.pop() if len(sides) == 1 else ""
        case nodes.CondExpr():
            sides = {kind_of(node.expr1, site, depth + 1), kind_of(node.expr2, site, depth + 1)}
            return sides.pop() if len(sides) == 1 else ""
        case nodes.Call():
            return _call_kind(node)
        case nodes.Filter():
            if node.name in ("int", "float"):
                return "number" if node.args is None else ""
            return _FILTER_KINDS.get(node.name or "", "")
        case nodes.Getattr() | nodes.Getitem():
            found = member_of(node)
            return _NAMESPACE_KINDS.get(found[0], "") if found is not None else _element_kind(node)
    return ""


def _name_kind(name: str, site: Site | None, depth: int) -> Kind:
    if name in _CONSTANT_KINDS:
        return _CONSTANT_KINDS[name]
    if name == "DISPATCH_FOLD_WIDTH":
        return "number"
    if site is None:
        return ""
    value = site.definition(name)
    if isinstance(value, Absent):
        return "text" if name in site.visible.labels and name not in site.visible.derives else ""
    return json_kind(value, depth + 1)


def json_kind(value: Json, depth: int = 0) -> Kind:
    """The kind of what a derive gives; names in it stand for nothing."""
    if isinstance(value, str):
        return kind_of(expression_syntax(value).root, None, depth)
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int | float):
        return "number"
    if value is None:
        return "null"
    return "list" if isinstance(value, list) else "object"


def _call_kind(node: nodes.Call) -> Kind:
    if isinstance(node.node, nodes.Name):
        name = node.node.name
        if name in NUMBER_HELPERS:
            return "number"
        return "boolean" if name in BOOLEAN_HELPERS else "list" if name in LIST_HELPERS else ""
    return "boolean" if isinstance(node.node, nodes.Getattr) and node.node.attr == "has" else ""


def _element_kind(node: nodes.Getattr | nodes.Getitem) -> Kind:
    inner = member_of(node.node)
    if isinstance(node, nodes.Getitem) and inner is not None and inner[0] == "shapes":
        return "list" if isinstance(node.arg, nodes.Slice) else "number"
    return "number" if inner == ("device", "limits") else ""


def fails_undefined(node: nodes.Node, parents: Mapping[int, nodes.Node | None], use: Use) -> bool:
    """Whether the expression fails, or cannot be used, where a node in it is undefined."""
    parent = parents.get(id(node))
    match parent:
        case None | nodes.Template() | nodes.Output():
            return use not in ("derive", "clause", "profile")
        case nodes.Operand():
            compare = parents.get(id(parent))
            return isinstance(compare, nodes.Compare) and _compare_fails(compare, node)
        case nodes.Compare():
            return _compare_fails(parent, node)
        case nodes.CondExpr():
            return node is not parent.test and fails_undefined(parent, parents, use)
        case nodes.And() | nodes.Or() | nodes.Not() | nodes.Test() | nodes.Dict() | nodes.Pair():
            return isinstance(parent, nodes.Test) and parent.name in ("odd", "even")
        case nodes.BinExpr() | nodes.Concat() | nodes.Neg() | nodes.Pos():
            return True
        case nodes.List() | nodes.Tuple():
            return use in ("shape", "scratch") and fails_undefined(parent, parents, use)
        case nodes.Getattr():
            return not isinstance(parent.attr, str)
        case nodes.Getitem():
            return node is parent.arg or _is_number(parent.arg)
        case nodes.Slice():
            return False
        case nodes.Filter():
            return node is parent.node and parent.name not in ("default", "safe", "tojson")
        case nodes.Call():
            return node is parent.node or (
                isinstance(parent.node, nodes.Name)
                and (parent.node.name in _STRICT_HELPERS or _is_number_helper(parent, use))
            )
    return False


def _is_number_helper(call: nodes.Call, use: Use) -> bool:
    """A helper of numbers makes NaN of undefined, which no size and no field can be; a condition is false by it."""
    assert isinstance(call.node, nodes.Name)
    return call.node.name in NUMBER_HELPERS and use != "clause"


def _compare_fails(compare: nodes.Compare, node: nodes.Node) -> bool:
    operator = compare.ops[0].op
    if operator in ("eq", "ne"):
        return False
    return operator not in ("in", "notin") or node is compare.expr


def _is_number(node: nodes.Node) -> bool:
    return isinstance(node, nodes.Slice) or kind_of(node) == "number"
