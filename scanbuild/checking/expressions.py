"""Rules on expressions: that they parse, and that what they name exists at their stage."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from difflib import get_close_matches
from itertools import islice
from typing import Final

from jinja2 import nodes

from scanbuild.checking.kinds import fails_undefined
from scanbuild.checking.members import Member, members_of
from scanbuild.checking.places import shortened
from scanbuild.checking.sites import STAGE_WORDS, Site
from scanbuild.checking.subject import Subject
from scanbuild.checking.syntax import Syntax, expression_syntax, member_of, walk
from scanbuild.dialect import CONSTANTS, HELPERS
from scanbuild.errors import Problem
from scanbuild.package.jsonfile import Path
from scanbuild.package.report import nearest
from scanbuild.package.vocabulary import LOGICAL_DTYPES, WGSL_SCALARS

_ADVICE: Final = (
    ("&&", "write `and`"),
    ("||", "write `or`"),
    ("===", "write `==`"),
    ("!==", "write `!=`"),
    ("<>", "write `!=`"),
    ("!", "write `not`; `!=` has no blank in it"),
    ("?", "write `a if condition else b`"),
    ("=>", "write `>=`; there are no functions"),
    ("=", "to compare, write `==`"),
    ("&", "there are no bit operators"),
    ("^", "a power is `**`; there are no bit operators"),
    ("|", "write `or`; a single `|` comes before the name of a filter"),
    ("`", "a text stands in single or double quotes"),
    ("$", "a derive is named without `$` in an expression"),
)

FOREIGN: Final = {
    "null": "write `none`",
    "undefined": "write `x is undefined`",
    "nil": "write `none`",
    "len": "write `x | length`",
    "abs": "write `x | abs`",
    "int": "write `x | int`",
    "float": "write `x | float`, or put the word into quotes if it is a text",
    "round": "write `floor(x + 0.5)`",
    "sum": "there is no sum; `numel(list)` is the product",
    "prod": "write `numel(list)`",
    "product": "write `numel(list)`",
    "product_of": "write `numel(list)`",
    "range": "`range` exists in templates only",
    "namespace": "`namespace` exists in templates only",
    "raise_exception": "`raise_exception` exists in templates only",
    "env": "`env` exists in templates only; expressions have `device`",
    "loop": "`loop` exists in the loops of templates only",
    **dict.fromkeys(
        ("Math", "math", "np", "numpy", "torch", "jnp"),
        "the helpers have no module: `ceil(x)`, `floor(x)`, `min(...)`, `max(...)`, `pow(a, b)`, `numel(shape)`",
    ),
    **dict.fromkeys(
        ("inputs", "outputs", "input", "output", "tensors"),
        "of a tensor called x there are `shapes.x`, `ranks.x`, `present.x` and `tensorDtypes.x`",
    ),
    "str": "write `x | string`, or join with `~`",
    "lambda": "there are no functions",
    "dtype": "write `dtypes.T`, of the type variable T, or `tensorDtypes.x`, of the tensor x",
    "AND": "write `and`",
    "OR": "write `or`",
    "NOT": "write `not`",
    "TRUE": "write `true`",
    "FALSE": "write `false`",
}
_TEXT_WORDS: Final = frozenset({*LOGICAL_DTYPES, *WGSL_SCALARS.values()})
_MAX_LINES: Final = 8
_MAX_NAMES: Final = 20
"""So many unknown names of one expression are told."""

_MAX_LACKING: Final = 500
"""So many of all expressions."""

_BESIDE: Final = 0.85
"""A derive beside so much alike a name is what was meant, rather than the one of that name elsewhere."""

_QUOTES: Final = "a literal text needs quotes of its own"
_DOUBLED = re.compile(r"\b(and|or)\s+(and|or)\b")
_FORMATTED = re.compile(r"(?<!\w)f['\"]")
_WORD_END = re.compile(r"[\w)\]\"']$")
_WORD = re.compile(r"[\w(]")
_BLANKS = re.compile(r"\s*")


def syntax_errors(subject: Subject) -> Iterator[Problem]:
    """Every expression has to parse, in untaken branches too."""
    for site in subject.sites:
        syntax = expression_syntax(site.text)
        if syntax.error is not None:
            rule = "expression-limit" if syntax.error.kind == "limit" else "expression-syntax"
            message = f"{site.words}: {_words(syntax)}"
            hint = _advice(site, syntax)
            within = (site.text, syntax.offset)
            yield subject.text.problem(site.path, rule, message, hint=hint, within=within)


def _words(syntax: Syntax) -> str:
    message = syntax.error.message if syntax.error is not None else ""
    at_end = not syntax.text[syntax.offset :].strip()
    if at_end and "'}}'" in message:
        return "the expression ends too early"
    message = message.replace("expected '}}', found", "expected an operator or the end of the expression, found")
    message = message.replace("expected a value, found '}}'", "a value is missing at the end of the expression")
    return message.replace("this tag has no end: expected '}}'", "a bracket is not closed")


def _advice(site: Site, syntax: Syntax) -> str:
    if not site.text.strip():
        return "leave it out, or write an expression"
    start = _BLANKS.match(site.text, syntax.offset)
    rest = site.text[start.end() if start else syntax.offset :]
    before = site.text[: syntax.offset].rstrip()
    for sign, advice in _ADVICE:
        if rest.startswith(sign) or (
            sign in ("&&", "||", "===", "=>", "<>") and before.endswith(sign[0]) and rest[:1] == sign[-1]
        ):
            return advice
    if syntax.error is not None and "closing" in syntax.error.message:
        return "close the quote"
    if rest.startswith(")") and before.endswith(","):
        return "a tuple has no trailing comma"
    if _FORMATTED.search(site.text):
        return "there are no f-strings; join texts and values with `~`"
    if site.text.lstrip().startswith("lambda"):
        return "there are no functions"
    if _DOUBLED.search(f"{before} {rest}"):
        return "an operator stands twice"
    if rest[:1] == ";":
        return "arguments are separated by commas"
    if _WORD_END.search(before) and _WORD.match(rest):
        return f"an operator is missing before `{shortened(rest.split()[0], 20)}`"
    opened = sum(site.text.count(sign) for sign in "([{") - sum(site.text.count(sign) for sign in ")]}")
    if opened > 0:
        return "a bracket is not closed"
    if opened < 0:
        return "there is a closing bracket too many"
    return "a comment or a statement cannot stand in an expression" if "{%" in rest or "{#" in rest else ""


def unknown_names(subject: Subject) -> Iterator[Problem]:
    """Every name has to exist where it stands, in untaken branches too (3.7).

    A name that lacks in many places for one reason is told once; where a derive that nobody reads is called almost
    like it, that derive is what is misspelt.
    """
    groups: dict[tuple[str, str], list[Problem]] = {}
    for name, problem in islice(_unknown_names(subject), _MAX_LACKING):
        guess = not problem.hint or problem.hint.startswith(("did you mean", _QUOTES))
        groups.setdefault((name, "" if guess else problem.hint), []).append(problem)
    for (name, _), problems in groups.items():
        yield problems[0] if len(problems) == 1 else _told_once(name, problems, subject)


def _told_once(name: str, problems: list[Problem], subject: Subject) -> Problem:
    path = _misspelt_derive(name, subject)
    places = sorted({problem.line for problem in problems if problem.line is not None})
    if path is not None and len(places) > 1:
        return subject.text.problem(
            path,
            "expression-name",
            f"nothing reads the derive `{path[-1]}`, and `{name}`, which is read elsewhere, does not exist",
            hint=f"is it misspelt? `{name}` is read in {_listed(places)}",
            key=True,
        )
    first = min(problems, key=lambda problem: (problem.line or 0, problem.column or 0))
    others = [line for line in places if line != first.line]
    more = f" (and in {_listed(others)})" if others else ""
    hint = "" if others and first.hint.startswith(_QUOTES) else first.hint
    return replace(first, message=first.message + more, hint=hint)


def _listed(lines: list[int]) -> str:
    shown = ", ".join(map(str, lines[:_MAX_LINES]))
    more = f" and {len(lines) - _MAX_LINES} more" if len(lines) > _MAX_LINES else ""
    return f"line{'' if len(lines) == 1 else 's'} {shown}{more}"


def _misspelt_derive(name: str, subject: Subject) -> Path | None:
    """Where a derive that no expression reads is declared, if it is called almost like a name."""
    read = {known for site in subject.sites for known in expression_syntax(site.text).names.required}
    declared: dict[str, set[Path]] = {}
    for site in subject.sites:
        if site.use == "derive" and "derive" in site.path:
            path = site.path[: site.path.index("derive") + 2]
            declared.setdefault(str(path[-1]), set()).add(path)
    once = [other for other, paths in declared.items() if len(paths) == 1 and other not in read]
    near = get_close_matches(name, once, 1)
    return next(iter(declared[near[0]])) if near else None


def _unknown_names(subject: Subject) -> Iterator[tuple[str, Problem]]:
    for site in subject.sites:
        syntax = expression_syntax(site.text)
        known = site.visible.bare
        unknown = [name for name in syntax.names.required - known if name not in HELPERS and name not in CONSTANTS]
        for name in sorted(unknown)[:_MAX_NAMES]:
            where = syntax.written(syntax.names.first_offset[name])
            yield (
                name,
                subject.text.problem(
                    site.path,
                    "expression-name",
                    f"{site.words}: `{name}` is no name that {STAGE_WORDS[site.visible.stage]} can use",
                    hint=_name_hint(name, site, syntax, subject),
                    within=(site.text, where),
                ),
            )


def _name_hint(name: str, site: Site, syntax: Syntax, subject: Subject) -> str:
    manifest, visible = subject.manifest, site.visible
    if name in visible.later:
        if site.path[-1] == name:
            return "a derive cannot refer to itself"
        return f"the derive `{name}` comes later; a derive sees those before it: move it up"
    for word, names in (
        ("tunables", visible.tunables),
        ("attrs", tuple(manifest.attributes)),
        ("args", tuple(manifest.args)),
    ):
        if name in names:
            return f"write `{word}.{name}`"
    if name in manifest.inputs or name in manifest.outputs:
        return f"a tensor has no value here; write `shapes.{name}`, `ranks.{name}` or `present.{name}`"
    if name in manifest.type_constraints:
        return f"a type variable stands alone in passes only; write `dtypes.{name}`"
    owner = _owner(name, subject)
    beside = get_close_matches(name, visible.derives, 1, _BESIDE) if owner else []
    if beside:
        return f'did you mean "{beside[0]}"? `{name}` is a derive of {owner}'
    if owner:
        return f"`{name}` is a derive of {owner}, which is not visible here"
    if name in FOREIGN:
        return FOREIGN[name]
    near = nearest(name, [*visible.bare, *HELPERS, *CONSTANTS])
    is_alone = isinstance(syntax.root, nodes.Name) and site.use in ("derive", "profile")
    if name in _TEXT_WORDS or (is_alone and not near):
        return f"{_QUOTES}: \"'{name}'\""
    return near


def _owner(name: str, subject: Subject) -> str:
    for variant in subject.manifest.variants:
        if name in variant.derive:
            return f"the variant `{variant.id}`"
        for item in variant.all_passes():
            if name in item.derive:
                return f"the pass `{item.id}` of the variant `{variant.id}`"
    return ""


def unknown_members(subject: Subject) -> Iterator[Problem]:
    """``attrs.x``, ``shapes.x`` and the like have to be declared; what is not is undefined, and often fails.

    A member that lacks in several places is told once: where it is declared under a name that nothing reads and that
    is almost the same, else at the first place.
    """
    groups: dict[tuple[str, str], list[Problem]] = {}
    for found, problem in _unknown_members(subject):
        groups.setdefault((found.holder, found.member), []).append(problem)
    read = _members_read(subject) if any(len(problems) > 1 for problems in groups.values()) else set()
    for (holder, member), problems in groups.items():
        yield problems[0] if len(problems) == 1 else _member_told_once(holder, member, problems, subject, read)


def _member_told_once(
    holder: str, member: str, problems: list[Problem], subject: Subject, read: set[tuple[str, str] | None]
) -> Problem:
    worst = next((problem for problem in problems if problem.severity == "error"), problems[0])
    places = sorted({problem.line for problem in problems if problem.line is not None})
    key = {"tunables": "tunables", "attrs": "attributes", "args": "args"}.get(holder, "")
    declared = subject.text.get((key,)) if key else None
    near = get_close_matches(member, declared, 1) if isinstance(declared, dict) else []
    if near and len(places) > 1 and (holder, near[0]) not in read:
        return subject.text.problem(
            (key, near[0]),
            worst.rule,
            f"nothing reads `{holder}.{near[0]}`, and `{holder}` has no member `{member}`, which is read elsewhere",
            hint=f"is it misspelt? `{holder}.{member}` is read in {_listed(places)}",
            key=True,
            severity=worst.severity,
            stage=worst.stage,
        )
    others = [line for line in places if line != worst.line]
    more = f" (and in {_listed(others)})" if others else ""
    return replace(worst, message=worst.message + more)


def _members_read(subject: Subject) -> set[tuple[str, str] | None]:
    """Every member that an expression or a template reads."""
    trees = [syntax.pairs for _, syntax in each_tree(subject)]
    trees += [tuple(walk(form.tree)) for form in subject.forms.values()]
    return {member_of(node) for pairs in trees for node, _ in pairs}


def _unknown_members(subject: Subject) -> Iterator[tuple[Member, Problem]]:
    for site in subject.sites:
        syntax = expression_syntax(site.text)
        if not any(len(read) > 1 for read in syntax.names.reads):
            continue
        parents: dict[int, nodes.Node | None] = {}
        for node, parent in syntax.pairs:
            parents[id(node)] = parent
            found = members_of(node, site.visible, subject.manifest)
            if found is None or found.member in found.known:
                continue
            fails = not _is_guarded(syntax) and fails_undefined(node, parents, site.use)
            problem = subject.text.problem(
                site.path,
                "expression-member",
                f"{site.words}: `{found.holder}` has no member `{found.member}`, so it is undefined"
                + (", and that fails here" if fails else ""),
                hint=nearest(found.member, found.known) or found.advice,
                severity="error" if fails else "warning",
                stage="call" if fails else "own",
                within=(site.text, _member_offset(syntax, node)),
            )
            yield found, problem


def _is_guarded(syntax: Syntax) -> bool:
    """Whether an expression asks for the presence of something, so that what is absent may be out of reach."""
    tests = {node.name for node, _ in syntax.pairs if isinstance(node, nodes.Test)}
    return bool(tests & {"defined", "undefined"}) or not syntax.names.required.isdisjoint({"has", "present"})


def _member_offset(syntax: Syntax, node: nodes.Node) -> int:
    """The offset of the member's name, not of the dot before it."""
    offset = syntax.place(node)
    skipped = re.compile(r"[.\[]\s*[\"']?").match(syntax.text, offset)
    return skipped.end() if skipped else offset


def scalar_presence(subject: Subject) -> Iterator[Problem]:
    """``present.<arg>`` is false at a call whatever is passed (3.7)."""
    for site in subject.sites:
        syntax = expression_syntax(site.text)
        for node, _ in syntax.pairs:
            found = member_of(node)
            if found is not None and found[0] == "present" and found[1] in subject.manifest.args:
                yield subject.text.problem(
                    site.path,
                    "present-arg",
                    f"{site.words}: `present.{found[1]}` is false at a call even if the argument is given",
                    hint=f"write `args.{found[1]} is defined`",
                    severity="warning",
                    stage="own",
                    within=(site.text, _member_offset(syntax, node)),
                )


def idle_questions(subject: Subject) -> Iterator[Problem]:
    """``x is defined`` of a name that never exists where it stands: the answer is always the same."""
    for site in subject.sites:
        syntax = expression_syntax(site.text)
        for node, _ in syntax.pairs:
            if not isinstance(node, nodes.Test) or node.name not in ("defined", "undefined"):
                continue
            name = node.node.name if isinstance(node.node, nodes.Name) else ""
            if not name or name in site.visible.bare or name in HELPERS or name in CONSTANTS:
                continue
            is_tensor = name in subject.manifest.inputs or name in subject.manifest.outputs
            hint = f"write `present.{name}`" if is_tensor else _name_hint(name, site, syntax, subject)
            yield subject.text.problem(
                site.path,
                "expression-name",
                f"{site.words}: `{name}` is never defined: {STAGE_WORDS[site.visible.stage]} cannot use such a name",
                hint=hint,
                severity="warning",
                stage="own",
                within=(site.text, syntax.place(node.node)),
            )


def each_tree(subject: Subject) -> Iterable[tuple[Site, Syntax]]:
    """Every expression that parses."""
    return ((site, syntax) for site in subject.sites if (syntax := expression_syntax(site.text)).error is None)
