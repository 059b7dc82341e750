"""Every legal request finds a variant and a legal grid on every device; every other request is refused."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scanbuild.errors import CallError
from scanbuild.planning.device import DeviceRecord
from scanbuild.planning.profiles import profile, profiles
from scanbuild.planning.request import Destination, HostTensor, Request
from tests.kernels.source import cases, planner, shape_request

PROFILES = profiles()
BOUNDARIES = [0, 1, 31, 32, 33, 63, 64, 65, 1023, 1024, 1025, 16_383, 16_384, 16_385, 32_767, 32_768, 32_769]


def roomy(name: str) -> DeviceRecord:
    """A profile with room for 2**32 elements."""
    device = profile(name)
    return replace(device, limits={**device.limits, "maxBufferSize": 2**35})


@pytest.mark.parametrize("name", PROFILES)
def test_every_case_finds_the_variant_it_aims_at_on_every_profile(name):
    for case in cases():
        inputs = {port: HostTensor(shape=list(item.shape), dtype=item.dtype) for port, item in case.inputs.items()}
        plan = planner().prepare(Request(inputs=inputs, attrs=case.attrs), PROFILES[name]).plan
        assert plan.variant == (case.expect_variant or plan.variant), case.name


@pytest.mark.parametrize("dtype", ["float32", "float16", "int32", "uint32"])
@pytest.mark.parametrize("name", ["webgpu-defaults", "chrome-mobile"])
def test_shapes_around_the_constants_of_the_clauses_find_a_variant(name, dtype):
    for steps in BOUNDARIES:
        for dim in BOUNDARIES:
            planner().prepare(shape_request(steps, dim, dtype), roomy(name))


@given(st.integers(0, 2**28), st.integers(0, 2**20), st.sampled_from(["float32", "float16", "int32", "uint32"]))
def test_any_shape_that_fits_into_memory_gets_a_grid_that_covers_it(steps, dim, dtype):
    dim = min(dim, (2**32 - 1) // max(1, steps))
    plan = planner().prepare(shape_request(steps, dim, dtype), roomy("webgpu-defaults")).plan
    for item in plan.passes:
        assert all(1 <= size <= 65_535 for size in item.grid)
        assert len(item.bindings) <= 7
    assert bool(plan.passes) == (dim > 0)


@pytest.mark.parametrize(
    ("steps", "dim"), [(2**28, 1), (2**27, 15), (4096, 2**19), (1, 2**20), (2**11, 2**20), (3, 2**29)]
)
def test_the_largest_shapes_plan_on_the_default_limits(steps, dim):
    plan = planner().prepare(shape_request(steps, dim), roomy("webgpu-defaults")).plan
    workgroups = plan.passes[-1].grid[0] * plan.passes[-1].grid[1]
    assert workgroups >= 512


def test_no_steps_copy_the_state_in_one_pass():
    plan = planner().prepare(shape_request(0, 5), PROFILES["webgpu-defaults"]).plan
    assert (plan.variant, [item.grid for item in plan.passes]) == ("serial", [(1, 1, 1)])


@pytest.mark.parametrize("dim", [0, 3])
@pytest.mark.parametrize("steps", [0, 7])
def test_a_device_that_allows_no_large_workgroup_gets_the_serial_variant(steps, dim):
    device = profile("webgpu-defaults")
    small = replace(device, limits={**device.limits, "maxComputeInvocationsPerWorkgroup": 128})
    for factor in (1, 2000):
        assert planner().prepare(shape_request(steps * factor, dim * 30), small).plan.variant == "serial"


@pytest.mark.parametrize(
    "request_",
    [
        shape_request(4, 3, state=[4]),
        shape_request(4, 3, state=[1]),
        shape_request(4, 3, state=[3, 1]),
        shape_request(4, 3, state=[]),
        Request(
            inputs={
                "initial_state": HostTensor(shape=[3], dtype="float32"),
                "scan_input": HostTensor(shape=[3], dtype="float32"),
            }
        ),
        Request(
            inputs={
                "initial_state": HostTensor(shape=[3], dtype="float32"),
                "scan_input": HostTensor(shape=[2, 4, 3], dtype="float32"),
            }
        ),
        Request(
            inputs={
                "initial_state": HostTensor(shape=[0], dtype="float32"),
                "scan_input": HostTensor(shape=[], dtype="float32"),
            }
        ),
        shape_request(2**16, 2**16),
    ],
    ids=[
        "longer",
        "broadcast",
        "rank 2",
        "rank 0",
        "input rank 1",
        "input rank 3",
        "input rank 0",
        "too many elements",
    ],
)
def test_shapes_outside_the_contract_are_refused(request_):
    with pytest.raises(CallError, match="no variant"):
        planner().prepare(request_, roomy("webgpu-defaults"))


def test_tensors_of_two_dtypes_are_refused():
    inputs = dict(shape_request(4, 3).inputs)
    inputs["initial_state"] = HostTensor(shape=[3], dtype="int32")
    with pytest.raises(CallError, match="dtype"):
        planner().prepare(Request(inputs=inputs), PROFILES["webgpu-defaults"])


def test_neither_length_nor_direction_is_written_into_a_shader_and_the_width_only_by_the_width_of_a_tile():
    device = roomy("webgpu-defaults")
    for first, second in [
        ((100, 3), (101, 5)),
        ((50_000, 1), (70_001, 13)),
        ((2**20, 1), (2**24 + 4, 1)),
        ((2**20, 25), (2**16, 26)),
        ((2**18, 16), (2**17, 16)),
        ((2**16, 64), (2**19, 64)),
        ((2**14, 1000), (2**12, 1024)),
        ((100, 64), (1023, 99)),
        ((2048, 64), (5000, 999)),
    ]:
        texts = [
            [
                item.wgsl
                for item in planner().prepare(shape_request(*shape, attrs={"reverse": reverse}), device).plan.passes
            ]
            for shape, reverse in [(first, 0), (second, 1)]
        ]
        assert texts[0] == texts[1]


def test_a_destination_of_the_right_shape_is_accepted():
    request = shape_request(4, 3)
    wish = {"scan_output": Destination(shape=[4, 3], dtype="float32")}
    plan = planner().prepare(Request(inputs=request.inputs, outputs=wish), PROFILES["webgpu-defaults"]).plan
    assert plan.outputs["scan_output"].shape == (4, 3)
