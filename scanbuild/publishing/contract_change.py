"""A change of a contract as data, and what the comparisons of its parts share."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeVar

from scanbuild.package.jsonfile import json_path
from scanbuild.package.model import Absent, Json

Kind = Literal["breaking", "compatible", "unknown"]
KINDS: Final[tuple[Kind, ...]] = ("breaking", "unknown", "compatible")
"""Worst first."""

Item = TypeVar("Item")
_LONG: Final = 120


@dataclass(frozen=True, kw_only=True, slots=True)
class Change:
    """One difference between two contracts.

    ``breaking``: a call that was right before is refused now, or answered otherwise. ``compatible``: every call that
    was right is answered as before. ``unknown``: the manifests alone do not tell.

    ``before`` and ``after`` are words, empty for what is not there; ``old_path`` and ``new_path`` the JSON paths in the
    two manifests, None where there is none. ``evidence`` tells what planning the packages' cases added. ``about`` names
    the variants concerned, where calls are.
    """

    kind: Kind
    subject: str
    before: str
    after: str
    why: str
    old_path: str | None = None
    new_path: str | None = None
    evidence: str = ""
    about: tuple[str, ...] = ()

    def __str__(self) -> str:
        turn = f"{self.before or 'absent'} -> {self.after or 'absent'}"
        return f"{self.subject}: {turn} ({self.why})"

    def to_json(self) -> dict[str, Json]:
        """The change as ``schemas/diff-report.schema.json`` has it."""
        return {
            "kind": self.kind,
            "subject": self.subject,
            "before": self.before,
            "after": self.after,
            "why": self.why,
            "oldPath": self.old_path,
            "newPath": self.new_path,
            **({"evidence": self.evidence} if self.evidence else {}),
        }


@dataclass(frozen=True, kw_only=True, slots=True)
class Spot:
    """What a change is about, and where it stands in both manifests."""

    subject: str
    path: tuple[str | int, ...]

    def member(self, *names: str | int) -> "Spot":
        """A member of the same thing."""
        return Spot(subject=self.subject, path=(*self.path, *names))

    def change(self, kind: Kind, before: str, after: str, why: str) -> Change:
        """A change of something that is in both manifests."""
        path = json_path(self.path)
        return Change(
            kind=kind, subject=self.subject, before=before, after=after, why=why, old_path=path, new_path=path
        )

    def removed(self, before: str, why: str, kind: Kind = "breaking") -> Change:
        """What only the old manifest has."""
        path = json_path(self.path)
        return Change(kind=kind, subject=self.subject, before=before, after="", why=why, old_path=path)

    def added(self, after: str, why: str, kind: Kind) -> Change:
        """What only the new manifest has."""
        path = json_path(self.path)
        return Change(kind=kind, subject=self.subject, before="", after=after, why=why, new_path=path)


@dataclass(frozen=True, kw_only=True, slots=True)
class Pairing:
    """The names of two maps: in both, in one alone, and those that only changed their name (old -> new)."""

    both: tuple[str, ...]
    removed: tuple[str, ...]
    added: tuple[str, ...]
    renamed: Mapping[str, str]


def pair(old: Mapping[str, Item], new: Mapping[str, Item], unnamed: Callable[[Item], object]) -> Pairing:
    """Pair the members of two maps by name.

    One that is gone and one that is new count as renamed if what ``unnamed`` makes of them is equal, and no other
    could be meant.
    """
    gone = [name for name in old if name not in new]
    fresh = [name for name in new if name not in old]
    plain_old, plain_new = ([unnamed(items[name]) for name in names] for items, names in ((old, gone), (new, fresh)))
    renamed: dict[str, str] = {}
    for name, plain in zip(gone, plain_old, strict=True):
        like = [other for other, its in zip(fresh, plain_new, strict=True) if its == plain]
        if len(like) == 1 and plain_old.count(plain) == 1:
            renamed[name] = like[0]
    return Pairing(
        both=tuple(name for name in old if name in new),
        removed=tuple(name for name in gone if name not in renamed),
        added=tuple(name for name in fresh if name not in renamed.values()),
        renamed=renamed,
    )


def rename(kind: str, old: Spot, new: Spot) -> Change:
    """The change of a thing that only got another name."""
    return Change(
        kind="breaking",
        subject=old.subject,
        before=str(old.path[-1]),
        after=str(new.path[-1]),
        why=f"renamed: a call that names the {kind} as before is refused",
        old_path=json_path(old.path),
        new_path=json_path(new.path),
    )


def alike(old: Sequence[str], new: Sequence[str]) -> int:
    """How many items, or characters, are equal from the start."""
    pairs = enumerate(zip(old, new, strict=False))
    return next((at for at, pair in pairs if pair[0] != pair[1]), min(len(old), len(new)))


def canonical(value: Json | Absent) -> str:
    """A text that is equal for equal JSON values: 1 and 1.0 are one number, an absent value equals no other."""
    if isinstance(value, Absent):
        return ""
    return json.dumps(_whole(value), sort_keys=True, ensure_ascii=False)


def words(value: Json | Absent) -> str:
    """A JSON value in a message; empty for an absent one."""
    if isinstance(value, Absent):
        return ""
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _LONG else f"{text[: _LONG - 3]}..."


def _whole(value: Json) -> Json:
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, list):
        return [_whole(item) for item in value]
    if isinstance(value, dict):
        return {name: _whole(item) for name, item in value.items()}
    return value
