"""Which rules are allowed by an announcement whose group rates are exact.

Three outcomes and more bound each other beyond the bounds of each event. A set of people is cut up into *parts*, its
people in one QID group each. Rules within the bounds of cells and the totals of groups are flows of people to outcomes,
so (Hoffman's circulation theorem) numbers of people of some parts with each outcome belong to an allowed rule if and
only if they sum to the people and, for every event, those of each part, and those of the parts of a group together,
keep to the bounds of their cells and to what the bounds of all other cells leave of the group's total. That is a linear
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

from atr.mechanisms.optimal.entries import Entries, diagonal, entries, matrix
from atr.mechanisms.optimal.programmes import solve_programme

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Range = tuple[float, float]

EFFORT = 500_000
"""Numbers in all programmes of one column of people, at most, some seconds' work: beyond, events bound parity alone."""
SEVERAL_UP_TO = 5
"""With more outcomes, there are too many levels for an event of several."""
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

    Where there would be too many levels, an event of several outcomes is bound by itself alone, and what is attained
    may be more.

    Returns
    -------
    For each bound the sums by the cells and by the total; all outcomes together stand for all people.
    """
    opposite = frozenset(range(outcomes)) - event
    most = min(len(event), len(opposite))
    if most > 1 and outcomes > SEVERAL_UP_TO:
        return ({event: 1}, {}), ({}, {event: 1})
    return tuple(
        (_least_sum([int(a in event) - level for a, level in enumerate(levels)]), _least_sum(levels))
        for levels in product(range(most + 1), repeat=outcomes)
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


@cache
def least_people_by_set(event: Outcomes, outcomes: int) -> tuple[Floats, Floats]:
    """The same as two matrices (bounds, 2^outcomes), with how often each of the :func:`sets` of outcomes counts."""
    place = {of: i for i, of in enumerate(sets(outcomes))}
    bounds = least_people(event, outcomes)
    found = np.zeros((2, len(bounds), len(place)))
    for i, both in enumerate(bounds):
        for matrix_, sums in zip(found, both, strict=True):
            for of, often in sums.items():
                matrix_[i, place[of]] = often
    return found[0], found[1]


@cache
def sets(outcomes: int) -> tuple[Outcomes, ...]:
    """All sets of outcomes, from none to all: the bits of a set's place are its outcomes."""
    return tuple(frozenset(a for a in range(outcomes) if bits >> a & 1) for bits in range(2**outcomes))


@cache
def prices(event: Outcomes, outcomes: int) -> Ints:
    """Prices of outcomes among which are those that bound how far an event of two sets can be apart in a QID group.

    By duality people of the sets, each worth so much with the event, are worth at most what their shares of the
    outcomes' prices leave (:func:`largest_sum`). The best prices leave a way from every outcome to every other, each
    step of which some people are indifferent to: those of the first set, those of the second, or all others.

    Returns
    -------
    (prices, outcomes, 2) how often a price is the worth of the event to a person of the first set, and of the second.
    """
    found: set[tuple[tuple[int, tuple[int, int]], ...]] = {((0, (0, 0)),)}  # others are reached from any that is
    for _ in range(outcomes - 1):
        found = {
            tuple(sorted((*some, (new, price))))
            for some in found
            for near, (first, second) in some
            for new in set(range(outcomes)) - {of for of, _ in some}
            for sign in [(new in event) - (near in event)]
            for price in {(first + sign, second), (first, second - sign), (first, second)}
        }
    return np.array([[price for _, price in some] for some in sorted(found)], dtype=np.int64)


def largest_sum(worth: Floats, most: Floats) -> Floats:
    """The most that people can be worth by their outcomes, if no more have one of some outcomes than some number.

    Parameters
    ----------
    worth
        (p, outcomes) of a person with each outcome.
    most
        (2^outcomes, n) people with one of the outcomes of each of the :func:`sets`.

    Returns
    -------
    (p, n), by Lovász's extension: as many people as can be with the outcome worth most, then with that or the next.
    """
    order = np.argsort(-worth, axis=1, kind="stable")
    steps = -np.diff(np.take_along_axis(worth, order, axis=1), axis=1, append=0.0)
    of = np.cumsum(1 << order, axis=1)
    return reduce(np.add, (steps[:, [i]] * most[of[:, i]] for i in range(worth.shape[1])))


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

    @cached_property
    def ends(self) -> tuple[Floats, Floats]:
        """(e, parts) people with an event, at least and at most."""
        low = [self._least(outcomes_of(event)) for event in self.events]
        high = [self.people - self._least(outcomes_of(~event)) for event in self.events]
        return np.array(low), np.array(high)

    def _least(self, event: Outcomes) -> Floats:
        """(parts,) people with an event, at least."""
        bounds: list[Floats] = []
        for bound in least_people(event, self.outcomes):
            both = zip(self._least_by, bound, strict=True)
            terms = [
                least[of] if often == 1 else often * least[of] for least, sums in both for of, often in sums.items()
            ]
            bounds.append(reduce(np.add, terms))
        return reduce(np.maximum, bounds)

    @cached_property
    def _least_by(self) -> list[dict[Outcomes, Floats]]:
        """For each set of outcomes (parts,) people with one of them, at least: by the cells, and by the total."""
        found = []
        for lows, highs in ((self.low, self.high), self._left(self.low, self.high, self.group)):
            least = {frozenset(range(self.outcomes)): self.people}
            for event, low, high in zip(self.events, lows, highs, strict=True):
                least[outcomes_of(event)], least[outcomes_of(~event)] = low, self.people - high
            found.append(least)
        return found

    def apart(self, one: int, other: int, inside: Range, ends: Sequence[Range], *, pairs: int) -> Range:
        """Between what the total variation distance of two sets lies, where events one by one leave it wider.

        Parameters
        ----------
        one, other
            The sets.
        inside
            Between what it lies, event by event.
        ends
            For each event, how far above the rate of the second that of the first can lie, and the other way round.
        pairs
            How many pairs of sets there are, to share :data:`EFFORT` among.

        Returns
        -------
        What some allowed rules attain; ends of ``inside`` where finding it takes more than the share.
        """
        if self.outcomes == 2:
            return inside
        a, b = (np.flatnonzero(self.set == s) for s in (one, other))
        shared = np.intersect1d(self.group[a], self.group[b])
        programmes = int(EFFORT / pairs / ((len(a) + len(b)) * self.events.size))
        if (self.outcomes == 3 and not len(shared)) or not programmes:
            return inside
        programme = self._of_two(a, b, shared)
        nearest, furthest = inside
        distance = programme.least_distance()
        if distance is not None:
            nearest = max(nearest, math.floor(distance * _GRID + _NOISE) / _GRID)
        if len(shared) or self.outcomes > SEVERAL_UP_TO:  # else the ends of all events are attained
            furthest = min(furthest, self._furthest(programme, ends, programmes - 1))
        return nearest, furthest

    def _furthest(self, programme: _Programme, ends: Sequence[Range], programmes: int) -> float:
        """What the total variation distance is at most: that of a single outcome is attained, others are looked at.

        Those that can be largest come first. After so many programmes, the next is taken as it is event by event.
        """
        found = max(end for both in ends[: self.outcomes] for end in both)
        further: list[tuple[float, npt.NDArray[np.bool_]]] = []
        for event, (first, second) in zip(self.events[self.outcomes :], ends[self.outcomes :], strict=True):
            further += [(first, event), (second, ~event)]
        for looked_at, (above, event) in enumerate(sorted(further, key=lambda of: -of[0])):
            if above <= found:
                break
            reached = programme.furthest(event) if looked_at < programmes else None
            if reached is None:
                return above
            found = max(found, min(above, math.ceil(reached * _GRID - _NOISE) / _GRID))
        return found

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


def outcomes_of(inside: npt.NDArray[np.bool_]) -> Outcomes:
    """Which outcomes an event is made of, from (outcomes,) whether each is."""
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
        """How far the rate of an event of the first set can lie above that of the second; None: it was not found."""
        apart = np.where(event, self.rates[:, None], 0.0).ravel()
        x = self._minimised(-apart / np.abs(self.rates).max(), [], 0)  # costs near 1
        return None if x is None else float(apart @ x)

    def least_distance(self) -> float | None:
        """The least total variation distance of the outcomes of both sets; None: it was not found."""
        k, n = self._outcomes, self._places.size
        apart = entries(np.arange(k), self._places, (self.rates / np.abs(self.rates).max())[:, None])  # costs near 1
        either = diagonal(k, -1.0).at(column=n)
        distance = [apart, either, *(part.at(row=k) for part in (apart.times(-1.0), either))]
        x = self._minimised(np.repeat([0.0, 0.5], [n, k]), distance, 2 * k)
        return None if x is None else float(0.5 * np.abs(self.rates @ x[:n].reshape(-1, k)).sum())

    @cached_property
    def _bounds(self) -> tuple[list[Entries], Floats, Floats]:
        """(b (e - outcomes) + p e, …) people of blocks with events of several outcomes, and of pairs with any event.

        Their entries, and between what they lie.
        """
        k, blocks, places = self._outcomes, np.arange(len(self.people)), self._places
        events = len(self.events) - k
        several, inside = np.nonzero(self.events[k:])
        of_blocks = entries(blocks[:, None] * events + several, places[:, inside])
        event, inside = np.nonzero(self.events)
        pairs = np.arange(self.pairs.shape[1])[:, None] * len(self.events) + event
        of_pairs = (entries(pairs, places[of][:, inside]).at(row=blocks.size * events) for of in self.pairs)
        smallest, largest = (
            np.concatenate([alone[k:].T.ravel(), both.T.ravel()])
            for alone, both in ((self.low, self.pairs_low), (self.high, self.pairs_high))
        )
        return [of_blocks, *of_pairs], smallest, largest

    def _minimised(self, cost: Floats, more: Sequence[Entries], rows: int) -> Floats | None:
        """People where a cost is least, then further variables of 0 and more, if ``more`` rows are at most 0."""
        k, places, (bound, smallest, largest) = self._outcomes, self._places, self._bounds
        bounds, further = len(smallest), len(cost) - places.size
        found = solve_programme(
            cost,
            matrix(
                2 * bounds + rows,
                len(cost),
                *bound,
                *(part.times(-1.0).at(row=bounds) for part in bound),
                *(part.at(row=2 * bounds) for part in more),
            ),
            np.concatenate([largest, -smallest, np.zeros(rows)]),
            matrix(len(self.people), len(cost), entries(np.arange(len(self.people))[:, None], places)),
            self.people,
            np.concatenate([self.low[:k].T.ravel(), np.zeros(further)]),
            np.concatenate([self.high[:k].T.ravel(), np.full(further, np.inf)]),
        )
        return None if found is None else found.x
