"""Rates of events among sets of people, with the guaranteed ranges of the true rates.

[CGP] Chen, Golubchik, Pal, *Achieving Transparency Report Privacy in Linear Time* (arXiv 2104.00137), Lemma 2, bounds
what δ-fidelity does to total-variation measures of two outcomes: they move by at most min(2(1 - δ), 1). The ranges here
come from the bounds of every cell and, where group rates are exact, from each group's totals: where δ is promised of
every cell they are never wider, but for rounding.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache, reduce

import numpy as np

from atr.core.arrays import BoolArray, FloatArray, IntArray
from atr.core.publication import rounded_total
from atr.core.tolerances import ZERO_CHANCE
from atr.measures.base import Rate
from atr.measures.cells import Cells, Chances, EventCells, Outcomes, summed
from atr.measures.feasible_outcomes import least_people


@dataclass(frozen=True)
class Parts:
    """Disjoint sets of people, cut up into parts: the people of a set in one QID group.

    Parameters
    ----------
    of
        (n,) the part of each region.
    set, group
        (parts,) the set and the group of each part.
    whole
        (parts,) whether a part is a whole group.
    """

    of: IntArray
    set: IntArray
    group: IntArray
    whole: BoolArray

    @staticmethod
    def cut(set_of: IntArray, cells: Cells[Chances]) -> Parts:
        """Cut up sets of regions by QID group.

        Parameters
        ----------
        set_of
            (n,) the number of each region's set, from 0.
        cells
            The regions.
        """
        first = set_of[cells.offsets[:-1]]
        if (set_of == first[cells.group_of]).all():  # every part is a group
            return Parts(cells.group_of, first, np.arange(len(first)), np.ones(len(first), dtype=np.bool_))
        sets = int(set_of.max()) + 1
        which, of = np.unique(cells.group_of * sets + set_of, return_inverse=True)
        group, of_set = np.divmod(which, sets)
        return Parts(of, of_set, group, np.bincount(of) == np.diff(cells.offsets)[group])


def rates(events: Sequence[EventCells], set_of: IntArray) -> list[list[Rate]]:
    """Give the rate of every event in every set of people.

    The upper end of one set and the lower end of another are reached by the same mapping, also where the two share a
    group: the most that the one can have is what its total leaves with the other at its least, and the other way round.
    So the ends of a difference or a ratio of two rates of an outcome are those of the rates, and are attained; those of
    an event of several outcomes may not be reached together.

    Parameters
    ----------
    events
        All of :meth:`Cells.events`; any, where group rates are free.
    set_of
        (n,) the number of each region's set, from 0.

    Returns
    -------
    For each event a list of rates, one for each set, with the guaranteed range of the true one.

    References
    ----------
    [CGP] Lemma 2, made tighter by the bounds of every cell and the totals of groups.
    """
    cells = events[0].cells
    parts = Parts.cut(set_of, cells)
    if events[0].totals is None:
        ends = [(summed(parts.of, event.people[0]), summed(parts.of, event.people[1])) for event in events]
    else:
        ends = _within_totals(events, parts)
    people = summed(set_of, cells.people)
    printed = rounded_total(people.astype(np.int64), rounding=cells.rounding)
    found = []
    for event, of_parts in zip(events, ends, strict=True):
        by_set = (summed(parts.set, of) / np.maximum(people, 1.0) for of in of_parts)
        value, low, high = (np.where(x <= ZERO_CHANCE, 0.0, x) for x in (_announced(event, parts), *by_set))
        low, high = np.minimum(low, value), np.minimum(np.maximum(high, value), 1.0)
        columns = (of.tolist() for of in (printed, value, low, high))
        found.append([Rate(n, x, (least, most)) for n, x, least, most in zip(*columns, strict=True)])
    return found


def announced_rate(event: EventCells, members: BoolArray) -> float:
    """Give the announced rate of an event among the people of the regions marked in ``members`` (n,), at least one."""
    return float(_announced(event, Parts.cut(np.where(members, 0, 1), event.cells))[0])


def rates_by_group(event: EventCells) -> FloatArray:
    """Give the announced rate (g,) of an event in each QID group; of whole people where group rates are exact."""
    return _announced(event, Parts.cut(event.cells.group_of, event.cells))


def within_totals(cells: Cells[Chances], least: IntArray, most: IntArray) -> Cells[Chances]:
    """Tighten the bounds of every cell's true chances by what the known total of its group leaves to it.

    Parameters
    ----------
    cells
        The cells.
    least, most
        (n,) bounds of the numbers of people, ``cells.people`` too. Where they are known exactly the result is the
        tightest; else it holds for all numbers between.

    Returns
    -------
    The cells with tighter ``lower`` and ``upper``; as they are where group rates are free.
    """
    if cells.totals is None or not len(cells.people):
        return cells
    outcomes, every = range(cells.outcomes), frozenset(range(cells.outcomes))
    if (least < most).any():
        free = cache(replace(cells, totals=None).event)
        low = np.column_stack([_least_chance(frozenset({a}), free, least, most) for a in outcomes])
        high = 1 - np.column_stack([_least_chance(every - {a}, free, least, most) for a in outcomes])
    else:
        ends = _within_totals(cells.events(), Parts.cut(np.arange(len(cells.people)), cells))[: cells.outcomes]
        low, high = (np.column_stack(of) / cells.people[:, None] for of in zip(*ends, strict=True))
    return replace(cells, lower=np.minimum(low, cells.chance), upper=np.maximum(high, cells.chance))


def _announced(event: EventCells, parts: Parts) -> FloatArray:
    """(sets,) the announced rate of an event: of whole people within the totals of groups, where these are known."""
    value = summed(parts.of, event.people[2])
    if event.totals is not None:
        value = np.where(parts.whole, np.clip(np.rint(value), *event.totals[parts.group].T), value)
    people = summed(parts.set[parts.of], event.cells.people)
    return summed(parts.set, value) / np.maximum(people, 1.0)


def _within_totals(events: Sequence[EventCells], parts: Parts) -> list[tuple[FloatArray, FloatArray]]:
    """For each of all events (parts,) people with it, at least and at most, by the cells and the totals of groups."""
    cells = events[0].cells
    every = frozenset(range(cells.outcomes))
    people = summed(parts.of, cells.people)
    by_cells, by_total = {every: people}, {every: people}
    for event in events:
        low, high = (summed(parts.of, of) for of in event.people[:2])
        low_in_group, high_in_group, _ = (of[parts.group] for of in event.in_groups)
        least, most = np.asarray(event.totals)[parts.group].T
        rest = every - event.outcomes
        by_cells |= {event.outcomes: low, rest: people - high}
        by_total |= {event.outcomes: least - (high_in_group - high), rest: people - (most - (low_in_group - low))}

    @cache
    def fewest(event: Outcomes) -> FloatArray:
        bounds = []
        for bound in least_people(event, cells.outcomes):
            both = zip((by_cells, by_total), bound, strict=True)
            terms = (by[of] if often == 1 else often * by[of] for by, sums in both for of, often in sums.items())
            bounds.append(reduce(np.add, terms))
        return reduce(np.maximum, bounds)

    return [(fewest(event.outcomes), people - fewest(every - event.outcomes)) for event in events]


def _least_chance(event: Outcomes, cells: Callable[..., EventCells], least: IntArray, most: IntArray) -> FloatArray:
    """(n,) what the true chance of an event is at least in each cell, whatever the people of all cells are.

    Parameters
    ----------
    cells
        The cells for the event that the outcome is one of some.
    """
    of_event = cells(*event).cells
    k, group_of = of_event.outcomes, of_event.group_of
    half = 0.0 if of_event.half is None else of_event.half[group_of]

    def rest(of: FloatArray) -> FloatArray:
        """The most that the rest of the group adds, for each person of the cell."""
        return (summed(group_of, of)[group_of] - of) / least

    off = np.maximum(half * (1 + rest(most.astype(np.float64))), 0.5 / least)  # half digits a person, or half a person
    bounds = []
    for by_cells, by_total in least_people(event, k):
        terms = [often * cells(*outcomes).lower for outcomes, often in by_cells.items()]
        for outcomes, often in by_total.items():
            of = cells(*outcomes)
            rounded = min(len(outcomes), k - len(outcomes))
            terms.append(often * (of.chance - rest(most * (of.upper - of.chance)) - rounded * off))
        bounds.append(np.sum(terms, axis=0))
    return np.asarray(np.max(bounds, axis=0))
