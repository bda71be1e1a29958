"""Calibrated announcements of groups with three outcomes: rules are tables, cut by one chance at a time."""

from __future__ import annotations

from itertools import product
from math import exp

import numpy as np

from atr.core.arrays import FloatArray, IntArray
from atr.core.tolerances import SAME_VALUE
from atr.mechanisms.calibrated.partition import Cuts, Limits
from atr.mechanisms.calibrated.promise import Promise
from atr.mechanisms.calibrated.readers import MODELS, Model
from atr.mechanisms.calibrated.tables import OUTCOMES, Counted, Tables
from atr.mechanisms.calibrated.two_outcomes import SMALLEST_HALF, windows

MANY = 700.0
"""Logarithm of a number of tables beyond which it is no longer told."""

Counts = tuple[IntArray, IntArray]
"""(m, outcomes) lowest and highest numbers of people."""


class ThreeOutcomes:
    """One group of three outcomes, as the partition sees it; chance 3s + o is that of outcome o in region s.

    Parameters
    ----------
    counts
        (m, 3) people of each region with each outcome.
    promise
        The ceilings.
    steps, least
        Of the grid from chance 0 to 1; whole counts and tables of which each half of a cut holds more.
    earlier
        Lowest and highest counts by earlier reports, oldest first.
    """

    def __init__(self, counts: IntArray, promise: Promise, *, steps: int, least: int, earlier: list[Counts]) -> None:
        self.counts, self.promise = counts, promise
        self.people, self.totals = counts.sum(axis=1), counts.sum(axis=0)
        self.steps, self.least = steps, least
        everybody = (np.zeros_like(counts), np.repeat(self.people[:, None], OUTCOMES, axis=1))
        self.views = [everybody, *windows(earlier)]

    @property
    def start(self) -> Limits:
        """The cell in which nothing is told."""
        chances = self.counts.size
        return Limits(np.zeros(chances, dtype=np.int64), np.full(chances, self.steps, dtype=np.int64))

    def first_count(self, chance: int, limit: int) -> int:
        """Give the smallest number of people at or above a limit; past everybody at the end of the grid."""
        n = int(self.people[chance // OUTCOMES])
        return n + 1 if limit == self.steps else -(-limit * n // self.steps)

    def reaches(self, chance: int, limit: int) -> bool:
        """Whether a true chance is at a limit or above it."""
        return bool(self.counts.flat[chance] >= self.first_count(chance, limit))

    def cuts(self, cell: Limits) -> Cuts:
        """Give the cuts of a cell."""
        return CellTables(self, cell).cuts()

    def exceeded(self, expected: FloatArray) -> bool:
        """Whether (m, 3) expected counts put a reader above the ceiling of any set."""
        return bool(self.promise.exceeded(expected.T, self.totals).any())

    def safe(self, cell: Limits) -> bool:
        """Whether no reader exceeds a ceiling."""
        return not any(self.exceeded(belief.expected) for _, belief in CellTables(self, cell).beliefs())

    def describe(self, cell: Limits) -> tuple[FloatArray, float, dict[str, float], FloatArray]:
        """Say what readers make of a cell.

        Returns
        -------
        (m, 3) expected people of the uniform model; how many tables are left; the largest confidence of each model, and
        of readers of earlier reports where they have a table left; (sets,) the largest of each protected set.
        """
        tables = CellTables(self, cell)
        found: dict[str, float] = {}
        of_sets = np.zeros(self.promise.members.shape[1])
        for reader, belief in tables.beliefs():
            for expected, total in zip(belief.expected.T, self.totals.tolist(), strict=True):
                confidences = self.promise.confidences(expected, total)
                of_sets = np.maximum(of_sets, confidences)
                found[reader] = max(found.get(reader, 0.0), float(confidences.max()))
        return tables.uniform.expected, tables.number, found, of_sets


class CellTables:
    """The tables of a cell as each reader weights them."""

    def __init__(self, group: ThreeOutcomes, cell: Limits) -> None:
        self.group, self.cell = group, cell
        chances = range(len(cell.lower))
        shape = group.counts.shape
        self.lowest = np.array([group.first_count(i, cell.lower[i]) for i in chances]).reshape(shape)
        self.highest = np.array([group.first_count(i, cell.upper[i]) - 1 for i in chances]).reshape(shape)
        bounds = [(np.maximum(self.lowest, low), np.minimum(self.highest, high)) for low, high in group.views]
        self._tables = [Tables.between(group.people, group.totals, *between) for between in bounds]
        self._counted: dict[tuple[int, Model], Counted] = {}

    def counted(self, view: int, model: Model) -> Counted:
        """Give the tables of a view, of which there is one, as a model weights them."""
        tables = self._tables[view]
        assert tables is not None
        if (view, model) not in self._counted:
            self._counted[view, model] = Counted(tables, model)
        return self._counted[view, model]

    def beliefs(self) -> list[tuple[str, Counted]]:
        """Give what each reader who has a table left believes, with the reader's name."""
        left = [view for view, tables in enumerate(self._tables) if tables is not None]
        return [("earlier" if view else model, self.counted(view, model)) for view in left for model in MODELS]

    @property
    def uniform(self) -> Counted:
        """All tables, equally likely."""
        return self.counted(0, "uniform")

    @property
    def number(self) -> float:
        """How many tables there are."""
        return exp(min(self.uniform.log_weight, MANY))

    def cuts(self) -> Cuts:
        """Give the cuts that keep all conditions but safety."""
        ends = zip(self.cell.lower.tolist(), self.cell.upper.tolist(), strict=True)
        inner = [(chance, limit) for chance, (a, b) in enumerate(ends) for limit in range(a + 1, b)]
        gains = [self._gain(*cut) for cut in inner]
        cuts = [cut for cut, gain in zip(inner, gains, strict=True) if gain is not None]
        where = np.array(cuts, dtype=np.int64).reshape(-1, 2)
        return Cuts(
            where[:, 0], where[:, 1], np.array([g for g in gains if g is not None]), lambda i: self._safe(*cuts[i])
        )

    def _gain(self, chance: int, limit: int) -> float | None:
        """Give the gain of a cut; None where a half holds too few counts, tables or weight."""
        s, o = divmod(chance, OUTCOMES)
        count = self.group.first_count(chance, limit)
        if min(count - self.lowest[s, o], self.highest[s, o] - count + 1) <= self.group.least:
            return None
        uniform = self.uniform
        halves = [uniform.share_and_mean(s, o, part) for part in self._parts(uniform.tables, s, o, count)]
        smallest = min(share for share, _ in halves)
        if smallest < SMALLEST_HALF * (1 - SAME_VALUE) or self.number * smallest < self.group.least + 0.5:
            return None
        (p, below), (q, above) = halves
        return float(p * q * ((below - above) / self.group.people[s]) ** 2)

    @staticmethod
    def _parts(tables: Tables, s: int, o: int, count: int) -> tuple[slice, slice]:
        """Positions, above the lowest count of (s, o), of the counts below a count, and of the others."""
        position = max(count - int(tables.lowest[s, o]), 0)
        return slice(0, position), slice(position, None)

    def _safe(self, chance: int, limit: int) -> bool:
        """Whether both halves of a cut are safe for every reader."""
        s, o = divmod(chance, OUTCOMES)
        count = self.group.first_count(chance, limit)
        views = [view for view, tables in enumerate(self._tables) if tables is not None]
        return all(
            not self._half_exceeded(view, model, s, o, count, upper)
            for view, model, upper in product(views, MODELS, (False, True))
        )

    def _half_exceeded(self, view: int, model: Model, s: int, o: int, count: int, upper: bool) -> bool:
        """Whether a reader with a table left in a half exceeds a ceiling there."""
        belief = self.counted(view, model)
        expected = belief.expected_where(s, o, self._parts(belief.tables, s, o, count)[upper])
        if expected is None:
            lowest, highest = belief.tables.lowest.copy(), belief.tables.highest.copy()
            if upper:
                lowest[s, o] = max(lowest[s, o], count)
            else:
                highest[s, o] = min(highest[s, o], count - 1)
            half = Tables.between(self.group.people, self.group.totals, lowest, highest)
            if half is None:
                return False
            expected = Counted(half, model).expected
        return self.group.exceeded(expected)
