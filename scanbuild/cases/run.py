"""Running one case: plan, execute, ask the oracle, compare."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final, Literal

from scanbuild.cases.casefile import Case
from scanbuild.cases.compare import Comparison, compare
from scanbuild.cases.diagnosis import Suspect, diagnose
from scanbuild.cases.findings import Finding, error_finding, joined
from scanbuild.cases.fixtures import Array
from scanbuild.cases.oracle import Expectation, FailedReferenceError, Oracle
from scanbuild.cases.probing import Depth, Outputs, Prober
from scanbuild.cases.requests import case_inputs, case_request
from scanbuild.errors import CallError, ScanbuildError
from scanbuild.gpu.interface import Executor
from scanbuild.planning.device import REQUESTED_FEATURES
from scanbuild.planning.plan import Plan
from scanbuild.planning.planner import Planner, PreparedCall
from scanbuild.planning.request import Request
from scanbuild.planning.results import to_array
from scanbuild.planning.selection import over_budget, unmet_requirement

Status = Literal["passed", "failed", "skipped", "noOracle"]
STATUSES: Final[tuple[Status, ...]] = ("passed", "failed", "skipped", "noOracle")

DIAGNOSED: Final = 3
"""So many failing cases of a variant are looked into: more are seldom of another cause, and each takes many runs."""


@dataclass(frozen=True, kw_only=True, slots=True)
class CaseResult:
    """What became of a case. Errors are the largest over its outputs, None where there is nothing to compare.

    ``seconds`` is the device's part of the first run. ``forced`` says that the variant was asked for, not selected.
    ``findings`` tell all that is wrong, ``message`` says it in words, or why the case was skipped. ``device_lost``
    says that the engine cannot be used any more.
    """

    name: str
    status: Status
    variant: str | None = None
    forced: bool = False
    max_abs_error: float | None = None
    max_ulp: int | None = None
    seconds: float = 0.0
    findings: tuple[Finding, ...] = ()
    message: str = ""
    device_lost: bool = False


def failed(name: str, *findings: Finding, variant: str | None = None, forced: bool = False) -> CaseResult:
    """The result of a case that came to nothing."""
    return CaseResult(
        name=name, status="failed", variant=variant, forced=forced, findings=findings, message=joined(findings)
    )


@dataclass(frozen=True, slots=True)
class CaseRunner:
    """Runs cases of one package on one engine. Findings of a kind in ``allowed`` are told and do not fail a case."""

    planner: Planner
    engine: Executor
    oracle: Oracle
    depth: Depth = Depth()  # noqa: RUF009  # it is immutable
    allowed: frozenset[str] = frozenset()
    diagnosed: dict[str, int] = field(default_factory=dict)

    def run(self, case: Case, variant: str | None = None) -> CaseResult:
        """Run a case, on the variant of that id or on the selected one.

        Whatever goes wrong with it is told in the result, not raised.
        """
        if case.skip is not None:
            return CaseResult(name=case.name, status="skipped", message=f"{case.skip.category}: {case.skip.reason}")
        forced = variant is not None
        try:
            result = self._run(case, variant)
        except (ScanbuildError, FailedReferenceError, MemoryError) as error:
            result = failed(case.name, _finding(error), variant=variant)
        return replace(result, forced=forced, device_lost=bool(self.engine.lost))

    def _run(self, case: Case, variant: str | None) -> CaseResult:
        manifest = self.planner.package.manifest
        inputs = case_inputs(case)
        request = case_request(case, manifest, inputs)
        try:
            prepared = self.planner.prepare(request, self.engine.record, variant)
        except CallError as error:
            lacking = self._lacking_feature(request) if variant is None else ""
            if not lacking:
                raise
            message = f"the device lacks {lacking}: {error}"
            return CaseResult(name=case.name, status="skipped", message=message)
        try:
            return self._judge(case, inputs, request, prepared, forced=variant is not None)
        except (ScanbuildError, FailedReferenceError, MemoryError) as error:
            return failed(case.name, _finding(error), variant=prepared.plan.variant)

    def _judge(
        self, case: Case, inputs: Mapping[str, Array], request: Request, prepared: PreparedCall, *, forced: bool
    ) -> CaseResult:
        plan = prepared.plan
        probed = Prober(self.engine, plan, prepared.uploads).probe(self.depth)
        expectation = self.oracle.expect(case, inputs)

        def judge(outputs: Outputs) -> CaseResult:
            return compare_outputs(case, plan, arrays_of(plan, outputs), expectation)

        result = judge(probed.outputs)
        findings = [*result.findings, *probed.findings]
        if not forced:
            findings[:0] = self._unexpected_variant(case, request, plan.variant)
        if findings and self.depth.diagnose and not self.engine.lost:
            suspect = Suspect(
                planner=self.planner,
                executor=self.engine,
                request=request,
                prepared=prepared,
                outputs=probed.outputs,
                findings=tuple(findings),
                passes=lambda outputs: judge(outputs).status == "passed",
            )
            done = self.diagnosed.get(plan.variant, 0)
            findings += diagnose(suspect, briefly=done >= DIAGNOSED)
            self.diagnosed[plan.variant] = done + 1
        return self._verdict(replace(result, variant=plan.variant, seconds=probed.seconds), findings)

    def _verdict(self, result: CaseResult, findings: list[Finding]) -> CaseResult:
        """The result with all that was found: failed unless it is allowed, skipped if the adapter is to blame."""
        if any(item.kind == "loop-limit" for item in findings):
            message = joined(item for item in findings if item.kind == "loop-limit")
            return replace(result, status="skipped", findings=(), message=message)
        wrong = any(item.kind not in self.allowed and item.kind != "no-oracle" for item in findings)
        excused = result.status == "failed" or (result.status == "noOracle" and "no-oracle" in self.allowed)
        status: Status = "failed" if wrong else "passed" if excused else result.status
        return replace(result, status=status, findings=tuple(findings), message=joined(findings))

    def _lacking_feature(self, request: Request) -> str:
        """Names of features that the device lacks, if with all of them some variant would take the request."""
        record = self.engine.record
        missing = [name for name in REQUESTED_FEATURES if name not in record.features]
        if not missing:
            return ""
        try:
            self.planner.prepare(request, replace(record, features=record.features | set(missing)))
        except ScanbuildError:
            return ""
        return self._first_enough(request, missing)

    def _first_enough(self, request: Request, missing: list[str]) -> str:
        """The one feature that is enough, or all of them if no single one is."""
        record = self.engine.record
        for name in missing:
            try:
                self.planner.prepare(request, replace(record, features=record.features | {name}))
            except ScanbuildError:
                continue
            return name
        return ", ".join(missing)

    def _unexpected_variant(self, case: Case, request: Request, chosen: str) -> list[Finding]:
        """What to say if another variant ran than the case is meant to reach, on a device that offers what that
        one requires. A variant rejected by a clause about the device was not offered what it requires, either."""
        wanted = case.expect_variant
        if wanted is None or wanted == chosen:
            return []
        words = self._why_not(wanted, chosen, request)
        return [Finding(kind="wrong-variant", message=words)] if words else []

    def _why_not(self, wanted: str, chosen: str, request: Request) -> str:
        try:
            variant = self.planner.package.manifest.variant(wanted)
        except KeyError:
            return f"the case expects variant {wanted}, which the package does not have"
        record = self.engine.record
        if unmet_requirement(variant.requires, record) or over_budget(variant, record):
            return ""
        verdicts = {verdict.id: verdict for verdict in self.planner.explain(request, record)}
        reason = verdicts[wanted].reason if wanted in verdicts else ""
        if "device." in reason:
            return ""
        return f"expected variant {wanted}, {chosen} ran" + (f": {reason}" if reason else ", which ranks before it")


def arrays_of(plan: Plan, outputs: Outputs) -> dict[str, Array]:
    """The outputs in natural form."""
    return {name: to_array(plan.outputs[name], data) for name, data in outputs.items()}


def compare_outputs(case: Case, plan: Plan, got: Mapping[str, Array], expectation: Expectation) -> CaseResult:
    """The verdict on the values of a case. One output without an oracle makes it ``noOracle``, unless others fail."""
    comparisons, findings = [], []
    for name, want in expectation.arrays.items():
        comparison = _compare_output(case, plan, name, got, want)
        comparisons.append(comparison)
        if not comparison.passed:
            findings.append(Finding(kind=comparison.kind, message=f"{name}: {comparison.message}"))
    status: Status = "failed" if findings else "passed"
    if expectation.missing and not findings:
        status = "noOracle"
        findings = [
            Finding(kind="no-oracle", message=f"{name}: {reason}") for name, reason in expectation.missing.items()
        ]
    return CaseResult(
        name=case.name,
        status=status,
        max_abs_error=max((item.max_abs_error for item in comparisons if item.max_abs_error is not None), default=None),
        max_ulp=max((item.max_ulp for item in comparisons if item.max_ulp is not None), default=None),
        findings=tuple(findings),
        message=joined(findings),
    )


def _compare_output(case: Case, plan: Plan, name: str, got: Mapping[str, Array], want: Array) -> Comparison:
    expected = case.outputs[name]
    if name not in got:
        return Comparison(passed=False, kind="wrong-output", message="the call did not return it")
    spec, fixture = plan.outputs[name], expected.fixture
    if spec.logical != fixture.dtype:
        return Comparison(
            passed=False, kind="wrong-output", message=f"the dtype is {spec.logical}, expected {fixture.dtype}"
        )
    if spec.shape != fixture.shape:
        return Comparison(
            passed=False,
            kind="wrong-output",
            message=f"the shape is {list(spec.shape)}, expected {list(fixture.shape)}",
        )
    if want.shape != fixture.shape:
        return Comparison(
            passed=False,
            kind="wrong-output",
            message=f"the oracle's shape is {list(want.shape)}, the case's {list(fixture.shape)}",
        )
    tolerance = expected.tolerances.get(plan.variant, expected.tolerance)
    return compare(got[name], want, fixture.dtype, tolerance, expected.allow_nan)


def _finding(error: BaseException) -> Finding:
    if isinstance(error, ScanbuildError):
        return error_finding(error)
    if isinstance(error, FailedReferenceError):
        return Finding(kind="reference", message=str(error))
    return Finding(
        kind="out-of-memory", message=f"the host: {error}" if str(error) else "the host has not enough memory"
    )
