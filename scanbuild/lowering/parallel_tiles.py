"""How large the tiles of a parallel scan are: by the words of an element, within the default limits of WebGPU.

``docs/kernels.md`` says what the numbers mean to ``_shared/scan-tiles.wgsl.jinja``.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from scanbuild.lowering.parallel_code import Code

MEMORY: Final = 16384
"""Bytes of workgroup memory that every device has."""
FEW_LANES: Final = 64
"""Below so many lanes a tile holds all of them."""
GROUP_TILES: Final = 4
"""Tiles of a group, where there are many lanes: a longer one waits longer for all its tiles to be read."""
FEW_GROUP_TILES: Final = 16


@dataclass(frozen=True, kw_only=True, slots=True)
class Tile:
    """The values that ``_shared/scan-tiles.wgsl.jinja`` asks for; ``lanes`` is 0 for all there are."""

    threads: int
    lanes: int
    steps: int
    run: int
    fetches: int

    def memory(self, words: int) -> int:
        """Bytes of workgroup memory for elements of so many words."""
        bases = self.lanes or self.threads
        elements = self.threads * (1 + 2 * self.fetches) + bases
        if not self.lanes:
            elements += self.threads + 16
        elif self.threads // self.lanes > 16:
            elements += (self.threads // self.lanes + 15) // 16 * self.lanes
        if self.steps > self.run:
            elements += self.threads * self.steps // self.run
        return 4 * words * elements + 4 * self.threads * self.fetches + 16


def many_lanes(words: int) -> Tile:
    """Blocks of 32 lanes, with steps of their own for each invocation; fewer invocations where an element is large."""
    steps = 16 if words <= 4 else 8
    sizes = ((256, 1), (128, 1), (64, 2), (32, 4), (32, 2), (32, 1))
    tiles = [Tile(threads=threads, lanes=32, steps=steps, run=steps, fetches=fetches) for threads, fetches in sizes]
    return next((tile for tile in tiles if tile.memory(words) <= MEMORY), tiles[-1])


def few_lanes(words: int) -> Tile:
    """All lanes in a tile, at most as many as there are invocations.

    Small elements come in short runs of steps, whose totals are staged, so that neighbours read what is near each
    other. For larger ones that is too much code for compilers of software adapters.
    """
    sizes = ((256, 16, 4), (256, 8, 4)) if words == 1 else ((256, 8, 8), (128, 8, 8), (64, 8, 8), (64, 4, 4))
    tiles = [Tile(threads=threads, lanes=0, steps=steps, run=run, fetches=1) for threads, steps, run in sizes]
    return next((tile for tile in tiles if tile.memory(words) <= MEMORY), tiles[-1])


def tile_derives(codes: Sequence[Code]) -> dict[str, object]:
    """Derives of a variant, with the number of the pass behind each name."""
    found: dict[str, object] = {}
    for number, code in enumerate(codes, 1):
        many, few = many_lanes(code.words), few_lanes(code.words)
        choices = {
            "tileThreads": (few.threads, many.threads),
            "tileLanes": (few.lanes, many.lanes),
            "tileSteps": (few.steps, many.steps),
            "tileRun": (few.run, many.run),
            "tileFetches": (few.fetches, many.fetches),
            "mostGroupTiles": (FEW_GROUP_TILES, GROUP_TILES),
        }
        found[f"elemWords{number}"] = code.words
        for name, (below, above) in choices.items():
            found[f"{name}{number}"] = below if below == above else f"{below} if scanLanes < {FEW_LANES} else {above}"
        lanes = f"(tileLanes{number} or max(1, scanLanes))"
        rows = f"(tiles{number} + 2 * tileGroups{number})"
        found |= {
            f"rowGroups{number}": f"tileThreads{number} // {lanes}",
            f"groupTiles{number}": f"min(rowGroups{number} * tileFetches{number}, mostGroupTiles{number})",
            f"blocks{number}": f"ceilDiv(scanLanes, {lanes})",
            f"tiles{number}": f"ceilDiv(scanSteps, rowGroups{number} * tileSteps{number})",
            f"tileGroups{number}": f"ceilDiv(tiles{number}, groupTiles{number})",
            f"workgroupTurns{number}": f"ceilDiv(tiles{number} * blocks{number}, tunables.tileWorkgroups)",
            f"stateWords{number}": f"32 + {rows} * blocks{number} * {lanes} * {code.words + 1}",
        }
    return found
