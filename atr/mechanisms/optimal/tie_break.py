"""Of all least distorted announcements the one that spreads its moves most evenly: the smallest Σ p·(D̃ - D)².

There is exactly one, whatever the order of the regions and whichever least distorted announcement a solver ends at.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import nnls

from atr.core.arrays import FloatArray
from atr.core.tolerances import FIXED_MOVE, SAME_CONFIDENCE, SAME_VALUE, SINGULAR


def least_squares(
    p: FloatArray,
    low: FloatArray,
    high: FloatArray,
    *,
    equal: FloatArray,
    totals: FloatArray,
    most: FloatArray,
    limits: FloatArray,
) -> FloatArray | None:
    """Choose the most even moves: minimise Σ z²/p with low ≤ z ≤ high, equal·z = totals and most·z ≤ limits.

    Parameters
    ----------
    p
        (k,) population of each cell, as a share of the group's.
    low, high
        (k,) range of each cell's move z, a share of the group's people.
    equal, totals, most, limits
        Matrices with k columns and what their products are compared with.

    Returns
    -------
    (k,) moves, or None where the constraints are met by nothing.

    References
    ----------
    Lawson, Hanson, *Solving Least Squares Problems* (1974), chapter 23: least distance programming.

    Examples
    --------
    >>> p = np.array([0.5, 0.25, 0.25])
    >>> least_squares(p, np.array([-0.4, 0, 0]), np.array([-0.4, 0.3, 0.1]), equal=np.ones((1, 3)), totals=np.zeros(1),
    ...         most=np.zeros((0, 3)), limits=np.zeros(0)).round(6)
    array([-0.4,  0.3,  0.1])
    """
    moves = (low + high) / 2
    free = np.flatnonzero(high - low > FIXED_MOVE)
    if not len(free):
        return moves
    fixed = np.setdiff1d(np.arange(len(p)), free)
    scale = np.sqrt(p[free])
    equal_to = totals - equal[:, fixed] @ moves[fixed]
    start, directions = _solutions(equal[:, free] * scale, equal_to)
    rows = np.vstack([np.diag(scale), -np.diag(scale), most[:, free] * scale])
    ends = np.concatenate([high[free], -low[free], limits - most[:, fixed] @ moves[fixed]])
    left = ends - rows @ start
    rows = rows @ directions
    size = np.linalg.norm(rows, axis=1)
    counts = size > SAME_VALUE
    if (left[~counts] < -SAME_VALUE).any():
        return None
    shift = _nearest_to_zero(rows[counts] / size[counts, None], left[counts] / size[counts] + SAME_CONFIDENCE)
    if shift is None:
        return None
    moves[free] = np.clip(scale * (start + directions @ shift), low[free], high[free])
    return moves


def _solutions(matrix: FloatArray, values: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Give the smallest y with matrix·y = values, and an orthonormal basis of what can be added to it."""
    left, singular, right = np.linalg.svd(matrix, full_matrices=True)
    rank = int((singular > SINGULAR * singular.max(initial=0)).sum())
    start = right[:rank].T @ ((left[:, :rank].T @ values) / singular[:rank])
    return start, right[rank:].T


def _nearest_to_zero(rows: FloatArray, ends: FloatArray) -> FloatArray | None:
    """Give the smallest v with rows·v ≤ ends."""
    if (ends >= 0).all():
        return np.zeros(rows.shape[1])
    system = -np.vstack([rows.T, ends])
    target = np.append(np.zeros(rows.shape[1]), 1.0)
    try:
        weights, _ = nnls(system, target)
    except RuntimeError:
        return None
    residual = system @ weights - target
    if residual[-1] > -SAME_VALUE:
        return None
    smallest: FloatArray = -residual[:-1] / residual[-1]
    return smallest
