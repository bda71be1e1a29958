"""Regions of one QID group side by side: the arrays every measure and mechanism works on."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from atr.core.arrays import FloatArray, IntArray, segment_of
from atr.core.protected import Nested, ProtectedSets
from atr.core.tolerances import PROBABILITY_TOLERANCE


@dataclass(frozen=True, eq=False, slots=True, init=False)
class Groups:
    """Populations and decisions of all regions, the regions of one QID group next to each other.

    Parameters
    ----------
    population
        (n,) people, or shares of people; positive.
    decision
        (n, outcomes) probability, the positive outcome first; every row sums to one. With (n,) there are two outcomes
        and the values are chances of the positive one; the attribute is always (n, outcomes).
    offsets
        (g + 1,) positions: group ``i`` is the regions ``offsets[i]`` to ``offsets[i + 1] - 1``.
    protected_sets
        For each group a list of sets, each a list of positions of regions within the group, or all of them laid out: a
        reader must not become too sure that somebody is in the set. None: every region on its own.
    factors
        For each group one number for each of its sets, by which the ceiling of that set is multiplied; None: 1.
    rate_weights
        (n,) the people whose rates are kept where group rates are exact, if ``population`` is what a reader assumes
        from another source; None: the population.

    Raises
    ------
    ValueError
        If the arrays do not fit each other or hold impossible values.

    Examples
    --------
    >>> card = Groups([12, 5, 3, 9, 7, 4], [0, 0, 1, 0, 0.5, 1], [0, 3, 6])
    >>> card.sums(card.population)
    array([20., 20.])
    >>> card.maxima(card.population)
    array([12.,  9.])
    >>> card.group_of_region
    array([0, 0, 0, 1, 1, 1])
    >>> Groups([12, 5, 3], [0, 0, 1], [0, 3], protected_sets=[[[0, 1], [2]]]).sets.sums(card.population)
    array([17.,  3.])
    """

    population: FloatArray
    decision: FloatArray
    offsets: IntArray
    sets: ProtectedSets | None
    rate_weights: FloatArray | None

    def __init__(
        self,
        population: ArrayLike,
        decision: ArrayLike,
        offsets: ArrayLike,
        protected_sets: Nested | ProtectedSets | None = None,
        factors: Sequence[Sequence[float]] | None = None,
        rate_weights: ArrayLike | None = None,
    ) -> None:
        object.__setattr__(self, "population", _population(population))
        object.__setattr__(self, "decision", _decision(decision, len(self.population)))
        object.__setattr__(self, "offsets", _offsets(offsets, len(self.population)))
        object.__setattr__(self, "sets", _sets(protected_sets, self.offsets, factors))
        object.__setattr__(self, "rate_weights", None if rate_weights is None else _population(rate_weights))
        if self.rate_weights is not None and len(self.rate_weights) != len(self.population):
            raise ValueError(f"rate_weights must have one number for each of the {len(self.population)} regions")
        for array in (self.population, self.decision, self.offsets):
            array.flags.writeable = False

    def __len__(self) -> int:
        """Give the number of groups."""
        return len(self.offsets) - 1

    def with_rates(self, group_rates: str) -> Groups:
        """Give the same groups, without :attr:`rate_weights` where group rates are ``free``."""
        if self.rate_weights is None or group_rates == "exact":
            return self
        free = copy(self)
        object.__setattr__(free, "rate_weights", None)
        return free

    @property
    def outcomes(self) -> int:
        """Number of outcomes."""
        return int(self.decision.shape[1])

    @property
    def sizes(self) -> IntArray:
        """(g,) number of regions of each group."""
        return np.diff(self.offsets)

    @property
    def group_of_region(self) -> IntArray:
        """(n,) the group each region belongs to."""
        return segment_of(self.offsets)

    def sums(self, values: NDArray[Any]) -> NDArray[Any]:
        """Add up (n, …) values of regions within each group: (g, …)."""
        return np.add.reduceat(values, self.offsets[:-1], axis=0)

    def maxima(self, values: NDArray[Any]) -> NDArray[Any]:
        """Take the largest of the (n, …) values of regions within each group: (g, …)."""
        return np.maximum.reduceat(values, self.offsets[:-1], axis=0)


def _population(population: ArrayLike) -> FloatArray:
    p = np.array(population, dtype=np.float64)
    if p.ndim != 1 or len(p) == 0:
        raise ValueError("population must be one row of numbers, one for each region, and not empty")
    # Comparisons with NaN, which the extremes pass on, are false.
    if not (p.min() > 0 and p.max() < np.inf):
        raise ValueError("population must be positive and finite: a region nobody is in does not exist")
    return p


def _decision(decision: ArrayLike, n: int) -> FloatArray:
    D = np.array(decision, dtype=np.float64)
    if D.ndim == 1:
        D = np.column_stack([D, 1 - D])
    if D.ndim != 2 or len(D) != n:
        raise ValueError(f"decision must have one row for each of the {n} regions")
    if D.shape[1] < 2:
        raise ValueError("decision needs at least two outcomes")
    if not (D.min() >= 0 and D.max() <= 1):
        raise ValueError("decision must hold probabilities between 0 and 1")
    if np.abs(D.sum(axis=1) - 1).max() > PROBABILITY_TOLERANCE:
        raise ValueError("the outcome probabilities of every region must sum to 1")
    return D


def _offsets(offsets: ArrayLike, n: int) -> IntArray:
    o = np.array(offsets)
    if o.ndim != 1 or len(o) < 2 or not np.issubdtype(o.dtype, np.integer):
        raise ValueError("offsets must be whole numbers: 0, the end of each group, …")
    if o[0] != 0 or o[-1] != n or (o[1:] <= o[:-1]).any():
        raise ValueError(f"offsets must increase from 0 to {n}, the number of regions; no group may be empty")
    return o.astype(np.int64, copy=False)


def _sets(
    sets: Nested | ProtectedSets | None, offsets: IntArray, factors: Sequence[Sequence[float]] | None
) -> ProtectedSets | None:
    if sets is not None and not isinstance(sets, ProtectedSets):
        return ProtectedSets.of(sets, offsets.tolist(), factors)
    if factors is not None:
        raise ValueError("factors need protected_sets, the lists of sets they are for")
    return sets
