import json

import jsonschema
import pytest

from scanbuild.errors import InputError
from scanbuild.planning.device import DEFAULT_DEVICE, DeviceRecord, normalise, required_features, required_limits
from scanbuild.planning.profiles import profile, profile_names, profiles
from scanbuild.resources import data_folder

SCHEMA = json.loads((data_folder("schemas") / "device.schema.json").read_text())


def test_every_profile_meets_the_device_schema():
    for name, record in profiles().items():
        jsonschema.validate(record.to_json(), SCHEMA)
        assert DeviceRecord.from_json(record.to_json()) == record, name


def test_the_profiles_cover_the_kinds_of_device_people_have():
    sizes = {
        name: (record.adapter_info.get("subgroupMinSize"), record.adapter_info.get("subgroupMaxSize"))
        for name, record in profiles().items()
    }
    assert sizes == {
        "chrome-apple": (32, 32),
        "chrome-intel": (8, 32),
        "chrome-mobile": (64, 128),
        "chrome-nvidia": (32, 32),
        "swiftshader": (4, 4),
        "webgpu-defaults": (None, None),
    }
    assert "shader-f16" in profile("chrome-nvidia").features
    assert profile("chrome-mobile").limits["maxComputeWorkgroupStorageSize"] == 16384


def test_the_first_profile_is_the_device_that_shapes_are_inferred_on():
    assert profile("webgpu-defaults") == DEFAULT_DEVICE


def test_an_unknown_profile_is_a_key_error():
    assert "toaster" not in profile_names()
    with pytest.raises(KeyError):
        profile("toaster")


def test_only_the_seven_known_features_are_asked_for_in_their_order():
    assert required_features({"features": ["texture-formats-tier2", "depth-clip-control", "shader-f16"]}) == [
        "shader-f16",
        "texture-formats-tier2",
    ]


def test_only_six_limits_are_asked_for_even_below_the_defaults():
    asked = required_limits({"limits": {"maxBufferSize": 5, "maxComputeWorkgroupSizeY": 1024, "maxBindGroups": 9}})
    assert asked == {"maxBufferSize": 5}


def test_limits_that_are_no_finite_numbers_are_left_at_their_defaults():
    device = {"features": [], "limits": {"maxBufferSize": float("inf"), "maxVertexBuffers": True, "own": 3}}
    limits = normalise({"info": {}}, {}, device).limits
    assert limits["maxBufferSize"] == 268435456
    assert limits["maxVertexBuffers"] == 8
    assert limits["own"] == 3


def test_an_adapter_without_info_cannot_make_calls():
    with pytest.raises(InputError, match="info"):
        normalise({}, {}, {})


def test_matrix_configurations_are_sorted_by_their_text():
    configs = [{"componentType": "f16", "resultComponentType": "f16", "M": m, "N": 8, "K": 8, "x": 1} for m in (8, 16)]
    info = normalise({"info": {"subgroupMatrixConfigs": [*configs, 7, {"M": 1}]}}, {}, {}).adapter_info
    assert [config["M"] for config in info["subgroupMatrixConfigs"]] == [16, 8]
    assert "x" not in info["subgroupMatrixConfigs"][0]


def test_every_problem_of_a_written_record_is_reported_at_once():
    with pytest.raises(InputError) as caught:
        DeviceRecord.from_json({"features": [1], "limits": {"maxBufferSize": "big"}, "adapterInfo": {}})
    assert [problem.path for problem in caught.value.problems] == [
        "$.features",
        "$.wgslLanguageFeatures",
        "$.limits.maxBufferSize",
    ]
