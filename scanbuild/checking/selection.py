"""Rules on what planning shows: refused cases, requests no variant takes, variants nothing reaches."""

from collections import Counter
from collections.abc import Iterator
from typing import Final

from jinja2 import nodes

from scanbuild.checking.places import shortened
from scanbuild.checking.refusals import FEATURE, variant_of
from scanbuild.checking.requests import case_trial
from scanbuild.checking.subject import Subject
from scanbuild.checking.syntax import expression_syntax
from scanbuild.checking.trials import NO_VARIANT, Outcome, Trials
from scanbuild.errors import CallError, Problem
from scanbuild.package.jsonfile import Path, parse_path
from scanbuild.package.model import Variant
from scanbuild.planning.selection import VariantVerdict, over_budget, unmet_requirement

_MAX_LISTED: Final = 4
_MAX_EXPLAINED: Final = 24
_BEYOND: Final = "no built-in device profile meets what it requires"
_ORDERINGS: Final = frozenset({"lt", "gt", "lteq", "gteq", "eq", "ne"})


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
            found = FEATURE.search(problem.message)
            variant = variant_of(problem, subject)
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


def unreached_variants(subject: Subject, trials: Trials) -> Iterator[Problem]:
    """A variant that no request was seen to choose, and what stands in its way.

    What refuses every request for all variants alike is told once, where the manifest says it. Where a case of the
    package is refused, its error has told why already.
    """
    unreached = [variant for variant in subject.manifest.variants if variant.id not in trials.reached]
    if not unreached or (not trials.reached and not any(outcome.no_variant for outcome in trials.made_up())):
        return
    if not trials.reached and any(outcome.no_variant for outcome in trials.of_cases()):
        return
    explained = _explanations(trials)
    found = [(variant, _why_unreached(variant, trials, explained)) for variant in unreached]
    common = _common_cause(subject, trials, [verdict for _, verdict in found])
    if common is not None:
        yield common
        return
    for variant, verdict in found:
        if verdict is not None:
            rule, message, hint = verdict
            words = f"variant `{variant.id}`: {message}"
            path = parse_path(variant.path)
            yield subject.text.problem(path, rule, words, hint=hint, severity="warning", stage="own")


def _common_cause(subject: Subject, trials: Trials, verdicts: list[tuple[str, str, str] | None]) -> Problem | None:
    """The clause or requirement of the manifest itself for which no variant is ever chosen."""
    messages = {verdict[1] if verdict is not None else "" for verdict in verdicts}
    if trials.reached or len(messages) > 1:
        return None
    (message,) = messages
    clauses = subject.text.get(("when",))
    for index, clause in enumerate(clauses if isinstance(clauses, list) else ()):
        if f"`{clause}` " in message:
            words = f"no variant takes any request that was tried; mostly, {message.partition('; mostly, ')[2]}"
            hint = "mend the condition, or add a case that meets it"
            return _unreached(subject, ("when", index), words, hint)
    if message.startswith(_BEYOND) and subject.text.has(("requires",)):
        return _unreached(subject, ("requires",), f"no variant can run: {message}", "see that devices exist which do")
    return None


def _unreached(subject: Subject, path: Path, message: str, hint: str) -> Problem:
    return subject.text.problem(path, "unreached-variant", message, hint=hint, severity="warning", stage="own")


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
    reasons = [
        unmet_requirement(variant.requires, device) or over_budget(variant, device)
        for device in trials.devices.values()
    ]
    if all(reasons):
        message = f"{_BEYOND}: {reasons[0]}"
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
        before = beaten.most_common(1)[0][0]
        if not trials.complete:
            message = f"no case reaches it, and where it could run in what was tried, `{before}` goes before it"
            return "unreached-variant", message, "add a case that selects it, or give it a higher priority"
        message = f"wherever it could run, `{before}` goes before it"
        return "losing-variant", message, "give it a higher priority, or remove it"
    if not why:
        return None
    tried = "no case and no request around the conditions reaches it"
    if not trials.complete:
        tried += ", as far as there was work left to try"
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


def expected_outputs(subject: Subject, trials: Trials) -> Iterator[Problem]:
    """A case that expects an output of another dtype or shape than the call gives: it can never pass."""
    given = {outcome.trial.key: outcome.outputs for outcome in trials.of_cases() if outcome.variant}
    for case in subject.cases:
        outputs = given.get(case_trial(subject, case).key, {})
        for name, expected in case.case.outputs.items():
            if name not in outputs:
                continue
            dtype, shape = outputs[name]
            pairs = (("dtype", expected.fixture.dtype, dtype), ("shape", list(expected.fixture.shape), list(shape)))
            for member, wanted, got in pairs:
                if wanted != got:
                    yield case.file.problem(
                        ("cases", case.case.index, "outputs", name, member),
                        "case-output",
                        f"{case.words}: it expects the {member} {wanted} of `{name}`, and the call gives {got}",
                        hint="correct the case, or the output's declaration",
                        severity="warning" if subject.kind == "built" else "error",
                        stage="own",
                    )
                    break
