"""Rules on shader templates: that they can be expanded and parsed, and that what they read exists (4)."""

import re
from collections.abc import Iterable, Iterator, Mapping
from difflib import get_close_matches
from typing import Final

from jinja2 import nodes

from scanbuild.checking.expressions import FOREIGN
from scanbuild.checking.forms import TemplateForm, read_form
from scanbuild.checking.members import members_of
from scanbuild.checking.sites import NAMESPACES, Visible, labels_of
from scanbuild.checking.subject import Subject
from scanbuild.checking.syntax import walk
from scanbuild.dialect import CONSTANTS, HELPERS, DialectError
from scanbuild.errors import Problem, Severity, Stage
from scanbuild.package.model import Pass, RepeatGroup, Variant
from scanbuild.package.report import nearest
from scanbuild.package.source import SHARED_FOLDER

_TEMPLATE_NAMES: Final = frozenset({"env", "range", "raise_exception", "namespace", "loop", "caller"})
_TAG: Final = re.compile(
    r"\{%-?\s*(?P<word>if|for|macro|call|filter|set|end(?:if|for|macro|call|filter|set))\b(?P<rest>.{0,400}?)%\}|\{#",
    re.DOTALL,
)
_ASSIGNS: Final = re.compile(r"(?<![=!<>])=(?!=)")
_SHARED: Final = f"{SHARED_FOLDER}/"
_MEMBER: Final = re.compile(r"[.\[]\s*[\"']?")
_LANGUAGE: Final = frozenset({"range", "raise_exception", "namespace", *CONSTANTS})


def template_errors(subject: Subject) -> Iterator[Problem]:
    """Every shader has to expand and to parse, branches that are not taken included."""
    told: dict[str, Problem] = {}
    for shader, form in subject.forms.items():
        if form.error is None:
            continue
        if _SHARED in form.error.message and not any(path.startswith(_SHARED) for path in subject.templates):
            told.setdefault(_SHARED, _without_shared(subject, shader, form.error))
            continue
        yield _unclosed(subject, form) or _runaway(subject, form) or _dialect_problem(subject, shader, form.error)

    yield from told.values()


def _without_shared(subject: Subject, shader: str, error: DialectError) -> Problem:
    """A copy of a package without the folder that its templates share with others: one mistake, however often."""
    message = f"{error.message.partition(' among')[0]}: there is no folder `{SHARED_FOLDER}` beside the package"
    hint = f"copy `{SHARED_FOLDER}` along with the package; its templates include from there"
    problem = Problem(message=message, rule="template-include", hint=hint, stage="call")
    return subject.template_problem(problem, error.file or shader, error.line, error.column)


def _unclosed(subject: Subject, form: TemplateForm) -> Problem | None:
    """The statement that the end of the text leaves open: its beginning tells more than the end of the text."""
    if form.expanded is None or form.error is None or "before the end of the text" not in form.error.message:
        return None
    opened: list[tuple[str, int]] = []
    for tag in _tags(form.expanded.text):
        word = tag["word"]
        if word.startswith("end"):
            if opened and opened[-1][0] == word[3:]:
                opened.pop()
        elif word != "set" or not _ASSIGNS.search(tag["rest"]):
            opened.append((word, tag.start()))
    if not opened:
        return None
    word, offset = opened[-1]
    hint = "a `set` without `=` begins a block" if word == "set" else ""
    message = f"this `{word}` is not closed: `{{% end{word} %}}` is missing"
    problem = Problem(message=message, rule="template-syntax", hint=hint, stage="call")
    return subject.template_problem(problem, *form.expanded.place(offset))


def _tags(text: str) -> Iterator[re.Match[str]]:
    """The tags of statements that begin or end a block, those in comments left out."""
    position = 0
    while found := _TAG.search(text, position):
        position = found.end()
        if found["word"] is not None:
            yield found
        else:
            end = text.find("#}", position)
            position = len(text) if end < 0 else end + 2


def _runaway(subject: Subject, form: TemplateForm) -> Problem | None:
    """A tag that has no end of its own and runs into the lines behind it, where the parser stumbles."""
    error = form.error
    if error is None or error.line is None or not error.message.startswith(("unexpected character", "'{")):
        return None
    file = error.file or form.shader
    before = "\n".join(subject.templates.get(file, "").split("\n")[: error.line - 1])
    opened = max(before.rfind("{{"), before.rfind("{%"))
    end = "}}" if before[opened : opened + 2] == "{{" else "%}"
    if opened < 0 or end in before[opened:]:
        return None
    problem = Problem(message=f"this tag is not closed: `{end}` is missing", rule="template-syntax", stage="call")
    line, column = before.count("\n", 0, opened) + 1, opened - before.rfind("\n", 0, opened)
    return subject.template_problem(problem, file, line, column)


def _dialect_problem(subject: Subject, shader: str, error: DialectError) -> Problem:
    file = error.file or shader
    problem = Problem(
        message=_plain(error.message), rule=f"template-{error.kind}", hint=_hint(error, subject, file), stage="call"
    )
    return subject.template_problem(problem, file, error.line, error.column)


def _plain(message: str) -> str:
    if "before the end of the text" in message:
        return message.replace("expected", "the text ends where", 1).replace(
            "before the end of the text", "was expected"
        )
    return message


def _hint(error: DialectError, subject: Subject, file: str) -> str:
    message = error.message
    if error.kind == "include":
        return "" if "did you mean" in message else f"there are {', '.join(list(subject.templates)[:10])}"
    line = _line(subject.templates.get(file, ""), error.line)
    for statement, advice in (
        ("include", 'write `{% include "path" %}`, without dashes and without expressions'),
        ("import", "there is no import; include the file, its macros carry over"),
        ("from", "there is no import; include the file, its macros carry over"),
        ("raw", 'there is no raw; print the braces: `{{ "{{" }}`'),
        ("extends", "there is no inheritance; include the file"),
        ("block", "there is no inheritance; write a macro"),
        ("with", "there is no with; use set"),
        ("elseif", "write elif"),
        ("elsif", "write elif"),
        ("endfor", "there is no `for` open here, or an `if` inside of it is not closed"),
        ("endif", "there is no `if` open here, or a `for` inside of it is not closed"),
        ("endmacro", "there is no `macro` open here"),
        ("endcall", "there is no `call` open here"),
        ("endfilter", "there is no `filter` open here"),
        ("endset", "there is no `set` without `=` open here"),
        ("else", "there is no `if` or `for` open here"),
    ):
        if f"unknown statement '{statement}'" in message:
            return advice
    if "&&" in line or "||" in line:
        return "write `and` and `or`"
    before = line[: (error.column or 1) - 1]
    opened = max(before.rfind("{{"), before.rfind("{%"))
    end = "}}" if before[opened : opened + 2] == "{{" else "%}"
    is_stray = message.startswith("unexpected character") or "inside a tag" in message
    if is_stray and opened >= 0 and end not in before[opened:]:
        return f"the tag that begins in column {opened + 1} is not closed by `{end}`"
    tag = re.match(r"\{%-?\s*(\w+)", before[opened:]) if opened >= 0 else None
    word = tag[1] if tag is not None else ""
    if word == "set" and message.startswith("expected '%}'"):
        return "write `set name = value`"
    if word == "for" and "'in'" in message:
        return "write `for item in list`"
    return "to compare, write `==`" if word in ("if", "elif") and message.endswith("found '='") else ""


def _line(text: str, number: int | None) -> str:
    lines = text.split("\n")
    return lines[number - 1] if number is not None and 0 < number <= len(lines) else ""


def undefined_names(subject: Subject) -> Iterator[Problem]:
    """A template that reads a name nobody defines prints nothing for it, or fails (4.4)."""
    contexts = _contexts(subject)
    for shader, form in subject.forms.items():
        if form.error is not None or shader not in contexts:
            continue
        for name in sorted(form.names.required - form.names.bound):
            if name in _TEMPLATE_NAMES or name in HELPERS or name in CONSTANTS:
                continue
            lacking = [where for where, visible in contexts[shader] if name not in visible.bare]
            if not lacking:
                continue
            offset = form.names.first_offset[name]
            missing_everywhere = len(lacking) == len(contexts[shader])
            fails = missing_everywhere and _fails(form, name)
            message = f"`{name}` is not defined" + ("" if missing_everywhere else f" in {lacking[0]}")
            message += ", and using it like this fails" if fails else "; it prints as nothing"
            severity: Severity = "error" if fails else "warning"
            stage: Stage = "call" if fails else "own"
            where_lacking = next(visible for _, visible in contexts[shader] if name not in visible.bare)
            hint = _name_hint(name, where_lacking, subject, form)
            problem = Problem(message=message, rule="undefined-name", hint=hint, severity=severity, stage=stage)
            yield subject.template_problem(problem, *form.place(offset))


def _fails(form: TemplateForm, name: str) -> bool:
    """Whether a name is used, outside of all branches and macros, in a way that an undefined value cannot be."""
    for statement in form.tree.body:
        if isinstance(statement, nodes.Output):
            pairs = walk(statement)
        elif isinstance(statement, nodes.For):
            pairs = walk(statement.iter)
            if isinstance(statement.iter, nodes.Name) and statement.iter.name == name:
                return True
        elif isinstance(statement, nodes.Assign):
            pairs = walk(statement.node)
        else:
            continue
        for node, _ in pairs:
            operands: list[nodes.Node] = []
            if isinstance(node, nodes.BinExpr) and not isinstance(node, (nodes.And, nodes.Or)):
                operands = [node.left, node.right]
            elif isinstance(node, nodes.Call):
                operands = [node.node]
            conditional = any(isinstance(other, nodes.CondExpr) for other, _ in walk(statement))
            if not conditional and any(isinstance(item, nodes.Name) and item.name == name for item in operands):
                return True
    return False


def _name_hint(name: str, visible: Visible, subject: Subject, form: TemplateForm) -> str:
    manifest = subject.manifest
    for word, names in (
        ("tunables", visible.tunables),
        ("attrs", tuple(manifest.attributes)),
        ("args", tuple(manifest.args)),
    ):
        if name in names:
            return f"write `{word}.{name}`"
    if name in FOREIGN:
        return FOREIGN[name]
    if name in ("resourceDeclarations", "declarations", "bindings"):
        return "write `env.wgsl.resourceDeclarations`"
    if any(name in variant.derive or _in_pass(name, variant) for variant in manifest.variants):
        beside = get_close_matches(name, visible.derives, 1, 0.85)
        meant = f'did you mean "{beside[0]}"? ' if beside else ""
        return f"{meant}`{name}` is a derive of another variant or pass"
    return nearest(name, [*form.names.bound, *visible.bare, *HELPERS, *_TEMPLATE_NAMES])


def _in_pass(name: str, variant: Variant) -> bool:
    return any(name in item.derive for item in variant.all_passes())


def undefined_members(subject: Subject) -> Iterator[Problem]:
    """A template that reads a member which no request can have."""
    contexts = _contexts(subject)
    for shader, form in subject.forms.items():
        if form.error is not None or shader not in contexts:
            continue
        seen: set[tuple[str, str]] = set()
        for node, _ in walk(form.tree):
            lacking = []
            found = None
            for where, visible in contexts[shader]:
                found = members_of(node, visible, subject.manifest)
                if found is None or found.holder in form.names.bound:
                    break
                if found.member not in found.known:
                    lacking.append((where, found))
            if not lacking or (lacking[0][1].holder, lacking[0][1].member) in seen:
                continue
            where, missing = lacking[0]
            seen.add((missing.holder, missing.member))
            everywhere = len(lacking) == len(contexts[shader])
            problem = Problem(
                message=f"`{missing.holder}` has no member `{missing.member}`" + ("" if everywhere else f" in {where}"),
                rule="undefined-member",
                hint=nearest(missing.member, missing.known) or missing.advice,
                severity="warning",
                stage="own",
            )
            yield subject.template_problem(problem, *form.place(_member_start(form, node.lineno)))


def _member_start(form: TemplateForm, offset: int) -> int:
    """The offset of a member's name behind the dot, or the bracket and quote, that a node begins with."""
    opening = _MEMBER.match(form.expanded.text, offset) if form.expanded is not None else None
    return opening.end() if opening is not None else offset


def _contexts(subject: Subject) -> dict[str, list[tuple[str, Visible]]]:
    """What each shader sees in each pass that renders it."""
    manifest = subject.manifest
    labels = labels_of(manifest)
    found: dict[str, list[tuple[str, Visible]]] = {}
    for variant in manifest.variants:
        for item, around in _passes(variant.passes, ()):
            derives = tuple(dict.fromkeys((*manifest.derive, *variant.derive, *item.derive)))
            members = ("index", "count", *around, *(f"{name}_count" for name in around)) if around else ()
            visible = Visible(
                stage="pass", derives=derives, tunables=tuple(variant.tunables), labels=labels, repeat=members
            )
            where = f"pass `{item.id}` of variant `{variant.id}`"
            entries = found.setdefault(item.shader, [])
            if all(visible != other for _, other in entries):
                entries.append((where, visible))
    return found


def _passes(items: tuple[Pass | RepeatGroup, ...], around: tuple[str, ...]) -> Iterator[tuple[Pass, tuple[str, ...]]]:
    for item in items:
        if isinstance(item, Pass):
            yield item, around
        else:
            yield from _passes(item.passes, (*around, item.index))


def language_names(subject: Subject) -> Iterator[Problem]:
    """A derive or type variable may not be called like a name of the language that a template mentions (4.5)."""
    contexts = _contexts(subject)
    for shader, form in subject.forms.items():
        for where, visible in contexts.get(shader, ()):
            for name in sorted(_LANGUAGE & form.names.mentioned & (visible.bare - NAMESPACES)):
                problem = Problem(
                    message=f"`{name}` is a name of the language, and a derive or type variable in {where}",
                    rule="template-names",
                    hint="rename the derive or the type variable",
                    stage="call",
                )
                yield subject.template_problem(problem, *form.place(form.names.first_offset.get(name, 0)))
                break


def unlisted_includes(subject: Subject) -> Iterator[Problem]:
    """In a built package, each variant lists the files that its shaders include (1.6)."""
    if subject.metadata is None or subject.metadata_text is None:
        return
    for variant in subject.manifest.variants:
        listed = subject.metadata.variants.get(variant.id)
        for shader in variant.shaders if listed is not None else ():
            form = subject.forms.get(shader)
            if form is None or form.error is not None:
                continue
            for path in form.files:
                if listed is None or path in listed:
                    continue
                yield subject.metadata_text.problem(
                    ("webgpu", "variants", variant.id),
                    "include-unlisted",
                    f"the variant `{variant.id}` includes `{path}`, by `{shader}`, and does not list it",
                    hint="only listed files are fetched; add it to the list",
                )


def read_forms(templates: Mapping[str, str], shaders: Iterable[str]) -> dict[str, TemplateForm]:
    """The shaders among the templates, each expanded and parsed once."""
    return {shader: read_form(shader, templates) for shader in shaders if shader in templates}
