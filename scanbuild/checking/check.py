"""``check_path``: everything that is wrong with a package, or doubtful, found without a GPU and all at once."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import Final

from scanbuild.checking import (
    calls,
    cases,
    expressions,
    files,
    malformed,
    once,
    refusals,
    selection,
    shaders,
    structure,
    templates,
    types,
    unused,
)
from scanbuild.checking.reading import Read, read_package
from scanbuild.checking.subject import Kind, Subject
from scanbuild.checking.suppression import suppress
from scanbuild.checking.trials import Trials, run_trials
from scanbuild.dialect import allowance
from scanbuild.dialect.limits import CALL_WORK
from scanbuild.errors import Problem

Rule = Callable[[Subject], Iterable[Problem]]
TrialRule = Callable[[Subject, Trials], Iterable[Problem]]

STATIC_RULES: Final[tuple[Rule, ...]] = (
    files.line_ends,
    files.byte_order_marks,
    files.encodings,
    files.doubled_keys,
    expressions.syntax_errors,
    expressions.unknown_names,
    expressions.unknown_members,
    expressions.scalar_presence,
    expressions.idle_questions,
    calls.expression_calls,
    types.result_kinds,
    types.clause_kinds,
    types.constant_values,
    types.literal_values,
    types.operand_kinds,
    types.pitfalls,
    types.dtype_words,
    types.numeric_texts,
    types.unevaluated_defaults,
    structure.undeclared_types,
    structure.dollar_names,
    structure.sized_types,
    structure.struct_names,
    structure.uniform_shadows,
    structure.uniform_values,
    structure.scratches,
    structure.pass_ids,
    structure.repeat_counts,
    templates.template_errors,
    templates.undefined_names,
    templates.undefined_members,
    templates.language_names,
    templates.unlisted_includes,
    calls.template_calls,
    unused.unused_derives,
    unused.unused_parameters,
    unused.unused_handles,
    unused.unused_scratches,
    unused.unused_types,
    unused.unused_templates,
    cases.missing_oracles,
    cases.missing_tests,
    cases.idle_superseding,
)
"""The rules that look at the package alone, in the order of their modules."""

TRIAL_RULES: Final[tuple[TrialRule, ...]] = (
    refusals.refused_cases,
    refusals.refused_made_up,
    selection.gaps,
    selection.missing_features,
    selection.unreached_variants,
    selection.expected_variants,
    selection.expected_outputs,
    malformed.malformed_shaders,
    shaders.workgroup_sizes,
    shaders.overshoots,
    shaders.undeclared_bindings,
    shaders.uniform_members,
    shaders.unused_bindings,
    shaders.missing_requirements,
    shaders.array_lengths,
)
"""The rules that look at planned calls."""

STATIC_WORK: Final = CALL_WORK // 2
"""Constants are evaluated, however many there are, with no more work than half a call may do."""

MAX_PROBLEMS: Final = 1000
"""So many problems are reported; a package with more is beyond help by listing."""

_ORDER: Final = {"error": 0, "warning": 1, "note": 2}


@dataclass(frozen=True, kw_only=True, slots=True)
class CheckResult:
    """What a check found. ``suppressed`` counts the warnings that comments allow."""

    path: str
    kind: Kind
    op_id: str
    problems: tuple[Problem, ...]
    suppressed: int = 0

    def count(self, severity: str) -> int:
        """How many problems have a severity."""
        return sum(problem.severity == severity for problem in self.problems)


def check_path(path: Path) -> CheckResult:
    """Check the package at a path. Raises InputError where there is no package to check."""
    read = read_package(path)
    problems = once.load_problems(read.problems)
    if read.subject is not None:
        problems += check_subject(read.subject, planning=not any(item.severity == "error" for item in problems))
    return _result(path, read, problems)


def check_subject(subject: Subject, *, planning: bool = True) -> list[Problem]:
    """What the rules find. Calls are planned only where nothing is certain to fail already: they would fail of it."""
    problems = once.static_problems(apply(STATIC_RULES, subject))
    if not planning or subject.kind == "manifest" or any(problem.severity == "error" for problem in problems):
        return problems
    trials = run_trials(subject)
    found = chain.from_iterable(rule(subject, trials) for rule in TRIAL_RULES)
    return once.explained(problems + once.trial_problems(list(found)), subject)


def apply(rules: Iterable[Rule], subject: Subject) -> list[Problem]:
    """The problems of some rules."""
    with allowance(STATIC_WORK):
        return list(chain.from_iterable(islice(rule(subject), MAX_PROBLEMS) for rule in rules))


def _result(path: Path, read: Read, problems: list[Problem]) -> CheckResult:
    left, suppressed = suppress(_distinct(problems), read.texts, read.templates)
    return CheckResult(
        path=str(path),
        kind=read.kind,
        op_id=read.subject.manifest.op_id if read.subject is not None else "",
        problems=tuple(sorted(left, key=_order)[:MAX_PROBLEMS]),
        suppressed=suppressed,
    )


def _distinct(problems: Iterable[Problem]) -> list[Problem]:
    """Each rule once at each place: the variants of a family repeat what is written once."""
    found: dict[tuple[object, ...], Problem] = {}
    for problem in problems:
        key = (problem.file, problem.line, problem.column, problem.rule, problem.path)
        known = found.get(key)
        if known is None or _ORDER[problem.severity] < _ORDER[known.severity]:
            found[key] = problem
    return list(found.values())


def _order(problem: Problem) -> tuple[object, ...]:
    return (problem.file, problem.line or 0, problem.column or 0, _ORDER[problem.severity], problem.rule)
