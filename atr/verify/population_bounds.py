"""A report's printed numbers as arrays, with the exact populations they leave open and what follows from all of them.

A rate is a quotient of two sums over people, so its ends over all populations between bounds are found by the sign of
"numerator less rate times people", which is largest or smallest region by region.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np
import numpy.typing as npt
from scipy.optimize import brentq

from atr.core.announcement import Announcement
from atr.core.display_text import UNKNOWN
from atr.core.publication import open_people
from atr.measures import feasible_outcomes
from atr.measures import group_fairness as fairness
from atr.measures.feasible_outcomes import Outcomes, least_people_by_set, outcomes_of
from atr.report import model
from atr.report import reader_view as held

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
Interval = tuple[float, float]

_PRICED_UP_TO = 6
"""With more outcomes, there are too many prices."""
_AT_ONCE = 5_000_000
"""Numbers of one array, at most."""


@dataclass(frozen=True)
class PopulationBounds:
    """The announced groups of a report.

    Parameters
    ----------
    report
        The report.
    announcement
        Its announced mapping; ``population`` is the exact one where it is known, else the published one.
    cells
        The same as fairness takes it.
    least, most
        (n,) between what the exact populations lie.
    columns
        For each attribute, (n,) the value of each region.
    """

    report: model.PublicReport
    announcement: Announcement
    cells: fairness.AnnouncedCells
    least: Ints
    most: Ints
    columns: dict[str, npt.NDArray[np.object_]]

    @staticmethod
    def of(report: model.PublicReport, population: Ints | None) -> PopulationBounds:
        """The numbers of a well-formed report that announces something.

        Parameters
        ----------
        report
            The report.
        population
            (n,) exact people of its regions, if they are known.
        """
        announcement = held.announcement(report, population)
        rounding = report.policy.population_rounding
        between = [open_people(int(n), rounding) if population is None else (n, n) for n in announcement.population]
        least, most = np.array(between, dtype=np.int64).T
        return PopulationBounds(
            report=report,
            announcement=announcement,
            cells=held.cells(announcement, policy=report.policy),
            least=least,
            most=most,
            columns={name: np.array(column, dtype=object) for name, column in held.columns(report).items()},
        )

    @property
    def exact(self) -> bool:
        """Whether one population only is left."""
        return bool((self.least == self.most).all())

    @property
    def everyone(self) -> Bools:
        """(n,) all regions."""
        return np.ones(len(self.least), dtype=bool)

    def group(self, position: int) -> Bools:
        """(n,) which regions are those of an announced group."""
        members = np.zeros(len(self.least), dtype=bool)
        members[self.announcement.offsets[position] : self.announcement.offsets[position + 1]] = True
        return members

    def having(self, values: Mapping[str, str]) -> Bools:
        """(n,) which regions have these values."""
        members = self.everyone
        for name, value in values.items():
            members &= self.columns[name] == value
        return members

    def people_by(self, attributes: tuple[str, ...]) -> dict[str, Bools]:
        """(n,) for each group of people by one attribute, or several: which regions are theirs."""
        if attributes not in self._people_by:
            columns = [self.columns[name].tolist() for name in attributes]
            shown = np.array([fairness.joined(parts) for parts in zip(*columns, strict=True)], dtype=object)
            self._people_by[attributes] = {who: shown == who for who in dict.fromkeys(shown.tolist())}
        return self._people_by[attributes]

    def unknown(self, attributes: tuple[str, ...], who: str) -> bool:
        """Whether some value of a group of people is not known."""
        members = self.people_by(attributes)[who]
        return any(self.columns[name][members][0] == UNKNOWN for name in attributes)

    def people(self, members: Bools) -> tuple[int, int]:
        """Between what the number of people of some regions lies."""
        return int(self.least[members].sum()), int(self.most[members].sum())

    def value(self, members: Bools, event: fairness.EventCells) -> Interval:
        """Between what the announced rate of an event among some regions lies."""
        if self.exact:
            rate = fairness.announced_rate(event, members)
            return rate, rate
        return self.rate(members, event).value

    def rate(self, members: Bools, event: fairness.EventCells) -> RateBounds:
        """Between what the announced rate of an event among some regions lies, and the two ends of its range.

        The populations are not exact. The ends are those that all outcomes leave together.
        """
        key = members.tobytes(), event.inside.tobytes()
        if key not in self._rates:
            people = _People.of(self, members)
            sides = (outcomes_of(event.inside), outcomes_of(~event.inside))
            low, against = (people.low(self._least(people, of)) for of in sides)
            value = people.value(event.chance[people.cells], rounded=event.totals is not None)
            self._rates[key] = RateBounds(
                value,
                (min(low[0], value[0]), min(low[1], value[1])),
                (max(1 - against[1], value[0]), max(1 - against[0], value[1])),
            )
        return self._rates[key]

    def furthest(self, one: Bools, other: Bools) -> float:
        """What the upper end of the total variation distance of two sets of people is at least.

        The populations are not exact. Of a single outcome the ends that both sets have alone are reached together; of
        several they may not be, where the sets share a group.
        """
        shared, k = self.share_a_group(one, other), self.cells.outcomes
        found, further = 0.0, []
        for event in self.events:
            inside = outcomes_of(event.inside)
            a, b = (self.rate(of, event) for of in (one, other))
            for above, of in ((a.high[0] - b.low[1], (one, other)), (b.high[0] - a.low[1], (other, one))):
                if len(inside) in (1, k - 1) or (not shared and k <= feasible_outcomes.SEVERAL_UP_TO):
                    found = max(found, above)
                elif k <= _PRICED_UP_TO:
                    further.append((above, event, of))
        for above, event, of in sorted(further, key=lambda of: -of[0]):
            if above <= found:
                break
            found = max(found, self._above(*of, event))
        return found

    def _above(self, one: Bools, other: Bools, event: fairness.EventCells) -> float:
        """How far above the rate of an event of the second set that of the first can lie in all, at least.

        Rates are counted from the ends that the sets have alone, and people weighed as if each set had the middle
        number of people: what the true number of people changes is then small (:func:`apart_at_least`).
        """
        numbers = np.array([self.people(members) for members in (one, other)])
        weights = 2 / numbers.sum(axis=1)
        a, b = (self.rate(members, event) for members in (one, other))
        top, bottom = a.high[0], b.low[1]
        total = self._worth_at_least((one, other), event, weights=weights, counted_from=np.array([top, bottom]))
        furthest = a.high[1] - top, bottom - b.low[0]
        return top - bottom + apart_at_least(total, furthest, (numbers * weights[:, None]).tolist())

    def _worth_at_least(
        self, sets: tuple[Bools, Bools], event: fairness.EventCells, *, weights: Floats, counted_from: Floats
    ) -> float:
        """The weighted people of the first set with an event, less those of the second, in all, at least.

        Of each set so many for each of its people are taken away. By duality it is at most what people are worth beyond
        any prices of the outcomes, and no less for the best ones of each group (:func:`feasible_outcomes.prices`);
        of these the least is taken over all populations.
        """
        people = _People.of(self, sets[0] | sets[1])
        first, second = (members[people.cells] for members in sets)
        gains = [weights[0], -weights[1], 0.0]
        most, chance = self._of_sets[1][:, people.cells], self.cells.chance[people.cells]
        beyond = self._beyond_announced(people)
        every = feasible_outcomes.prices(outcomes_of(event.inside), self.cells.outcomes) @ weights
        least: list[Floats] = []
        for prices in np.array_split(every, min(len(every), math.ceil(every.size * len(chance) / _AT_ONCE))):
            worth = prices @ chance.T
            for members, gain, start in zip((first, second, ~(first | second)), gains, (*counted_from, 0), strict=True):
                alone = feasible_outcomes.largest_sum(gain * event.inside - prices, most[:, members])
                worth[:, members] += alone - gain * start
            in_all = np.add.reduceat(np.minimum(worth * people.least, worth * people.most), people.starts, axis=1)
            least.append((in_all + feasible_outcomes.largest_sum(prices, beyond)).min(axis=0))
        return float(np.min(least, axis=0).sum())

    def _beyond_announced(self, people: _People) -> Floats:
        """(2^outcomes, groups) how many more people than announced have one of some outcomes, at most, at least.

        A total is a sum of the largest whole numbers within the rounding, or of the nearest, whichever are larger: of
        those of its own outcomes, or what those of the others leave, whichever is smaller. None and all are exact.
        """
        within = np.add.reduceat(self._half(people) * people.least, people.starts) - 1
        numbers = self._numbers.T[..., None]
        return np.where(numbers.min(axis=0) > 0, np.maximum(numbers * within, numbers * -0.5).min(axis=0), 0.0)

    @cached_property
    def _numbers(self) -> Ints:
        """(2^outcomes, 2) how many outcomes each set has, or leaves: the fewer, then the more."""
        sizes = np.array([len(of) for of in feasible_outcomes.sets(self.cells.outcomes)])
        return np.sort(np.stack([sizes, self.cells.outcomes - sizes], axis=1))

    def _half(self, people: _People) -> Floats:
        """By how much the rate of an outcome in the group of each region was rounded at most."""
        return np.repeat(self.cells.half, np.diff(self.announcement.offsets))[people.cells]

    def _least(self, people: _People, event: Outcomes) -> _Least:
        """What the people of each group that are inside and have an event are at least."""
        half = self._half(people)
        if not self.cells.exact:
            alone = people.inside * self._event(event).lower[people.cells]
            return _Least(alone[None], np.zeros((1, 2)), half)
        by_cells, by_total = least_people_by_set(event, self.cells.outcomes)
        lower, upper, chance = self._of_sets[..., people.cells]
        weights = by_total @ (chance - upper) + people.inside * (by_cells @ lower + by_total @ upper)
        return _Least(weights, by_total @ self._numbers, half)

    @cached_property
    def _of_sets(self) -> Floats:
        """(3, 2^outcomes, n) between what the true chance of one of some outcomes lies, and the announced one."""
        found = np.zeros((3, 2**self.cells.outcomes, len(self.least)))
        found[:, -1] = 1.0
        for place, of in enumerate(feasible_outcomes.sets(self.cells.outcomes)[1:-1], start=1):
            cells = self._event(of)
            found[:, place] = cells.lower, cells.upper, cells.chance
        return found

    def _event(self, outcomes: Outcomes) -> fairness.EventCells:
        if outcomes not in self._events:
            self._events[outcomes] = self.cells.event(*outcomes)
        return self._events[outcomes]

    def share_a_group(self, one: Bools, other: Bools) -> bool:
        """Whether some QID group has regions of both."""
        starts = self.announcement.offsets[:-1]
        return bool((np.logical_or.reduceat(one, starts) & np.logical_or.reduceat(other, starts)).any())

    @cached_property
    def _events(self) -> dict[Outcomes, fairness.EventCells]:
        return {}

    @cached_property
    def _rates(self) -> dict[tuple[bytes, bytes], RateBounds]:
        return {}

    @cached_property
    def _people_by(self) -> dict[tuple[str, ...], dict[str, Bools]]:
        return {}

    @cached_property
    def outcome_events(self) -> tuple[fairness.EventCells, ...]:
        """For each outcome, that it is the one; the positive one first."""
        return tuple(self._event(frozenset({a})) for a in range(self.cells.outcomes))

    @cached_property
    def events(self) -> tuple[fairness.EventCells, ...]:
        """The events that decide how far two mappings are apart."""
        return self.cells.events()


@dataclass(frozen=True)
class RateBounds:
    """Of a rate and of both ends of its range: between what each lies, for all populations within the rounding."""

    value: Interval
    low: Interval
    high: Interval


def apart_at_least(total: float, furthest: tuple[float, float], scales: Sequence[Sequence[float]]) -> float:
    """The least u + v, if s u + t v is at least a total, and u and v at most so much, whatever s and t in their bounds.

    It is at an end of the edge where s u + t v is the total, with u or v at its most; there it grows or falls with s
    alone, and with t alone, all the way.
    """
    s, t = np.meshgrid(*scales)
    u, v = furthest
    return float(np.minimum(u + (total - s * u) / t, v + (total - t * v) / s).min())


# --- the ends of a rate


@dataclass(frozen=True)
class _Least:
    """Bounds from below of the people of a group that are inside and have an event: sums over the group's people.

    Parameters
    ----------
    weights
        (b, k) what each person of a region counts in each bound.
    sides
        (b, 2) of how many rounded numbers the totals in a bound are sums, if each is put together from its own outcomes
        or from the others: the fewer, then the more.
    half
        (k,) by how much the rate of an outcome in the region's group was rounded at most.
    """

    weights: Floats
    sides: Floats
    half: Floats

    def terms(self, *, largest: bool) -> tuple[Floats, Floats]:
        """(2, …, k) weights and (2, …, 1) constants: of the smaller of both rows the largest bound is to be taken.

        A total is a sum of whole numbers: the next ones within the rounding, or the nearest, whichever are smaller.
        What it is at least follows from the fewer numbers; what it is at most, from the fewer or the more.
        """
        numbers = (self.sides if largest else self.sides[:, :1]).T[..., None]
        within, nearest = (
            self.weights - numbers * self.half,
            np.broadcast_to(self.weights, (*numbers.shape[:2], len(self.half))),
        )
        return np.stack([within, nearest]), np.stack([numbers * largest, numbers * (0.5 if largest else -0.5)])


_Reach = Callable[..., Floats]


@dataclass(frozen=True)
class _People:
    """Some regions (``inside``, 0 or 1) among all (k,) of the groups they lie in."""

    cells: Bools
    inside: Floats
    least: Floats
    most: Floats
    starts: Ints
    whole: Bools

    @staticmethod
    def of(printed: PopulationBounds, members: Bools) -> _People:
        starts, sizes = printed.announcement.offsets[:-1], np.diff(printed.announcement.offsets)
        touched = np.logical_or.reduceat(members, starts)
        cells = np.repeat(touched, sizes)
        return _People(
            cells=cells,
            inside=members[cells].astype(np.float64),
            least=printed.least[cells].astype(np.float64),
            most=printed.most[cells].astype(np.float64),
            starts=np.cumsum([0, *sizes[touched][:-1]], dtype=np.int64),
            whole=np.logical_and.reduceat(members, starts)[touched],
        )

    def value(self, chance: Floats, *, rounded: bool) -> Interval:
        """The announced rate: of a whole group with an exact rate, that of the nearest whole number of people."""
        weights, nearest = self.inside * chance, self.whole & rounded
        smallest, largest = (
            partial(_shifted, weights=weights, shift=np.where(nearest, shift, 0.0)) for shift in (-0.5, 0.5)
        )
        return self._between(smallest, largest)

    def low(self, least: _Least) -> Interval:
        """The lower end of the range of a rate: in each group the largest of some bounds."""

        def numerator(reach: _Reach, weights: Floats, constants: Floats) -> Floats:
            both = reach(weights, constants).min(axis=0)
            return np.asarray(both.reshape(-1, both.shape[-1]).max(axis=0))

        return self._between(
            *(partial(numerator, weights=w, constants=c) for w, c in (least.terms(largest=of) for of in (False, True)))
        )

    def _between(self, smallest: Callable[[_Reach], Floats], largest: Callable[[_Reach], Floats]) -> Interval:
        return self._end(smallest, largest=False), self._end(largest, largest=True)

    def _end(self, numerator: Callable[[_Reach], Floats], *, largest: bool) -> float:
        def left(rate: float) -> float:
            return float(np.add.reduce(numerator(partial(self._reach, rate=rate, largest=largest))))

        if left(0.0) <= 0:
            return 0.0
        if left(1.0) >= 0:
            return 1.0
        return float(brentq(left, 0.0, 1.0, xtol=1e-13))

    def _reach(self, weights: Floats, constant: float | Floats = 0.0, *, rate: float, largest: bool) -> Floats:
        """(…, groups) the largest or smallest weighted sums of people, less ``rate`` times those inside."""
        gain = weights - rate * self.inside
        furthest = (np.maximum if largest else np.minimum)(self.most * gain, self.least * gain)
        return np.asarray(np.add.reduceat(furthest, self.starts, axis=-1) + constant)


def _shifted(reach: _Reach, weights: Floats, shift: Floats) -> Floats:
    return reach(weights, shift)
