"""What a pass in a repeat group keeps from one round to the next (10.1).

A group may have tens of thousands of rounds, and most of what is evaluated for a pass reads nothing of the round. So
each step of planning a pass says which names it reads, and is done anew only where one of them changes.
"""

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, field
from typing import Any, TypeVar

Value = TypeVar("Value")
Names = Callable[[], Iterable[str]]


@dataclass(slots=True)
class Rounds:
    """The results of the steps of planning one pass. ``repeats`` tells whether the pass is in a group at all.

    ``varying`` are the names whose values change from round to round: ``repeat``, and the derives that read one.
    """

    repeats: bool
    varying: set[str] = field(default_factory=lambda: {"repeat"})
    kept: dict[Hashable, Any] = field(default_factory=dict)
    anew: set[Hashable] = field(default_factory=set)

    @property
    def all_alike(self) -> bool:
        """Whether the rounds so far show that every round has the same result."""
        return self.repeats and not self.anew

    def step(self, name: Hashable, reads: Names, make: Callable[[], Value]) -> Value:
        """The result of a step: that of an earlier round, or made now. ``reads`` is asked once, after it was made."""
        if not self.repeats or name in self.anew:
            return make()
        if name in self.kept:
            kept: Value = self.kept[name]
            return kept
        value = make()
        if self.varying.isdisjoint(reads()):
            self.kept[name] = value
        else:
            self.anew.add(name)
        return value

    def derive(self, name: str, reads: Names, make: Callable[[], Value]) -> Value:
        """The value of a derive. One that changes makes its own name change, and the object of all derives."""
        value = self.step(("derive", name), reads, make)
        if ("derive", name) in self.anew:
            self.varying.update((name, "derive"))
        return value
