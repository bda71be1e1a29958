"""What is announced of a group, whatever its number of outcomes.

=========================  ===================================================================================
outcomes, people           limits
=========================  ===================================================================================
two                        of the positive outcome; those of the other mirror them
three, up to EXACT_PEOPLE  of every outcome
more outcomes or people    of the positive outcome; others as the totals of the group, for a *named reader*: to
                           whom the secret plays no part among them
=========================  ===================================================================================
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from atr.core.arrays import FloatArray, IntArray
from atr.core.tolerances import MISSED_STEPS
from atr.mechanisms.calibrated import every_table, every_total
from atr.mechanisms.calibrated.cell import Cell
from atr.mechanisms.calibrated.partition import Limits, split
from atr.mechanisms.calibrated.promise import Promise, Sets
from atr.mechanisms.calibrated.tables import OUTCOMES
from atr.mechanisms.calibrated.three_outcomes import ThreeOutcomes
from atr.mechanisms.calibrated.two_outcomes import announce, expected_at_start

EXACT_PEOPLE = 1000
"""Most people of a group whose tables of three outcomes are counted; it depends on numbers of people alone."""


@dataclass(frozen=True, eq=False, slots=True)
class Announced:
    """Limits of the chances of a group's regions, and what readers make of them. Public, but for being a group's own.

    Attributes
    ----------
    limits
        (m, outcomes, 2) ends of every chance, in steps of the grid; 0 and ``steps`` where nothing is told.
    expected
        (m, outcomes) people that a reader of the uniform model expects; the named one, where he is.
    confidence
        The largest over all readers.
    by_reader
        The largest of each reader: uniform, extreme, alike, and earlier where a reader of earlier reports has a rule
        left.
    of_sets
        (sets,) the largest of each protected set over all readers.
    rules
        How many rules are left.
    steps
        Of the grid, from chance 0 to 1.
    stopped_by_earlier
        A reader of earlier reports is above the ceiling by numbers of people and rates alone: nothing was cut.
    named_reader
        The promise is to readers to whom the secret plays no part among outcomes other than the positive one.
    """

    limits: IntArray
    expected: FloatArray
    confidence: float
    by_reader: dict[str, float]
    of_sets: FloatArray
    rules: float
    steps: int
    stopped_by_earlier: bool
    named_reader: bool

    @property
    def told(self) -> bool:
        """Whether any chance has limits."""
        return bool((self.limits != [0, self.steps]).any())


def solve_group(
    counts: IntArray,
    *,
    ceilings: float | Sequence[float],
    sets: Sets | None = None,
    steps: int = 20,
    least: int = 3,
    earlier: Sequence[FloatArray] = (),
    previous: IntArray | None = None,
) -> Announced | None:
    """Find what to announce of one group.

    Parameters
    ----------
    counts
        (m, outcomes) people of each region with each outcome, the positive one first; somebody in every region.
    ceilings
        Of every protected set, or one for each.
    sets
        Protected sets, each a list of positions of regions; None: every region on its own.
    steps
        Of the grid of limits, from chance 0 to 1.
    least
        Each half of a cut has more whole counts of its region, and more rules.
    earlier
        What earlier reports tell, oldest first: (m, outcomes, 2) lowest and highest chances, both ends included.
    previous
        (m, outcomes, 2) limits announced last time, on the same grid.

    Returns
    -------
    Announced | None
        None where numbers of people alone tell too much: the group may not be announced.
    """
    people = counts.sum(axis=1)
    told = [_counts_within(chances, people) for chances in earlier]
    if not group_announceable(people, counts.shape[1], ceilings=ceilings, sets=sets):
        return None
    if counts.shape[1] == OUTCOMES and people.sum() <= EXACT_PEOPLE:
        promise = Promise.of(people, ceilings, sets)
        return _of_tables(ThreeOutcomes(counts, promise, steps=steps, least=least, earlier=told), previous)
    cell = announce(
        people,
        counts[:, 0],
        max_confidence=ceilings,
        steps=steps,
        least=least,
        sets=sets,
        earlier=[(low[:, 0], high[:, 0]) for low, high in told],
        previous=None if previous is None else (previous[:, 0, 0], previous[:, 0, 1]),
    )
    return None if cell is None else _of_positive(cell, counts)


def group_announceable(
    population: ArrayLike, outcomes: int, *, ceilings: float | Sequence[float], sets: Sets | None = None
) -> bool:
    """Tell whether (m,) people and totals alone leave every reader at or below every ceiling, whatever the totals."""
    if outcomes == OUTCOMES and np.sum(population) <= EXACT_PEOPLE:
        return every_table.announceable(population, ceilings=ceilings, sets=sets)
    return every_total.announceable(population, ceilings=ceilings, sets=sets)


def prior_confidences(counts: IntArray, *, ceilings: float | Sequence[float], sets: Sets | None = None) -> FloatArray:
    """Give how sure the surest reader is of each protected set, (sets,), by people and rates alone."""
    people, totals = counts.sum(axis=1), counts.sum(axis=0)
    promise = Promise.of(people, ceilings, sets)
    if len(totals) == OUTCOMES and people.sum() <= EXACT_PEOPLE:
        group = ThreeOutcomes(counts, promise, steps=1, least=0, earlier=[])
        return np.asarray(group.describe(group.start)[-1])
    told = expected_at_start(people, int(totals[0]))
    return np.asarray(np.max([promise.confidences(expected, int(totals[0])) for expected in told], axis=0))


def _of_tables(group: ThreeOutcomes, previous: IntArray | None) -> Announced:
    """Cut the tables of three outcomes."""
    last = None if previous is None else Limits(previous[..., 0].ravel(), previous[..., 1].ravel())
    stopped = len(group.views) > 1 and not group.safe(group.start)
    cell = group.start if stopped else split(group, group.start, last)
    expected, rules, by_reader, of_sets = group.describe(cell)
    return Announced(
        limits=np.stack([cell.lower, cell.upper], axis=1).reshape(*group.counts.shape, 2),
        expected=expected,
        confidence=max(by_reader.values()),
        by_reader=by_reader,
        of_sets=of_sets,
        rules=rules,
        steps=group.steps,
        stopped_by_earlier=stopped,
        named_reader=False,
    )


def _of_positive(cell: Cell, counts: IntArray) -> Announced:
    """Lay out the limits of the positive outcome as those of all.

    Of two outcomes, one has exactly the people whom the other has not. Of more, no other outcome can have more; and the
    named reader expects of those without the positive outcome the same shares of the others in every region.
    """
    population, totals = counts.sum(axis=1), counts.sum(axis=0)
    others = counts.shape[1] - 1
    limits = np.empty((*counts.shape, 2), dtype=np.int64)
    limits[:, 0] = np.stack([cell.lower, cell.upper], axis=1)
    limits[:, 1:, 0] = (cell.steps - cell.upper)[:, None] if others == 1 else 0
    limits[:, 1:, 1] = (cell.steps - cell.lower)[:, None]
    rest = population - cell.expected
    return Announced(
        limits=limits,
        expected=np.column_stack([cell.expected, np.outer(rest, totals[1:] / max(totals[1:].sum(), 1))]),
        confidence=cell.confidence,
        by_reader=cell.by_reader,
        of_sets=cell.of_sets,
        rules=cell.rules,
        steps=cell.steps,
        stopped_by_earlier=cell.stopped_by_earlier,
        named_reader=others > 1,
    )


def _counts_within(chances: FloatArray, population: IntArray) -> tuple[IntArray, IntArray]:
    """Give (m, outcomes) lowest and highest counts within (m, outcomes, 2) chances, as tight as each other allows."""
    people = population[:, None]
    low = np.ceil(chances[..., 0] * people - MISSED_STEPS).astype(np.int64)
    high = np.floor(chances[..., 1] * people + MISSED_STEPS).astype(np.int64)
    return (
        np.maximum(low, people - (high.sum(axis=1, keepdims=True) - high)),
        np.minimum(high, people - (low.sum(axis=1, keepdims=True) - low)),
    )
