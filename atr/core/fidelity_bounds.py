"""What an announcement promises about every outcome, cell by cell.

With two outcomes this is the range of D_1 and its mirror, tightened by both. With more, a cell's range is what is
promised for that cell alone; that the chances of a region sum to one is left to whoever chooses them.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike

from atr.core.groups import FloatArray, IntArray

# An announced number may differ from its grid value by this much of a grid step: 0.1 * 1000 is not 101.
GRID_TOLERANCE = 1e-9

_Array = TypeVar("_Array", FloatArray, IntArray)


class FidelityBounds:
    """Ranges for every outcome, for a promise that gives the ranges of one cell."""

    __slots__ = ()

    @abstractmethod
    def allowed(self, decision: ArrayLike) -> tuple[FloatArray, FloatArray]:
        """Give the (n,) smallest and largest announced D_1."""

    @abstractmethod
    def allowed_on_grid(self, decision: ArrayLike, *, digits: int) -> tuple[IntArray, IntArray]:
        """Give the (n,) allowed range on the grid."""

    @abstractmethod
    def believed_range(self, announced: ArrayLike, *, digits: int) -> tuple[FloatArray, FloatArray]:
        """Give the (n,) range of the true D_1."""

    @abstractmethod
    def _cells(self, decision: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Give the range (n, outcomes) of what may be announced for three outcomes and more."""

    @abstractmethod
    def _believed_cells(self, announced: FloatArray, step: float) -> tuple[FloatArray, FloatArray]:
        """Give the range (n, outcomes) of what may be true for three outcomes and more."""

    def allowed_outcomes(self, decision: ArrayLike) -> tuple[FloatArray, FloatArray]:
        """Give the smallest and largest announced chance of every outcome.

        Parameters
        ----------
        decision
            (n, outcomes) true probability.

        Returns
        -------
        Lower and upper ends, (n, outcomes) each, the truth inside.

        Raises
        ------
        ValueError
            If the decision is not (n, outcomes) probability, or does not fit the promise.

        References
        ----------
        Chen, Golubchik, Pal, *Achieving Transparency Report Privacy in Linear Time*, Def. 5 to 7.
        """
        D = _mapping(decision)
        return _mirrored(*self.allowed(D), 1) if D.shape[1] == 2 else self._cells(D)

    def allowed_outcomes_on_grid(self, decision: ArrayLike, *, digits: int) -> tuple[IntArray, IntArray]:
        """Give the allowed ranges (n, outcomes) in units of 10^-digits.

        Where the promise leaves a cell, or a region as a whole, no grid value, it becomes "within rounding".
        """
        D = _mapping(decision)
        if D.shape[1] == 2:
            return _mirrored(*self.allowed_on_grid(D, digits=digits), 10**digits)
        if digits < 0:
            raise ValueError(f"digits must not be negative: {digits}")
        scale = 10**digits
        lower, upper = self._cells(D)
        below, above = np.floor(D * scale + GRID_TOLERANCE), np.ceil(D * scale - GRID_TOLERANCE)
        lo, hi = np.ceil(lower * scale - GRID_TOLERANCE), np.floor(upper * scale + GRID_TOLERANCE)
        missed = lo > hi
        lo, hi = np.where(missed, below, lo), np.where(missed, above, hi)
        astray = ((lo.sum(axis=1) > scale) | (hi.sum(axis=1) < scale))[:, None]
        lo, hi = np.where(astray, np.minimum(lo, below), lo), np.where(astray, np.maximum(hi, above), hi)
        return lo.astype(np.int64), hi.astype(np.int64)

    def believed_outcomes(self, announced: ArrayLike, *, digits: int) -> tuple[FloatArray, FloatArray]:
        """Give the range (n, outcomes) of the true chances that announced ones, grid values, leave open."""
        X = _mapping(announced)
        if X.shape[1] == 2:
            return _mirrored(*self.believed_range(X, digits=digits), 1)
        step = 10.0**-digits
        lower, upper = self._believed_cells(X, step)
        noise = GRID_TOLERANCE * step
        return np.where(lower < noise, 0.0, lower), np.where(upper > 1 - noise, 1.0, upper)


def _mapping(decision: ArrayLike) -> FloatArray:
    D = np.asarray(decision, dtype=np.float64)
    if D.ndim != 2 or D.shape[1] < 2:
        raise ValueError("decisions must have one column for each outcome")
    if not ((D >= 0) & (D <= 1)).all():
        raise ValueError("decisions must be probabilities between 0 and 1")
    return D


def _mirrored(lower: _Array, upper: _Array, whole: int) -> tuple[_Array, _Array]:
    """Add the other outcome's range, so that the two sum to the whole."""
    return np.column_stack([whole - upper, lower]), np.column_stack([whole - lower, upper])
