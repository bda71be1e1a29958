"""From a linear reduction to the printed numbers.

Nothing here takes a true decision: printed numbers are a function of the announced mapping, the populations and the
policy. So rules that are announced alike are printed alike, and whoever sees the printed numbers knows no more than
someone who sees all digits of the announcement: averages of confidences of at most β are at most β.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike

from atr.confidence import exact_shares
from atr.groups import FloatArray, IntArray
from atr.mechanism.grid import BoolArray, whole_people, within
from atr.protected import ProtectedSets

# Rules that are announced alike differ in the last bits. They are made equal by rounding to this part of a grid step
# first. It is a power of two, so that no simple fraction (of populations and printed numbers) lies half-way.
_BITS = 2.0**-21
# Each attempt to get below the ceiling shrinks a group by this much more than the last.
_GROWTH = 1.2


def round_linear(
    population: ArrayLike,
    announced: ArrayLike,
    offsets: ArrayLike,
    *,
    digits: int,
    ceiling: float,
    published_population: ArrayLike,
    sets: ProtectedSets | None = None,
) -> tuple[IntArray, BoolArray]:
    """Round a linear reduction to the numbers that are printed.

    Every region is rounded on its own: down, with what is then missing to 1 given to the largest remainders. A group
    in which that leaves a reader surer than the ceiling, with the true or the published populations, is shrunk
    further towards its rate, a little more each time; if need be, until all its regions print the rate and tell
    nothing that the populations do not. So nothing is ever refused.

    Parameters
    ----------
    population
        (n,) people, whole numbers.
    announced
        (n, outcomes) probability, as from :func:`atr.mechanism.linear.linear_reduction`.
    offsets
        (g + 1,) positions of the groups.
    digits
        Decimals printed.
    ceiling
        Confidence no group may exceed, taken as the decimal number it prints as.
    published_population
        (n,) people, as printed in the report.
    sets
        The protected sets, with the factors their ceilings are multiplied by; None: every region on its own.

    Returns
    -------
    (n, outcomes) whole units of 10^-digits, each row adding up to 1; less than one unit off, and for two outcomes
    at most half a unit, except in the groups marked by the second array, (g,), which were shrunk further.

    Raises
    ------
    ValueError
        If populations are not whole numbers of people or arrays do not fit each other.

    Examples
    --------
    >>> x = [[0.9647, 0.0353], [0.9647, 0.0353], [0.2, 0.8]]
    >>> grid, moved = round_linear([12, 5, 3], x, [0, 3], digits=3, ceiling=0.8, published_population=[12, 5, 3])
    >>> grid.tolist(), moved.tolist()
    ([[964, 36], [964, 36], [201, 799]], [True])
    """
    x, o = np.asarray(announced, dtype=np.float64), np.asarray(offsets, dtype=np.int64)
    n, scale = len(x), 10**digits
    p, q = whole_people(population, n), whole_people(published_population, n)
    sets = sets or ProtectedSets.regions(o)
    units = np.rint(x * scale / _BITS) * _BITS
    mean = np.add.reduceat(p[:, None] * units, o[:-1]) / np.add.reduceat(p, o[:-1])[:, None]
    mean = np.repeat(mean, np.diff(o), axis=0)
    grid = _to_grid(units, scale)
    moved = np.zeros(len(o) - 1, dtype=bool)
    limit = Fraction(str(ceiling)).as_integer_ratio()

    # What is left to settle: its groups and regions among all, and its own offsets and sets.
    groups, cells, shrink = np.arange(len(moved)), np.arange(n), 1.0 / scale
    while True:
        now = grid[cells]
        shares = [exact_shares(people[cells], now, digits=digits, offsets=o, sets=sets) for people in (p, q)]
        kept = within(*shares[0], *limit) & within(*shares[1], *limit)
        failed = _uneven(now, o) & ~kept
        if not failed.any():
            return grid, moved
        cells, groups = cells[np.repeat(failed, np.diff(o))], groups[failed]
        o, sets = _part(o, sets, failed)
        moved[groups] = True
        flat = mean[cells]
        grid[cells] = _to_grid(flat + max(1 - shrink, 0) * (units[cells] - flat), scale)
        shrink *= _GROWTH


def _to_grid(units: FloatArray, scale: int) -> IntArray:
    """Round rows to whole numbers that add up to ``scale``: the largest remainders are rounded up."""
    whole = np.floor(units).astype(np.int64)
    missing = scale - whole.sum(axis=1, keepdims=True)
    rank = np.argsort(np.argsort(whole - units, axis=1, kind="stable"), axis=1, kind="stable")
    rounded: IntArray = whole + (rank < missing)
    return rounded


def _part(offsets: IntArray, sets: ProtectedSets, chosen: BoolArray) -> tuple[IntArray, ProtectedSets]:
    """Give the offsets and protected sets of some of the groups (g,), on their own."""
    sizes = np.diff(offsets)
    position = np.cumsum(np.repeat(chosen, sizes)) - 1
    lengths, kept = np.diff(sets.offsets), chosen[sets.group_of_set]
    part = ProtectedSets(
        members=position[sets.members[np.repeat(kept, lengths)]],
        offsets=np.append(0, np.cumsum(lengths[kept])),
        group_offsets=np.append(0, np.cumsum(np.diff(sets.group_offsets)[chosen])),
        factors=sets.factors[kept],
    )
    return np.append(0, np.cumsum(sizes[chosen])), part


def _uneven(grid: IntArray, offsets: IntArray) -> BoolArray:
    """Tell which groups (g,) print different numbers for some of their regions."""
    starts = offsets[:-1]
    spread: IntArray = np.maximum.reduceat(grid, starts) - np.minimum.reduceat(grid, starts)
    uneven: BoolArray = spread.max(axis=1) > 0
    return uneven
