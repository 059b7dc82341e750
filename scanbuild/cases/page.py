"""A verification as one HTML page that needs nothing else."""

import json
from importlib import resources
from typing import Final

from scanbuild.cases.report import VerifyReport

_WORDS: Final = {"passed": "passed", "failed": "failed", "skipped": "skipped", "noOracle": "without an oracle"}


def html_page(report: VerifyReport) -> str:
    """The page. It has no script, and whatever comes from a package is text in it."""
    from jinja2 import Environment

    environment = Environment(autoescape=True, trim_blocks=True)
    environment.filters["tojson_text"] = lambda value: json.dumps(value, indent=2)
    source = resources.files("scanbuild.cases").joinpath("report.html.jinja").read_text(encoding="utf-8")
    names = dict.fromkeys(run.manifest.op_id for run in report.runs)
    passed = report.complete and not report.failed
    verdict = "All is well." if passed else "Something is wrong." if report.failed else "All is well so far."
    if not report.complete:
        verdict += " The run was interrupted: this is what had been done."
    title = f"Verification of {', '.join(names) or 'nothing'}"
    return environment.from_string(source).render(
        report=report, title=title, passed=passed, verdict=verdict, words=_WORDS
    )
