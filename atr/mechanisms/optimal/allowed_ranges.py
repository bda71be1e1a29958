"""The allowed ranges of a block of regions, as :mod:`atr.core.fidelity` defines them, in as few passes as can be."""

from __future__ import annotations

import math

from atr.core.compiled import compiled
from atr.core.fidelity import Delta, Fidelity
from atr.core.fidelity_bounds import GRID_TOLERANCE
from atr.core.groups import FloatArray


def allowed(fidelity: Fidelity, d: FloatArray, digits: int | None, lower: FloatArray, upper: FloatArray) -> None:
    """Fill in the (n,) smallest and largest announced D_1: true decisions are always allowed, also off the grid.

    Parameters
    ----------
    fidelity
        The promise made to these regions.
    d
        (n,) true decision.
    digits
        Decimals announced: the ranges shrink to that grid. None: no grid.
    lower, upper
        (n,) filled in.

    Raises
    ------
    ValueError
        If the fidelity does not fit the regions.
    """
    if isinstance(fidelity, Delta):
        _within_reach(d, 1 - fidelity.level, lower, upper)
    else:
        lower[:], upper[:] = fidelity.allowed(d)
    if digits is not None:
        _shrink_to_grid(d, 10.0**digits, lower, upper)


@compiled
def _within_reach(d: FloatArray, reach: float, lower: FloatArray, upper: FloatArray) -> None:
    """Fill in the ranges of δ-fidelity; the same numbers as Delta.allowed."""
    for k in range(len(d)):
        lower[k], upper[k] = max(0.0, d[k] - reach), min(1.0, d[k] + reach)


@compiled
def _shrink_to_grid(d: FloatArray, scale: float, lower: FloatArray, upper: FloatArray) -> None:
    """Shrink ranges to multiples of 1/scale; the same numbers as Fidelity.allowed_on_grid, widened to d."""
    for k in range(len(d)):
        first, last = math.ceil(lower[k] * scale - GRID_TOLERANCE), math.floor(upper[k] * scale + GRID_TOLERANCE)
        if first > last:
            first, last = math.floor(d[k] * scale + GRID_TOLERANCE), math.ceil(d[k] * scale - GRID_TOLERANCE)
        lower[k], upper[k] = min(first / scale, d[k]), max(last / scale, d[k])
