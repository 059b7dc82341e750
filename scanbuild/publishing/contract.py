"""What changed in the contract of a kernel: what a caller has to pass, may rely on, and gets.

A change is judged as a caller would meet it who calls through the loader. Names of variants, tunables, derives,
templates and descriptions are no part of the contract, nor is the order of ports, which callers name.
"""

from collections.abc import Iterator

from scanbuild.package.model import ABSENT, Manifest
from scanbuild.publishing.contract_calls import call_changes
from scanbuild.publishing.contract_change import KINDS, Change, Kind, Spot, canonical, words
from scanbuild.publishing.contract_ports import port_changes
from scanbuild.publishing.contract_scalars import argument_changes, attribute_changes
from scanbuild.publishing.contract_types import type_changes

__all__ = ["KINDS", "Change", "Kind", "breaking_changes", "contract_changes"]


def breaking_changes(old: Manifest, new: Manifest) -> list[Change]:
    """What breaks callers of the old contract for certain, by the manifests alone."""
    return [change for change in contract_changes(old, new) if change.kind == "breaking"]


def contract_changes(old: Manifest, new: Manifest) -> list[Change]:
    """Every change of the contract, the worst kind first; none for equal contracts."""
    changes = [
        *_identity_changes(old, new),
        *port_changes(old, new),
        *type_changes(old, new),
        *attribute_changes(old, new),
        *argument_changes(old, new),
        *call_changes(old, new),
    ]
    return sorted(changes, key=lambda change: KINDS.index(change.kind))


def _identity_changes(old: Manifest, new: Manifest) -> Iterator[Change]:
    if old.op_id != new.op_id:
        spot = Spot(subject="op id", path=("name" if old.domain == new.domain else "domain",))
        yield spot.change("breaking", old.op_id, new.op_id, "it is another kernel: callers load it by this name")
    if canonical(old.since_version) != canonical(new.since_version):
        spot = Spot(subject="sinceVersion", path=("sinceVersion",))
        why = "another version of the operator is implemented; see if its definition differs"
        before, after = (
            words(item.since_version) if item.since_version is not ABSENT else "none" for item in (old, new)
        )
        yield spot.change("unknown", before, after, why)
