"""The built-in device profiles, those that a package cannot tell apart taken once."""

import re
from collections.abc import Hashable
from typing import Any

from scanbuild.checking.subject import Subject
from scanbuild.planning.device import DeviceRecord
from scanbuild.planning.profiles import profiles

_SUBGROUPS = re.compile(r"subgroup|quad")


def distinct_devices(subject: Subject) -> dict[str, DeviceRecord]:
    """A profile of each kind by name, the most able ones first.

    Two profiles are of one kind if they agree in all that the manifest or a template names: features, limits (only
    whether they suffice, where nothing but ``requires`` names them), and what the adapter tells of itself.
    """
    found: dict[Hashable, tuple[str, DeviceRecord]] = {}
    texts = "\n".join([subject.text.text, *subject.templates.values()])
    ranked = sorted(profiles().items(), key=lambda item: (-len(item[1].features), item[0]))
    for name, device in ranked:
        found.setdefault(_kind(subject, texts, device), (name, device))
    return dict(found.values())


def _kind(subject: Subject, texts: str, device: DeviceRecord) -> Hashable:
    features = {name for name in device.features if name in texts or name == "shader-f16"}
    if _SUBGROUPS.search(texts):
        features |= device.features & {"subgroups", "subgroup-size-control"}
    info: Any = None
    if any(word in texts for word in ("adapterInfo", "subgroupMinSize", "subgroupMatrixConfigs")):
        info = repr(device.adapter_info)
    language = device.wgsl_language_features if "wgslLanguageFeatures" in texts else None
    return (frozenset(features), _limits(subject, texts, device), info, language)


def _limits(subject: Subject, texts: str, device: DeviceRecord) -> Hashable:
    """Values of the limits that expressions read; of the others, which requirements they meet."""
    read = set(re.findall(r"limits\s*(?:\.|\[\s*\\?[\"'])\s*(\w+)", texts))
    met: list[object] = [(name, device.limits.get(name)) for name in sorted(read)]
    for variant in subject.manifest.variants:
        for name, wanted in variant.requires.limits.items():
            met.append(device.limits.get(name, -1) >= wanted)
        counts = [sum(binding.buffer != "uniform" for binding in item.bindings) for item in variant.all_passes()]
        met.append(max(counts, default=0) <= device.limits.get("maxStorageBuffersPerShaderStage", 0))
    return tuple(met)
