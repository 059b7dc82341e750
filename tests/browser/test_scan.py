"""The quick cases of ``ai.onnx.Scan`` in a headless browser: the small ones, and the smallest of each variant."""

import math

from scanbuild.cases.casefile import Case
from scanbuild.cases.oracle import Oracle, load_reference
from scanbuild.cases.run import CaseRunner
from scanbuild.gpu.browser.engine import BrowserEngine
from tests.kernels.source import FOLDER, cases, planner

SMALL = 1_000
LARGE = 200_000


def elements(case: Case) -> int:
    return math.prod(case.inputs["scan_input"].shape)


def quick() -> list[Case]:
    known = sorted(cases(), key=elements)
    smallest = {case.expect_variant: case for case in reversed(known) if elements(case) <= LARGE}
    return [case for case in known if elements(case) <= SMALL or case in smallest.values()]


def test_every_quick_case_passes_in_a_browser(engine: BrowserEngine):
    made = planner()
    runner = CaseRunner(made, engine, Oracle(manifest=made.package.manifest, reference=load_reference(FOLDER)))
    results = [runner.run(case) for case in quick()]
    assert len(results) > 60
    assert [(item.name, item.message) for item in results if item.status != "passed"] == []
    assert len({item.variant for item in results}) >= 5
