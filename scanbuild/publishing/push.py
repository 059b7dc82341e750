"""Pushing a published folder to its repository: compare, commit once, read back.

The branch holds the package of one contract version. What a push may change there is ``build/webgpu/`` and the card;
other files of the branch are the owner's, and stay.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final, Literal, Protocol

from scanbuild.errors import LoadError, Problem, ScanbuildError
from scanbuild.package.digest import digest_bytes
from scanbuild.package.fetching import FetchError
from scanbuild.package.load import FOLDER, LoadOptions, load_package, package_from_files, package_url
from scanbuild.package.loaded import Package
from scanbuild.package.metadata import MANIFEST_FILE, METADATA_FILE
from scanbuild.package.report import some
from scanbuild.publishing.contract import Change, contract_changes
from scanbuild.publishing.hub import HubError, Remote, RemoteFile

FileChange = Literal["new", "changed", "same"]
_NAMED: Final = 5


class Repository(Protocol):
    """What is asked of a repository; ``hub.Hub`` is one."""

    @property
    def repository(self) -> str:
        """``ORG/NAME``."""

    def look(self, branch: str) -> Remote:
        """What is there now."""

    def create(self) -> None:
        """Create the repository."""

    def create_branch(self, branch: str) -> None:
        """Create a branch."""

    def commit(
        self, branch: str, files: Mapping[str, bytes], removed: tuple[str, ...], parent: str, message: str
    ) -> str:
        """Commit on top of ``parent``; the new commit."""

    def read(self, branch: str, names: tuple[str, ...]) -> dict[str, bytes]:
        """The content of files."""


@dataclass(frozen=True, kw_only=True, slots=True)
class PushPlan:
    """What a push would do.

    ``files`` are all files by path in the repository, ``changes`` what becomes of each, ``removed`` files of an earlier
    package that this one does not have. ``remote`` is what is there now, None if that is not known.
    """

    branch: str
    files: Mapping[str, bytes]
    remote: Remote | None = None

    @property
    def there(self) -> Mapping[str, RemoteFile]:
        """The files of the branch."""
        return self.remote.files if self.remote is not None else {}

    @property
    def exists(self) -> bool:
        """Whether the repository is known to be there."""
        return self.remote is not None and self.remote.exists

    @property
    def has_branch(self) -> bool:
        """Whether the branch is known to be there."""
        return self.remote is not None and bool(self.remote.head)

    @property
    def changes(self) -> dict[str, FileChange]:
        """What becomes of each file."""
        return {name: _change(data, self.there.get(name)) for name, data in self.files.items()}

    @property
    def removed(self) -> tuple[str, ...]:
        """What an earlier package left in the package's folder."""
        return tuple(sorted(name for name in self.there if name.startswith(f"{FOLDER}/") and name not in self.files))

    @property
    def is_there(self) -> bool:
        """Whether the branch holds all of it already, and nothing that does not belong to it."""
        return not self.removed and set(self.changes.values()) == {"same"}


@dataclass(frozen=True, kw_only=True, slots=True)
class Pushed:
    """What a push did: whether it made the repository and the branch, and its commit, "" if nothing had to be done.

    ``recovered`` if the connection was lost and the commit found to be there all the same.
    """

    created: bool = False
    branched: bool = False
    commit: str = ""
    recovered: bool = False


def contract_refusals(hub: Repository, plan: PushPlan, package: Package) -> tuple[list[Problem], list[Problem]]:
    """What the push would break for callers of the contract version, and what is odd about what is there.

    Raises HubError if the package that is there cannot be read.
    """
    there = f"{FOLDER}/{METADATA_FILE}", f"{FOLDER}/{MANIFEST_FILE}"
    if plan.is_there or not set(there) <= plan.there.keys():
        return [], []
    raw = {name.removeprefix(f"{FOLDER}/"): data for name, data in hub.read(plan.branch, there).items()}
    try:
        old = package_from_files(raw, location=hub.repository)
    except LoadError as error:
        message = f"the loader does not take the package that is on {plan.branch}, which will be replaced: {error}"
        return [], [Problem(message=message, rule="hub", severity="warning", stage="own")]
    changes = contract_changes(old.manifest, package.manifest)
    breaking = [_breaking(change, plan.branch) for change in changes if change.kind == "breaking"]
    return breaking, [_doubtful(change, plan.branch) for change in changes if change.kind == "unknown"]


def push(hub: Repository, plan: PushPlan, package: Package) -> Pushed:
    """Do what the plan says, and read back what the loader gets then.

    All files come with one commit, so that the branch holds the package as it was or as it is to be. Raises HubError
    or InputError; what they say tells whether anything was published.
    """
    if plan.remote is None:
        raise HubError("what is in the repository is not known")
    done = Pushed()
    if not plan.is_there:
        remote = plan.remote
        if not remote.exists:
            hub.create()
            done, remote = replace(done, created=True), Remote(exists=True)
        if not remote.head:
            done, remote = replace(done, branched=True), _with_branch(hub, plan.branch, done)
        plan = replace(plan, remote=remote)
        if not plan.is_there:
            done = _commit(hub, plan, package, done)
    _read_back(hub, plan)
    return done


def _with_branch(hub: Repository, branch: str, done: Pushed) -> Remote:
    """What is there once the branch was created."""
    try:
        hub.create_branch(branch)
        remote = hub.look(branch)
        if not remote.head:
            raise HubError(Problem(message=f"{branch} was created, and is not to be seen", rule="hub", stage="own"))
        return remote
    except ScanbuildError as error:
        made = "the repository was created, and " if done.created else ""
        raise _with(error, f"{made}nothing was published in it") from None


def _commit(hub: Repository, plan: PushPlan, package: Package, done: Pushed) -> Pushed:
    assert plan.remote is not None
    wanted = {name: plan.files[name] for name, change in plan.changes.items() if change != "same"}
    message = f"{package.manifest.op_id} {plan.branch}: {package.metadata.raw.get('id', 'package')}"
    parent = plan.remote.head
    try:
        commit = hub.commit(plan.branch, wanted, plan.removed, parent, message)
    except ScanbuildError as error:
        if not isinstance(error, HubError) or not error.uncertain:
            raise _with(error, "nothing was published: the commit was refused") from None
        return replace(done, commit=_found(hub, plan, error), recovered=True)
    return replace(done, commit=commit)


def _found(hub: Repository, plan: PushPlan, error: HubError) -> str:
    """The commit, after an answer that never came; else the error, with what is known of the branch."""
    try:
        now = hub.look(plan.branch)
    except ScanbuildError as second:
        unknown = "whether the commit was made is not known: push again, which does nothing if it was"
        raise _with(HubError(*error.problems, *second.problems), unknown) from None
    if replace(plan, remote=now).is_there:
        return now.head
    assert plan.remote is not None
    if now.head == plan.remote.head:
        raise _with(error, "nothing was published: the branch is as it was")
    raise _with(error, "nothing was published: the branch holds a commit of somebody else")


def _read_back(hub: Repository, plan: PushPlan) -> None:
    """Hold every file against what the loader is given now, and load the package from that as the loader does."""
    try:
        read = hub.read(plan.branch, tuple(plan.files))
    except HubError as error:
        _raise_if_left_out(hub, plan)
        raise _with(error, "the commit is there; what the loader gets of it was not checked: push again") from None
    differing = [name for name, data in plan.files.items() if digest_bytes(read[name]) != digest_bytes(data)]
    if differing:
        hint = "an address may be cached for a while: push again, which reads back and changes nothing else"
        raise HubError(*(_differs(name, plan.files[name], read[name], hint) for name in differing[:_NAMED]))
    version = int(plan.branch.removeprefix("v"))
    urls = {package_url(hub.repository, plan.branch, name.removeprefix(f"{FOLDER}/")): name for name in read}

    def fetch(url: str) -> bytes:
        if url not in urls:
            raise FetchError("there is no such file")
        return read[urls[url]]

    load_package(hub.repository, LoadOptions(version=version, trust_remote_code=True, templates="all"), fetch)


def _raise_if_left_out(hub: Repository, plan: PushPlan) -> None:
    """HubError if the branch lacks files that were sent."""
    try:
        now = replace(plan, remote=hub.look(plan.branch))
    except ScanbuildError:
        return
    missing = [name for name, change in now.changes.items() if change == "new"]
    if missing:
        message = f"the Hub took the commit without {some(missing, _NAMED)}"
        hint = "a .gitignore in the repository may leave them out: remove it there"
        raise HubError(Problem(message=message, rule="read-back", stage="own", hint=hint))


def _differs(name: str, sent: bytes, got: bytes, hint: str) -> Problem:
    message = f"the Hub gives another {name} than was sent: digest {digest_bytes(got)}, not {digest_bytes(sent)}"
    return Problem(message=message, rule="read-back", stage="own", hint=hint)


def _breaking(change: Change, branch: str) -> Problem:
    message = f"{branch} is published with another contract, whose callers this breaks: {change}"
    number = int(branch.removeprefix("v")) + 1
    hint = f'raise "version" to {number} in publish.json, and render and verify again'
    return _of_contract(change, message, hint)


def _doubtful(change: Change, branch: str) -> Problem:
    message = f"callers of what is published as {branch} may notice: {change}"
    return replace(_of_contract(change, message, "scanbuild diff may tell more"), severity="warning")


def _of_contract(change: Change, message: str, hint: str) -> Problem:
    path = change.new_path or ""
    return Problem(message=message, rule="contract", file=MANIFEST_FILE, path=path, stage="own", hint=hint)


def _with(error: ScanbuildError, outcome: str) -> ScanbuildError:
    """The error, with a note on what became of the branch."""
    note = Problem(message=outcome, rule="hub", severity="note", stage="own")
    return type(error)(*error.problems, note)


def _change(data: bytes, there: RemoteFile | None) -> FileChange:
    if there is None:
        return "new"
    return "same" if there.size == len(data) and there.digest in _digests(data) else "changed"


def _digests(data: bytes) -> tuple[str, str]:
    """How the Hub names a content: git's digest of a blob, or that of a large file."""
    blob = hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()
    return blob, hashlib.sha256(data).hexdigest()
