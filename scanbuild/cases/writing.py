"""A case as ``test.json`` has it."""

from typing import Any

from scanbuild.cases.casefile import Case
from scanbuild.cases.fixtures import Constant, Data, Iota, Random, TensorFixture, Values, Wave
from scanbuild.package.model import Json


def case_json(case: Case) -> dict[str, Json]:
    """The members of a case, those that say nothing left out."""
    members: dict[str, Any] = {
        "name": case.name,
        "inputs": {name: _tensor(fixture) for name, fixture in case.inputs.items()},
    }
    if case.attrs:
        members["attrs"] = dict(case.attrs)
    if case.args:
        members["args"] = dict(case.args)
    outputs = {}
    for name, expected in case.outputs.items():
        outputs[name] = _tensor(expected.fixture)
        if expected.tolerance is not None:
            outputs[name]["tolerance"] = expected.tolerance
        if expected.tolerances:
            outputs[name]["tolerances"] = dict(expected.tolerances)
        if not expected.allow_nan:
            outputs[name]["allowNaN"] = False
    return {**members, "outputs": outputs}


def _tensor(fixture: TensorFixture) -> dict[str, Any]:
    members: dict[str, Any] = {"dtype": fixture.dtype, "shape": list(fixture.shape)}
    return members if fixture.data is None else {**members, "data": _data(fixture.data)}


def _data(data: Data) -> dict[str, Any]:
    match data:
        case Values(values=values):
            return {"kind": "values", "values": list(values)}
        case Wave():
            return {"kind": "fillFloat32", "sinStep": data.sin_step, "cosStep": data.cos_step, "scale": data.scale}
        case Random():
            whole = {} if data.integers is None else {"integers": data.integers}
            return {"kind": "random", "seed": data.seed, "low": data.low, "high": data.high, **whole}
        case Iota():
            return {"kind": "iota", "start": data.start, "step": data.step}
        case Constant():
            return {"kind": "constant", "value": data.value}
