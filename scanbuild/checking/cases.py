"""Rules on a package's cases, and on what is only documentation."""

from collections.abc import Iterator
from pathlib import Path

from scanbuild.cases.casefile import Case
from scanbuild.cases.oracle import INTERNAL, ONNX_DOMAINS
from scanbuild.checking.subject import Subject
from scanbuild.errors import Problem
from scanbuild.package.jsonfile import parse_path
from scanbuild.package.source import TEST_FILE


def missing_oracles(subject: Subject) -> Iterator[Problem]:
    """A case whose expected values nothing tells."""
    manifest = subject.manifest
    if subject.has_reference:
        return
    has_onnx = manifest.domain in ONNX_DOMAINS and manifest.conformance != INTERNAL
    found = [(case, _untold(case.case, has_onnx)) for case in subject.cases if case.is_test]
    without = [(case, what) for case, what in found if what]
    if without:
        case, what = without[0]
        others = len(without) - 1
        more = f" (and so for {others} more {'case' if others == 1 else 'cases'})" if others else ""
        yield case.file.problem(
            ("cases", case.case.index),
            "no-oracle",
            f"{case.words}: {what}, so it can never pass{more}",
            hint="give the output data, or write a reference.py beside the manifest",
            severity="warning",
            stage="own",
        )


def _untold(case: Case, has_onnx: bool) -> str:
    """What nothing tells of a case."""
    if not case.outputs:
        return "it expects no output"
    missing = [name for name, expected in case.outputs.items() if expected.fixture.data is None]
    return f"nothing tells the values of {', '.join(missing)}" if missing and not has_onnx else ""


def missing_tests(subject: Subject) -> Iterator[Problem]:
    """A package without test cases. Of a foreign one this is only worth a note."""
    named = any(Path(file.file).name == TEST_FILE for file in subject.case_files)
    if subject.kind == "manifest" or named:
        return
    problem = Problem(
        message="the package has no test cases",
        rule="no-tests",
        severity="note" if subject.kind == "built" else "warning",
        stage="own",
        hint=f"add {TEST_FILE}",
    )
    yield problem.at(subject.text.file, 1, 1)


def idle_superseding(subject: Subject) -> Iterator[Problem]:
    """``supersededBy`` never changes which variant is chosen: the named variant comes first anyway (9.2)."""
    for variant in subject.manifest.ranked:
        if variant.superseded_by:
            names = ", ".join(f"`{name}`" for name in variant.superseded_by)
            yield subject.text.problem(
                (*parse_path(variant.path), "supersededBy"),
                "superseded-idle",
                f"variant `{variant.id}`: this changes nothing, because {names} outranks it anyway",
                hint="keep it as documentation, or remove it",
                key=True,
                severity="note",
                stage="own",
            )
