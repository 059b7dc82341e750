"""Repeat groups unrolled into the passes that a call goes through (10.1)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from scanbuild.package.model import Pass, RepeatGroup, Variant
from scanbuild.planning.attributes import is_integer
from scanbuild.planning.failures import charge, fail
from scanbuild.planning.scope import Place, Scope
from scanbuild.planning.uniforms import describe

MAX_COUNT: Final = 65535
MAX_PASSES: Final = 131072
INSTANCE_WORK: Final = 1 << 8
"""What one pass, or one round of a group, counts for, in the units of an evaluation's work."""

COUNT_WORK: Final = 1 << 12
"""What counting the rounds of a group by an expression counts for, beside the evaluation."""

MAX_IDLE_ROUNDS: Final = 400_000
"""A limit of scanbuild's own on rounds without a pass: nested groups could go through them for hours."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Instance:
    """One pass of a call. ``id`` tells the rounds of the groups around it, ``repeat`` is what expressions see."""

    item: Pass
    id: str
    repeat: Mapping[str, int]


def expand(variant: Variant, scope: Scope) -> list[Instance]:
    """The passes in order; CallError for a bad count, equal ids, too many passes, or none.

    ``scope`` holds the manifest's and the variant's derives.
    """
    expansion = _Expansion(scope=scope, place=Place(words=f"variant `{variant.id}`", path=variant.path))
    expansion.add(variant.passes, prefix="", names={}, innermost={})
    if not expansion.instances:
        raise fail(f"{expansion.place.words}: every group is repeated zero times", rule="no-pass", path=variant.path)
    return expansion.instances


@dataclass(kw_only=True, slots=True)
class _Expansion:
    scope: Scope
    place: Place
    instances: list[Instance] = field(default_factory=list)
    ids: set[str] = field(default_factory=set)
    idle_rounds: int = 0

    def add(
        self,
        items: Sequence[Pass | RepeatGroup],
        *,
        prefix: str,
        names: Mapping[str, int],
        innermost: Mapping[str, int],
    ) -> None:
        repeat = {**innermost, **names}
        for item in items:
            if isinstance(item, Pass):
                self._add_pass(Instance(item=item, id=f"{prefix}{item.id}", repeat=repeat))
            else:
                self._add_group(item, prefix, names, repeat)

    def _add_pass(self, instance: Instance) -> None:
        if instance.id in self.ids:
            raise fail(
                f"{self.place.words}: two passes have the id `{instance.id}`", rule="pass-id", path=instance.item.path
            )
        if len(self.instances) == MAX_PASSES:
            raise fail(f"{self.place.words} has more than {MAX_PASSES} passes", rule="pass-count", path=self.place.path)
        charge(INSTANCE_WORK, self.place.words)
        self.ids.add(instance.id)
        self.instances.append(instance)

    def _add_group(self, group: RepeatGroup, prefix: str, names: Mapping[str, int], repeat: Mapping[str, int]) -> None:
        count = self._count(group, prefix, repeat)
        for index in range(count):
            charge(INSTANCE_WORK, self.place.words)
            before = len(self.instances)
            self.add(
                group.passes,
                prefix=f"{prefix}{group.id}[{index}].",
                names={**names, group.index: index, f"{group.index}_count": count},
                innermost={"index": index, "count": count},
            )
            self.idle_rounds += len(self.instances) == before
            if self.idle_rounds > MAX_IDLE_ROUNDS:
                message = f"{self.place.words}: more than {MAX_IDLE_ROUNDS} rounds of repeat groups without a pass"
                raise fail(message, rule="group-count", path=group.path)

    def _count(self, group: RepeatGroup, prefix: str, repeat: Mapping[str, int]) -> int:
        place = self.place.member(f"group `{prefix}{group.id}`, repeat count")
        place = Place(words=place.words, path=f"{group.path}.repeat.count")
        value: Any = group.count
        if isinstance(value, str):
            charge(COUNT_WORK, self.place.words)
            value = self.scope.stage(repeat=repeat).evaluate(value, place)
        if not is_integer(value) or not 0 <= value <= MAX_COUNT:
            message = f"{place.words}: expected an integer from 0 to {MAX_COUNT}, found {describe(value)}"
            raise fail(message, rule="repeat-count", path=place.path)
        return int(value)
