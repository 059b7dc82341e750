"""What a kernel may know of a device, and what is asked of an adapter (6.1, 6.2).

A device record is made once per device and is the only description of it that planning sees: the same record gives
the same plan, whatever machine plans it.
"""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Final

from scanbuild.errors import InputError, Problem

REQUESTED_FEATURES: Final = (
    "shader-f16",
    "subgroups",
    "subgroup-size-control",
    "chromium-experimental-subgroup-matrix",
    "timestamp-query",
    "texture-formats-tier1",
    "texture-formats-tier2",
)
"""The features asked of an adapter that offers them, in the order of the request."""

REQUESTED_LIMITS: Final = (
    "maxBufferSize",
    "maxStorageBufferBindingSize",
    "maxStorageBuffersPerShaderStage",
    "maxComputeWorkgroupStorageSize",
    "maxComputeInvocationsPerWorkgroup",
    "maxComputeWorkgroupSizeX",
)
"""The limits asked for at the adapter's own values; all others stay at the WebGPU defaults."""

DEFAULT_LIMITS: Final[Mapping[str, float]] = MappingProxyType(
    {
        "maxTextureDimension1D": 8192,
        "maxTextureDimension2D": 8192,
        "maxTextureDimension3D": 2048,
        "maxTextureArrayLayers": 256,
        "maxBindGroups": 4,
        "maxBindGroupsPlusVertexBuffers": 24,
        "maxBindingsPerBindGroup": 1000,
        "maxDynamicUniformBuffersPerPipelineLayout": 8,
        "maxDynamicStorageBuffersPerPipelineLayout": 4,
        "maxSampledTexturesPerShaderStage": 16,
        "maxSamplersPerShaderStage": 16,
        "maxStorageBuffersPerShaderStage": 10,
        "maxStorageTexturesPerShaderStage": 4,
        "maxUniformBuffersPerShaderStage": 12,
        "maxUniformBufferBindingSize": 65536,
        "maxStorageBufferBindingSize": 134217728,
        "minUniformBufferOffsetAlignment": 256,
        "minStorageBufferOffsetAlignment": 256,
        "maxVertexBuffers": 8,
        "maxBufferSize": 268435456,
        "maxVertexAttributes": 16,
        "maxVertexBufferArrayStride": 2048,
        "maxInterStageShaderVariables": 16,
        "maxColorAttachments": 8,
        "maxColorAttachmentBytesPerSample": 32,
        "maxComputeInvocationsPerWorkgroup": 256,
        "maxComputeWorkgroupSizeX": 256,
        "maxComputeWorkgroupSizeY": 256,
        "maxComputeWorkgroupSizeZ": 64,
        "maxComputeWorkgroupStorageSize": 16384,
        "maxComputeWorkgroupsPerDimension": 65535,
        "maxImmediateSize": 0,
    }
)

MAX_WORKGROUPS: Final = 65535
MATRIX_COMPONENTS: Final = frozenset({"f32", "f16", "u32", "i32", "u8", "i8"})


@dataclass(frozen=True, kw_only=True, slots=True)
class DeviceRecord:
    """A normalised device (6.2). ``adapter_info`` holds exactly the members that expressions see, in their order.

    ``wgsl_compile_failures`` names the WGSL functions this device cannot compile (6.3); expressions never see them.
    """

    features: frozenset[str] = frozenset()
    limits: Mapping[str, float] = field(default_factory=lambda: dict(DEFAULT_LIMITS))
    adapter_info: Mapping[str, Any] = field(default_factory=lambda: _adapter_info({}))
    wgsl_language_features: frozenset[str] = frozenset()
    wgsl_compile_failures: frozenset[str] = frozenset()

    @classmethod
    def from_json(cls, value: Any) -> "DeviceRecord":
        """The record written as in ``schemas/device.schema.json``; InputError with every problem found."""
        problems = _problems(value)
        if problems:
            raise InputError(*problems)
        return cls(
            features=frozenset(value["features"]),
            limits=dict(value["limits"]),
            adapter_info=dict(value["adapterInfo"]),
            wgsl_language_features=frozenset(value["wgslLanguageFeatures"]),
            wgsl_compile_failures=frozenset(value.get("wgslCompileFailures", ())),
        )

    def to_json(self) -> dict[str, Any]:
        """The record as plain JSON, sets sorted; ``wgslCompileFailures`` only where there are any."""
        record: dict[str, Any] = {
            "features": sorted(self.features),
            "limits": dict(self.limits),
            "adapterInfo": dict(self.adapter_info),
            "wgslLanguageFeatures": sorted(self.wgsl_language_features),
        }
        if self.wgsl_compile_failures:
            record["wgslCompileFailures"] = sorted(self.wgsl_compile_failures)
        return record

    @property
    def max_workgroups(self) -> int:
        """The largest number of workgroups of one axis of a dispatch."""
        return int(min(self.limits.get("maxComputeWorkgroupsPerDimension", MAX_WORKGROUPS), MAX_WORKGROUPS))


def required_features(adapter: Mapping[str, Any]) -> list[str]:
    """The features to ask of an adapter described as ``{"features": [...], ...}``."""
    offered = frozenset(adapter.get("features") or ())
    return [name for name in REQUESTED_FEATURES if name in offered]


def required_limits(adapter: Mapping[str, Any]) -> dict[str, float]:
    """The limits to ask of an adapter described as ``{"limits": {...}, ...}``, at its own values."""
    limits: Mapping[str, Any] = adapter.get("limits") or {}
    return {name: limits[name] for name in REQUESTED_LIMITS if _is_finite(limits.get(name))}


def normalise(adapter: Mapping[str, Any], entry_point: Mapping[str, Any], device: Mapping[str, Any]) -> DeviceRecord:
    """The record of a created device.

    ``adapter`` gives ``info``, ``device`` its ``features`` and ``limits``, and the GPU entry point its
    ``wgslLanguageFeatures``. An adapter without ``info`` is an InputError: the loader can make no call on it.
    """
    info = adapter.get("info")
    if not isinstance(info, Mapping):
        raise InputError(Problem(message="the adapter reports no `info`, so no kernel can be run on it", stage="call"))
    reported: Mapping[str, Any] = device.get("limits") or {}
    limits = {**DEFAULT_LIMITS, **{name: value for name, value in reported.items() if _is_finite(value)}}
    limits["maxComputeWorkgroupsPerDimension"] = min(limits["maxComputeWorkgroupsPerDimension"], MAX_WORKGROUPS)
    return DeviceRecord(
        features=frozenset(device.get("features") or ()),
        limits=limits,
        adapter_info=_adapter_info(info),
        wgsl_language_features=frozenset(entry_point.get("wgslLanguageFeatures") or ()),
    )


def _adapter_info(info: Mapping[str, Any]) -> dict[str, Any]:
    seen: dict[str, Any] = {name: _lower(info.get(name)) for name in ("vendor", "architecture")}
    for name in ("subgroupMinSize", "subgroupMaxSize"):
        if info.get(name) is not None:
            seen[name] = info[name]
    seen["isFallbackAdapter"] = info.get("isFallbackAdapter") is True
    configs = info.get("subgroupMatrixConfigs")
    if isinstance(configs, list | tuple):
        seen["subgroupMatrixConfigs"] = _matrix_configs(configs)
    return seen


def _matrix_configs(configs: list[Any] | tuple[Any, ...]) -> list[dict[str, Any]]:
    names = ("componentType", "resultComponentType", "M", "N", "K")
    kept = [{name: config[name] for name in names} for config in configs if _is_matrix_config(config)]
    # Sorted by their text, not by their numbers: 16 comes before 8.
    return sorted(kept, key=lambda config: json.dumps(config, separators=(",", ":")))


def _is_matrix_config(config: Any) -> bool:
    if not isinstance(config, Mapping):
        return False
    types = (config.get("componentType"), config.get("resultComponentType"))
    sizes: tuple[Any, ...] = (config.get("M"), config.get("N"), config.get("K"))
    return all(isinstance(kind, str) and kind in MATRIX_COMPONENTS for kind in types) and all(
        _is_finite(size) and size > 0 and size == int(size) for size in sizes
    )


def _lower(value: Any) -> str:
    return value.lower() if isinstance(value, str) else ""


def _is_finite(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _problems(value: Any) -> list[Problem]:
    if not isinstance(value, Mapping):
        return [Problem(message="a device record is a JSON object", rule="device-record")]
    problems: list[Problem] = []
    for name in ("features", "wgslLanguageFeatures", "wgslCompileFailures"):
        names = value.get(name, [] if name == "wgslCompileFailures" else None)
        if not isinstance(names, list) or not all(isinstance(item, str) for item in names):
            problems.append(Problem(message="expected a list of names", rule="device-record", path=f"$.{name}"))
    problems.extend(
        Problem(message="expected an object", rule="device-record", path=f"$.{name}")
        for name in ("limits", "adapterInfo")
        if not isinstance(value.get(name), Mapping)
    )
    limits = value.get("limits")
    if isinstance(limits, Mapping):
        problems.extend(
            Problem(message="expected a finite number", rule="device-record", path=f"$.limits.{name}")
            for name, limit in limits.items()
            if not _is_finite(limit)
        )
    return problems


DEFAULT_DEVICE: Final = DeviceRecord()
"""The device that output shapes are inferred on, whatever device runs the call (8.3)."""
