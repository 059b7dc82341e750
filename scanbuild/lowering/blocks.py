"""WGSL as a tree of blocks: a statement is put where its operands are, outside of loops in which it does not vary."""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final, Literal

from scanbuild.lowering.sizes import Size

Kind = Literal["function", "loop", "branch", "run"]

_WORD: Final = re.compile(r"(?<!\.)\b[A-Za-z_]\w*")
_LET: Final = re.compile(r"\s*let (\w+) = ")


@dataclass(eq=False, slots=True)
class Block:
    """Statements in braces. ``head`` is what stands before the brace; lines may be blocks.

    Statements may be moved out of a ``loop``, and out of a ``run`` of statements that has no braces, but not out of a
    ``branch``, where they would be computed in vain.
    """

    head: str = ""
    parent: "Block | None" = None
    kind: Kind = "function"
    lines: "list[str | Block]" = field(default_factory=list)
    known: "dict[object, Value]" = field(default_factory=dict)
    indices: "dict[object, tuple[Size, ...]]" = field(default_factory=dict)
    joined: bool = False
    """Whether the block goes on behind the closing brace of the one before it, as ``else`` does."""

    @property
    def depth(self) -> int:
        return 0 if self.parent is None else self.parent.depth + 1

    def chain(self) -> "Iterator[Block]":
        """The block and those around it, from the inside out."""
        block: Block | None = self
        while block is not None:
            yield block
            block = block.parent

    def floor(self) -> "Block":
        """The outermost block that statements of this one may be moved to."""
        return next(block for block in self.chain() if block.kind not in ("loop", "run") or block.parent is None)

    def add(self, line: "str | Block") -> None:
        self.lines.append(line)

    def prune(self) -> None:
        """Take out names that nothing uses."""
        text = self.render()
        while True:
            counts = Counter(_WORD.findall(text))
            if not self._drop({name for name in _LET.findall(text) if counts[name] == 1}):
                return
            text = self.render()

    def _drop(self, names: set[str]) -> bool:
        before = len(self.lines)
        self.lines = [
            line
            for line in self.lines
            if isinstance(line, Block) or not ((found := _LET.match(line)) and found[1] in names)
        ]
        inner = [line._drop(names) for line in self.lines if isinstance(line, Block)]
        return len(self.lines) < before or any(inner)

    def render(self, indent: int = 0) -> str:
        """The text of the block, each line with its newline."""
        margin = "  " * indent
        parts: list[str] = []
        if self.head == "{":
            parts.append(f"{margin}{{\n")
        elif self.head and self.joined:
            parts.append(f" {self.head} {{\n")
        elif self.head:
            parts.append(f"{margin}{self.head} {{\n")
        inner = indent + 1 if self.head else indent
        for index, line in enumerate(self.lines):
            if isinstance(line, Block):
                follower = self.lines[index + 1] if index + 1 < len(self.lines) else None
                text = line.render(inner)
                parts.append(text.rstrip("\n") if isinstance(follower, Block) and follower.joined else text)
            elif line.startswith("{%"):
                parts.append(f"{line}\n")
            else:
                parts.append(f"{'  ' * inner}{line}\n" if line else "\n")
        if self.head:
            parts.append(f"{margin}}}\n")
        return "".join(parts)


@dataclass(frozen=True, slots=True)
class Value:
    """An expression of WGSL. ``block`` is the outermost block in which it has its value.

    ``atomic`` says that it needs no parentheses as an operand, ``cheap`` that it is a name or a literal.
    """

    text: str
    block: Block
    atomic: bool = False
    cheap: bool = False

    @property
    def operand(self) -> str:
        return self.text if self.atomic else f"({self.text})"


@dataclass(frozen=True, slots=True)
class Variable:
    """A u32 of the shader: the block it is declared in, and the number that it stays below."""

    block: Block
    extent: Size


def deepest(blocks: "list[Block]") -> Block:
    """The innermost of blocks that lie within each other."""
    return max(blocks, key=lambda block: block.depth)
