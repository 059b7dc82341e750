"""Making a failing case as small as it can be and still fail of the same."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Final

from scanbuild.cases.casefile import Case
from scanbuild.cases.fixtures import Constant, Data, Iota, Random
from scanbuild.cases.fuzz import Generator, Model
from scanbuild.cases.run import CaseResult

Run = Callable[[Case], CaseResult]

MOST_RUNS: Final = 60


def shrink(case: Case, result: CaseResult, generator: Generator, run: Run) -> tuple[Case, CaseResult]:
    """The smallest case found, and what became of it. ``run`` runs a case as the failing one was run."""
    kinds = {item.kind for item in result.findings}
    left = MOST_RUNS
    shrinking = True
    while shrinking and left > 0:
        shrinking = False
        # Without an attribute an output may have another rank, and the case another model.
        for candidate in _smaller(case, generator.model_of(case), generator):
            planned = generator.planned(candidate)
            if planned is None:
                continue
            left -= 1
            again = run(planned)
            if again.status == "failed" and kinds & {item.kind for item in again.findings}:
                case, result, shrinking = planned, again, True
                break
            if left <= 0:
                break
    return case, result


def _smaller(case: Case, model: Model | None, generator: Generator) -> Iterator[Case]:
    """Cases that are simpler by one thing: a size, an attribute, the data of an input."""
    for group in model.classes if model is not None else ():
        kind, name, axis = group[0]
        size = (case.inputs[name] if kind == "inputs" else case.outputs[name].fixture).shape[axis]
        for smaller in dict.fromkeys((1, size // 2, size - size // 4, size - 1)):
            if 0 < smaller < size:
                yield generator.resized(case, dict.fromkeys(group, smaller))
    for name in case.attrs:
        yield replace(case, attrs={other: value for other, value in case.attrs.items() if other != name})
    for name, fixture in case.inputs.items():
        for data in _simpler(fixture.data):
            yield replace(case, inputs={**case.inputs, name: replace(fixture, data=data)})


def _simpler(data: Data | None) -> Iterator[Data]:
    if isinstance(data, Random):
        yield Constant(value=1)
        yield Iota(start=1, step=1)
