"""Running one case: plan, execute, ask the oracle, compare."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final, Literal

from scanbuild.cases.casefile import Case
from scanbuild.cases.compare import Comparison, compare
from scanbuild.cases.fixtures import Array
from scanbuild.cases.oracle import Expectation, FailedReferenceError, Oracle
from scanbuild.cases.requests import case_inputs, case_request
from scanbuild.errors import CallError, ScanbuildError
from scanbuild.gpu import Engine, execute
from scanbuild.planning.device import REQUESTED_FEATURES
from scanbuild.planning.plan import Plan
from scanbuild.planning.planner import Planner, PreparedCall
from scanbuild.planning.request import Request
from scanbuild.planning.results import to_array
from scanbuild.planning.selection import over_budget, unmet_requirement

Status = Literal["passed", "failed", "skipped", "noOracle"]
STATUSES: Final[tuple[Status, ...]] = ("passed", "failed", "skipped", "noOracle")


@dataclass(frozen=True, kw_only=True, slots=True)
class CaseResult:
    """What became of a case. Errors are the largest over its outputs, None where there is nothing to compare.

    ``seconds`` is the device's part of the call. ``device_lost`` says that the engine cannot be used any more.
    """

    name: str
    status: Status
    variant: str | None = None
    max_abs_error: float | None = None
    max_ulp: int | None = None
    seconds: float = 0.0
    message: str = ""
    device_lost: bool = False


@dataclass(frozen=True, slots=True)
class CaseRunner:
    """Runs cases of one package on one engine."""

    planner: Planner
    engine: Engine
    oracle: Oracle

    def run(self, case: Case) -> CaseResult:
        """Run a case. Whatever goes wrong with it is told in the result, not raised."""
        if case.skip is not None:
            return CaseResult(name=case.name, status="skipped", message=f"{case.skip.category}: {case.skip.reason}")
        try:
            return self._run(case)
        except (ScanbuildError, FailedReferenceError, MemoryError) as error:
            message = str(error) or type(error).__name__
            return CaseResult(name=case.name, status="failed", message=message, device_lost=bool(self.engine.lost))

    def _run(self, case: Case) -> CaseResult:
        manifest = self.planner.package.manifest
        inputs = case_inputs(case)
        request = case_request(case, manifest, inputs)
        try:
            prepared = self.planner.prepare(request, self.engine.record)
        except CallError as error:
            lacking = self._lacking_feature(request)
            if not lacking:
                raise
            message = f"the device lacks {lacking}: {error}"
            return CaseResult(name=case.name, status="skipped", message=message)
        try:
            return self._judge(case, inputs, request, prepared)
        except (ScanbuildError, FailedReferenceError) as error:
            return CaseResult(
                name=case.name,
                status="failed",
                variant=prepared.plan.variant,
                message=str(error),
                device_lost=bool(self.engine.lost),
            )

    def _judge(self, case: Case, inputs: Mapping[str, Array], request: Request, prepared: PreparedCall) -> CaseResult:
        plan = prepared.plan
        executed = execute(self.engine, plan, prepared.uploads)
        got = {
            name: to_array(plan.outputs[name], data)
            for name, data in executed.outputs.items()
            if isinstance(data, bytes)
        }
        expectation = self.oracle.expect(case, inputs)
        result = compare_outputs(case, plan, got, expectation)
        result = replace(result, variant=plan.variant, seconds=executed.seconds)
        wrong_variant = self._unexpected_variant(case, request, plan.variant)
        if wrong_variant:
            message = "\n".join(part for part in (wrong_variant, result.message) if part)
            return replace(result, status="failed", message=message)
        return result

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

    def _unexpected_variant(self, case: Case, request: Request, chosen: str) -> str:
        """What to say if another variant ran than the case is meant to reach, on a device that offers what that
        one requires; "" if all is well. A variant rejected by a clause about the device was not offered what it
        requires, either."""
        wanted = case.expect_variant
        if wanted is None or wanted == chosen:
            return ""
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


def compare_outputs(case: Case, plan: Plan, got: Mapping[str, Array], expectation: Expectation) -> CaseResult:
    """The verdict on the values of a case. One output without an oracle makes it ``noOracle``, unless others fail."""
    comparisons, messages = [], []
    for name, want in expectation.arrays.items():
        comparison = _compare_output(case, plan, name, got, want)
        comparisons.append(comparison)
        if not comparison.passed:
            messages.append(f"{name}: {comparison.message}")
    status: Status = "passed" if not messages else "failed"
    if expectation.missing and status == "passed":
        status = "noOracle"
        messages = [f"{name}: {reason}" for name, reason in expectation.missing.items()]
    return CaseResult(
        name=case.name,
        status=status,
        max_abs_error=max((item.max_abs_error for item in comparisons if item.max_abs_error is not None), default=None),
        max_ulp=max((item.max_ulp for item in comparisons if item.max_ulp is not None), default=None),
        message="\n".join(messages),
    )


def _compare_output(case: Case, plan: Plan, name: str, got: Mapping[str, Array], want: Array) -> Comparison:
    expected = case.outputs[name]
    if name not in got:
        return Comparison(passed=False, message="the call did not return it")
    spec, fixture = plan.outputs[name], expected.fixture
    if spec.logical != fixture.dtype:
        return Comparison(passed=False, message=f"the dtype is {spec.logical}, expected {fixture.dtype}")
    if spec.shape != fixture.shape:
        return Comparison(passed=False, message=f"the shape is {list(spec.shape)}, expected {list(fixture.shape)}")
    if want.shape != fixture.shape:
        return Comparison(
            passed=False, message=f"the oracle's shape is {list(want.shape)}, the case's {list(fixture.shape)}"
        )
    return compare(got[name], want, fixture.dtype, expected.tolerance, expected.allow_nan)
