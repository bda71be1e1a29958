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

from atr.core.arrays import BoolArray, FloatArray, IntArray, counts_within
from atr.core.regions import ToldBefore
from atr.mechanisms.calibrated.ceilings import Ceilings, Total
from atr.mechanisms.calibrated.readers import Belief, Model, log_growth
from atr.mechanisms.calibrated.tables import OUTCOMES, LogWeight, Tables, bounds

MOST_SUMS = 2**22
"""People before times people changed times squared regions, up to which both versions are counted together."""
_WITHOUT_BEFORE, _CHANGED, _WITH_NOW = range(OUTCOMES)
_DIGITS = 9
"""Of an expected number of people: what is less is nobody."""


class EarlierVersion:
    """A version before, set beside a group as it is now.

    Parameters
    ----------
    told
        What it told of the group.
    total
        People of the group with the positive outcome now.
    ceilings
        Of its protected sets.
    """

    def __init__(self, told: ToldBefore, total: int, ceilings: Ceilings) -> None:
        self.ceilings, self.before, self.now = ceilings, told.people, ceilings.population
        self.total_before, self.total = int(told.totals[0, 0]), total
        lowest, highest = counts_within(told.limits[..., 0], told.limits[..., 1], self.before)
        self.lowest, self.highest = lowest[:, 0], highest[:, 0]
        change = self.now - self.before
        self.corrected = 0 if change.any() else total - self.total_before
        """How many more have the positive outcome now, where nobody came or went."""
        self._most = np.where(change > 0, change, max(self.corrected, 0))
        """(m,) by how many the people with the positive outcome can have become more in each region."""
        self._span = np.where(change != 0, np.abs(change), abs(self.corrected))
        """(m,) how many people can have changed."""
        self._sums = np.array(
            [self.before.sum() - self.total_before, self._most.sum() - (total - self.total_before), total]
        )
        stayed = np.minimum(self.before, self.now)
        self._stayed, self._came, self._went = (
            self._among(of) for of in (stayed, self.now - stayed, self.before - stayed)
        )
        self._then, self._corrected = self._among(self.before), self._among(np.zeros_like(stayed))

    def _among(self, people: IntArray) -> Ceilings:
        return Ceilings.of(people, self.ceilings.each, self.ceilings.sets)

    @property
    def key(self) -> tuple[bytes | int, ...]:
        """What tells it apart from other versions of the same group."""
        return *(of.tobytes() for of in (self.before, self.lowest, self.highest)), self.total_before

    @property
    def countable(self) -> bool:
        """Whether a table is left, and both versions can be counted together: by what the reader knows alone."""
        sums = (self.before.sum() + 1) * (self._span.sum() + 1) * len(self.before) ** 2
        return bool(sums <= MOST_SUMS) and self._bounds(np.zeros_like(self.now), self.now) is not None

    def _bounds(self, lowest: IntArray, highest: IntArray) -> tuple[IntArray, IntArray] | None:
        low = np.column_stack([self.before - self.highest, np.zeros_like(lowest), lowest])
        high = np.column_stack([self.before - self.lowest, self._span, highest])
        return bounds(self.before + self._most, self._sums, low, high)

    def belief(self, model: Model, lowest: IntArray, highest: IntArray) -> Belief | None:
        """Give what he believes where (m,) people with the positive outcome now lie between counts."""
        found = self._bounds(lowest, highest)
        if found is None:
            return None
        return _BothVersions(model, self.before + self._most, self._sums, *found, self._log_weight(model))

    def exceeded(self, expected: FloatArray) -> BoolArray:
        """Tell whether (…, 3m) expected people put him above a ceiling, of anybody in either version."""
        return np.asarray(np.logical_or.reduce([of.exceeded(k, total) for of, k, total in self._views(expected)]))

    def confidences(self, expected: FloatArray) -> FloatArray:
        """Give how sure he is of each protected set, (sets,), of anybody in either version."""
        return np.asarray(np.max([of.confidences(k, total) for of, k, total in self._views(expected)], axis=0))

    def _views(self, expected: FloatArray) -> Iterator[tuple[Ceilings, FloatArray, Total]]:
        """Give (…, m) expected people with the positive outcome, and their total, of those who stayed, came and went.

        About everybody of one version he is no surer than about these. Where outcomes were corrected, everybody before,
        everybody now, and those who were corrected.
        """
        without_before, changed, now = (expected[..., column::OUTCOMES] for column in range(OUTCOMES))
        before, more = self.before - without_before, self._most - changed
        if self.corrected:
            yield self._then, before, self.total_before
            yield self.ceilings, now, self.total
            yield self._corrected, more if self.corrected > 0 else changed, abs(self.corrected)
            return
        came, went = self._came.population > 0, self._went.population > 0
        for of, people in (
            (self._stayed, np.where(went, now, before)),
            (self._came, np.where(came, more, 0.0)),
            (self._went, np.where(went, changed, 0.0)),
        ):
            yield of, people, np.round(people.sum(axis=-1), _DIGITS)

    def _log_weight(self, model: Model) -> LogWeight:
        """Give the logarithm of the weight of a region's row, by its counts in the three columns."""
        largest = int((self.before + self._most).max())
        models: tuple[Model, Model] = (model, "alike")  # whose weights are the ways to choose, but for a factor
        factors, inverse = (np.append(0.0, np.cumsum(log_growth(of, 0, largest))) for of in models)
        came, went = self._came.population, self._went.population

        def product(log: FloatArray, k: IntArray, n: IntArray) -> FloatArray:
            inside = np.clip(k, 0, n)
            return np.asarray(log[inside] + log[n - inside])

        def log_weight(region: int, counts: tuple[IntArray, ...]) -> FloatArray:
            without_before, changed, now = counts
            if went[region]:
                return product(factors, now, self.now[region]) + product(factors, changed, went[region])
            before = product(factors, without_before, self.before[region])
            if not self.corrected:
                return before + product(factors, changed, came[region])
            chosen, of = changed, self.before[region] - without_before
            if self.corrected > 0:
                chosen, of = self._most[region] - changed, without_before
            return np.asarray(before + product(inverse, chosen, of) - inverse[of])

        return log_weight


class _BothVersions(Tables):
    """Tables whose third column has people with the positive outcome now, of whom chances are cut."""

    def halves(self, chance: int, counts: IntArray) -> tuple[FloatArray, BoolArray]:
        return super().halves(OUTCOMES * chance + _WITH_NOW, counts)

    def half(self, chance: int, count: int, *, upper: bool) -> _BothVersions | None:
        return super().half(OUTCOMES * chance + _WITH_NOW, count, upper=upper)
