"""A verification as JUnit's XML, which continuous integration shows as tests."""

import re
from typing import Final
from xml.etree import ElementTree

from scanbuild.cases.report import Coverage, RunReport, VerifyReport
from scanbuild.cases.run import CaseResult

_NO_XML: Final = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def junit_xml(report: VerifyReport) -> str:
    """A suite a run: its cases, its shaders, its generated cases. A suite for each package whose coverage was asked."""
    root = ElementTree.Element("testsuites", name="scanbuild verify")
    for run in report.runs:
        _add_run(root, run)
    for item in report.coverage:
        _add_coverage(root, item)
    ElementTree.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(root, encoding="unicode") + "\n"


def _add_run(root: ElementTree.Element, run: RunReport) -> None:
    suite = ElementTree.SubElement(root, "testsuite", name=_clean(f"{run.manifest.op_id} on {run.engine}"))
    properties = ElementTree.SubElement(suite, "properties")
    ElementTree.SubElement(properties, "property", name="adapter", value=_clean(run.described))
    ElementTree.SubElement(properties, "property", name="complete", value=str(run.complete).lower())
    where = f"{run.manifest.op_id}.{run.engine}"
    for item in run.results:
        _add_case(suite, where, item)
    for shader in run.compiled:
        element = _testcase(suite, f"{where}.shaders", shader.name, 0.0)
        if shader.status == "failed":
            _failure(element, shader.kind, shader.message)
        elif shader.status == "lacking":
            ElementTree.SubElement(element, "skipped", message=_clean(shader.message))
    for generated in run.fuzzing.failures if run.fuzzing is not None else ():
        _add_case(suite, f"{where}.generated", generated.result)
    _count(suite)


def _add_coverage(root: ElementTree.Element, item: Coverage) -> None:
    suite = ElementTree.SubElement(root, "testsuite", name=_clean(f"{item.package} coverage"))
    element = _testcase(suite, f"{item.package}.coverage", "every variant is reached", 0.0)
    if item.unreached:
        _failure(element, "unreached", "\n".join(finding.message for finding in item.unreached))
    _count(suite)


def _add_case(suite: ElementTree.Element, where: str, item: CaseResult) -> None:
    name = f"{item.name} [{item.variant}]" if item.forced else item.name
    element = _testcase(suite, where, name, item.seconds)
    if item.status == "skipped":
        ElementTree.SubElement(element, "skipped", message=_clean(item.message))
    elif item.status != "passed":
        _failure(element, item.findings[0].kind if item.findings else item.status, item.message)
    elif item.message:
        ElementTree.SubElement(element, "system-out").text = _clean(item.message)


def _testcase(suite: ElementTree.Element, where: str, name: str, seconds: float) -> ElementTree.Element:
    attributes = {"classname": _clean(where), "name": _clean(name), "time": f"{seconds:.6f}"}
    return ElementTree.SubElement(suite, "testcase", attributes)


def _failure(element: ElementTree.Element, kind: str, message: str) -> None:
    failure = ElementTree.SubElement(element, "failure", type=kind, message=_clean(message.partition("\n")[0]))
    failure.text = _clean(message)


def _count(suite: ElementTree.Element) -> None:
    cases = suite.findall("testcase")
    suite.set("tests", str(len(cases)))
    suite.set("failures", str(sum(item.find("failure") is not None for item in cases)))
    suite.set("skipped", str(sum(item.find("skipped") is not None for item in cases)))
    suite.set("errors", "0")


def _clean(text: str) -> str:
    """The text without what no XML can hold."""
    return _NO_XML.sub("\ufffd", text)
