"""The course of publishing: what has to hold, the folder, the Hub."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from scanbuild.commands.console import Console, check_writable, counted, write_report
from scanbuild.commands.older import warn_if_older
from scanbuild.errors import InputError, Problem, ScanbuildError
from scanbuild.package.folder import package_folder
from scanbuild.package.loaded import Package
from scanbuild.package.remote import hub_address
from scanbuild.publishing.card import OWNER
from scanbuild.publishing.hub import Hub, address_problems, find_token, require_library
from scanbuild.publishing.layout import check_target, lay_out, published_files, sound_package
from scanbuild.publishing.preflight import (
    Refusals,
    branch_of,
    has_commit,
    refusals_of,
    repository_problems,
    unclean,
)
from scanbuild.publishing.publish_report import publish_report, push_json
from scanbuild.publishing.push import Pushed, PushPlan, contract_refusals, push
from scanbuild.publishing.verified import allowed_findings, unverified

_LOGIN = "set HF_TOKEN, or log in with `hf auth login`"


@dataclass(frozen=True, kw_only=True, slots=True)
class PublishOptions:
    """What was asked for. ``timeout`` is in seconds."""

    root: Path
    out: Path
    repository: str | None = None
    dry_run: bool = False
    verified: Path | None = None
    force: bool = False
    timeout: float = 60.0
    json_file: Path | None = None


def run_publish(console: Console, options: PublishOptions) -> None:
    """Lay the package out, and push it if that was asked for."""
    if options.json_file is not None:
        check_writable(options.json_file)
    if options.repository is None:
        _lay_out_only(console, options)
        return
    refusals = _of_surroundings(options.repository, dry_run=options.dry_run)
    try:
        package, files = sound_package(options.root)
    except ScanbuildError as error:
        (refusals + refusals_of(partial(_raise, error)) + _of_form(options.repository)).raise_if_any()
        raise
    target = options.out / package.manifest.op_id
    refusals += Refusals(wrong=tuple(repository_problems(options.repository, package.manifest.op_id)))
    refusals += refusals_of(partial(_nothing_from, check_target, target, options.root))
    refusals += refusals_of(partial(_nothing_from, branch_of, package))
    refusals += _of_evidence(console, options, package, files)
    if not options.dry_run:
        refusals.raise_if_any()
    published = published_files(package, files, options.repository.partition("/")[0])
    _push(console, options, package, published, target, refusals)


def _lay_out_only(console: Console, options: PublishOptions) -> None:
    for name, given in (("--verified", options.verified), ("--force", options.force)):
        if given:
            raise InputError(Problem(message=f"{name} is about --push ORG/NAME, which is not given", stage="own"))
    package, files = sound_package(options.root)
    target = options.out / package.manifest.op_id
    check_target(target, options.root)
    published = published_files(package, files)
    warn_if_older(console, package_folder(options.root))
    if options.dry_run:
        console.say(f"would publish {package.manifest.op_id} from {package.location} in {target}:")
        _list_files(console, {name: (len(data), "") for name, data in published.items()})
        console.say("This is a dry run: nothing was written.")
        _report(options, partial(publish_report, package, published, folder=None))
        return
    lay_out(target, published)
    _report(options, partial(publish_report, package, published, folder=str(target)))
    console.say(f"published {package.manifest.op_id} from {package.location}: {len(files)} files and the kernel card")
    console.say(f"in {target}")


def _of_surroundings(repository: str, *, dry_run: bool) -> Refusals:
    """What a push needs of this machine: the library, an address, a token; a dry run does without."""
    if dry_run:
        return Refusals(wrong=tuple(address_problems(hub_address())))
    found = refusals_of(partial(_nothing_from, require_library))
    found += Refusals(wrong=tuple(address_problems(hub_address())))
    return found if found.wrong else refusals_of(partial(_token_problems, repository))


def _token_problems(repository: str) -> list[Problem]:
    if find_token() is not None:
        return []
    raise InputError(
        Problem(message=f"there is no token to push to {repository} with", rule="token", stage="own", hint=_LOGIN)
    )


def _of_form(repository: str) -> Refusals:
    return Refusals(wrong=tuple(repository_problems(repository, None)))


def _of_evidence(console: Console, options: PublishOptions, package: Package, files: Mapping[str, bytes]) -> Refusals:
    """What speaks for the package: its verification and its sources. With --force all of it is only warned of."""
    folder = package_folder(options.root)
    found = refusals_of(partial(unverified, folder, files, options.verified))
    found += refusals_of(partial(unclean, folder, package))
    if not found.wrong and not found.failed:
        kinds = allowed_findings(folder, files, options.verified)
        if kinds:
            console.problems([_note(f"the verification passed over findings: {', '.join(kinds)}", "warning")])
    if not has_commit(package):
        console.problems([_note("the package does not say which commit it was built from")])
    if options.force:
        console.problems(replace(item, severity="warning", hint="") for item in (*found.wrong, *found.failed))
        return Refusals()
    return found


def _push(
    console: Console,
    options: PublishOptions,
    package: Package,
    published: Mapping[str, bytes],
    target: Path,
    refusals: Refusals,
) -> None:
    assert options.repository is not None
    if options.dry_run:
        _rehearse(console, options, package, published, refusals)
        return
    hub = Hub(options.repository, find_token(), address=hub_address(), timeout=options.timeout)
    branch = branch_of(package)
    plan = PushPlan(branch=branch, files=published, remote=hub.look(branch))
    problems, warnings = contract_refusals(hub, plan, package)
    console.problems(warnings)
    Refusals(failed=tuple(problems)).raise_if_any()
    lay_out(target, published)
    console.detail(f"laid out in {target}")
    try:
        done = push(hub, plan, package)
    except KeyboardInterrupt:
        console.problems([_note("whether anything was published is not known: push again to find out", "warning")])
        raise
    _tell(console, options.repository, plan, done)
    pushed = push_json(options.repository, plan, done)
    _report(options, partial(publish_report, package, published, folder=str(target), push=pushed))


def _rehearse(
    console: Console,
    options: PublishOptions,
    package: Package,
    published: Mapping[str, bytes],
    refusals: Refusals,
) -> None:
    """Tell what a push would do and what would refuse it, from what can be seen without writing."""
    assert options.repository is not None
    if refusals_of(partial(_nothing_from, branch_of, package)).wrong:
        refusals.raise_if_any()
    branch = branch_of(package)
    plan = PushPlan(branch=branch, files=published)
    unseen = ""
    if refusals.wrong:
        unseen = "not asked, because of what is wrong here"
    else:
        try:
            hub = Hub(options.repository, find_token(), address=hub_address(), timeout=options.timeout)
            plan = replace(plan, remote=hub.look(branch))
            problems, warnings = contract_refusals(hub, plan, package)
            console.problems(warnings)
            refusals += Refusals(failed=tuple(problems))
        except ScanbuildError as error:
            unseen = str(error)
            plan = replace(plan, remote=None)
    console.say(f"would push {package.manifest.op_id} to {options.repository}, branch {branch}:")
    changes: Mapping[str, str] = plan.changes if plan.remote is not None else dict.fromkeys(published, "")
    _list_files(console, {name: (len(published[name]), change) for name, change in changes.items()})
    for name in plan.removed:
        console.say(f"  removed  {name}")
    console.say(_outlook(plan, unseen))
    console.say("This is a dry run: nothing was written, and nothing sent that writes.")
    would, why = push_json(options.repository, plan, None), (*refusals.wrong, *refusals.failed)
    _report(options, partial(publish_report, package, published, folder=None, push=would, refusals=why))
    refusals.raise_if_any()


def _report(options: PublishOptions, made: Callable[[], Mapping[str, object]]) -> None:
    if options.json_file is not None:
        write_report(options.json_file, json.dumps(made(), indent=2) + "\n")


def _list_files(console: Console, files: Mapping[str, tuple[int, str]]) -> None:
    """A line a file: its size in bytes, and what becomes of it."""
    width = max((len(change) for _, change in files.values()), default=0)
    for name, (size, change) in files.items():
        console.say("  " + f"{change:{width}}  {size:>9,}  {name}".strip(" " if not width else ""))
    console.say(f"  {counted(len(files), 'file')}, {sum(size for size, _ in files.values()):,} bytes")


def _outlook(plan: PushPlan, unseen: str) -> str:
    if plan.remote is None:
        return f"What is there now is not known: {unseen}"
    if not plan.remote.exists:
        return "The repository is not there: it would be created, of type kernel."
    if not plan.remote.head:
        return f"The repository is there, the branch {plan.branch} is not: it would be created."
    if plan.is_there:
        return f"All of it is there already, at {plan.remote.head}: there would be nothing to do."
    return f"All in one commit on top of {plan.remote.head}."


def _tell(console: Console, repository: str, plan: PushPlan, done: Pushed) -> None:
    what = f"{repository}, branch {plan.branch}"
    if done.created:
        console.say(f"created {repository}, a repository of type kernel")
    if not done.commit:
        console.say(f"nothing to do: these very bytes are on {what}; read back, and every digest holds")
        return
    if done.recovered:
        console.problems([_note("the Hub's answer was lost, and the commit is there all the same")])
    console.say(f"pushed {counted(len(plan.files), 'file')} to {what}, in commit {done.commit}")
    console.say("read back: every digest holds")
    owner, _, name = repository.partition("/")
    trust = "" if owner == OWNER else ", trust_remote_code=True"
    console.say(f'load it with scanbuild.load_kernel("{owner}/{name}", version={plan.branch.removeprefix("v")}{trust})')


def _note(message: str, severity: str = "note") -> Problem:
    return Problem(message=message, severity="warning" if severity == "warning" else "note", stage="own")


def _nothing_from(check: object, *arguments: object) -> list[Problem]:
    """Run a check that raises what it finds."""
    assert callable(check)
    check(*arguments)
    return []


def _raise(error: ScanbuildError) -> list[Problem]:
    raise error
