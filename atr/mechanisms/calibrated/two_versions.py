"""The reader of two versions of one period, who knows how many people came or went in between.

He counts both at once: in every region people without the positive outcome before, what changed, and with it now. These
are tables with given row and column sums, as those of three outcomes are (:mod:`.tables`), with other weights:

==================  =============================  ==========================================================
region              second column                  weight
==================  =============================  ==========================================================
people came         without it among those         of those before, times that of those who came
people went         with it among those            of those now, times that of those who went
corrected, fewer    who had it and do not now      of those before, times the ways to choose them
corrected, more     all corrected less those of    of those before, times the ways to choose them
                    the region who have it now
==================  =============================  ==========================================================

He takes outcomes for corrected only where nobody came or went, and then no more of them than the totals show.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.special import gammaln

from atr.core.arrays import BoolArray, FloatArray, IntArray, counts_within
from atr.mechanisms.calibrated.ceilings import Ceilings, Total
from atr.mechanisms.calibrated.readers import Belief, Model, log_growth
from atr.mechanisms.calibrated.tables import OUTCOMES, LogWeight, Tables

MOST_SUMS = 2**20
"""Sums of people before and people changed up to which both versions are counted together."""
_WITHOUT_BEFORE, _CHANGED, _WITH_NOW = range(OUTCOMES)


class EarlierVersion:
    """A version before, set beside a group as it is now.

    Parameters
    ----------
    told
        (m, outcomes, 4), as :attr:`Regions.versions` has it.
    total
        People of the group with the positive outcome now.
    ceilings
        Of its protected sets.
    """

    def __init__(self, told: FloatArray, total: int, ceilings: Ceilings) -> None:
        self.now, self.total = ceilings, total
        self.before = told[:, 0, 2].astype(np.int64)
        self.total_before = int(told[0, 0, 3])
        self._complete = self.before.sum() == told[0, :, 3].sum()
        lowest, highest = counts_within(told[..., 0], told[..., 1], self.before)
        self._lowest, self._highest = lowest[:, 0], highest[:, 0]
        came = ceilings.population - self.before
        self.came, self.went, more = came.clip(min=0), (-came).clip(min=0), total - self.total_before
        self.corrected = 0 if came.any() else more
        self._most = np.where(came > 0, came, max(self.corrected, 0))
        self._span = np.where(came != 0, np.abs(came), abs(self.corrected))
        self._sums = np.array([self.before.sum() - self.total_before, self._most.sum() - more, total])
        self._then, self._came, self._went, self._flipped = (
            Ceilings.of(people, ceilings.each, ceilings.sets)
            for people in (self.before, self.came, self.went, np.zeros_like(came))
        )

    @property
    def countable(self) -> bool:
        """Whether both versions can be counted together: nobody then was in a region that is no more, nor too many."""
        return bool(self._complete and (self.before.sum() + 1) * (self._span.sum() + 1) <= MOST_SUMS)

    def belief(self, model: Model, lowest: IntArray, highest: IntArray) -> Belief | None:
        """Give what he believes where (m,) people with the positive outcome now lie between counts."""
        low = np.column_stack([self.before - self._highest, np.zeros_like(lowest), lowest])
        high = np.column_stack([self.before - self._lowest, self._span, highest])
        return _BothVersions.between(model, self.before + self._most, self._sums, low, high, self._log_weight(model))

    def exceeded(self, expected: FloatArray) -> BoolArray:
        """Tell whether (…, 3m) expected people put him above a ceiling: of anybody now, before, or who changed."""
        return np.asarray(np.logical_or.reduce([of.exceeded(k, total) for of, k, total in self._views(expected)]))

    def confidences(self, expected: FloatArray) -> FloatArray:
        """Give how sure he is of each protected set, (sets,), the largest of the same people."""
        return np.asarray(np.max([of.confidences(k, total) for of, k, total in self._views(expected)], axis=0))

    def _views(self, expected: FloatArray) -> Iterator[tuple[Ceilings, FloatArray, Total]]:
        """Give (…, m) expected people with the positive outcome, and their total, among each of some people."""
        without_before, changed, with_now = (expected[..., column::OUTCOMES] for column in range(OUTCOMES))
        yield self.now, with_now, self.total
        yield self._then, self.before - without_before, self.total_before
        more = self._most - changed
        if self.corrected:
            yield self._flipped, more if self.corrected > 0 else changed, abs(self.corrected)
        for of, people in (
            (self._came, np.where(self.came > 0, more, 0.0)),
            (self._went, np.where(self.went > 0, changed, 0.0)),
        ):
            if of.population.any():
                yield of, people, people.sum(axis=-1)

    def _log_weight(self, model: Model) -> LogWeight:
        """Give the logarithm of the weight of a region's row, by its counts in the three columns."""
        factors = np.append(0.0, np.cumsum(log_growth(model, 0, int((self.before + self._most).max()))))

        def of(k: IntArray, n: IntArray) -> FloatArray:
            inside = np.clip(k, 0, n)
            return np.asarray(factors[inside] + factors[n - inside])

        def log_weight(region: int, counts: tuple[IntArray, ...]) -> FloatArray:
            before, now = self.before[region], self.now.population[region]
            without_before, changed, with_now = counts
            if self.went[region]:
                return of(with_now, now) + of(changed, self.went[region])
            if self.came[region] or not self.corrected:
                return of(without_before, before) + of(changed, self.came[region])
            pool = without_before if self.corrected > 0 else before - without_before
            return of(without_before, before) + _log_ways(
                pool, self._most[region] - changed if self.corrected > 0 else changed
            )

        return log_weight


class _BothVersions(Tables):
    """Tables whose third column has people with the positive outcome now, of whom chances are cut."""

    def halves(self, chance: int, counts: IntArray) -> tuple[FloatArray, BoolArray]:
        return super().halves(OUTCOMES * chance + _WITH_NOW, counts)

    def half(self, chance: int, count: int, *, upper: bool) -> _BothVersions | None:
        return super().half(OUTCOMES * chance + _WITH_NOW, count, upper=upper)


def _log_ways(people: IntArray, chosen: IntArray) -> FloatArray:
    """Logarithm of the number of ways to choose some of some people; what cannot be is made possible."""
    inside = np.clip(chosen, 0, people)
    return np.asarray(gammaln(people + 1) - gammaln(inside + 1) - gammaln(people - inside + 1))
