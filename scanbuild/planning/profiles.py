"""Built-in device records: the devices that rendering and checking plan for where no adapter is at hand."""

import json
from functools import cache
from importlib import resources

from scanbuild.planning.device import DeviceRecord


@cache
def profile_names() -> tuple[str, ...]:
    """The names of the built-in profiles, sorted."""
    folder = resources.files("scanbuild.planning").joinpath("profiles")
    return tuple(sorted(item.name.removesuffix(".json") for item in folder.iterdir() if item.name.endswith(".json")))


@cache
def profile(name: str) -> DeviceRecord:
    """The built-in profile of that name; KeyError if there is none."""
    if name not in profile_names():
        raise KeyError(name)
    text = resources.files("scanbuild.planning").joinpath("profiles", f"{name}.json").read_text(encoding="utf-8")
    return DeviceRecord.from_json(json.loads(text))


def profiles() -> dict[str, DeviceRecord]:
    """Every built-in profile by name, sorted by name."""
    return {name: profile(name) for name in profile_names()}
