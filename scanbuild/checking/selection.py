"""Rules on what planning shows: refused cases, requests no variant takes, variants nothing reaches."""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from jinja2 import nodes

from scanbuild.checking.places import shortened
from scanbuild.checking.requests import case_trial
from scanbuild.checking.subject import Subject
from scanbuild.checking.syntax import expression_syntax
from scanbuild.checking.trials import NO_VARIANT, Outcome, Trials
from scanbuild.errors import CallError, Problem
from scanbuild.package.jsonfile import parse_path
from scanbuild.package.model import Variant
from scanbuild.planning.selection import VariantVerdict, unmet_requirement

SIZE_RULES: Final = frozenset({"buffer-limit", "binding-limit"})
"""What refuses a call for its size alone."""

_FEATURE = re.compile(r"it enables `(\w+)`, and the device lacks the feature `([\w-]+)`")
_SHAPELESS: Final = re.compile(r"template-|wgsl|int64-|sized-type|dollar-|struct-")
"""What is refused whatever the sizes: a variant that fails like this whenever it is chosen is broken."""
_MAX_LISTED: Final = 4
_MAX_EXPLAINED: Final = 24
_ORDERINGS: Final = frozenset({"lt", "gt", "lteq", "gteq", "eq", "ne"})


def refused_cases(subject: Subject, trials: Trials) -> Iterator[Problem]:
    """A case of the package that a call of the loader would refuse."""
    accepted = {outcome.trial.key for outcome in trials.of_cases() if outcome.variant}
    refused = [outcome for outcome in trials.of_cases() if outcome.problems]
    places: dict[object, Problem] = {}
    groups: dict[tuple[str, int | None, int | None, str, bool], list[tuple[Outcome, Problem]]] = {}
    for outcome in refused:
        case = outcome.trial.case
        if case is None or case.case.skip is not None:
            continue
        for problem in outcome.problems:
            if problem.rule in SIZE_RULES or _FEATURE.search(problem.message):
                continue
            case_of = outcome.trial.key if problem.rule == NO_VARIANT or not problem.path else ""
            known = (problem.rule, problem.message, problem.file, problem.line, case_of)
            placed = places.get(known) or locate(subject, problem, outcome)
            places[known] = placed
            elsewhere = problem.rule == NO_VARIANT and outcome.trial.key in accepted
            key = (placed.file, placed.line, placed.column, placed.rule, elsewhere)
            groups.setdefault(key, []).append((outcome, placed))
    for key, found in groups.items():
        yield _refusal(found, elsewhere=key[-1])


def _refusal(found: list[tuple[Outcome, Problem]], *, elsewhere: bool) -> Problem:
    outcome, problem = found[0]
    where = f"{outcome.trial.words} on {outcome.device}"
    others = len({other.trial.key for other, _ in found}) - 1
    more = f" (and {others} more cases)" if others else ""
    message = f"{where}: {problem.message}{more}"
    if not elsewhere:
        return replace(problem, message=message)
    hint = problem.hint or "other devices take it; add a variant that needs less"
    return replace(problem, message=message, rule="device-refused", severity="warning", stage="own", hint=hint)


def locate(subject: Subject, problem: Problem, outcome: Outcome) -> Problem:
    """A problem of planning at its place: in a template, at an expression, or at the case."""
    if problem.line is not None or (problem.file and problem.file in subject.templates):
        return problem.at(subject.file_name(problem.file), problem.line or 1, problem.column or 1)
    if problem.rule != NO_VARIANT and problem.path:
        path = parse_path(problem.path)
        for site in subject.sites:
            if site.path[: len(path)] == path and f"`{site.text}`" in problem.message:
                path = site.path
                break
        for site in subject.sites if path == parse_path(problem.path) else ():
            if f"`{site.text}`" in problem.message and site.path[:1] == ("bindings",):
                path = site.path
                break
        return subject.text.problem(
            path, problem.rule, problem.message, hint=problem.hint, severity=problem.severity, stage=problem.stage
        )
    case = outcome.trial.case
    if case is None:
        return subject.text.placed(replace(problem, path=problem.path or "$"))
    return case.file.problem(
        ("cases", case.case.index), problem.rule, problem.message, hint=problem.hint, stage=problem.stage
    )


def refused_made_up(subject: Subject, trials: Trials) -> Iterator[Problem]:
    """A call that a variant takes and that fails all the same, for a request the conditions let through."""
    accepted = {outcome.trial.key for outcome in trials.outcomes if outcome.variant}
    told = {_spot(problem) for problem in refused_cases(subject, trials)}
    for outcome in trials.made_up():
        base = outcome.trial.base
        fine = base is not None and base.key in accepted
        for problem in outcome.problems:
            if problem.rule == NO_VARIANT or problem.rule in SIZE_RULES or _FEATURE.search(problem.message):
                continue
            presence = outcome.trial.change == "presence" and fine
            if not presence and not _is_behind_selection(problem):
                continue
            placed = locate(subject, problem, outcome)
            if _spot(placed) in told:
                continue
            told.add(_spot(placed))
            words = f"{outcome.trial.words} ({shortened(outcome.trial.described, 160)}) on {outcome.device}"
            hint = placed.hint or "let the conditions refuse such a request, or make the expression safe for it"
            message = f"{words}: {placed.message}"
            chosen = _variant_of(problem, subject)
            always = chosen is not None and chosen.id not in trials.reached and _SHAPELESS.match(problem.rule)
            if presence or always:
                yield replace(placed, message=message, hint=placed.hint if always else hint)
            else:
                yield replace(placed, message=message, hint=hint, rule="call-refused", severity="warning", stage="own")


def _spot(problem: Problem) -> tuple[object, ...]:
    return problem.file, problem.line, problem.column, problem.rule


def _is_behind_selection(problem: Problem) -> bool:
    """Whether a variant was chosen by then."""
    return problem.message.startswith("variant `") or problem.path.startswith("$.variants")


def gaps(subject: Subject, trials: Trials) -> Iterator[Problem]:
    """A request whose sizes fall between the conditions of the variants (9.2).

    It differs in sizes alone from one that a variant takes, and that variant refuses it for a comparison with a number.
    """
    taken = {(outcome.trial.key, outcome.device): outcome.variant for outcome in trials.outcomes}
    shared = _shared_clauses(subject)
    told: set[tuple[str, ...]] = set()
    for outcome in trials.made_up():
        base = outcome.trial.base
        if not outcome.no_variant or (outcome.trial.change not in ("size", "sizes")) or base is None:
            continue
        failing = _failing_clauses(outcome, subject)
        before = taken.get((base.key, outcome.device), "")
        if not _has_boundary(failing.get(before, "")) or not shared.isdisjoint(failing.values()):
            continue
        key = tuple(sorted(set(failing.values())))
        if key in told or len(told) >= _MAX_LISTED:
            continue
        told.add(key)
        reasons = "; ".join(_reasons(outcome))
        yield subject.text.problem(
            ("variants",),
            NO_VARIANT,
            f"no variant takes {shortened(outcome.trial.described, 160)} on {outcome.device}: "
            f"{shortened(reasons, 600)}",
            hint="widen a condition, or add a variant; a refusal that is meant belongs into the manifest's own when",
            key=True,
            severity="warning",
            stage="own",
        )


def _shared_clauses(subject: Subject) -> frozenset[str]:
    """Clauses of all variants: what any request has to meet."""
    common = [frozenset(variant.when) for variant in subject.manifest.variants]
    own = subject.text.get(("when",))
    general = frozenset(item for item in own if isinstance(item, str)) if isinstance(own, list) else frozenset()
    return general | (frozenset.intersection(*common) if len(common) > 1 else frozenset())


def _reasons(outcome: Outcome) -> list[str]:
    message = next((problem.message for problem in outcome.problems if problem.rule == NO_VARIANT), "")
    return message.removeprefix("no variant takes this request: ").split("; ")


def _failing_clauses(outcome: Outcome, subject: Subject) -> dict[str, str]:
    """Variant -> the clause it refuses the request for, where it is a clause."""
    clauses: dict[str, str] = {}
    reasons = "; ".join(_reasons(outcome))
    for variant in subject.manifest.variants:
        start = reasons.find(f"`{variant.id}`: ")
        found = next(
            (clause for clause in variant.when if reasons.startswith(f"`{variant.id}`: `{clause}` is", start)), ""
        )
        if start >= 0 and found:
            clauses[variant.id] = found
    return clauses


def _has_boundary(clause: str) -> bool:
    """Whether a clause compares with a number."""
    return any(
        isinstance(node, nodes.Compare)
        and node.ops[0].op in _ORDERINGS
        and any(isinstance(side, nodes.Const) for side in (node.expr, node.ops[0].expr))
        for node, _ in expression_syntax(clause).pairs
    )


def missing_features(subject: Subject, trials: Trials) -> Iterator[Problem]:
    """A variant that is chosen on a device that cannot compile it, since it does not require what it enables (5.2)."""
    told: set[tuple[str, str]] = set()
    for outcome in trials.outcomes:
        for problem in outcome.problems:
            found = _FEATURE.search(problem.message)
            variant = _variant_of(problem, subject)
            if found is None or variant is None or (variant.path, found[2]) in told:
                continue
            told.add((variant.path, found[2]))
            halves = " or add the clause `f16Ok(dtypes.T)` for its dtype" if found[1] == "f16" else ""
            yield subject.text.problem(
                parse_path(variant.path),
                "missing-feature",
                f"variant `{variant.id}` is chosen on {outcome.device} and cannot be compiled there: its shader enables"
                f" `{found[1]}`, which it does not require ({outcome.trial.words})",
                hint=f'write "requires": {{"features": ["{found[2]}"]}}{halves}',
                severity="warning",
                stage="own",
            )


def _variant_of(problem: Problem, subject: Subject) -> Variant | None:
    found = re.match(r"variant `(\w+)`", problem.message)
    ids = {variant.id: variant for variant in subject.manifest.variants}
    return ids.get(found[1]) if found is not None else None


def unreached_variants(subject: Subject, trials: Trials) -> Iterator[Problem]:
    """A variant that no request was seen to choose, and what stands in its way."""
    unreached = [variant for variant in subject.manifest.variants if variant.id not in trials.reached]
    if not trials.reached or not unreached:
        return
    explained = _explanations(trials)
    for variant in unreached:
        verdict = _why_unreached(variant, trials, explained)
        if verdict is not None:
            rule, message, hint = verdict
            words = f"variant `{variant.id}`: {message}"
            path = parse_path(variant.path)
            yield subject.text.problem(path, rule, words, hint=hint, severity="warning", stage="own")


def _explanations(trials: Trials) -> list[tuple[Outcome, dict[str, VariantVerdict]]]:
    """What selection says of every variant, for a bounded number of outcomes of each device."""
    found = []
    for name, device in trials.devices.items():
        outcomes = [outcome for outcome in trials.outcomes if outcome.device == name]
        for outcome in outcomes[:: max(1, len(outcomes) // _MAX_EXPLAINED)]:
            try:
                verdicts = trials.planner.explain(outcome.trial.request, device)
            except CallError:
                continue
            found.append((outcome, {verdict.id: verdict for verdict in verdicts}))
    return found


def _why_unreached(
    variant: Variant, trials: Trials, explained: list[tuple[Outcome, dict[str, VariantVerdict]]]
) -> tuple[str, str, str] | None:
    """Rule, message and hint; None if nothing certain can be said."""
    reasons = [unmet_requirement(variant.requires, device) for device in trials.devices.values()]
    if all(reasons):
        message = f"no built-in device profile meets what it requires: {reasons[0]}"
        return "unreached-variant", message, "see that devices exist which do"
    why: Counter[str] = Counter()
    beaten: Counter[str] = Counter()
    for outcome, verdicts in explained:
        own = verdicts[variant.id]
        if not own.accepted:
            why[own.reason] += own.reason not in reasons
        elif outcome.variant:
            beaten[outcome.variant] += 1
        else:
            return None  # it is chosen, and the call fails: told elsewhere
    if beaten:
        message = f"wherever it could run, `{beaten.most_common(1)[0][0]}` goes before it"
        return "losing-variant", message, "give it a higher priority, or remove it"
    if not why:
        return None
    tried = "no case and no request around the conditions reaches it"
    if not trials.complete:
        tried += ", as far as time allowed to try"
    message = f"{tried}; mostly, {shortened(why.most_common(1)[0][0], 200)}"
    return "unreached-variant", message, "add a case that selects it, or mend its conditions"


def expected_variants(subject: Subject, trials: Trials) -> Iterator[Problem]:
    """A case that names the variant it is meant to reach, and reaches others on every device."""
    by_request: dict[str, set[str]] = {}
    for outcome in trials.of_cases():
        by_request.setdefault(outcome.trial.key, set()).add(outcome.variant)
    for case in subject.cases:
        wanted = case.case.expect_variant
        reached = by_request.get(case_trial(subject, case).key, set()) - {""} if wanted is not None else set()
        if wanted is not None and reached and wanted not in reached:
            names = ", ".join(f"`{name}`" for name in sorted(reached))
            yield case.file.problem(
                ("cases", case.case.index, "expectVariant"),
                "expected-variant",
                f"{case.words} is meant to reach `{wanted}`, and reaches {names} on the built-in profiles",
                severity="warning",
                stage="own",
            )
