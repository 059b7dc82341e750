"""Choosing an adapter, and what its device is said to be."""

import subprocess
import sys
from dataclasses import replace
from typing import Any

import pytest

from scanbuild.errors import InputError, NoAdapterError
from scanbuild.gpu import Adapter, Engine, adapters, choose_adapter, list_adapters, open_engine


def made(name: str, backend: str = "Vulkan", kind: str = "DiscreteGPU", **more: Any) -> Adapter:
    return Adapter(engine="wgpu", name=name, vendor="", backend=backend, kind=kind, software=kind == "CPU", **more)


class FakeGpu:
    def __init__(self, *infos: dict[str, Any]) -> None:
        self.gpu = self
        self.infos = infos

    def enumerate_adapters_sync(self) -> list[Any]:
        return [type("Handle", (), {"info": info})() for info in self.infos]


@pytest.fixture
def offering(monkeypatch: pytest.MonkeyPatch):
    def offer(*infos: dict[str, Any]) -> None:
        monkeypatch.setattr(adapters, "engine_module", lambda engine: FakeGpu(*infos))

    return offer


NVIDIA = {"device": "NVIDIA H200", "vendor": "NVIDIA", "vendor_id": 0x10DE, "adapter_type": "DiscreteGPU"}
LLVMPIPE = {"device": "llvmpipe (LLVM 15)", "vendor": "llvmpipe", "vendor_id": 0x10005, "adapter_type": "CPU"}


def test_an_adapter_behind_two_interfaces_is_listed_once_through_vulkan(offering):
    offering(
        {**LLVMPIPE, "backend_type": "OpenGL"},
        {**LLVMPIPE, "backend_type": "Vulkan"},
        {**NVIDIA, "device": "NVIDIA H200/PCIe/SSE2", "backend_type": "OpenGL"},
        {**NVIDIA, "backend_type": "Vulkan"},
    )
    assert [(item.name, item.backend) for item in list_adapters()] == [
        ("NVIDIA H200", "Vulkan"),
        ("llvmpipe (LLVM 15)", "Vulkan"),
    ]


def test_an_adapter_that_only_opengl_reaches_is_listed(offering):
    offering({**LLVMPIPE, "backend_type": "OpenGL"})
    assert [item.backend for item in list_adapters()] == ["OpenGL"]


def test_two_equal_cards_are_two_adapters(offering):
    offering({**NVIDIA, "backend_type": "Vulkan"}, {**NVIDIA, "backend_type": "Vulkan"})
    assert len(list_adapters()) == 2


def test_hardware_goes_before_software(offering):
    offering({**LLVMPIPE, "backend_type": "Vulkan"}, {**NVIDIA, "backend_type": "OpenGL"})
    assert choose_adapter().name == "NVIDIA H200"


def test_another_software_adapter_goes_before_swiftshader(offering):
    swiftshader = {"device": "SwiftShader Device", "vendor": "Google", "vendor_id": 0x1AE0, "adapter_type": "CPU"}
    offering({**swiftshader, "backend_type": "Vulkan"}, {**LLVMPIPE, "backend_type": "Vulkan"})
    assert choose_adapter().name == "llvmpipe (LLVM 15)"


def test_text_chooses_whatever_its_case(offering):
    offering({**NVIDIA, "backend_type": "Vulkan"}, {**LLVMPIPE, "backend_type": "Vulkan"})
    assert choose_adapter("wgpu", "LLVMPipe").software


def test_a_text_that_matches_nothing_names_what_there_is(offering):
    offering({**LLVMPIPE, "backend_type": "Vulkan"})
    with pytest.raises(NoAdapterError, match=r"found: llvmpipe \(LLVM 15\)") as caught:
        choose_adapter("wgpu", "radeon")
    assert caught.value.exit_status == 3


def test_no_adapter_at_all_names_the_packages_to_install(offering):
    offering()
    with pytest.raises(NoAdapterError, match="libvulkan1 and mesa-vulkan-drivers"):
        choose_adapter()


def test_an_engine_that_is_not_installed_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "wgpudawn", None)
    with pytest.raises(NoAdapterError, match=r"scanbuild\[dawn\].*chromium-common"):
        open_engine("dawn")


def test_an_unknown_engine_is_an_input_error():
    with pytest.raises(InputError, match="known: wgpu, dawn"):
        open_engine("vulkan")  # type: ignore[arg-type]


def test_vendors_are_named_as_browsers_name_them(offering):
    offering({**NVIDIA, "vendor": "NVIDIA 550", "backend_type": "Vulkan"})
    assert list_adapters()[0].vendor == "nvidia"


def test_describe_says_that_an_adapter_is_software():
    assert made("llvmpipe", kind="CPU").describe() == "llvmpipe (Vulkan, software)"
    assert replace(made("H200"), driver="550").describe() == "H200 (Vulkan, 550)"


def test_importing_the_room_imports_no_engine():
    code = "import sys, scanbuild.gpu; sys.exit(any(name in sys.modules for name in ('wgpu', 'wgpudawn')))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_the_record_has_webgpu_s_names_and_default_limits(engine: Engine):
    limits = engine.record.limits
    assert limits["maxComputeWorkgroupSizeY"] == 256
    assert limits["maxComputeWorkgroupSizeZ"] == 64
    assert limits["maxTextureDimension1D"] == 8192
    assert limits["maxBindGroupsPlusVertexBuffers"] > 0
    assert all("-" not in name for name in limits)
    assert "subgroup" not in engine.record.features


def test_a_software_adapter_has_the_subgroup_size_that_shaders_see(engine: Engine):
    if not engine.software or "subgroups" not in engine.record.features:
        pytest.skip("needs a software adapter with subgroups")
    info = engine.record.adapter_info
    assert info["subgroupMinSize"] == info["subgroupMaxSize"]
    assert info["subgroupMinSize"] in (4, 8, 16)
    assert info["isFallbackAdapter"] is True


def test_language_features_are_those_the_compiler_takes(engine: Engine):
    assert "packed_4x8_integer_dot_product" in engine.record.wgsl_language_features


def test_a_device_of_the_caller_is_used_and_left_alive(wgpu_engine: Engine):
    mine = wgpu_engine.adapter.handle.request_device_sync()
    borrowed = open_engine(device=mine)
    assert (borrowed.name, borrowed.software) == ("wgpu", wgpu_engine.software)
    borrowed.close()
    mine.create_buffer(size=4, usage=1).destroy()
