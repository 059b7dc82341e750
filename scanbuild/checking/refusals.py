"""Rules on calls that are refused though a variant could run: of the package's own cases, and of made-up requests."""

import re
from collections.abc import Collection, Iterator
from dataclasses import replace
from typing import Final

from scanbuild.checking.places import shortened
from scanbuild.checking.sites import binding_path, labels_of
from scanbuild.checking.subject import CheckedCase, Subject
from scanbuild.checking.trials import NO_VARIANT, Outcome, Trials
from scanbuild.errors import Problem
from scanbuild.package.jsonfile import Path, parse_path
from scanbuild.package.model import Variant
from scanbuild.package.report import nearest
from scanbuild.package.vocabulary import WGSL_SCALARS

SIZE_RULES: Final = frozenset({"buffer-limit", "binding-limit"})
"""What refuses a call for its size alone."""

FEATURE: Final = re.compile(r"it enables `(\w+)`, and the device lacks the feature `([\w-]+)`")
_SHARED: Final = 2
_AN_INPUT: Final = 2
_ENOUGH: Final = 3
"""So many different requests have to fail alike before all others are thought to."""
_OF_TEXT: Final = frozenset({"wgsl", "int64-arithmetic"})
_WGSL_TYPES: Final = (*WGSL_SCALARS.values(), *(f"vec{width}{letter}" for width in "234" for letter in "fiuh"))
_QUOTED: Final = re.compile(r"`(?:[^`<]*<)?([A-Za-z_]\w*)[^`]*`")
_SHAPELESS: Final = re.compile(r"template-|wgsl|int64-|sized-type|dollar-|struct-|pass-count|limit-work")
"""What is refused whatever the sizes: a variant that fails like this whenever it is chosen is broken."""


def refused_cases(subject: Subject, trials: Trials) -> Iterator[Problem]:
    """A case of the package that a call of the loader would refuse."""
    accepted = {outcome.trial.key for outcome in trials.of_cases() if outcome.variant}
    refused = [outcome for outcome in trials.of_cases() if outcome.problems]
    shared = None if accepted else _shared_refusal(subject, refused)
    if shared is not None:
        yield shared
        return
    places: dict[object, Problem] = {}
    groups: dict[tuple[str, int | None, int | None, str, bool], list[tuple[Outcome, Problem]]] = {}
    for outcome in refused:
        case = outcome.trial.case
        if case is None or case.case.skip is not None:
            continue
        for problem in outcome.problems:
            if problem.rule in SIZE_RULES or FEATURE.search(problem.message):
                continue
            case_of = outcome.trial.key if problem.rule == NO_VARIANT or not problem.path else ""
            known = (problem.rule, problem.message, problem.file, problem.line, case_of)
            placed = places.get(known) or (_at_input(problem, case) if accepted else None)
            placed = placed or locate(subject, problem, outcome)
            places[known] = placed
            elsewhere = problem.rule == NO_VARIANT and outcome.trial.key in accepted
            key = (placed.file, placed.line, placed.column, placed.rule, elsewhere)
            groups.setdefault(key, []).append((outcome, placed))
    for key, found in groups.items():
        yield _refusal(found, elsewhere=key[-1])


def _at_input(problem: Problem, case: CheckedCase) -> Problem | None:
    """Where other cases are accepted, the wrong dtype of an input is a mistake of its case."""
    path = parse_path(problem.path) if problem.rule == "type" and problem.path else ()
    if path[:1] != ("inputs",) or len(path) < _AN_INPUT or path[1] not in case.case.inputs:
        return None
    place = ("cases", case.case.index, "inputs", path[1], "dtype")
    return case.file.problem(place, problem.rule, problem.message, hint=problem.hint, stage=problem.stage)


def _shared_refusal(subject: Subject, refused: list[Outcome]) -> Problem | None:
    """The one clause of the manifest itself that every case fails for, where there is more than one case."""
    clauses = subject.text.get(("when",))
    if len({outcome.trial.key for outcome in refused}) < _SHARED or not isinstance(clauses, list):
        return None
    variants = len(subject.manifest.variants)
    for index, clause in enumerate(clauses):
        words = f"`: `{clause}` "
        if all(outcome.no_variant and outcome.problems[0].message.count(words) == variants for outcome in refused):
            reason = refused[0].problems[0].message.partition("`: ")[2].split("; `")[0]
            message = f"no case gets past this condition: {reason}"
            return subject.text.problem(("when", index), NO_VARIANT, message, hint="mend the condition, or the cases")
    return None


def _refusal(found: list[tuple[Outcome, Problem]], *, elsewhere: bool) -> Problem:
    outcome, problem = found[0]
    where = f"{outcome.trial.words} on {outcome.device}"
    others = len({other.trial.key for other, _ in found}) - 1
    more = f" (and {others} more {'case' if others == 1 else 'cases'})" if others else ""
    message = f"{where}: {problem.message}{more}"
    if not elsewhere:
        return replace(problem, message=message)
    hint = problem.hint or "other devices take it; add a variant that needs less"
    return replace(problem, message=message, rule="device-refused", severity="warning", stage="own", hint=hint)


def locate(subject: Subject, problem: Problem, outcome: Outcome) -> Problem:
    """A problem of planning at its place: in a template, at an expression, or at the case."""
    if problem.line is not None or (problem.file and problem.file in subject.templates):
        binding = _binding_place(subject, problem) if problem.rule == "wgsl" else None
        if binding is not None:
            return subject.text.problem(binding, problem.rule, problem.message, hint=_hint(subject, problem))
        if problem.line is None and problem.rule in _OF_TEXT:
            problem = replace(problem, hint=_hint(subject, problem))
            return subject.template_problem(problem, *_cause_in_text(subject, problem))
        return problem.at(subject.file_name(problem.file), problem.line or 1, problem.column or 1)
    if problem.rule != NO_VARIANT and problem.path:
        path = _site_path(subject, problem)
        return subject.text.problem(
            path, problem.rule, problem.message, hint=problem.hint, severity=problem.severity, stage=problem.stage
        )
    case = outcome.trial.case
    if case is None:
        return subject.text.placed(replace(problem, path=problem.path or _owner_path(subject, problem)))
    return case.file.problem(
        ("cases", case.case.index), problem.rule, problem.message, hint=problem.hint, stage=problem.stage
    )


def _site_path(subject: Subject, problem: Problem) -> Path:
    """The path of a problem, or that of the expression or the binding below it that its message quotes."""
    path = parse_path(problem.path)
    quotes = [site for site in subject.sites if f"`{site.text}`" in problem.message]
    quotes += [site for site in subject.sites if f"({site.text})" in problem.message and site.use == "workgroups"]
    for site in quotes:
        if site.path[: len(path)] == path:
            return site.path
    for site in quotes:
        if site.path[:1] == ("bindings",):
            return site.path
    if "scratch `" in problem.message and len(path) == 2:
        return parse_path(_owner_path(subject, problem))
    return _field_place(subject, problem, _binding_place(subject, problem) or path)


def _field_place(subject: Subject, problem: Problem, place: Path) -> Path:
    """Where the field is written that a message names, in the struct at a place; else the place."""
    words = re.search(r"field `(\w+)`", problem.message)
    fields = subject.text.get((*place, "struct")) if words is not None else None
    for index, field in enumerate(fields if isinstance(fields, list) else ()):
        if words is not None and isinstance(field, dict) and field.get("name") == words[1]:
            found = (*place, "struct", index)
            return (*found, "value") if "value" in field else found
    return place


def _binding_place(subject: Subject, problem: Problem) -> Path | None:
    """Where the binding is written that a message names."""
    variant = variant_of(problem, subject)
    words = re.search(r"pass `([^`]+)`.*?(?:binding |uniform |: )`(\w+)`", problem.message)
    for item in variant.all_passes() if variant is not None and words is not None else ():
        for index, binding in enumerate(item.bindings):
            if words is not None and (item.id, binding.name) == (words[1], words[2]):
                return binding_path(subject.text, item, parse_path(item.path), index)
    return None


def _cause_in_text(subject: Subject, problem: Problem) -> tuple[str, int, int]:
    """Where a template writes what its text is refused for: the beginning of the entry point, or a word it quotes."""
    form = subject.forms.get(problem.file)
    if form is None or form.expanded is None:
        return problem.file, 1, 1
    text, cause = form.expanded.text, problem.message.rsplit(": ", 1)[-1]
    entry = re.search(r"@\s*compute\b", text) if "entry point" in cause else None
    words = (re.search(rf"(?<![\w.]){re.escape(word)}(?!\w)", text) for word in _QUOTED.findall(cause))
    found = entry or next((match for match in words if match), None)
    return form.expanded.place(found.start()) if found else (problem.file, 1, 1)


def _hint(subject: Subject, problem: Problem) -> str:
    """The way out of a text that cannot be compiled."""
    if problem.hint:
        return problem.hint
    if "entry point" in problem.message:
        return "the function that runs is `@compute @workgroup_size(64) fn main`"
    unknown = re.search(r"nothing declares `(\w+)`", problem.message)
    if unknown is not None:
        if unknown[1] in labels_of(subject.manifest):
            return f"write `${unknown[1]}`, the scalar of that type variable"
        near = nearest(unknown[1], _WGSL_TYPES)
        return near or "write a type of WGSL, such as f32 or vec4<f32>, or declare it in the shader"
    return ""


def _owner_path(subject: Subject, problem: Problem) -> str:
    """The path of the variant's scratch, the pass or the output that a message is about."""
    variant = variant_of(problem, subject)
    scratch = re.search(r"scratch `([^`]+)`", problem.message)
    output = re.search(r"\boutput `([^`]+)`", problem.message)
    if variant is not None and scratch is not None:
        raw = subject.text.get((*parse_path(variant.path), "intermediates"))
        listed = [item.get("id") if isinstance(item, dict) else None for item in raw] if isinstance(raw, list) else []
        if scratch[1] in listed:
            return f"{variant.path}.intermediates[{listed.index(scratch[1])}]"
    if variant is not None:
        return variant.path
    return f"$.outputs.{output[1]}" if output is not None and output[1] in subject.manifest.outputs else "$"


def refused_made_up(subject: Subject, trials: Trials) -> Iterator[Problem]:
    """A call that a variant takes and that fails all the same, for a request the conditions let through.

    It is an error where no request fares better, and where it fails for want of something optional alone.
    """
    told = {_spot(problem) for problem in refused_cases(subject, trials)}
    hopeless = _hopeless(subject, trials.outcomes)
    unasked = _hopeless(subject, [outcome for outcome in trials.outcomes if outcome.trial.change != "wish"])
    needy = _needy(trials)
    for outcome in trials.made_up():
        for problem in outcome.problems:
            always = _spot(problem) in hopeless
            if problem.rule == NO_VARIANT or FEATURE.search(problem.message):
                continue
            if problem.rule in SIZE_RULES and not always:
                continue
            lacking = (outcome.trial.key, outcome.device) in needy
            if not (_spot(problem) in unasked or lacking or _is_behind_selection(problem)):
                continue
            placed = locate(subject, problem, outcome)
            if _spot(placed) in told:
                continue
            told.add(_spot(placed))
            if _spot(problem) in unasked and not always and not _is_behind_selection(problem):
                yield _as_warning(replace(placed, message=f"{placed.message}, unless the call brings the output along"))
            else:
                yield _made_up_refusal(placed, outcome, always=always, lacking=lacking)


def _made_up_refusal(placed: Problem, outcome: Outcome, *, always: bool, lacking: bool) -> Problem:
    if always:
        return replace(placed, message=f"{placed.message}; every request that was tried fails like this")
    message = f"{outcome.trial.words} ({shortened(outcome.trial.described, 160)}) on {outcome.device}: {placed.message}"
    absent = re.search(r"no tensor `(\w+)` is bound", placed.message)
    hint = placed.hint or "let the conditions refuse such a request, or make the expression safe for it"
    if absent is not None:
        hint = f"let the variant's when ask for `present.{absent[1]}`, and give calls without it a variant of their own"
    if lacking:
        return replace(placed, message=message, hint=hint)
    return _as_warning(replace(placed, message=message, hint=hint))


def _as_warning(problem: Problem) -> Problem:
    return replace(problem, rule="call-refused", severity="warning", stage="own")


def _hopeless(subject: Subject, outcomes: Collection[Outcome]) -> set[tuple[object, ...]]:
    """What refuses every call, or every call of a variant: the spots of those problems.

    A request whose outputs are empty does not count as a call that succeeds, because nothing of it is looked at.
    """
    running = {outcome.variant for outcome in outcomes if outcome.variant and not outcome.idle}
    failing: dict[str, dict[str, set[tuple[object, ...]]]] = {}
    for outcome in outcomes:
        for problem in outcome.problems[:1]:
            variant = variant_of(problem, subject)
            owner = NO_VARIANT if outcome.no_variant else variant.id if variant is not None else ""
            failing.setdefault(owner, {}).setdefault(outcome.trial.key, set()).add(_spot(problem))
    found: set[tuple[object, ...]] = set()
    for owner, trial_spots in failing.items():
        spots = set.union(*trial_spots.values())
        if owner == NO_VARIANT or owner in running or (owner == "" and (running or len(failing) > 1)):
            continue
        certain = {spot for spot in spots if _SHAPELESS.match(str(spot[-1]))}
        enough = len(spots) == 1 and (len(trial_spots) >= _ENOUGH or not subject.manifest.inputs)
        found |= spots if enough else certain
    return found


def _needy(trials: Trials) -> set[tuple[str, str]]:
    """Requests, by key and device, that fail without something optional, and succeed with it."""
    fine = {(outcome.trial.key, outcome.device) for outcome in trials.outcomes if outcome.variant and not outcome.idle}
    needy: set[tuple[str, str]] = set()
    for outcome in trials.made_up():
        base = outcome.trial.base
        if base is None or outcome.trial.change not in ("presence", "added"):
            continue
        own, other = (outcome.trial.key, outcome.device), (base.key, outcome.device)
        needy.add(own if outcome.trial.change == "presence" and other in fine else other if own in fine else ("", ""))
    return needy


def _spot(problem: Problem) -> tuple[object, ...]:
    return problem.file, problem.line, problem.column, problem.path, problem.rule


def _is_behind_selection(problem: Problem) -> bool:
    """Whether a variant was chosen by then."""
    return problem.message.startswith("variant `") or problem.path.startswith("$.variants")


def variant_of(problem: Problem, subject: Subject) -> Variant | None:
    found = re.match(r"variant `(\w+)`", problem.message)
    ids = {variant.id: variant for variant in subject.manifest.variants}
    return ids.get(found[1]) if found is not None else None
