"""One mistake, one problem: what follows from another error is left out, and what is said twice is said once."""

import re
from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from scanbuild.checking.places import as_stage
from scanbuild.checking.subject import Subject
from scanbuild.checking.trials import NO_VARIANT
from scanbuild.errors import Problem
from scanbuild.package.jsonfile import Path, parse_path

_PASS: Final = re.compile(r"variant `[^`]+`, pass `[^`]+`")
_VARIANT: Final = re.compile(r"variant `([^`]+)`")
_OF_PASSES: Final = frozenset({"unused-binding", "workgroup-size", "overshoot", "fold", "array-length"})
_LACKS: Final = re.compile(r"the members? .+ must be given")
_MEANT: Final = re.compile(r'did you mean "(\w+)"\?')
_NO_MEMBER: Final = re.compile(r"`(\w+)` has no member `(\w+)`")
_INCOMPLETE: Final = frozenset({"missing", "binding", "dispatch"})
_MAX_LINES: Final = 8


def load_problems(problems: Iterable[Problem]) -> list[Problem]:
    """Problems of loading. A misspelt member explains what its object lacks; a swapped pair is one mistake."""
    found = list(problems)
    misspelt = {
        (problem.file, parse_path(problem.path)[:-1])
        for problem in found
        if problem.rule == "unknown-key" and problem.hint.startswith("did you mean")
    }
    left = [
        problem
        for problem in found
        if problem.rule not in _INCOMPLETE or (problem.file, parse_path(problem.path)) not in misspelt
    ]
    return _repeated(_unswapped(_without_lacks(left)))


def _without_lacks(problems: list[Problem]) -> list[Problem]:
    """Members that a case file lacks, beside one whose name is misspelt: the misspelling is the mistake."""
    lacking: dict[tuple[str, Path], str] = {}
    for problem in problems:
        if problem.rule == "schema" and _LACKS.match(problem.message):
            lacking[problem.file, parse_path(problem.path)] = problem.message
    causes: dict[tuple[str, Path], Problem] = {}
    for problem in problems:
        meant = _MEANT.match(problem.hint) if problem.rule == "unknown-member" else None
        parent = (problem.file, parse_path(problem.path)[:-1])
        if meant is None or parent not in lacking:
            continue
        if parent not in causes or re.search(rf"\b{meant[1]}\b", lacking[parent]):
            causes[parent] = problem
    return [problem for problem in problems if _cause_of(problem, causes) in (None, problem)]


def _cause_of(problem: Problem, causes: dict[tuple[str, Path], Problem]) -> Problem | None:
    path = parse_path(problem.path)
    if problem.rule == "schema" and _LACKS.match(problem.message):
        return causes.get((problem.file, path))
    return causes.get((problem.file, path[:-1])) if problem.rule == "unknown-member" else None


def _unswapped(problems: list[Problem]) -> list[Problem]:
    """Both sides of an alias are wrong in the same way: they are swapped."""
    pairs: dict[tuple[str, Path], list[Problem]] = {}
    for problem in problems:
        if problem.rule == "view-alias" and " has to be a " in problem.message:
            pairs.setdefault((problem.file, parse_path(problem.path)[:-1]), []).append(problem)
    second = {id(pair[1]): pair[0] for pair in pairs.values() if len(pair) == 2}
    firsts = {id(first) for first in second.values()}
    hint = "input and output are swapped"
    return [replace(item, hint=hint) if id(item) in firsts else item for item in problems if id(item) not in second]


def _repeated(problems: list[Problem]) -> list[Problem]:
    """What is said of many places in the same words is said of the first."""
    groups: dict[tuple[str, ...], list[Problem]] = {}
    for problem in problems:
        groups.setdefault((problem.file, problem.rule, problem.message, problem.hint, problem.severity), []).append(
            problem
        )
    told = []
    for group in groups.values():
        lines = sorted({problem.line for problem in group[1:] if problem.line not in (None, group[0].line)})
        listed = f"line{'' if len(lines) == 1 else 's'} {', '.join(map(str, lines[:_MAX_LINES]))}"
        more = f" (and in {listed})" if lines else ""
        told += [replace(group[0], message=group[0].message + more)] if more else group
    return told


def static_problems(problems: list[Problem]) -> list[Problem]:
    """Where a name is unknown, what it was meant to read seems to be unused, and what is called of it not to exist."""
    unknown = {(problem.file, problem.path) for problem in problems if problem.rule == "expression-name"}
    members = {
        found[0]
        for problem in problems
        if problem.rule == "expression-member" and problem.severity == "error"
        for found in _NO_MEMBER.finditer(problem.message)
    }
    prints_nothing = any(problem.rule in ("undefined-name", "undefined-member") for problem in problems)
    left = []
    for problem in problems:
        is_echo = (
            (problem.rule.startswith("unused-") and (unknown or members))
            or (problem.rule == "unused-derive" and prints_nothing)
            or (problem.rule == "method" and (problem.file, problem.path) in unknown)
            or (problem.rule == "undefined-member" and problem.message in members)
        )
        if not is_echo:
            left.append(problem)
    return left


def trial_problems(problems: list[Problem]) -> list[Problem]:
    """Of a pass that fails, what else could be said of its shader and grid is no news."""
    failing = {
        found[0]
        for problem in problems
        if problem.severity == "error" or problem.rule == "call-refused"
        for found in _PASS.finditer(problem.message)
    }
    return [
        problem
        for problem in problems
        if problem.rule not in _OF_PASSES or (found := _PASS.match(problem.message)) is None or found[0] not in failing
    ]


def explained(problems: list[Problem], subject: Subject) -> list[Problem]:
    """A misspelt member, or a name that prints as nothing, is the mistake; what comes of it is left out.

    It becomes an error where a case, or the text of a shader, fails because of it.
    """
    left = _explained_texts(_explained_variants(_explained_cases(problems, subject)))
    if any(problem.rule in ("undefined-name", "undefined-member") for problem in left):
        return [problem for problem in left if problem.rule != "unused-binding"]
    return left


def _explained_cases(problems: list[Problem], subject: Subject) -> list[Problem]:
    """A case that no variant takes because of a misspelt member."""
    refused = [problem for problem in problems if problem.rule == NO_VARIANT and problem.severity == "error"]
    causes: set[Problem] = set()
    effects: set[Problem] = set()
    for problem in problems:
        clause = subject.text.get(parse_path(problem.path)) if problem.rule == "expression-member" else None
        for item in refused if isinstance(clause, str) else ():
            if f"`{clause}`" in item.message:
                causes.add(problem)
                effects.add(item)
    left = [problem for problem in problems if problem not in effects]
    return [as_stage(problem, "error", "call") if problem in causes else problem for problem in left]


def _explained_variants(problems: list[Problem]) -> list[Problem]:
    """A variant that nothing reaches because its conditions read what does not exist."""
    unreachable = {
        found[1]
        for problem in problems
        if problem.rule in ("expression-member", "expression-name", "clause-kind") and ", when: " in problem.message
        if (found := _VARIANT.match(problem.message)) is not None
    }
    echoes = [("unreached-variant", f"variant `{name}`:") for name in unreachable]
    echoes += [("expected-variant", f"reach `{name}`") for name in unreachable]
    return [
        problem
        for problem in problems
        if not any(problem.rule == rule and words in problem.message for rule, words in echoes)
    ]


def _explained_texts(problems: list[Problem]) -> list[Problem]:
    """A shader that cannot compile because of what its template prints as nothing."""
    rules = ("undeclared-binding", "wgsl", "template-empty")
    broken = {problem.file for problem in problems if problem.rule in rules and problem.severity == "error"}
    causes = {
        problem
        for problem in problems
        if problem.rule in ("undefined-name", "undefined-member") and problem.file in broken
    }
    files = {problem.file for problem in causes}
    left = [problem for problem in problems if not (problem.rule in rules and problem.file in files)]
    return [as_stage(problem, "error", "call") if problem in causes else problem for problem in left]
