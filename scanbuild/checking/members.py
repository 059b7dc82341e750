"""What the namespaces of expressions and templates hold (3.7)."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Final

from jinja2 import nodes

from scanbuild.checking.sites import Visible, labels_of
from scanbuild.checking.syntax import long_member_of, member_of
from scanbuild.dialect.methods import OBJECT_METHODS
from scanbuild.package.model import Manifest
from scanbuild.package.vocabulary import LIMITS

_DEVICE: Final = ("features", "wgslLanguageFeatures", "limits", "adapterInfo")
_ADAPTER: Final = (
    "vendor",
    "architecture",
    "subgroupMinSize",
    "subgroupMaxSize",
    "isFallbackAdapter",
    "subgroupMatrixConfigs",
)
_ADVICE: Final = {
    "attrs": "declare it under attributes",
    "args": "declare it under args",
    "tunables": "declare it under tunables",
    "repeat": "repeat is empty outside of groups",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Member:
    """A member that is read: of what, its name, and which there are."""

    holder: str
    member: str
    known: Collection[str]
    advice: str = ""


def members_of(node: nodes.Node, visible: Visible, manifest: Manifest) -> Member | None:
    """The member that a node reads of a namespace whose members are known; None for any other node."""
    deep = long_member_of(node)
    if deep is not None and deep[0] == "device":
        inner = {"limits": LIMITS, "adapterInfo": _ADAPTER}.get(deep[1])
        if inner is None or deep[2] in OBJECT_METHODS:
            return None
        return Member(holder=f"device.{deep[1]}", member=deep[2], known=inner)
    if deep is not None and deep[:2] == ("env", "wgsl"):
        return Member(holder="env.wgsl", member=deep[2], known=("resourceDeclarations",), advice="it has nothing else")
    found = member_of(node)
    if found is None or found[1] in OBJECT_METHODS or found[0] in visible.derives or found[0] in visible.labels:
        return None
    known = known_members(found[0], visible, manifest)
    if known is None:
        return None
    advice = _ADVICE.get(found[0], f"it has {', '.join(list(known)[:8])}" if known else "it has none")
    return Member(holder=found[0], member=found[1], known=known, advice=advice)


def known_members(name: str, visible: Visible, manifest: Manifest) -> Collection[str] | None:
    """The members of a namespace; None where they are not known."""
    ports = tuple(dict.fromkeys([*manifest.inputs, *manifest.outputs]))
    if name in ("shapes", "ranks", "tensorDtypes"):
        return ports
    if name == "present":
        return (*ports, *manifest.args)
    if name in ("dtypes", "logicalDtypes"):
        return labels_of(manifest)
    if name == "attrs":
        return tuple(manifest.attributes)
    if name == "args":
        return tuple(manifest.args)
    if name == "tunables":
        return visible.tunables
    if name == "derive":
        return visible.derive_members
    if name == "repeat":
        return visible.repeat
    return {"device": _DEVICE, "env": ("wgsl", "device")}.get(name)
