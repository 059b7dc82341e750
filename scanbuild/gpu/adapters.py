"""Which WebGPU adapters there are, and which one to take."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any, Final, Literal, get_args

from scanbuild.errors import InputError, NoAdapterError, Problem
from scanbuild.gpu.quiet import runtime_folder

EngineName = Literal["wgpu", "dawn"]
ENGINES: Final[tuple[EngineName, ...]] = get_args(EngineName)

_MODULES: Final[Mapping[EngineName, str]] = {"wgpu": "wgpu", "dawn": "wgpudawn"}
_BACKENDS: Final = ("Vulkan", "Metal", "D3D12", "D3D11")
_KINDS: Final = ("DiscreteGPU", "IntegratedGPU", "Unknown", "CPU")
_SOFTWARE_NAMES: Final = ("llvmpipe", "lavapipe", "swiftshader", "softpipe", "basic render driver")

_SWIFTSHADER_FOLDERS: Final = (
    "/usr/lib/chromium",
    "/usr/lib64/chromium-browser",
    "/usr/lib/chromium-browser",
    "/opt/google/chrome",
)

# The vendor as browsers name it, by the identifier that every native interface reports: selection in a manifest is
# written against the browser's names, and native layers give the driver's name here.
_VENDORS: Final[Mapping[int, str]] = {
    0x1002: "amd",
    0x106B: "apple",
    0x10DE: "nvidia",
    0x13B5: "arm",
    0x1010: "img-tec",
    0x5143: "qualcomm",
    0x8086: "intel",
    0x1AE0: "google",
    0x10005: "mesa",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Adapter:
    """One way to reach a device. ``kind`` and ``backend`` are in the engine's words; ``handle`` is its own object."""

    engine: EngineName
    name: str
    vendor: str
    architecture: str = ""
    driver: str = ""
    backend: str = ""
    kind: str = ""
    vendor_id: int = 0
    software: bool = False
    handle: Any = field(default=None, repr=False, compare=False)

    def describe(self) -> str:
        """The adapter in a line, for people: ``NVIDIA H200 (Vulkan, 550.54)``."""
        parts = [self.backend, self.driver, "software" if self.software else ""]
        return f"{self.name} ({', '.join(part for part in parts if part)})"

    def to_json(self) -> dict[str, Any]:
        """The members that reports show."""
        names = ("name", "vendor", "architecture", "driver", "backend", "kind", "software")
        return {name: getattr(self, name) for name in names}

    def matches(self, text: str) -> bool:
        """Whether the text occurs in what is known of the adapter, whatever the case of its letters."""
        known = " ".join((self.name, self.vendor, self.architecture, self.driver, self.backend, self.kind))
        return text.casefold() in known.casefold()


def list_adapters(engine: EngineName = "wgpu") -> list[Adapter]:
    """The adapters of an engine, best first: hardware before software, Vulkan before OpenGL.

    An adapter that is reached through several interfaces is listed once. Empty without a driver; NoAdapterError
    if the engine itself is not installed.
    """
    module = engine_module(engine)
    try:
        with runtime_folder():
            handles = module.gpu.enumerate_adapters_sync()
    except Exception as error:
        raise NoAdapterError(
            Problem(message=f"the engine {engine} cannot list its adapters: {error}", hint=_way_out(engine))
        ) from error
    adapters = [describe_handle(engine, handle) for handle in handles]
    return sorted(_without_doubles(adapters), key=_rank)


def choose_adapter(engine: EngineName = "wgpu", text: str | None = None) -> Adapter:
    """The best adapter, or the best of those that match a text; NoAdapterError if there is none."""
    adapters = list_adapters(engine)
    if not adapters:
        raise NoAdapterError(Problem(message=f"there is no WebGPU adapter for {engine}", hint=_way_out(engine)))
    matching = [adapter for adapter in adapters if text is None or adapter.matches(text)]
    if not matching:
        found = "; ".join(adapter.describe() for adapter in adapters)
        raise NoAdapterError(
            Problem(message=f"no adapter of {engine} matches {text!r}", hint=f"found: {found}. {_way_out(engine)}")
        )
    return matching[0]


def engine_module(engine: str) -> Any:
    """The Python module of an engine, imported at the first use."""
    if engine not in ENGINES:
        raise InputError(Problem(message=f"there is no engine {engine!r}", hint=f"known: {', '.join(ENGINES)}"))
    name = engine
    if name == "dawn":
        _offer_swiftshader()
    try:
        return import_module(_MODULES[name])
    except (ImportError, OSError) as error:
        raise NoAdapterError(
            Problem(message=f"the engine {engine} is not installed or cannot be loaded: {error}", hint=_way_out(name))
        ) from error


def describe_handle(engine: EngineName, handle: Any) -> Adapter:
    """What an engine's adapter object tells of itself."""
    info = handle.info
    name = str(info.get("device") or info.get("description") or "unnamed adapter")
    kind = str(info.get("adapter_type") or "Unknown")
    vendor_id = info.get("vendor_id") or 0
    return Adapter(
        engine=engine,
        name=name,
        vendor=_VENDORS.get(vendor_id, str(info.get("vendor") or "").lower()),
        architecture=str(info.get("architecture") or "").lower(),
        driver=str(info.get("description") or ""),
        backend=str(info.get("backend_type") or ""),
        kind=kind,
        vendor_id=vendor_id,
        software=kind == "CPU" or any(word in name.casefold() for word in _SOFTWARE_NAMES),
        handle=handle,
    )


def _without_doubles(adapters: Sequence[Adapter]) -> list[Adapter]:
    """Leave out what a better interface lists too. Several equal cards of one interface all stay."""
    best: dict[str, int] = {}
    for adapter in adapters:
        name = _plain_name(adapter)
        best[name] = min(best.get(name, len(_BACKENDS)), _backend_rank(adapter))
    return [adapter for adapter in adapters if _backend_rank(adapter) == best[_plain_name(adapter)]]


def _plain_name(adapter: Adapter) -> str:
    # OpenGL adds the bus behind a slash: "NVIDIA H200/PCIe/SSE2".
    return adapter.name.partition("/")[0].strip().casefold()


def _backend_rank(adapter: Adapter) -> int:
    return _BACKENDS.index(adapter.backend) if adapter.backend in _BACKENDS else len(_BACKENDS)


def _rank(adapter: Adapter) -> tuple[bool, int, int, bool]:
    kind = _KINDS.index(adapter.kind) if adapter.kind in _KINDS else _KINDS.index("Unknown")
    # SwiftShader is offered for Dawn's sake: where it has been, another engine still takes what it took before.
    return adapter.software, kind, _backend_rank(adapter), "swiftshader" in adapter.name.casefold()


def _offer_swiftshader() -> None:
    """Let the Vulkan loader find the SwiftShader that Chromium ships: Dawn refuses older releases of llvmpipe.

    The loader reads the variable when the engine asks for a Vulkan instance, so this must come first.
    """
    if os.environ.get("VK_ADD_DRIVER_FILES"):
        return
    for folder in _SWIFTSHADER_FOLDERS:
        description = Path(folder) / "vk_swiftshader_icd.json"
        if description.is_file():
            os.environ["VK_ADD_DRIVER_FILES"] = str(description)
            return


def _way_out(engine: EngineName) -> str:
    packages = "install the packages libvulkan1 and mesa-vulkan-drivers (apt-get install) for a software adapter"
    if engine == "dawn":
        return (
            "Dawn needs the Python package wgpudawn (pip install 'scanbuild[dawn]') and, without a GPU, the "
            f"SwiftShader of the Debian package chromium-common; for --engine wgpu, {packages}"
        )
    return packages
