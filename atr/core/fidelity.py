"""What an announcement promises about the truth, and what a reader may conclude from it.

A promise gives every chance of every outcome a range. Of two outcomes both bind: a promise on D_1 and on D_0 = 1 - D_1
becomes one range of D_1 and its mirror. Of more, a range is what is promised of that chance alone; that the chances of
a region sum to one is left to whoever chooses them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike

from atr.core.arrays import BoolArray, FloatArray, IntArray
from atr.core.tolerances import GRID_TOLERANCE, PROBABILITY_TOLERANCE

_Ends = tuple[FloatArray, FloatArray]
Objective = Literal["privacy", "fidelity"]
"""As private as can be at the fidelity that is demanded, or as faithful as the ceiling allows."""


class Fidelity(ABC):
    """A promise about announced chances; all arrays are (n, outcomes), the positive outcome first."""

    __slots__ = ()
    kind: ClassVar[str]
    """What it is called in a programme file and in a report."""

    level: float | None
    """δ or α; None where every region has a range of its own."""

    @property
    def limits(self) -> FloatArray | None:
        """(n, outcomes, 2) the range of each chance; None where one level is promised of all."""
        return None

    def of(self, regions: slice | BoolArray) -> Fidelity:
        """Give the promise made of some of the regions."""
        return self

    def allowed(self, decision: ArrayLike) -> _Ends:
        """Give the smallest and the largest chances that may be announced.

        Parameters
        ----------
        decision
            (n, outcomes) true probability.

        Returns
        -------
        (n, outcomes) each, the truth inside.

        Raises
        ------
        ValueError
            If the decision is not (n, outcomes) probability, or does not fit the promise.

        References
        ----------
        Chen, Golubchik, Pal, *Achieving Transparency Report Privacy in Linear Time*, Def. 5 to 7.
        """
        return self._range(_probabilities(decision))

    def allowed_on_grid(self, decision: ArrayLike, *, digits: int) -> tuple[IntArray, IntArray]:
        """Give the smallest and the largest grid values that may be announced.

        Where the promise leaves a chance, or a region as a whole, no grid value, it becomes "within rounding".

        Parameters
        ----------
        decision
            (n, outcomes) true probability.
        digits
            Decimal digits of announced chances, at least 0.

        Returns
        -------
        (n, outcomes) each, whole numbers in units of 10^-digits.

        Raises
        ------
        ValueError
            If digits are negative, or the decision is not (n, outcomes) probability or does not fit the promise.
        """
        if digits < 0:
            raise ValueError(f"digits must not be negative: {digits}")
        D, scale = _probabilities(decision), 10**digits
        lower, upper = self._range(D)
        below, above = np.floor(D * scale + GRID_TOLERANCE), np.ceil(D * scale - GRID_TOLERANCE)
        lo, hi = np.ceil(lower * scale - GRID_TOLERANCE), np.floor(upper * scale + GRID_TOLERANCE)
        missed = lo > hi
        lo, hi = np.where(missed, below, lo), np.where(missed, above, hi)
        astray = ((lo.sum(axis=1) > scale) | (hi.sum(axis=1) < scale))[:, None]
        lo, hi = np.where(astray, np.minimum(lo, below), lo), np.where(astray, np.maximum(hi, above), hi)
        return lo.astype(np.int64), hi.astype(np.int64)

    def believed(self, announced: ArrayLike, *, digits: int) -> _Ends:
        """Give the range that the true chance behind each announced one can lie in.

        Parameters
        ----------
        announced
            (n, outcomes) announced probability, grid values.
        digits
            Decimal digits of these.

        Returns
        -------
        Lower and upper ends, (n, outcomes) probability each.

        Raises
        ------
        ValueError
            If the announcement is not (n, outcomes) probability, or does not fit the promise.
        """
        step = 10.0**-digits
        lower, upper = self._left_open(_probabilities(announced), step)
        noise = GRID_TOLERANCE * step
        return np.where(lower < noise, 0.0, lower), np.where(upper > 1 - noise, 1.0, upper)

    def largest_change(self, digits: int) -> float | None:
        """Give the largest difference of a printed chance from the true one, probability; None: none is promised."""
        return None

    @abstractmethod
    def _range(self, decision: FloatArray) -> _Ends:
        """Give the range of what may be announced."""

    @abstractmethod
    def _left_open(self, announced: FloatArray, step: float) -> _Ends:
        """Give the range of what may be true, by the promise or by a grid of this step."""


@dataclass(frozen=True, slots=True)
class Delta(Fidelity):
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
    >>> lower, upper = Delta(0.75).allowed([[0, 1], [0.5, 0.5]])
    >>> lower.tolist(), upper.tolist()
    ([[0.0, 0.75], [0.25, 0.25]], [[0.25, 1.0], [0.75, 0.75]])
    """

    level: float
    kind: ClassVar[str] = "delta"

    def __post_init__(self) -> None:
        if not 0 <= self.level <= 1:
            raise ValueError(f"delta must be between 0 and 1, not {self.level}")

    def largest_change(self, digits: int) -> float:
        """Give the largest difference of a printed chance from the true one, probability: 1 - δ, or a grid step."""
        return round(self._reach(10.0**-digits, outcomes=2), 9)

    def _reach(self, step: float, *, outcomes: int) -> float:
        # A range narrower than a grid step may have missed the grid: then it is rounding that bounds. Of three
        # outcomes, so may ranges that are wider, where no grid values in them sum to one.
        width = 2 * (1 - self.level) if outcomes == 2 else 1 - self.level
        return step if width < step * (1 - 2 * GRID_TOLERANCE) else 1 - self.level

    def _range(self, decision: FloatArray) -> _Ends:
        reach = 1 - self.level
        return _tightened(np.maximum(decision - reach, 0), np.minimum(decision + reach, 1), symmetric=True)

    def _left_open(self, announced: FloatArray, step: float) -> _Ends:
        reach = self._reach(step, outcomes=announced.shape[1])
        return _tightened(announced - reach, announced + reach, symmetric=True)


@dataclass(frozen=True, slots=True)
class Alpha(Fidelity):
    """Promise that no chance, of any outcome, is moved by a factor beyond α to 1/α.

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
    >>> lower, upper = Alpha(0.5).allowed([[0, 1], [0.75, 0.25]])
    >>> lower.tolist(), upper.tolist()
    ([[0.0, 1.0], [0.5, 0.125]], [[0.0, 1.0], [0.875, 0.5]])
    """

    level: float
    kind: ClassVar[str] = "alpha"

    def __post_init__(self) -> None:
        if not 0 < self.level <= 1:
            raise ValueError(f"alpha must be above 0 and at most 1, not {self.level}")

    def _range(self, decision: FloatArray) -> _Ends:
        lower, upper = _tightened(self.level * decision, np.minimum(1, decision / self.level))
        # The truth is always inside; said so because 1 - (1 - d) is not always d in floating point.
        return np.minimum(lower, decision), np.maximum(upper, decision)

    def _left_open(self, announced: FloatArray, step: float) -> _Ends:
        lower, upper = self._range(announced)
        return np.minimum(lower, announced - step), np.maximum(upper, announced + step)


@dataclass(frozen=True, eq=False, slots=True, init=False)
class Ranges(Fidelity):
    """Promise a range of its own for every region.

    Parameters
    ----------
    lower, upper
        (n, outcomes) ranges of every chance; of two outcomes the tighter binds. Or (n,) ranges of the positive one of
        two outcomes.

    Raises
    ------
    ValueError
        If the ranges differ in shape, leave [0, 1], or are empty.

    References
    ----------
    Chen, Golubchik, Pal, *Achieving Transparency Report Privacy in Linear Time*, Def. 7 (general fidelity).

    Examples
    --------
    >>> lower, upper = Ranges([[0.1, 0.2]], [[0.9, 0.6]]).allowed([[0.5, 0.5]])
    >>> lower.round(4), upper.round(4)
    (array([[0.4, 0.2]]), array([[0.8, 0.6]]))
    """

    lower: FloatArray
    upper: FloatArray
    level: None = field(default=None, init=False)
    kind: ClassVar[str] = "ranges"

    def __init__(self, lower: ArrayLike, upper: ArrayLike) -> None:
        lo, hi = np.array(lower, dtype=np.float64), np.array(upper, dtype=np.float64)
        if lo.shape != hi.shape or lo.ndim not in (1, 2) or (lo.ndim == 2 and lo.shape[1] < 2):
            raise ValueError("lower and upper need one row for each region, with D_1, or every outcome")
        if not ((lo >= 0) & (hi <= 1)).all():
            raise ValueError("ranges must lie between 0 and 1")
        positive_only = lo.ndim == 1
        if positive_only:
            lo, hi = np.column_stack([lo, 1 - hi]), np.column_stack([hi, 1 - lo])
        lo, hi = _tightened(lo, hi, symmetric=positive_only)
        if not (lo <= hi).all():
            raise ValueError("a range is empty: its lower end lies above its upper end")
        if ((lo.sum(axis=1) > 1 + PROBABILITY_TOLERANCE) | (hi.sum(axis=1) < 1 - PROBABILITY_TOLERANCE)).any():
            raise ValueError("the ranges of a region's outcomes hold no chances that sum to 1")
        for name, value in (("lower", lo), ("upper", hi), ("level", None)):
            object.__setattr__(self, name, value)

    @property
    def limits(self) -> FloatArray:
        """(n, outcomes, 2) the range of each chance."""
        return np.stack([self.lower, self.upper], axis=2)

    @classmethod
    def within(cls, limits: FloatArray) -> Self:
        """Make the promise again from (n, outcomes, 2) :attr:`limits`."""
        outcomes = 0 if limits.shape[1] == 2 else slice(None)
        return cls(limits[:, outcomes, 0], limits[:, outcomes, 1])

    def of(self, regions: slice | BoolArray) -> Self:
        """Give the promise made of some of the regions."""
        return self.within(self.limits[regions])

    def _range(self, decision: FloatArray) -> _Ends:
        self._require(decision)
        if ((decision < self.lower - PROBABILITY_TOLERANCE) | (decision > self.upper + PROBABILITY_TOLERANCE)).any():
            raise ValueError("a true decision lies outside its range: no announcement could keep the promise")
        return np.minimum(self.lower, decision), np.maximum(self.upper, decision)

    def _left_open(self, announced: FloatArray, step: float) -> _Ends:
        """Outwards to the grid, to hold what is announced."""
        self._require(announced)
        scale = round(1 / step)
        lower = np.floor(self.lower * scale + GRID_TOLERANCE) / scale
        return _tightened(lower, np.ceil(self.upper * scale - GRID_TOLERANCE) / scale, symmetric=True)

    def _require(self, mapping: FloatArray) -> None:
        if mapping.shape != self.lower.shape:
            raise ValueError(f"there are ranges {self.lower.shape} for chances {mapping.shape}")


class Limits(Ranges):
    """Tell of every region the limits that its true chances lie between, from 0 to 1 where nothing is told."""

    kind: ClassVar[str] = "limits"


def ladder(fidelity: Fidelity) -> tuple[Fidelity, ...]:
    """List the promises to try, strictest first: 0.99, 0.95, 0.9, 0.85, … and last the one given.

    The steps are coarse on purpose: the best level itself depends on the true decisions and would tell of them.

    Parameters
    ----------
    fidelity
        The lowest promise to try.

    Returns
    -------
    Promises of the same kind; only the one given where every region has a range of its own.

    Examples
    --------
    >>> ladder(Delta(0.88))
    (Delta(level=0.99), Delta(level=0.95), Delta(level=0.9), Delta(level=0.88))
    """
    if not isinstance(fidelity, Delta | Alpha):
        return (fidelity,)
    kind = type(fidelity)
    steps = [0.99, *(percent / 100 for percent in range(95, 0, -5))]
    return (*(kind(step) for step in steps if step > fidelity.level), fidelity)


def promises(fidelity: Fidelity, objective: Objective) -> tuple[Fidelity, ...]:
    """List the promises that a policy allows, strictest first.

    Parameters
    ----------
    fidelity
        What the policy demands.
    objective
        ``privacy``: what is demanded is promised. ``fidelity``: the strictest of the :func:`ladder` that can be kept.
    """
    return ladder(fidelity) if objective == "fidelity" else (fidelity,)


def _tightened(lower: FloatArray, upper: FloatArray, *, symmetric: bool = False) -> _Ends:
    """Make the range of the second of two outcomes the mirror of the first one's, which both bind unless symmetric."""
    if lower.shape[1] != 2:
        return lower, upper
    first, last = lower[:, 0], upper[:, 0]
    if not symmetric:
        first, last = np.maximum(first, 1 - upper[:, 1]), np.minimum(last, 1 - lower[:, 1])
    return np.column_stack([first, 1 - last]), np.column_stack([last, 1 - first])


def _probabilities(mapping: ArrayLike) -> FloatArray:
    D = np.asarray(mapping, dtype=np.float64)
    if D.ndim != 2 or D.shape[1] < 2:
        raise ValueError("decisions must have one column for each outcome")
    # Comparisons with NaN, which the extremes pass on, are false.
    if len(D) and not (D.min() >= 0 and D.max() <= 1):
        raise ValueError("decisions must be probabilities between 0 and 1")
    return D
