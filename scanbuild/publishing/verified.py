"""Whether a verify report says that these very bytes are right.

What stands in a report is the word of whoever wrote it; it keeps people from publishing by mistake, not on purpose.
The bytes are known by the digest of ``metadata.json``, which lists those of all other files.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, TypeAlias, cast

from scanbuild.cases.casefile import read_tests
from scanbuild.cases.report import REPORT_FILE, left_report
from scanbuild.errors import InputError, Problem
from scanbuild.package.digest import digest_bytes
from scanbuild.package.fetching import read_named
from scanbuild.package.jsonfile import parse_json
from scanbuild.package.metadata import METADATA_FILE
from scanbuild.package.report import some
from scanbuild.package.schema import schema_problems
from scanbuild.package.source import TEST_FILE
from scanbuild.package.text import decode

Run: TypeAlias = Mapping[str, Any]
_SCHEMA: Final = "verify-report"
_NAMED: Final = 3
_LONGEST: Final = 2**26
"""Bytes of a report. A verification of a thousand cases on three engines writes a tenth."""
_MALFORMED: Final = (KeyError, TypeError, AttributeError, ValueError)


def report_of(folder: Path, chosen: Path | None) -> Path | None:
    """The report to go by: the one chosen, else what the last ``verify`` left beside the package, else in ``build/``.

    The last is for copies of a package: a published folder, for one.
    """
    if chosen is not None:
        return chosen
    beside, common = left_report(folder), Path("build", REPORT_FILE)
    return common if common.is_file() and (beside is None or not beside.is_file()) else beside


def unverified(folder: Path, files: Mapping[str, bytes], chosen: Path | None) -> list[Problem]:
    """Why the package in ``folder``, which holds ``files``, does not count as verified; nothing if it does.

    Raises InputError for a report that was chosen and is none.
    """
    report_file = report_of(folder, chosen)
    if report_file is None or (chosen is None and not report_file.is_file()):
        message = "the package was not verified: there is no report of it"
        return [_problem(message, str(report_file or folder), f"run scanbuild verify {folder}")]
    report, names = _read(report_file), _case_names(folder, files)
    digest = digest_bytes(files[METADATA_FILE])
    try:
        runs = [run for run in report["runs"] if run.get("digest") == digest]
        words = _unfit(report, runs, names) if runs else _of_others(report)
    except _MALFORMED:
        raise _no_report(report_file) from None
    return [_problem(text, str(report_file), f"run scanbuild verify {folder}") for text in words]


def allowed_findings(folder: Path, files: Mapping[str, bytes], chosen: Path | None) -> list[str]:
    """The kinds of findings that the report passed over because ``verify --allow`` said so."""
    report_file = report_of(folder, chosen)
    if report_file is None or not report_file.is_file():
        return []
    digest = digest_bytes(files[METADATA_FILE])
    try:
        runs = [run for run in _read(report_file)["runs"] if run.get("digest") == digest]
        return sorted({item["kind"] for run in runs for case in run["cases"] for item in case.get("findings", ())})
    except _MALFORMED:
        raise _no_report(report_file) from None


def _unfit(report: Mapping[str, Any], runs: Sequence[Run], names: frozenset[str]) -> list[str]:
    """What keeps runs of these very bytes from speaking for them."""
    words = []
    if not all(item["complete"] is True for item in (report, *runs)):
        words.append("the verification was interrupted, so it says nothing of what was not run")
    failed = _failed(runs)
    if failed:
        words.append(f"the verification failed: {some(failed, _NAMED)}")
    unreached = [text for item in report.get("coverage", ()) for text in item["unreached"]]
    if unreached and any(item["package"] == runs[0]["package"] for item in report["coverage"]):
        words.append(f"the verification failed: {unreached[0]}")
    if words:
        return words
    full = [run for run in runs if names <= {case["name"] for case in run["cases"]}]
    if not full:
        most = max(len(names & {case["name"] for case in run["cases"]}) for run in runs)
        return [f"only a part was verified: {most} of {len(names)} cases (was -k given?)"]
    if not any(case["status"] == "passed" for run in full for case in run["cases"]):
        return ["no case passed: there is none that is not skipped"]
    if report["passed"] is not True and all(run in runs for run in report["runs"]):
        return ["the verification failed"]  # for a reason that only a later scanbuild knows
    return []


def _failed(runs: Sequence[Run]) -> list[str]:
    """What failed, by name: cases, shaders, generated cases."""
    cases = [case["name"] for run in runs for case in run["cases"] if case["status"] in ("failed", "noOracle")]
    shaders = [item["name"] for run in runs for item in run.get("shaders", ()) if item["status"] == "failed"]
    generated = [item["result"]["name"] for run in runs for item in run.get("generated", {"failures": ()})["failures"]]
    return list(dict.fromkeys([*cases, *shaders, *generated]))


def _of_others(report: Mapping[str, Any]) -> list[str]:
    if not report["runs"]:
        return ["nothing was verified: the report holds no run"]
    if not any("digest" in run for run in report["runs"]):
        return ["the report does not say which bytes were verified: an earlier scanbuild wrote it"]
    return ["the report is of other bytes: the package was built or changed since, or another one was verified"]


def _case_names(folder: Path, files: Mapping[str, bytes]) -> frozenset[str]:
    """The cases that have to have run: all of the package."""
    if TEST_FILE not in files:
        return frozenset()
    tests = read_tests(decode(files[TEST_FILE]), str(folder / TEST_FILE), foreign=True)
    return frozenset(case.name for case in tests.cases)


def _read(file: Path) -> Mapping[str, Any]:
    """The report in a file. InputError for anything else, as far as that is seen so early."""
    try:
        text = decode(read_named(file, _LONGEST))
    except OSError as error:
        message = f"cannot read the report: {(error.strerror or str(error)).lower()}"
        raise InputError(Problem(message=message, file=str(file), rule="verified", stage="own")) from None
    value = parse_json(text, str(file), limit=_LONGEST)
    # A long report is not put to its schema, which would take seconds; its members are not trusted, either way.
    problems = schema_problems(value, _SCHEMA, text, str(file))
    if problems or not isinstance(value, dict):
        raise _no_report(file, *problems[:_NAMED])
    return cast(Mapping[str, Any], value)


def _no_report(file: Path, *problems: Problem) -> InputError:
    message = "this is no report of scanbuild verify --json, or one of another version of scanbuild"
    return InputError(Problem(message=message, file=str(file), rule="verified", stage="own"), *problems)


def _problem(message: str, file: str, hint: str) -> Problem:
    return Problem(message=message, rule="verified", file=file, stage="own", hint=f"{hint}, or give --force")
