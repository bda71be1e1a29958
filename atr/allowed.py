"""Which rules are allowed by an announcement of three and more outcomes, where group rates are exact.

Outcomes bound each other there beyond the bounds of each event. A set of people is cut up into *parts*, its people in
one QID group each. Rules within the bounds of cells and the totals of groups are flows of people to outcomes, so
(Hoffman's circulation theorem) numbers of people of some parts with each outcome belong to an allowed rule if and only
if they sum to the people and, for every event, those of each part, and those of the parts of a group together, keep to
the bounds of their cells and to what the bounds of all other cells leave of the group's total. That is a linear
programme of a few variables for each part, whatever the number of regions.

The fewest people of a part with an event are the largest of a few sums (:func:`least_people`), all linear in the
numbers of people of regions.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property, reduce
from itertools import product

import numpy as np
import numpy.typing as npt

from atr.mechanism.entries import Entries, diagonal, entries, matrix
from atr.mechanism.programmes import solve_programme

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Range = tuple[float, float]

EFFORT = 500_000
"""Numbers in all programmes of one column of people, at most, some seconds' work: beyond, events bound parity alone."""
_SEVERAL_UP_TO = 5
"""With more outcomes, there are too many levels for an event of several: other events bound it one by one."""
_GRID, _NOISE = 1e9, 0.1
"""What a solver says of a rate is rounded outwards to a billionth; a tenth of that is its noise, and must not show."""


Outcomes = frozenset[int]
Sums = dict[Outcomes, int]
"""A sum of the people with one of some outcomes, at least: which outcomes, and how often they count."""


@cache
def least_people(event: Outcomes, outcomes: int) -> tuple[tuple[Sums, Sums], ...]:
    """Bounds from below of the people of a part with an event, the largest of which is attained.

    Its people keep to the bounds of its cells and to what the total of its group leaves to it. Each bound counts people
    of an outcome so often by the total as the outcome's level says, a dual variable of the flow, and the rest by the
    cells. A way from outcome to outcome leaves or enters the event at most once for each outcome of it, and of its
    opposite: no more levels are needed, and none against an outcome that is alone on its side. The least sum of people
    counted so often is that of those counted once and more, twice and more, and so on (Lovász's extension).

    Returns
    -------
    For each bound the sums by the cells and by the total; all outcomes together stand for all people.
    """
    every = frozenset(range(outcomes))
    opposite = every - event
    return tuple(
        (_least_sum([int(a in event) - level for a, level in enumerate(levels)]), _least_sum(levels))
        for levels in product(range(min(len(event), len(opposite)) + 1), repeat=outcomes)
        if min(levels) == 0
        and not (len(event) == 1 and any(levels[a] < max(levels) for a in event))
        and not (len(opposite) == 1 and any(levels[a] > 0 for a in opposite))
    )


def _least_sum(times: Sequence[int]) -> Sums:
    sums = {frozenset(range(len(times))): min(times)}
    for least in range(min(times) + 1, max(times) + 1):
        counted = frozenset(a for a, often in enumerate(times) if often >= least)
        sums[counted] = sums.get(counted, 0) + 1
    return {of: often for of, often in sums.items() if often}


@dataclass(frozen=True)
class Parts:
    """Disjoint sets of people, cut up by QID group.

    Parameters
    ----------
    events
        (e, outcomes) which outcomes an event is made of: the single ones first, in order, then of each other event and
        its opposite one.
    set, group
        (parts,) the set and the group of each part.
    people
        (parts,).
    low, high
        (e, parts) people with the event, by the bounds of the part's cells.
    whole_low, whole_high
        (e, groups) the same of whole groups.
    totals
        (e, groups, 2) between what the number of people with the event lies, by the total that is known.
    """

    events: npt.NDArray[np.bool_]
    set: Ints
    group: Ints
    people: Floats
    low: Floats
    high: Floats
    whole_low: Floats
    whole_high: Floats
    totals: Floats

    @property
    def outcomes(self) -> int:
        """How many outcomes there are."""
        return int(self.events.shape[1])

    @property
    def _others(self) -> int:
        """How many events are of several outcomes, and so are their opposites."""
        return len(self.events) - self.outcomes if self.outcomes > 3 else 0

    def _numbers(self, parts: int) -> int:
        """How many numbers a programme of some parts has."""
        return parts * self.events.size

    @cached_property
    def ends(self) -> tuple[Floats, Floats]:
        """(e, parts) people with an event, at least and at most.

        Each is that of some allowed rule, except of events of several outcomes where there are too many of these.
        """
        found = []
        for i, event in enumerate(self.events):
            if event.sum() > 1 and self.outcomes > _SEVERAL_UP_TO:
                low, high = self._together(np.arange(len(self.people)))
                found.append((low[i], high[i]))
            else:
                one, other = _outcomes(event), _outcomes(~event)
                found.append((self._least(one), self.people - self._least(other)))
        low, high = np.moveaxis(np.array(found), 1, 0)
        return low, high

    def _least(self, event: Outcomes) -> Floats:
        """(parts,) people with an event, at least."""
        bounds: list[Floats] = []
        for bound in least_people(event, self.outcomes):
            both = zip(self._least_by, bound, strict=True)
            terms = [often * least[of] for least, sums in both for of, often in sums.items()]
            bounds.append(reduce(np.add, terms))
        return reduce(np.maximum, bounds)

    @cached_property
    def _least_by(self) -> list[dict[Outcomes, Floats]]:
        """For each set of outcomes (parts,) people with one of them, at least: by the cells, and by the total."""
        found = []
        for lows, highs in ((self.low, self.high), self._left(self.low, self.high, self.group)):
            least = {frozenset(range(self.outcomes)): self.people}
            for event, low, high in zip(self.events, lows, highs, strict=True):
                least[_outcomes(event)], least[_outcomes(~event)] = low, self.people - high
            found.append(least)
        return found

    def apart(self, one: int, other: int, inside: Range, furthest: float, *, pairs: int) -> Range:
        """Between what the total variation distance of two sets lies, where events one by one leave it wider.

        Parameters
        ----------
        one, other
            The sets.
        inside
            Between what it lies, event by event.
        furthest
            The most that they can be apart in a single outcome, which is attained.
        pairs
            How many pairs of sets there are, to share :data:`EFFORT` among.

        Returns
        -------
        What some allowed rules attain; ``inside`` where finding it takes more than the share.
        """
        if self.outcomes == 2:
            return inside
        a, b = (np.flatnonzero(self.set == s) for s in (one, other))
        shared = np.intersect1d(self.group[a], self.group[b])
        several = bool(len(shared)) or self.outcomes > _SEVERAL_UP_TO  # else the ends of events are those of rates
        programmes = 1 + 2 * self._others * several
        if (self.outcomes == 3 and not len(shared)) or (programmes * self._numbers(len(a) + len(b)) > EFFORT / pairs):
            return inside
        programme = self._of_two(a, b, shared)
        nearest, most = inside
        distance = programme.least_distance()
        if distance is not None:
            nearest = max(nearest, math.floor(distance * _GRID + _NOISE) / _GRID)
        if several and self.outcomes > 3 and most > furthest:
            ends = [programme.furthest(of) for event in self.events[self.outcomes :] for of in (event, ~event)]
            reached = [end for end in ends if end is not None]
            if len(reached) == len(ends):
                most = min(most, math.ceil(max(furthest, *reached) * _GRID - _NOISE) / _GRID)
        return nearest, most

    def _left(self, low: Floats, high: Floats, group: Ints) -> tuple[Floats, Floats]:
        """(e, k) people with an event that the totals leave to unions of parts of a group, at least and at most."""
        least, most = self.totals[:, group, 0], self.totals[:, group, 1]
        return least - (self.whole_high[:, group] - high), most - (self.whole_low[:, group] - low)

    def _together(self, *parts: Ints) -> tuple[Floats, Floats]:
        """(e, k) people with an event, at least and at most, in k unions of parts of one group each."""
        low, high = (np.sum([of[:, p] for p in parts], axis=0) for of in (self.low, self.high))
        least, most = self._left(low, high, self.group[parts[0]])
        return np.maximum(low, least), np.minimum(high, most)

    def _of_two(self, a: Ints, b: Ints, shared: Ints) -> _Programme:
        """The programme of the parts of two sets."""
        numbers = np.concatenate([self.people[None], *self.ends])
        blocks, rates, common = [], [], []
        for parts, side in ((a, 1.0), (b, -1.0)):
            both = np.isin(self.group[parts], shared)
            alone = numbers[:, parts[~both]]
            if self.outcomes == 3:  # sums keep to the sums of bounds, and any that do are reached
                alone = alone.sum(axis=1, keepdims=True)
            common.append(parts[both])
            blocks.append(np.concatenate([alone, numbers[:, parts[both]]], axis=1))
            rates.append(np.full(blocks[-1].shape[1], side / self.people[parts].sum()))
        people, bounds = np.split(np.concatenate(blocks, axis=1), [1])
        low, high = np.split(bounds, 2)
        last = np.cumsum([len(of) for of in rates])
        pairs = np.stack([end - len(shared) + np.arange(len(shared)) for end in last])
        return _Programme(self.events, np.concatenate(rates), people[0], low, high, pairs, *self._together(*common))


def _outcomes(inside: npt.NDArray[np.bool_]) -> Outcomes:
    return frozenset(np.flatnonzero(inside).tolist())


@dataclass(frozen=True)
class _Programme:
    """What numbers of people of b blocks with each outcome can be together.

    Parameters
    ----------
    rates
        (b,) what a person of a block adds to how far the rates of the two sets are apart.
    people
        (b,).
    low, high
        (e, b) people with each event.
    pairs
        (2, p) blocks that are bound together.
    pairs_low, pairs_high
        (e, p) people of both with each event.
    """

    events: npt.NDArray[np.bool_]
    rates: Floats
    people: Floats
    low: Floats
    high: Floats
    pairs: Ints
    pairs_low: Floats
    pairs_high: Floats

    @property
    def _outcomes(self) -> int:
        return int(self.events.shape[1])

    @property
    def _places(self) -> Ints:
        """(b, outcomes) where the people of a block with an outcome stand among the variables."""
        return np.arange(self.people.size * self._outcomes).reshape(-1, self._outcomes)

    def furthest(self, event: npt.NDArray[np.bool_]) -> float | None:
        """How far the rates of an event of the first set can be above those of the second; None: nothing is allowed."""
        apart = np.where(event, self.rates[:, None], 0.0).ravel()
        x = self._minimised(-apart / np.abs(self.rates).max(), [], 0)  # costs near 1
        return None if x is None else float(apart @ x)

    def least_distance(self) -> float | None:
        """The least total variation distance of the outcomes of both sets; None: nothing is allowed."""
        k, n = self._outcomes, self._places.size
        apart = entries(np.arange(k), self._places, (self.rates / np.abs(self.rates).max())[:, None])
        distance = [apart, diagonal(k, -1.0).at(column=n)], [apart.times(-1.0), diagonal(k, -1.0).at(column=n)]
        rows = [part.at(row=i * k) for i, side in enumerate(distance) for part in side]
        x = self._minimised(np.repeat([0.0, 0.5], [n, k]), rows, 2 * k)
        return None if x is None else float(0.5 * np.abs(self.rates @ x[:n].reshape(-1, k)).sum())

    def _minimised(self, cost: Floats, more: Sequence[Entries], rows: int) -> Floats | None:
        """People where a cost is least, then further variables of 0 and more, if ``more`` rows are at most 0."""
        blocks, events, places = np.arange(len(self.people)), len(self.events) - self._outcomes, self._places
        several, inside = np.nonzero(self.events[self._outcomes :])
        of_blocks = entries(blocks[:, None] * events + several, places[:, inside])
        event, inside = np.nonzero(self.events)
        pairs = np.arange(self.pairs.shape[1])[:, None] * len(self.events) + event
        of_pairs = [entries(pairs, places[side][:, inside]).at(row=blocks.size * events) for side in self.pairs]
        bound = [of_blocks, *of_pairs]
        count = blocks.size * events + pairs.shape[0] * len(self.events)
        smallest, largest = (
            np.concatenate([alone[self._outcomes :].T.ravel(), both.T.ravel()])
            for alone, both in ((self.low, self.pairs_low), (self.high, self.pairs_high))
        )
        further = len(cost) - places.size
        found = solve_programme(
            cost,
            matrix(
                2 * count + rows,
                len(cost),
                *bound,
                *(part.times(-1.0).at(row=count) for part in bound),
                *(part.at(row=2 * count) for part in more),
            ),
            np.concatenate([largest, -smallest, np.zeros(rows)]),
            matrix(blocks.size, len(cost), entries(blocks[:, None], places)),
            self.people,
            np.concatenate([self.low[: self._outcomes].T.ravel(), np.zeros(further)]),
            np.concatenate([self.high[: self._outcomes].T.ravel(), np.full(further, np.inf)]),
        )
        return None if found is None else found.x
