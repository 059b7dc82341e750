"""How far sums may be from exact: the depth of additions of each variant, and the tolerance that follows from it.

The formulas restate the algorithms of docs/kernels.md; they are not read from the templates, on purpose.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from scanbuild.cases.casefile import Case
from tests.kernels.source import Arrays, case_inputs

UNIT = 2.0**-24


class Tile(NamedTuple):
    """Rows a workgroup scans at once: row groups of `depth` steps, whose totals take `levels` additions to combine."""

    groups: int
    depth: int
    levels: int

    @property
    def rows(self) -> int:
        return self.groups * self.depth

    def walk(self, tiles: int) -> int:
        """Additions on the way of a term through a walk over so many tiles: own steps, groups, carries, two to join."""
        return self.depth + self.levels + tiles + 2


class Need(NamedTuple):
    """The least tolerance the bound allows, the depth it rests on, and the largest sum of magnitudes."""

    tolerance: float
    depth: int
    magnitude: float


def tile_of(variant: str, dim: int) -> Tile:
    """The tile of a parallel variant with the defaults of the tunables."""
    if variant.startswith("flat"):
        groups = 256 // dim
        return Tile(groups, 8, 16 + math.ceil(groups / 16))
    groups = 4 if variant == "wide_walk" else 8
    return Tile(groups, 16, groups)


class Runs(NamedTuple):
    """A tile of the single pass: `lanes` of a workgroup, `runs` runs of `run` steps an invocation, tiles in groups."""

    lanes: int
    runs: int
    run: int
    group: int
    look: int

    @property
    def row_groups(self) -> int:
        return 256 // self.lanes

    def depth(self, steps: int) -> int:
        """Additions on the way of a term: run, runs, clusters of row groups, tiles, groups, three to join, run."""
        rows = self.row_groups * self.runs * self.run
        groups = math.ceil(math.ceil(steps / rows) / self.group)
        cluster = 4 if self.row_groups <= 16 else 8 if self.row_groups <= 64 else 16
        levels = cluster + math.ceil(self.row_groups / cluster)
        return self.run + self.runs + levels + self.group + groups + 3 + self.run


def runs_of(variant: str, steps: int, dim: int) -> Runs:
    """The tile of a single-pass variant."""
    if variant == "run_tiles":
        return Runs(lanes=1, runs=8, run=4, group=25, look=5)
    if variant == "quad_tiles":
        lanes = balanced(dim // 4, 8 if dim < 192 else 16)
        run = 20 if steps * dim >= 2**26 else 16
        if dim >= 768:
            return Runs(lanes=lanes, runs=1, run=run, group=256 // lanes // 2, look=2)
        return Runs(lanes, 1, run, *window(256 // lanes, min(2, math.ceil(112 / (256 // lanes)))))
    lanes = balanced(dim, 24)
    groups = 256 // lanes
    slots = window(groups, min(4, math.ceil(112 / groups)))
    return Runs(lanes, 10, 4, *slots) if dim < 8 else Runs(lanes, 1, 32, *slots)


def balanced(lanes: int, most: int) -> int:
    """Lanes of a block, when they are shared among as few blocks as will do."""
    return math.ceil(lanes / math.ceil(lanes / most))


def window(row_groups: int, fetches: int) -> tuple[int, int]:
    """Tiles of a group, and groups that a tile looks back over."""
    slots = row_groups * fetches
    look = 5 if slots >= 100 else 4
    return min(25, slots // look), look


def depth(variant: str, steps: int, dim: int) -> int:
    """The largest number of rounded additions that a term goes through in that variant."""
    if variant == "serial":
        return steps
    if variant.endswith("_tiles"):
        return min(steps, runs_of(variant, steps, dim).depth(steps))
    tile = tile_of(variant, dim)
    tiles = math.ceil(steps / tile.rows)
    if not variant.endswith("spans"):
        return min(steps, tile.walk(tiles))
    blocks = 1 if variant.startswith("flat") else math.ceil(dim / 32)
    span_tiles = math.ceil(tiles / math.ceil(1024 / blocks))
    spans = math.ceil(tiles / span_tiles)
    own_steps = span_tiles * tile.depth
    total = 8 + own_steps // 8 + 8 + math.ceil(math.log2(tile.groups))
    carries = tile.walk(math.ceil(spans / tile.rows))
    return min(steps, total + carries + tile.walk(span_tiles))


def gamma(additions: int) -> float:
    """Higham's gamma for float32."""
    return additions * UNIT / (1 - additions * UNIT)


def needed(case: Case) -> Need:
    """The bound of reference.py for a case, taken element by element."""
    assert case.expect_variant is not None
    inputs = case_inputs(case)
    steps, dim = inputs["scan_input"].shape
    additions = depth(case.expect_variant, steps, dim)
    rows = walked(inputs, bool(case.attrs.get("reverse")))
    magnitudes = np.cumsum(np.abs(rows), axis=0)
    allowed = np.maximum(1.0, np.abs(np.cumsum(rows, axis=0)))
    rounding = 2.0**-11 if inputs["scan_input"].dtype == np.float16 else 0.0
    tolerance = float(np.max(gamma(additions) * magnitudes / allowed)) * (1 + rounding) + rounding
    return Need(tolerance, additions, float(magnitudes.max()))


def walked(inputs: Arrays, reverse: bool) -> NDArray[Any]:
    """The initial state and then the rows in the order of the walk, in float64."""
    rows = inputs["scan_input"][::-1] if reverse else inputs["scan_input"]
    return np.concatenate([inputs["initial_state"][np.newaxis], rows]).astype(np.float64)
