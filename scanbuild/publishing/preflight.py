"""What has to hold before anything is sent, beyond that the package is sound; every problem is reported at once."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from scanbuild.cases.origin import remembered_source, state_folder
from scanbuild.errors import CheckFailedError, InputError, Problem, ScanbuildError
from scanbuild.package.load import is_repository
from scanbuild.package.loaded import Package
from scanbuild.package.repository import unfit_name
from scanbuild.package.source import SHARED_FOLDER
from scanbuild.publishing.metadata import CONTRACT_VERSION, contract_version
from scanbuild.publishing.provenance import provenance_of


@dataclass(frozen=True, kw_only=True, slots=True)
class Refusals:
    """Problems that keep a package from being pushed: wrong input, and checks that failed."""

    wrong: tuple[Problem, ...] = ()
    failed: tuple[Problem, ...] = ()

    def __add__(self, other: "Refusals") -> "Refusals":
        return Refusals(wrong=self.wrong + other.wrong, failed=self.failed + other.failed)

    def raise_if_any(self) -> None:
        """InputError if any input is wrong, else CheckFailedError if any check failed; with all problems."""
        if self.wrong:
            raise InputError(*self.wrong, *self.failed)
        if self.failed:
            raise CheckFailedError(*self.failed)


def refusals_of(check: Callable[[], Iterable[Problem]]) -> Refusals:
    """What a check finds or raises."""
    try:
        return Refusals(failed=tuple(check()))
    except ScanbuildError as error:
        wrong = error.exit_status == InputError.exit_status
        return Refusals(wrong=error.problems) if wrong else Refusals(failed=error.problems)


def repository_problems(repository: str, op_id: str | None) -> list[Problem]:
    """Why a package cannot go to a repository: the loader demands that it is called like the kernel, to the letter.

    Without an op id only the form is looked at.
    """
    if not is_repository(repository):
        message = f"{repository!r} is no repository: it has to be ORG/NAME, of letters, digits, '.', '_' and '-'"
        hint = f"--push ORG/{op_id}" if op_id else ""
        return [_problem(message, hint)]
    owner, _, name = repository.partition("/")
    problems = [
        _problem(f"the Hub has no place for the name {part!r}: {why}")
        for part in (owner, name)
        if (why := unfit_name(part))
    ]
    if op_id is not None and name != op_id:
        message = f"the repository has to be called like the kernel, {op_id!r}, not {name!r}: the loader refuses others"
        problems.append(_problem(message, f"--push {owner}/{op_id}"))
    return problems


def branch_of(package: Package) -> str:
    """The branch that the loader takes for the package's contract version. InputError for a version that is none."""
    raw = package.metadata.raw
    version = contract_version(raw) if "version" in raw else CONTRACT_VERSION
    if version is None:
        message = f"the version of a contract is a whole number from 0, not {raw['version']!r}"
        raise InputError(Problem(message=message, file="metadata.json", path="$.version", rule="version", stage="own"))
    return f"v{version}"


def unclean(folder: Path, package: Package) -> list[Problem]:
    """Why nobody could build the package again from a commit: its sources were changed, or are now."""
    stated = package.metadata.raw.get("provenance")
    kernel = stated.get("kernel") if isinstance(stated, dict) else None
    problems = []
    if isinstance(kernel, dict) and kernel.get("dirty") is not False:
        message = "the package was built from sources that were not committed"
        problems.append(_dirty(message, str(folder), "commit them, and render and verify again"))
    source = remembered_source(folder, state_folder())
    if not problems and source is not None and _is_dirty(source):
        message = "the sources of the package have changes that are not committed"
        problems.append(_dirty(message, str(source), "commit or undo them"))
    return problems


def has_commit(package: Package) -> bool:
    """Whether the package says which commit it was built from."""
    return "provenance" in package.metadata.raw


def _is_dirty(source: Path) -> bool:
    """Whether git sees changes in a source folder, or in the fragments that it shares; not without git or a commit."""
    now = provenance_of(source, source.resolve().parent / SHARED_FOLDER) if source.is_dir() else None
    return now is not None and now.dirty


def _problem(message: str, hint: str = "") -> Problem:
    return Problem(message=message, rule="repository", stage="own", hint=hint)


def _dirty(message: str, file: str, hint: str) -> Problem:
    return Problem(message=message, rule="dirty", file=file, stage="own", hint=f"{hint}, or give --force")
