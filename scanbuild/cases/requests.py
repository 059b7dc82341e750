"""From a case to the request of its call, with data or, for planning alone, without."""

from collections.abc import Mapping

from scanbuild.cases.casefile import Case
from scanbuild.cases.fixtures import Array, TensorFixture, make_array
from scanbuild.package.model import ABSENT, Manifest
from scanbuild.planning.request import Destination, HostTensor, Request


def case_inputs(case: Case) -> dict[str, Array]:
    """The input tensors of a case in natural form."""
    return {name: make_array(fixture) for name, fixture in case.inputs.items()}


def case_request(case: Case, manifest: Manifest, inputs: Mapping[str, Array] | None = None) -> Request:
    """The call of a case. Without ``inputs`` it can be planned, not run: shapes and dtypes only.

    A destination is given for an output only where the call would not produce it otherwise, or could not know its
    shape or dtype: a destination takes part in inference.
    """
    tensors = {
        name: _host_tensor(fixture, None if inputs is None else inputs[name]) for name, fixture in case.inputs.items()
    }
    destinations = {
        name: Destination(shape=list(expected.fixture.shape), dtype=expected.fixture.dtype)
        for name, expected in case.outputs.items()
        if _needs_destination(name, case, manifest)
    }
    return Request(inputs=tensors, attrs=case.attrs, args=case.args, outputs=destinations)


def _host_tensor(fixture: TensorFixture, array: Array | None) -> HostTensor:
    return HostTensor(shape=fixture.shape, array=array, dtype=fixture.dtype)


def _needs_destination(name: str, case: Case, manifest: Manifest) -> bool:
    port = manifest.outputs.get(name)
    if port is None or name in case.inputs:
        return False
    if port.optional or port.shape is ABSENT:
        return True
    admitted = manifest.type_constraints.get(port.dtype or "")
    bound = {manifest.inputs[other].dtype for other in case.inputs if other in manifest.inputs}
    return admitted is not None and len(admitted) > 1 and port.dtype not in bound
