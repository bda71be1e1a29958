"""The decision regions that a report announces, as cells: people, chances, and what is known of the true chances."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any, Generic, TypeVar

import numpy as np

from atr.core.arrays import (
    BestKnownPopulation,
    FloatArray,
    IntArray,
    PublishedPopulation,
    segment_of,
)
from atr.core.tolerances import SAME_PEOPLE

Chances = TypeVar("Chances", bound=FloatArray)
"""A :class:`TrueMapping` or an :class:`AnnouncedMapping`, never a mixture."""
Outcomes = frozenset[int]
"""Positions of outcomes; the positive one is 0."""


@dataclass(frozen=True)
class Cells(Generic[Chances]):
    """The regions of the announced groups with a mapping: announced for a report, true for the dossier.

    Parameters
    ----------
    people
        (n,) people: as counted, or as published where a reader of the report knows no more.
    chance
        (n, outcomes) probability, the positive outcome first.
    lower, upper
        (n, outcomes) bounds of the true probabilities.
    offsets
        (g + 1,) where each QID group starts.
    published
        (n,) people as published.
    totals
        (outcomes, g, 2) bounds of the people of each group with an outcome; None where group rates are not told.
    half
        (g,) how far the rate of an outcome that a group's chances give may be from the true one, probability; None: not
        at all.
    rounding
        What totals of people are rounded to, each for itself.
    """

    people: BestKnownPopulation
    chance: Chances
    lower: FloatArray
    upper: FloatArray
    offsets: IntArray
    published: PublishedPopulation
    totals: FloatArray | None = None
    half: FloatArray | None = None
    rounding: int = 1

    @property
    def outcomes(self) -> int:
        """How many outcomes there are."""
        return int(self.chance.shape[1])

    @cached_property
    def group_of(self) -> IntArray:
        """(n,) the QID group of each region."""
        return segment_of(self.offsets)

    def event(self, *outcomes: int) -> EventCells:
        """Give the cells for the event that the outcome is one of these; the other outcomes bound it as well.

        Parameters
        ----------
        outcomes
            Positions of the event's outcomes.
        """
        inside = np.isin(np.arange(self.outcomes), outcomes)
        totals = None
        if self.totals is not None and len(self.people):
            people = np.add.reduceat(self.people, self.offsets[:-1])
            (low, high), (rest_low, rest_high) = (self.totals[of].sum(axis=0).T for of in (inside, ~inside))
            totals = np.stack([np.maximum(low, people - rest_high), np.minimum(high, people - rest_low)], axis=1)
        return EventCells(
            cells=self,
            outcomes=frozenset(outcomes),
            chance=self.chance[:, inside].sum(axis=1),
            lower=np.maximum(self.lower[:, inside].sum(axis=1), 1 - self.upper[:, ~inside].sum(axis=1)),
            upper=np.minimum(self.upper[:, inside].sum(axis=1), 1 - self.lower[:, ~inside].sum(axis=1)),
            totals=totals,
        )

    def events(self) -> tuple[EventCells, ...]:
        """Give the cells for every single outcome, then for one of every other event and its opposite.

        Two distributions of outcomes are as far apart as in the event in which they differ most.
        """
        k = self.outcomes
        events = (e for size in range(1, k // 2 + 1) for e in combinations(range(k), size))
        return tuple(self.event(*e) for e in events if len(e) == 1 or 2 * len(e) < k or 0 in e)


@dataclass(frozen=True)
class EventCells:
    """Cells for one event: that the outcome is one of some.

    Parameters
    ----------
    cells
        The cells.
    outcomes
        Positions of the event's outcomes.
    chance
        (n,) probability of the event, as announced (or true, of true chances).
    lower, upper
        (n,) bounds of the true probability.
    totals
        (g, 2) bounds of the people of each group with the event; None where group rates are free.
    """

    cells: Cells[Any]
    outcomes: Outcomes
    chance: FloatArray
    lower: FloatArray
    upper: FloatArray
    totals: FloatArray | None

    @cached_property
    def people(self) -> tuple[FloatArray, ...]:
        """(n,) people with the event: at least, at most and by its chance."""
        return tuple(self.cells.people * x for x in (self.lower, self.upper, self.chance))

    @cached_property
    def in_groups(self) -> tuple[FloatArray, ...]:
        """(g,) the same of each QID group."""
        return tuple(summed(self.cells.group_of, x) for x in self.people)


def summed(of: IntArray, x: FloatArray | IntArray) -> FloatArray:
    """Add up (n,) numbers by the label, from 0, of each: (labels,)."""
    return np.bincount(of, weights=x).astype(np.float64, copy=False)


def possible_totals(people: IntArray, rates: FloatArray, half: FloatArray | float) -> FloatArray:
    """Give the smallest and largest whole number of each group's people with each outcome.

    Parameters
    ----------
    people
        (g,) people of each group.
    rates
        (g, outcomes) rates of the outcomes, rounded.
    half
        By how much a rate was rounded at most, (g,) or one for all.

    Returns
    -------
    (outcomes, g, 2) people: the nearest whole number where none lies within the rounding.

    Examples
    --------
    >>> possible_totals(np.array([20]), np.array([[0.15, 0.85]]), 0.0005)
    array([[[ 3.,  3.]],
    <BLANKLINE>
           [[17., 17.]]])
    """
    total, reach = people[:, None] * rates, np.broadcast_to(people * half, people.shape)[:, None]
    low, high, nearest = np.ceil(total - reach - SAME_PEOPLE), np.floor(total + reach + SAME_PEOPLE), np.rint(total)
    return np.stack([np.minimum(low, nearest), np.maximum(high, nearest)], axis=2).transpose(1, 0, 2)


def rates_of(people: IntArray, chance: FloatArray, offsets: IntArray) -> FloatArray:
    """(g, outcomes) the rates that (n, outcomes) chances give groups at (g + 1,) offsets."""
    with_outcome = np.add.reduceat(people[:, None] * chance, offsets[:-1])
    return np.asarray(with_outcome / np.add.reduceat(people, offsets[:-1])[:, None])
