"""The public partition: cells of rules are cut in two until no cut is left that is safe on both sides."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from atr.core.arrays import BoolArray, FloatArray, IntArray

GAIN_DIGITS = 9
"""Significant digits of a gain: what differs in later ones is equal, so that every machine finds the same cell."""


@dataclass(frozen=True, eq=False, slots=True)
class Limits:
    """Where the chances of a cell lie, (q,) each: from ``lower`` up to, not at, ``upper`` steps of the grid.

    A chance is one of a region, or of a region and an outcome; ``upper`` at the end of the grid includes it.
    """

    lower: IntArray
    upper: IntArray

    def equal(self, other: Limits) -> bool:
        """Whether both are the same."""
        return np.array_equal(self.lower, other.lower) and np.array_equal(self.upper, other.upper)

    def half(self, chance: int, limit: int, *, upper: bool) -> Limits:
        """Cut at a limit of one chance and keep the upper or the lower half."""
        kept = Limits(self.lower.copy(), self.upper.copy())
        (kept.lower if upper else kept.upper)[chance] = limit
        return kept


@dataclass(frozen=True, eq=False, slots=True)
class Cuts:
    """The cuts of a cell that keep all conditions but safety, (c,) each.

    Attributes
    ----------
    chance
        Position of the chance that is cut.
    limit
        Grid position of the cut.
    gain
        By how much the squared error of that chance falls, as a reader of the uniform model expects it.
    safe
        Whether both halves of the cut at a position in these arrays are safe.
    """

    chance: IntArray
    limit: IntArray
    gain: FloatArray
    safe: Callable[[int], bool]


class Engine(Protocol):
    """What the partition needs to know of a group."""

    def cuts(self, cell: Limits) -> Cuts:
        """Give the cuts of a cell: from numbers of people and the group's totals alone, whatever the truth."""

    def reaches(self, chance: int, limit: int) -> bool:
        """Whether a true chance is at a limit or above it."""


def split(engine: Engine, start: Limits, previous: Limits | None = None) -> Limits:
    """Cut a cell as far as it is safe, going on in the half that holds the truth.

    Parameters
    ----------
    engine
        The group.
    start
        The cell to begin with.
    previous
        The cell announced last time: cuts at its limits come first, and others only once it is reached.
    """
    cell = start
    if previous is not None:
        cell = _cut_while_safe(engine, cell, lambda cuts: _at_limits(cuts, previous))
        if not cell.equal(previous):
            return cell
    return _cut_while_safe(engine, cell, lambda cuts: np.ones(len(cuts.chance), dtype=np.bool_))


def _cut_while_safe(engine: Engine, cell: Limits, tried: Callable[[Cuts], BoolArray]) -> Limits:
    """Take the safe cut of largest gain among those tried, again and again."""
    while True:
        cuts = engine.cuts(cell)
        best = next(filter(cuts.safe, _by_gain(cuts, tried(cuts))), None)
        if best is None:
            return cell
        chance, limit = int(cuts.chance[best]), int(cuts.limit[best])
        cell = cell.half(chance, limit, upper=engine.reaches(chance, limit))


def _at_limits(cuts: Cuts, cell: Limits) -> BoolArray:
    """Tell which cuts are at a limit of a cell."""
    at: BoolArray = (cuts.limit == cell.lower[cuts.chance]) | (cuts.limit == cell.upper[cuts.chance])
    return at


def _by_gain(cuts: Cuts, tried: BoolArray) -> list[int]:
    """Put the positions of the tried cuts in order: largest gain, then lower chance, then lower limit."""
    return sorted(
        np.flatnonzero(tried).tolist(),
        key=lambda i: (-float(f"{cuts.gain[i]:.{GAIN_DIGITS - 1}e}"), cuts.chance[i], cuts.limit[i]),
    )
