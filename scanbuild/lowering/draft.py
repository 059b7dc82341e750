"""What a strategy makes of a ``Scan``: a variant of the package to be, or the reason why it cannot."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from scanbuild.lowering.graph import Origin


@dataclass(frozen=True, kw_only=True, slots=True)
class Variant:
    """A variant. ``entry`` is its object in the manifest, ``templates`` are the files it needs, by name.

    It may use the manifest's common part (``package``): a derive for each symbol of the ``Scan``, by its name, and a
    binding handle for each port, by its name.
    """

    entry: Mapping[str, Any]
    templates: Mapping[str, str]

    @property
    def id(self) -> str:
        return str(self.entry["id"])

    @property
    def priority(self) -> float:
        return float(self.entry.get("priority", 0))


@dataclass(frozen=True, kw_only=True, slots=True)
class Refusal:
    """Why a strategy does not apply: in words, and the operation that stands in the way, if it is one."""

    reason: str
    origin: Origin = field(default_factory=Origin)


Draft = Variant | Refusal
