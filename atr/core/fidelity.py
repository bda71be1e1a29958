"""What an announcement promises about the truth, and what a reader may conclude from it.

For binary decisions both outcomes bind: a promise on D_1 and on D_0 = 1 - D_1 becomes one range of D_1.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from atr.core.fidelity_bounds import GRID_TOLERANCE, FidelityBounds
from atr.core.groups import FloatArray, IntArray


@dataclass(frozen=True, slots=True)
class Delta(FidelityBounds):
    """Promise that no chance is moved by more than 1 - δ.

    Parameters
    ----------
    level
        δ, from 0 (nothing is promised) to 1 (nothing is moved).

    Raises
    ------
    ValueError
        If the level is not between 0 and 1.

    References
    ----------
    Chen, Golubchik, Pal, *Achieving Transparency Report Privacy in Linear Time*, Def. 6 (δ-fidelity).

    Examples
    --------
    >>> Delta(0.75).allowed([0, 0.5, 1])
    (array([0.  , 0.25, 0.75]), array([0.25, 0.75, 1.  ]))
    """

    level: float

    def __post_init__(self) -> None:
        if not 0 <= self.level <= 1:
            raise ValueError(f"delta must be between 0 and 1, not {self.level}")

    def of(self, cells: slice) -> Delta:
        """Give the promise made to some of the regions: the same."""
        return self

    def allowed(self, decision: ArrayLike) -> tuple[FloatArray, FloatArray]:
        """Give the (n,) smallest and largest announced D_1 for (n,) or (n, 2) true decisions."""
        d = _rule(decision)
        lower, upper = d - (1 - self.level), d + (1 - self.level)
        return np.maximum(lower, 0, out=lower), np.minimum(upper, 1, out=upper)

    def allowed_on_grid(self, decision: ArrayLike, *, digits: int) -> tuple[IntArray, IntArray]:
        """Give the allowed range in (n,) units of 10^-digits; within rounding where no grid value is left."""
        return _on_grid(_rule(decision), *self.allowed(decision), digits)

    def believed_range(self, announced: ArrayLike, *, digits: int) -> tuple[FloatArray, FloatArray]:
        """Give the (n,) range of the true D_1 that an announced D_1, a grid value, leaves open."""
        x = _rule(announced)
        step = 10.0**-digits
        # A range narrower than a grid step may have missed the grid: then it is rounding that bounds.
        missed = 2 * (1 - self.level) < step * (1 - 2 * GRID_TOLERANCE)
        reach = step if missed else 1 - self.level
        return _ends(x - reach, x + reach, digits)

    def _cells(self, decision: FloatArray) -> tuple[FloatArray, FloatArray]:
        return np.maximum(0, decision - (1 - self.level)), np.minimum(1, decision + (1 - self.level))

    def _believed_cells(self, announced: FloatArray, step: float) -> tuple[FloatArray, FloatArray]:
        reach = max(1 - self.level, step)
        return announced - reach, announced + reach


@dataclass(frozen=True, slots=True)
class Alpha(FidelityBounds):
    """Promise that no chance, of either outcome, is moved by a factor beyond α to 1/α.

    Parameters
    ----------
    level
        α, above 0 and at most 1. A chance of zero never moves.

    Raises
    ------
    ValueError
        If the level is not in (0, 1].

    References
    ----------
    Chen, Golubchik, Pal, *Achieving Transparency Report Privacy in Linear Time*, Def. 5 (α-fidelity).

    Examples
    --------
    >>> Alpha(0.5).allowed([0, 0.5, 0.75])
    (array([0.  , 0.25, 0.5 ]), array([0.   , 0.75 , 0.875]))
    """

    level: float

    def __post_init__(self) -> None:
        if not 0 < self.level <= 1:
            raise ValueError(f"alpha must be above 0 and at most 1, not {self.level}")

    def of(self, cells: slice) -> Alpha:
        """Give the promise made to some of the regions: the same."""
        return self

    def allowed(self, decision: ArrayLike) -> tuple[FloatArray, FloatArray]:
        """Give the (n,) smallest and largest announced D_1 for (n,) or (n, 2) true decisions."""
        return self._range(_rule(decision))

    def allowed_on_grid(self, decision: ArrayLike, *, digits: int) -> tuple[IntArray, IntArray]:
        """Give the allowed range in (n,) units of 10^-digits; within rounding where no grid value is left."""
        return _on_grid(_rule(decision), *self.allowed(decision), digits)

    def believed_range(self, announced: ArrayLike, *, digits: int) -> tuple[FloatArray, FloatArray]:
        """Give the (n,) range of the true D_1 that an announced D_1, a grid value, leaves open."""
        x = _rule(announced)
        lower, upper = self._range(x)
        step = 10.0**-digits
        return _ends(np.minimum(lower, x - step), np.maximum(upper, x + step), digits)

    def _cells(self, decision: FloatArray) -> tuple[FloatArray, FloatArray]:
        return self.level * decision, np.minimum(1, decision / self.level)

    def _believed_cells(self, announced: FloatArray, step: float) -> tuple[FloatArray, FloatArray]:
        lower, upper = self._cells(announced)
        return np.minimum(lower, announced - step), np.maximum(upper, announced + step)

    def _range(self, d: FloatArray) -> tuple[FloatArray, FloatArray]:
        a = self.level
        # d itself is always inside; said so because 1 - (1 - d) is not always d in floating point.
        lower = np.minimum(d, np.maximum(np.maximum(a * d, 1 - (1 - d) / a), 0))
        upper = np.maximum(d, np.minimum(np.minimum(d / a, 1 - a * (1 - d)), 1))
        return lower, upper


@dataclass(frozen=True, eq=False, slots=True, init=False)
class Ranges(FidelityBounds):
    """Promise a range of its own for every region.

    Parameters
    ----------
    lower, upper
        (n,) ranges of D_1; or (n, 2) ranges of D_0 and D_1, of which the tighter binds; or (n, outcomes) ranges
        of three outcomes and more.

    Raises
    ------
    ValueError
        If the ranges differ in shape, leave [0, 1], or are empty.

    References
    ----------
    Chen, Golubchik, Pal, *Achieving Transparency Report Privacy in Linear Time*, Def. 7 (general fidelity).

    Examples
    --------
    >>> Ranges([[0.2, 0.1]], [[0.6, 0.9]]).allowed([0.5])
    (array([0.4]), array([0.8]))
    """

    lower: FloatArray
    upper: FloatArray

    def __init__(self, lower: ArrayLike, upper: ArrayLike) -> None:
        lo, hi = np.array(lower, dtype=np.float64), np.array(upper, dtype=np.float64)
        if lo.shape != hi.shape or lo.ndim not in (1, 2) or (lo.ndim == 2 and lo.shape[1] < 2):
            raise ValueError("lower and upper need one row for each region, with D_1, or every outcome")
        if not ((lo >= 0) & (hi <= 1)).all():
            raise ValueError("ranges must lie between 0 and 1")
        if lo.ndim == 2 and lo.shape[1] == 2:
            lo, hi = np.maximum(lo[:, 1], 1 - hi[:, 0]), np.minimum(hi[:, 1], 1 - lo[:, 0])
        if not (lo <= hi).all():
            raise ValueError("a range is empty: its lower end lies above its upper end")
        if lo.ndim == 2 and ((lo.sum(axis=1) > 1 + 1e-9) | (hi.sum(axis=1) < 1 - 1e-9)).any():
            raise ValueError("the ranges of a region's outcomes hold no chances that sum to 1")
        object.__setattr__(self, "lower", lo)
        object.__setattr__(self, "upper", hi)

    def of(self, cells: slice) -> Ranges:
        """Give the promise made to some of the regions."""
        return Ranges(self.lower[cells], self.upper[cells])

    def allowed(self, decision: ArrayLike) -> tuple[FloatArray, FloatArray]:
        """Give the (n,) smallest and largest announced D_1 for (n,) or (n, 2) true decisions."""
        d = _rule(decision)
        if d.shape != self.lower.shape:
            raise ValueError(f"there are {len(self.lower)} ranges for {len(d)} regions")
        if ((d < self.lower - 1e-9) | (d > self.upper + 1e-9)).any():
            raise ValueError("a true decision lies outside its range: no announcement could keep the promise")
        return np.minimum(self.lower, d), np.maximum(self.upper, d)

    def allowed_on_grid(self, decision: ArrayLike, *, digits: int) -> tuple[IntArray, IntArray]:
        """Give the allowed range in (n,) units of 10^-digits; within rounding where no grid value is left."""
        return _on_grid(_rule(decision), *self.allowed(decision), digits)

    def believed_range(self, announced: ArrayLike, *, digits: int) -> tuple[FloatArray, FloatArray]:
        """Give the (n,) range of the true D_1: the declared one, outwards to the grid, to hold what is announced."""
        x = _rule(announced)
        if x.shape != self.lower.shape:
            raise ValueError(f"there are {len(self.lower)} ranges for {len(x)} regions")
        scale = 10.0**digits
        lower, upper = np.floor(self.lower * scale + GRID_TOLERANCE), np.ceil(self.upper * scale - GRID_TOLERANCE)
        return lower / scale, upper / scale

    def _cells(self, decision: FloatArray) -> tuple[FloatArray, FloatArray]:
        if decision.shape != self.lower.shape:
            raise ValueError(f"there are ranges {self.lower.shape} for decisions {decision.shape}")
        if ((decision < self.lower - 1e-9) | (decision > self.upper + 1e-9)).any():
            raise ValueError("a true decision lies outside its range: no announcement could keep the promise")
        return np.minimum(self.lower, decision), np.maximum(self.upper, decision)

    def _believed_cells(self, announced: FloatArray, step: float) -> tuple[FloatArray, FloatArray]:
        del step
        if announced.shape != self.lower.shape:
            raise ValueError(f"there are ranges {self.lower.shape} for decisions {announced.shape}")
        return self.lower.copy(), self.upper.copy()


Fidelity = Delta | Alpha | Ranges


def ladder(fidelity: Fidelity) -> tuple[Fidelity, ...]:
    """List the promises to try, strictest first: 0.99, 0.95, 0.9, 0.85, … and last the one given.

    The steps are coarse on purpose: the best level itself depends on the true decisions and would tell of
    them.

    Examples
    --------
    >>> ladder(Delta(0.88))
    (Delta(level=0.99), Delta(level=0.95), Delta(level=0.9), Delta(level=0.88))
    """
    if isinstance(fidelity, Ranges):
        return (fidelity,)
    kind = type(fidelity)
    steps = [0.99, *(percent / 100 for percent in range(95, 0, -5))]
    return (*(kind(step) for step in steps if step > fidelity.level), fidelity)


def _ends(lower: FloatArray, upper: FloatArray, digits: int) -> tuple[FloatArray, FloatArray]:
    """Keep a range between 0 and 1; ends that only floating-point noise keeps from 0 and 1 are 0 and 1."""
    noise = GRID_TOLERANCE * 10.0**-digits
    return np.where(lower < noise, 0.0, lower), np.where(upper > 1 - noise, 1.0, upper)


def _rule(decision: ArrayLike) -> FloatArray:
    d = np.asarray(decision, dtype=np.float64)
    if d.ndim == 2 and d.shape[1] == 2:
        d = d[:, 1]
    if d.ndim != 1:
        raise ValueError("decisions must be one row of D_1, or two columns of D_0 and D_1")
    # Comparisons with NaN, which the extremes pass on, are false.
    if len(d) and not (d.min() >= 0 and d.max() <= 1):
        raise ValueError("decisions must be probabilities between 0 and 1")
    return d


def _on_grid(d: FloatArray, lower: FloatArray, upper: FloatArray, digits: int) -> tuple[IntArray, IntArray]:
    if digits < 0:
        raise ValueError(f"digits must not be negative: {digits}")
    scale = 10**digits
    lo, hi = np.ceil(lower * scale - GRID_TOLERANCE), np.floor(upper * scale + GRID_TOLERANCE)
    missed = lo > hi
    lo = np.where(missed, np.floor(d * scale + GRID_TOLERANCE), lo)
    hi = np.where(missed, np.ceil(d * scale - GRID_TOLERANCE), hi)
    return lo.astype(np.int64), hi.astype(np.int64)
