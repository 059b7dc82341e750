"""How large the tiles of a parallel scan are: by the words of an element, within the default limits of WebGPU."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from scanbuild.lowering.parallel_code import Code

_MEMORY: Final = 16384
FEW_LANES: Final = 64
"""Below so many lanes a tile holds all of them, and elements go through workgroup memory."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Tile:
    """The values that ``_shared/scan-tiles.wgsl.jinja`` asks for."""

    threads: int
    lanes: int
    steps: int
    fetches: int
    staged: bool

    def memory(self, words: int) -> int:
        """Bytes of workgroup memory."""
        bases = self.lanes or self.threads
        total = 4 * words * (self.threads * (2 + self.fetches) + bases) + 4 * self.threads * self.fetches
        if not self.lanes or self.threads // self.lanes > 16:
            total += 4 * words * (self.threads // 16)
        if self.staged:
            total += 4 * words * self.threads * self.steps
        return total + 64


def many_lanes(words: int) -> Tile:
    """Blocks of 32 lanes; fewer invocations where an element is large."""
    for threads, fetches in ((256, 2), (256, 1), (128, 2), (64, 2), (32, 2), (32, 1)):
        tile = Tile(threads=threads, lanes=32, steps=16 if words <= 2 else 8, fetches=fetches, staged=False)
        if tile.memory(words) <= _MEMORY:
            return tile
    return Tile(threads=32, lanes=32, steps=4, fetches=1, staged=False)


def few_lanes(words: int) -> Tile:
    """All lanes in a tile, at most as many as there are invocations."""
    for threads, steps in ((256, 8), (256, 4), (128, 8), (128, 4), (64, 8), (64, 4), (64, 2)):
        tile = Tile(threads=threads, lanes=0, steps=steps, fetches=1, staged=True)
        if tile.memory(words) <= _MEMORY:
            return tile
    return Tile(threads=64, lanes=0, steps=4, fetches=1, staged=False)


def tile_derives(codes: Sequence[Code]) -> dict[str, object]:
    """Derives of a variant, with the number of the pass behind each name."""
    found: dict[str, object] = {}
    for number, code in enumerate(codes, 1):
        many, few = many_lanes(code.words), few_lanes(code.words)
        choices = {
            "tileThreads": (few.threads, many.threads),
            "tileLanes": (0, many.lanes),
            "tileSteps": (few.steps, many.steps),
            "tileFetches": (few.fetches, many.fetches),
        }
        found[f"elemWords{number}"] = code.words
        found[f"staged{number}"] = f"scanLanes < {FEW_LANES}" if few.staged else False
        for name, (below, above) in choices.items():
            found[f"{name}{number}"] = below if below == above else f"{below} if scanLanes < {FEW_LANES} else {above}"
        found[f"tileRun{number}"] = f"1 if staged{number} else tileSteps{number}"
        lanes = f"(tileLanes{number} or max(1, scanLanes))"
        rows = f"(tiles{number} + 2 * groups{number})"
        found |= {
            f"rowGroups{number}": f"tileThreads{number} // {lanes}",
            f"groupTiles{number}": f"rowGroups{number} * tileFetches{number}",
            f"blocks{number}": f"ceilDiv(scanLanes, {lanes})",
            f"tiles{number}": f"ceilDiv(scanSteps, rowGroups{number} * tileSteps{number})",
            f"groups{number}": f"ceilDiv(tiles{number}, groupTiles{number})",
            f"stateWords{number}": f"32 + {rows} * blocks{number} * {lanes} * {code.words + 1}",
        }
    return found
