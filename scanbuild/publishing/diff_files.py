"""What changed in the texts of a package: its files as published, and the WGSL that its cases lead to."""

import difflib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final, Literal

from scanbuild.package.digest import digest_text
from scanbuild.package.model import Json
from scanbuild.publishing.contract_change import alike
from scanbuild.publishing.diff_cases import Plans

_CONTEXT: Final = 3
_MOST_PATCHES: Final = 20
"""So many different pairs of texts of one pass are compared line by line."""
MOST_LINES: Final = 20_000
"""Comparing more lines than this, made to be alike in the worst way, takes minutes."""
_TOO_LONG: Final = f"@@ more than {MOST_LINES} lines differ, and are not shown @@"


@dataclass(frozen=True, kw_only=True, slots=True)
class FileChange:
    """A file that differs. ``added`` and ``removed`` count lines, ``patch`` is the unified diff.

    Digests are base64 SHA-256, None where there is no such file.
    """

    path: str
    status: Literal["added", "removed", "changed"]
    old_digest: str | None
    new_digest: str | None
    added: int
    removed: int
    patch: str

    def to_json(self) -> dict[str, Json]:
        """The change as ``schemas/diff-report.schema.json`` has it."""
        return {
            "path": self.path,
            "status": self.status,
            "oldDigest": self.old_digest,
            "newDigest": self.new_digest,
            "addedLines": self.added,
            "removedLines": self.removed,
            "patch": self.patch,
        }


@dataclass(frozen=True, kw_only=True, slots=True)
class ShaderChange:
    """What became of the WGSL of one pass of one variant, over all calls that both packages run by them.

    ``calls`` counts pairs of case and device, ``changed`` those whose text differs. ``patch``, ``added`` and
    ``removed`` are those of the pair of texts that differs most.
    """

    variant: str
    shader_pass: str
    calls: int
    changed: int
    added: int
    removed: int
    patch: str

    def to_json(self) -> dict[str, Json]:
        """The change as ``schemas/diff-report.schema.json`` has it."""
        return {
            "variant": self.variant,
            "pass": self.shader_pass,
            "calls": self.calls,
            "changedCalls": self.changed,
            "addedLines": self.added,
            "removedLines": self.removed,
            "patch": self.patch,
        }


def file_changes(old: Mapping[str, str], new: Mapping[str, str]) -> list[FileChange]:
    """Every file that differs, in the order of the paths."""
    changes = []
    for path in sorted({*old, *new}):
        before, after = old.get(path), new.get(path)
        if before == after:
            continue
        patch, added, removed = unified(before or "", after or "", path)
        changes.append(
            FileChange(
                path=path,
                status="added" if before is None else "removed" if after is None else "changed",
                old_digest=None if before is None else digest_text(before),
                new_digest=None if after is None else digest_text(after),
                added=added,
                removed=removed,
                patch=patch,
            )
        )
    return changes


def shader_changes(plans: Plans) -> list[ShaderChange]:
    """The passes whose WGSL differs in some call, as far as both packages run the call by the same variant."""
    calls: dict[tuple[str, str], list[tuple[str, str]]] = {}
    for pair in plans.pairs:
        if not pair.both or pair.old.variant != pair.new.variant:
            continue
        before, after = dict(pair.old.shaders), dict(pair.new.shaders)
        for name in before.keys() & after.keys():
            calls.setdefault((pair.old.variant, name), []).append((before[name], after[name]))
    return [change for key, texts in sorted(calls.items()) for change in _shader_change(*key, texts, plans.texts)]


def _shader_change(
    variant: str, name: str, calls: list[tuple[str, str]], texts: Mapping[str, str]
) -> Iterator[ShaderChange]:
    differing = [pair for pair in calls if texts[pair[0]] != texts[pair[1]]]
    if not differing:
        return
    distinct = sorted(set(differing))[:_MOST_PATCHES]
    patches = [unified(texts[one], texts[other], f"{variant}/{name}.wgsl") for one, other in distinct]
    patch, added, removed = max(patches, key=lambda item: item[1] + item[2])
    yield ShaderChange(
        variant=variant,
        shader_pass=name,
        calls=len(calls),
        changed=len(differing),
        added=added,
        removed=removed,
        patch=patch,
    )


def unified(old: str, new: str, path: str) -> tuple[str, int, int]:
    """The unified diff of two texts, and how many lines it adds and removes.

    Where too many lines lie between the first and the last that differ, all of those count as replaced, and the diff
    says that instead of showing them.
    """
    before, after = old.splitlines(), new.splitlines()
    head = alike(before, after)
    tail = alike(before[head:][::-1], after[head:][::-1])
    removed, added = len(before) - head - tail, len(after) - head - tail
    if max(removed, added) > MOST_LINES:
        return f"--- old/{path}\n+++ new/{path}\n{_TOO_LONG}\n", added, removed
    lines = list(difflib.unified_diff(before, after, f"old/{path}", f"new/{path}", n=_CONTEXT, lineterm=""))
    if not lines and old != new:
        lines = [f"--- old/{path}", f"+++ new/{path}", "@@ only the ends of lines differ @@"]
    body = lines[2:]
    added = sum(line.startswith("+") for line in body)
    removed = sum(line.startswith("-") for line in body)
    return "".join(f"{line}\n" for line in lines), added, removed
