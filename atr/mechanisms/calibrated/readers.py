"""What readers believe about a rule before they see limits: three models of the weight of k of n people.

============  =============================  ===========================================================
name          weight of k of n               who that is
============  =============================  ===========================================================
uniform       1                              thinks every chance equally likely in every region
extreme       C(2k, k) · C(2(n - k), n - k)  expects chances near 0 or 1
alike         C(n, k)                        expects the secret to play no part
============  =============================  ===========================================================

The weight of a rule is the product over its regions, and only ratios of weights count. Every weight is f(k) · f(n - k)
with one f a model; of several outcomes the weight is the product of the f of their counts.
"""

from __future__ import annotations

import math
import sys
from abc import ABC, abstractmethod
from collections.abc import Sequence
from itertools import accumulate
from operator import mul
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from atr.core.arrays import BoolArray, FloatArray, IntArray

Model = Literal["uniform", "extreme", "alike"]
MODELS: tuple[Model, ...] = ("uniform", "extreme", "alike")


class Belief(ABC):
    """The rules that a reader thinks possible, weighted by a model; there is at least one.

    Attributes
    ----------
    model
        Whose weights.
    lowest, highest
        (q,) people with the outcome of each chance: of a region, or of a region and an outcome, region by region.
    """

    model: Model
    lowest: IntArray
    highest: IntArray

    @property
    @abstractmethod
    def expected(self) -> FloatArray:
        """(q,) people that the reader expects."""

    @property
    @abstractmethod
    def rules(self) -> float:
        """How many rules there are, if the model is uniform."""

    @abstractmethod
    def weights(self, chance: int) -> tuple[int, FloatArray]:
        """Give the first count of a chance, and the weight of the rules with each count from there."""

    @abstractmethod
    def halves(self, chance: int, counts: IntArray) -> tuple[FloatArray, BoolArray]:
        """Give what the reader expects of the rules below, and at or above, (c,) counts of a chance.

        Returns
        -------
        tuple[FloatArray, BoolArray]
            (2, c, q) people; (2, c) whether they are exact: where not, :meth:`half` says whether there is any rule.
        """

    @abstractmethod
    def within(self, lowest: IntArray, highest: IntArray) -> Self | None:
        """Give the rules within other (q,) bounds; None where there is none, which whole numbers decide."""

    def half(self, chance: int, count: int, *, upper: bool) -> Self | None:
        """Give the rules at or above a count of a chance, or those below it."""
        lowest, highest = self.lowest.copy(), self.highest.copy()
        if upper:
            lowest[chance] = max(lowest[chance], count)
        else:
            highest[chance] = min(highest[chance], count - 1)
        return self.within(lowest, highest)

    def weight_and_mean(self, chance: int, counts: IntArray) -> tuple[FloatArray, FloatArray]:
        """Give the weight of the rules below, and at or above, (c,) counts of a chance, and its mean there: (2, c)."""
        first, weights = self.weights(chance)
        people = first + np.arange(len(weights))
        weight, counted = below_and_above(first, np.column_stack([weights, weights * people]), counts).transpose(
            2, 0, 1
        )
        return weight, np.divide(counted, weight, out=np.zeros_like(weight), where=weight > 0)


def below_and_above(first: int, sums: FloatArray, counts: IntArray) -> FloatArray:
    """Add up sums by count, (counts, …) from ``first`` on, below and at or above (c,) counts: (2, c, …)."""
    nothing = np.zeros_like(sums[:1])
    below = np.concatenate([nothing, np.cumsum(sums, axis=0)])
    above = np.concatenate([np.cumsum(sums[::-1], axis=0)[::-1], nothing])
    at = np.clip(counts - first, 0, len(sums))
    return np.stack([below[at], above[at]])


def products_of_others(factors: Sequence[NDArray[Any]] | NDArray[Any]) -> list[NDArray[Any]]:
    """Give, for each of some arrays, the product of all others.

    >>> products_of_others(np.array([[2.0], [3.0], [5.0]]))
    [array([15.]), array([10.]), array([6.])]
    """
    one = np.ones_like(factors[0])
    before = accumulate(factors[:-1], mul, initial=one)
    after = [*accumulate(factors[:0:-1], mul, initial=one)]
    return [left * right for left, right in zip(before, reversed(after), strict=True)]


def number_by(logarithm: float) -> float:
    """Give a number of rules by its logarithm; the largest number that a machine has in place of a larger one."""
    return math.exp(min(logarithm, math.log(sys.float_info.max)))


def log_growth(model: Model, first: int, end: int) -> FloatArray:
    """Give log f(k + 1) - log f(k) of a model for k from ``first`` to ``end`` - 1: 1, C(2k, k) / 4^k or 1 / k!.

    >>> np.exp(log_growth("extreme", 0, 3))
    array([0.5       , 0.75      , 0.83333333])
    """
    k = np.arange(first, end, dtype=np.float64)
    if model == "uniform":
        return np.zeros(len(k))
    return np.log1p(-0.5 / (k + 1)) if model == "extreme" else -np.log(k + 1)


def log_ratios(model: Model, people: int, lowest: int, highest: int) -> FloatArray:
    """Give (highest - lowest,) logarithms of the weight of k + 1 of n over that of k, for k from ``lowest`` on.

    >>> np.exp(log_ratios("alike", 4, 0, 4))
    array([4.        , 1.5       , 0.66666667, 0.25      ])
    """
    rise = log_growth(model, lowest, highest)
    fall: FloatArray = log_growth(model, people - highest, people - lowest)[::-1]
    return rise - fall
