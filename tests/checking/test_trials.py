"""Requests that are made up, the devices they are planned on, and what shaders say of themselves."""

from dataclasses import replace

from scanbuild.checking.devices import distinct_devices
from scanbuild.checking.reading import read_package
from scanbuild.checking.requests import MAX_REQUESTS, case_trials, constants_of, made_up_bases, made_up_trials
from scanbuild.checking.trials import run_trials
from scanbuild.checking.wgsl import Module
from scanbuild.planning.profiles import profiles
from scanbuild.planning.request import HostTensor
from tests.checking.packages import GOOD, copy_good, edit, found


def subject_of(package):
    subject = read_package(package).subject
    assert subject is not None
    return subject


def tensor(trial, name):
    value = trial.request.inputs[name]
    assert isinstance(value, HostTensor)
    return value


def test_profiles_that_a_package_cannot_tell_apart_are_taken_once(tmp_path):
    assert 1 < len(distinct_devices(subject_of(GOOD))) < len(profiles())
    package = copy_good(tmp_path)
    edit(package, lambda m: m["variants"][0]["when"].append("device.adapterInfo.vendor != 'acme'"))
    assert len(distinct_devices(subject_of(package))) > len(distinct_devices(subject_of(GOOD)))


def test_the_constants_are_those_of_the_conditions():
    assert constants_of(subject_of(GOOD)) == [1024]


def test_cases_alike_but_for_their_data_are_tried_once(tmp_path):
    package = copy_good(tmp_path)

    def twice(tests):
        tests["cases"].append({**tests["cases"][0], "name": "again"})

    edit(package, twice, "test.json")
    assert len(case_trials(subject_of(package))) == len(case_trials(subject_of(GOOD)))


def test_sizes_around_a_constant_are_tried_and_the_number_of_requests_is_bounded():
    subject = subject_of(GOOD)
    trials = made_up_trials(subject, [(trial, "plain") for trial in case_trials(subject)])
    assert len(trials) <= MAX_REQUESTS
    sizes = {
        value.shape[1]
        for trial in trials
        for value in trial.request.inputs.values()
        if isinstance(value, HostTensor) and len(value.shape) == 2
    }
    assert {0, 1, 2, 1023, 1024, 1025} <= sizes


def test_every_dtype_and_every_allowed_attribute_value_is_tried():
    subject = subject_of(GOOD)
    trials = made_up_trials(subject, [(trial, "plain") for trial in case_trials(subject)])
    assert {"float32", "int32"} == {tensor(trial, "x").dtype for trial in trials}
    assert {"sum", "mean"} <= {trial.request.attrs.get("mode") for trial in trials}


def test_what_is_optional_is_tried_present_and_absent():
    subject = subject_of(GOOD)
    trials = made_up_trials(subject, [(trial, "plain") for trial in case_trials(subject)])
    assert {True, False} == {"bias" in trial.request.inputs for trial in trials}
    assert {True, False} == {"limit" in trial.request.args for trial in trials}


def test_a_package_without_cases_is_tried_with_requests_from_its_declarations():
    subject = replace(subject_of(GOOD), cases=())
    base = made_up_bases(subject)[0]
    assert len(tensor(base, "x").shape) == 2
    assert run_trials(subject).reached == {"split", "biased", "plain"}


def test_the_sizes_of_workgroups_are_read_from_literals_and_constants():
    text = "const W: u32 = 64u;\n@compute @workgroup_size(W, 2) fn main() {}"
    assert Module(text).workgroup_size == (64, 2, 1)
    assert Module("@compute @workgroup_size(other) fn main() {}").workgroup_size is None


def test_workgroup_memory_is_added_up():
    text = "var<workgroup> a: array<vec4<f32>, 8>; var<workgroup> b: atomic<u32>; var<workgroup> c: array<f16, 4>;"
    assert Module(text).workgroup_storage == 8 * 16 + 4 + 4 * 2


def test_a_loop_from_a_plain_number_is_no_check_of_bounds():
    assert not Module("fn main() { for (var k = 0u; k < n; k += 1u) { y[i] = x[k]; } }").checks_bounds
    assert Module("fn main() { for (var k = i; k < n; k += 64u) { y[k] = x[k]; } }").checks_bounds
    assert Module("fn main() { if (i >= n) { return; } }").checks_bounds
    assert not Module("// if (i >= n)\nfn main() { y[i] = x[i]; }").checks_bounds


def test_a_refusal_that_every_variant_shares_is_no_gap(tmp_path):
    package = copy_good(tmp_path)
    edit(package, lambda m: m["when"].append("columns != 1024"))
    assert found(package, "no-variant") == []


def test_a_call_that_only_an_absent_optional_input_breaks_is_an_error(tmp_path):
    package = copy_good(tmp_path)
    edit(package, lambda m: m["derive"].update(extra="shapes.bias[0]"))
    (problem,) = [item for item in found(package, "expression-value") if item.severity == "error"]
    assert problem.path == "$.derive.extra"
    assert "two_rows" in problem.message


def test_where_planning_one_request_costs_more_fewer_are_tried(tmp_path):
    """Every request is held against every declaration: a package of thousands gets no thousands of requests."""
    package = copy_good(tmp_path)
    edit(package, lambda m: m["attributes"].update({f"more{n}": {"default": 0} for n in range(4000)}))
    tried, usual = run_trials(subject_of(package)), run_trials(subject_of(GOOD))
    assert not tried.complete
    assert 0 < len(tried.outcomes) < len(usual.outcomes) / 2
