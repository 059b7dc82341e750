"""What a browser offers, from its page's hello to the record that planning sees."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from scanbuild.gpu.browser.messages import ProtocolError
from scanbuild.planning.device import DeviceRecord, normalise, required_features, required_limits

_SOFTWARE: Final = ("swiftshader", "llvmpipe", "lavapipe", "basic render driver")
_PROBED: Final = frozenset({"atomicCompareExchangeWeak"})
_SIZES: Final = ("subgroupMinSize", "subgroupMaxSize")
_TEXTS: Final = ("vendor", "architecture", "device", "description")
_LONGEST_TEXT: Final = 200

# In this order: browsers name those that they descend from, too.
_BROWSERS: Final = (
    ("Firefox", r"(?:Firefox|FxiOS)/(\d+)"),
    ("Edge", r"Edg(?:A|iOS)?/(\d+)"),
    ("Opera", r"OPR/(\d+)"),
    ("Samsung Internet", r"SamsungBrowser/(\d+)"),
    ("Chrome", r"(?:Headless)?(?:Chrome|CriOS)/(\d+)"),
    ("Safari", r"Version/(\d+)[\d.]* .*Safari/"),
)
_SYSTEMS: Final = (
    ("Android", "Android"),
    ("iOS", "iPhone|iPad"),
    ("macOS", "Macintosh"),
    ("Windows", "Windows"),
    ("ChromeOS", "CrOS"),
    ("Linux", "Linux"),
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Offer:
    """An adapter in a browser, as the page tells of it; nothing but the right types is known of the members."""

    info: Mapping[str, Any]
    features: tuple[str, ...]
    limits: Mapping[str, float]
    language_features: tuple[str, ...]
    browser: str

    @property
    def software(self) -> bool:
        """Whether the adapter computes on the CPU."""
        words = " ".join(str(self.info.get(name, "")) for name in _TEXTS).casefold()
        return self.info.get("isFallbackAdapter") is True or any(name in words for name in _SOFTWARE)

    @property
    def name(self) -> str:
        """The adapter, for people. Browsers mostly keep the product's name to themselves."""
        words = [self.info.get("vendor", ""), self.info.get("architecture", "")]
        return self.info.get("device") or " ".join(filter(None, words)) or "unnamed adapter"

    def adapter_json(self) -> dict[str, Any]:
        """The adapter as reports show it."""
        return {
            "name": self.name,
            "vendor": self.info.get("vendor", "").lower(),
            "architecture": self.info.get("architecture", "").lower(),
            "driver": self.info.get("description", ""),
            "backend": self.browser,
            "kind": "CPU" if self.software else "Unknown",
            "software": self.software,
        }

    def request(self) -> dict[str, Any]:
        """What to ask of the adapter (6.1)."""
        return {
            "features": required_features({"features": self.features}),
            "limits": required_limits({"limits": self.limits}),
        }

    def record(self, device: Mapping[str, Any]) -> DeviceRecord:
        """The record of the device that the adapter gave. ProtocolError if what the page says of it is in no order."""
        record = normalise(
            {"info": self.info},
            {"wgslLanguageFeatures": self.language_features},
            {"features": _names(device, "features"), "limits": _numbers(device, "limits")},
        )
        return replace(record, wgsl_compile_failures=_PROBED & set(_names(device, "compileFailures")))


def read_offer(hello: Mapping[str, Any]) -> Offer:
    """The offer in a page's hello; ProtocolError if it is in no order."""
    adapter = _object(hello, "adapter")
    return Offer(
        info=_info(_object(adapter, "info")),
        features=_names(adapter, "features"),
        limits=_numbers(adapter, "limits"),
        language_features=_names(hello, "wgslLanguageFeatures"),
        browser=browser_name(_text(hello, "userAgent")),
    )


def browser_name(user_agent: str) -> str:
    """Browser, major version and system, from what browsers call themselves: ``Chrome 156 on Android``."""
    browser = "a browser"
    for name, pattern in _BROWSERS:
        found = re.search(pattern, user_agent)
        if found:
            browser = f"{name} {found[1]}"
            break
    system = next((name for name, pattern in _SYSTEMS if re.search(pattern, user_agent)), "")
    return f"{browser} on {system}" if system else browser


def subgroup_size(device: Mapping[str, Any]) -> int | None:
    """The size that a shader saw, or None if there are no subgroups or the shader did not run."""
    size = device.get("subgroupSize")
    return size if isinstance(size, int) and not isinstance(size, bool) and 1 <= size <= 128 else None


def _info(value: Mapping[str, Any]) -> dict[str, Any]:
    info: dict[str, Any] = {name: _text(value, name) for name in _TEXTS if name in value}
    info |= {name: value[name] for name in _SIZES if isinstance(value.get(name), int)}
    info["isFallbackAdapter"] = value.get("isFallbackAdapter") is True
    if isinstance(value.get("subgroupMatrixConfigs"), list):
        info["subgroupMatrixConfigs"] = value["subgroupMatrixConfigs"]
    return info


def _object(value: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    member = value.get(name)
    if not isinstance(member, dict):
        raise ProtocolError(f"`{name}` is no object")
    return member


def _text(value: Mapping[str, Any], name: str) -> str:
    member = value.get(name)
    if not isinstance(member, str):
        raise ProtocolError(f"`{name}` is no text")
    return member[:_LONGEST_TEXT]


def _names(value: Mapping[str, Any], name: str) -> tuple[str, ...]:
    member = value.get(name)
    if not isinstance(member, list) or not all(isinstance(item, str) for item in member):
        raise ProtocolError(f"`{name}` is no list of names")
    return tuple(member)


def _numbers(value: Mapping[str, Any], name: str) -> dict[str, float]:
    """The numbers of an object. What is no number is left out, as the loader does."""
    return {
        key: number
        for key, number in _object(value, name).items()
        if isinstance(number, int | float) and not isinstance(number, bool)
    }
