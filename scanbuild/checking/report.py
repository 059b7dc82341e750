"""The report of a check as JSON, described by ``schemas/check-report.schema.json``."""

from typing import Any

from scanbuild.checking.check import CheckResult
from scanbuild.errors import Problem


def report_json(result: CheckResult, *, strict: bool = False) -> dict[str, Any]:
    """The report. ``passed`` says whether the command succeeds, with warnings failing if ``strict``."""
    return {
        "path": result.path,
        "kind": result.kind,
        "package": result.op_id or None,
        "passed": passes(result, strict=strict),
        "summary": {
            "errors": result.count("error"),
            "warnings": result.count("warning"),
            "notes": result.count("note"),
            "suppressed": result.suppressed,
        },
        "problems": [_problem_json(problem) for problem in result.problems],
    }


def passes(result: CheckResult, *, strict: bool) -> bool:
    """Whether a package passes: without errors, and if ``strict`` without warnings."""
    return not result.count("error") and not (strict and result.count("warning"))


def _problem_json(problem: Problem) -> dict[str, Any]:
    return {
        "severity": problem.severity,
        "rule": problem.rule,
        "stage": problem.stage,
        "file": problem.file,
        "line": problem.line,
        "column": problem.column,
        "path": problem.path or None,
        "message": problem.message,
        "suggestion": problem.hint or None,
    }
