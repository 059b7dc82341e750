"""What a rendered shader says of itself, read from its text: sizes, bindings, checks of bounds."""

import re
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from scanbuild.planning.wgsl import strip_comments

_WORKGROUP_SIZE: Final = re.compile(r"@\s*workgroup_size\s*\(([^()]{0,200})\)")
_CONSTANT: Final = re.compile(r"\bconst\s+(\w+)\s*(?::\s*\w+\s*)?=\s*(\d+)[ui]?\s*;")
_NUMBER: Final = re.compile(r"(\d+|0[xX][0-9a-fA-F]+)[ui]?\Z")
_WORKGROUP_VAR: Final = re.compile(r"\bvar\s*<\s*workgroup\s*>\s*(\w+)\s*:\s*([^;=]{1,200});")
_BINDING: Final = re.compile(r"@\s*binding\s*\(\s*(\d+)[ui]?\s*\)[^;{}]{0,200}?\bvar\s*<[^;]{0,100}?>\s*(\w+)\s*:")
_ARRAY: Final = re.compile(r"array\s*<\s*(.+?)\s*,\s*(\w+)\s*>\Z", re.DOTALL)
_SCALARS: Final = {"f32": 4, "i32": 4, "u32": 4, "bool": 4, "f16": 2}
_VECTOR: Final = re.compile(r"vec([234])\s*<\s*(\w+)\s*>\Z|vec([234])([fiuh])\Z")
_LETTERS: Final = {"f": "f32", "i": "i32", "u": "u32", "h": "f16"}
_ATOMIC: Final = re.compile(r"atomic\s*<\s*[iu]32\s*>\Z")
_BOUNDS: Final = re.compile(
    r"\bif\b[^{;]{0,120}[<>]|\bselect\s*\(|\bmin\s*\(|\bclamp\s*\(|\barrayLength\s*\(|\bwhile\b[^{;]{0,120}[<>]"
    # A loop that starts from a plain number goes over the work of one invocation, and bounds nothing else.
    r"|\bfor\s*\((?!\s*var\s+\w+\s*(?::\s*\w+\s*)?=\s*\d+[ui]?\s*;)[^{;]{0,120};[^{;]{0,120}[<>]"
)


@dataclass(frozen=True)
class Module:
    """A final shader text. What is searched for in it is short, so that no text takes long."""

    text: str

    @cached_property
    def bare(self) -> str:
        """The text without comments."""
        return strip_comments(self.text)

    @cached_property
    def constants(self) -> dict[str, int]:
        """The module's whole-number constants."""
        return {name: int(value) for name, value in _CONSTANT.findall(self.bare)}

    def number(self, written: str) -> int | None:
        """The number that a literal or a constant's name stands for."""
        written = written.strip()
        if _NUMBER.match(written):
            return int(written.rstrip("ui"), 0) if written[:2] in ("0x", "0X") else int(written.rstrip("ui"))
        return self.constants.get(written)

    @cached_property
    def workgroup_size(self) -> tuple[int, int, int] | None:
        """The size of a workgroup along each axis; None if the text does not tell in plain numbers."""
        found = _WORKGROUP_SIZE.search(self.bare)
        if found is None:
            return None
        sizes = [self.number(part) for part in found[1].split(",") if part.strip()]
        if not 1 <= len(sizes) <= 3 or any(size is None for size in sizes):
            return None
        x, y, z = ([size or 0 for size in sizes] + [1, 1])[:3]
        return x, y, z

    @cached_property
    def workgroup_storage(self) -> int:
        """Bytes of the workgroup variables whose size can be told."""
        return sum(self.type_size(kind) or 0 for _, kind in _WORKGROUP_VAR.findall(self.bare))

    def type_size(self, written: str) -> int | None:
        """Bytes of a type; None for one that is not built in."""
        kind = written.strip()
        if kind in _SCALARS:
            return _SCALARS[kind]
        if _ATOMIC.match(kind):
            return 4
        vector = _VECTOR.match(kind)
        if vector:
            width, scalar = int(vector[1] or vector[3]), vector[2] or _LETTERS[vector[4]]
            return (4 if width == 3 else width) * _SCALARS.get(scalar, 4)
        array = _ARRAY.match(kind)
        if array:
            element, count = self.type_size(array[1]), self.number(array[2])
            return None if element is None or count is None else element * count
        return None

    @cached_property
    def declared(self) -> dict[int, str]:
        """Binding index -> name."""
        return {int(index): name for index, name in _BINDING.findall(self.bare)}

    def uses(self, name: str) -> bool:
        """Whether a name occurs beyond its declaration."""
        return len(re.findall(rf"\b{re.escape(name)}\b", self.bare)) > 1

    def declares(self, name: str) -> bool:
        """Whether a name is declared anywhere, as a variable, a parameter or a member."""
        pattern = rf"\b(?:let|const|var(?:\s*<[^;>]{{0,100}}>)?|override|fn|alias|struct)\s+{name}\b|\b{name}\s*:"
        return re.search(pattern, self.bare) is not None

    def reads(self, name: str) -> bool:
        """Whether a name is used as a variable: indexed, pointed to, or its member taken."""
        return re.search(rf"(?<![.\w]){name}\s*[\[.]|&\s*{name}\b", self.bare) is not None

    def members(self, name: str) -> list[str]:
        """The members that are taken of a variable."""
        return list(dict.fromkeys(re.findall(rf"(?<![.\w]){name}\s*\.\s*(\w+)", self.bare)))

    def has_uniform(self, name: str, struct: str) -> bool:
        """Whether a uniform of that struct is declared under a name, and nothing else is called so."""
        declaration = re.search(rf"\bvar\s*<\s*uniform\s*>\s*{name}\s*:\s*{struct}\s*;", self.bare)
        return declaration is not None and len(re.findall(rf"\b{name}\s*:|\b(?:let|var)\s+{name}\b", self.bare)) == 1

    @cached_property
    def checks_bounds(self) -> bool:
        """Whether anything in the text looks like a check of bounds."""
        return _BOUNDS.search(self.bare) is not None

    @cached_property
    def unfolds(self) -> bool:
        """Whether it takes the second axis of the grid into account, or numbers its workgroups itself, by a counter."""
        if not re.search(r"\b(workgroup_id|global_invocation_id)\b", self.bare):
            return True
        return "65535" in self.bare or re.search(r"\.y\b|\.xy\b|\.yx\b|num_workgroups", self.bare) is not None

    @cached_property
    def measured(self) -> frozenset[str]:
        """The names whose length is asked for."""
        return frozenset(re.findall(r"\barrayLength\s*\(\s*&\s*(\w+)", self.bare))
