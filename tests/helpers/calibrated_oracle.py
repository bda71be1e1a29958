"""Calibrated announcements by writing down every rule: whole numbers and fractions, for small groups only.

A rule is a table of people (m regions, outcomes) with given row sums and column sums. With two outcomes only the first
one is cut; with three or more every one is.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import product
from math import comb, factorial, prod

import numpy as np

READERS = ("uniform", "extreme", "alike")
SMALLEST_HALF = Fraction(1, 100)

Table = tuple[tuple[int, ...], ...]
Limits = tuple[tuple[tuple[int, int], ...], ...]
"""Grid positions (lower, upper) of every region and outcome."""


def splits(total: int, parts: int) -> Iterator[tuple[int, ...]]:
    """Every way to write a number of people as a sum of so many."""
    if parts == 1:
        yield (total,)
        return
    for first in range(total + 1):
        yield from ((first, *rest) for rest in splits(total - first, parts - 1))


@lru_cache(maxsize=64)
def all_rules(people: tuple[int, ...], totals: tuple[int, ...]) -> np.ndarray:
    """(rules, m, outcomes) every table of people with these row sums and column sums."""

    def tables(region: int, left: tuple[int, ...]) -> Iterator[Table]:
        if region == len(people) - 1:
            if sum(left) == people[region]:
                yield (left,)
            return
        for row in splits(people[region], len(totals)):
            rest = tuple(a - b for a, b in zip(left, row, strict=True))
            if min(rest) >= 0:
                yield from ((row, *others) for others in tables(region + 1, rest))

    return np.array(list(tables(0, totals)), dtype=np.int64).reshape(-1, len(people), len(totals))


def _row_weight(reader: str, row: tuple[int, ...]) -> int:
    if reader == "uniform":
        return 1
    if reader == "extreme":
        return prod(comb(2 * k, k) for k in row)
    return factorial(sum(row)) // prod(factorial(k) for k in row)


def weights(reader: str, rules: np.ndarray) -> np.ndarray:
    """(rules,) exact whole weights of a reader model, as Python numbers."""
    rows = {row: _row_weight(reader, row) for row in {tuple(r) for r in rules.reshape(-1, rules.shape[2]).tolist()}}
    return np.array([prod(rows[tuple(row)] for row in rule) for rule in rules.tolist()], dtype=object)


def lowest(limit: int, people: int, steps: int) -> int:
    """The smallest count of people at or above a limit: the limit times the people, rounded up."""
    return -(-limit * people // steps)


def highest(limit: int, people: int, steps: int) -> int:
    """The largest count below an upper limit; everybody at the end of the scale."""
    return people if limit == steps else lowest(limit, people, steps) - 1


@dataclass(frozen=True)
class OracleCell:
    """A cell of the partition: its limits, its rules, and what readers make of it."""

    limits: Limits
    rules: np.ndarray
    expected: list[list[Fraction]]
    confidence: Fraction

    @property
    def lower(self) -> list[int]:
        """(m,) of the first outcome."""
        return [row[0][0] for row in self.limits]

    @property
    def upper(self) -> list[int]:
        """(m,) of the first outcome."""
        return [row[0][1] for row in self.limits]


class Oracle:
    """One group: numbers of people of its regions and outcomes, and what is promised.

    Parameters
    ----------
    people, totals
        (m,) people of each region, (outcomes,) people with each outcome.
    ceilings, sets
        One ceiling a protected set, or one for all; positions of regions in each set. None: every region on its own.
    earlier
        Oldest first: pairs of tables (m, outcomes) of the lowest and highest counts; or, with two outcomes, of vectors
        (m,) for the first one.
    previous
        (m, outcomes) limits announced last time, or (m,) pairs for the first outcome.
    """

    def __init__(
        self,
        people: Sequence[int],
        totals: Sequence[int],
        *,
        ceilings: Fraction | Sequence[Fraction],
        sets: Sequence[Sequence[int]] | None = None,
        steps: int = 20,
        least: int = 3,
        earlier: Sequence[tuple[Sequence, Sequence]] | None = None,
        previous: Limits | None = None,
    ) -> None:
        self.people, self.totals = tuple(people), tuple(totals)
        self.sets = [[s] for s in range(len(people))] if sets is None else [list(v) for v in sets]
        given = list(ceilings) if isinstance(ceilings, Sequence) else [ceilings] * len(self.sets)
        self.ceilings = [Fraction(c) for c in given]
        self.steps, self.least, self.previous = steps, least, previous
        self.rules = all_rules(self.people, self.totals)
        self.weights = {reader: weights(reader, self.rules) for reader in READERS}
        windows = []
        if earlier:
            newest = [(self._table(low, 0), self._table(high, sum(people))) for low, high in earlier]
            windows = list(newest)
            for run in range(2, len(newest) + 1):
                low = np.maximum.reduce([pair[0] for pair in newest[-run:]])
                windows.append((low, np.minimum.reduce([pair[1] for pair in newest[-run:]])))
        inside = [((low <= self.rules) & (self.rules <= high)).all(axis=(1, 2)) for low, high in windows]
        self.views = [np.ones(len(self.rules), dtype=bool), *inside]

    def _table(self, bound: Sequence, of_the_other: int) -> np.ndarray:
        """(m, outcomes) of a bound; a vector bounds the first of two outcomes alone."""
        array = np.array(bound)
        return array if array.ndim == 2 else np.stack([array, np.full_like(array, of_the_other)], axis=1)

    # ---- readers

    def expected(self, chosen: np.ndarray, reader: str = "uniform") -> list[list[Fraction]]:
        """(m, outcomes) people that a reader expects among the chosen rules."""
        w = self.weights[reader][chosen]
        total = w.sum()
        sums = (w[:, None, None] * self.rules[chosen].astype(object)).sum(axis=0)
        return [[Fraction(int(x), int(total)) for x in row] for row in sums]

    def confidences(self, chosen: np.ndarray, reader: str) -> list[Fraction]:
        """(sets,) largest confidence over outcomes somebody gets."""
        e = self.expected(chosen, reader)
        got = [o for o, total in enumerate(self.totals) if total]
        return [max(sum(e[s][o] for s in v) / self.totals[o] for o in got) for v in self.sets]

    def safe(self, chosen: np.ndarray, views: Sequence[np.ndarray] | None = None) -> bool:
        """No model and no reader of earlier reports exceeds the ceiling of any set."""
        return all(
            all(c <= b for c, b in zip(self.confidences(chosen & view, reader), self.ceilings, strict=True))
            for view in (self.views if views is None else views)
            if (chosen & view).any()
            for reader in READERS
        )

    def confidence(self, chosen: np.ndarray) -> Fraction:
        """Largest over all readers who have a rule left."""
        views = [view for view in self.views if (chosen & view).any()]
        return max(max(self.confidences(chosen & view, reader)) for view in views for reader in READERS)

    # ---- the partition

    @property
    def start(self) -> Limits:
        """No region told anything."""
        return tuple(tuple((0, self.steps) for _ in self.totals) for _ in self.people)

    def inside(self, limits: Limits) -> np.ndarray:
        """(rules,) whether a rule lies in the cell."""
        low = [[lowest(a, n, self.steps) for a, _ in row] for row, n in zip(limits, self.people, strict=True)]
        high = [[highest(b, n, self.steps) for _, b in row] for row, n in zip(limits, self.people, strict=True)]
        return ((np.array(low) <= self.rules) & (self.rules <= np.array(high))).all(axis=(1, 2))

    def halves(self, limits: Limits, s: int, o: int, c: int) -> tuple[Limits, Limits]:
        """The cell below and above a limit."""

        def put(pair: tuple[int, int]) -> Limits:
            rows = [list(row) for row in limits]
            rows[s][o] = pair
            return tuple(tuple(row) for row in rows)

        a, b = limits[s][o]
        return put((a, c)), put((c, b))

    def cuts(self, limits: Limits, *, old: bool) -> list[tuple[float, int, int, int]]:
        """Allowed cuts (gain, s, o, c), best first; ``old``: only those at the limits announced last time."""
        found = []
        outcomes = range(1 if len(self.totals) == 2 else len(self.totals))
        cell = self.inside(limits)
        for s, o in product(range(len(self.people)), outcomes):
            a, b = limits[s][o]
            for c in range(a + 1, b):
                if old and c not in self._previous(s, o):
                    continue
                gain = self._gain(cell, limits, s, o, c)
                if gain is not None:
                    found.append((gain, s, o, c))
        return sorted(found, key=lambda cut: (-cut[0], *cut[1:]))

    def _previous(self, s: int, o: int) -> tuple[int, int]:
        assert self.previous is not None
        row = self.previous[s]
        return tuple(row[o]) if isinstance(row[0], Sequence) else tuple(row)

    def _gain(self, cell: np.ndarray, limits: Limits, s: int, o: int, c: int) -> float | None:
        n = self.people[s]
        parts = self.halves(limits, s, o, c)
        counts = [highest(p[s][o][1], n, self.steps) - lowest(p[s][o][0], n, self.steps) + 1 for p in parts]
        chosen = [self.inside(p) for p in parts]
        number, all_of = [int(h.sum()) for h in chosen], int(cell.sum())
        if min(counts) <= self.least or min(number) <= self.least or min(number) < SMALLEST_HALF * all_of:
            return None
        if not all(self.safe(h) for h in chosen):
            return None
        low, high = (Fraction(int(self.rules[h, s, o].sum()), k) for h, k in zip(chosen, number, strict=True))
        gain = Fraction(number[0] * number[1], all_of**2) * (low - high) ** 2 / n**2
        return float(f"{float(gain):.8e}")

    @property
    def stopped_by_earlier(self) -> bool:
        """A reader of earlier reports is above the ceiling before any cut."""
        return not self.safe(self.inside(self.start))

    def cells(self) -> list[Limits]:
        """The whole public partition, of one group and these totals."""
        if self.stopped_by_earlier:
            return [self.start]
        done: list[Limits] = []
        todo = [(self.start, self.previous is not None)]
        while todo:
            limits, sticky = todo.pop()
            if sticky and self._reached(limits):
                sticky = False
            cuts = self.cuts(limits, old=sticky)
            if cuts:
                todo += [(half, sticky) for half in self.halves(limits, *cuts[0][1:])]
            else:
                done.append(limits)
        return done

    def _reached(self, limits: Limits) -> bool:
        outcomes = range(1 if len(self.totals) == 2 else len(self.totals))
        return all(limits[s][o] == self._previous(s, o) for s in range(len(self.people)) for o in outcomes)

    def describe(self, limits: Limits) -> OracleCell:
        """What readers make of one cell."""
        chosen = self.inside(limits)
        return OracleCell(limits, self.rules[chosen], self.expected(chosen), self.confidence(chosen))

    def announced(self, counts: Sequence) -> OracleCell | None:
        """The cell of the partition that holds the truth: (m, outcomes) counts, or (m,) of the first of two."""
        if not announceable(self.people, len(self.totals), self.ceilings, self.sets):
            return None
        limits, sticky = self.start, self.previous is not None
        table = np.array(counts)
        if table.ndim == 1:
            table = np.stack([table, np.array(self.people) - table], axis=1)
        truth = (self.rules == table).all(axis=(1, 2))
        while not self.stopped_by_earlier:
            if sticky and self._reached(limits):
                sticky = False
            cuts = self.cuts(limits, old=sticky)
            if not cuts:
                break
            limits = next(h for h in self.halves(limits, *cuts[0][1:]) if (self.inside(h) & truth).any())
        return self.describe(limits)


def announceable(
    people: Sequence[int], outcomes: int, ceilings: Sequence[Fraction], sets: Sequence[Sequence[int]]
) -> bool:
    """Numbers of people alone, whatever the totals of the outcomes: no model exceeds a ceiling."""
    for totals in splits(sum(people), outcomes):
        group = Oracle(people, totals, ceilings=list(ceilings), sets=sets)
        if not group.safe(np.ones(len(group.rules), dtype=bool)):
            return False
    return True
