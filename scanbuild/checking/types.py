"""Rules on what an expression has to give where it stands, as far as its form or its constants tell."""

import math
import re
from collections.abc import Iterator
from typing import Any, Final

from jinja2 import nodes

from scanbuild.checking.expressions import each_tree
from scanbuild.checking.kinds import Kind, kind_of
from scanbuild.checking.sites import Site, Use, binding_path
from scanbuild.checking.subject import Subject
from scanbuild.checking.syntax import Syntax, member_of
from scanbuild.dialect import CONSTANTS, HELPERS, DialectError, parse_expression
from scanbuild.errors import Problem
from scanbuild.package.jsonfile import Path, parse_path
from scanbuild.package.model import ABSENT, Binding, Json, Pass
from scanbuild.package.report import shown
from scanbuild.package.vocabulary import LOGICAL_DTYPES, WGSL_SCALARS
from scanbuild.planning.attributes import is_integer, is_number
from scanbuild.planning.expansion import MAX_COUNT
from scanbuild.planning.uniforms import describe, number_problem, number_text, range_problem

_WANTED: Final[dict[Use, tuple[Kind, ...]]] = {
    "field": ("number",),
    "size": ("number",),
    "workgroups": ("number",),
    "count": ("number",),
    "dimension": ("number",),
    "shape": ("list",),
    "scratch": ("number", "list"),
}
_KIND_WORDS: Final[dict[Kind, str]] = {
    "number": "a number",
    "boolean": "true or false",
    "text": "a text",
    "list": "a list",
    "object": "an object",
    "null": "null",
}
_DTYPE_WORDS: Final = {
    "dtypes": frozenset(WGSL_SCALARS.values()),
    "logicalDtypes": frozenset(LOGICAL_DTYPES),
    "tensorDtypes": frozenset(LOGICAL_DTYPES),
}
_CONSTANT_NAMES: Final = frozenset(HELPERS) | frozenset(CONSTANTS)
_NUMERIC: Final = re.compile(r"-?\d+(\.\d+)?")
_ORDERINGS: Final = frozenset({"lt", "gt", "lteq", "gteq"})
_MAX_SIDE: Final = 65535


_EVALUABLE: Final = re.compile(
    r"\b(?:shapes|ranks|attrs|args|tunables|dtypes|present|device)\s*[.\[]|\b(?:ceilDiv|numel|min|max)\s*\(|\bif\b.+\belse\b"
)


def result_kinds(subject: Subject) -> Iterator[Problem]:
    """A size, a count, a dimension or a field has to be a number, a shape a list."""
    for site, syntax in each_tree(subject):
        wanted = _WANTED.get(site.use)
        kind = kind_of(syntax.root, site)
        if wanted is None or not kind or kind in wanted:
            continue
        hint = ""
        if kind == "boolean" and "number" in wanted:
            hint = f"write `1 if {site.text} else 0`" if len(site.text) < 40 else "write `1 if condition else 0`"
        yield subject.text.problem(
            site.path,
            "uniform-number" if site.use == "field" else "result-kind",
            f"{site.words}: it gives {_KIND_WORDS[kind]}, where {_words(wanted)} is needed",
            hint=hint,
        )


def _words(kinds: tuple[Kind, ...]) -> str:
    return " or ".join(_KIND_WORDS[kind] for kind in kinds)


def clause_kinds(subject: Subject) -> Iterator[Problem]:
    """A clause counts only where it is exactly true (9.2)."""
    for site, syntax in each_tree(subject):
        kind = kind_of(syntax.root, site)
        if site.use == "clause" and kind not in ("", "boolean"):
            yield subject.text.problem(
                site.path,
                "clause-kind",
                f"{site.words}: it gives {_KIND_WORDS[kind]}; only exactly `true` counts, so it never holds",
                hint="write a comparison",
                severity="warning",
                stage="own",
            )


def constant_values(subject: Subject) -> Iterator[Problem]:
    """What holds no name can be evaluated at once, and has to fit."""
    for site, syntax in each_tree(subject):
        if not syntax.names.mentioned <= _CONSTANT_NAMES:
            continue
        try:
            value = parse_expression(site.text).evaluate({})
        except DialectError as error:
            message = f"{site.words}: {error.message}"
            yield subject.text.problem(site.path, "expression-value", message)
            continue
        fault = _value_fault(site, value)
        if fault and kind_of(syntax.root, site) in _WANTED.get(site.use, ("boolean",)):
            rule = "uniform-range" if site.use == "field" else "constant-value"
            yield subject.text.problem(site.path, rule, f"{site.words}: {fault}")


def literal_values(subject: Subject) -> Iterator[Problem]:
    """Numbers written as numbers, and values of other types where an expression or a number belongs (2.11, 2.12)."""
    manifest, text = subject.manifest, subject.text
    for variant in manifest.variants:
        for item in variant.all_passes():
            yield from _literal_dispatch(subject, item)
            for index, binding in enumerate(item.bindings):
                yield from _literal_fields(subject, item, index, binding)
    for name in manifest.outputs:
        raw = text.get(("outputs", name, "shape"))
        if text.has(("outputs", name, "shape")) and not isinstance(raw, str | list):
            message = f"output `{name}`: a shape is an expression or a list, not {shown(raw)}"
            yield text.problem(("outputs", name, "shape"), "shape", message)
        elif isinstance(raw, list):
            for index, size in enumerate(raw):
                if not isinstance(size, str) and not _is_size(size):
                    message = (
                        f"output `{name}`: a dimension is a whole number from 0 or an expression, not {shown(size)}"
                    )
                    yield text.problem(("outputs", name, "shape", index), "shape", message)


def _literal_dispatch(subject: Subject, item: Pass) -> Iterator[Problem]:
    dispatch = item.dispatch
    path = (*parse_path(item.path), "dispatch")
    if dispatch.form == "grid":
        for name in ("x", "y", "z"):
            size = getattr(dispatch, name)
            if is_number(size) and size > _MAX_SIDE:
                yield subject.text.problem(
                    (*path, name),
                    "dispatch-limit",
                    f"pass `{item.id}`: {number_text(size)} workgroups along {name}; {_MAX_SIDE} are the limit",
                    hint='a grid of {"workgroups": ...} is folded by the loader',
                )
    elif dispatch.form == "threads" and dispatch.workgroup_size == 0:
        message = f"pass `{item.id}`: a workgroup cannot have 0 threads"
        yield subject.text.problem((*path, "workgroupSize"), "dispatch-limit", message)


def _literal_fields(subject: Subject, item: Pass, index: int, binding: Binding) -> Iterator[Problem]:
    from scanbuild.package.jsonfile import parse_path

    place = binding_path(subject.text, item, parse_path(item.path), index)
    for position, member in enumerate(binding.fields):
        for key, value in (("value", member.value), ("default", member.default)):
            if value is ABSENT or isinstance(value, str) or (key == "default" and member.value is not ABSENT):
                continue
            fault = number_problem(member.type, value)
            if not fault and is_number(value):
                fault = range_problem(member.type, value)
            if fault:
                hint = "write 1 or 0" if isinstance(value, bool) else ""
                yield subject.text.problem(
                    (*place, "struct", position, key),
                    "uniform-number",
                    f"uniform `{binding.name}`, field `{member.name}`: {fault}",
                    hint=hint,
                )


def _value_fault(site: Site, value: Any) -> str:
    if site.use == "field":
        return number_problem(site.kind, value) or range_problem(site.kind, value)
    if site.use == "size" and not (is_integer(value) and 0 <= value <= _MAX_SIDE):
        return f"{describe(value)} is no number of workgroups from 0 to {_MAX_SIDE}"
    least = -math.inf if site.path[-1] == "threads" else 0  # somewhat negative threads count as none
    if site.use == "workgroups" and not (is_number(value) and math.isfinite(value) and value >= least):
        return f"{describe(value)} is no size"
    if site.use == "count" and not (is_integer(value) and 0 <= value <= MAX_COUNT):
        return f"{describe(value)} is no count from 0 to {MAX_COUNT}"
    if site.use == "dimension" and not _is_size(value):
        return f"{describe(value)} is no dimension"
    if site.use in ("shape", "scratch") and isinstance(value, list) and not all(map(_is_size, value)):
        return "a dimension is no whole number from 0"
    return ""


def _is_size(value: Any) -> bool:
    return is_integer(value) and value >= 0


def operand_kinds(subject: Subject) -> Iterator[Problem]:
    """Arithmetic and ordering take numbers only; an index has to be a whole one (3.5)."""
    for site, syntax in each_tree(subject):
        for node, _ in syntax.pairs:
            found = _operand_fault(node, site)
            if found is not None:
                where, message, hint = found
                yield subject.text.problem(
                    site.path,
                    "operand-kind",
                    f"{site.words}: {message}",
                    hint=hint,
                    within=(site.text, syntax.place(where)),
                )


def _operand_fault(node: nodes.Node, site: Site) -> tuple[nodes.Node, str, str] | None:
    if isinstance(node, nodes.Compare) and node.ops[0].op in _ORDERINGS:
        kinds = [kind_of(node.expr, site), kind_of(node.ops[0].expr, site)]
        wrong: Kind = next((kind for kind in kinds if kind not in ("", "number")), "")
        if wrong == "boolean" and isinstance(node.expr, nodes.Compare):
            return node, "comparisons cannot be chained", "write `a < b and b < c`"
        if wrong:
            return node, f"an order is between numbers, not {_KIND_WORDS[wrong]}", ""
    elif isinstance(node, nodes.BinExpr) and not isinstance(node, (nodes.And, nodes.Or)):
        kinds = [kind_of(node.left, site), kind_of(node.right, site)]
        if isinstance(node, nodes.Add):
            if set(kinds) == {"list", "number"}:
                return node, "a number is added to a list", "lists are joined with lists: `shapes.x + [1]`"
            allowed: tuple[Kind, ...] = ("", "number", "text", "list")
        else:
            allowed = ("", "number", "boolean") if isinstance(node, nodes.Pow) else ("", "number")
        wrong = next((kind for kind in kinds if kind not in allowed), "")
        if wrong and "text" not in kinds:
            hint = "write `(1 if condition else 0)`" if wrong == "boolean" else ""
            return node, f"arithmetic is between numbers, not {_KIND_WORDS[wrong]}", hint
    elif isinstance(node, nodes.Getitem) and isinstance(node.arg, nodes.Div):
        return node, "an index made by `/` is no whole number", "write `//`"
    return None


def pitfalls(subject: Subject) -> Iterator[Problem]:
    """Comparisons that are always the same, whatever the request."""
    for site, syntax in each_tree(subject):
        for node, _ in syntax.pairs:
            found = _pitfall(node, site)
            if found is not None:
                rule, message, hint = found
                yield _pitfall_problem(subject, site, syntax, node, rule, message, hint)


def _pitfall(node: nodes.Node, site: Site) -> tuple[str, str, str] | None:
    if not isinstance(node, nodes.Compare):
        return None
    operator, right = node.ops[0].op, node.ops[0].expr
    if operator in ("eq", "ne") and kind_of(node.expr, site) == kind_of(right, site) == "list":
        answer = "false" if operator == "eq" else "true"
        return "list-equality", f"two lists are never equal, so this is always {answer}", "write `sameShape(a, b)`"
    if operator in ("in", "notin") and member_of(right) in (("device", "features"), ("device", "wgslLanguageFeatures")):
        answer = "false" if operator == "in" else "true"
        holder = ".".join(member_of(right) or ())
        return "feature-in", f"a name is never `in` {holder}, so this is always {answer}", f"write `{holder}.has(name)`"
    kinds = {kind_of(node.expr, site), kind_of(right, site)}
    if operator in ("eq", "ne") and kinds == {"text", "number"} and _is_dtype(node.expr, right):
        return "dtype-number", "a dtype is compared with a number", "dtypes are texts, such as 'float16'"
    return None


def _is_dtype(*sides: nodes.Node) -> bool:
    return any((member_of(side) or ("",))[0] in ("dtypes", "logicalDtypes", "tensorDtypes") for side in sides)


def _pitfall_problem(
    subject: Subject, site: Site, syntax: Syntax, node: nodes.Node, rule: str, message: str, hint: str
) -> Problem:
    return subject.text.problem(
        site.path,
        rule,
        f"{site.words}: {message}",
        hint=hint,
        severity="warning",
        stage="own",
        within=(site.text, syntax.place(node)),
    )


def numeric_texts(subject: Subject) -> Iterator[Problem]:
    """A tunable whose default is a number in quotes is a text: it joins where it should add."""
    for path, names in _tunable_maps(subject):
        for name, item in names.items():
            value = item.get("default") if isinstance(item, dict) else None
            if isinstance(value, str) and _NUMERIC.fullmatch(value):
                yield subject.text.problem(
                    (*path, name, "default"),
                    "numeric-text",
                    f"the default of the tunable `{name}` is a text, not a number",
                    hint=f"write {value}",
                    severity="warning",
                    stage="own",
                )


def unevaluated_defaults(subject: Subject) -> Iterator[Problem]:
    """The default of an attribute or tunable that looks like an expression: it is a text, and stays one (3.1)."""
    maps = [*_tunable_maps(subject)]
    attributes = subject.text.get(("attributes",))
    if isinstance(attributes, dict):
        maps.append((("attributes",), attributes))
    for path, names in maps:
        for name, item in names.items():
            value = item.get("default") if isinstance(item, dict) else None
            if isinstance(value, str) and _EVALUABLE.search(value):
                yield subject.text.problem(
                    (*path, name, "default"),
                    "literal-text",
                    f"the default of `{name}` looks like an expression, and is taken for a text: nothing evaluates it",
                    hint="write the value itself; what depends on the request belongs into a derive",
                    severity="warning",
                    stage="own",
                )


def _tunable_maps(subject: Subject) -> Iterator[tuple[Path, dict[str, Json]]]:
    """The objects of tunables as written, those of the manifest and of its variants."""
    for path in [(), *(parse_path(variant.path) for variant in subject.manifest.variants)]:
        found = subject.text.get((*path, "tunables"))
        if isinstance(found, dict):
            yield (*path, "tunables"), found


def dtype_words(subject: Subject) -> Iterator[Problem]:
    """``dtypes.T`` is a WGSL scalar, ``logicalDtypes.T`` and ``tensorDtypes.x`` are dtypes; a word of the other kind
    never matches (3.7)."""
    for site, syntax in each_tree(subject):
        for node, _ in syntax.pairs:
            if not isinstance(node, nodes.Compare) or node.ops[0].op not in ("eq", "ne"):
                continue
            for one, other in ((node.expr, node.ops[0].expr), (node.ops[0].expr, node.expr)):
                holder = (member_of(one) or ("",))[0]
                known = _DTYPE_WORDS.get(holder)
                if known is None or not isinstance(other, nodes.Const) or not isinstance(other.value, str):
                    continue
                if other.value not in known:
                    listed = ", ".join(sorted(known))
                    message = f"`{holder}` holds {listed}; it is never '{other.value}'"
                    hint = "`logicalDtypes` holds dtypes" if holder == "dtypes" else "`dtypes` holds WGSL types"
                    known_elsewhere = other.value in _DTYPE_WORDS["logicalDtypes"] | _DTYPE_WORDS["dtypes"]
                    yield _pitfall_problem(
                        subject, site, syntax, node, "dtype-word", message, hint if known_elsewhere else ""
                    )
