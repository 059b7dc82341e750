"""What is made of a browser's own words about itself."""

from typing import Any

import pytest

from scanbuild.gpu.browser.offer import browser_name, read_offer, subgroup_size
from tests.browser.jobs import ADAPTER, DEVICE, HELLO


def with_info(**info: Any) -> dict[str, Any]:
    return {**HELLO, "adapter": {**ADAPTER, "info": info}}


@pytest.mark.parametrize(
    ("user_agent", "name"),
    [
        ("Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Chrome/156.0.0.0 Safari/537.36", "Chrome 156 on Linux"),
        ("Mozilla/5.0 (Linux; Android 10; K) Chrome/150.0.0.0 Mobile Safari/537.36", "Chrome 150 on Android"),
        (
            "Mozilla/5.0 (Windows NT 10.0; Win64; x64) Chrome/150.0.0.0 Safari/537.36 Edg/150.0.0.0",
            "Edge 150 on Windows",
        ),
        ("Mozilla/5.0 (Windows NT 10.0; rv:148.0) Gecko/20100101 Firefox/148.0", "Firefox 148 on Windows"),
        (
            "Mozilla/5.0 (iPhone; CPU iPhone OS 26_1 like Mac OS X) Version/26.1 Mobile/15E148 Safari/604.1",
            "Safari 26 on iOS",
        ),
        ("Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) Version/26.1 Safari/605.1.15", "Safari 26 on macOS"),
        ("Mozilla/5.0 (X11; CrOS x86_64 14541.0.0) Chrome/150.0.0.0 Safari/537.36", "Chrome 150 on ChromeOS"),
        ("something else", "a browser"),
        ("", "a browser"),
    ],
)
def test_a_browser_is_named_as_people_know_it(user_agent: str, name: str):
    assert browser_name(user_agent) == name


@pytest.mark.parametrize(
    ("info", "name", "software"),
    [
        ({"vendor": "apple", "architecture": "metal-3"}, "apple metal-3", False),
        ({"vendor": "nvidia", "architecture": "", "device": "NVIDIA H200"}, "NVIDIA H200", False),
        ({}, "unnamed adapter", False),
        ({"vendor": "google", "architecture": "swiftshader"}, "google swiftshader", True),
        ({"vendor": "acme", "isFallbackAdapter": True}, "acme", True),
        ({"vendor": "", "description": "llvmpipe (LLVM 15)"}, "unnamed adapter", True),
    ],
)
def test_an_adapter_is_named_by_what_it_tells_and_known_for_software(info: dict[str, Any], name: str, software: bool):
    offer = read_offer(with_info(**info))
    assert (offer.name, offer.software) == (name, software)
    assert offer.adapter_json()["software"] is software


def test_subgroup_sizes_and_matrices_reach_the_record_as_reported():
    matrix = {"componentType": "f16", "resultComponentType": "f32", "M": 16, "N": 8, "K": 16}
    hello = with_info(subgroupMinSize=4, subgroupMaxSize=64, subgroupMatrixConfigs=[matrix, {"M": 1}], other=3)
    info = read_offer(hello).record(DEVICE).adapter_info
    assert (info["subgroupMinSize"], info["subgroupMaxSize"]) == (4, 64)
    assert info["subgroupMatrixConfigs"] == [matrix]
    assert "other" not in info
    assert "subgroupMinSize" not in read_offer(with_info(subgroupMinSize="4")).record(DEVICE).adapter_info


def test_only_functions_that_are_probed_can_fail_to_compile():
    device = {**DEVICE, "compileFailures": ["atomicCompareExchangeWeak", "of my own"]}
    assert read_offer(HELLO).record(device).wgsl_compile_failures == {"atomicCompareExchangeWeak"}


def test_what_is_no_number_is_no_limit():
    device = {**DEVICE, "limits": {"maxBufferSize": 8, "maxBindGroups": "9", "maxVertexBuffers": True}}
    limits = read_offer(HELLO).record(device).limits
    assert (limits["maxBufferSize"], limits["maxBindGroups"], limits["maxVertexBuffers"]) == (8, 4, 8)


def test_a_subgroup_size_is_a_whole_number_that_can_be():
    assert [subgroup_size({"subgroupSize": size}) for size in (32, None, 0, True, 129, "4", 4.0)] == [
        32,
        *[None] * 6,
    ]
