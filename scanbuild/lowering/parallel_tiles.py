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
WINDOW: Final = 128
"""A tile looks back over about so many tiles, if its invocations can fetch them."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Tile:
    """The values that ``_shared/scan-tiles.wgsl.jinja`` asks for; ``lanes`` is an expression, ``widest`` at most."""

    threads: int
    lanes: str
    widest: int
    steps: int
    run: int
    fetches: int

    def memory(self, words: int) -> int:
        """Bytes of workgroup memory, at most, for elements of so many words."""
        slots = self.threads * self.fetches
        elements = self.threads * 5 // 4 + 3 * self.widest + slots + min(slots, 4 * self.widest)
        if self.steps > self.run:
            elements += self.threads * self.steps // self.run
        return 4 * words * elements + 16


def many_lanes(words: int) -> Tile:
    """Blocks of lanes, with steps of their own for each invocation; fewer invocations where an element is large.

    Where blocks are few, the sums go from tile to tile in few chains: narrow tiles make more of them, and longer tiles.
    """
    steps = 32 if words == 1 else 16 if words <= 4 else 8
    lanes = f"16 if scanLanes < {256 if words == 1 else 512} else 32"
    return _first_that_fits(words, lanes, 32, [(256, steps, steps, 4), (256, steps, steps, 1), (128, steps, steps, 1)])


def few_lanes(words: int) -> Tile:
    """All lanes in a tile.

    Small elements come in short runs of steps, whose totals are staged, so that neighbours read what is near each
    other. For larger ones that is too much code for compilers of software adapters.
    """
    if words == 1:
        return _first_that_fits(words, "scanLanes", FEW_LANES - 1, [(256, 32, 4, 1)])
    return _first_that_fits(words, "scanLanes", FEW_LANES - 1, [(256, 8, 8, 2), (256, 8, 8, 1), (128, 8, 8, 1)])


def _first_that_fits(words: int, lanes: str, widest: int, sizes: Sequence[tuple[int, int, int, int]]) -> Tile:
    more = [(64, min(8, sizes[-1][1]), min(8, sizes[-1][2]), 1), (64, 4, 4, 1)]
    tiles = [
        Tile(threads=threads, lanes=lanes, widest=widest, steps=steps, run=run, fetches=fetches)
        for threads, steps, run, fetches in [*sizes, *more]
    ]
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
            "mostFetches": (few.fetches, many.fetches),
        }
        for name, (below, above) in choices.items():
            found[f"{name}{number}"] = below if below == above else f"{below} if scanLanes < {FEW_LANES} else {above}"
        slots = f"rowGroups{number} * tileFetches{number}"
        values = f"(tiles{number} + tileGroups{number}) * blocks{number} * tileLanes{number} * {code.place_words}"
        found |= {
            f"placeWords{number}": code.place_words,
            f"rowGroups{number}": f"tileThreads{number} // max(1, tileLanes{number})",
            f"tileFetches{number}": f"min(mostFetches{number}, ceilDiv({WINDOW}, max(1, rowGroups{number})))",
            f"lookGroups{number}": f"max(1, min(4, {slots}))",
            f"groupTiles{number}": f"max(1, min(25, {slots} // lookGroups{number}))",
            f"blocks{number}": f"ceilDiv(scanLanes, max(1, tileLanes{number}))",
            f"tiles{number}": f"ceilDiv(scanSteps, max(1, rowGroups{number} * tileSteps{number}))",
            f"tileGroups{number}": f"ceilDiv(tiles{number}, groupTiles{number})",
            f"workgroupTurns{number}": f"ceilDiv(tiles{number} * blocks{number}, tunables.tileWorkgroups)",
            f"stateWords{number}": f"32 + tileGroups{number} * blocks{number} + {values}",
        }
    return found
